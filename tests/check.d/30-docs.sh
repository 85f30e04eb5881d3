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
# The first screen is what a newcomer types; each is a target or a program that there is.
for words in 'make && build/bin/gpuemu run vecadd --backend uffd ' 'make demo ' 'make check '; do
	tap_check "the README begins with: $words" sh -c "head -n 20 README.md | grep -q '^$words'"
done
for target in demo check check-quick; do
	tap_check "there is a make $target" make -n $target
done
tap_check 'docs/index.md answers questions' test "$(grep -c '^| [A-Z].*? | ' docs/index.md)" -ge 15
# Links to files: each is there, from where it stands.
broken() { # FILE...
	for f; do
		grep -o '](\([^)#:]*\))' "$f" | sed 's/^](\(.*\))$/\1/' | while read -r to; do
			[ -e "$(dirname "$f")/$to" ] || echo "$f: $to"
		done
	done
}
tap_check 'every link of the docs leads to a file' test -z "$(broken README.md CONTRIBUTING.md docs/*.md)"
echo 'See [it](nowhere.md).' >$work/link.md
tap_check 'and one that does not is seen' test "$(broken $work/link.md)" = "$work/link.md: nowhere.md"
tap_done
