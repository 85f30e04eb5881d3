# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 3600
# only: 6.12 all
#
# The module and its tests on Debian 6.12, of bookworm-backports.
. tests/lib/kernel.sh 6.12
