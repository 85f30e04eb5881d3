# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1800
#
# gpuemu plot, gpuemu study and --trace from the command line, on backend sim: the same
# reports give the same figures and tables, what is there is not done again, a run that
# fails is told and the exit status says so.
. tests/lib/tap.sh

work=build/check/study
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_VIRT

. tests/lib/cli.sh

# --- character ---------------------------------------------------------------
$gpuemu study character --quick --workloads vecadd,fft,nn,reduce --out $work/character >$work/character.txt 2>&1
for w in vecadd fft; do
	run=$($gpuemu run $w --size tiny --config gtx480-vt --paging off --backend sim --json - | sed -n 's/.*"ctas_per_sm": *\([0-9]*\).*/\1/p' | head -n 1)
	tap_check "character: $w has as many CTAs as in a run with time" \
		test "$(awk -v w=$w '$1 == w { print $8; exit }' $work/character.txt)" = "$run"
done

# The cells of a program's row in the table of shared memory: 8 CTAs of 2304 bytes of 48 KB; 6 of 2048
# and of 1024; 16 contexts of 8 warps, (13 + 96 + 640 * 8) / 8 bytes each.
shared_of() { awk -v w="$1" '/^shared:/ { in_it = 1 } in_it && $1 == w { print; exit }' $work/character.txt; }
tap_check 'character: shared memory of fft' test "$(shared_of fft | awk '{ print $3, $4, $5, $6, $7 }')" = '2304 2304 37.5 37.5 37.5'
tap_check "character: reduce with the SDK's bytes" test "$(shared_of reduce | awk '{ print $3, $4, $5, $6, $7 }')" = '2048 1024 25.0 12.5 12.5'
tap_check "character: vecadd's contexts" test "$(shared_of vecadd | awk '{ print $8, $9 }')" = '0.0 21.3'

# --- plot --------------------------------------------------------------------
$gpuemu run vecadd --backend sim --set stats.interval=2000 --json $work/a.json >/dev/null 2>&1
$gpuemu run vecadd --backend sim --set stats.interval=2000 --prefetch sequential --json $work/b.json >/dev/null 2>&1
refused 2 'which reports?' plot
refused 2 "unknown figure 'sky'; there are: link" plot $work/a.json --figure sky
refused 2 '.svg, .png, .txt or .gp' plot $work/a.json --out $work/a.jpg
refused 1 'no-such.json: No such file' plot $work/no-such.json
refused 1 'not a report' plot --out $work/x.gp <(echo '{}')
refused 1 'nothing of it' plot --out $work/x.gp --figure waits <(echo '{"totals":{}}')
does 'usage: gpuemu plot' plot --help
does 'Use of the link' plot $work/a.json --figure link

# Those of an SM that kernels share have inputs of their own, below; those of bench are in 45-cli.sh.
figures=$(sed -n 's/^X(\([a-z]*\).*/\1/p' tools/plot.def | grep -vx -e fragmentation -e registers -e shared -e yardsticks -e bars)
$gpuemu plot $work/a.json $work/b.json --out $work/p.gp >$work/out 2>&1
$gpuemu plot $work/a.json $work/b.json --out $work/p.svg >>$work/out 2>&1
$gpuemu plot $work/a.json $work/b.json --out $work/p.png >>$work/out 2>&1
for i in 1 2; do
	for f in $figures; do
		$gpuemu plot $work/a.json $work/b.json --figure "$f" --out $work/$f.$i.gp >>$work/out 2>&1
	done
done
for f in $figures; do
	tap_check "plot: $f, the same script twice" sh -c "test -s $work/$f.1.gp && cmp $work/$f.1.gp $work/$f.2.gp && cmp $work/$f.1.gp $work/p-$f.gp"
	tap_check "plot: $f, both runs are in it" sh -c "grep -q 'a (vecadd)' $work/$f.1.gp && grep -q 'b (vecadd)' $work/$f.1.gp"
	tap_check "plot: $f is a picture" sh -c "grep -q '</svg>' $work/p-$f.svg && head -c 8 $work/p-$f.png | grep -q PNG"
done
tap_check 'plot: it said nothing' test ! -s $work/out
$gpuemu run sgemm size=tiny + histo size=tiny --backend sim --paging off --slice fcfs --set gpu.sms=1 \
	--set stats.interval=2000 --json $work/both.json --trace $work/both.trace >$work/out 2>&1
