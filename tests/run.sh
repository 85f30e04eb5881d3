#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `make check`: runs tests/check.d/NN-NAME.sh, or those whose NAME is given, and
# adds up their cases. A check prints TAP; it is run from the top of the tree
# with no input and a time limit (1200 s, or its line `# timeout: S`).
# The last line is the sum: `N passed, N failed[, N skipped]`.
#
# The checks run in two lanes side by side, each in the order of its numbers: those
# with a line `# lane: vm`, which boot the VM, and all others. The VM's come first where both want a
# CPU (nice), because tests in there measure time. A check with a line
# `# alone` waits until all before it have ended; those behind it wait for its end.
# CHECK_LANES=1 runs one check after the other.
# A check with a line `# only: WORD...` takes long and runs when it is named, or
# when KERNELS has one of the words.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

export LC_ALL=C
kernels=" ${KERNELS:-} "
# To the makefiles that a check calls, KERNELS is something else.
unset MAKEFLAGS MAKELEVEL MFLAGS KERNELS
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

# A missing tool fails its check; most often it can just be installed.
logs=${CHECK_LOGS:-build/check}
scripts/deps.sh build vm check || echo 'check: some packages are missing; what needs them fails'
mkdir -p "$logs"
[ -n "${CHECK_LOGS:-}" ] || git status --porcelain >build/check/tree.before
passed=0 failed=0 skipped=0
for name; do
	ls "${CHECK_DIR:-tests/check.d}"/[0-9]*-"$name".sh >/dev/null 2>&1 || {
		echo "check: there is no check '$name'"
		failed=$((failed + 1))
	}
done
start=$SECONDS

# run_check FILE: runs it, prints what failed and its sum, and leaves the sum in
# LOG.sum. Two may run at once, so each prints all of its lines at once.
run_check() {
	local check=$1 name log limit began=$SECONDS status=0 problem='' p f s
	name=$(basename "$check" .sh)
	log=$logs/$name.tap
	limit=$(sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "$check" | head -n 1)
	limit=${limit:-1200}
	rm -f "$log.skips"
	CHECK_SKIPS=$log.skips timeout -k 10 "$limit" bash "$check" >"$log" 2>"$log.err" </dev/null &
	running=$!
	wait $running || status=$?
	running=
	[ $status -ne 124 ] && [ $status -ne 137 ] || problem="no end after $limit s"
	awk -v status=$status -v problem="$problem" -f tests/lib/tap.awk "$log" >"$log.rows"
	# A check that prints its skips itself is held to the same list: tests/skips.txt, or its own.
	[ ! -e "$log.skips" ] || local -x TAP_SKIPS=$log.skips
	while IFS=$'\t' read -r kind case why; do
		[ "$kind" != skip ] || tap_may_skip "${case%%:*}" "$why" ||
			{ kind=fail why="skipped, and tests/skips.txt has no row that allows it: $why"; }
		printf '%s\t%s\t%s\n' "$kind" "$case" "$why"
	done <"$log.rows" >"$log.held" && mv "$log.held" "$log.rows"
	p=$(grep -c '^ok	' "$log.rows")
	f=$(grep -c '^fail	' "$log.rows")
	s=$(grep -c '^skip	' "$log.rows")
	# Every failure is shown with its notes; what passed is counted.
	{
		awk -F '\t' '$1 == "fail" { print "not ok - " $2 ($3 != "" ? " (" $3 ")" : ""); show = 1; next }
			$1 == "diag" { if (show) print "  " $2; next } { show = 0 }' "$log.rows"
		[ "$f" -eq 0 ] || tail -n 20 "$log.err" | sed 's/^/  stderr: /'
		awk -F '\t' '$1 == "skip" { sub(/: .*/, "", $2); n[$2 " (" $3 ")"]++ }
			END { for (x in n) print "skip - " n[x] " of " x }' "$log.rows" | sort
		printf '%-24s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" $((SECONDS - began))
	} >"$log.text"
	flock "$logs/printing" cat "$log.text"
	echo "$p $f $s" >"$log.sum"
	echo $((SECONDS - began)) >"$log.seconds"
}

