# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=300 vram_mb=2
#
# CUDA programs on backend kmod: managed memory that is more than the device has, with prefetch and advice; variables
# and arrays of the program's own memory, which the module pages. Each verifies itself.
. tests/lib/tap.sh

run() { # NAME: its verdict; the report is in /tmp/report
	GPUEMU_BACKEND=kmod GPUEMU_REPORT_FD=9 timeout 250 "build/tests/cuda/$1" 9>/tmp/report | grep -qx "$1: passed"
}
faults() { tr -d ' \n\t' </tmp/report | sed -n 's/.*"paging":{"far_faults":\([0-9]*\).*/\1/p'; }
evicted() { tr -d ' \n\t' </tmp/report | sed -n 's/.*"evicted_pages":\([0-9]*\).*/\1/p'; }

tap_check 'managed memory, oversubscribed, prefetched and advised: verified' run paged
tap_check "there were far faults ($(faults))" test "$(faults)" -gt 100
tap_check "pages were evicted ($(evicted))" test "$(evicted)" -gt 100
tap_check '__managed__ variables: verified' run placed
tap_check 'cudaHostRegister(): verified' run register
tap_check 'recursion with another stack: verified' run deep
tap_done
