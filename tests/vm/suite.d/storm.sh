# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=150 vram_mb=2 invalidate_timeout_ms=4000
#
# Far faults, evictions and benchmarks of four clients, one of them in a cgroup of 24 MiB, while
# the kernel compacts memory and drops its caches without a pause: one engine serves from
# first to last, and every program verifies.
# The engine's silence has the limit of soak.sh, for the same reason: the host may be busy.
. tests/lib/tap.sh
. tests/lib/daemon.sh
daemon='' # its process id, when daemon_start has started it

group=/sys/fs/cgroup/storm
seconds=$((10 * GPUEMU_SLOW))
up() { cut -d . -f 1 /proc/uptime; }
value() { gpuemu stat | awk -v name="$1" '$1 == name && !n++ { print $2 }'; }
lost() { dmesg | grep -c 'gpuemu: engine [0-9]* lost'; }

# client I: programs in turns until the end, a line each: verified, or what it said.
client() {
	until [ -e /tmp/end ]; do
		case $(($1 % 3)) in
		0) timeout 100 gpuemu run vecadd n=64K --backend kmod ;;
		1) timeout 100 gpuemu run gather n=8K pages=1024 --backend kmod --vram 1M ;;
		2) timeout 100 gpuemu bench throughput --backend kmod --count 512 ;;
		esac >"/tmp/out.$1" 2>&1 && echo verified || cat "/tmp/out.$1"
		set -- $(($1 + 4))
	done
}

daemon_starts 'a daemon attaches'
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 24M >$group/memory.max
before=$(lost)
for i in 0 1 2 3; do
	{
		[ $i != 0 ] || sh -c 'echo $PPID' >$group/cgroup.procs
		client $i >/tmp/client.$i
	} &
	clients="${clients:-} $!"
done

end=$(($(up) + seconds)) n=0
while [ "$(up)" -lt $end ]; do
	echo 1 >/proc/sys/vm/compact_memory
	echo 3 >/proc/sys/vm/drop_caches
	n=$((n + 1))
done
: >/tmp/end
# shellcheck disable=SC2086
wait $clients

for i in 0 1 2 3; do
	echo "# client $i ran $(grep -c verified /tmp/client.$i) programs"
	tap_check "client $i: every program verifies" sh -c "grep -q verified /tmp/client.$i && ! grep -v verified /tmp/client.$i"
done
faults=$(value far_faults)
echo "# $n times compaction and drop_caches, $faults far faults"
tap_check 'memory was compacted meanwhile' test $n -ge 5
tap_check 'far faults were served meanwhile' test "$faults" -ge 1000
tap_check 'a client had its memory in the cgroup' test "$(cat $group/memory.peak)" -gt 1000000
tap_check 'no engine is lost' test "$(lost)" -eq "$before"
tap_check 'the daemon of the beginning lives' kill -0 $daemon
tap_check 'and serves' timeout 100 gpuemu run vecadd --backend kmod
rmdir $group
kill -TERM $daemon
wait $daemon
tap_check 'the daemon ends well on SIGTERM' test $? -eq 0
tap_done
