# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Workloads side by side on one GPU (gpuemu run A + B @CYCLE): every one verifies, each has its own
# kernels in the report, the same for any number of threads; arrivals are kept to the cycle, and
# who waits between its launches does not hold up the others.
. tests/lib/tap.sh

work=build/check/corun
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR
. tests/lib/cli.sh

refused 2 '+ stands between workloads' run + vecadd
refused 2 '+ stands between workloads' run vecadd +
refused 2 '+ stands between workloads' run vecadd + + reduce
refused 2 'between all of them or none' run vecadd + reduce gather
refused 2 '@CYCLE is for workloads side by side' run vecadd @20 gather
refused 2 '@CYCLE stands behind a workload' run @20 vecadd
refused 2 '@CYCLE stands behind a workload' run vecadd @soon + gather
refused 2 '--copy takes workloads one at a time' run vecadd + gather --copy

# of FILE N WHAT: of the N-th workload's kernels the first begin (1), last end (2), between (3).
of() {
	sed -n 's/.*kernels from \([0-9]*\) to \([0-9]*\), \([0-9]*\) cycles.*/\1 \2 \3/p' "$1" |
		sed -n "$2p" | cut -d ' ' -f "$3"
}
# Of each whole workload, not of one of its kernels: a comma is behind those of its totals.
instructions() { sed -n '/"end":/,/"kernels"/s/^      "thread_instructions": *\([0-9]*\).*/\1/p' "$1"; }

# bfs reads a flag between its launches, sgemm has one launch, vecadd comes later.
for options in '' '--paging off' '--set gpu.mixed_sms=on' '--vram 64K' '--manage zorua' \
	'--manage zorua --set gpu.mixed_sms=on'; do
	for i in 1 2; do
		# shellcheck disable=SC2086
		timeout 120 $gpuemu run bfs size=tiny + sgemm size=tiny + vecadd size=tiny @3000 --backend sim \
			--threads $i $options --json $work/$i >$work/$i.txt 2>&1 ||
			tap_not_ok "$options: three verify" "$(tail -n 5 $work/$i.txt)"
	done
	if [ -s $work/1 ] && [ "$(steady $work/1)" = "$(steady $work/2)" ]; then
		tap_ok "$options: the same with 1 and 2 threads"
	else
		tap_not_ok "$options: the same with 1 and 2 threads" "$(diff $work/1 $work/2 | head -n 20)"
	fi
	tap_check "$options: all verified" test "$(grep -c '"verified": *true' $work/1)" = 3
	tap_check "$options: arrives when it is told to" test "$(of $work/1.txt 3 1)" = 3000
	tap_check "$options: others begin at once" test "$(of $work/1.txt 1 1),$(of $work/1.txt 2 1)" = 0,0
	# bfs' launches go on beside sgemm's one: it ends before that, or the other way round.
	tap_check "$options: side by side" test "$(of $work/1.txt 3 2)" -lt "$(of $work/1.txt 1 2)"
	sum=0
	for n in $(instructions $work/1); do
		sum=$((sum + n))
	done
	tap_check "$options: shares are the total" grep -q "^    \"thread_instructions\": *$sum," $work/1
