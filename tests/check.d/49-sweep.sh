# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1200
#
# gpuemu sweep from the command line, on backend sim: a row for each combination, with the numbers
# that gpuemu run gives by itself; shards, shares of the footprint, going on, being stopped; and
# each mistake in a file named with its line before anything runs.
. tests/lib/tap.sh

work=build/check/sweep
rm -rf $work
mkdir -p $work
make -j"$(nproc)" programs >$work/build.log 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_VIRT

. tests/lib/cli.sh

# --- what is refused -------------------------------------------------------------
wrong() { # TEXT CONFIG
	printf '%b' "$2" >$work/wrong.conf
	refused 2 "$1" sweep $work/wrong.conf --out $work/wrong
	tap_check "nothing has run: $1" test ! -e $work/wrong
}
refused 2 'which sweep?' sweep
refused 1 'no-such.conf: No such file' sweep $work/no-such.conf
refused 2 '--shard 3/2: not I/N' sweep --shard 3/2 x.conf
refused 2 '--shard 0/2: not I/N' sweep --shard 0/2 x.conf
refused 2 '--jobs 0' sweep --jobs 0 x.conf
wrong 'wrong.conf:2: syntax error' 'workloads = "vecadd";\nkeys: { gpu: { sms = ; }; };\n'
wrong "wrong.conf:2: unknown setting 'workload'; there are: workloads, config, backend" 'backend = "sim";\nworkload = "vecadd";\n'
wrong 'no workloads' 'backend = "sim";\n'
wrong 'wrong.conf:1: no value' 'workloads = [ ];\n'
wrong 'wrong.conf:1: a value stands twice' 'workloads = [ "vecadd", "vecadd" ];\n'
wrong "unknown workload 'nope'" 'workloads = [ "vecadd + nope" ];\n'
wrong '+ stands between' 'workloads = [ "vecadd gather" ];\n'
wrong 'a workload is missing' 'workloads = [ "vecadd +" ];\n'
wrong 'it has: n, block' 'workloads = [ "vecadd width=3" ];\n'
wrong 'gpu.smms' 'workloads = "vecadd";\nkeys: { gpu: { smms = 3; }; };\n'
wrong 'l1d.sets: 48 is not a power of two' 'workloads = "vecadd";\nkeys: { l1d: { sets = [ 32, 48 ]; }; };\n'
wrong 'the part of a key before the dot is a group' 'workloads = "vecadd";\nkeys: { sms = 3; };\n'
wrong "unknown backend 'cuda'" 'workloads = "vecadd";\nbackend = "cuda";\n'
wrong 'no-such-gpu' 'workloads = "vecadd";\nconfig = [ "gtx480", "no-such-gpu" ];\n'
wrong "paging.vram: '-4%'" 'workloads = "vecadd";\nvram = "-4%";\n'
wrong 'repeats is a number' 'workloads = "vecadd";\nrepeats = 0;\n'
wrong 'unknown option --copi' 'workloads = "vecadd";\noptions = [ "", "--copi" ];\n'
wrong '--copy needs time and paging' 'workloads = "vecadd";\nvram = "50%";\noptions = [ "--copy --functional" ];\n'
wrong 'halt=N stands behind a workload' 'workloads = "vecadd halt=0";\n'
wrong 'occupancy.regs' 'workloads = "vecadd --regs 999";\n'
does 'usage: gpuemu sweep' sweep --help

# A column that no report has.
printf 'workloads = "vecadd size=tiny";\ncolumns = [ "totals.cycles", "totals.foo" ];\n' >$work/foo.conf
tap_check 'a column that no report has: one line says so' sh -c "$gpuemu sweep $work/foo.conf --out $work/foo >$work/foo.txt 2>$work/foo.err && test \$(wc -l <$work/foo.err) -eq 1 && grep -q \"columns: no report has 'totals.foo'\" $work/foo.err"

