# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Zorua's eight programs, small, have the same results at each specification under cta, wlm and zorua:
# those of the study with --quick. tests/specifications.sh alone does all of them.
. tests/lib/tap.sh

work=build/check/specifications
mkdir -p $work
if ! make -j"$(nproc)" programs >$work/build.log 2>&1; then
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
	tap_done
	exit 1
fi
if tests/specifications.sh --quick >$work/said 2>&1; then
	tap_ok "each specification is verified under each mechanism ($(tail -n 1 $work/said))"
else
	tap_not_ok 'each specification is verified under each mechanism' "$(tail -n 20 $work/said)"
fi
tap_check 'there are eight programs, three mechanisms each' \
	test "$(awk '{ for (i = 1; i < NF; i++) if ($i == "--manage") print $3, $(i + 1) }' $work/small | sort -u | wc -l)" = 24

tap_done
