# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# alone
#
# Nothing that ran before has left a trace in the source tree.
. tests/lib/tap.sh
tap_check 'the tree is as it was' diff build/check/tree.before <(git status --porcelain)
tap_done
