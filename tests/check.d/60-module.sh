# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# gpuemu.ko builds without a word from gcc W=1 and sparse; checkpatch has none either.
. tests/lib/tap.sh
kver=$(basename build/vm/kernel/boot/vmlinuz-* | sed 's/^vmlinuz-//')
tap_check 'gcc W=1 and sparse are silent' scripts/check-module.sh "build/check/kmod/$kver" "/lib/modules/$kver/build"
tap_check 'checkpatch is silent' scripts/check-patch.sh
tap_done
