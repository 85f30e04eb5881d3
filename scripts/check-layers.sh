#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Holds the one-way arrows between the rooms: scripts/rooms.txt is the table,
# the #include lines and a few calls are the evidence. Prints a line for each
# breach and exits 1 if there is one. check-layers.sh [ROOT]; its own test is
# tests/check.d/20-layers.sh.
set -eu
root=${1:-.}
table=$root/scripts/rooms.txt
[ -e "$table" ] || { echo "check-layers: no $table" >&2; exit 2; }
cd "$root"

# Sources without comments would be better evidence, but a breach in a comment
# is so unlikely that a grep will do.
files() { find "$@" -name '*.[ch]' 2>/dev/null | sort; }
sources=$(files daemon policy-host libgpuemu tools workloads cuda tests kmod include)

# sm is compiled twice: what its header declares of an SM is handed on to the build that made it.
forgotten=$(grep -o -s -E '\<sm_[a-z_]+\((const )?struct sm \*' daemon/sm/sm.h | sed 's/(.*//' | sort -u |
	while read -r call; do grep -q -s "\<$call\>" daemon/sm/build.c daemon/sm/create.c || echo "$call"; done)
[ -z "$forgotten" ] || { echo "daemon/sm/sm.h: not in build.c:" $forgotten; exit 1; }

{
	# shellcheck disable=SC2086
	grep -n -E '^[[:space:]]*#[[:space:]]*include' /dev/null $sources || :
	for d in daemon/*/; do [ ! -d "$d" ] || echo "dir ${d%/}"; done
	# The model has no clock, no chance and no environment of its own.
	# shellcheck disable=SC2046
	grep -n -E '(^|[^A-Za-z0-9_.>])(getenv|secure_getenv|getopt|getopt_long|fopen|rand|srand|random|srandom|time|gettimeofday|clock_gettime)\(' \
		/dev/null $(files daemon) | sed -n 's/^\([^:]*:[0-9]*\):.*\<\(getenv\|secure_getenv\|getopt\|getopt_long\|fopen\|rand\|srand\|random\|srandom\|time\|gettimeofday\|clock_gettime\)(.*/call \1 \2/p'
} | awk -v table=scripts/rooms.txt '
function breach(where, text) { print where ": " text; bad = 1 }
function room_of(file,    p) {
	split(file, p, "/")
	return (p[1] == "daemon" && file ~ /^daemon\/[^\/]+\//) ? p[2] : ""
}
function under(file, dirs) { return file ~ "^(" dirs ")/" }

BEGIN {
	while ((getline line < table) > 0) {
		if (line ~ /^[ \t]*(#|$)/)
			continue
		n = split(line, f)
		room = f[1]
		if (room !~ /:$/)
			breach(table, "a row is ROOM: ROOMS, not " line)
		sub(/:$/, "", room)
		for (i = 2; i <= n; i++) {
			if (!(f[i] in known))
				breach(table, room " knows " f[i] ", which is not a room listed before it")
			knows[room, f[i]] = 1
		}
		known[room] = 1
		knows[room, room] = 1
	}
}

$1 == "dir" {
	room = room_of($2 "/")
	if (!(room in known))
		breach($2, "is not a room of scripts/rooms.txt")
	next
}

$1 == "call" {
	split($2, at, ":")
	file = at[1]
	room = room_of(file)
	clock = $3 ~ /^(time|gettimeofday|clock_gettime)$/
	# main.c is handed options; base reads a configuration for it; the service
	# is the one that measures; plugin bounds the calls of a policy that somebody wrote.
	if (room == "" || (file == "daemon/base/spec_file.c" && $3 == "fopen") || ((room == "service" || room == "plugin") && clock))
		next
	breach($2, $3 "() does not belong in a room")
	next
}

{
	split($0, at, ":")
	file = at[1]
	where = at[1] ":" at[2]
	if (!match($0, /["<][^">]+[">]/))
		next
	inc = substr($0, RSTART + 1, RLENGTH - 2)
	system_inc = substr($0, RSTART, 1) == "<"
	room = room_of(file)
	test = file ~ /^tests\/unit\//
	if (test) {
		split(file, part, "_")
		room = part[2]
		sub(/\.c$/, "", room)
		if (!(room in known))
			room = ""
	}

	if (inc ~ /(^|\/)linux\/gpuemu\.h$/ && !under(file, "daemon/service|kmod|tests/kernel|libgpuemu|include") &&
	    !(test && file ~ /^tests\/unit\/test_(service|libgpuemu)/))
		breach(where, "the ABI is known to daemon/service, kmod, tests/kernel and libgpuemu alone")
	if (inc ~ /(^|\/)linux\/gpuemu_netlink\.h$/ && !under(file, "daemon/ctl|kmod|tests/kernel|include"))
		breach(where, "the netlink family is known to daemon/ctl, kmod and tests/kernel alone")
	if (inc ~ /^liburing/ && !under(file, "daemon/service|tests/kernel"))
		breach(where, "io_uring is known to daemon/service and tests/kernel alone")
	if (inc ~ /^netlink\// && !under(file, "daemon/ctl"))
		breach(where, "netlink is known to daemon/ctl alone")
	if (inc ~ /(^|\/)\.\.\//) {
		breach(where, "an include does not climb out of its room")
		next
	}
	if (system_inc)
		next

	# "room/header.h" from another room
	n = split(inc, p, "/")
	if (n < 2 || !(p[1] in known))
		next
	target = p[1]
	public = target == "base" ? inc ~ /^base\/[a-z0-9_]+\.(h|def)$/ : inc == target "/" target ".h"
	# How a backend is made is for its owner to know: the daemon, the library, tests.
	if ((room == "" || test) && inc ~ /^service\/(kmod|sim|uffd)\.h$/)
		public = 1
	if (room != "") {
		if (target != room && !((room, target) in knows))
			breach(where, room " may not know " target)
		if (target != room && !public)
			breach(where, inc " is private to " target)
	} else if (under(file, "tools|workloads|policy-host|cuda")) {
		folder = substr(file, 1, index(file, "/"))
		if (!((folder, target) in knows))
			breach(where, folder " may not know " target ": the engine is reached through gpuemu.h")
		else if (!public && !(folder == "policy-host/" && target == "plugin"))
			breach(where, inc " is private to " target)
	} else if (under(file, "kmod|include")) {
		breach(where, "the module and the ABI know no room")
	} else if (!test && !public) {
		breach(where, inc " is private to " target)
	}
}
END { exit bad }
'
