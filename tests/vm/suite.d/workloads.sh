# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=600 vram_mb=16
#
# Every workload on backend kmod, verified, with less VRAM than it touches; and the
# report of such a run says what must be true of it. uffd.sh has five of them with
# VRAM to spare.
. tests/lib/tap.sh

# number MEMBER [OBJECT]: the first of that name in the report's object, "paging" if none is given.
number() { sed -n "/^  \"${2:-paging}/,\$s/.*\"$1\": *\([0-9][0-9.e+]*\).*/\1/p" /tmp/run.json | head -n 1; }
text() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" /tmp/run.json | head -n 1; }
run() { timeout 120 gpuemu run "$@" --backend kmod --json /tmp/run.json; }

for w in $(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' workloads/workloads.def); do
	tap_check "$w: verified on kmod with 32 KiB of VRAM" run "$w" size=tiny --vram 32K
	tap_check "$w: the report says so" grep -q '"verified": *true' /tmp/run.json
	tap_check "$w: measured, on $GPUEMU_VIRT" test "$(text backend) $(text clock) $(text virt)" = "kmod measured $GPUEMU_VIRT"
	tap_check "$w: it faulted" test "$(number far_faults)" -gt 0
	# The four blocks that dxtc compresses at this size, each long, lie in fewer pages.
	[ "$w" != dxtc ] || continue
	tap_check "$w: pages were evicted" test "$(number evicted_pages)" -gt 0
	tap_check "$w: and written back or moved" test "$(number h2d_bytes)" -ge 32768
done

tap_check 'sequential prefetch verifies' run vecadd --prefetch sequential
with=$(number far_faults)
tap_check 'it prefetched' test "$(number prefetched_pages)" -gt 0
run vecadd --prefetch none >/dev/null
tap_check 'and saved far faults' test "$with" -lt "$(number far_faults)"
tap_check 'buffers copied by hand: verified' run triad size=tiny --copy
tap_check 'then nothing faults' test "$(number far_faults)" -eq 0
tap_check 'and the copies are measured' test "$(number h2d_cycles workload)" -gt 0 -a "$(number d2h_cycles workload)" -gt 0
tap_check 'random eviction verifies' run gather --vram 64K --evict random
tap_check 'two clients at once verify' sh -c '
	gpuemu run vecadd --backend kmod --vram 256K >/tmp/a 2>&1 & a=$!
	gpuemu run reduce --backend kmod --vram 256K >/tmp/b 2>&1; b=$?
	wait $a && [ $b -eq 0 ] || { cat /tmp/a /tmp/b; exit 1; }'
tap_done
