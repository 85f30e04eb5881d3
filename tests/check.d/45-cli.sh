# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The command line: every misuse and failure ends with exit status 2 or 1 and
# one line on stderr that names what was wrong; help, listings and reports are
# whole. No module is needed: what a device node can do wrong is tried on files.
. tests/lib/tap.sh

work=build/check/cli
rm -rf $work
mkdir -p $work
make -j"$(nproc)" all >$work/build.log 2>&1 ||
	tap_not_ok 'programs, libraries and kernels build' "$(tail -n 20 $work/build.log)"
gpuemu=build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_VIRT

. tests/lib/cli.sh

# --- misuse ------------------------------------------------------------------
refused 2 "unknown verb 'frobnicate'" frobnicate
refused 2 'no workload' run
refused 2 "unknown workload 'nope'; gpuemu list workloads has all of them" run nope
refused 2 "unknown workload 'vecad'; did you mean 'vecadd'?" run vecad
refused 2 "unknown workload 'bsf'; did you mean 'bfs'?" run vecadd bsf
refused 2 "unknown verb 'sweeep'; did you mean 'sweep'?" sweeep x.conf
refused 2 'unknown option --sced=gto; did you mean --sched?' run vecadd --sced=gto
refused 2 'unknown option --frob' run vecadd --frob
refused 2 'unknown option -x' run vecadd -x
refused 2 '--json needs a value' run vecadd --json
refused 2 'takes no value' run --help=yes
refused 2 "unknown backend 'cuda'; there are:" run vecadd --backend cuda
refused 2 "'clock'; there are: lru, random" run vecadd --evict clock
refused 2 "'psychic'; there are: none, sequential" run vecadd --prefetch psychic
refused 2 "'none' has no option 'pages': it has none" run vecadd --prefetch none:pages=3
refused 2 "'sequential' has no option 'page'; it has: pages" run vecadd --prefetch sequential:page=3
refused 2 'sequential:pages=9K: a number from 0 to 8192 is needed' run vecadd --prefetch sequential:pages=9K
refused 2 "'fifo'; there are: lrr, gto, old, two_level" run vecadd --sched fifo
refused 2 "there are: lrr, gto" run vecadd --set sm.scheduler=fifo
refused 2 '--cta and --manage both choose' run vecadd --cta vt --manage zorua
refused 2 '--cta and --manage both choose' run vecadd --manage cta --cta baseline
refused 2 '--threads: gpu.threads' run vecadd --threads 0
refused 2 'l1d.sets: 48 is not a power of two' run vecadd --set l1d.sets=48
refused 2 'l2.slices: 12 is not' run vecadd --set dram.channels=5
refused 2 '74 operand collectors together, at most 64' run vecadd --set collector.sp=64
refused 2 'sm.warps: 48 is not a multiple of the 5' run vecadd --set sm.schedulers=5
refused 2 '--samples: without time' run vecadd --functional --samples $work/samples.csv
refused 2 '--samples takes one workload' run vecadd stride --samples $work/samples.csv
refused 2 '--copy needs time and paging' run vecadd --copy --paging off
refused 2 '--copy needs time and paging' run vecadd --copy --functional
refused 2 '--copy=results: all buffers (--copy), or --copy=inputs' run vecadd --copy=results
refused 2 "size: no 'huge'; there are: tiny, small (or quick), medium (or default), large" run vecadd size=huge
refused 2 "size: no 'huge'; there are: tiny, small (or quick), medium (or default), large" run vecadd --size huge
tap_check 'a parameter wins over --size, wherever it stands' sh -c \
	'build/bin/gpuemu run triad n=7 --size tiny --backend sim --functional --json - | grep -q "\"n\": *7\\b"'
tap_check 'list shows what --size makes of parameters' sh -c \
	'build/bin/gpuemu list workloads --size large | grep -A1 "^  triad " | grep -q "n=4194304 "'
