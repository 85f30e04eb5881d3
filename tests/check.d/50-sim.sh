# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Backend sim: each workload verifies, with less VRAM than it touches too, and two
# runs report the same, byte for byte, but for how long the host took. The same run with
# its buffers copied by hand has no far fault, and its phases are all of its time.
. tests/lib/tap.sh

work=build/check/sim
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
. tests/lib/cli.sh

workloads=$(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' workloads/workloads.def)
[ -n "$workloads" ] || tap_not_ok 'there are workloads'
# number MEMBER FILE [OBJECT]: the first of that name in the report, or in its OBJECT.
number() { sed -n "/^  \"${3:-}/,\$s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$2" | head -n 1; }
for w in $workloads; do
	for vram in 64M 32K; do
		for i in 1 2; do
			(
				ulimit -t 10
				exec timeout 120 build/bin/gpuemu run "$w" size=tiny --backend sim --vram $vram \
					--json $work/$w.$i
			) >$work/$w.$i.txt 2>&1
			status=$?
			[ $status -eq 0 ] || break
		done
		if [ $status -ne 0 ]; then
			tap_not_ok "$w, VRAM $vram: verifies" "status $status: $(tail -n 5 $work/$w.$i.txt)"
			continue
		fi
		tap_ok "$w, VRAM $vram: verifies"
		if [ -s $work/$w.1 ] && [ "$(steady $work/$w.1)" = "$(steady $work/$w.2)" ]; then
			tap_ok "$w, VRAM $vram: twice the same"
		else
			tap_not_ok "$w, VRAM $vram: twice the same" "$(diff $work/$w.1 $work/$w.2 | head -n 20)"
		fi
	done
	tap_check "$w, copied by hand: verifies" timeout 120 \
		build/bin/gpuemu run "$w" size=tiny --backend sim --copy --json $work/$w.copy
	h2d=$(number h2d_cycles $work/$w.copy) kernel=$(number kernel_cycles $work/$w.copy) d2h=$(number d2h_cycles $work/$w.copy)
	tap_check "$w, copied by hand: no far fault" test "$(number far_faults $work/$w.copy paging)" = 0
	tap_check "$w, copied by hand: there and back" test "$h2d" -gt 0 -a "$d2h" -gt 0
	tap_check "$w, copied by hand: time is its phases" \
		test "$(number cycles $work/$w.copy totals)" = $((h2d + kernel + d2h))
	link=$((h2d + d2h))
	tap_check "$w, copied by hand: the bound of perfect overlap" \
		test "$(number overlap_bound_cycles $work/$w.copy)" = $((link > kernel ? link : kernel))
done
tap_check 'a quick size verifies' timeout 120 build/bin/gpuemu run stencil size=quick iterations=1 --backend sim
tap_done
