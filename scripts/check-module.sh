#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Builds gpuemu.ko from nothing with gcc W=1 and sparse on every file; a
# warning that names our code is a failure. check-module.sh DIR KDIR.
set -eu
cd "$(dirname "$0")/.."
dir=$1 kdir=$2
rm -rf "$dir"
scripts/link-tree.sh "$dir" Kbuild kmod include
log=$dir/log
make -s -C "$kdir" M="$(cd "$dir" && pwd)" W=1 C=2 CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$log" 2>&1 || {
	cat "$log"
	exit 1
}
# sparse repeats what the kernel's own headers make it say; only ours counts.
if grep -E '(kmod|include/(uapi/)?linux/gpuemu)[^ ]*:[0-9]+' "$log"; then
	exit 1
fi
