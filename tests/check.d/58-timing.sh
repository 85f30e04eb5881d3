# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The cycle model with configs/h200.conf against a real H200: the micro-benchmarks of tests/silicon/timing/ on the
# model, each number beside silicon's; and the programs for a real GPU build and say what is missing where there is none.
. tests/lib/tap.sh

work=build/check/timing
rm -rf $work
mkdir -p $work
if ! make -j"$(nproc)" timing programs >$work/build.log 2>&1; then
	tap_not_ok 'the programs build' "$(tail -n 30 $work/build.log)"
	tap_done
	exit 1
fi
timing=build/silicon/timing
unset GPUEMU_DATADIR

for part in rows chase; do
	tap_check "the model's $part" sh -c "$timing/timing-sim $part --quick --config h200 >$work/$part.txt"
done
tap_program 'silicon and the model' 60 python3 tests/silicon/timing/compare.py tests/silicon/timing/h200 $work \
	tests/silicon/timing/differences.txt
# Whole workloads: a copy, a product with tiles, one without, a reduction, a stencil in time.
whole() {
	python3 tests/silicon/timing/whole.py --most 20 "$@" tests/silicon/timing/h200/whole-64.txt 'vecadd n=1M' 'sgemm size=small' \
		'matmul size=small' 'reduce size=small' 'pathfinder size=small' >$work/whole
}
tap_check 'five workloads are at most 20% from silicon' whole
tap_check 'with fetches of one instruction matmul is further' sh -c "! python3 tests/silicon/timing/whole.py --most 20 --set sm.fetch=1 \
	tests/silicon/timing/h200/whole-64.txt 'matmul size=small' >$work/slow"

# A model that is another GPU's is found.
mkdir $work/other
cp $work/chase.txt $work/other/
$timing/timing-sim rows --quick --config h200 --set latency.f32_fma=2 fma.f32 >$work/other/rows.txt
tap_check 'a latency that is one cycle longer is found' sh -c "! python3 tests/silicon/timing/compare.py \
	tests/silicon/timing/h200 $work/other tests/silicon/timing/differences.txt >$work/other/tap && grep -q '^not ok.*fma.f32, latency' $work/other/tap"

# Without a GPU the others end with a sentence.
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
	for program in 'timing rows' 'link clock' "whole 0 $work/list"; do
		echo 'vecadd n=1K' >$work/list
		tap_check "${program%% *} without a GPU" sh -c "! $timing/$program >$work/none && grep -q '^# failed: .*libcuda' $work/none"
	done
fi
tap_done
