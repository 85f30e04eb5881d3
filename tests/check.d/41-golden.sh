# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1800
#
# Golden reports: what each run of tests/golden/runs.txt prints and writes, byte for byte what
# tests/golden/reports/ has. A change of the model, of a report or of a study's table shows
# here, and in the commit that makes it: `make golden` writes the reports anew.
. tests/lib/tap.sh

work=build/check/golden
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
golden=tests/golden/reports
tap_check 'every run ends well' tests/golden/run.sh $work/new

# same FILES: the start of each difference.
same() {
	local f differ=0
	for f; do
		cmp -s $golden/"$f" $work/new/"$f" && continue
		diff -U 0 --label "$golden/$f" --label 'as it is now' \
			"$([ -e $golden/"$f" ] && echo $golden/"$f" || echo /dev/null)" \
			"$([ -e $work/new/"$f" ] && echo $work/new/"$f" || echo /dev/null)" | cut -c1-300 | head -n 8
		differ=1
	done
	[ $differ -eq 0 ] || { echo 'Meant so? make golden, and look at git diff tests/golden'; return 1; }
}
# files NAME: what the run has written or should have.
files() { { echo "$1.out"; find $golden $work/new -maxdepth 1 -type f -name "$1.*" -printf "%f\n"; } | sort -u; }

names=$(sed -n 's/^\([a-z0-9][a-z0-9-]*\) .*/\1/p' tests/golden/runs.txt)
for name in $names; do
	# shellcheck disable=SC2046
	tap_check "golden: $name" same $(files "$name")
done
tap_check 'no report is without a run' test -z \
	"$(find $golden -type f -printf '%f\n' | sed 's/\.[a-z]*$//' | sort -u | grep -vxF "$names")"

# Each row of the tables that change a run is in one.
missing=
for kind in workloads configs schedulers dispatchers mechanisms prefetchers evictors; do
	rows=$(build/bin/gpuemu list $kind | sed -n 's/^  \([a-z][a-z0-9_-]*\) .*/\1/p')
	[ -n "$rows" ] || missing+=" (no $kind)"
	for row in $rows; do
		grep -q -E "^[a-z].*[ =]$row( |:|$)" tests/golden/runs.txt || missing+=" $row"
	done
done
tap_check "workloads, GPUs, policies and mechanisms without a run in tests/golden/runs.txt:${missing:- none}" test -z "$missing"
tap_done
