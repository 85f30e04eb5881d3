#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the demo shows, wherever it runs: gpuemu on PATH, module loaded, daemon
# attached. Fails if a workload does not verify or nothing was evicted when
# VRAM is smaller than the footprint. Called by scripts/demo.sh.
failed=0
title() { printf '\n== %s\n' "$*"; }

title '1. Real PTX kernels, their far faults served by the kernel, every result checked'
run() { # WORKLOAD OPTIONS...
	echo
	echo "\$ gpuemu run $*"
	gpuemu run "$@" --json /tmp/demo.json || { echo "demo: '$1' failed (status $?)"; failed=1; }
}
run vecadd --backend kmod
run reduce --backend kmod
run gather --backend kmod --prefetch sequential
run stride --backend kmod --vram 1M
evicted=$(sed -n 's/.*"evicted_pages": *\([0-9]*\).*/\1/p' /tmp/demo.json | head -n 1)
if [ "${evicted:-0}" -gt 0 ]; then
	echo "(1 MiB of VRAM is less than stride touches: $evicted pages were evicted, none was lost)"
else
	echo 'demo: nothing was evicted, though VRAM is smaller than the footprint'
	failed=1
fi

title '2. What a far fault costs here, and the yardsticks of the same run'
echo
echo '$ gpuemu bench fault'
gpuemu bench fault || { echo "demo: bench fault failed (status $?)"; failed=1; }

title '3. Where this ran'
virt=${GPUEMU_VIRT:-}
if [ -z "$virt" ]; then
	virt=metal
	! grep -qw hypervisor /proc/cpuinfo || virt=vm
fi
echo
echo "Linux $(uname -r), $(grep -c ^processor /proc/cpuinfo) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
case $virt in
tcg) echo 'QEMU/TCG: each instruction is translated, page tables and TLB flushes are emulated. Absolute times
are many times the metal'\''s and say nothing about it; ratios to the yardsticks, measured in the
same run, are what can be compared. make demo HOST=1 measures this machine itself.' ;;
icount) echo 'QEMU/TCG with a clock that counts instructions, 1 ns each: times are path lengths.' ;;
kvm) echo 'KVM: instructions run on the CPU; faults and TLB flushes pay for nested paging. Times are close to the
metal'\''s; compare ratios first.' ;;
vm) echo 'A virtual machine of unknown kind: compare ratios to the yardsticks, not times.' ;;
*) echo 'The metal: absolute times are this machine'\''s.' ;;
esac
[ $failed -eq 0 ] || exit 1
