# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2086,SC2015
#
# What this machine and QEMU did to the VM while its jobs ran: CPUs that stood still, threads that had
# to wait for a CPU, clocks that went apart. Sourced by run.sh, whose variables it uses: run, qemu, smp,
# slow, icount, jobs, seen_ms (by job, our clock when its verdict was seen), booted_ms, ended_ms.

watch_ms=2000 watcher='' vcpus=()

# standstill watches the CPUs of this machine. It costs a little time.
watch_start() {
	setpriv --pdeathsig KILL build/vm/standstill $watch_ms >"$run/stood" 2>/dev/null &
	watcher=$!
}

# QEMU has a thread for each CPU of the VM.
watch_threads() {
	[ -n "$watcher" ] && kill -0 $qemu 2>/dev/null || return 0
	timeout 5 sh -c "echo 'info cpus' >'$run/mon.in'"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		mapfile -t vcpus < <(tr -d '\r' <"$run/mon.log" | sed -n 's/.*CPU #[0-9]*: thread_id=\([0-9]*\)$/\1/p')
		[ ${#vcpus[@]} -lt "$smp" ] || break
		sleep 0.1
	done
}

# Writes a line: our clock, and for how long each of these threads has run and has waited for a CPU, in
# ns. The loop that calls it each half second keeps the VM company for an hour, so it starts no process.
look() {
	local line=$((${EPOCHREALTIME/./} / 1000)) ran waited thread
	for thread in "${vcpus[@]}"; do
		read -r ran waited _ <"/proc/$qemu/task/$thread/schedstat" || return
		line="$line $ran $waited"
	done 2>/dev/null
	echo "$line" >>"$run/ran"
}

watch_stop() {
	[ -z "$watcher" ] || { kill -9 "$watcher" && wait "$watcher"; } 2>/dev/null
	watcher=''
}

# Prints when one of these threads did not run for two seconds: this machine did not let it, or QEMU did
# not wake it. The module cannot be the cause: a kernel that hangs with its interrupts off runs, and
# even an idle CPU runs ten times a second, because its watcher does.
idle_threads() {
	[ -s "$run/ran" ] || return 0
	awk -v least=$watch_ms '
		function tell(cpu) {
			if (last - since[cpu] >= least)
				printf "%.0f thread of the VM\047s CPU %d stood still for %d s\n", last, cpu / 2 - 1, (last - since[cpu]) / 1000
		}
		{
			for (cpu = 2; cpu <= NF; cpu += 2) {
				if ($cpu == ran[cpu]) continue
				tell(cpu)
				since[cpu] = $1
				ran[cpu] = $cpu
			}
			last = $1
		}
		END { for (cpu in since) tell(cpu) }' "$run/ran"
}

# Sets from and upto: the job's time by our clock; upto is empty if the job has not ended.
span() { # JOB
	local i
	from=${booted_ms:-0} upto=
	for i in "${!seen_ms[@]}"; do
		[ "$i" -ge "$1" ] || from=${seen_ms[i]}
		[ "$i" -lt "$1" ] || { upto=${seen_ms[i]}; break; }
	done
}

# A line for each standstill of this machine while the job ran; it_stood_still() does so for the VM.
we_stood_still() { # JOB
	local from upto
	[ -s "$run/stood" ] || return 0
	span "$1"
	awk -v job="${jobs[$1]}" -v from="$from" -v upto="$upto" '
		$1 >= from && (upto == "" || $1 - 1000 * $(NF - 1) <= upto) {
			sub(/^[^ ]* /, "this machine\047s "); print $0 " while \047" job "\047 ran" }' "$run/stood"
}
it_stood_still() { # JOB
	said "stood $(printf '%03d' "$1")" | sed "s/^[^ ]* \(.*\)/the VM's \1 while '${jobs[$1]}' ran/"
}

# A line if the VM's CPUs, together, waited for this machine's for more than a fifth of the job's time.
it_waited() { # JOB
	local from upto
	[ -s "$run/ran" ] || return 0
	span "$1"
	awk -v job="${jobs[$1]}" -v from="$from" -v upto="$upto" '
		{
			waited = 0
			for (i = 3; i <= NF; i += 2) waited += $i / 1e6
			if ($1 <= from || first == "") { first = $1; before = waited }
			if (upto != "" && $1 > upto) exit
			last = $1; after = waited
		}
		END {
			if (5 * (after - before) > last - first)
				printf "the VM\047s CPUs waited for ours for %.1f s of %.1f s while \047%s\047 ran\n",
					(after - before) / 1000, (last - first) / 1000, job
		}' "$run/ran"
}

# The guest's clock and ours, from its boot to the last job's end: an emulated one has been seen to
# run ten times too fast, and then all that was measured in there is wrong. Prints a sentence, or nothing.
astray() {
	local from upto ours theirs
	[ $icount = 0 ] && [ -n "${booted_ms:-}" ] && [ -n "$ended_ms" ] || return 0
	from=$(said 'uptime boot') upto=$(said 'uptime job' | tail -n 1)
	[ -n "$from" ] && [ -n "$upto" ] || return 0
	theirs=$((10#${upto/./}0 - 10#${from/./}0)) ours=$((ended_ms - booted_ms))
	[ $((2 * theirs)) -gt $((3 * ours + 20000)) ] || [ $((2 * ours)) -gt $((3 * theirs + 20000)) ] || return 0
	echo "the guest's clock went $((theirs / 1000)) s in $((ours / 1000)) s of ours: times measured in there are wrong; run it again"
}

# The same, job by job: the guest's clock may jump. run.sh sees a job's end up to a second late, and
# later on a busy machine.
jumps() {
	local i last=-1 ups=() theirs ours
	[ $icount = 0 ] || return 0
	mapfile -t ups < <(said 'uptime job')
	for i in "${!seen_ms[@]}"; do
		if [ $last -ge 0 ] && [ -n "${ups[i]:-}" ]; then
			theirs=$(((10#${ups[i]/./} - 10#${ups[last]/./}) * 10)) ours=$((seen_ms[i] - seen_ms[last]))
			[ $((theirs - ours)) -lt 5000 ] && [ $((ours - theirs)) -lt 5000 ] ||
				echo "the guest's clock went $((theirs / 1000)) s in $((ours / 1000)) s of ours while '${jobs[$i]}' ran"
		fi
		last=$i
	done
}
