# SPDX-License-Identifier: GPL-2.0
#
# vm: no-daemon timeout=200 vram_mb=16
#
# What must be refused, in one clear line with status 1 or 2, and what must go on
# afterwards: no daemon, a second daemon, no privilege, misuse.
. tests/lib/tap.sh
. tests/lib/daemon.sh
daemon='' # its process id, when daemon_start has started it

# refused STATUS TEXT COMMAND...: one line on stderr that holds TEXT.
refused() {
	want=$1 text=$2
	shift 2
	timeout 20 "$@" >/tmp/out 2>/tmp/err
	status=$?
	if [ $status -eq "$want" ] && [ "$(wc -l </tmp/err)" -le 2 ] && grep -qi -e "$text" /tmp/err; then
		tap_ok "refused: $*"
	else
		tap_not_ok "refused: $*" "status $status (expected $want, '$text'): $(cat /tmp/err)"
	fi
}

refused 1 'daemon\|engine\|gpuemud' gpuemu run vecadd --backend kmod
tap_check 'without a daemon sim is taken' sh -c 'gpuemu run vecadd --json /tmp/j && grep -q "\"backend\": *\"sim\"" /tmp/j'
refused 1 'CAP_SYS_ADMIN\|root\|permi\|privilege' /usr/bin/setpriv --reuid 65534 --clear-groups "$(command -v gpuemud)"
refused 2 'gpu.functional.*backend sim' gpuemud --set gpu.functional=on
daemon_starts 'a daemon attaches'
refused 1 'attached\|busy\|already' gpuemud
tap_check 'with a daemon kmod is taken' sh -c 'gpuemu run vecadd --json /tmp/j && grep -q "\"backend\": *\"kmod\"" /tmp/j'
refused 2 'nosuch' gpuemu run nosuch
refused 2 'nosuch' gpuemu run vecadd --nosuch
refused 2 'nosuch' gpuemu run vecadd --backend nosuch
refused 2 'nosuch' gpuemu run vecadd --evict nosuch
refused 2 'vram' gpuemu run vecadd --backend kmod --vram 0
refused 1 'gpu.functional.*backend sim' gpuemu run vecadd --backend kmod --set gpu.functional=on
refused 2 'nosuch' gpuemud --nosuch
refused 2 '10001.*milliseconds' gpuemud --slice 10001
refused 2 '5ms' gpuemud --slice 5ms
refused 2 'at least 16M' gpuemud --client-memory 1M
refused 2 'seconds' gpuemud --load-time 0
chmod 0600 /dev/gpuemu
refused 1 'permission' /usr/bin/setpriv --reuid 65534 --clear-groups "$(command -v gpuemu)" run vecadd --backend kmod
tap_check 'and the daemon serves on' gpuemu run vecadd --backend kmod
kill -TERM $daemon
wait $daemon
tap_check 'it ends well' test $? -eq 0
# The ring of the daemon that ended holds the module for a moment.
n=0
until rmmod gpuemu 2>/dev/null || [ $n -eq 50 ]; do
	n=$((n + 1))
	usleep 100000
done
tap_check 'rmmod' test ! -e /sys/module/gpuemu
tap_check 'insmod gpuemu.ko vram_mb=900000 is refused' sh -c '! insmod /vm/gpuemu.ko vram_mb=900000'
tap_check 'and says why' sh -c 'dmesg | tail -n 1 | grep -q "vram_mb=900000 .* try smaller"'
# takes PARAMETER GIVEN TAKEN: the load succeeds with a value, and says so in one line.
takes() {
	tap_check "insmod gpuemu.ko $1=$2 takes $3" sh -c \
		"insmod /vm/gpuemu.ko $1=$2 && grep -qx $3 /sys/module/gpuemu/parameters/$1"
	tap_check 'and says so' sh -c "dmesg | grep '$1=' | tail -n 1 | grep -q '$1=$2 is not .* using $3'"
	rmmod gpuemu
}
takes vram_mb 0 1
takes vram_mb -1 1
takes vram_mb x 64
takes link_gbps 10001 10000
takes monitor_ms 99999999999999999999 500
takes monitor_ms -99999999999999999999 10
takes enable_tests yes 0
takes fault_entries 1535 1024
takes fault_entries 1536 2048
takes fault_entries 70000 65536
tap_check 'far too much memory is as much as there may be' sh -c \
	'insmod /vm/gpuemu.ko vram_mb=99999999 pt_mb=99999999 && [ "$(cat /sys/module/gpuemu/parameters/vram_mb)" -gt 64 ]'
rmmod gpuemu
insmod /vm/gpuemu.ko
tap_done
