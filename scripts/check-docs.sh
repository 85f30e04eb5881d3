#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What a table offers is in its man page: each X(name) row of the .def tables,
# each key of the configuration, each symbol the library exports. A name is
# documented where it is marked as one (check-docs.awk), not where its letters
# happen to stand. Prints a line for each that is missing; exit 1 if there is one.
# check-docs.sh [ROOT]: of another tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/..}"
pages=$(find man -name '*.[1-8]' 2>/dev/null)
[ -n "$pages" ] || { echo 'check-docs: there are no man pages under man/'; exit 1; }

marked=$(mktemp -d)
trap 'rm -rf "$marked"' EXIT
for page in $pages; do
	awk -f "$here/check-docs.awk" "$page" >"$marked/${page##*/}"
done

# The page of a table; one that is not here may be in any.
page_of() {
	case $1 in
	daemon/base/spec.def | daemon/gpu/*.def | daemon/sm/*.def) echo gpuemu-config.5 ;;
	daemon/paging/*.def) echo gpuemu-paging.7 ;;
	daemon/stats/*.def) echo gpuemu-json.7 ;;
	workloads/*.def) echo gpuemu-workloads.7 ;;
	tools/arg_kinds.def) echo gpuemu-ptx.1 ;;
	tools/bench.def) echo gpuemu-bench.1 ;;
	tools/plot.def | tools/verbs.def | daemon/service/*.def) echo gpuemu.1 ;;
	tools/study*.def) echo gpuemu-study.1 ;;
	kmod/cmd.def | kmod/params.def) echo gpuemu.4 ;;
	kmod/stats.def | daemon/ctl/*.def) echo gpuemu-stat.1 ;;
	*) echo '*' ;;
	esac
}

missing=$({
	# daemon/ptx's tables are the instruction set; its pages are PTX's own.
	find daemon tools workloads kmod -name '*.def' ! -path 'daemon/ptx/*' 2>/dev/null | sort | while read -r table; do
		sed -n 's/^X(\([A-Za-z0-9_]*\).*/\1/p' "$table" | sed "s|^|$table |"
		sed -n 's/^SPEC_[A-Z]*([a-z0-9_]*, "\([^"]*\)".*/\1/p' "$table" | sed "s|^|$table |"
	done
	if [ -e libgpuemu/libgpuemu.map ]; then
		sed -n '/global:/,/local:/s/^[ \t]*\([a-z_][a-z0-9_]*\);.*/\1/p' libgpuemu/libgpuemu.map |
			sed 's|^|libgpuemu/libgpuemu.map |'
	fi
} | while read -r table row; do
	# A row is a C name: `two_level` may be offered as two-level.
	other=$(echo "$row" | tr _ -)
	page=$(page_of "$table")
	# shellcheck disable=SC2086
	cat "$marked"/$page | grep -qiw -F -e "$row" -e "$other" ||
		echo "$table: no man page has $row as a name (in man/$page)"
done)
[ -z "$missing" ] || { echo "$missing"; exit 1; }
