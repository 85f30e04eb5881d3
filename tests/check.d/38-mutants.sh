# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The list of faults that `make mutants` plants: each one's text is in its file, exactly once. And
# the runner's own test: in a small tree of two tests it tells what is caught from
# what survives, does not build, or is no longer there.
. tests/lib/tap.sh

tap_program mutants 60 tests/mutants/run.sh --check

work=$PWD/build/check/mutants
rm -rf "$work"
mkdir -p "$work/tree/tests/unit" "$work/lists"
export MUTANTS_TREE=$work/tree MUTANTS_LISTS=$work/lists MUTANTS_COPY=$work/copy JOBS=1
printf 'int one(void)\n{\n\treturn 1;\n}\n\nint two(void)\n{\n\treturn 2;\n}\n' >"$work/tree/a.c"
printf 'int one(void);\nint main(void)\n{\n\treturn one() != 1;\n}\n' >"$work/tree/tests/unit/test_a.c"
printf 'build/tests/unit/test_a: a.c tests/unit/test_a.c\n\tmkdir -p $(@D)\n\t$(CC) -o $@ $^\n' >"$work/tree/Makefile"

# expect NAME STATUS TEXT ARGUMENT...: the runner ends so and says that.
expect() {
	local name=$1 want=$2 text=$3 got status=0

	shift 3
	got=$(tests/mutants/run.sh "$@" 2>&1) || status=$?
	if [ $status -eq "$want" ] && [[ $got == *"$text"* ]]; then
		tap_ok "$name"
	else
		tap_not_ok "$name" "status $status: $got"
	fi
}
# fault OLD NEW: the list has this fault alone.
fault() {
	printf '@ a.c test_a number\n-%s\n+%s\n' "$1" "$2" >"$work/lists/a.txt"
}
fault 'return 1;' '	return 3;'
expect 'a fault that the test notices' 0 '1 of 1 faults were caught'
fault '	return 2;' '	return 4;'
expect 'a fault that survives' 1 'SURVIVED: test_a passes with it'
fault 'return 1;' '	return none;'
expect 'a fault that does not build' 1 'with the fault it does not build'
fault 'return 5;' '	return 1;'
expect 'text that is gone' 1 'ERROR: '
expect 'text that is gone, before anything is built' 1 'is there 0 times' --check
fault '{' '	{'
expect 'text that is there twice' 1 'is there 2 times' --check
fault 'return 1;' '	return 1;'
expect 'a fault that is none' 1 'it changes nothing' --check
fault 'return 1;' '	return 3;'
expect 'a word that no fault has' 1 'no fault has one of the words' nothing
printf 'int main(void)\n{\n\treturn 1;\n}\n' >"$work/tree/tests/unit/test_a.c"
expect 'a test that fails without a fault' 1 'without a fault test_a fails already'
tap_done
