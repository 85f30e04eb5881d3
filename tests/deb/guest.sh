#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs as a unit of a Debian in a VM on which the packages are installed, and prints TAP: what came
# up at boot, who may use it, that the service comes back, and that purging takes it all away.
# Put there and started by tests/check.d/57-deb.sh.
set -u
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
n=0
t() { # NAME COMMAND
	local out
	n=$((n + 1))
	if out=$(bash -c "$2" 2>&1 </dev/null); then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$out" | tail -n 15 | sed 's/^/# /'
	fi
}
# Emulated machines are slow.
until_active() {
	local i
	for ((i = 0; i < 120; i++)); do
		systemctl -q is-active gpuemud && return
		sleep 1
	done
}
pid() { systemctl show -P MainPID gpuemud; }
export -f pid

until_active
t 'the module is loaded at boot' 'test -d /sys/module/gpuemu'
t 'the device is of the group' 'stat -c %U:%G:%a /dev/gpuemu | grep -x root:gpuemu:660'
t 'the service is active' 'systemctl status gpuemud'
t 'it has its five capabilities and no other' 'grep "^CapEff:.0*12000e0$" /proc/$(pid)/status || { grep Cap /proc/$(pid)/status; exit 1; }'
t 'it is confined' 'grep -x "Seccomp:.2" /proc/$(pid)/status && grep -x "NoNewPrivs:.1" /proc/$(pid)/status'
t 'a user of the group runs vecadd' 'su ada -c "cd && gpuemu run vecadd n=16K --backend kmod"'
t 'another user may not' '! su eve -c "cd && gpuemu run vecadd n=1K --backend kmod"'
t 'nothing was refused to the daemon' '! journalctl -u gpuemud | grep -E "mlockall|IO_FLUSHER|setaffinity"'
t 'a policy that the administrator named is loaded' \
	'su ada -c "cd && gpuemu run vecadd n=16K --backend kmod --prefetch ahead.so"'

old=$(pid)
kill -9 "$old"
for ((i = 0; i < 60; i++)); do
	[ "$(pid)" != "$old" ] && systemctl -q is-active gpuemud && break
	sleep 1
done
t 'killed, it is started again' "test \$(pid) != $old && systemctl status gpuemud"
t 'and serves' 'su ada -c "cd && gpuemu run vecadd n=16K --backend kmod"'

t 'purged' 'dpkg --purge gpuemu gpuemu-dkms libgpuemu-dev libgpuemu0'
t 'purged: the module is unloaded, the device and the daemon are gone' \
	'test ! -e /sys/module/gpuemu && test ! -e /dev/gpuemu && ! pidof gpuemud'
t 'purged: no file is left' 'find / -xdev -iname "*gpuemu*" ! -path "/tmp/*" ! -path "/opt/*" ! -path "/run/*" | grep . && exit 1 || exit 0'
t 'purged: no unit is left' '! systemctl list-units --all --plain --no-legend | grep -i "gpuemu.*\.service"'
t 'purged: no group is left' '! getent group gpuemu'
t 'the kernel had nothing to say' '! dmesg -l emerg,alert,crit,err | grep -v "module verification" | grep -i gpuemu'
echo "1..$n"