refused 2 "--vram: paging.vram: '0'" run vecadd --vram 0
refused 2 "--vram: paging.vram: '-4'" run vecadd --vram -4
refused 2 'gpu.smms' run vecadd --set gpu.smms=3
refused 2 'not KEY=VALUE' run vecadd --set gpu.sms
refused 2 "'maybe'" run vecadd --paging maybe
refused 2 'n: 0 is outside' run vecadd n=0
refused 2 "'lots' is not a number" run vecadd n=lots
refused 2 'it has: n, block' run vecadd width=3
refused 2 'stand behind its name' run n=5 vecadd
refused 2 'occupancy.regs' run vecadd --regs 256
refused 2 'compiler.maxregs' run vecadd --maxregs few
refused 2 'no-such-gpu' run vecadd --backend sim --config no-such-gpu
refused 2 'no-such-gpu.conf' run vecadd --backend sim --config $work/no-such-gpu.conf
refused 2 'one of: fault, throughput, migrate' bench
refused 2 "cannot measure 'love'" bench love
refused 2 '--count 0' bench fault --count 0
refused 2 '--batch 257' bench fault --batch 257
refused 2 '--memory stack: it is managed or heap' bench fault --memory stack
refused 2 'is of bench fault' bench throughput --memory heap
refused 2 "unknown kind 'everything'" list everything
refused 2 'one kind at a time' list keys configs
refused 2 'unknown option --frob' stat --frob
refused 2 "options only, not 'vecadd'" stat vecadd
refused 2 '--watch 0: not a time' stat --watch 0
refused 2 '--watch nan: not a time' stat --watch nan
refused 2 '--watch 1s: not a time' stat --watch 1s
refused 2 '--count needs --watch' stat --count 3
refused 2 '--count 0: not a number' stat --watch 1 --count 0
refused 2 'one of --watch, --params and --blocks' stat --watch 1 --params
refused 2 'not the number of a VA space' stat --blocks 0
refused 2 '--set monitor_ms: not NAME=VALUE' stat --set monitor_ms
refused 2 "'fast' is not a number" stat --set monitor_ms=fast
refused 2 'writes its JSON to stdout' stat --watch 1 --json=$work/watch.json
refused 2 "options only, not 'x'" events x
refused 2 '--count 0: not a number' events --count 0
refused 2 '--timeout -1: not a time' events --timeout -1
refused 2 '--json' events --json=file

# --- failure -----------------------------------------------------------------
refused 1 "no device $work/gpuemu: load the module" run vecadd --backend kmod --device $work/gpuemu
refused 1 "no device $work/gpuemu: load the module" bench fault --backend kmod --device $work/gpuemu
touch $work/plain
refused 1 "$work/plain is not a gpuemu device" run vecadd --backend kmod --device $work/plain
refused 2 'block: 2048 is outside' run vecadd block=2048 --backend sim
refused 1 "cannot write $work/no/such" run vecadd n=100 --backend sim --json $work/no/such
refused 1 'device memory does not hold the 120 KiB that the buffers take' run triad size=tiny --copy --vram 64K --backend sim
refused 1 "cannot write $work/no/such" run vecadd n=100 --backend sim --samples $work/no/such
refused 1 'backend sim moves no bytes' bench migrate --backend sim