# run_lane FILE...: one after the other. Stopping the lane stops its check.
run_lane() {
	local check running=
	trap '[ -z "$running" ] || kill "$running" 2>/dev/null; exit 130' INT TERM
	for check; do
		run_check "$check"
	done
}

# run_lanes: what stands in `vm` and `other`, side by side. A check that left no sum did not end.
run_lanes() {
	local check sum
	for check in "${vm[@]}" "${other[@]}"; do
		rm -f "$logs/$(basename "$check" .sh).tap.sum"
	done
	if [ "${CHECK_LANES:-2}" = 1 ] || [ ${#vm[@]} = 0 ] || [ ${#other[@]} = 0 ]; then
		run_lane "${other[@]}" "${vm[@]}" &
		lanes=$!
	else
		# Both lanes want these, and two makes must not write one file.
		[ -n "${CHECK_DIR:-}" ] || make -k -j"$(nproc)" programs libs ptx policies >"$logs/lanes.log" 2>&1
		{ renice -n $(($(nice) + 5)) $BASHPID >/dev/null; run_lane "${other[@]}"; } &
		lanes=$!
		run_lane "${vm[@]}" &
		lanes="$lanes $!"
	fi
	# shellcheck disable=SC2086
	wait $lanes
	lanes=
	for check in "${vm[@]}" "${other[@]}"; do
		sum=$logs/$(basename "$check" .sh).tap.sum
		if [ -s "$sum" ]; then
			read -r p f s <"$sum"
			passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
			rows+=("${sum%.sum}.rows")
		else
			echo "not ok - $(basename "$check" .sh): the runner lost it"
			failed=$((failed + 1))
		fi
	done
	vm=() other=()
}
# shellcheck disable=SC2086
trap '[ -z "$lanes" ] || kill $lanes 2>/dev/null; wait; exit 130' INT TERM

# say_time CHECK...: how long they will take, from the last time; the runner's own test has none.
say_time() {
	local check seconds sum=0 unknown=0
	[ -z "${CHECK_DIR:-}" ] || return 0
	for check; do
		seconds=$(cat "$logs/$(basename "$check" .sh).tap.seconds" 2>/dev/null)
		[ -n "$seconds" ] || unknown=$((unknown + 1))
		sum=$((sum + ${seconds:-0}))
	done
	if [ $unknown -eq 0 ]; then
		echo "check: $# checks, which took $((sum / 60)) min $((sum % 60)) s the last time, two of them at a time where they can"
	elif [ "$all" = 1 ]; then
		echo "check: $# checks: some 25 minutes on a quiet machine with two CPUs, the first time; make check-quick takes 5"
	else
		echo "check: $# checks, $unknown of them for the first time here"
	fi
}

all=$(($# == 0))
rows=()
selected=()
for check in "${CHECK_DIR:-tests/check.d}"/[0-9]*.sh; do
	name=$(basename "$check" .sh)
	if [ $# -gt 0 ]; then
		case " $* " in *" ${name#*-} "*) selected+=("$check") ;; esac
	else
		grep -q '^# only: ' "$check" || selected+=("$check")
	fi
done
say_time "${selected[@]}"

vm=() other=() lanes=
for check in "${CHECK_DIR:-tests/check.d}"/[0-9]*.sh; do
	name=$(basename "$check" .sh)
	if [ $# -gt 0 ]; then
		case " $* " in *" ${name#*-} "*) ;; *) continue ;; esac
	elif only=$(grep '^# only: ' "$check"); then
		wanted=
		for word in ${only#\# only: }; do
			case $kernels in *" $word "*) wanted=1 ;; esac
		done
		[ -n "$wanted" ] || continue
	fi
	if grep -qx '# alone' "$check"; then
		run_lanes
		other=("$check")
		run_lanes
	elif grep -qx '# lane: vm' "$check"; then
		vm+=("$check")
	else
		other+=("$check")
	fi
done
run_lanes

[ $((passed + failed)) -gt 0 ] || {
	echo 'check: nothing ran'
	failed=1
}
# Once more, and short, because the end of a log is what is looked at first.
[ ${#rows[@]} -eq 0 ] || awk -f tests/lib/failed.awk "${rows[@]}"
echo "check: $((SECONDS - start)) s; what each check printed is in $logs/"
if [ $skipped -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]
