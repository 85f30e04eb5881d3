# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# alone
# timeout: 900
#
# The VM's tests whose ratios of times hold where nothing else runs.
. tests/lib/tap.sh
. tests/lib/vm-suite.sh

# Those that say so in their heads, on the line `vm:`.
names=$(grep -lE '^[ #*/]*vm: .*\balone\b' tests/vm/suite.d/*.sh tests/kernel/*.c | sed 's|.*/||; s/\..*//' | tr '\n' ' ')
tap_check 'there are such tests' test -n "$names"
# shellcheck disable=SC2086
vm_suite alone --names $names
tap_done