for figure in fragmentation:json registers:trace shared:trace; do
	f=${figure%:*}
	tap_check "plot: $f" $gpuemu plot $work/both.${figure#*:} --figure $f --out $work/$f.svg
	tap_check "plot: $f, the same script twice" sh -c "$gpuemu plot $work/both.${figure#*:} --figure $f --out $work/$f.1.gp &&
		$gpuemu plot $work/both.${figure#*:} --figure $f --out $work/$f.2.gp && cmp $work/$f.1.gp $work/$f.2.gp"
	tap_check "plot: $f is a picture" grep -q '</svg>' $work/$f.svg
	refused 1 "$f: the reports have nothing of it" plot $work/a.json --figure $f --out $work/no.gp
done
tap_check 'plot: both kernels have registers' sh -c "grep -q 'sgemm (stream 1)' $work/registers.1.gp && grep -q 'histo_count (stream 2)' $work/registers.1.gp"

# --- trace -------------------------------------------------------------------
$gpuemu run vecadd --backend sim --set stats.interval=2000 --json $work/t.json --trace $work/t.trace >/dev/null 2>$work/err
tap_check 'trace: no statistic is another' cmp <(steady $work/a.json) <(steady $work/t.json)
tap_check 'trace: flows begin as often as they end' sh -c "test \$(grep -o '\"ph\":\"s\"' $work/t.trace | wc -l) -gt 0 && \
	test \$(grep -o '\"ph\":\"s\"' $work/t.trace | wc -l) -eq \$(grep -o '\"ph\":\"f\"' $work/t.trace | wc -l)"
$gpuemu run vecadd --backend sim --set gpu.trace=100 --trace $work/few.trace >/dev/null 2>$work/err
tap_check 'trace: what is left out is said' grep -q 'events are left out' $work/err

# Where userfaultfd may be used: a batch's pages are one transfer, and every far fault goes through it.
if $gpuemu run vecadd n=64K --backend uffd --json $work/u.json --trace $work/u.trace >/dev/null 2>$work/err; then
	steps() { grep -o "\"ph\":\"$1\"" $work/u.trace | wc -l; }
	tap_check 'trace: uffd, from batch to transfer' test "$(steps t)" -eq $((2 * $(steps s)))
else
	tap_check 'trace: uffd says why not' grep -q userfaultfd $work/err
fi

# --- study -------------------------------------------------------------------
refused 2 'which study? one of: paged-memory' study
refused 2 "unknown study 'love'; there are: paged-memory" study love
refused 2 "unknown study 'zorau'; did you mean 'zorua'?" study zorau
refused 2 "unknown workload 'veccadd'; did you mean 'vecadd'?" study paged-memory --workloads bfs,veccadd
refused 2 "no part 'nothing'; there are: copy, blocking" study paged-memory --only nothing
refused 2 "no part 'blokcing'; did you mean 'blocking'?" study paged-memory --only blokcing
refused 2 'gpu.smms' study paged-memory --out $work/x --set gpu.smms=3
refused 2 'no-such-gpu' study paged-memory --out $work/x --config no-such-gpu
refused 2 '--jobs 0' study paged-memory --jobs 0
refused 1 'cannot make /dev/null/x' study paged-memory --out /dev/null/x
does 'usage: gpuemu study' study --help

study() { # DIR NAME OPTION...
	dir=$1 name=$2
	shift 2
	$gpuemu study paged-memory --quick --workloads vecadd --out "$work/$dir" --json=$work/$name.json "$@" >$work/$name.txt 2>$work/$name.err
}
# All but what is measured is the same again, wherever it is done.
parts=copy,blocking,mshrs,link,prefetch,oversubscription
tap_check 'study: every part of it' study one all
# How far it is is said once a minute.
tap_check 'study: nothing is said' sh -c "! grep -v '^gpuemu study: [0-9]* of [0-9]* runs' $work/all.err"
for t in copy blocking mshrs link prefetch prefetch-quality oversubscription-lru oversubscription measured; do
	tap_check "study: table $t" grep -q "^$t: " $work/all.txt
done
tap_check 'study: the paper is beside' grep -q '^  paper  *3.60 ' $work/all.txt
tap_check 'study: pictures' sh -c "for f in copy blocking mshrs link prefetch oversubscription; do grep -q '</svg>' $work/one/\$f.svg && test -s $work/one/\$f.gp || exit 1; done"
study one again --only $parts
study two other --only $parts --jobs 1
tap_check 'study: the same tables from kept reports' sh -c "sed 's|study/one|study/X|' $work/again.json >$work/again.x; sed 's|study/two|study/X|' $work/other.json | cmp - $work/again.x"
files=$(find $work/one/runs -name '*.json' | wc -l)
find $work/one/runs -name '*.json' -newer $work/again.json >$work/newer
study one third --only $parts
tap_check 'study: nothing is done twice' sh -c "test $files -gt 30 && test \$(find $work/one/runs -name '*.json' | wc -l) -eq $files && test -z \"\$(find $work/one/runs -name '*.json' -newer $work/again.txt)\""
study one sms --only mshrs --set gpu.sms=4
tap_check 'study: another setting is another run' test "$(find $work/one/runs -name '*.json' | wc -l)" -gt "$files"
tap_check 'study: and another table' sh -c "! cmp -s $work/sms.txt $work/third.txt"

# What would be run, without a folder: exactly what is run first. Parts with more say so.
$gpuemu study zorua --quick --out $work/none --only table2 >$work/none.txt 2>&1
tap_check 'study: a part without runs leaves no folder' sh -c "test ! -e $work/none && grep -qx '0 runs, 0 failed' $work/none.txt"
$gpuemu study paged-memory --quick --workloads vecadd --out $work/dry --only copy,mshrs,prefetch --dry-run --json=$work/dry.json >$work/dry.txt 2>&1
tap_check 'study: --dry-run runs nothing and leaves nothing' sh -c "test ! -e $work/dry && test ! -e $work/dry.json"
tap_check 'study: --dry-run names the parts that decide later' test "$(grep '^#' $work/dry.txt)" = '# prefetch: more runs, which need the results of these'
$gpuemu study paged-memory --quick --workloads vecadd --out $work/dry --only copy,mshrs --dry-run >$work/dry.txt 2>&1
study one planned --only copy,mshrs
tap_check 'study: --dry-run has every run' test "$(grep -c '^gpuemu run vecadd ' $work/dry.txt)" -eq "$(sed -n 's/^\([0-9]*\) runs, 0 failed.*/\1/p' $work/planned.txt)"
sed -n 's/^gpuemu //p' $work/dry.txt | head -n 1 >$work/dry.first
# shellcheck disable=SC2046 # words of a command
tap_check 'study: a command of --dry-run can be run' $gpuemu $(cat $work/dry.first)

# Virtual Thread's: what the text promises of it, with numbers of which none is missing.
$gpuemu study virtual-thread --quick --workloads vecadd --set gpu.sms=4 --out $work/vt --json=$work/vt.json \
	--only designs,stalls,schedulers,swap,context,barrier,use,paging,batches >$work/vt.txt 2>$work/vt.err
tap_check 'study virtual-thread: every run ends well' test $? -eq 0
for t in designs stalls schedulers swap context barrier use paging batches batch-size; do
	tap_check "study virtual-thread: table $t, no cell is empty" sh -c "sed -n '/^$t: /,/^\$/p' $work/vt.txt | grep '^  vecadd' | grep -v ' - '"
done
tap_check 'study virtual-thread: the paper is beside' grep -q '^  paper  *1.093  *1.239  *1.269' $work/vt.txt

# Virtual Thread's type C: where registers or shared memory bind, each statistic is that of the baseline whose loads
# wait in as many queues. One SM has CTAs that wait outside. What a plain SM has no counters for is 0.
same_as_baseline() { # NAME OPERAND...
	name=$1
	shift
	for way in baseline:fifo vt:fifo baseline:reexecute vt:vt; do
		$gpuemu run "$@" size=tiny --config gtx480-vt --set gpu.sms=1 --paging off --backend sim --cta ${way%:*} \
			--mem-order ${way#*:} --json $work/type-c.json >$work/out 2>&1 || return 2
		steady $work/type-c.json | grep -v -e '"sm.cta":' -e '"sm.mem_order":' -e '"swapped_out": 0' -e '"held": 0' |
			sed 's/,$//' >"$work/type-c.$name.$way"
	done
	cmp $work/type-c.$name.baseline:fifo $work/type-c.$name.vt:fifo &&
		cmp $work/type-c.$name.baseline:reexecute $work/type-c.$name.vt:vt
}
for w in blackscholes heartwall binomial hotspot lavamd matmul mummer ray leukocyte syr2k \
	'asian --regs 29' 'quasirandom --regs 29' 'mergesort --regs 29'; do
	# shellcheck disable=SC2086 # a workload and its options
	tap_check "type C: $w, no statistic is another with Virtual Thread" same_as_baseline ${w%% *} $w
done
type_s_differs() {
	status=0
	same_as_baseline vecadd vecadd || status=$?
	test $status -eq 1
}
tap_check 'type C: vecadd is not of it, and differs' type_s_differs

# Two CTAs end in one cycle, one of them while a third comes in from outside: the run did not end once.
tap_check 'CTAs beyond the capacity: two that end in one cycle' timeout 60 $gpuemu run bfs nodes=8K block=256 --regs 16 \
	--config gtx480-vt --backend sim --cta vt --mem-order vt --set vt.oversubscribe=8 --set gmmu.far_fault_mshrs=0 \
	--set paging.handlers=1 --set paging.service_ns=140000 --prefetch tree --set gpu.sms=1

# Zorua's: every specification of a program under every mechanism on every GPU ends well and is verified.
$gpuemu study zorua --quick --workloads scan --out $work/zorua --json=$work/zorua.json >$work/zorua.txt 2>$work/zorua.err
tap_check 'study zorua: every run ends well' test $? -eq 0
for t in table2 table3 range distribution best porting schedulable hitrate slots numbers overheads; do
	tap_check "study zorua: table $t" grep -q "^$t: " $work/zorua.txt
done
for t in range distribution best schedulable hitrate slots numbers overheads; do
	tap_check "study zorua: table $t, no cell is empty" sh -c "sed -n '/^$t: /,/^\$/p' $work/zorua.txt | grep '^  scan' | grep -v ' - '"
done
# 7 specifications, each with 3 mechanisms on 3 GPUs and 6 variants; 1 alone; 4 of figure 6, 3 with paging, 3 of slots, 2 of numbers.
tap_check 'study zorua: each run once' grep -q '^118 runs, 0 failed' $work/zorua.txt
tap_check 'study zorua: the GPUs are the paper'"'"'s' grep -q '  0 values differ' $work/zorua.txt
tap_check 'study zorua: the paper is beside' grep -q '^  paper  *96.6  *88.3  *48.2' $work/zorua.txt

# One run of a study cannot be: the others are done, and it is told.
status=0
study bad bad --only copy,mshrs --set paging.vram=64K || status=$?
tap_check 'study: a failure is exit status 1' test $status -eq 1
tap_check 'study: it is named' sh -c "grep -q 'gpuemu run vecadd .*--copy: ' $work/bad.err && grep -q -e '--copy=inputs: ' $work/bad.err && grep -q '2 failed' $work/bad.txt && grep -q '\"error\"' $work/bad.json"
tap_check 'study: the others are done' sh -c "test \$(find $work/bad/runs -name '*.json' | wc -l) -ge 6"

# Stopped in the middle: the exit status says so, no child stays, and it goes on from there.
stop() { # SIGNAL STATUS
	rm -rf $work/stop
	env --default-signal="$1" $gpuemu study paged-memory --quick --workloads vecadd,gather --only mshrs --jobs 2 --out $work/stop >$work/stop.txt 2>$work/stop.err &
	pid=$! i=0 status=0
	until [ "$(find $work/stop/runs -maxdepth 1 -name '*.json' 2>/dev/null | wc -l)" -ge 2 ] || [ $((i += 1)) -gt 1200 ]; do sleep 0.05; done
	kill -"$1" $pid
	wait $pid || status=$?
	tap_check "study: stopped by $1, the exit status is $2" test $status -eq "$2"
	tap_check "study: stopped by $1, it says what is there" grep -q 'stopped (.*runs are done and kept' $work/stop.err
	tap_check "study: stopped by $1, no child is left" sh -c "! pgrep -f '$work/[s]top/runs'"
	kept=$(find $work/stop/runs -name '*.json' | wc -l)
	touch $work/stop.mark
	study stop stopped --workloads vecadd,gather --only mshrs
	tap_check "study: stopped by $1, only what is missing is done ($kept kept)" sh -c "test $kept -ge 2 && test \$(find $work/stop/runs -name '*.json' ! -newer $work/stop.mark | wc -l) -eq $kept && test \$(find $work/stop -name '*.json' | wc -l) -eq 16"
}
stop INT 130
stop TERM 143
tap_done
