# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 3600
# only: 6.1
#
# The module and its tests on Debian 6.1, whose parts `make check` runs as module and vm.
. tests/lib/kernel.sh 6.1
