# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Backend sim: each workload verifies, with less VRAM than it touches too, and two
# runs report the same, byte for byte, but for how long the host took.
. tests/lib/tap.sh

work=build/check/sim
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"

workloads=$(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' workloads/workloads.def)
[ -n "$workloads" ] || tap_not_ok 'there are workloads'
steady() { sed -E 's/"host_seconds": *[0-9.eE+-]+/"host_seconds": 0/' "$1"; }
for w in $workloads; do
	for vram in 64M 1M; do
		for i in 1 2; do
			timeout 120 build/bin/gpuemu run "$w" --backend sim --vram $vram --json $work/$w.$i >$work/$w.$i.txt 2>&1
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
done
tap_done
