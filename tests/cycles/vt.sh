#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Usage: vt.sh
#
# What Virtual Thread and its load queues cost on the host: host instructions a warp instruction
# (valgrind, launches alone) of the paper's GPU with them, over those without. They are the same
# on each run. It fails where they are more than a quarter more.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# instructions NAME OPTION...: host instructions a warp instruction
instructions() {
	local name=$1 host warp
	shift
	valgrind --tool=callgrind --toggle-collect=gpuemu_launch --callgrind-out-file="$work/$name" \
		build/bin/gpuemu run --backend sim --config gtx480-vt --paging off --json "$work/$name.json" \
		"$@" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
	host=$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$work/$name")
	warp=$(sed -nE '/^  "totals"/,/}/s/.*"warp_instructions": *([0-9]+).*/\1/p' "$work/$name.json")
	awk -v h="$host" -v w="$warp" 'BEGIN { printf "%.0f\n", h / w }'
}

status=0
printf '%-24s %10s %10s %8s\n' 'host instructions' baseline 'with VT' more
while read -r label arguments; do
	# shellcheck disable=SC2086 # a list of words
	base=$(instructions base $arguments)
	# shellcheck disable=SC2086
	vt=$(instructions vt $arguments --cta vt --mem-order vt)
	awk -v l="$label" -v b="$base" -v v="$vt" \
		'BEGIN { printf "%-24s %10d %10d %7.1f%%\n", l, b, v, 100 * (v / b - 1); exit v > 1.25 * b }' || status=1
done <<'LIST'
vecadd,2-SMs vecadd n=32K --set gpu.sms=2
histo64,2-SMs histo64 n=128K --set gpu.sms=2
vecadd,15-SMs vecadd n=256K
LIST
exit $status
