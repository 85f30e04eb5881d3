#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Process 1 of the VM. Runs the jobs of /vm/jobs one after another, each with a
# module loaded for it alone, and tells the host what it saw over ttyS2. It
# judges the kernel; whether a job's output means success is the host's to say.
#
# Channels: ttyS0 kernel console, ttyS1 the jobs' stdout, ttyS2 this protocol,
# ttyS3 the jobs' stderr. Each protocol line starts with the run's nonce:
#   NONCE boot KERNEL VIRT
#   NONCE kmemleak on             this kernel has it
#   NONCE exit JOB STATUS OUT_BYTES ERR_BYTES
#   NONCE stood JOB TEXT          a line of standstill's: a CPU of the VM stood still
#   NONCE log JOB TEXT            a kernel or daemon log line worth showing
#   NONCE verdict JOB ok|TEXT
#   NONCE uptime boot|job S       this kernel's clock, for the host to compare with its own
#   NONCE files BYTES             what was sent of $OUT, a tar archive, over ttyS4
#   NONCE leaks N                 what kmemleak found after the last job
#   NONCE end
# A job is a folder with `cmd` (a shell script) and `opts` (shell variables:
# timeout, module, module_args, daemon, daemon_args, out, starves).

/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /proc /sys /tmp /run /dev/shm /dev/pts
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing
mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up
# The first memory cgroup patches the kernel's text. With two CPUs QEMU 7.2's TCG does not
# always survive that: one goes on with a breakpoint that is not there any more.
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/first
rmdir /sys/fs/cgroup/first
echo -memory >/sys/fs/cgroup/cgroup.subtree_control
for c in /sys/devices/system/cpu/cpu[1-9]*/online; do
	[ ! -e "$c" ] || echo 1 >"$c"
done
for t in 1 2 3; do stty raw -echo -hupcl -F /dev/ttyS$t; done
stty raw -echo -hupcl -F /dev/ttyS4 2>/dev/null

param() { sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
NONCE=$(param vm_nonce)
GPUEMU_VIRT=$(param vm_virt)
TREE=$(cat /vm/tree)
MODULE=$(cat /vm/module)
GPUEMU_SLOW=$(param vm_slow)
# The argument of standstill; empty where the run is measured and a watcher would be seen in it.
WATCH=$(param vm_watch)
# The longest gust in ms, and a seed; empty where no CPU is to be taken away.
GUSTS=$(param vm_gusts)
export GPUEMU_VIRT GPUEMU_SLOW
echo "$GPUEMU_VIRT" >/etc/gpuemu-virt
PATH=$TREE/build/bin:$TREE/build/tests/kernel:/bin:/sbin:/usr/bin
[ ! -n "$(cat /vm/fixture)" ] || PATH=$TREE/$(cat /vm/fixture)/bin:$PATH
export PATH
export HOME=/root
cd "$TREE" || cd /

# A job may write anything anywhere; what it must not do is say how it went.
exec 9>/dev/ttyS2
rm /dev/ttyS2
touch /vm/cmdline
mount --bind /vm/cmdline /proc/cmdline
tell() { echo "$NONCE $*" >&9; }
uptime_is() { read -r up _ </proc/uptime && tell "uptime $1 $up"; }

dmesg -n 8
echo $((30 * GPUEMU_SLOW)) >/proc/sys/kernel/hung_task_timeout_secs
echo 1 >/proc/sys/kernel/panic_on_oops

BAD='WARNING: |BUG: |kernel BUG at|Oops|KASAN|KCSAN|KFENCE|UBSAN|Call Trace|possible recursive locking'
BAD="$BAD|possible circular|possible irq lock|inconsistent lock|suspicious RCU|held lock freed"
BAD="$BAD|blocked for more than|self-detected stall|detected stalls|soft lockup|hard LOCKUP"
BAD="$BAD|refcount_t|scheduling while atomic|sleeping function|general protection|Bad page"
BAD="$BAD|corruption|Bad rss-counter|still has locks|unreferenced object|objects remaining"
BAD="$BAD|possible deadlock|possible unsafe locking|INFO: trying to register|workqueue lockup"
BAD="$BAD|ODEBUG|turning off the locking|lockdep is turned off|VM_BUG_ON|page_table_check"
# The OOM killer of the machine says this, that of a memory cgroup does not.
BAD="$BAD|Mem-Info:"

# What Linux says where a test makes an allocation of its own fail: that there is no slab, and
# no memory for what describes pages of devices.
STARVED='/kmem_cache_create.* failed with error -12/,+3{/Call Trace:/d};/WARNING: .* add_pages+/,/end trace/d'

# fail TEXT: the first thing that went wrong is the verdict.
fail() { [ -n "$verdict" ] || verdict=$*; }

show() { # FILE PREFIX: the last lines of a log, to the host
	tail -n 20 "$1" | while IFS= read -r line; do tell "log $job $2$line"; done
}

wait_for() { # SECONDS CONDITION...
	n=$(($1 * 10 * GPUEMU_SLOW))
	shift
	while ! "$@"; do
		n=$((n - 1))
		[ $n -gt 0 ] || return 1
		usleep 100000
	done
}

attached() { grep -q '^gpuemud: attached' /vm/run/daemon.log || gone $daemon_pid; }
gone() { # a zombie has gone too
	case $(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) in
	'' | Z) return 0 ;;
	esac
	return 1
}
unloaded() { rmmod "$MODULE" 2>/vm/run/rmmod.err; }

