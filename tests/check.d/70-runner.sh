# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
# timeout: 1200
#
# The test of the tests: what fails, hangs, crashes, skips, falls silent, warns,
# leaks or panics must turn the runners red, and say why. No VM test means
# anything unless these pass.
. tests/lib/tap.sh

fixture=tests/vm/fixtures
work=build/check/runner
rm -rf $work
mkdir -p $work

# --- the TAP reader and tests/run.sh ----------------------------------------
# sums NAME EXPECTED SCRIPT: the last line of tests/run.sh for one check.
sums() {
	rm -rf $work/check.d
	mkdir $work/check.d
	printf '# timeout: 2\n%s\n' "$3" >$work/check.d/10-x.sh
	got=$(CHECK_DIR=$work/check.d CHECK_LOGS=$work/logs tests/run.sh 2>&1)
	status=$?
	want_status=1
	case $2 in *' 0 failed'*) want_status=0 ;; esac
	if [ "${got##*$'\n'}" = "$2" ] && [ $status -eq $want_status ]; then
		tap_ok "run.sh: $1"
	else
		tap_not_ok "run.sh: $1" "expected '$2' ($want_status), got ($status): $got"
	fi
}
sums 'passes count' '2 passed, 0 failed' 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
sums 'a failure is red' '1 passed, 1 failed' 'echo 1..2; echo ok 1 - a; echo not ok 2 - b'
sums 'no plan is red' '1 passed, 1 failed' 'echo ok 1 - a'
sums 'a short run is red' '1 passed, 1 failed' 'echo 1..2; echo ok 1 - a'
sums 'a bad exit is red' '1 passed, 1 failed' 'echo 1..1; echo ok 1 - a; exit 7'
sums 'a crash is red' '1 passed, 1 failed' 'echo 1..1; echo ok 1 - a; kill -SEGV $$'
sums 'a hang is red' '1 passed, 1 failed' 'echo 1..1; echo ok 1 - a; sleep 60'
sums 'an empty plan is red' '0 passed, 1 failed' 'echo 1..0'
asked=$'# only: y z\necho 1..1; echo ok 1 - a'
sums 'a check that waits to be asked for' '0 passed, 1 failed' "$asked"
KERNELS='x z' sums 'and is' '1 passed, 0 failed' "$asked"
tap_check 'run.sh: a check that there is not is red' sh -c "! CHECK_DIR=$work/check.d CHECK_LOGS=$work/logs tests/run.sh x nosuch"
echo 'x      no camera' >$work/skips
export TAP_SKIPS=$work/skips
sums 'a skip is counted' '1 passed, 0 failed, 1 skipped' \
	'echo 1..2; echo ok 1 - a; echo "ok 2 - x: b # SKIP no camera here"'
sums 'nothing but skips is red' '0 passed, 1 failed, 1 skipped' \
	'echo 1..1; echo "ok 1 - x: b # SKIP no camera here"'
sums 'a stray skip is red' '1 passed, 1 failed' \
	'echo 1..2; echo ok 1 - a; echo "ok 2 - x: b # SKIP no mood"'
sums 'a skip of the check'"'"'s own list is counted' '1 passed, 0 failed, 1 skipped' \
	'echo "x  no mood" >"$CHECK_SKIPS"; echo 1..2; echo ok 1 - a; echo "ok 2 - x: b # SKIP no mood"'
sums 'which is this check'"'"'s alone' '1 passed, 1 failed' \
	'echo 1..2; echo ok 1 - a; echo "ok 2 - x: b # SKIP no mood"'
sums 'and in the place of the other' '1 passed, 1 failed' \
	'echo "x  no mood" >"$CHECK_SKIPS"; echo 1..2; echo ok 1 - a; echo "ok 2 - x: b # SKIP no camera"'
unset TAP_SKIPS
# The end of the log says what failed, before the sum: the check, the case and what was expected.
printf '%s\n' 'echo 1..2; echo "not ok 1 - a"; echo "# it began"; echo "# at rmmod: tee 7 S: pipe_read"; echo "# x.c:1: Expected 1 == 2"' \
	'echo ok 2 - b; echo "# a note of b"' >$work/check.d/10-x.sh
for n in $(seq 11 30); do
	echo "echo 1..1; echo 'not ok 1 - $(printf '%0300d' $n)'" >$work/check.d/$n-y.sh
