#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Holds the numbers of include/uapi/linux/gpuemu_netlink.h, and the two tables
# of counters, to docs/gpuemu-netlink.yaml: the same names in the same order.
# Prints a line for each difference; exit 1 if there is one. check-netlink.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
spec=docs/gpuemu-netlink.yaml header=include/uapi/linux/gpuemu_netlink.h
for f in $spec $header; do
	[ -e $f ] || { echo "check-netlink: no $f"; exit 1; }
done

# SET NAME for each entry, in order; of the spec as the header would write them.
of_spec() {
	awk '
	/^[a-z-]+:/ { part = $1; set = "" }
	/^    name: / { set = $2 }
	part == "definitions:" && /^        name: / { print set, $2 }
	part == "attribute-sets:" && /^        name: / { print "a-" set, $2 }
	part == "operations:" && /^      name: / { print "cmd", $2 }
	' $spec | tr 'a-z-' 'A-Z_' | sed 's/^/GPUEMU_/; s/ /_/'
}
of_header() {
	sed -n 's/^\t\(GPUEMU_[A-Z0-9_]*\)\( = 1\)*,$/\1/p' $header
}
counters() { sed -n "s/^X(\([A-Z0-9_]*\),.*/\1/p" "$1"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
of_spec >"$work/spec"
of_header >"$work/header"
[ -s "$work/spec" ] || { echo "check-netlink: $spec has no names"; exit 1; }
bad=0
differ() { # WHAT FILE FILE
	diff "$2" "$3" >"$work/diff" && return
	bad=1
	sed -n "s|^< \(.*\)|$1: \1 is in the specification only, or elsewhere|p; s|^> \(.*\)|$1: \1 is not in the specification, or elsewhere|p" "$work/diff"
}
differ $header "$work/spec" "$work/header"
sed -n 's/^GPUEMU_A_STATS_//p' "$work/spec" | grep -vx PAD >"$work/counters"
for table in kmod/stats.def daemon/ctl/stats.def; do
	counters $table >"$work/table"
	differ $table "$work/counters" "$work/table"
done
exit $bad
