# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1800
#
# Every paging policy in whole runs on backend sim: verified with all the memory there is and
# with half of it, twice the same, far faults counted against what other simulators
# count; and recorded runs: written, read, refused.
. tests/lib/tap.sh

work=build/check/policies
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
. tests/lib/cli.sh

names() { $gpuemu list "$1" | sed -n 's/^  \([a-z-]*\) .*/\1/p'; }
# Of the whole run, not of one kernel.
number() { sed -n "/^  \"paging/,\$s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$2" | head -n 1; }
run() { timeout 120 $gpuemu run "$@" --backend sim; }

# --- every row, and every row when memory is short ------------------------------
run stencil size=tiny --record $work/stencil.rec >$work/record.txt 2>&1
# verified NAME FILE ARGUMENT...: twice, and the same.
verified() {
	name=$1 file=$work/$2
	shift 2
	for i in 1 2; do
		run stencil size=tiny --recorded $work/stencil.rec --json $file.$i "$@" >$file.txt 2>&1 || {
			tap_not_ok "$name: verifies" "$(tail -n 5 $file.txt)"
			return
		}
	done
	if [ "$(steady $file.1)" = "$(steady $file.2)" ]; then
		tap_ok "$name: verifies, twice the same"
	else
		tap_not_ok "$name: twice the same" "$(diff $file.1 $file.2 | head -n 20)"
	fi
}
footprint=$(sed -n 's/.*managed memory \([0-9]*\) KiB.*/\1/p' $work/record.txt | head -n 1)
half=$((${footprint:-64} / 2))K
for p in $(names prefetchers); do
	verified "prefetch $p" prefetch.$p --prefetch "$p"
	verified "prefetch $p, VRAM $half" prefetch.$p.half --prefetch "$p" --vram $half
done
for e in $(names evictors) lru:reserve=20; do
	verified "evict $e, VRAM $half" "evict.$e" --evict "$e" --vram $half
	verified "evict $e, prefetch tree, VRAM $half" "evict.$e.tree" --evict "$e" --prefetch tree --vram $half
	verified "evict $e, one VA block" "evict.$e.one" --evict "$e" --prefetch block --vram 8K
	evicted=$(number evicted_pages "$work/evict.$e.1")
	if [ "${evicted:-0}" -gt 0 ]; then tap_ok "evict $e: evicts"; else tap_not_ok "evict $e: evicts" "${evicted:-nothing} pages"; fi
done
[ "$(names prefetchers | wc -l)" -ge 10 ] && [ "$(names evictors | wc -l)" -ge 9 ] ||
	tap_not_ok 'all rows are listed' "$(names prefetchers evictors)"

# --- far faults of 192 pages ----------------------------------------------------
# UVMSmart (3.2.2, 768 KB vecadd): 192 on demand, 135 random, 19 sequential-local, 17 tree. It
# serves fault by fault, so a batch is one fault here, and what differs is whose fault comes
# first. Runs repeat exactly: another number is another policy. Every page that is prefetched is
# used; where both numbers add up to more than 192, some came late: they had a far fault, too.
run vecadd n=65536 --record $work/vecadd.rec >$work/vecadd.txt 2>&1
faults() { # POLICY FAULTS PREFETCHED [ARGUMENT...]
	p=$1 want="$2 $3 $3 0"
	shift 3
	rm -f $work/vecadd.json
	run vecadd n=65536 --prefetch "$p" --set paging.batch=1 "$@" --json $work/vecadd.json >$work/vecadd.txt 2>&1
	got=$(for m in far_faults prefetched_pages prefetch_used_pages evicted_pages; do number $m $work/vecadd.json; done | paste -sd' ')
	if [ "$got" = "$want" ]; then
		tap_ok "vecadd of 192 pages, $p: ${want%% *} far faults"
	else
		tap_not_ok "vecadd of 192 pages, $p: far faults, prefetched, used, evicted pages: $want" "${got:-nothing}
$(tail -n 5 $work/vecadd.txt)"
	fi
}
faults none 192 0
faults random 135 59
faults sequential 28 175
faults sequential-local 24 180
faults tree:threshold=50 18 183
faults tree 18 183
faults stride 131 64
faults block 6 189
faults stream 4 191
faults locality 6 189
faults oracle 4 191 --recorded $work/vecadd.rec

# --- recorded runs ------------------------------------------------------------------
refused 2 "'oracle' needs a recorded run: --recorded FILE" run vecadd n=64 --backend sim --prefetch oracle
refused 2 "'min' needs a recorded run: --recorded FILE" run vecadd n=64 --backend sim --evict min
refused 2 '--record takes one workload, here are 2' run vecadd n=64 stride --record $work/x
refused 2 "$work/none.rec: No such file" run vecadd n=64 --backend sim --recorded $work/none.rec
: >$work/empty.rec
refused 2 'not a recorded run: it is empty' run vecadd n=64 --backend sim --recorded $work/empty.rec
echo 7 >$work/bad.rec
refused 2 'its first line is not "# gpuemu record 1"' run vecadd n=64 --backend sim --recorded $work/bad.rec
for line in x -1 '1+' '1 2' 4294967296 '0+99999999999' '1+x' 18446744073709551616; do
	printf '# gpuemu record 1\n# a comment\n3+4\n\n%s\n' "$line" >$work/bad.rec
	refused 2 "$work/bad.rec line 5: " run vecadd n=64 --backend sim --recorded $work/bad.rec
done
refused 1 '--record: ' run vecadd n=64 --backend sim --record $work/no/such/folder
# One that says little is used as far as it goes.
printf '# gpuemu record 1\n0+2\n' >$work/three.rec
does verified run vecadd n=65536 --backend sim --recorded $work/three.rec --prefetch oracle
tap_check 'a record has its touches' sh -c "sed -n '2s/# \([0-9]*\) touches.*/\1/p' $work/vecadd.rec | grep -qx '[1-9][0-9][0-9]*'"
tap_check 'a record names each page' sh -c "awk -F+ '!/#/ { for (i = 0; i <= \$2 + 0; i++) seen[\$1 + i] = 1 } END { for (p in seen) n++; exit n != 192 }' $work/vecadd.rec"
run vecadd n=65536 --record $work/again.rec >$work/again.txt 2>&1
tap_check 'the same run records the same' cmp $work/vecadd.rec $work/again.rec
# --- what paging costs where nothing faults (tests/bench-paging/whole.sh) ------------------------
for w in sgemm spmv bfs; do
	line=$(tests/bench-paging/whole.sh share "$w" size=tiny 2>&1) || true
	share=$(sed -nE 's/.*: ([0-9.]+)% of.*/\1/p' <<<"$line")
	tap_check "at most 5% of the host's instructions: $line" \
		awk -v s="${share:-100}" 'BEGIN { exit !(s > 0 && s <= 5) }'
done
tap_done
