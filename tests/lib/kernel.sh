# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a kernel has to pass, as TAP: the module builds for it without a word, and
# the VM suite passes on it. kernel.sh VERSION, as scripts/kernels.sh has them;
# called by tests/check.d/8?-kernel-*.sh.
. tests/lib/tap.sh
. tests/lib/vm-suite.sh

release='' kernel='' kdir='' root=''
if ! where=$(scripts/kernels.sh "$1" 2>build/check/kernels.err); then
	tap_not_ok "Linux $1 is there" "$(tail -n 1 build/check/kernels.err)"
	tap_done
	exit 1
fi
eval "$where"
dir=build/check/kmod/$release
tap_check "$release: gcc W=1 and sparse are silent" scripts/check-module.sh "$dir" "$kdir" "$root"
[ "$tap_failed" -gt 0 ] || vm_suite "$release" --kernel "$kernel" --module "$dir/gpuemu.ko"
tap_done
