# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1200
#
# Backend uffd on this machine: each workload verifies, as it is and as nobody, with
# VRAM to spare and with less than it touches, and touches the pages that it touches
# under sim. What this machine's kernel does not let it do is done in the VM
# (tests/vm/suite.d/uffd.sh), which has all of this too.
. tests/lib/tap.sh

work=build/check/uffd
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
. tests/lib/cli.sh

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# The pages of a record, each once.
pages() { sed -n 's/^\([0-9][0-9]*\)$/\1+0/; s/^\([0-9]*\)+\([0-9]*\)$/\1 \2/p' "$1" | awk '{ for (i = 0; i <= $2; i++) print $1 + i }' | sort -nu; }

if ! $gpuemu run vecadd --backend uffd >$work/out 2>$work/err && grep -q 'userfaultfd' $work/err; then
	tap_check "no userfaultfd here: said in one line" test "$(wc -l <$work/err)" -eq 1
	echo "# $(cat $work/err): the VM suite runs uffd"
	tap_done
	exit
fi
as_nobody=
if [ "$(id -u)" -eq 0 ] && nobody test -x $gpuemu; then
	as_nobody=1
fi
for w in $(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' workloads/workloads.def); do
	for b in sim uffd; do
		tap_check "$w on $b: verifies" timeout 120 \
			$gpuemu run "$w" size=tiny --backend $b --record $work/$w.$b --json $work/$w.json
		pages $work/$w.$b >$work/$w.$b.pages
	done
	tap_check "$w: measured" grep -q '"clock": *"measured"' $work/$w.json
	tap_check "$w: touches pages" test -s $work/$w.sim.pages
	tap_check "$w: uffd touches the pages that sim touches" cmp $work/$w.sim.pages $work/$w.uffd.pages
	tap_check "$w, VRAM 32K: verifies" timeout 120 $gpuemu run "$w" size=tiny --backend uffd --vram 32K
	[ -z "$as_nobody" ] || tap_check "$w as nobody, VRAM 64K: verifies" nobody timeout 120 \
		$gpuemu run "$w" size=tiny --backend uffd --vram 64K
done
# A policy's row is named as in C.
policies() { sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' "daemon/paging/$1.def" | tr _ -; }
for policy in $(policies prefetch); do
	tap_check "prefetch $policy: verifies" timeout 120 $gpuemu run gather size=tiny --backend uffd \
		--prefetch "$policy" --recorded $work/gather.sim
done
for policy in $(policies evict); do
	tap_check "evict $policy: verifies" timeout 120 $gpuemu run gather size=tiny --backend uffd --vram 64K \
		--evict "$policy" --recorded $work/gather.sim
done
for set in gmmu.page=64K gmmu.page=2M gmmu.blocking=on paging.handlers=0 paging.watermark=10; do
	tap_check "$set: verifies" timeout 120 $gpuemu run stencil size=tiny --backend uffd --set $set
done
. tests/lib/faults.sh
$gpuemu run bfs size=tiny --backend uffd --vram 64K --faults $work/faults.csv >$work/out 2>&1
read -r lines bad all <<<"$(adds_up $work/faults.csv)"
tap_check "the stages of $lines far faults are their latency, $all ns together" test "$lines" -gt 20 -a "$bad" -eq 0
# A slow policy: its time is a distribution of its own, and a sentence says that it rules; or a batch is
# charged what paging.decide says, to the nanosecond.
make policies >$work/build.log 2>&1
slow=build/tests/policy/slow.so
$gpuemu run bfs size=tiny --backend uffd --prefetch $slow --json $work/slow.json >$work/out 2>&1
tap_check 'a slow policy: its time is told' sh -c "grep -A2 '\"decide_ns\"' $work/slow.json | grep -q '\"p50\": *[0-9]\{7,\}'"
tap_check 'a slow policy: the report says that it rules' grep -q "the policies' decisions took [0-9]*% of the handler's time" $work/out
tap_check 'a slow policy: explain, too' sh -c "$gpuemu explain $work/slow.json | tr -s '\\n ' ' ' | grep -q \"not how good it decides\""
$gpuemu run bfs size=tiny --backend uffd --prefetch $slow --set paging.decide=2000 --faults $work/slow.csv >$work/out 2>&1
tap_check 'paging.decide: each far fault is charged 2000 ns for it' awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "fetched_to_committed_ns") c = i }
	NR > 1 { n++; if ($c != 2000) bad = 1 } END { exit bad || n < 20 }' $work/slow.csv
tap_check 'copied by hand: verifies' $gpuemu run vecadd size=tiny --backend uffd --copy
tap_check 'paging off: verifies' $gpuemu run vecadd size=tiny --backend uffd --paging off

does '"backend": "uffd"' run vecadd size=tiny --backend uffd --json -
does 'ratio_uffd' bench fault --backend uffd --count 300 --json
does 'per_page_ns' bench fault --backend uffd --count 512 --batch 256 --json
does 'faults_per_second' bench throughput --backend uffd --count 1000 --json
refused 1 'moves no bytes' bench throughput --backend sim
does 'h2d_mbps' bench migrate --backend uffd --count 2 --json
# Buffers from and to files, where system calls see managed memory or the program sees to it.
head -c 300000 /dev/urandom >$work/in
for who in '' ${as_nobody:+nobody}; do
	rm -f $work/copy
	: >$work/copy
	chmod 666 $work/copy $work/in
	tap_check "files in and out${who:+, as $who}" ${who:+$who} $gpuemu ptx tests/cli/count.ptx --backend uffd \
		--kernel index --grid 8 --block 64 --arg "inout:$work/in:$work/copy" --arg u32:512
	tap_check "files in and out${who:+, as $who}: all of it" test "$(wc -c <$work/copy)" -eq 300000
done
refused 1 'gpu.functional' run vecadd --backend uffd --set gpu.functional=on
refused 1 'paging.vram=1152921504606846976' run vecadd --backend uffd --vram 1152921504606846976
tap_done
