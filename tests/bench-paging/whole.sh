#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Usage: whole.sh share [WORKLOAD [KEY=VALUE]...]
#        whole.sh triad
#
# What paging costs a whole run on the host.
# share: host instructions of the launches (valgrind) of a run in which nothing faults, all buffers
# copied before: of those in the GMMU, the handler, its service and the policies, a percentage; and the
# run with paging off, to which nothing of them is left, for its cycles and instructions.
# triad: seconds of a managed triad of 12 MB under the tree prefetcher, the middle one of three.
set -eu
cd "$(dirname "$0")/../.."
gpuemu=build/bin/gpuemu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# launches NAME ARGUMENT...: its instructions, by function
launches() {
	local name=$1
	shift
	valgrind --tool=callgrind --toggle-collect=gpuemu_launch --callgrind-out-file="$work/$name" \
		$gpuemu run "$@" --backend sim --config gtx480-hpca16 --json "$work/$name.json" >"$work/log" 2>&1 ||
		{ tail -n 5 "$work/log" >&2; exit 1; }
	callgrind_annotate --threshold=100 --auto=no "$work/$name" >"$work/$name.txt" 2>>"$work/log"
}
# Millions of instructions in the rooms that the pattern names.
millions() {
	sed -nE "s/^ *([0-9,]+) \([^)]*\) +(.*daemon\/($1)\/.*)/\1/p" "$2" | tr -d , |
		awk '{ sum += $1 } END { printf "%.2f\n", sum / 1e6 }'
}
# Of its kernels, all together.
cycles() {
	sed -nE '/^  "kernels"/,/^  "totals"/s/^ {6}"cycles": *([0-9]+),?/\1/p' "$1" | awk '{ n += $1 } END { print n }'
}

case ${1:-} in
share)
	shift
	launches on "$@" --copy
	launches off "$@" --paging off
	paging=$(millions 'gmmu|paging|service|plugin' "$work/on.txt")
	all=$(sed -nE 's/^ *([0-9,]+) .*PROGRAM TOTALS.*/\1/p' "$work/on.txt" | tr -d ,)
	none=$(sed -nE 's/^ *([0-9,]+) .*PROGRAM TOTALS.*/\1/p' "$work/off.txt" | tr -d ,)
	awk -v p="$paging" -v a="$all" -v n="$none" -v con="$(cycles "$work/on.json")" -v coff="$(cycles "$work/off.json")" \
		-v w="$*" 'BEGIN {
		printf "%s: %.2f%% of %.0f million host instructions in paging; without paging %.0f million", w, 100 * p * 1e6 / a, a / 1e6, n / 1e6
		printf " (%.0f and %.0f a cycle)\n", a / con, n / coff }'
	;;
triad)
	for _ in 1 2 3; do
		TIMEFORMAT='%U %S'
		{ time $gpuemu run triad n=1M --backend sim --prefetch tree >"$work/log" 2>&1; } 2>&1 |
			awk '{ print $1 + $2 }'
	done | sort -n | sed -n 2p >"$work/seconds"
	grep -q 'verified' "$work/log" || { tail -n 5 "$work/log" >&2; exit 1; }
	echo "triad of 12 MB, tree: $(cat "$work/seconds") s of processor time"
	;;
*)
	sed -n '4,5p' "$0" >&2
	exit 2
	;;
esac
