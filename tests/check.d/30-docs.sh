# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Every row of the tables is in a man page; the README's program is the tested one.
. tests/lib/tap.sh
tap_check 'the man pages have every row' scripts/check-docs.sh
tap_check 'the README shows examples/vecadd.c' scripts/check-example.sh
tap_done
