#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make mutants: plants each fault of tests/mutants/*.txt, one at a time, in a copy of the tree, builds the
# unit test that the list names and runs it. The test must fail: a fault that it does not
# notice survived. Prints a TAP line a fault and a sum.
#
#   run.sh [WORD...]        the faults whose head line has one of the words
#   run.sh --list           the head lines
#   run.sh --check          plants each without building: is its text still there, exactly once?
#
# MUTANTS_TREE (where the sources are, .), MUTANTS_LISTS (tests/mutants) and MUTANTS_COPY
# (build/mutants/tree) are for the runner's own test. The copy keeps its build from one run to the next.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

tree=${MUTANTS_TREE:-.}
lists=${MUTANTS_LISTS:-tests/mutants}
copy=${MUTANTS_COPY:-build/mutants/tree}
jobs=${JOBS:-$(nproc)}
limit=60
plant=tests/mutants/plant.awk
unset MAKEFLAGS MAKELEVEL MFLAGS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A line a fault: list, number in it, file, test, what is wrong; apart by tabs.
heads() {
	awk 'FNR == 1 { n = 0 }
		/^@ / {
			n++
			what = $0
			sub(/^@ [^ ]+ [^ ]+ ?/, "", what)
			print FILENAME "\t" n "\t" $2 "\t" $3 "\t" what
		}' "$lists"/*.txt
}

# chosen WORD...: the heads with one of the words; all without one.
chosen() {
	heads | words=$(printf '%s\n' "$@") awk 'BEGIN { n = split(ENVIRON["words"], w, "\n"); n -= n && w[n] == "" }
		{ take = !n; for (i = 1; i <= n; i++) take = take || index($0, w[i]); if (take) print }'
}

check() {
	while IFS=$'\t' read -r list n file test what; do
		if [ ! -f "$tree/$file" ]; then
			tap_not_ok "$file: $what" "$list: there is no $file"
		elif [ ! -f "$tree/tests/unit/$test.c" ]; then
			tap_not_ok "$file: $what" "$list: there is no tests/unit/$test.c"
		elif [ -z "$what" ]; then
			tap_not_ok "$file: number $n" "$list: the head says nothing of what is wrong"
		elif ! awk -v list="$list" -v n="$n" -f $plant "$tree/$file" >"$log.c" 2>"$log"; then
			tap_not_ok "$file: $what" "$list: $(cat "$log")"
		elif cmp -s "$log.c" "$tree/$file"; then
			tap_not_ok "$file: $what" "$list: it changes nothing"
		else
			tap_ok "$file: $what"
		fi
	done < <(heads)
	rm -f "$log.c"
	tap_done
}

sources() {
	if [ "$tree" = . ]; then
		git ls-files -co --exclude-standard
	else
		(cd "$tree" && find . -type f -printf '%P\n')
	fi
}

# A file that differs gets a new time: an object with a fault in it never passes for one without.
make_copy() {
	mkdir -p "$copy/build"
	sources | while IFS= read -r f; do [ ! -f "$tree/$f" ] || echo "$f"; done | sort >"$log"
	(cd "$copy" && find . -path ./build -prune -o ! -type d -printf '%P\n') | sort | comm -13 "$log" - |
		while IFS= read -r f; do rm -f "$copy/$f"; done
	while IFS= read -r f; do
		cmp -s "$tree/$f" "$copy/$f" && continue
		mkdir -p "$copy/$(dirname "$f")" && cp "$tree/$f" "$copy/$f" || return
		chmod --reference="$tree/$f" "$copy/$f"
	done <"$log"
	# The packages have been asked for.
	cp -p build/deps-*.stamp "$copy/build/" 2>/dev/null || :
}

program() {
	echo "build/tests/unit/$1"
}

# 0: it passes.
run_test() {
	(cd "$copy" && timeout -k 5 $limit "$(program "$1")" >"$log" 2>&1 </dev/null)
}

build() {
	make -s -C "$copy" -j"$jobs" "$@" >"$log" 2>&1 </dev/null
}

# The fault is in the copy: what does the test say?
judge() {
	local status=0

	if ! build "$(program "$test")"; then
		tap_not_ok "$file: $what" "with the fault it does not build:
$(grep -m 5 -E 'error|warning' "$log")"
		return
	fi
	run_test "$test" || status=$?
	case $status in
	0) tap_not_ok "$file: $what" "SURVIVED: $test passes with it ($list, number $n)" ;;
	124 | 137) tap_ok "$file: $what ($test: no end after $limit s)" ;;
	*) tap_ok "$file: $what ($test$(sed -n 's/^\[  FAILED  \] \(test_.*\)$/: \1/p' "$log" | head -n 1))" ;;
	esac
}

case ${1:-} in
--check) check && exit || exit ;;
--list) heads | cut -f 3- && exit || exit ;;
esac
rows=$(chosen "$@")
[ -n "$rows" ] || {
	echo "mutants: no fault has one of the words: $*"
	exit 1
}
make_copy || exit 1
mapfile -t tests < <(cut -f 4 <<<"$rows" | sort -u)
programs=()
for t in "${tests[@]}"; do programs+=("$(program "$t")"); done
echo "# building ${#tests[@]} tests in $copy"
# Tests of the GPU's and the tools' room read compiled kernels.
targets=("${programs[@]}")
[[ " ${tests[*]} " != *\ test_@(gpu|libgpuemu|tools|workloads)_* ]] || targets+=(ptx)
build "${targets[@]}" || {
	echo 'mutants: without a fault the tests do not build:'
	tail -n 20 "$log"
	exit 1
}
for t in "${tests[@]}"; do
	run_test "$t" || {
		echo "mutants: without a fault $t fails already:"
		tail -n 20 "$log"
		exit 1
	}
done
while IFS=$'\t' read -r list n file test what; do
	if ! awk -v list="$list" -v n="$n" -f $plant "$tree/$file" >"$copy/$file.planted" 2>"$log"; then
		rm -f "$copy/$file.planted"
		tap_not_ok "$file: $what" "ERROR: $list: $(cat "$log")"
		continue
	fi
	mv "$copy/$file.planted" "$copy/$file"
	judge
	# Newer than the objects that have the fault in them.
	cp "$tree/$file" "$copy/$file"
done <<<"$rows"
echo "# $((tap_n - tap_failed)) of $tap_n faults were caught"
tap_done
