# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a real GPU computed where PTX is silent or loose (tests/silicon/h200/), against what we compute: the
# same program and tables, on a driver that is the emulated GPU. And kernels through the runner's
# way to a real GPU, on that driver.
. tests/lib/tap.sh

work=build/check/silicon
rm -rf $work
mkdir -p $work
if ! make -j"$(nproc)" silicon build/differential/messages.so build/differential/messages-O3.ptx \
	build/differential/integer.so build/differential/integer-O0.ptx >$work/build.log 2>&1; then
	tap_not_ok 'the programs build' "$(tail -n 30 $work/build.log)"
	tap_done
	exit 1
fi

tap_program 'kernels by the driver' 60 env LD_LIBRARY_PATH=build/silicon build/differential/runner --silicon \
	build/differential/integer.so O0=build/differential/integer-O0.ptx
# Those that fail, each of which breaks its context. What never ends is not begun.
LD_LIBRARY_PATH=build/silicon build/differential/runner --silicon build/differential/messages.so \
	O3=build/differential/messages-O3.ptx >$work/messages 2>&1
tap_check 'kernels that fail, by the driver' sh -c "[ \$(grep -c '^ok' $work/messages) = 16 ] && [ \$(grep -c SKIP $work/messages) = 3 ]"
# A reference that is not the kernel's is found.
sed 's/add\.s32/sub.s32/' build/differential/integer-O0.ptx >$work/wrong.ptx
tap_check 'a kernel that is wrong is found' sh -c "! LD_LIBRARY_PATH=build/silicon build/differential/runner --quiet --silicon \
	build/differential/integer.so wrong=$work/wrong.ptx >$work/wrong 2>&1 && grep -q '^not ok' $work/wrong"

# Every workload by the driver, checked by its own host side.
LD_LIBRARY_PATH=build/silicon build/silicon/workloads tiny >$work/workloads 2>&1
tap_check 'the workloads by the driver' sh -c "[ \$(grep -c ': as the CPU' $work/workloads) = \$(grep -c '^X(' workloads/workloads.def) ]"

for table in tests/silicon/tables/*.txt; do
	name=$(basename "$table")
	LD_LIBRARY_PATH=build/silicon build/silicon/facts "$table" >"$work/$name" 2>"$work/$name.err" ||
		tap_not_ok "$name" "$(head -n 5 "$work/$name.err"; grep 'cannot run' "$work/$name" | head -n 5)"
done
tap_program facts 60 python3 tests/silicon/compare.py tests/silicon/differences.txt tests/silicon/h200 $work/*.txt

# The comparison's own test: a result that is another, a row that is gone.
mkdir -p $work/broken
sed 's/^\(add.rn.f32 b32 f32 f32: \)./\11/' $work/float.txt >$work/broken/float.txt
python3 tests/silicon/compare.py tests/silicon/differences.txt tests/silicon/h200 $work/broken/float.txt >$work/found
tap_check 'another result is found' grep -q '^# add.rn.f32 b32 f32 f32: \[0\] silicon 0, ours 10000000: 1 results' $work/found
grep -v '^sub.rn.f32 ' $work/float.txt >$work/broken/float.txt
python3 tests/silicon/compare.py tests/silicon/differences.txt tests/silicon/h200 $work/broken/float.txt >$work/found
tap_check 'a row that is gone is found' grep -q '^# sub.rn.f32 b32 f32 f32: only silicon' $work/found
tap_done
