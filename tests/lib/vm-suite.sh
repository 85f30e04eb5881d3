# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The VM suite inside a check: kernel tests and shell tests, in one boot. Sourced
# after tap.sh; used by 80-vm.sh and, for each kernel, by tests/lib/kernel.sh.

# vm_suite NAME OPTION... [--names TEST...]: builds what the suite runs, runs it with run.sh's
# options, or those tests of it, and takes its cases as they are. NAME is its logs' in build/check/.
vm_suite() {
	local log=build/check/vm-suite-$1 status n failed options=()
	shift
	while [ $# -gt 0 ] && [ "$1" != --names ]; do
		options+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	# The other lane's checks have the same niceness, and time limits.
	if ! nice -n 5 make -j"$(nproc)" vm-ready >build/check/vm-ready.log 2>&1; then
		tap_not_ok 'module, programs and kernel tests build' "$(tail -n 30 build/check/vm-ready.log)"
		return
	fi
	tests/vm/run.sh "${options[@]}" --suite "$@" >"$log.tap" 2>"$log.err"
	status=$?
	[ ! -s "$log.err" ] || tail -n 20 "$log.err" >&2
	cp build/vm/last/console "$log.console"
	n=$(grep -c -E '^(not )?ok ' "$log.tap")
	failed=$(grep -c '^not ok ' "$log.tap")
	# The suite prints our TAP, which only needs our numbers.
	grep -v '^1\.\.' "$log.tap" | awk -v n="$tap_n" '/^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) } { print }'
	tap_n=$((tap_n + n)) tap_failed=$((tap_failed + failed))
	[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || tap_not_ok 'the suite ran' "status $status: $(tail -n 3 "$log.err")"
}
