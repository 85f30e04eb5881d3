# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 4200
#
# The kernel tests and the VM's shell tests, in one boot, but for those that want the machine for
# themselves (83-alone.sh); then `make vm` as a user calls it. The suite ends before the
# check's limit does, so that a slow machine's results are counted and what ran last is named.
. tests/lib/tap.sh
. tests/lib/vm-suite.sh

vm_suite vm --beside --within 3900

make vm CMD='echo out; echo "$GPUEMU_VIRT" >&2; ls /dev/gpuemu >&2' >build/check/vm.out 2>build/check/vm.err
status=$?
if [ $status -eq 0 ] && [ "$(cat build/check/vm.out)" = out ] && grep -qx /dev/gpuemu build/check/vm.err; then
	tap_ok "make vm: its stdout is the command's"
else
	tap_not_ok "make vm: its stdout is the command's" "status $status: $(cat build/check/vm.out build/check/vm.err)"
fi

# `make demo HOST=1`, but for the build, on a machine that can be thrown away.
kver=$(basename build/vm/kernel/boot/vmlinuz-* | sed 's/^vmlinuz-//')
ko=$PWD/build/kmod/$kver/gpuemu.ko
tap_check 'the demo on a host loads, runs and unloads' tests/vm/run.sh --no-module --file "$ko" -- \
	sh -c "sh scripts/demo-host.sh $ko && [ ! -e /sys/module/gpuemu ]"
tap_done