# Nobody may open a node that is root's.
box=$(mktemp -d)
chmod 755 "$box"
cp $gpuemu "$box/gpuemu"
touch "$box/node"
chmod 000 "$box/node"
nobody=()
[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
status=0
(cd / && "${nobody[@]}" "$box/gpuemu" run vecadd --backend kmod --device "$box/node") >$work/out 2>$work/err || status=$?
if [ $status -eq 1 ] && [ "$(cat $work/err)" = "gpuemu run: no permission to open $box/node" ]; then
	tap_ok 'refused: no permission'
else
	tap_not_ok 'refused: no permission' "status $status: $(cat $work/err)"
fi
rm -rf "$box"

# A reader that goes away, a disk that is full: not done.
status=0
$gpuemu list >/dev/full 2>$work/err || status=$?
if [ $status -eq 1 ] && grep -q 'cannot write' $work/err; then
	tap_ok 'a full disk is a failure'
else
	tap_not_ok 'a full disk is a failure' "status $status: $(cat $work/err)"
fi

# One line, with the reason, and no second line of main() about the same.
full() { # TEXT ARGUMENT...: stdout is full
	text=$1
	shift
	status=0
	timeout 60 "$@" >/dev/full 2>$work/err </dev/null || status=$?
	tap_check "full: $*" sh -c "test $status -eq 1 && test \$(wc -l <$work/err) -eq 1 && grep -qF '$text' $work/err"
}
full 'cannot write to standard output: No space left on device' $gpuemu --help
full 'cannot write to standard output: No space left on device' $gpuemu --version
full 'cannot write to standard output: No space left on device' $gpuemu run --help
full 'cannot write to standard output' $gpuemu run vecadd n=1000 --backend sim
full 'cannot write standard output: No space left on device' $gpuemu run vecadd n=1000 --backend sim --json -
full 'cannot write standard output: No space left on device' $gpuemu run vecadd n=1000 --backend sim --samples -
full 'gpuemud: cannot write to standard output' build/bin/gpuemud --help
for option in json trace samples faults; do
	refused 1 'cannot write /dev/full: No space left on device' run vecadd n=1000 --backend sim --$option /dev/full
done
refused 1 '--record: /dev/full: No space left on device' run vecadd n=1000 --backend sim --record /dev/full
tap_check 'a result stays right when its record cannot be written' grep -q 'verified' $work/out
tap_check 'and does not say otherwise' sh -c "! grep -q NOT $work/out"
refused 1 '--record: /dev/full: No space left on device' run vecadd n=1000 + triad size=tiny --backend sim --record /dev/full
tap_check 'side by side, too' sh -c "grep -q 'vecadd.*: verified' $work/out && ! grep -q NOT $work/out"

# --- what works ----------------------------------------------------------------
does 'gpuemu 0.' --version
does 'usage: gpuemu VERB' --help
does 'usage: gpuemu run' run --help
does 'usage: gpuemu list' list --help
does 'usage: gpuemu bench' bench --help
does 'usage: gpuemu ptx' ptx --help
does 'far_faults ' stat --help
does 'had their CTAs parked' run spmv size=tiny --paging off --cta vt --set sm.warps=8 --set gpu.sms=1 --backend sim
does 'usage: gpuemu events' events --help
does 'verified' run vecadd n=1000 --backend sim
does '"verified": true' run vecadd n=1000 --backend sim --json -
does 'cycle,cycles,warp_instructions' run vecadd n=1000 --backend sim --samples -
does 'utilization: sp' run vecadd n=1000 --backend sim --paging off --threads 2 --details
does 'SMs with work: ' run vecadd n=1000 --backend sim --paging off
does 'without time' run vecadd n=1000 --backend sim --functional
does 'verified' run vecadd n=1K reduce n=1K gather n=100 pages=10 stride pages=10 --backend sim --seed 9
does 'userfaultfd resolve' bench fault --count 100 --backend sim
does '"far_fault_ns"' bench fault --count 100 --backend sim --json
does 'of a page of the heap' bench fault --count 100 --backend sim --memory heap
does 'vecadd' list workloads
does 'sequential' list prefetchers
does '"keys": [' list keys --json

# Each row of the tables is in the listing, each workload and verb in --help.
for kind in workloads schedulers dispatchers mechanisms prefetchers evictors backends; do
	$gpuemu list $kind >$work/list.$kind 2>&1
done
missing=
listed() { # TABLE KIND
	for name in $(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' "$1"); do
		grep -qw -e "$name" -e "${name//_/-}" $work/list."$2" || missing="$missing $1:$name"
	done
}
listed workloads/workloads.def workloads
listed daemon/sm/sched.def schedulers
listed daemon/gpu/dispatch.def dispatchers
listed daemon/sm/cta.def mechanisms
listed daemon/paging/prefetch.def prefetchers
listed daemon/paging/evict.def evictors
listed daemon/service/services.def backends
$gpuemu list configs >$work/list.configs 2>&1
for config in configs/*.conf; do
	grep -qw -e "$(basename "$config" .conf)" $work/list.configs || missing="$missing $config"
done
for name in $(sed -n 's/^X(\([a-z0-9_]*\)).*/\1/p' tools/verbs.def); do
	$gpuemu --help | grep -qw -e "$name" || missing="$missing verb:$name"
done
if [ -z "$missing" ]; then tap_ok 'every row is listed'; else tap_not_ok 'every row is listed' "$missing"; fi

# Every configuration that is listed can be used.
for config in $(sed -n 's/^  \([^ ]*\) .*/\1/p' $work/list.configs); do
	does 'verified' run vecadd n=256 --backend sim --config "$config"
done

# One workload is an object, several are an array, in order.
$gpuemu run vecadd n=64 --backend sim --json $work/one.json >$work/one.txt 2>&1
$gpuemu run stride pages=4 vecadd n=64 --backend sim --json $work/two.json >$work/two.txt 2>&1
tap_check 'one report is an object' sh -c "head -c 1 $work/one.json | grep -q '{'"
tap_check 'several are an array' sh -c "head -c 1 $work/two.json | grep -q '\\['"
tap_check 'in order' sh -c "sed -n 's/.*\"name\": *\"\\(stride\\|vecadd\\)\".*/\\1/p' $work/two.json | uniq | tr '\\n' ' ' | grep -qx 'stride vecadd '"
tap_check 'the text is there too' grep -q 'vecadd n=64 block=256: verified' $work/one.txt

# 64 faults at once and 16 frames: most wait for a later batch, and their wait counts.
$gpuemu bench fault --count 256 --batch 64 --vram 64K --backend sim --json >$work/wait.json 2>&1
figure() { sed -n "/far_fault_ns/,/}/s/.*\"$1\": *\([0-9]*\).*/\1/p" $work/wait.json | head -n 1; }
tap_check 'bench: every fault is served' test "$(figure count)" = 256
tap_check 'bench: a fault that waits for a frame takes longer' sh -c "test $(figure max) -gt $(figure p50)"

# The timeline: as many batches as the report counts, one span a kernel, no span
# that ends before it begins; and the report is the one without --trace.
refused 2 '--trace takes one workload' run vecadd stride --trace $work/trace.json
$gpuemu run reduce --backend sim --json $work/plain.json >/dev/null 2>&1
$gpuemu run reduce --backend sim --json $work/traced.json --trace $work/trace.json >/dev/null 2>&1
spans() { grep -o "\"name\": *\"$1\"" $work/trace.json | wc -l; }
batches=$(sed -n '/^  "paging"/,$s/.*"batches": *\([0-9]*\).*/\1/p' $work/plain.json)
tap_check 'trace: every batch' test "$(spans 'fault batch')" -eq "${batches:-0}"
tap_check 'trace: every kernel' test "$(spans 'reduce')$(spans 'reduce_final')" = 11
tap_check 'trace: durations' sh -c "grep -q '\"dur\": *[0-9.]' $work/trace.json && ! grep -q '\"dur\": *-' $work/trace.json"
tap_check 'trace: the report stays the same' cmp <(steady $work/plain.json) <(steady $work/traced.json)

# l2.prefill: what was filled is in L2 when the kernel starts, what is zeroes is not.
reads() { # BUFFER OPTION...
	buffer=$1
	shift
	$gpuemu ptx build/ptx/vecadd.ptx --grid 16 --block 256 --arg "$buffer" --arg "$buffer" --arg zero:16K --arg u32:4K \
		--backend sim --paging off --json - "$@" 2>&1 |
		sed -n '/"totals"/,$p' | sed -n '/"dram"/,/}/s/.*"reads": *\([0-9]*\).*/\1/p'
}
cold=$(reads rand32:4K:1)
tap_check 'l2.prefill: off, all is read' test "${cold:-0}" -ge 1024
tap_check 'l2.prefill: on, none of it' test "$(reads rand32:4K:1 --set l2.prefill=on)" -eq $((cold - 1024))
tap_check 'l2.prefill: zeroes are not uploaded' test "$(reads zero:16K --set l2.prefill=on)" -eq "${cold:-0}"

# Statistics over time: the same as the report's sums, as CSV and as JSON; the report is the one
# without them, for any number of threads.
sum() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { s += $c } END { print s + 0 }' $work/samples.csv; }
total() { sed -n '/"totals"/,/}/s/.*"'"$1"'": *\([0-9]*\).*/\1/p' $work/plain.json | head -n 1; }
$gpuemu run reduce --backend sim --json $work/sampled.json --samples $work/samples.csv >/dev/null 2>&1
$gpuemu run reduce --backend sim --set stats.interval=5000 --samples $work/samples.json >/dev/null 2>&1
$gpuemu run reduce --backend sim --threads 2 --json $work/threads.json --samples $work/threads.csv >/dev/null 2>&1
tap_check 'samples: more than one' test "$(wc -l <$work/samples.csv)" -gt 2
tap_check 'samples: cycles' test "$(sum cycles)" -eq "$(total cycles)"
tap_check 'samples: warp instructions' test "$(sum warp_instructions)" -eq "$(total warp_instructions)"
tap_check 'samples: JSON' grep -q '"interval": 5000' $work/samples.json
tap_check 'samples: the report stays the same' cmp <(steady $work/plain.json) <(steady $work/sampled.json)
tap_check 'threads: the same report' cmp <(steady $work/plain.json) <(steady $work/threads.json)
tap_check 'threads: the same samples' cmp $work/threads.csv $work/samples.csv

# The short report is short, whatever ran; explain says what bound it.
$gpuemu run bfs size=tiny --vram 64K --backend sim --json $work/bound.json >$work/out 2>&1
tap_check 'the report has 20 lines at most' test "$(wc -l <$work/out)" -le 20
does 'far faults brought back pages that had been evicted' explain $work/bound.json
$gpuemu run matmul size=tiny --paging off --backend sim --json $work/bound.json >$work/out 2>&1
tap_check 'explain: no word of far faults where there are none' sh -c "! $gpuemu explain $work/bound.json | tr -s '\\n ' ' ' | grep -q 'far fault'"
# Advice that the run can follow: ptx has no --copy and no --size, and who chose a mechanism has it.
$gpuemu ptx build/ptx/vecadd.ptx --grid 4 --block 256 --arg iota32:1K --arg iota32:1K --arg zero:4K --arg u32:1K --backend sim --json $work/bound.json >$work/out 2>&1
does '--prefetch tree or sequential.' explain $work/bound.json
tap_check 'explain: no option that ptx lacks' sh -c "! grep -q -e --copy -e --size $work/out && grep -q 'a larger grid' $work/out"
$gpuemu run gather size=tiny --paging off --backend sim --json $work/bound.json >$work/out 2>&1
does '; --cta vt; --manage zorua)' explain $work/bound.json
$gpuemu run gather size=tiny --paging off --manage zorua --backend sim --json $work/bound.json >$work/out 2>&1
does '(fewer registers: --maxregs), or' explain $work/bound.json
refused 2 'which report' explain
echo '[]' >$work/array.json
refused 1 'no report' explain $work/array.json
echo '{}' >$work/empty.json
refused 1 'not a report' explain $work/empty.json
# --json takes its file behind = and behind a space.
$gpuemu list workloads --json=$work/j1.json >/dev/null 2>&1
$gpuemu list workloads --json $work/j2.json >/dev/null 2>&1
tap_check '--json=FILE and --json FILE' sh -c "grep -q vecadd $work/j1.json && cmp $work/j1.json $work/j2.json"
printf 'gpu = { sms 4 }\n' >$work/bad.conf
refused 2 'bad.conf:1: syntax error; settings are groups' run vecadd --config $work/bad.conf

# --faults: a line a far fault, whose stages make its latency.
$gpuemu run bfs size=tiny --vram 64K --backend sim --faults $work/faults.csv --json $work/faults.json >$work/out 2>&1
. tests/lib/faults.sh
read -r lines bad all <<<"$(adds_up $work/faults.csv)"
tap_check 'faults: a line for each that the report counts' test "$lines" -eq "$(grep -A1 '"latency_ns": {' $work/faults.json | sed -n 's/.*"count": \([0-9]*\).*/\1/p' | head -n 1)"
tap_check 'faults: each is told to the nanosecond' test "$bad" -eq 0
tap_check 'faults: together they are the latency of all' grep -q "\"latency\": $all\b" $work/faults.json
tap_check 'faults: the report does not have them' sh -c "! grep -q '\"rows\"' $work/faults.json"
refused 2 '--faults: without paging' run vecadd --paging off --faults $work/faults.csv
refused 1 'cannot write /dev/null/x.csv' run vecadd --faults /dev/null/x.csv
tap_check 'faults: of a PTX kernel' sh -c "$gpuemu ptx build/ptx/collatz.ptx --grid 4 --block 256 --arg iota32:1K --arg zero:4K --arg u32:1K --backend sim --faults - | grep -q '^page,sm,warp'"
$gpuemu bench fault --backend sim --count 100 --faults $work/bench.csv --json=$work/bench.json >$work/out 2>&1
tap_check 'faults: of bench' test "$(wc -l <$work/bench.csv)" -gt 100
$gpuemu plot $work/bench.json --figure yardsticks --out $work/bench.gp >$work/out 2>&1
tap_check 'plot: a report of bench' grep -q 'userfaultfd' $work/bench.gp
# A trace without room has its kernels all the same, and says what it lacks.
$gpuemu run bfs size=tiny --backend sim --details --set gpu.trace=60 --trace $work/short.json >$work/out 2>$work/err
tap_check 'trace: kernels are not left out' test "$(grep -o '"cycles":' $work/short.json | wc -l)" -eq "$(grep -c '^  bfs' $work/out)"
tap_check 'trace: what is left out is said' grep -q 'events are left out' $work/err

# plot of a table: in the order of numbers, rows of a place averaged, over the value that is 1.
printf '%s\n' 'name,"a, b",vram,t' 'x,1,100%,10' 'x,1,50%,30' 'x,1,75%,20' 'y,1,100%,4' 'y,1,75%,6' 'y,1,50%,7' 'y,2,50%,9' >$work/table.csv
$gpuemu plot $work/table.csv --x vram --y t --by name --normalize vram=100% --out $work/table.gp >$work/out 2>&1
tap_check 'plot of a table: numbers in their order, over their first' sh -c "tr '\n' ' ' <$work/table.gp | grep -q '50 3 75 2 100 1 EOD' && tr '\n' ' ' <$work/table.gp | grep -q '50 2 75 1.5 100 1 EOD'"
$gpuemu plot $work/table.csv --x name --y t --by vram --normalize name=y --out $work/table.gp >$work/out 2>&1
tap_check 'plot of a table: words are bars' grep -q 'histogram' $work/table.gp
$gpuemu plot $work/table.csv --x 'a, b' --y t --out $work/table.gp >$work/out 2>&1
tap_check 'plot of a table: a title in quotes, a mean' sh -c "tr '\n' ' ' <$work/table.gp | grep -q '1 12.8333 2 9 EOD'"
refused 1 "no column 'time'" plot $work/table.csv --x vram --y time
refused 2 '--x COLUMN and --y COLUMN' plot $work/table.csv --x vram
refused 2 'table.csv: of a table, --x COLUMN and --y COLUMN' plot $work/table.csv
refused 1 'cannot write /no/such/y.svg: No such file or directory' plot $work/table.csv --x vram --y t --out /no/such/y.svg
tap_check 'plot: nothing on stdout when the file cannot be written' test ! -s $work/out
refused 1 'no row has this value' plot $work/table.csv --x vram --y t --normalize vram=1%
refused 1 'COLUMN is that of --x or --by' plot $work/table.csv --x vram --y t --normalize name=x

# A run that is stopped writes what is finished, says so, and leaves no process, its policy's included.
cc -shared -fPIC -Iinclude -o $work/ahead.so examples/policy/ahead.c
$gpuemu run vecadd size=tiny sgemm size=large --backend sim --prefetch $work/ahead.so --json $work/stopped.json >$work/out 2>$work/err &
pid=$!
for _ in $(seq 300); do grep -q verified $work/out && break; sleep 0.1; done
kill -TERM $pid
wait $pid
status=$?
tap_check 'stopped: exit status 143' test $status -eq 143
tap_check 'stopped: what is finished is written' grep -q '"name": "vecadd"' $work/stopped.json
tap_check 'stopped: it says what is there' grep -q 'stopped (Terminated): 1 of 2 workloads are done' $work/err
for _ in $(seq 30); do pgrep -f "[g]puemu-policy-host $PWD/$work/ahead.so" >/dev/null || break; sleep 0.1; done
tap_check 'stopped: nothing is left behind' sh -c "! pgrep -f '[a]head.so'"

# Files are tried before the run, which may take hours; what was there stays as it was.
start=$SECONDS
refused 1 'cannot write /dev/null/x.json' run sgemm --json /dev/null/x.json
refused 1 'cannot write /dev/null/x.csv' run sgemm --set stats.interval=1000 --samples /dev/null/x.csv
refused 1 'cannot write /dev/null/x.rec' run sgemm --record /dev/null/x.rec
tap_check 'files that cannot be written: said at once' test $((SECONDS - start)) -lt 5
add='ptx build/ptx/vecadd.ptx --grid 16 --block 256 --backend sim --arg iota32:4K --arg iota32:4K'
# shellcheck disable=SC2086
refused 1 'cannot write /dev/null/x.bin' $add --arg out:16K:/dev/null/x.bin --arg u32:4K
# shellcheck disable=SC2086
refused 2 '--json and --arg both write' $add --arg out:16K:$work/x.bin --arg u32:4K --json $work/x.bin
refused 1 'cannot write /dev/null/x.bin' ptx tests/cli/count.ptx --kernel nothing --grid 1 --block 32 --backend sim --global counter=out:/dev/null/x.bin
echo kept >$work/kept.json
refused 2 'no-such' run vecadd --prefetch no-such --json $work/kept.json
tap_check 'a run that does not begin leaves its files as they were' sh -c "test \$(cat $work/kept.json) = kept"

refused 2 '--json and --trace both write' run vecadd n=1K --backend sim --json $work/one.json --trace $work/one.json
refused 2 '--json and --samples both write' run vecadd n=1K --backend sim --json $work/one.json --samples $PWD/$work/../cli/one.json
refused 2 '--trace and --faults both write standard output' run vecadd n=1K --backend sim --trace - --faults -
refused 2 '--json and --record both write' exec --json $work/one.json --record $work/one.json true
refused 2 '--json and --faults both write' bench fault --backend sim --json=$work/one.json --faults $work/one.json
does 'verified' run vecadd n=1K --backend sim --json /dev/null --trace /dev/null
rm -f $work/none.json
refused 2 '--trace: without time (--functional)' run vecadd n=1K --backend sim --functional --trace $work/none.json
refused 2 '--trace: without time (--functional)' exec --functional --trace $work/none.json true
refused 2 'n: 0 is outside' run vecadd n=0 --backend sim --trace $work/none.json
tap_check 'no timeline: no file' test ! -e $work/none.json

# A device that is there and cannot be used: sim in its place is said.
: >$work/device
$gpuemu run vecadd size=tiny --device $work/device >$work/out 2>$work/err
tap_check 'sim in place of a device says so' sh -c "grep -q verified $work/out && test \$(wc -l <$work/err) -eq 1 && grep -q 'backend sim.*$work/device cannot be used' $work/err"
$gpuemu run vecadd size=tiny --device $work/device --backend sim >$work/out 2>$work/err
tap_check 'sim that was asked for does not' test ! -s $work/err

# A report says what was run: what differs from the defaults, the words, the bytes of what was loaded; and
# it can be run again.
printf 'sm = { warps = 24; };\n' >$work/own.conf
$gpuemu run gather size=tiny --config $work/own.conf --set gpu.sms=4 --vram 64K --advise read-mostly=inputs --json $work/said.json >$work/out 2>&1
for text in '"clock_mhz": 700' '"sm.warps": "24"' '"gpu.sms": "4"' '"paging.vram": "65536"' '"read-mostly=inputs"' '"ptx_sha256": "[0-9a-f]\{64\}"' \
	'"program_sha256": "[0-9a-f]\{64\}"' "own.conf\": \"$(sha256sum <$work/own.conf | cut -d' ' -f1)\"" '"seconds": 0.[0-9]'; do
	tap_check "report: $text" grep -q "$text" $work/said.json
done
tap_check 'report: no key that is the default' sh -c "! sed -n '/\"settings\"/,/}/p' $work/said.json | grep -q 'sm.ctas'"
before=$(cksum $work/said.json)
$gpuemu run --from $work/said.json --json $work/again.json >$work/out 2>$work/err
tap_check 'run --from: the same again' cmp <(steady $work/said.json) <(steady $work/again.json)
tap_check 'run --from: says nothing' test ! -s $work/err
tap_check 'run --from: the report stays' test "$before" = "$(cksum $work/said.json)"
$gpuemu run --from $work/said.json --set gpu.sms=2 --json $work/two.json >$work/out 2>$work/err
tap_check 'run --from: what stands beside it wins' grep -q '"gpu.sms": "2"' $work/two.json
sed 's/"program_sha256": "./"program_sha256": "x/' $work/said.json >$work/other.json
$gpuemu run --from $work/other.json >$work/out 2>$work/err
tap_check 'run --from: another build is said' grep -q 'another build' $work/err
echo '{}' >$work/empty.json
refused 2 'not a report of gpuemu run' run --from $work/empty.json
refused 2 "--from $work/none.json: No such file or directory" run --from $work/none.json
refused 1 "$work/none.json: No such file or directory" plot $work/none.json
refused 2 "--from $work: Is a directory" run --from $work
refused 1 "$work: Is a directory" plot $work
echo '{ "totals": ' >$work/cut.json
refused 2 "--from $work/cut.json: not JSON" run --from $work/cut.json
refused 1 "$work/cut.json: not JSON" plot $work/cut.json
refused 2 '--from' run --from

# --- stopped ----
# stops SIGNAL WHILE ARGUMENT...: what it ends with when it is stopped after WHILE succeeded.
stops() {
	sig=$1 ready=$2
	shift 2
	env --default-signal=INT $gpuemu "$@" >$work/out 2>$work/err </dev/null &
	pid=$!
	for _ in $(seq 200); do sh -c "$ready" && break; sleep 0.05; done
	kill -"$sig" $pid
	status=0
	wait $pid || status=$?
}
stops TERM 'sleep 0.5' bench fault --backend sim --count 1M --json=$work/bench.json
tap_check 'bench: stopped, with 143' test $status -eq 143
tap_check 'bench: one line says so' sh -c "test \$(wc -l <$work/err) -eq 1 && grep -q 'bench: stopped (Terminated): no figure is written' $work/err"
cp "$(command -v sleep)" $work/sleeper
stops TERM 'sleep 0.5' run sgemm size=large --backend sim --trace $work/stopped.trace
tap_check 'run: stopped, it leaves no empty trace' sh -c "test $status -eq 143 && test ! -e $work/stopped.trace"
stops TERM "pgrep -f '^$work/[s]leeper 61'" exec $work/sleeper 61
tap_check 'exec: stopped, as its program was' test $status -eq 143
tap_check 'exec: the program is not left behind' sh -c "! pgrep -f '$work/[s]leeper 61'"
stops KILL "pgrep -f '^$work/[s]leeper 62'" exec $work/sleeper 62
sleep 0.3
tap_check 'exec: killed, the program is not left behind' sh -c "! pgrep -f '$work/[s]leeper 62'"

# --- progress ---------------------------------------------------------------
# On a terminal, each second: how many CTAs of the kernel are done.
python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' $gpuemu run lbm steps=3 --backend sim >$work/terminal 2>&1 </dev/null
tap_check 'a terminal is told how many CTAs of a kernel are done' sh -c "tr '\r' '\n' <$work/terminal | grep -q 'lbm: [0-9]* s, launch [123]: [0-9]* of 1024 CTAs ([0-9]*%)'"
tap_check 'and how long the rest takes' sh -c "tr '\r' '\n' <$work/terminal | grep -q 'CTAs ([0-9]*%), [0-9ms]* left of it \.\.\.'"
$gpuemu run lbm steps=1 --backend sim >$work/out 2>$work/err </dev/null &
# VmFlags of the heap: hg is madvise(MADV_HUGEPAGE), which a kernel without huge pages refuses.
if [ -e /sys/kernel/mm/transparent_hugepage ]; then
	for _ in $(seq 100); do
		sed -n '/\[heap\]/,/VmFlags/p' /proc/$!/smaps 2>/dev/null | grep -q 'VmFlags:.* hg' && huge=1 && break
		sleep 0.02
	done
	tap_check 'the heap is advised to be in huge pages' test "${huge:-0}" -eq 1
else
	tap_skip cli 'the heap is advised to be in huge pages' 'this kernel has no huge pages'
fi
wait $!
tap_check 'where stderr is no terminal, nothing is said within a minute' test ! -s $work/err
tap_done
