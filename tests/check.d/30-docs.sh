# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every row of the tables is in a man page; the README's program is the tested one.
. tests/lib/tap.sh
tap_check 'the man pages have every row' scripts/check-docs.sh
tap_check 'the netlink family is as specified' scripts/check-netlink.sh
# The checker's own test: each of the files with one name changed.
work=build/check/netlink
for f in docs/gpuemu-netlink.yaml include/uapi/linux/gpuemu_netlink.h kmod/stats.def daemon/ctl/stats.def; do
	rm -rf $work
	for g in docs/gpuemu-netlink.yaml include/uapi/linux/gpuemu_netlink.h kmod/stats.def daemon/ctl/stats.def; do
		mkdir -p "$work/$(dirname $g)"
		cp $g $work/$g
	done
	sed -i 's/DUPLICATES/DOUBLES/; s/duplicates/doubles/' $work/$f
	tap_check "a name changed in $f is seen" sh -c "! scripts/check-netlink.sh $work >/dev/null"
done
tap_check 'the README shows examples/vecadd.c' scripts/check-example.sh
tap_done
