# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Policies in objects of their own, in sim: the examples, built as gpuemu-policy(7) says
# against what is installed, report what the built-in rows report, byte for byte; one that
# misbehaves is said in one line, the run goes on and its results verify; one that cannot be
# loaded is refused.
. tests/lib/tap.sh

work=$PWD/build/check/policy
rm -rf "$work"
mkdir -p "$work"
make -j"$(nproc)" programs policies >"$work/build.log" 2>&1 ||
	tap_not_ok 'programs and policies build' "$(tail -n 20 "$work/build.log")"
gpuemu=$PWD/build/bin/gpuemu
bad=$PWD/build/tests/policy/bad.so
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_VIRT
export GPUEMU_BACKEND=sim
. tests/lib/cli.sh

# --- the page's own lines -------------------------------------------------------
tap_check 'make install' make install DESTDIR="$work/root"
export PKG_CONFIG_PATH=$work/root/usr/local/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
cp "$work"/root/usr/local/share/gpuemu/examples/policy/*.c "$work/" || tap_not_ok 'the examples are installed'
page=$work/root/usr/local/share/man/man7/gpuemu-policy.7
sed -n 's/\\-/-/g; s/^cc /gcc -Werror /p' "$page" >"$work/build.sh"
tap_check 'two lines build the examples' test "$(wc -l <"$work/build.sh")" -eq 2
tap_check 'they do' sh -c "cd '$work' && sh -e build.sh && test -e fifo.so && test -e ahead.so"
# As a test of the Makefile lines: their text, with the page's escapes undone.
sed -n '/^CFLAGS += /,/^\.EE/{/^\.EE/d; s/\\-/-/g; p}' "$page" >"$work/Makefile"
tap_check 'so do those of the Makefile' make -C "$work" -B ahead.so fifo.so
sed -n 's/\\-/-/g; s/^gpuemu run /run /p' "$page" | grep '^run vecadd' >"$work/run.sh"
tap_check 'two lines run them' test "$(wc -l <"$work/run.sh")" -eq 2
tap_check 'they do' sh -c "cd '$work' && run() { '$gpuemu' run \"\$@\"; } && . ./run.sh"
tap_check 'the counters are in the report' grep -q '"passed_over": [0-9]' "$work/report.json"
tap_check 'the header is C++ too' sh -c "echo '#include <gpuemu_policy.h>' |
	clang-14 -x c++ -Wall -Werror -fsyntax-only \$(pkg-config --cflags gpuemu) -"

# --- the same as the rows that they mirror ----------------------------------------
# What a report says of policies by name is all that may differ.
plain() {
	steady "$1" | sed -E -e '/"policy": /d' -e '/"paging\.(prefetch|evict)"/d' -e '/"counters": \{/,/\}/d' \
		-e '/"settings": \{/,/\}/s/,$//'
}
same() { # WORKLOAD NAME ROWS... -- OBJECTS...
	workload=$1 name=$2
	shift 2
	rows=()
	while [ "$1" != -- ]; do rows+=("$1"); shift; done
	shift
	timeout 120 "$gpuemu" run "$workload" --vram 256K "${rows[@]}" --json "$work/row.json" >"$work/row.txt" 2>&1 || :
	timeout 120 "$gpuemu" run "$workload" --vram 256K "$@" --json "$work/object.json" >"$work/object.txt" 2>"$work/err" || :
	if [ -s "$work/object.json" ] && [ ! -s "$work/err" ] && grep -q '"far_faults": [1-9]' "$work/object.json" &&
		[ "$(plain "$work/row.json")" = "$(plain "$work/object.json")" ]; then
		tap_ok "$workload: $name"
	else
		tap_not_ok "$workload: $name" "$(cat "$work/err"; diff <(plain "$work/row.json") <(plain "$work/object.json") | head -n 20)"
	fi
}
for workload in vecadd gather stride; do
	same $workload 'ahead.so is sequential' --prefetch sequential -- --prefetch "$work/ahead.so"
	same $workload 'ahead.so:pages=3 is sequential:pages=3' --prefetch sequential:pages=3 -- --prefetch "$work/ahead.so:pages=3"
	same $workload 'fifo.so is fifo' --evict fifo -- --evict "$work/fifo.so"
	same $workload 'both' --prefetch sequential --evict fifo -- --prefetch "$work/ahead.so" --evict "$work/fifo.so"
	same $workload 'a plain one that does nothing is none' --prefetch none -- --prefetch "$bad"
done
same vecadd 'twice the same' --prefetch "$work/ahead.so" --evict "$work/fifo.so" -- --prefetch "$work/ahead.so" --evict "$work/fifo.so"
# Two processes that are told the same. The eviction policy is never asked; what waits for it
# in the end is told all the same.
timeout 60 "$gpuemu" run vecadd --vram 64M --prefetch "$bad" --evict "$bad" --json "$work/both.json" >"$work/out" 2>&1
touches=$(sed -n 's/.*"touches": *\([0-9]*\).*/\1/p' "$work/both.json" | tr '\n' ' ')
tap_check 'counters are whole' sh -c "set -- $touches; [ \$# -eq 2 ] && [ \$1 -gt 0 ] && [ \$1 -eq \$2 ]"
tap_check 'another VRAM, another report' sh -c "! cmp -s '$work/row.json' '$work/report.json'"