done
# The second is alone when the first has long ended.
$gpuemu run vecadd size=tiny --backend sim --paging off --json $work/alone >/dev/null 2>&1
$gpuemu run vecadd size=tiny + vecadd size=tiny @1000000 --backend sim --paging off >$work/later 2>&1
cycles=$(sed -n '/"kernels"/,$s/.*"cycles": *\([0-9]*\).*/\1/p' $work/alone | head -n 1)
tap_check 'a late one has the GPU alone' test "$(of $work/later 1 3)" = "$cycles" -a "$(of $work/later 2 1)" = 1000000
# One is halted, and is not verified; the other is, and has the GPU for itself then.
tap_check 'halted: it ends well' sh -c "$gpuemu run bfs size=tiny halt=100K + sgemm size=tiny --backend sim --json $work/halted >$work/out 2>&1"
tap_check 'halted: it says when' grep -q 'halted at cycle [0-9]* after [0-9]* thread instructions, not verified' $work/out
tap_check 'halted: the other verifies' test "$(grep -c '"verified": true' $work/halted)" = 1
tap_check 'halted: a kernel that was halted' grep -q '"halted": *true' $work/halted
# Where nothing happens in that cycle it is noticed in the next.
tap_check 'until: it ends well' sh -c "$gpuemu run bfs size=tiny until=3000 --backend sim >$work/out 2>&1"
tap_check 'until: it says when' grep -q 'halted at cycle 300[01] after ' $work/out
does 'halted at cycle 90000 after ' run vecadd size=tiny until=90000 repeat=100 --backend sim --paging off
refused 2 'repeat= needs halt=, until= or --target' run vecadd repeat=3
tap_check 'targets: it ends well' sh -c "$gpuemu run sgemm size=tiny + vecadd size=tiny repeat=100 --target 9000 --paging off --backend sim >$work/out 2>&1"
tap_check 'targets: what the pair makes of them' grep -q 'ANTT 1.*, STP [01].*, fairness 0.*; speed-ups over alone [01]' $work/out
# A program that ends before the target ends beside another, too: its time is to its end in both runs.
$gpuemu run sgemm size=tiny repeat=100 + vecadd size=tiny --target 20K --paging off --backend sim >$work/out 2>&1
tap_check 'targets: who ends sooner is not halted' grep -q '^vecadd.*: verified' $work/out
# Alone a program has all that fits, also where slicer.fixed has a single limit.
target() {
	$gpuemu run sgemm size=tiny repeat=100 + vecadd size=tiny repeat=100 --target 9000 --paging off --backend sim --json - "$@" |
		grep -o '"target_instructions": *[0-9]*'
}
target >$work/all
target --slice fixed --set slicer.fixed=1 >$work/fixed
tap_check 'targets: alone a program has no limit' sh -c "test -s $work/all && cmp $work/all $work/fixed"
refused 2 '--target is for workloads side by side' run vecadd --target 9000
refused 2 'not a number of cycles' run vecadd + reduce --target soon
refused 2 'halt= and until= are for one workload, or several side by side' run bfs halt=100K sgemm
refused 2 'until=CYCLE stands behind a workload' run bfs until=soon
refused 2 'halt=N stands behind a workload' run bfs halt=soon + sgemm
does 'kernels from 500 to' run vecadd size=tiny @500 + stride size=tiny --backend sim
does 'verified' run vecadd size=tiny + bfs size=tiny --backend sim --functional
# --- the oracle: every partition, by the runner ---
refused 2 '--slice oracle is for 2 to 8' run vecadd --slice oracle
refused 2 'without --trace' run vecadd + reduce --slice oracle --trace $work/no.trace
oracle() {
	(cd $work && timeout 300 ../../bin/gpuemu run sgemm size=tiny + histo size=tiny --slice oracle --paging off \
		--set gpu.sms=2 --backend sim --json oracle.json)
}
tap_check 'oracle: it ends well' sh -c "$(declare -f oracle); work=$work; oracle >$work/oracle.txt 2>$work/oracle.err"
tap_check 'oracle: the best is the fastest of its choices' sh -c "awk 'NR > 1 && !/no choice/ { n++; if (!least || \$2 < least) least = \$2 }
	/the best/ { best = \$2 } END { exit !(n > 6 && best && best == least) }' $work/oracle.txt"
tap_check 'oracle: partitions that fit, and none that does not' sh -c "grep -q '^1,1 ' $work/oracle.txt && ! grep -q '^8,8 ' $work/oracle.txt"
# A Kepler's SM has more registers.
tap_check 'oracle: what fits is by --config' sh -c "! grep -q '^1,7 ' $work/oracle.txt && cd $work && timeout 300 ../../bin/gpuemu \\
	run sgemm size=tiny + histo size=tiny --slice oracle --paging off --set gpu.sms=2 --backend sim --config kepler 2>&1 | grep -q '^1,7 '"
kept=$(find $work/run-oracle/runs -name '*.json' | wc -l)
touch $work/oracle.mark
oracle >$work/oracle.2.txt 2>$work/oracle.err
tap_check 'oracle: nothing is done twice' sh -c "test $kept -gt 8 && cmp $work/oracle.txt $work/oracle.2.txt && \
	test -z \"\$(find $work/run-oracle/runs -name '*.json' -newer $work/oracle.mark)\""
# Dynamic samples what the SMs had of the memory: the same however many threads run them.
for i in 1 2; do
	timeout 300 $gpuemu run sgemm size=quick repeat=100 + lbm size=quick repeat=100 --slice dynamic --target 40K \
		--config gtx480-ws --paging off --backend sim --threads $i --json $work/$i >$work/$i.txt 2>&1 ||
		tap_not_ok "dynamic beside memory" "$(tail -n 5 $work/$i.txt)"
done
tap_check 'dynamic: it has decided' grep -q '"partitions"' $work/1
tap_check 'dynamic: the same with 1 and 2 threads' test "$(steady $work/1)" = "$(steady $work/2)"
# Whichever SMs a program gets: each program verifies and executes what it executes under any other policy,
# also where Virtual Thread parks CTAs.
want=
for slice in $($gpuemu list dispatchers | awk '/^  / { print $1 }'); do
	for cta in baseline vt; do
		timeout 60 $gpuemu run sgemm size=tiny + histo size=tiny + spmv size=tiny --slice "$slice" --cta $cta --backend sim \
			--paging off --set slicer.warmup=500 --set slicer.sample=200 --set slicer.fixed=2,1,3 --set slicer.loss=300 \
			--json $work/1 >$work/1.txt 2>&1
		got=$(instructions $work/1)
		want=${want:-$got}
		tap_check "$slice, $cta: three verify, with the same instructions" \
			test "$(grep -c '"verified": *true' $work/1)" = 3 -a "$(wc -w <<<"$got")" = 3 -a "$got" = "$want"
	done
done
tap_done
