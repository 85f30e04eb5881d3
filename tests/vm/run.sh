#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs a command, or a suite of tests, as root in a VM: the Debian kernel in
# QEMU with gpuemu.ko loaded and gpuemud attached. Nothing counts as success
# but evidence: what the VM says over a channel of its own, with this run's
# nonce, about the exit, the kernel log, rmmod and the live objects.
set -uo pipefail

usage() {
	cat <<'EOF'
usage: tests/vm/run.sh [OPTION...] -- COMMAND [ARG...]
       tests/vm/run.sh [OPTION...] --shell        (the text in $GPUEMU_VM_CMD)
       tests/vm/run.sh [OPTION...] --suite [NAME...]
  --timeout S         the command's time, 300 s if not given
  --no-daemon         do not start gpuemud
  --no-module         do not load gpuemu.ko (implies --no-daemon)
  --module FILE       load this module instead
  --kernel DIR        boot the newest kernel of DIR/boot, build/vm/kernel if not given
  --module-args ARGS  its parameters, as 'vram_mb=64'
  --daemon-args ARGS  gpuemud's options
  --mem MB, --smp N   the VM's size, 2048 and 2 if not given
  --slow N            all times are N times as long, the tests' own too: what a
                      kernel that checks itself needs
  --icount            under TCG, one CPU at a time, with a clock that counts
                      instructions, 1 ns each: times are path lengths, the same
                      on a busy machine (not what memory or two CPUs cost)
  --file FILE         put FILE into the VM too, at the same path
  --out DIR           $OUT in the VM is an empty folder; what a command leaves
                      there comes back as DIR, whatever its exit status
  --fixture DIR       the harness' own test: the suite is DIR/cases/*.sh, and
                      programs are looked for in DIR/bin first
  --log FILE          keep the kernel's console log there
  --gusts MS          take each CPU of the VM away at random moments for up to
                      MS ms, as a busy host does: a test that fails then has a
                      step that must come soon and does not say so
  --beside            leave out the tests that want the machine for themselves
                      (alone): something else runs on it
  --within S          end the VM after S s: tests that have ended then count as
                      they are, all others have failed
  --suite             every test of build/tests/kernel/ and tests/vm/suite.d/,
                      or those named; prints TAP. Those that want --icount run
                      with it only, and the others without
stdout and stderr are the command's. Exit status: the command's, or 125 after
one line that says what the harness found: no end in time, a panic, a dirty
kernel log, a module that does not unload or leaks. A kernel with kmemleak is
scanned at the end; what it finds counts against the whole run.
EOF
}

here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
cwd=$PWD
called=("$@")
cd "$tree" || exit 125
die() { echo "vm: $*" >&2; exit 125; }
misuse() { echo "vm: $*" >&2; usage >&2; exit 2; }
quote() { printf "'%s' " "${1//\'/\'\\\'\'}"; }

beside=0 within=0 gusts=0 timeout=300 module=1 daemon=1 module_args='' daemon_args='' mem=2048 smp=2 slow=1 icount=0 mode=command
kernels=build/vm/kernel ko='' log='' fixture='' out_dir='' files=() names=()
while [ $# -gt 0 ]; do
	case $1 in
	--timeout | --kernel | --module | --module-args | --daemon-args | --mem | --smp | --slow | --file | --fixture | --log | --out | --within | --gusts)
		[ $# -ge 2 ] || misuse "$1 needs a value" ;;
	esac
	case $1 in
	--timeout) timeout=$2; shift ;;
	--no-daemon) daemon=0 ;;
	--no-module) module=0 daemon=0 ;;
	--kernel) kernels=$(cd "$cwd" && realpath "$2"); shift ;;
	--module) ko=$(cd "$cwd" && realpath "$2"); shift ;;
	--module-args) module_args=$2; shift ;;
	--daemon-args) daemon_args=$2; shift ;;
	--mem) mem=$2; shift ;;
	--smp) smp=$2; shift ;;
	--slow) slow=$2; shift ;;
	--file) files+=("$(cd "$cwd" && realpath "$2")"); shift ;;
	--fixture) fixture=$2; shift ;;
	--log) log=$(cd "$cwd" && realpath -m "$2"); shift ;;
	--out) out_dir=$(cd "$cwd" && realpath -m "$2"); shift ;;
	--icount) icount=1 ;;
	--beside) beside=1 ;;
	--within) within=$2; shift ;;
	--gusts) gusts=$2; shift ;;
	--shell) mode=shell ;;
	--suite) mode=suite ;;
	--help) usage; exit ;;
	--) shift; break ;;
	-*) misuse "unknown option $1" ;;
	*) break ;;
	esac
	shift
