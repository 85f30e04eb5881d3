#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What a table offers is in a man page: each X(name) row of the .def tables,
# each key of the configuration, each symbol the library exports. Prints a
# line for each that is missing; exit 1 if there is one.
set -eu
cd "$(dirname "$0")/.."
pages=$(find man -name '*.[1-8]' 2>/dev/null)
[ -n "$pages" ] || { echo 'check-docs: there are no man pages under man/'; exit 1; }

# A page writes `a-b` as a\-b; fonts and quotes stand around words.
# shellcheck disable=SC2086
text=$(sed -e 's/\\-/-/g' -e 's/\\f[BIRP]/ /g' $pages)
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
	printf '%s\n' "$text" | grep -qiw -F -e "$row" -e "$other" ||
		echo "$table: $row is in no man page"
done)
[ -z "$missing" ] || { echo "$missing"; exit 1; }