# --- a row for each combination ----------------------------------------------------
cat >$work/one.conf <<'EOF'
workloads = [ "vecadd size=tiny", "gather size=tiny" ];
keys: { paging: { prefetch = [ "none", "sequential:pages=4" ]; }; gpu: { sms = [ 2, 10 ]; }; };
EOF
$gpuemu sweep $work/one.conf --dry-run >$work/dry 2>&1
tap_check 'dry: eight commands' test "$(grep -c '^gpuemu run' $work/dry)" -eq 8
tap_check 'dry: --size is each workload'"'"'s, and its own words win' sh -c "$gpuemu sweep $work/one.conf --size small --dry-run 2>&1 | grep -q 'gpuemu run vecadd size=small size=tiny '"
printf 'workloads = [ "fft batches=2 --regs 56", "vecadd size=tiny + gather --regs 20" ];\nvram = "50%%";\n' >$work/options.conf
tap_check 'dry: options behind a workload, and --size before them' sh -c "$gpuemu sweep $work/options.conf --size small --dry-run 2>&1 | grep '^gpuemu run fft size=small batches=2 --regs 56 --backend sim' && $gpuemu sweep $work/options.conf --size small --dry-run | grep -q '+ gather size=small --regs 20 '"
tap_check 'dry: a share of the footprint: a line says that it is no number yet' sh -c "$gpuemu sweep $work/options.conf --dry-run | grep -q '^# a percentage of --vram stands for bytes'"
tap_check 'dry: without shares no such line' sh -c "! grep '^#' $work/dry"
tap_check 'dry: the last key changes fastest' sh -c "sed -n 2p $work/dry | grep -qx 'gpuemu run vecadd size=tiny --backend sim --set paging.prefetch=none --set gpu.sms=10'"
tap_check 'sweep: eight runs' sh -c "$gpuemu sweep $work/one.conf --out $work/one >$work/one.txt 2>$work/one.err"
tap_check 'sweep: it says where the table is' grep -qx "8 runs, 8 done, 0 failed; the table is $work/one/sweep.csv" $work/one.txt
csv=$work/one/sweep.csv
tap_check 'table: a header and eight rows' test "$(wc -l <$csv)" -eq 9
tap_check 'table: factors first' sh -c "head -n 1 $csv | grep -q '^workload,config,backend,paging.prefetch,gpu.sms,clock_mhz,workload.verified,'"
tap_check 'table: as many fields in each row' test "$(awk -F, '{ print NF }' $csv | sort -u | wc -l)" -eq 1
# The same number as a run's own.
field() { awk -F, -v name="$1" -v row="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == row { print $c }' $csv; }
i=1
grep '^gpuemu run' $work/dry | while read -r _ words; do
	i=$((i + 1))
	# shellcheck disable=SC2086
	$gpuemu $words --json $work/run.json >/dev/null 2>&1
	echo "$(field totals.cycles $i) $(sed -n '/"totals"/,/}/s/.*"cycles": *\([0-9]*\).*/\1/p' $work/run.json | head -n 1)"
done >$work/cycles
tap_check 'table: the cycles of gpuemu run' awk 'NF != 2 || $1 != $2 || $1 < 1 { bad = 1 } END { exit bad || NR != 8 }' $work/cycles

# --- going on, shards --------------------------------------------------------------
touch $work/mark
sed -i 's/\[ 2, 10 \]/[ 2, 10, 4 ]/' $work/one.conf
$gpuemu sweep $work/one.conf --out $work/one >$work/one.txt 2>&1
tap_check 'a longer file: only what is new is done' test "$(find $work/one/runs -name '*.json' -newer $work/mark | wc -l)" -eq 4
tap_check 'a longer file: all is in the table' test "$(wc -l <$csv)" -eq 13
for i in 1 2 3; do
	$gpuemu sweep $work/one.conf --out $work/shards --shard $i/3 >$work/shard.$i 2>&1
	tap_check "shard $i/3: a third each" grep -q "^12 runs, $((4 * i)) done, 0 failed" $work/shard.$i
done
cut -d, -f 1-5 $csv >$work/factors
tap_check 'shards: the same rows' sh -c "cut -d, -f 1-5 $work/shards/sweep.csv | cmp - $work/factors"

# --- shares of the footprint, options, columns, repeats ------------------------------
cat >$work/two.conf <<'EOF'
workloads = "vecadd size=quick";
config = "gtx480-hpca16";
vram = [ "50%", "16M" ];
options = [ "", "--prefetch sequential" ];
repeats = 2;
columns = [ "workload.footprint_bytes", "paging.evicted_pages", "no.such", "totals.cycles" ];
EOF
tap_check 'shares: done' sh -c "$gpuemu sweep $work/two.conf --out $work/two --csv - >$work/two.csv 2>$work/two.err"
csv=$work/two.csv
tap_check 'shares: header' sh -c "head -n 1 $csv | grep -qx 'workload,config,backend,vram,vram_bytes,options,repeat,workload.footprint_bytes,paging.evicted_pages,no.such,totals.cycles'"
tap_check 'shares: eight rows' test "$(wc -l <$csv)" -eq 9
tap_check 'shares: half of the footprint, in pages' awk -F, 'NR > 1 && $4 == "50%" { want = int($8 / 2 / 4096) * 4096; if ($5 != want || $9 < 1) bad = 1; n++ } NR > 1 && $4 == "16M" && ($5 != "" || $9 != 0) { bad = 1 } END { exit bad || n != 4 }' $csv
tap_check 'shares: a repeat is a run of its own, with the same numbers' sh -c "test \$(find $work/two/runs -name '*.json' | wc -l) -eq 9 && awk -F, 'NR > 1 && \$7 == 1 { c = \$11; if (c < 1) bad = 1 } NR > 1 && \$7 == 2 && \$11 != c { bad = 1 } END { exit bad }' $csv"

# --- workloads side by side ---------------------------------------------------------
cat >$work/pair.conf <<'EOF'
workloads = "vecadd size=tiny + gather size=tiny @20000";
vram = "100%";
columns = [ "workloads.0.name", "workloads.1.name", "workloads.1.arrival", "workloads.0.cycles", "totals.cycles" ];
EOF
tap_check 'a pair: done' sh -c "$gpuemu sweep $work/pair.conf --out $work/pair --csv $work/pair.csv >$work/pair.txt 2>&1"
$gpuemu run vecadd size=tiny gather size=tiny --backend sim --functional --json $work/feet.json >/dev/null 2>&1
feet=$(sed -n 's/.*"footprint_bytes": *\([0-9]*\).*/\1/p' $work/feet.json | awk '{ s += $1 } END { print int(s / 4096) * 4096 }')
tap_check "a pair: the footprints of both, $feet bytes" test "$(sed -n 2p $work/pair.csv | cut -d, -f 5)" = "$feet"
tap_check 'a pair: numbers of each, and of both' sh -c "sed -n 2p $work/pair.csv | cut -d, -f 6- | grep -q '^vecadd,gather,20000,[1-9][0-9]*,[1-9][0-9]*\$'"

# --- the papers' studies as files ---------------------------------------------------
for conf in examples/sweeps/*.conf; do
	tap_check "$conf: every run of it can be run" sh -c "$gpuemu sweep $conf --dry-run | grep -q '^gpuemu run '"
done
# commands COMMAND...: what gpuemu would run, a line each.
commands() { "$gpuemu" "$@" --dry-run | awk -f tests/lib/commands.awk | LC_ALL=C sort -u; }
# The files that say of which parts of a study they have all runs, or some of them.
whole=0 some=0
for conf in examples/sweeps/*.conf; do
	read -ra study < <(sed -n 's/^# \(All runs\|Runs\) of: gpuemu //p' "$conf")
	[ ${#study[@]} -gt 0 ] || continue
	case $conf in
	*/hpca16-*) size=(--size quick) ;;
	*) size=() ;;
	esac
	commands sweep "$conf" "${size[@]}" >$work/file.commands
	commands "${study[@]}" --quick >$work/study.commands
	if grep -q '^# All runs of: ' "$conf"; then
		whole=$((whole + 1))
		tap_check "$conf: $(wc -l <$work/file.commands) runs, all of gpuemu ${study[*]}" cmp $work/file.commands $work/study.commands
	else
		some=$((some + 1))
		tap_check "$conf: $(wc -l <$work/file.commands) of the runs of gpuemu ${study[*]}" test -s $work/file.commands -a -z "$(LC_ALL=C comm -23 $work/file.commands $work/study.commands)"
	fi
