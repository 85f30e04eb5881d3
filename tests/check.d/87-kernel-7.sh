# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 3600
# only: 7 all
#
# The module and its tests on Debian 7.x, of trixie-backports. Takes root.
. tests/lib/kernel.sh 7