done
CHECK_DIR=$work/check.d CHECK_LOGS=$work/logs tests/run.sh >$work/ends 2>&1
tap_check 'run.sh: the end of the log says what failed, and what was expected first' \
	sh -c "tail -n 20 $work/ends | grep -qx 'failed - 10-x: a | at rmmod: tee 7 S: pipe_read | x.c:1: Expected 1 == 2 | it began'"
tap_check 'run.sh: it is short' test "$(sed -n '/^failed - /,$p' $work/ends | wc -c)" -lt 2000
tap_check 'run.sh: and says how many more there are' sh -c "
	said=\$(sed -n 's/^failed - and \([0-9]*\) more\$/\1/p' $work/ends)
	test \$((said + \$(grep -c '^failed - [0-9]' $work/ends))) = 21"

# --- two lanes --------------------------------------------------------------------
# lanes NAME TEXT...: checks 10-a, 20-b and so on of these texts; what run.sh prints is in $got.
lanes() {
	rm -rf $work/check.d $work/mark
	mkdir $work/check.d $work/mark
	n=1
	for text; do
		printf '%s\n' "$text" >$work/check.d/${n}0-c$n.sh
		n=$((n + 1))
	done
	got=$(CHECK_DIR=$work/check.d CHECK_LOGS=$work/logs tests/run.sh 2>&1)
}
# Each of the two waits for the other's mark: only side by side both get it.
meet() { echo "touch $work/mark/$1; for i in \$(seq 50); do [ -e $work/mark/$2 ] && break; sleep 0.1; done
echo 1..1; [ -e $work/mark/$2 ] && echo ok 1 - met || echo not ok 1 - met"; }
lanes "$(meet a b)" "# lane: vm
$(meet b a)"
tap_check 'lanes: side by side, and both are counted' test "${got##*$'\n'}" = '2 passed, 0 failed'
lanes "$(meet a b)" "$(meet b a)"
tap_check 'lanes: in one lane, one after the other' test "${got##*$'\n'}" = '1 passed, 1 failed'
CHECK_LANES=1 lanes "$(meet a b)" "# lane: vm
$(meet b a)"
tap_check 'lanes: CHECK_LANES=1 has one' test "${got##*$'\n'}" = '1 passed, 1 failed'
nice_is() { echo "echo 1..1; [ \$(nice) = $1 ] && echo ok 1 - n || echo not ok 1 - n"; }
n=$(($(nice) + 5))
lanes "$(nice_is $((n < 19 ? n : 19)))" "# lane: vm
$(nice_is "$(nice)")"
tap_check "lanes: the VM's checks come first" test "${got##*$'\n'}" = '2 passed, 0 failed'
lanes "sleep 0.5; touch $work/mark/a; echo 1..1; echo ok 1 - a" "# lane: vm
echo 1..1; echo ok 1 - b" "# alone
echo 1..1; [ -e $work/mark/a ] && touch $work/mark/c && echo ok 1 - c || echo not ok 1 - c" "# lane: vm
echo 1..1; [ -e $work/mark/c ] && echo ok 1 - d || echo not ok 1 - d"
tap_check 'lanes: alone waits for those before, those behind wait for it' \
	test "${got##*$'\n'}" = '4 passed, 0 failed'
lanes 'kill -9 $PPID $(ps -o ppid= -p $PPID)' "# lane: vm
echo 1..1; echo ok 1 - b"
tap_check 'lanes: a lane that dies is red' test "${got##*$'\n'}" = '1 passed, 1 failed'
rm -rf $work/check.d
mkdir $work/check.d
echo 'exec sleep 61.5' >$work/check.d/10-a.sh
printf '# lane: vm\nexec sleep 61.5\n' >$work/check.d/20-b.sh
CHECK_DIR=$work/check.d CHECK_LOGS=$work/logs tests/run.sh >/dev/null 2>&1 &
runner=$!
for _ in $(seq 50); do
	[ "$(pgrep -cfx 'sleep 61.5')" -lt 2 ] || break
	sleep 0.1
done
kill -TERM $runner
wait $runner
tap_check 'lanes: SIGTERM ends the runner, with 130' test $? -eq 130
sleep 0.3
tap_check 'lanes: and leaves no check behind' test "$(pgrep -cfx 'sleep 61.5')" -eq 0

# --- the time of a kernel test's case ------------------------------------------
# All its processes are stopped for 5 s, as a host stops a VM: a case that has 3 s still passes.
clock=$PWD/$work/clock
tap_check 'clock: its program builds' sh -c "make -s build/kselftest/kselftest_harness.h &&
	gcc -std=gnu11 -D_GNU_SOURCE -isystem build/kselftest -Itests/kernel -o $clock \
		tests/kernel/lib/case_clock.c $fixture/clock.c -lpthread"
"$clock" >$work/clock.out 2>$work/clock.err &
runner=$!
sleep 0.7
pkill -STOP -fx "$clock"
sleep 5
pkill -CONT -fx "$clock"
wait $runner
tap_check 'clock: a case is not late because the machine stood still' grep -q '^ok 1 clock.stopped' $work/clock.out
tap_check 'clock: and says how long that was' grep -q '^# the machine stood still for [56] s' $work/clock.err
tap_check 'clock: a case that hangs fails' grep -q '^not ok 2 clock.hangs' $work/clock.out
tap_check 'clock: and says where' grep -q '^# /proc/[0-9]*/task/[0-9]* stack: .*pause' $work/clock.err
tap_check 'clock: the next case runs when it has ended' grep -q '^ok 3 clock.after' $work/clock.out

# --- the VM harness -----------------------------------------------------------
kver=$(basename build/vm/kernel/boot/vmlinuz-* | sed 's/^vmlinuz-//')
module=build/fixture/$kver/tests/vm/fixtures/vmtest.ko
tap_check 'the fixture module builds' sh -c "
	scripts/link-tree.sh build/fixture/$kver $fixture/Kbuild $fixture/vmtest.c &&
	make -s -C /lib/modules/$kver/build M=\$PWD/${module%/*} CONFIG_DEBUG_INFO_BTF_MODULES= modules &&
	test -e $module"
# Even where the module is not built yet.
tap_check 'vm: a name that no test has' sh -c "
	! tests/vm/run.sh --kernel $work --suite memcg nosuch 2>$work/err && grep -qx \"vm: no test 'nosuch'\" $work/err"

# What watch.sh makes of its records: two jobs of 2 s each. In the second, two threads waited for 0.6 s
# together, and the guest's clock went 9 s.
watched() { # FUNCTION [JOB]
	(
		# shellcheck disable=SC2034
		run=$work/watched icount=0 booted_ms=1000 ended_ms=5000 jobs=(one two) seen_ms=(3000 5000)
		said() { [ "$1" = 'uptime boot' ] && echo 1.00 || printf '3.00\n12.00\n'; }
		. tests/vm/watch.sh
		"$@"
	)
}
mkdir -p $work/watched
printf '%s\n' '1000 0 0 0 0' '2000 5 100000000 5 0' '3000 6 200000000 6 100000000' \
	'4000 7 500000000 7 100000000' '5000 8 700000000 8 200000000' '6000 9 999000000 9 999000000' >$work/watched/ran
tap_check 'watch: a VM that waited for a CPU' test "$(watched it_waited 1)" = \
	"the VM's CPUs waited for ours for 0.6 s of 2.0 s while 'two' ran"
tap_check 'watch: and one that waited little' test -z "$(watched it_waited 0)"
tap_check "watch: a guest's clock that jumps" test "$(watched jumps)" = \
	"the guest's clock went 9 s in 2 s of ours while 'two' ran"

vm() { tests/vm/run.sh --smp 1 --module "$module" --fixture $fixture "$@"; }

vm --no-module --gusts 400 -- timeout 8 build/vm/standstill 100 >$work/gusts 2>/dev/null
tap_check 'vm: --gusts takes the CPU away' grep -q 'CPU 0 stood still for' $work/gusts

# The watcher of this machine's CPUs stops for 3 s, as it does when the machine stands still, and then
# QEMU does, while the suite's first job runs: again.sh, which fails, and passes when it is run again.
mkdir -p $work
echo stormy >$work/weather
vm --file $work/weather --suite >$work/suite 2>$work/suite.err &
runner=$!
for _ in $(seq 240); do
	! grep -qs ' boot ' build/vm/run.*/protocol || break
	sleep 0.25
done
echo calm >$work/weather
# What runs behind & is a shell of ours; the harness is its child, or in its place.
harness=$(pgrep -P $runner -f tests/vm/run.sh)
for what in build/vm/standstill ^qemu; do
	pid=$(pgrep -P "${harness:-$runner}" -f "$what")
	kill -STOP "$pid"
	sleep 3
	kill -CONT "$pid"
done
wait $runner
status=$?
tap_check 'suite: a CPU of this machine that stood still is said' \
	grep -qE "^# vm: this machine's CPU [0-9]+ stood still for [3-9] s while 'again' ran" $work/suite
tap_check "suite: and a thread of QEMU's that did" \
	grep -qE "^# vm: this machine's thread of the VM's CPU 0 stood still for [2-9] s while 'again' ran" $work/suite
tap_check 'suite: and a CPU of the VM that did' \
	grep -qE "^# vm: the VM's CPU 0 stood still for [2-9] s while 'again' ran" $work/suite
tap_check 'suite: and what failed meanwhile is run again' grep -qE '^# vm: is run again: again' $work/suite
tap_check 'suite: once' test "$(grep -cE '^(not )?ok [0-9]+ - again: ' $work/suite)" = 1
tap_check 'suite: its numbers are in order' sh -c "
	grep -E '^(not )?ok ' $work/suite | sed 's/^not //' | awk '{ if (\$2 != NR) exit 1 } END { print NR }' >$work/n &&
	grep -qx \"1..\$(cat $work/n)\" $work/suite"
tap_check 'suite: what keeps the output open is said' grep -qE '^# at the end of the output: tee [0-9]+ S: ' $work/suite
tap_check 'suite: the output of the job behind it is its own' grep -qE '^ok [0-9]+ - fail-leak: one' $work/suite
if [ $status -ne 0 ]; then
	tap_ok 'suite: red'
else
	tap_not_ok 'suite: red' "exit status 0 although cases fail"
fi
for f in $fixture/cases/*.sh; do
	name=$(basename "$f" .sh)
	case $name in counted | again) continue ;; esac
	want=$(sed -n 's/^# expect: //p' "$f")
	# The notes of a failed case stand after it.
	grep -A 3 -E "^(not )?ok [0-9]+ - $name: " $work/suite >$work/case
	if [ -z "$want" ]; then
		grep -q "^ok [0-9]* - $name: " $work/case && ! grep -q "^not ok [0-9]* - $name: " $work/case
	else
		grep -q "^not ok [0-9]* - $name: " $work/case && grep -qF -- "$want" $work/case
	fi
	if [ $? -eq 0 ]; then
		tap_ok "suite: $name"
	else
		tap_not_ok "suite: $name" "expected '${want:-only passes}', got: $(cat $work/case)"
	fi
done

tap_check 'suite: what wants --icount waits for it' sh -c "! grep -q counted $work/suite"
vm --icount --suite >$work/suite 2>$work/suite.err
status=$?
if [ "$status $(grep -c '^ok ' $work/suite) $(grep -c '^not ok ' $work/suite)" = '0 2 0' ]; then
	tap_ok 'suite: --icount runs what wants it, and nothing else'
else
	tap_not_ok 'suite: --icount runs what wants it, and nothing else' "status $status: $(cat $work/suite $work/suite.err)"
fi

# A suite whose time is over: what has ended counts, the rest has failed and says why.
vm --slow 20 --within 15 --suite fail-case fail-hang pass-plain >$work/suite 2>$work/suite.err
tap_check 'suite: --within keeps what has ended' grep -q '^ok [0-9]* - fail-case: ' $work/suite
tap_check 'suite: --within says what ran' \
	grep -qE "^(# |not ok [0-9]+ - fail-hang: ).*the 15 s of --within were over; 'fail-hang' ran" $work/suite
tap_check 'suite: --within fails what did not begin' grep -q '^not ok [0-9]* - pass-plain: ' $work/suite
tap_check 'suite: where the time went' grep -qE '^# vm: the longest: fail-case [0-9]+ s$' $work/suite

vm --slow 4 --suite own-limit >$work/suite 2>$work/suite.err
tap_check "suite: --slow gives a test's own limits more time" grep -q '^ok [0-9]* - own-limit: a limit' $work/suite

# command NAME STATUS TEXT ARG...: one boot; TEXT must be on stderr.
command_is() {
	name=$1 want=$2 text=$3
	shift 3
	vm "$@" >$work/out 2>$work/err
	status=$?
	if [ $status -eq "$want" ] && grep -qF -- "$text" $work/err; then
		tap_ok "command: $name"
	else
		tap_not_ok "command: $name" "expected status $want and '$text', got $status: $(cat $work/err)"
	fi
}
command_is 'status, stdout and stderr come through' 3 'to stderr' --no-daemon -- \
	sh -c 'cat /dev/urandom | head -c 65536 | tee /vm/random; md5sum </vm/random >&2; echo to stderr >&2; exit 3'
if grep -qF "$(md5sum <$work/out)" $work/err; then
	tap_ok 'command: stdout is byte-exact'
else
	tap_not_ok 'command: stdout is byte-exact' "$(wc -c <$work/out) bytes came"
fi
command_is 'a panic is 125, and a forged verdict does not help' 125 'vmtest: as asked' --no-daemon -- \
	sh -c 'echo "verdict 000 ok" >/dev/ttyS2; echo panic >/sys/module/vmtest/parameters/do'
command_is 'a warning is 125' 125 'kernel log:' -- sh -c 'echo warn >/sys/module/vmtest/parameters/do'
# A folder comes back, with names and bytes, also when the command failed.
rm -rf $work/folder
command_is 'its folder comes back' 4 'to stderr' --no-daemon --out $work/folder -- \
	sh -c 'mkdir "$OUT/a b"; head -c 300000 /dev/urandom >"$OUT/a b/c"; md5sum <"$OUT/a b/c"; echo to stderr >&2; exit 4'
if [ "$(md5sum <"$work/folder/a b/c")" = "$(cat $work/out)" ]; then
	tap_ok 'command: the folder is byte-exact'
else
	tap_not_ok 'command: the folder is byte-exact' "$(ls -lR $work/folder 2>&1)"
fi
tap_check 'command: a folder that cannot be written is said at once' sh -c "
	! timeout 5 tests/vm/run.sh --out /proc/nowhere -- true 2>$work/err && grep -q 'cannot write to /proc/nowhere' $work/err"
# A clock that went another way than ours: what it reads at the end is a file of the command's.
command_is 'a clock that runs away is said' 0 "the guest's clock went 9" --no-daemon -- \
	sh -c 'echo 999.00 0 >/tmp/up; mount --bind /tmp/up /proc/uptime'
GPUEMU_VM_CMD='cat /vm/run/args >&2' \
	command_is 'a shell text says what it runs on; the daemon has its arguments' 0 "vm: Linux $kver on " \
	--daemon-args '--say hello' --shell
tap_check 'command: its arguments, word for word' grep -qx -e '--say hello' $work/err
tap_check 'command: a clock that goes as ours is not said' sh -c "! grep -q 'guest.s clock' $work/err"
# What the daemon is to load comes along, from wherever it is.
echo a policy of mine >$work/mine.so
GPUEMU_VM_CMD="cat $PWD/$work/mine.so >&2" \
	command_is 'a policy outside the tree is in the VM' 0 'a policy of mine' --daemon-args "--policy $PWD/$work/mine.so" --shell
command_is 'a policy that is not there is said before anything boots' 125 'no file ./none.so' --daemon-args '--policy ./none.so' -- true
tap_check 'command: what make vm builds is what the command needs' sh -c '
	[ "$(GPUEMU_VM_CMD="gpuemu run vecadd --trace x.json" tests/vm/needs.sh)" = "programs ptx module-ko" ] &&
	[ "$(GPUEMU_VM_CMD="cd /tmp;stress 3 && gpuemu run bfs --prefetch build/tests/policy/bad.so" tests/vm/needs.sh)" = \
		"programs ptx module-ko build/tests/kernel/stress policies" ]'
# Stopped from outside, by Ctrl-C or a job's end.
here=$(pwd -P)
vm --no-daemon -- sleep 300 >$work/out 2>$work/err &
runner=$!
for _ in $(seq 600); do
	! pgrep -f "^qemu.*$here/build/vm/run" >/dev/null || break
	sleep 0.1
done
tap_check 'stopped: it was up' pgrep -f "^qemu.*$here/build/vm/run"
harness=$(pgrep -P $runner -f tests/vm/run.sh)
kill -TERM "${harness:-$runner}"
wait $runner
tap_check 'stopped: 130' test $? -eq 130
tap_check 'stopped: one line says so' test "$(cat $work/err)" = 'vm: stopped; its logs are in build/vm/last/'
tap_check 'stopped: no VM is left' sh -c "! pgrep -f '^qemu.*$here/build/vm/run'"
# The boots must end in that time, also where another check runs beside.
export GPUEMU_VM_SLACK=25
command_is 'a frozen guest is 125, soon' 125 "the VM is stuck: nothing from 'command' in 30 s" \
	--no-daemon --timeout 5 -- sh -c 'echo freeze >/sys/module/vmtest/parameters/do'
GPUEMU_VM_STALL=1 command_is 'a boot that freezes is tried again' 0 'vm: no boot in 25 s' --no-daemon -- true
export GPUEMU_VM_SLACK=2
GPUEMU_VM_STALL=3 command_is 'three are 125' 125 'the VM did not boot, 3 times' --no-daemon -- true
tap_done
