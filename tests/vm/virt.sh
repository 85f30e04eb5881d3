#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Prints what QEMU shall run on: `kvm` when a probe boot proves within seconds
# that it works, else `tcg`. A /dev/kvm proves nothing: nested hosts offer one
# that hangs. Remembered in build/vm/virt; GPUEMU_VIRT overrides.
# Called by tests/vm/run.sh: virt.sh VMLINUZ.
set -u
[ -z "${GPUEMU_VIRT:-}" ] || { echo "$GPUEMU_VIRT"; exit; }
memo=build/vm/virt
[ ! -e $memo ] || exec cat $memo

virt=tcg
if grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
	# No root is given: a kernel that gets as far as to miss it has booted.
	if timeout -s KILL 8 qemu-system-x86_64 -accel kvm -m 256 -cpu host -nodefaults \
		-no-user-config -display none -no-reboot -serial stdio -kernel "$1" \
		-append 'console=ttyS0 panic=-1' </dev/null 2>/dev/null | grep -q 'Unable to mount root'; then
		virt=kvm
	fi
fi
mkdir -p build/vm
echo $virt | tee $memo
