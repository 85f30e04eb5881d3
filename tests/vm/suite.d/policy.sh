# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=400 vram_mb=16 invalidate_timeout_ms=4000
#
# Policies in objects of their own against real paging: the daemon loads what its
# administrator allows, as nobody, and nothing else; one that misbehaves costs neither
# the daemon nor a result.
. tests/lib/tap.sh
. tests/lib/daemon.sh
daemon='' # its process id, when daemon_start has started it

examples=$PWD/build/examples/policy
bad=$PWD/build/tests/policy/bad.so
cp $bad /tmp/other.so

start() { daemon_starts "gpuemud $* attaches" "$@"; }
# policies NAME: the process ids of the policies of that object.
policies() { ps -o pid,args | awk -v name="$1" '$2 == "gpuemu-policy-host" && index($3, name) { print $1 }'; }
run() { timeout 60 gpuemu run gather n=4K pages=128 --backend kmod --vram 256K "$@"; }
# refused TEXT ARGUMENT...: one line, and nothing has run.
refused() {
	text=$1
	shift
	run "$@" >/tmp/out 2>/tmp/err
	status=$?
	if [ $status -ne 0 ] && [ "$(wc -l </tmp/err)" -eq 1 ] && grep -q -e "$text" /tmp/err; then
		tap_ok "refused: $*"
	else
		tap_not_ok "refused: $*" "status $status: $(cat /tmp/err)"
	fi
}
# goes_on TEXT ARGUMENT...: the result verifies, TEXT is said.
goes_on() {
	text=$1
	shift
	run "$@" --policy-failure=fall-back >/tmp/out 2>/tmp/err
	status=$?
	if [ $status -eq 0 ] && grep -q ': verified' /tmp/out && grep -q -e "$text" /tmp/err; then
		tap_ok "goes on: $*"
	else
		tap_not_ok "goes on: $*" "status $status: $(cat /tmp/err /tmp/gpuemud.log)"
	fi
}

start
refused 'gpuemud --policy FILE.so.*allowed here: none' --prefetch $examples/ahead.so
tap_check 'the daemon serves on' run
kill -TERM $daemon
wait $daemon

start --policy $examples/ahead.so --policy $examples/fifo.so --policy $bad
refused 'allowed here: .*ahead.so' --evict /tmp/other.so
refused 'other.so' --evict other.so
tap_check 'by path' run --prefetch $examples/ahead.so --evict $examples/fifo.so --json /tmp/j
tap_check 'its counters are in the report' grep -q '"passed_over": [0-9]' /tmp/j
tap_check 'its pages came' sh -c 'grep -q "\"prefetched_pages\": [1-9]" /tmp/j'
tap_check 'its pages went' sh -c 'grep -q "\"evicted_pages\": [1-9]" /tmp/j'
tap_check 'by name' run --prefetch ahead.so:pages=4 --evict fifo.so:group=8
cd build/examples/policy || tap_not_ok 'a folder of policies'
tap_check 'by a relative path' run --prefetch ./ahead.so
cd ../../.. || exit 1

# One that runs is nobody's, and has nothing of root's.
timeout 60 gpuemu run gather n=64K pages=1K --backend kmod --vram 256K --evict fifo.so --policy-failure=fall-back >/dev/null 2>&1 &
client=$!
n=0
until host=$(policies fifo) && [ -n "$host" ] || [ $n -eq 100 ]; do
	n=$((n + 1))
	usleep 50000
done
tap_check 'it runs as nobody' sh -c "grep -q '^Uid:.65534.65534.65534.65534' /proc/$host/status"
tap_check 'in no group' sh -c "grep -q '^Gid:.65534.65534' /proc/$host/status && grep -q '^Groups:[[:space:]]*$' /proc/$host/status"
tap_check 'without capabilities' grep -q '^CapEff:.0000000000000000' /proc/$host/status
tap_check 'and gets none' grep -q '^NoNewPrivs:.1' /proc/$host/status
tap_check 'with a filter' grep -q '^Seccomp:.2' /proc/$host/status
kill -KILL $host
if wait $client; then tap_ok 'killed, the run goes on'; else tap_not_ok 'killed, the run goes on' "$(cat /tmp/gpuemud.log)"; fi

for kind in prefetch evict; do
	for how in 1 2 3; do
		goes_on 'the run goes on with' --$kind bad.so:how=$how
	done
	goes_on 'were left out' --$kind bad.so:how=4
	goes_on 'were left out' --$kind bad.so:how=6
done
goes_on 'longer than 2000 ms (this daemon.s limit)' --evict bad.so:how=1 --set paging.policy_ms=5000
goes_on 'were left out' --evict bad.so:how=5
goes_on 'named no page' --evict bad.so:how=13
tap_check 'what it may not do is refused' sh -c "gpuemu run gather n=4K pages=128 --backend kmod --vram 256K --evict bad.so:how=15 2>&1 >/dev/null | grep . && exit 1 || exit 0"
refused 'create() failed' --evict bad.so:how=10
tap_check 'the daemon lives' kill -0 $daemon
tap_check 'and serves' run
tap_check 'no policy is left' test -z "$(policies .so)"

# The daemon is killed: so are its policies.
timeout 60 gpuemu run gather n=64K pages=1K --backend kmod --vram 256K --evict fifo.so >/dev/null 2>&1 &
client=$!
n=0
until [ -n "$(policies fifo)" ] || [ $n -eq 100 ]; do
	n=$((n + 1))
	usleep 50000
done
kill -KILL $daemon
wait $client
usleep 300000
tap_check 'policies end with the daemon' test -z "$(policies .so)"
tap_done
