# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the checks of the command line share: a run that must be refused, and
# one that must work. Sourced after tap.sh.
: "${gpuemu:?the program}" "${work:?a folder for files}"

# steady FILE: a report without what differs from run to run: the host's seconds, the command line.
steady() {
	awk '/^ *"run": \{$/ { match($0, /^ */); n = RLENGTH; skip = 1 }
		skip { match($0, /^ */); if (RLENGTH == n && /\}/) skip = 0; next }
		{ sub(/"host_seconds": *[0-9.eE+-]+/, "\"host_seconds\": 0"); print }' "$1"
}

# refused STATUS TEXT ARGUMENT...: one line on stderr with TEXT in it.
refused() {
	want=$1 text=$2
	shift 2
	status=0
	timeout 60 "$gpuemu" "$@" >$work/out 2>$work/err </dev/null || status=$?
	if [ $status -eq "$want" ] && [ "$(wc -l <$work/err)" -eq 1 ] && grep -qF -e "$text" $work/err; then
		tap_ok "refused: gpuemu $*"
	else
		tap_not_ok "refused: gpuemu $*" "status $status, not $want; stderr, without '$text' or not one line:
$(head -n 5 $work/err)"
	fi
}

# does TEXT ARGUMENT...: exit status 0, nothing on stderr, TEXT on stdout.
does() {
	text=$1
	shift
	status=0
	timeout 120 "$gpuemu" "$@" >$work/out 2>$work/err </dev/null || status=$?
	if [ $status -eq 0 ] && [ ! -s $work/err ] && grep -qF -e "$text" $work/out; then
		tap_ok "does: gpuemu $*"
	else
		tap_not_ok "does: gpuemu $*" "status $status, no '$text' in:
$(head -n 10 $work/out $work/err)"
	fi
}