done
tap_check "$whole files have all runs of a part, $some have some" test $whole -ge 11 -a $some -ge 2
tap_check 'isca16-warped-slicer.conf: 30 pairs, four policies' test "$(commands sweep examples/sweeps/isca16-warped-slicer.conf | wc -l)" -eq 120
# Each column that a file names is a number of some report: of one program, of two, of one that is halted.
{
	echo 'workloads = [ "vecadd size=tiny --prefetch sequential", "vecadd size=tiny + gather size=tiny repeat=9 --target 2000",'
	echo '	"vecadd size=tiny until=2K repeat=9" ];'
	printf 'columns = [ %s ];\n' "$(sed -n 's/^columns = \[ \(.*\) \];/\1/p' examples/sweeps/*.conf | tr -s ', ' '\n' | sort -u | paste -sd ,)"
} >$work/columns.conf
$gpuemu sweep $work/columns.conf --out $work/columns --csv $work/columns.csv >/dev/null 2>&1
tap_check "columns of the files: each is in a report" awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; n = NF }
	NR > 1 { for (i = 1; i <= NF; i++) if ($i != "") there[i] = 1 }
	END { for (i = 1; i <= n; i++) if (!there[i]) { print name[i] ": nowhere"; bad = 1 } exit bad || NR < 4 || n < 12 }' $work/columns.csv
