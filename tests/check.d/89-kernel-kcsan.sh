# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 7200
# only: kcsan
#
# The module and its tests on a kernel that looks for data races: KCSAN, with
# scripts/kcsan-kernel.config. All of the suite: it takes ten minutes, and a race is
# where nobody looked for one.
. tests/lib/kernel.sh kcsan
