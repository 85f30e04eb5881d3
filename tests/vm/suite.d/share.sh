# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=200 vram_mb=4 pt_mb=1 client_vram_pct=25
#
# A client's share of device memory and of page tables with a real daemon: programs are right
# within it, alone and side by side, while it changes; who wants more is told.
. tests/lib/tap.sh

value() { sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p" "$1" | head -n 1; }
number() { sed -n "/^  \"paging/,\$s/.*\"$2\": *\([0-9][0-9]*\).*/\1/p" "$1" | head -n 1; }

# 1024 frames, 256 for each; this program uses 512 pages.
gather() { timeout 100 gpuemu run gather n=16K pages=512 --backend kmod --json "$1"; }

tap_check 'a program that wants twice its share is right' gather /tmp/one
tap_check 'it evicts its own pages' test "$(number /tmp/one evicted_pages)" -ge 200
gpuemu stat --json >/tmp/after
tap_check 'and is never refused: its daemon knows' test "$(value /tmp/after over_share)" -eq 0
for i in 1 2 3; do
	{ gather /tmp/side.$i; : >/tmp/ended.$i; } >/tmp/side.out.$i 2>&1 &
done
most=0
until [ -e /tmp/ended.1 ] && [ -e /tmp/ended.2 ] && [ -e /tmp/ended.3 ]; do
	gpuemu stat --json >/tmp/now
	n=$(value /tmp/now resident_pages)
	[ "$n" -le "$most" ] || most=$n
done
wait
for i in 1 2 3; do
	tap_check "side by side, $i is right" grep -q verified /tmp/side.out.$i
	tap_check "side by side, $i evicts its own" test "$(number /tmp/side.$i evicted_pages)" -ge 200
done
tap_check "together they had their shares and no more ($most)" test "$most" -le 768 -a "$most" -gt 128

gather /tmp/changing >/tmp/changing.out 2>&1 &
client=$!
for pct in 1 100 3 0 25; do
	gpuemu stat --set client_vram_pct=$pct
	usleep 200000
done
wait $client
tap_check 'right while its share goes up and down' grep -q verified /tmp/changing.out

# Tables: a block for each page, and half of 256 tables.
gpuemu stat --set client_vram_pct=0
gpuemu stat --reset
timeout 60 gpuemu run stride pages=200 step=2097152 --backend kmod >/tmp/out 2>&1
status=$?
gpuemu stat >/tmp/stat
if [ $status -ne 0 ]; then tap_ok 'too many page tables end the kernel'; else tap_not_ok 'too many page tables end the kernel' "$(cat /tmp/out)"; fi
tap_check 'its sentence says why' grep -q 'cannot be moved to device memory' /tmp/out
tap_check 'gpuemu stat counts it' sh -c 'grep -q "^no_table  *[1-9]" /tmp/stat'
tap_check 'and others go on' gpuemu run vecadd --backend kmod
tap_done
