# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 7200
# only: debug
#
# The module and its tests on a kernel that looks for mistakes: KASAN, lockdep,
# kmemleak and the rest of scripts/debug-kernel.config. Here fail_nth runs.
. tests/lib/kernel.sh debug
