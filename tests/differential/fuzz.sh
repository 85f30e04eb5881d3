#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fuzz.sh DIR SECONDS SEED KERNELS: generated kernels against the CPU, until SECONDS
# are over or KERNELS were run (either may be empty: no end). A file of kernels at a time, compiled at
# a level that the seed chooses, run on every lane table, with few registers, on the
# cycle model, and there on one SM whose CTAs take turns in slots for one, and on one whose mechanism
# and order of loads the seed chooses. A kernel that differs is shrunk to its own file and kept in
# DIR/failed/ with what made it. The last line says how many passed. DIR has runner and generate.
set -uo pipefail
dir=$1 seconds=${2:-} seed=${3:-} kernels=${4:-}
here=$(dirname "$0")
per_file=50
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
[ -z "$kernels" ] || [ "$kernels" -ge "$per_file" ] || per_file=$kernels
work=$dir/fuzz
mkdir -p "$work" "$dir/failed"
echo "# SEED=$seed"
start=$SECONDS

# level_of FIRST and regs_of FIRST: by seed and place alone, so that a seed means the same run.
# HOW="nvcc nvcc-G" has other compilations than clang's four.
read -r -a levels <<<"${HOW:-O0 O1 O2 O3}"
level_of() { echo "${levels[((seed + $1 / per_file) * 2654435761 >> 7 & 0x7fff) % ${#levels[@]}]}"; }
regs_of() {
	local all=(16 17 18 20 22 24 28 32 40 64)
	echo "${all[((seed + $1 / per_file) * 40503 >> 3) % 10]}"
}

# compile NAME FIRST COUNT LEVEL: NAME.cu, NAME.so, NAME.ptx. false: the log says why.
compile() {
	"$dir/generate" "$seed" "$2" "$3" >"$1.cu" &&
		"$here/compile.sh" cpu "$1.cu" "$1.so" 2>"$1.log" &&
		"$here/compile.sh" "$4" "$1.cu" "$1.ptx" 2>>"$1.log"
}

# turns_of FIRST: how often CTAs change, and who schedules their warps.
turns_of() {
	local schedulers=(lrr gto old two_level)
	echo "--set sm.timeslice=$((((seed + $1 / per_file) * 2246822519 & 0x7fffffffffffffff) % 400 + 30))" \
		"--set sm.scheduler=${schedulers[((seed + $1 / per_file) * 374761393 >> 5) % 4]}"
}

# mechanism_of FIRST: what holds the slot for one CTA, and what happens to loads that few MSHRs refuse.
# The last has CTAs of 128 threads in registers for one, and one that waits for a far fault leaves.
mechanism_of() {
	local all=("vt --set sm.mem_order=vt" "max --set sm.mem_order=mascar"
		"baseline --set sm.mem_order=mascar"
		"vt --set sm.mem_order=reexecute --set vt.long=miss --set vt.barrier=ignored"
		"zorua --set zorua.proof=0 --set zorua.epoch=200"
		"zorua --set zorua.slots=vt --set zorua.ctas=fits --set sm.warps=4"
		"vt --set vt.oversubscribe=2 --set occupancy.regs=128 --set sm.registers=16384 --set gmmu.far_fault_mshrs=0")
	echo "--set sm.ctas=1 --set l1d.mshrs=2 --set sm.reexec=3" \
		"--set sm.cta=${all[(seed + $1 / per_file) % ${#all[@]}]}"
}

# judge NAME REGS TURNS MECHANISM: the five ways; prints the kernels that differ and why, as TAP.
judge() {
	local turns mechanism
	read -r -a turns <<<"$3"
	read -r -a mechanism <<<"$4"
	"$dir/runner" --quiet "$1.so" "lanes=$1.ptx" &&
		"$dir/runner" --quiet --maxregs "$2" "$1.so" "maxregs=$1.ptx" &&
		"$dir/runner" --quiet --timed "$1.so" "timed=$1.ptx" &&
		"$dir/runner" --quiet --timed --set gpu.sms=1 --set sm.ctas=1 --set sm.cta=timeslice \
			"${turns[@]}" "$1.so" "turns=$1.ptx" &&
		"$dir/runner" --quiet --timed --set gpu.sms=1 "${mechanism[@]}" "$1.so" "mechanism=$1.ptx"
}

# keep NUMBER LEVEL REGS TURNS MECHANISM: a kernel that differs, alone.
keep() {
	local kept=$dir/failed/seed-$seed-kernel-$1
	compile "$kept" "$1" 1 "$2"
	judge "$kept" "$3" "$4" "$5" >"$kept.tap" 2>&1
	[ $? -ne 0 ] || echo "# alone it passes: it takes the file it was in" >>"$kept.tap"
	{
		echo "SEED=$seed, kernel $1, $2, maxregs $3, $4; $5"
		echo "again: $dir/generate $seed $1 1, then compile.sh and runner as $here/fuzz.sh does"
	} >"$kept.txt"
	rm -f "$kept.log"
	echo "# kept: $kept.{txt,cu,so,ptx,tap}"
}

# one FIRST COUNT SLOT: a file of kernels; its result in SLOT.tap, its counts in SLOT.sum.
one() {
	local slot=$3 level regs turns mechanism number
	level=$(level_of "$1") regs=$(regs_of "$1") turns=$(turns_of "$1")
	mechanism=$(mechanism_of "$1")
	echo "0 $2" >"$slot.sum"
	if ! compile "$slot" "$1" "$2" "$level"; then
		{
			echo "# kernels $1 to $(($1 + $2 - 1)) by $level do not compile:"
			head -n 10 "$slot.log" | sed 's/^/#   /'
		} >"$slot.tap"
		cp "$slot.cu" "$dir/failed/seed-$seed-from-$1.cu"
		return
	fi
	if judge "$slot" "$regs" "$turns" "$mechanism" >"$slot.out" 2>&1; then
		echo "$2 0" >"$slot.sum"
		: >"$slot.tap"
		return
	fi
	grep -A 1 '^not ok' "$slot.out" | sed 's/^/# /' >"$slot.tap"
	number=0
	for k in $(sed -n 's/^not ok [0-9]* - k_g\([0-9]*\),.*/\1/p' "$slot.out" | sort -un); do
		number=$((number + 1))
		keep "$k" "$level" "$regs" "$turns" "$mechanism" >>"$slot.tap"
	done
	# A runner that died has named nobody.
	[ $number -gt 0 ] || {
		tail -n 5 "$slot.out" | sed 's/^/# /' >>"$slot.tap"
		number=$2
	}
	echo "$(($2 - number)) $number" >"$slot.sum"
}

first=0 passed=0 failed=0
while [ -z "$kernels" ] || [ $first -lt "$kernels" ]; do
	[ -z "$seconds" ] || [ $((SECONDS - start)) -lt "$seconds" ] || break
	slots=()
	for ((j = 0; j < $(nproc); j++)); do
		[ -z "$kernels" ] || [ $first -lt "$kernels" ] || break
		count=$per_file
		[ -z "$kernels" ] || [ $((first + count)) -le "$kernels" ] || count=$((kernels - first))
		one $first $count "$work/$j" &
		slots+=("$work/$j")
		first=$((first + count))
	done
	wait
	for slot in "${slots[@]}"; do
		read -r p f <"$slot.sum"
		passed=$((passed + p)) failed=$((failed + f))
		cat "$slot.tap"
	done
	[ -n "$kernels" ] || echo "# $((SECONDS - start)) s: $passed passed, $failed failed"
done
echo "$passed passed, $failed failed, SEED=$seed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
