# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Licence lines, file lengths, columns, shell scripts, man pages.
. tests/lib/tap.sh
for what in spdx length columns shell man; do
	tap_check "$what" scripts/check-style.sh $what
done
# What is longer than a file should be is told, not judged.
scripts/check-style.sh longer | sed 's/^/# long: /'
tap_done
