# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The programs that ask a real GPU (tests/silicon/), on a driver that is the emulated GPU: the runner's way to
# one, and the workloads'.
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
tap_check 'kernels that fail, by the driver' sh -c "[ \$(grep -c '^ok' $work/messages) = 16 ] && [ \$(grep -c SKIP $work/messages) = 2 ]"
# A reference that is not the kernel's is found.
sed 's/add\.s32/sub.s32/' build/differential/integer-O0.ptx >$work/wrong.ptx
tap_check 'a kernel that is wrong is found' sh -c "! LD_LIBRARY_PATH=build/silicon build/differential/runner --quiet --silicon \
	build/differential/integer.so wrong=$work/wrong.ptx >$work/wrong 2>&1 && grep -q '^not ok' $work/wrong"

# Every workload by the driver, checked by its own host side.
LD_LIBRARY_PATH=build/silicon build/silicon/workloads tiny >$work/workloads 2>&1
tap_check 'the workloads by the driver' sh -c "[ \$(grep -c ': as the CPU' $work/workloads) = \$(grep -c '^X(' workloads/workloads.def) ]"
tap_done
