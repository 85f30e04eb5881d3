#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Files of a room that know each other both ways: file A uses a symbol that B defines, and
# B, perhaps by way of others, one of A's. The evidence is what the compiler made (nm), so
# build first. Prints a line for each room that has such files: the room, how many, their names.
#
#   circles.sh [BUILD]          all rooms
#   circles.sh --check [BUILD]  and exits 1 where a room has more than scripts/circles.txt says
set -eu
check=
[ "${1-}" != --check ] || { check=1; shift; }
build=${1:-build}
cd "$(dirname "$0")/.."
[ -d "$build/obj/daemon/base" ] || { echo "circles.sh: $build has no objects: make programs libs" >&2; exit 2; }

circles() {
	# Objects of a file that is gone may still lie there.
	find "$build/obj/daemon" "$build/obj/libgpuemu" -name '*.o' | while read -r o; do
		c=${o#"$build/obj/"}
		[ ! -e "${c%.o}.c" ] || echo "$o"
	done | xargs nm -A -g | awk -v build="$build/obj/" '
{
	file = $0; sub(/\.o:.*/, "", file); file = substr(file, length(build) + 1)
	room = file; sub(/^daemon\//, "", room)
	if (room !~ /\//) next
	sub(/\/.*/, "", room)
	name = $NF; kind = $(NF - 1)
	if (!(file in seen)) { seen[file] = ++n[room]; files[room, n[room]] = file }
	if (kind == "U") uses[file] = uses[file] " " name
	else if (kind ~ /^[TDRBVW]$/) owner[room, name] = seen[file]
}
END {
	for (room in n) {
		delete way
		for (i = 1; i <= n[room]; i++) {
			m = split(uses[files[room, i]], u, " ")
			for (j = 1; j <= m; j++)
				if ((room, u[j]) in owner) way[i, owner[room, u[j]]] = 1
		}
		for (k = 1; k <= n[room]; k++)
			for (i = 1; i <= n[room]; i++)
				if ((i, k) in way)
					for (j = 1; j <= n[room]; j++)
						if ((k, j) in way) way[i, j] = 1
		count = 0; names = ""
		for (i = 1; i <= n[room]; i++)
			for (j = 1; j <= n[room]; j++)
				if (i != j && (i, j) in way && (j, i) in way) {
					f = files[room, i]; sub(/^(daemon\/)?[^\/]*\//, "", f)
					count++; names = names " " f
					break
				}
		if (count) print room ": " count " of " n[room] names
	}
}' | sort
}

if [ -z "$check" ]; then
	circles
	exit
fi
circles | awk -v table=scripts/circles.txt '
BEGIN { while ((getline line < table) > 0) if (line !~ /^#/ && split(line, f) == 2) most[f[1]] = f[2] }
{
	room = $1; sub(/:$/, "", room)
	if ($2 > most[room] + 0) { print table ": " room " may have " most[room] + 0 " files in circles; " $0; bad = 1 }
}
END { exit bad }'
