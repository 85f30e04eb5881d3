#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `make check`: runs tests/check.d/NN-NAME.sh in order, or those whose NAME is
# given, and adds up their cases. A check prints TAP; it is run from the top of
# the tree with no input and a time limit (600 s, or its line `# timeout: S`).
# The last line is the sum: `N passed, N failed[, N skipped]`.
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
	limit=$(sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "$check" | head -n 1)
	limit=${limit:-600}
	log=$logs/$name.tap
	began=$SECONDS
	status=0
	timeout -k 10 "$limit" bash "$check" >"$log" 2>"$log.err" </dev/null || status=$?
	problem=
	[ $status -ne 124 ] && [ $status -ne 137 ] || problem="no end after $limit s"
	awk -v status=$status -v problem="$problem" -f tests/lib/tap.awk "$log" >"$log.rows"
	# A check that prints its skips itself is held to the same list.
	while IFS=$'\t' read -r kind case why; do
		[ "$kind" != skip ] || tap_may_skip "${case%%:*}" "$why" ||
			{ kind=fail why="skipped, and tests/skips.txt has no row that allows it: $why"; }
		printf '%s\t%s\t%s\n' "$kind" "$case" "$why"
	done <"$log.rows" >"$log.held" && mv "$log.held" "$log.rows"
	p=$(grep -c '^ok	' "$log.rows")
	f=$(grep -c '^fail	' "$log.rows")
	s=$(grep -c '^skip	' "$log.rows")
	# Every failure is shown with its notes; what passed is counted.
	awk -F '\t' '$1 == "fail" { print "not ok - " $2 ($3 != "" ? " (" $3 ")" : ""); show = 1; next }
		$1 == "diag" { if (show) print "  " $2; next } { show = 0 }' "$log.rows"
	[ "$f" -eq 0 ] || tail -n 20 "$log.err" | sed 's/^/  stderr: /'
	awk -F '\t' '$1 == "skip" { print "skip - " $2 " (" $3 ")" }' "$log.rows"
	printf '%-24s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" $((SECONDS - began))
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done

[ $((passed + failed)) -gt 0 ] || {
	echo 'check: nothing ran'
	failed=1
}
echo "check: $((SECONDS - start)) s; what each check printed is in $logs/"
if [ $skipped -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ $failed -eq 0 ] && [ $passed -gt 0 ]
