# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=300 vram_mb=64
#
# CUDA programs on backend kmod that copy to device memory, which is not paged: the baseline of managed memory. Each verifies itself.
. tests/lib/tap.sh

run() { # NAME: its verdict; the report is in /tmp/report
	GPUEMU_BACKEND=kmod GPUEMU_REPORT_FD=9 timeout 250 "build/tests/cuda/$1" 9>/tmp/report | grep -qx "$1: passed"
}
faults() { tr -d ' \n\t' </tmp/report | sed -n 's/.*"paging":{"far_faults":\([0-9]*\).*/\1/p'; }

tap_check 'a program that copies: verified' run vecadd
tap_check "and without a far fault ($(faults))" test "$(faults)" = 0
tap_check 'copies, memsets, rows, and more than there is: verified' run memory
tap_check 'textures and surfaces: verified' run textures
tap_check 'printf of strings wherever they are: verified' run prints
tap_done
