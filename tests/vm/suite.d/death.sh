# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=300 vram_mb=16
#
# The daemon, then a client, killed with -9 while a kernel runs: clients end
# with one line and soon, a new daemon serves, nothing stays behind.
. tests/lib/tap.sh
. tests/lib/daemon.sh
daemon='' # its process id, when daemon_start has started it

now() { awk '{ printf "%d\n", $1 * 100 }' /proc/uptime; } # in 10 ms
# Long enough to be killed in the middle: oversubscribed, so it faults all the way. In the
# background: exec, or the signal would meet the shell.
long() { exec gpuemu run gather n=1M pages=4096 --backend kmod --vram 64K; }
faults() { gpuemu stat | awk '$1 == "far_faults" && !n++ { print $2 }'; }
# started FAULTS DELAY: the kernel faults, of which there were FAULTS before it, and has done
# so for DELAY us. Between two works of the library the engine is missing, not lost; so a
# time from the program's start would not do.
started() {
	n=0
	until [ "$(faults)" -gt "$1" ]; do
		n=$((n + 1))
		[ $n -lt 500 ] || break
		usleep 20000
	done
	usleep "$2"
}

daemon_starts 'a daemon attaches'
for delay in 0 300000 1000000; do
	before=$(faults)
	long >/tmp/client.out 2>/tmp/client.err &
	client=$!
	started "$before" $delay
	running=no
	! kill -0 $client || running=yes
	kill -9 $daemon
	killed=$(now)
	wait $client
	status=$?
	took=$(($(now) - killed))
	if [ $running = no ]; then
		tap_not_ok "killed after $delay us: the client was running" 'it had ended before: make it longer'
		daemon_start
		continue
	fi
	tap_check "killed after $delay us: the client fails (status 1)" test $status -eq 1
	tap_check "killed after $delay us: within a second" test $took -le $((100 * GPUEMU_SLOW))
	tap_check "killed after $delay us: and says device lost" grep -q 'device lost' /tmp/client.err
	tap_check "killed after $delay us: in one line" test "$(wc -l </tmp/client.err)" -eq 1
	daemon_starts "killed after $delay us: a new daemon attaches"
	tap_check "killed after $delay us: and serves" gpuemu run vecadd --backend kmod
done

for delay in 0 400000; do
	before=$(faults)
	long >/dev/null 2>&1 &
	client=$!
	started "$before" $delay
	kill -9 $client
	wait $client 2>/dev/null
	tap_check "client killed after $delay us: the daemon serves the next" gpuemu run vecadd --backend kmod
	tap_check "client killed after $delay us: the daemon lives" kill -0 $daemon
done
kill -TERM $daemon
wait $daemon
tap_check 'the daemon ends well on SIGTERM' test $? -eq 0
tap_done