# cycles_of FILE.conf WORKLOAD: its rows' cycles, of that workload alone, by number.
cycles_of() {
	awk -v w="$2" '/^workloads/ { print "workloads = \"" w "\";"; skip = 1 } !skip { print } /\];/ { skip = 0 }' "$1" >$work/paper.conf
	$gpuemu sweep $work/paper.conf --out $work/paper --csv $work/paper.csv >$work/paper.txt 2>&1
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "totals.cycles") c = i } NR > 1 { print $c }' $work/paper.csv | sort -n
}
# A study's runs keep their reports; here are the same.
$gpuemu study paged-memory --quick --workloads backprop --only mshrs --out $work/paper-study >/dev/null 2>&1
cycles_of examples/sweeps/hpca16-mshrs.conf 'backprop size=quick' >$work/paper.cycles
tap_check "hpca16-mshrs.conf gives the study's cycles" sh -c "test \$(wc -l <$work/paper.cycles) -eq 8 && for c in \$(cat $work/paper.cycles); do grep -q \"\\\"cycles\\\": *\$c,\" $work/paper-study/runs/*.json || exit 1; done"
cat >$work/when.conf <<'EOF'
workloads = "vecadd size=tiny repeat=5 + gather size=tiny repeat=3";
vram = "200%";
options = "--target 3000";
columns = "totals.cycles";
EOF
tap_check 'repeat= stands behind a workload, as for run' sh -c "$gpuemu sweep $work/when.conf --out $work/when | grep -q '1 runs, 1 done\|, 1 done, 0 failed' && test \$(wc -l <$work/when/sweep.csv) -eq 2"

# --- a run that fails, being stopped ---------------------------------------------------
cat >$work/bad.conf <<'EOF'
workloads = [ "vecadd size=quick", "vecadd size=tiny" ];
keys: { paging: { vram = "64K"; }; };
options = "--copy";
columns = "totals.cycles";
EOF
status=0
$gpuemu sweep $work/bad.conf --out $work/bad >$work/bad.txt 2>$work/bad.err || status=$?
tap_check 'a failure: exit status 1' test $status -eq 1
tap_check 'a failure: it is named' grep -q 'gpuemu sweep: gpuemu run vecadd size=quick .*--copy: ' $work/bad.err
tap_check 'a failure: the other is in the table' sh -c "grep -q '^vecadd size=tiny,default,sim,64K,--copy,[0-9]' $work/bad/sweep.csv && test \$(wc -l <$work/bad/sweep.csv) -eq 2"

cat >$work/stop.conf <<'EOF'
workloads = [ "vecadd size=quick" ];
keys: { gpu: { seed = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 ]; }; };
EOF
status=0 i=0
env --default-signal=INT $gpuemu sweep $work/stop.conf --out $work/stop --jobs 1 >$work/stop.txt 2>$work/stop.err &
pid=$!
until [ "$(find $work/stop/runs -maxdepth 1 -name '*.json' 2>/dev/null | wc -l)" -ge 2 ] || [ $((i += 1)) -gt 1200 ]; do sleep 0.05; done
kill -INT $pid
wait $pid || status=$?
kept=$(find $work/stop/runs -name '*.json' | wc -l)
tap_check 'stopped: exit status 130' test $status -eq 130
tap_check "stopped: what is finished is in the table ($kept runs)" test "$(wc -l <$work/stop/sweep.csv)" -eq $((kept + 1))
tap_check 'stopped: no child is left' sh -c "! pgrep -f '$work/[s]top/runs'"
tap_check 'stopped: it goes on' sh -c "$gpuemu sweep $work/stop.conf --out $work/stop | grep -q '^20 runs, 20 done'"

# --- the job array for Slurm: its tasks, as Slurm starts them, are all of the sweep ----------
$gpuemu sweep $work/one.conf --out $work/array --slurm 3 >$work/job.sh 2>$work/err
tap_check 'slurm: a script of three tasks' grep -qx '#SBATCH --array=1-3' $work/job.sh
tap_check 'slurm: nothing has run' test ! -e $work/array
for i in 1 2 3; do
	SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=1 sh $work/job.sh >$work/job.$i 2>&1 || tap_not_ok "slurm: task $i" "$(cat $work/job.$i)"
done
tap_check 'slurm: the tasks together have every row' sh -c "grep -q 'runs, \([0-9]*\) done' $work/job.3 && awk '{ exit !(\$1 == \$3) }' $work/job.3"
refused 2 '--slurm 0' sweep $work/one.conf --slurm 0
tap_done
