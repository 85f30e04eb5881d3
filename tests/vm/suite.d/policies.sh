# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=400 vram_mb=16
#
# Every built-in paging policy on backend kmod, verified; what they are told that only the
# client knows (its managed ranges, a recorded run) reaches the daemon; and a record of
# one backend serves the other.
. tests/lib/tap.sh

number() { sed -n "/^  \"paging/,\$s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" /tmp/run.json | head -n 1; }
names() { gpuemu list "$1" | sed -n 's/^  \([a-z-]*\) .*/\1/p'; }
run() { timeout 120 gpuemu run "$@" --json /tmp/run.json; }
on() { backend=$1; shift; run "$@" --backend "$backend"; }

tap_check 'a run is recorded on kmod' on kmod vecadd n=16K --record /tmp/kmod.rec
demand=$(number far_faults)
tap_check 'with each of its 48 pages' sh -c "awk -F+ '!/#/ { for (i = 0; i <= \$2 + 0; i++) seen[\$1 + i] = 1 } END { for (p in seen) n++; exit n != 48 }' /tmp/kmod.rec"
tap_check 'and on sim' on sim vecadd n=16K --record /tmp/sim.rec
for p in $(names prefetchers); do
	tap_check "prefetch $p: verified on kmod" on kmod vecadd n=16K --prefetch "$p" --recorded /tmp/sim.rec
	[ "$p" = none ] && continue
	tap_check "prefetch $p: fewer far faults than $demand" test "$(number far_faults)" -lt "$demand"
done
# Without the ranges it would bring nothing; two far faults could not bring 46 pages.
on kmod vecadd n=16K --prefetch stream --set paging.batch=1 >/dev/null
tap_check 'the daemon knows the managed ranges' test "$(number prefetched_pages)" -ge 40
tap_check 'a record of kmod serves sim' on sim vecadd n=16K --prefetch oracle --recorded /tmp/kmod.rec
on sim stencil size=tiny --record /tmp/stencil.rec >/dev/null
for e in $(names evictors); do
	tap_check "evict $e: verified on kmod" on kmod stencil size=tiny --vram 32K --evict "$e" --recorded /tmp/stencil.rec
	tap_check "evict $e: evicts" test "$(number evicted_pages)" -gt 0
done
timeout 60 gpuemu run vecadd n=64 --backend kmod --evict min >/tmp/out 2>&1
status=$?
tap_check 'no record, no MIN' sh -c "[ $status -eq 2 ] && grep -q 'needs a recorded run' /tmp/out"
tap_done
