# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The instruction set, every form of it tried: what is taken is PTX (or in the list of what
# is taken on purpose), what is PTX is never refused as if it were not, and
# docs/instructions.md says what is so. Where ptxas is, the list of what PTX is, too.
. tests/lib/tap.sh

work=build/check/isa
mkdir -p $work
isa=build/tests/isa/isa
if ! make -j"$(nproc)" isa >$work/build.log 2>&1; then
	tap_not_ok 'the table program builds' "$(tail -n 20 $work/build.log)"
	tap_done
	exit 1
fi
$isa compare tests/isa/legal.txt tests/isa/lax.txt >$work/compare 2>&1
status=$?
tried=$(sed -n 's/^# \([0-9]*\) forms tried.*/\1/p' $work/compare)
supported=$(sed -n 's/.* are PTX: \([0-9]*\) supported.*/\1/p' $work/compare)
if [ $status -eq 0 ]; then
	tap_ok 'PTX and nothing else is taken'
else
	tap_not_ok 'PTX and nothing else is taken' "$(sed '/^# PTX, not supported/,/^#/{/^# PTX, not/d;/^[^#]/d}' $work/compare | tail -n 40)"
fi
tap_check 'the forms were tried' test "${tried:-0}" -gt 100000
tap_check 'most of PTX is supported' test "${supported:-0}" -gt 4500
$isa table tests/isa/legal.txt >$work/instructions.md 2>$work/table.err
tap_check 'docs/instructions.md is what `make isa-table` writes' diff -u docs/instructions.md $work/instructions.md

# A row of a table that no form tries is one nobody looked at. Those with _ are in no text.
missing=
for name in $(sed -n 's/^X(\([a-z0-9][a-z0-9_]*\),.*/\1/p' daemon/ptx/opcodes.def daemon/ptx/refused.def); do
	$isa names | grep -qx "$name" || missing="$missing $name"
done
if [ -z "$missing" ]; then tap_ok 'every instruction is tried'; else tap_not_ok 'every instruction is tried' "$missing"; fi

# The checker's own test: a form taken from the lists must be missed.
grep -v '^add' tests/isa/legal.txt >$work/less
$isa compare $work/less tests/isa/lax.txt >$work/missed
status=$?
if [ $status -eq 1 ] && grep -A 1 '^# taken, but not PTX' $work/missed | grep -q '^add'; then
	tap_ok 'what is taken and not PTX is found'
else
	tap_not_ok 'what is taken and not PTX is found' "status $status: $(head -n 5 $work/missed)"
fi
tap_done
