# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every row of the tables is in a man page; the README's program is the tested one.
. tests/lib/tap.sh
tap_check 'the man pages have every row' scripts/check-docs.sh
# The checker's own test: a name in plain text is none, nor is one on another table's page.
work=$PWD/build/check/docs
rm -rf "$work"
mkdir -p "$work/daemon/sm" "$work/man"
echo 'X(whole)' >"$work/daemon/sm/some.def"
named() { # HOW PAGE LINE...
	how=$1 page=$2
	shift 2
	rm -f "$work"/man/*
	echo '.SH NAMES' >"$work/man/gpuemu.4"
	printf '%s\n' "$@" >"$work/man/$page"
	case $how in
	yes) scripts/check-docs.sh "$work" ;;
	no) ! scripts/check-docs.sh "$work" ;;
	esac
}
page=gpuemu-config.5
tap_check 'docs: a macro marks a name' named yes $page '.BR whole ,' 'and more.'
tap_check 'docs: a font does' named yes $page 'All of it, \fBwhole\fR or not.'
tap_check 'docs: a tag does' named yes $page '.TP' 'whole' 'All of it.'
tap_check 'docs: plain text does not' named no $page 'The whole \fBthing\fR.' '.TP' '.B part' 'Not whole.'
tap_check 'docs: a heading does not' named no $page '.SH The whole' 'thing'
tap_check 'docs: part of a word does not' named no $page '.B wholesale'
tap_check "docs: another table's page does not" named no gpuemu-paging.7 '.B whole'
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
