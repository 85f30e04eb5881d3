# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 900
#
# The tests that want a VM whose clock counts instructions.
. tests/lib/tap.sh
. tests/lib/vm-suite.sh

vm_suite bars --icount
tap_done
