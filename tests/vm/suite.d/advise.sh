# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=300 vram_mb=8
#
# gpuemu run --advise on backend kmod beside sim: every workload that is small verifies
# whatever is advised, and the statistics say what the module did.
. tests/lib/tap.sh

number() { # GROUP KEY: of the statistics' "paging"
	tr -d ' \n\t' </tmp/run.json | sed -n "s/.*\"paging\":{//p" | sed -n "s/.*\"$1\":{\([^}]*\)}.*/\1/p" |
		tr ',' '\n' | sed -n "s/^\"$2\":\([0-9]*\)\$/\1/p" | head -n 1
}
faults() { tr -d ' \n\t' </tmp/run.json | sed -n 's/.*"paging":{"far_faults":\([0-9]*\).*/\1/p'; }
run() { timeout 100 gpuemu run "$@" --json /tmp/run.json; }

for b in sim kmod; do
	tap_check "$b, on demand: verified" run vecadd n=16K --backend $b
	tap_check "$b, on demand: 48 far faults" test "$(faults)" -eq 48
	tap_check "$b, on demand: nothing is remote" test "$(number remote reads)" -eq 0
	tap_check "$b, accessed-by: verified" run vecadd n=16K --backend $b --advise accessed-by
	tap_check "$b, accessed-by: no far fault" test "$(faults)" -eq 0
	tap_check "$b, accessed-by: 48 pages mapped" test "$(number remote mapped_pages)" -eq 48
	tap_check "$b, accessed-by: 1024 reads" test "$(number remote reads)" -eq 1024
	tap_check "$b, accessed-by: 512 writes" test "$(number remote writes)" -eq 512
	tap_check "$b, read-mostly: verified" run vecadd n=16K --backend $b --advise read-mostly=inputs
	tap_check "$b, read-mostly: 32 duplicates" test "$(number duplicates made_pages)" -eq 32
	tap_check "$b, read-mostly: none collapsed" test "$(number duplicates collapsed_pages)" -eq 0
	tap_check "$b, preferred-host: verified" run vecadd n=16K --backend $b --advise preferred-host=results
	tap_check "$b, preferred-host: 16 pages mapped" test "$(number remote mapped_pages)" -eq 16
	tap_check "$b, access counters: verified" \
		run vecadd n=16K --backend $b --advise accessed-by --set access_counters.enable=1 --set access_counters.threshold=32
	tap_check "$b, access counters: they migrate" test "$(number remote migrated_pages)" -gt 0
done
for w in histo bfs stencil nw spmv; do
	for a in accessed-by read-mostly preferred-host=inputs; do
		tap_check "$w, $a, 64 KiB of device memory: verified" run "$w" size=tiny --backend kmod --vram 64K --advise $a
	done
done
tap_done