done
case $timeout$mem$smp$slow$within$gusts in *[!0-9]*) misuse '--timeout, --mem, --smp, --slow, --within and --gusts take numbers' ;; esac
[ "$slow" -gt 0 ] || misuse '--slow takes a number above 0'
[ $mode != command ] || [ $# -gt 0 ] || misuse 'no command'
[ $mode != shell ] || [ -n "${GPUEMU_VM_CMD:-}" ] || misuse "no command: make vm CMD='...'"
[ $mode != suite ] || names=("$@")
[ -z "$out_dir" ] || [ $mode != suite ] || misuse '--out is for a command'
for n in "${names[@]}"; do
	[ -e "tests/kernel/$n.c" ] || [ -e "tests/vm/suite.d/$n.sh" ] || [ -e "$fixture/cases/$n.sh" ] || die "no test '$n'"
done
# Before the VM has run for an hour: can it be written?
[ -z "$out_dir" ] || { mkdir -p "$out_dir" && [ -w "$out_dir" ]; } || die "cannot write to $out_dir"
# What gpuemud loads is in there, too.
for w in $daemon_args; do
	case ${w##*=} in
	*.so)
		so=$(cd "$cwd" && realpath -e "${w##*=}" 2>/dev/null) ||
			die "no file ${w##*=}, which gpuemud's arguments name"
		files+=("$so") ;;
	esac
done

kernel=$(find "$kernels/boot" -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1)
[ -n "$kernel" ] || die "no kernel to boot in $kernels/boot; scripts/deps.sh vm fetches Debian's 6.1"
kver=${kernel##*/vmlinuz-}
[ -n "$ko" ] || ko=build/kmod/$kver/gpuemu.ko
[ $module = 0 ] || [ -e "$ko" ] || die "no $ko; make modules builds it"
for f in "${files[@]}"; do
	[ -e "$f" ] || die "no file $f"
done

run=$(mktemp -d "$tree/build/vm/run.XXXXXX") || exit 125
qemu=''
# shellcheck source=tests/vm/watch.sh
. tests/vm/watch.sh
cleanup() {
	# The shell would print the whole command line of what it saw killed.
	[ -z "$qemu" ] || { kill -9 "$qemu" && wait "$qemu"; } 2>/dev/null
	watch_stop
	[ -z "$log" ] || cp "$run/console" "$log" 2>/dev/null
	rm -f "$run"/initrd "$run"/*.fifo "$run"/mon.in "$run"/mon.out
	rm -rf build/vm/last
	mv -T "$run" build/vm/last 2>/dev/null || rm -rf "$run"
}
trap cleanup EXIT
trap 'echo "vm: stopped; its logs are in build/vm/last/" >&2; exit 130' INT TERM

# --- the jobs --------------------------------------------------------------------
# add_job TEXT NAME TIMEOUT MODULE DAEMON MODULE_ARGS DAEMON_ARGS [STARVES]
# slack: for boot, for what surrounds a command, and for the way down, each.
jobs=() limits=() slack=$((${GPUEMU_VM_SLACK:-60} * slow))
add_job() {
	local id
	[ "$5" = 0 ] || [ -n "$fixture" ] || [ -x build/bin/gpuemud ] || die 'no build/bin/gpuemud; make builds it'
	id=$(printf '%03d' ${#jobs[@]})
	jobs+=("$2")
	limits+=($(($3 * slow + slack)))
	mkdir -p "$run/root/vm/jobs/$id"
	printf '%s\n' "$1" >"$run/root/vm/jobs/$id/cmd"
	{
		echo "timeout=$(($3 * slow)) module=$4 daemon=$5 out=${out_dir:+1} starves=${8:-}"
		echo "module_args=$(quote "$6")"
		echo "daemon_args=$(quote "$7")"
	} >"$run/root/vm/jobs/$id/opts"
}

# What a test needs is said in the test, on a line `vm: WORD...`: daemon,
# no-daemon, no-module, icount, alone, impatient, starves, timeout=S, and vram_mb=N and the like for the module.
# A busy host can stop the VM's CPUs for longer than an engine has to answer. So the harness gives
# the engine ten times as long, except in an impatient test, which sees the module's own time. With
# --slow init.sh gives it longer. A test that starves makes allocations of Linux fail, too.
add_test() { # NAME SOURCE COMMAND DAEMON
	local t=120 m=1 d=$4 args='' counted=0 patience='' starves='' w
	[ "$(basename "$ko")" != gpuemu.ko ] || [ "$slow" -gt 1 ] || patience=invalidate_timeout_ms=5000
	for w in $(sed -n 's/^[ #*\/]*vm: //p' "$2" | head -n 1); do
		case $w in
		daemon) d=1 ;;
		no-daemon) d=0 ;;
		no-module) m=0 d=0 ;;
		icount) counted=1 ;;
		alone) [ $beside = 0 ] || return 0 ;;
		impatient) patience= ;;
		starves) starves=1 ;;
		timeout=*) t=${w#*=} ;;
		*=*) args="$args $w" ;;
		*) die "$2: unknown word '$w' on its vm: line" ;;
		esac
	done
	if [ $counted != $icount ]; then
		[ ${#names[@]} = 0 ] || die "$1: $([ $counted = 1 ] && echo only || echo not) with --icount"
		return
	fi
	# A test's author chose its time on a quiet machine.
	[ -n "$fixture" ] || t=$((2 * t))
	add_job "exec $3" "$1" "$t" $m "$d" "$patience$args" '' $starves
}

wanted() {
	local n
	[ ${#names[@]} -gt 0 ] || return 0
	for n in "${names[@]}"; do
		[ "$n" != "$1" ] || return 0
	done
	return 1
}

kernel_tests=tests/kernel shell_tests=tests/vm/suite.d
case $mode in
command)
	add_job "$(for a in "$@"; do quote "$a"; done)" command "$timeout" $module $daemon "$module_args" "$daemon_args" ;;
shell)
	add_job "$GPUEMU_VM_CMD" command "$timeout" $module $daemon "$module_args" "$daemon_args" ;;
suite)
	if [ -n "$fixture" ]; then
		kernel_tests='' shell_tests=$fixture/cases
	fi
	for f in "$kernel_tests"/*.c; do
		n=$(basename "$f" .c)
		[ -e "$f" ] && wanted "$n" || continue
		[ -x "build/tests/kernel/$n" ] || die "build/tests/kernel/$n is not built; make tests-kernel"
		add_test "$n" "$f" "$n" 0
	done
	for f in "$shell_tests"/*.sh; do
		n=$(basename "$f" .sh)
		[ -e "$f" ] && wanted "$n" || continue
		add_test "$n" "$f" "sh $f" 1
	done
	[ ${#jobs[@]} -gt 0 ] || die 'the suite is empty' ;;
esac

# --- boot -------------------------------------------------------------------------
image=build/vm/image-$(basename "$ko" .ko)-$kver.cpio
flock build/vm tests/vm/image.sh "$image" "$ko" ${fixture:+"$fixture"} "${files[@]}" || die 'the image was not built'
echo "$fixture" >"$run/root/vm/fixture"
# The kernel's disk in memory, for the tests that swap. A kernel that is built here has none.
for f in "$kernels/boot/brd.ko" "$kernels/lib/modules/$kver/kernel/drivers/block/brd.ko"; do
	[ ! -e "$f" ] || cp "$f" "$run/root/vm/"
done
(cd "$run/root" && find . | cpio -o -H newc --quiet -R 0:0) | cat "$image" - >"$run/initrd" ||
	die 'the image was not built'
virt=$([ $icount = 1 ] && echo icount || tests/vm/virt.sh "$kernel")
kernel=$(tests/vm/vmlinux.sh "$kernel")
case $virt in
kvm) accel=(-accel kvm -cpu host) ;;
icount) accel=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=off,align=off' -cpu max) ;;
*) accel=(-accel 'tcg,thread=multi' -cpu max) ;;
esac
nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
append="console=ttyS0 quiet panic=-1 oops=panic log_buf_len=4M tsc=reliable clocksource=tsc"
# A kernel built here has nothing but the PIT to measure the TSC by and, while the machine
# is busy, gives up and counts ticks: 4 ms. TCG's TSC is the host's, whose rate is told
# where it is not what the CPU runs at just now.
khz=$(awk '/^flags/ && !/aperfmperf/ { ok = 1 } /^cpu MHz/ { n = $4 * 1000 } END { if (ok) print n }' /proc/cpuinfo)
# It has no ACPI either, and the BIOS' other table has one CPU of each socket.
case $kver in *-debug | *-kcsan) sockets=,sockets=$smp ;; esac
case $kver:$virt in
*-debug:kvm | *-kcsan:kvm) ;;
*-debug:* | *-kcsan:*) append="$append${khz:+ tsc_early_khz=$khz}" ;;
esac
# QEMU's TCG with several CPUs has been seen to freeze while kernel text is being
# patched, which booting does a lot of: /init starts the other CPUs.
# Tests shall see memory that was not cleared; Debian's kernel clears it all. What
# is measured, by a command or by counting, is measured on the kernel as it comes.
[ $mode != suite ] || [ $icount = 1 ] || append="$append init_on_alloc=0"
# A folder comes back as an archive, over a line of its own.
folder=()
if [ -n "$out_dir" ]; then
	folder=(-chardev "file,id=c4,path=$run/files" -device "pci-serial,chardev=c4")
	append="$append 8250.nr_uarts=5"
fi
# A command is not watched, because it may be a measurement.
if [ $mode = suite ] && [ $icount = 0 ]; then
	append="$append vm_watch=$((watch_ms * slow))"
	watch_start
fi
[ "$gusts" = 0 ] || append="$append vm_gusts=$gusts:$((RANDOM % 900 + 100))"
append="$append maxcpus=1 noreplace-smp rdinit=/init vm_nonce=$nonce vm_virt=$virt vm_slow=$slow"

# A frozen guest cannot say where it stands; QEMU's monitor can.
monitor() {
	timeout 5 sh -c "echo 'info registers -a' >'$run/mon.in'; sleep 1" 2>/dev/null
	tr -d '\r' <"$run/mon.log" 2>/dev/null | grep -aE '^(CPU#|R[AS][XP]|RIP)' | sed 's/^/vm: /'
}

boot() { # starts QEMU: sets qemu, out and err
	rm -f "$run"/*.fifo "$run"/mon.in "$run"/mon.out "$run"/mon.log
	: >"$run/protocol"
	mkfifo "$run/out.fifo" "$run/err.fifo" "$run/mon.in" "$run/mon.out"
	if [ $mode = suite ]; then
		cat "$run/out.fifo" >"$run/out" & out=$!
		cat "$run/err.fifo" >"$run/err" & err=$!
	else
		tee "$run/out" <"$run/out.fifo" & out=$!
		tee "$run/err" <"$run/err.fifo" >&2 & err=$!
	fi
	cat "$run/mon.out" >"$run/mon.log" &
	# The harness' own test: the first boots stay paused for ever.
	stall=()
	[ "$boots" -ge "${GPUEMU_VM_STALL:-0}" ] || stall=(-S)
	setpriv --pdeathsig KILL qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
		"${accel[@]}" -smp "$smp${sockets:-}" -m "$mem" -kernel "$kernel" -initrd "$run/initrd" -append "$append" \
		-chardev "file,id=c0,path=$run/console" -serial chardev:c0 \
		-chardev "file,id=c1,path=$run/out.fifo" -serial chardev:c1 \
		-chardev "file,id=c2,path=$run/protocol" -serial chardev:c2 \
		-chardev "file,id=c3,path=$run/err.fifo" -serial chardev:c3 "${folder[@]}" \
		-chardev "pipe,id=mon,path=$run/mon" -mon chardev=mon "${stall[@]}" \
		</dev/null >"$run/qemu" 2>&1 &
	qemu=$!
}

# Tells a user at a terminal what the command waits for, and once a minute that it still runs.
say() { [ $mode != shell ] || echo "vm: $*" >&2; }
machine() {
	case $virt in
	kvm) echo 'KVM' ;;
	icount) echo "QEMU's TCG, with a clock that counts instructions" ;;
	*) echo "QEMU's TCG: every instruction is translated$([ ! -e /dev/kvm ] || echo ' (/dev/kvm is there and does not work)')" ;;
	esac
}
say "Linux $kver on $(machine)"
now_ms() { echo $(($(date +%s%N) / 1000000)); }

boots=0
while :; do
	boot
	deadline=$((SECONDS + slack))
	while kill -0 $qemu 2>/dev/null && ! grep -q "^$nonce boot " "$run/protocol" && [ $SECONDS -lt $deadline ]; do
		sleep 0.1
	done
	boots=$((boots + 1))
	grep -q "^$nonce boot " "$run/protocol" && { booted_ms=$(now_ms); break; }
	kill -0 $qemu 2>/dev/null || break
	# Nothing of the project has run yet in there: the emulator or the kernel
	# froze on their own, and another try hides nothing.
	echo "vm: no boot in $slack s: $(tail -n 1 "$run/console" | tr -d '\r')" >&2
	monitor >&2
	[ $boots -lt 3 ] || { stopped="the VM did not boot, $boots times"; break; }
	kill -9 $qemu
	wait $qemu "$out" "$err" 2>/dev/null
done

# A job ends in its own time or the guest itself is stuck: then nothing in there
# can say so, and the later jobs' time is not waited for. The last entry of
# limits is the way down.
limits+=("$slack")
watch_threads
# seen_ms: by job, our clock when its verdict was seen.
ended=0 deadline=$((SECONDS + limits[0])) began=$SECONDS minutes=0 ended_ms=
seen_ms=()
[ -z "${stopped:-}" ] || kill -9 $qemu
while kill -0 $qemu 2>/dev/null; do
	n=$(grep -c "^$nonce verdict " "$run/protocol" 2>/dev/null)
	if [ "${n:-0}" -gt "$ended" ]; then
		ended=$n deadline=$((SECONDS + limits[n])) ended_ms=$(now_ms)
		seen_ms[n - 1]=$ended_ms
	elif [ $SECONDS -ge $deadline ]; then
		monitor >&2
		kill -9 $qemu
		stopped="the VM is stuck: nothing from '${jobs[$ended]:-power-off}' in ${limits[$ended]} s"
		break
	elif [ "$within" -gt 0 ] && [ $((SECONDS - began)) -ge "$within" ]; then
		kill -9 $qemu
		stopped="the $within s of --within were over; '${jobs[$ended]:-power-off}' ran"
		break
	fi
	if [ $(((SECONDS - began) / 60)) -gt $minutes ]; then
		minutes=$(((SECONDS - began) / 60))
		say "the command has run for $minutes min; it is ended after $((limits[0] - slack)) s"
	fi
	# Each look takes some ms of what the VM has, and what it measures feels that.
	sleep 0.5
	[ ${#vcpus[@]} = 0 ] || look
done
n=$(grep -c "^$nonce verdict " "$run/protocol" 2>/dev/null)
[ "${n:-0}" -le "$ended" ] || ended_ms=$(now_ms)
wait $qemu 2>/dev/null
qemu=
wait "$out" "$err"
watch_stop
idle_threads >>"$run/stood"

# --- judge --------------------------------------------------------------------------
said() { sed -n "s/^$nonce $1 //p" "$run/protocol"; }
tr -d '\r' <"$run/protocol" >"$run/protocol.txt" && mv "$run/protocol.txt" "$run/protocol"
why() {
	local panic
	panic=$(grep -m 1 -aE 'Kernel panic|---\[ end' "$run/console" 2>/dev/null | tr -d '\r')
	if [ -n "${stopped:-}" ]; then
		echo "$stopped"
	elif [ -n "$panic" ]; then
		echo "the VM's kernel died: ${panic#*] }"
	elif [ -s "$run/qemu" ]; then
		echo "QEMU: $(head -n 1 "$run/qemu")"
	else
		echo 'the VM ended before the command did'
	fi
}

out_bytes=0 err_bytes=0
# judge JOB: sets status, verdict, out_n and err_n.
judge() {
	local line
	status=125 out_n=0 err_n=0
	verdict=$(said "verdict $1")
	line=$(said "exit $1")
	if [ -z "$verdict" ] || [ -z "$line" ]; then
		verdict=$(why)
		return
	fi
	read -r status out_n err_n <<<"$line"
	out_n=${out_n:-0} err_n=${err_n:-0}
	out_bytes=$((out_bytes + out_n))
	err_bytes=$((err_bytes + err_n))
}

received() { # do the captured bytes match what the VM says it sent?
	[ "$(stat -c %s "$run/out")" = $out_bytes ] && [ "$(stat -c %s "$run/err")" = $err_bytes ]
}

# Sets leak: what kmemleak says against the run, if this kernel has it.
leak=
if [ -n "$(said kmemleak)" ]; then
	n=$(said leaks)
	if [ "${n:-none}" = none ]; then
		leak="kmemleak was not asked: $(why)"
	elif [ "$n" != 0 ]; then
		leak="kmemleak: $n objects that nobody refers to"
	fi
fi

if [ $mode != suite ]; then
	judge 000
	said 'log 000' >&2
	[ "$verdict" = ok ] || die "$verdict (kernel log: build/vm/last/console)"
	grep -q "^$nonce end$" "$run/protocol" || die "$(why) (kernel log: build/vm/last/console)"
	[ -z "$leak" ] || { said 'log kmemleak' >&2; die "$leak"; }
	received || die "output was lost on the way: $(stat -c %s "$run/out") of $out_bytes bytes"
	why=$(astray)
	[ -z "$why" ] || echo "vm: $why" >&2
	if [ -n "$out_dir" ]; then
		n=$(said 'files')
		[ "$(stat -c %s "$run/files")" = "${n:-none}" ] && tar -xmf "$run/files" -C "$out_dir" ||
			die "the folder was lost on the way: $(stat -c %s "$run/files") of ${n:-no} bytes"
	fi
	exit "$status"
fi

# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
booted=$(said boot)
[ -z "$booted" ] || [ "${booted% *}" = "$kver" ] || tap_not_ok "the VM runs $kver" "it runs ${booted% *}"
offset=0 err_offset=0
# A case may fail because this machine took a CPU away for seconds, or because of the module. The
# second run of its test, on CPUs that run, tells which; so the second result counts.
again=() again_max=8
[ -z "${GPUEMU_VM_AGAIN:-}" ] || again_max=0
for i in "${!jobs[@]}"; do
	id=$(printf '%03d' "$i")
	judge "$id"
	tail -c +$((offset + 1)) "$run/out" | head -c "$out_n" >"$run/$id.tap"
	tail -c +$((err_offset + 1)) "$run/err" | head -c "$err_n" >"$run/$id.err"
	offset=$((offset + out_n)) err_offset=$((err_offset + err_n))
	[ "$verdict" != ok ] || verdict=
	before=$tap_failed before_n=$tap_n
	tap_flatten "${jobs[$i]}" "$run/$id.tap" "$status" "$verdict" >"$run/$id.flat"
	if [ "$tap_failed" -eq "$before" ]; then
		cat "$run/$id.flat"
	elif [ -z "${stopped:-}" ] && [ ${#again[@]} -lt $again_max ] && [ -n "$(we_stood_still "$i")" ]; then
		tap_failed=$before tap_n=$before_n
		again+=("${jobs[$i]}")
		{ echo "vm: is run again: ${jobs[$i]}"; cat "$run/$id.flat"; tail -n 40 "$run/$id.err"; } | sed 's/^#* */# /'
	else
		# kselftest says on stderr what it expected; what began and what went well is left out.
		# tests/run.sh shows a note if the case before it failed, so the notes stand behind the
		# first case that failed.
		{ said "log $id"; we_stood_still "$i"; it_stood_still "$i"; it_waited "$i"; grep -vE '^# +(RUN|OK) ' "$run/$id.err" | tail -n 80; } | sed 's/^#* */# /' >"$run/$id.notes"
		awk -v notes="$run/$id.notes" '
			function tell(    line) { while ((getline line <notes) > 0) print line; due = 0; told = 1 }
			!/^#/ && due { tell() }
			{ print }
			/^not ok/ && !told { due = 1 }
			END { if (due) tell() }' "$run/$id.flat"
	fi
done
if [ -n "$leak" ]; then
	tap_not_ok 'kmemleak: nothing is lost' "$leak
$(said 'log kmemleak')"
elif [ -n "$(said kmemleak)" ]; then
	tap_ok 'kmemleak: nothing is lost'
fi
received || tap_not_ok "the VM's output arrived whole"
# Where the time went, by the guest's clock.
said 'uptime job' | awk -v names="${jobs[*]}" -v booted="$(said 'uptime boot')" '
	BEGIN { split(names, name, " "); last = booted }
	{ printf "%d %s\n", $1 - last, name[NR]; last = $1 }' | sort -rn | head -n 8 |
	awk '{ text = text sprintf("%s %s %d s", NR > 1 ? "," : "", $2, $1) } END { if (NR) print "# vm: the longest:" text }'
for i in "${!jobs[@]}"; do
	we_stood_still "$i"
	it_stood_still "$i"
done | sed 's/^/# vm: /'
{ jumps; astray; } | sed 's/^/# vm: /'
if [ ${#again[@]} -gt 0 ]; then
	# Its lines only need our numbers.
	options=("${called[@]:0:${#called[@]}-${#names[@]}}")
	(cd "$cwd" && GPUEMU_VM_AGAIN=1 exec "$tree/tests/vm/run.sh" "${options[@]}" "${again[@]}") >"$run/again"
	status=$?
	while IFS= read -r line; do
		case $line in
		1..*) ;;
		'ok '*) tap_n=$((tap_n + 1)); echo "ok $tap_n ${line#ok * }" ;;
		'not ok '*) tap_n=$((tap_n + 1)) tap_failed=$((tap_failed + 1)); echo "not ok $tap_n ${line#not ok * }" ;;
		*) echo "$line" ;;
		esac
	done <"$run/again"
	[ $status -eq 0 ] || grep -q '^not ok ' "$run/again" || tap_not_ok 'the suite that is run again ends' "exit status $status"
fi
tap_done