drained() { gone $tee_out && gone $tee_err; }
loaded() { [ -d "/sys/module/$MODULE" ]; }
not_loaded() { ! loaded || unloaded; }

# Tells the host where each task is, a line each with its stack, except kernel threads that wait for
# work. It also tells when each CPU's timer is due: an emulator may have lost one. For a failure that
# leaves no other trace.
scene() {
	for t in /proc/[1-9][0-9]*/task/[0-9]*; do
		state=$(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "$t/status")
		case "$(tr -d '\0' <"${t%/task/*}/cmdline"):$state" in
		:[SI] | '':) continue ;;
		esac
		tell "log $job at $1: $(cat "$t/comm") ${t##*/} $state: $(sed -n 's/^\[<0>\] \([^+]*\).*/\1/p' "$t/stack" | head -n 12 | tr '\n' ' ')"
	done
	grep -E '^(cpu:|now at|  \.(expires_next|tick_stopped|nr_hangs))' /proc/timer_list |
		while IFS= read -r line; do tell "log $job timers: $line"; done
	for _ in 1 2; do
		tell "log $job ticks: $(grep LOC: /proc/interrupts)"
		sleep 1
	done
} 2>/dev/null

# Everything but the daemon, the pipes to the host and the kernel's threads.
kill_strays() {
	for p in /proc/[0-9]*; do
		case $(tr '\0' ' ' <"$p/cmdline" 2>/dev/null) in
		'' | 'tee /dev/ttyS'* | 'wc -c '* | *vm/standstill* | *vm/gusts*) continue ;;
		esac
		case ${p#/proc/} in
		1 | "$daemon_pid") ;;
		*) kill -9 "${p#/proc/}" ;;
		esac
	done 2>/dev/null
}

start_daemon() {
	# shellcheck disable=SC2086
	gpuemud $daemon_args >/vm/run/daemon.log 2>&1 9>&- &
	daemon_pid=$!
	wait_for 20 attached 2>/dev/null || fail 'gpuemud did not attach in 20 s'
	gone $daemon_pid && fail 'gpuemud ended before it attached'
	[ -z "$verdict" ] || show /vm/run/daemon.log 'gpuemud: '
}

stop_daemon() {
	if gone $daemon_pid; then
		wait $daemon_pid
		fail "gpuemud died (status $?)"
	else
		kill -TERM $daemon_pid
		if wait_for 10 gone $daemon_pid; then
			wait $daemon_pid
			status=$?
			[ $status -eq 0 ] || fail "gpuemud ended with status $status on SIGTERM"
		else
			fail 'gpuemud did not end in 10 s on SIGTERM'
			kill -9 $daemon_pid
		fi
	fi
	[ -z "$verdict" ] || show /vm/run/daemon.log 'gpuemud: '
}

# The command's output goes through tee: the host gets the bytes and, over the
# protocol, how many there were.
run_command() {
	rm -f /vm/run/out /vm/run/err
	mkfifo /vm/run/out /vm/run/err
	tee /dev/ttyS1 </vm/run/out 9>&- | wc -c >/vm/run/out.n &
	tee_out=$!
	tee /dev/ttyS3 </vm/run/err 9>&- | wc -c >/vm/run/err.n &
	tee_err=$!
	rm -f /vm/run/done
	/bin/timeout -s KILL "$timeout" sh -c "sh /vm/jobs/$job/cmd; s=\$?; : >/vm/run/done; exit \$s" \
		</dev/null >/vm/run/out 2>/vm/run/err 9>&-
	status=$?
	if [ ! -e /vm/run/done ]; then
		fail "no end after $timeout s"
		echo w >/proc/sysrq-trigger
	fi
	# Whatever the command left behind would keep the pipes open.
	wait_for 1 drained || kill_strays
	if ! wait_for 10 drained; then
		fail 'the output did not end'
		scene 'the end of the output'
		# The bytes that came are this job's, and later ones nobody's.
		killall tee
		wait_for 10 drained
	fi
}

# What the command left in $OUT, whatever became of it.
send_folder() {
	rm -f /vm/run/files
	mkfifo /vm/run/files
	tee /dev/ttyS4 </vm/run/files 9>&- | wc -c >/vm/run/files.n &
	tar -C "$OUT" -cf /vm/run/files . 9>&-
	wait $!
	tell "files $(count files)"
}

# How long a job waits, in seconds, until the module of the one before is gone.
patience=40

count() { cat "/vm/run/$1.n" 2>/dev/null || echo 0; }

