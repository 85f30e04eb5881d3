# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a kernel has to pass, as TAP: the module builds for it without a word, and
# the VM suite passes on it. kernel.sh VERSION, as scripts/kernels.sh has them;
# called by tests/check.d/8?-kernel-*.sh.
. tests/lib/tap.sh
. tests/lib/vm-suite.sh

# The test of a kernel that looks for mistakes: what a module does there in silence
# turns the run red. fixture_cases VERSION KDIR RELEASE KERNEL.
fixture_cases() {
	local fixture=tests/vm/fixtures dir=build/fixture/$3 out=build/check/$1-fixture f name want
	tap_check "$3: the fixture module builds" sh -c "
		scripts/link-tree.sh $dir $fixture/Kbuild $fixture/vmtest.c &&
		make -s -C $2 M=\$PWD/$dir/$fixture modules"
	[ "$tap_failed" -eq 0 ] || return
	tests/vm/run.sh --kernel "$4" --module "$dir/$fixture/vmtest.ko" --fixture "$fixture/$1" \
		"${options[@]}" --mem 1024 --suite >"$out" 2>"$out.err"
	for f in "$fixture/$1"/cases/*.sh; do
		name=$(basename "$f" .sh)
		want=$(sed -n 's/^# expect: //p' "$f")
		[ -n "$want" ] || continue
		tap_check "$3: $name is seen" sh -c "grep -A 3 '^not ok [0-9]* - $name: ' $out | grep -F '$want'"
	done
	[ "$1" != debug ] ||
		tap_check "$3: lost memory is seen" sh -c "grep -A 3 '^not ok [0-9]* - kmemleak' $out | grep 'kmemleak: [1-9]'"
}

# What a kernel may skip: the rows of tests/skips.txt but those of what it has and others lack,
# and the rows of stdin. run.sh reads $CHECK_SKIPS too. own_skips GREP_ARG...
own_skips() {
	export TAP_SKIPS=$CHECK_SKIPS
	{
		grep -v "$@" tests/skips.txt
		cat
	} >"$TAP_SKIPS"
}
built_here='pageable_huge  this kernel moves no huge page whole
pageable_huge_room  this kernel moves no huge page whole
pageable_swap  this kernel has no module brd'

release='' kernel='' kdir='' root=''
if ! where=$(scripts/kernels.sh "$1" 2>build/check/kernels.err); then
	tap_not_ok "Linux $1 is there" "$(tail -n 1 build/check/kernels.err)"
	tap_done
	exit 1
fi
eval "$where"
dir=build/check/kmod/$release
options=()
case $1 in
debug)
	# Of this kernel the module alone is instrumented with these.
	export UBSAN_SANITIZE=y KCOV_INSTRUMENT=y
	# Everything is checked as it is done, by an emulated machine.
	options=(--slow 4 --mem 3072)
	# What other kernels lack, this one has.
	own_skips -e 'no fail-nth$' -e 'no CONFIG_DEVICE_PRIVATE$' <<<"$built_here"
	;;
kcsan)
	# KCSAN holds a task that it watches, so that another may come.
	options=(--slow 2 --mem 3072)
	own_skips -e 'no CONFIG_DEVICE_PRIVATE$' <<<"$built_here"
	;;
7)
	own_skips -e 'no CONFIG_DEVICE_PRIVATE$' </dev/null
	;;
esac
tap_check "$release: gcc W=1 and sparse are silent" scripts/check-module.sh "$dir" "$kdir" "$root"
unset UBSAN_SANITIZE KCOV_INSTRUMENT
case $1 in
debug | kcsan) fixture_cases "$1" "$kdir" "$release" "$kernel" ;;
esac
[ "$tap_failed" -gt 0 ] || vm_suite "$release" --kernel "$kernel" --module "$dir/gpuemu.ko" "${options[@]}"
tap_done
