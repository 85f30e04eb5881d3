# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon alone timeout=400 vram_mb=16
#
# What a text that takes long to load costs others: the 99th percentile of their far faults at
# most doubles.
. tests/lib/tap.sh
. tests/lib/daemon.sh
. tests/lib/tenants.sh
daemon='' # its process id, when daemon_start has started it

# p99: of 1000 far faults, one after another, in ns.
p99() {
	user gpuemu run stride pages=1000 --backend kmod --json - 2>/dev/null | tr -d ' \n\t' |
		sed -n 's/.*"latency_ns":{[^}]*"p99":\([0-9]*\).*/\1/p'
}
chmod 666 /dev/gpuemu

daemon_starts 'a daemon attaches' --load-time 300
tap_check 'it serves' user gpuemu run vecadd --backend kmod
# Of three tries one has to hold, in which the load outlasts the faults.
within=no
for _ in 1 2 3; do
	alone=$(p99)
	load >/dev/null 2>&1 &
	client=$!
	until_loading 60 yes
	beside=$(p99)
	until_loading 1 yes && lasted=yes || lasted=no
	kill -KILL $client 2>/dev/null
	wait $client 2>/dev/null
	until_loading 2 no
	echo "# p99 of a far fault: $alone ns alone, $beside ns beside a load, which lasted: $lasted"
	[ $lasted = no ] || [ "$beside" -gt $((2 * alone)) ] || within=yes
	[ $within = no ] || break
done
tap_check 'p99 of a far fault beside a load is at most twice that alone' test $within = yes
kill -TERM $daemon
wait $daemon
tap_done