run_job() {
	job=$1
	verdict=
	timeout=300 module=1 module_args='' daemon=1 daemon_args='' out='' starves=''
	# shellcheck source=/dev/null
	. "/vm/jobs/$job/opts"
	rm -rf /vm/run
	mkdir /vm/run
	echo "vm: job $job begin" >/dev/kmsg
	[ -z "$WATCH" ] || "$TREE/build/vm/standstill" "$WATCH" >/vm/run/stood 9>&- &
	[ -z "$GUSTS" ] || "$TREE/build/vm/gusts" "${GUSTS%:*}" "${GUSTS#*:}${job#0}" 9>&- &
	# How long an engine may take to answer, too; what is given later wins.
	[ "$GPUEMU_SLOW" -eq 1 ] || [ "$MODULE" != gpuemu ] ||
		module_args="invalidate_timeout_ms=$((500 * GPUEMU_SLOW)) $module_args"
	if [ "$module" = 1 ]; then
		# A job that left it behind has failed; the next one shall not.
		if ! wait_for $patience not_loaded; then
			fail 'the module of a job before is still loaded'
			patience=1
		fi
	fi
	if [ "$module" = 1 ] && [ -z "$verdict" ]; then
		# shellcheck disable=SC2086
		insmod "/vm/$MODULE.ko" $module_args 2>/vm/run/insmod.err ||
			fail "insmod $MODULE.ko $module_args: $(head -n 1 /vm/run/insmod.err)"
	fi
	[ -n "$verdict" ] || [ "$daemon" = 0 ] || start_daemon
	if [ -n "$out" ]; then
		export OUT=/vm/out
		mkdir $OUT
	fi
	status=125
	[ -n "$verdict" ] || run_command
	[ -z "$out" ] || send_folder
	[ "$daemon" = 0 ] || [ -z "$daemon_pid" ] || stop_daemon
	daemon_pid=
	kill -9 -1 2>/dev/null
	if [ "$module" = 1 ] && loaded; then
		if ! wait_for 5 unloaded; then
			fail "rmmod: $(head -n 1 /vm/run/rmmod.err)"
			scene rmmod
		elif dmesg | grep -q "vm: job $job begin"; then
			objects=$(dmesg | sed -n "/vm: job $job begin/,\$s/.*$MODULE: live objects: //p" | tail -n 1)
			case $objects in
			'') fail 'the module printed no live-object line on unload' ;;
			*total=0) ;;
			*) fail "the module leaks: $objects" ;;
			esac
		fi
	fi
	dmesg >/vm/run/dmesg
	grep -q "vm: job $job begin" /vm/run/dmesg || fail 'the kernel log was cleared'
	# A test may call the OOM killer: its report is no mistake of the module.
	sed -e "1,/vm: job $job begin/d" -e '/invoked oom-killer: /,+6{/Call Trace:/d}' \
		-e '/invoked oom-killer: /,/oom-kill:constraint/{/Mem-Info:/d}' \
		${starves:+-e "$STARVED"} /vm/run/dmesg |
		grep -E "$BAD" >/vm/run/bad && {
		fail "kernel log: $(head -n 1 /vm/run/bad)"
		show /vm/run/bad 'kernel: '
	}
	# After its first complaint it is silent, and whoever was first is not in the log.
	grep -q 'debug_locks: *0' /proc/lockdep_stats 2>/dev/null && fail 'lockdep has turned itself off'
	[ -z "$WATCH" ] || while IFS= read -r line; do tell "stood $job $line"; done </vm/run/stood
	uptime_is job
	tell "exit $job $status $(count out) $(count err)"
	tell "verdict $job ${verdict:-ok}"
} 2>>/dev/console

# Lost memory stays lost, so one scan after all jobs finds it, and a program's name
# is in each report. What is younger than five seconds is not reported yet; the
# first scan may have seen a pointer on its way from one place to another.
KMEMLEAK=/sys/kernel/debug/kmemleak
[ ! -e $KMEMLEAK ] || tell 'kmemleak on'
scan_for_leaks() {
	sleep 6
	echo scan >$KMEMLEAK
	sleep 1
	echo scan >$KMEMLEAK
	# Linux loses the name of a slab that it could not show in sysfs: sysfs_slab_add().
	awk '/^unreferenced object/ { keep() } /sysfs_slab_add/ { slab = 1 } { text = text $0 "\n" }
		END { keep() } function keep() { if (!slab) printf "%s", text; text = ""; slab = 0 }' \
		$KMEMLEAK >/vm/leaks
	head -n 60 /vm/leaks | while IFS= read -r line; do tell "log kmemleak $line"; done
	tell "leaks $(grep -c 'unreferenced object' /vm/leaks)"
}

uptime_is boot
tell "boot $(uname -r) $GPUEMU_VIRT"
for j in /vm/jobs/*; do
	run_job "${j##*/}"
done
[ ! -e $KMEMLEAK ] || scan_for_leaks
tell end
exec 9>&-
# Close the lines before the machine goes; closing waits for the last byte.
reboot -f