# --- what misbehaves -----------------------------------------------------------------
# fails KIND HOW: the numbers are not the policy's, so the exit status says so, and what to do.
fails() {
	status=0
	timeout 60 "$gpuemu" run gather n=4K pages=256 --vram 256K --"$1" "$bad:how=$2" >"$work/out" 2>"$work/err" || status=$?
	if [ $status -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 2 ] && grep -q 'goes on with' "$work/err" &&
		grep -q 'policy-failure=fall-back' "$work/err"; then
		tap_ok "$1 how=$2 fails the run"
	else
		tap_not_ok "$1 how=$2 fails the run" "status $status: $(cat "$work/err"; head -n 3 "$work/out")"
	fi
}
fails prefetch 2
fails prefetch 3
fails evict 3
# goes_on KIND HOW TEXT [OPTION...]: verified, and one line on stderr that has TEXT.
goes_on() {
	status=0
	timeout 60 "$gpuemu" run gather n=4K pages=256 --vram 256K --"$1" "$bad:how=$2" --policy-failure=fall-back "${@:4}" >"$work/out" 2>"$work/err" || status=$?
	if [ $status -eq 0 ] && grep -q ': verified' "$work/out" && [ "$(wc -l <"$work/err")" -eq 1 ] &&
		grep -qF -e "$3" "$work/err"; then
		tap_ok "$1 how=$2: $3"
	else
		tap_not_ok "$1 how=$2: $3" "status $status: $(cat "$work/err"; head -n 3 "$work/out")"
	fi
}
goes_on prefetch 1 'took longer than 1000 ms (paging.policy_ms) in on_batch(); the run goes on with none'
goes_on prefetch 2 'crashed with signal 11 (Segmentation fault) in on_batch(); the run goes on with none'
goes_on prefetch 3 'ended itself with exit status 3 in on_batch(); the run goes on with none'
goes_on prefetch 4 'were left out'
goes_on prefetch 6 'were left out'
goes_on prefetch 7 'took longer than 1000 ms (paging.policy_ms) in on_touch()'
goes_on prefetch 20 'said what makes no sense'
goes_on evict 1 'took longer than 1000 ms (paging.policy_ms) in pick(); the run goes on with lru'
goes_on evict 1 'took longer than 200 ms (paging.policy_ms) in pick()' --set paging.policy_ms=200
goes_on evict 2 'crashed with signal 11 (Segmentation fault) in pick(); the run goes on with lru'
goes_on evict 3 'ended itself with exit status 3 in pick(); the run goes on with lru'
goes_on evict 4 'were left out'
goes_on evict 5 'were left out'
goes_on evict 6 'were left out'
goes_on evict 9 'insert() failed'
goes_on evict 13 'named no page in pick()'
goes_on evict 18 'was killed or closed the connection'
does 'verified' run gather n=4K pages=256 --vram 256K --evict "$bad:how=15" --prefetch "$bad:how=15"
does 'verified' run gather n=4K pages=256 --vram 256K --evict "$bad:how=16"
left=$(for at in /proc/[0-9]*/cmdline; do
	[ "$(tr '\0' ' ' 2>/dev/null <"$at")" != "gpuemu-policy-host $bad " ] || echo "$at"
done)
tap_check 'no process is left' test -z "$left"

# --- what is not loaded -----------------------------------------------------------------
refused 1 'No such file' run vecadd --prefetch ./no-such.so
refused 2 "has no option 'hw'; it has: how" run vecadd --prefetch "$bad:hw=1"
refused 2 "a number from 0 to" run vecadd --evict "$bad:how=99"
refused 2 'policy ABI 77, and this gpuemu has 1' run vecadd --prefetch build/tests/policy/abi.so
refused 2 'exports no gpuemu_evict: it is a policy for --prefetch' run vecadd --evict "$work/ahead.so"
refused 2 'exports no gpuemu_prefetch' run vecadd --prefetch build/tests/policy/empty.so
refused 2 'is no word' run vecadd --prefetch build/tests/policy/names.so
refused 2 'invalid ELF header' run vecadd --evict ./README.md
refused 1 'create() failed: Function not implemented' run vecadd --evict "$bad:how=10"
refused 2 'in create()' run vecadd --evict "$bad:how=11"
if build/bin/gpuemud --policy ./no-such.so >"$work/out" 2>"$work/err"; then
	tap_not_ok 'gpuemud --policy of nothing'
else
	tap_check 'gpuemud --policy of nothing' grep -q "^gpuemud: --policy './no-such.so': No such file" "$work/err"
fi
tap_done
