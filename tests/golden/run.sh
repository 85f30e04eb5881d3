#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tests/golden/run.sh DIR: makes the reports of runs.txt in DIR, which it empties first.
# Prints a line for each run that fails; exit 1 if there is one. Called by `make golden`
# and tests/check.d/41-golden.sh, which compares them with those checked in.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_VIRT
gpuemu=${GPUEMU:-build/bin/gpuemu}
dir=${1:?a folder for the reports}
raw=$dir/raw
rm -rf "$dir"
mkdir -p "$raw"

failed=0
while read -r name words; do
	case $name in '' | '#'*) continue ;; esac
	read -ra args <<<"${words//@\//$raw/}"
	case $words in
	*--info*) args+=(--json "$raw/$name.json") ;;
	run* | ptx*) args+=(--backend sim --json "$raw/$name.json") ;;
	esac
	# All of the text, but for the runs that show the short one.
	case $name:$words in
	short-* | *--info*) ;;
	*:run* | *:ptx*) args+=(--details) ;;
	esac
	timeout 400 "$gpuemu" "${args[@]}" >"$raw/$name.out" 2>&1 </dev/null || {
		echo "$name: status $?: gpuemu ${args[*]}: $(tail -n 3 "$raw/$name.out")"
		failed=1
	}
	for f in "$raw/$name".*; do
		[ ! -f "$f" ] || awk -v folder="$raw/" -f tests/golden/steady.awk "$f" >"$dir/${f##*/}"
	done
done <tests/golden/runs.txt
exit $failed
