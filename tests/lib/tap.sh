# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# TAP for the checks of tests/check.d/ and for the VM harness: a result is
# counted where it is printed, and a program's TAP is believed only as far as
# its plan, its exit status and its results agree. Sourced, from the top of the
# tree; ends with tap_done.

tap_n=0
tap_failed=0

# In a slow VM (run.sh --slow) a test's own limits are longer, too. A program of this name in PATH would
# not do: busybox' shell prefers its own. Where a test starts `timeout` by `sh -c`, env or as another
# user, this function is not there, and the test multiplies its limit itself.
if [ "${GPUEMU_SLOW:-1}" != 1 ]; then
	timeout() {
		case $1 in
		-*) command timeout "$@" ;;
		*) tap_limit=$(($1 * GPUEMU_SLOW)) && shift && command timeout $tap_limit "$@" ;;
		esac
	}
fi

tap_ok() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}

# tap_not_ok NAME [WHY]
tap_not_ok() {
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $1"
	[ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# tap_may_skip PROGRAM REASON: has tests/skips.txt a row for it?
tap_may_skip() {
	awk -v p="$1" -v r="$2" '!/^[ \t]*(#|$)/ && $1 == p {
			sub(/^[^ \t]+[ \t]+/, ""); if (index(r, $0)) ok = 1
		} END { exit !ok }' "${TAP_SKIPS:-tests/skips.txt}"
}

# A skip counts as one only when the list allows it; else it has failed.
# tap_skip PROGRAM CASE REASON
tap_skip() {
	if tap_may_skip "$1" "$3"; then
		tap_n=$((tap_n + 1))
		echo "ok $tap_n - $1: $2 # SKIP $3"
	else
		tap_not_ok "$1: $2" "skipped, and tests/skips.txt has no row that allows it: $3"
	fi
}

# tap_check NAME COMMAND...: one case, the command's success.
tap_check() {
	tap_name=$1
	shift
	if tap_out=$("$@" 2>&1 </dev/null); then
		tap_ok "$tap_name"
	else
		tap_not_ok "$tap_name" "exit status $?
$(printf '%s\n' "$tap_out" | tail -n 30)"
	fi
}

# tap_flatten PROGRAM FILE STATUS [PROBLEM]: the cases of a program's TAP, each
# as one of ours, and one more if they do not add up.
tap_flatten() {
	tap_tmp=$(mktemp)
	awk -v status="$3" -v problem="${4:-}" -f tests/lib/tap.awk "$2" >"$tap_tmp"
	while IFS='	' read -r tap_kind tap_case tap_why; do
		case $tap_kind in
		ok) tap_ok "$1: $tap_case" ;;
		fail) tap_not_ok "$1: $tap_case" "$tap_why" ;;
		skip) tap_skip "$1" "$tap_case" "$tap_why" ;;
		diag) echo "# $tap_case" ;;
		esac
	done <"$tap_tmp"
	rm -f "$tap_tmp"
}

# tap_program NAME SECONDS COMMAND...: runs a TAP program and takes its cases.
tap_program() {
	tap_name=$1
	tap_secs=$2
	shift 2
	tap_log=$(mktemp)
	tap_status=0
	CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$tap_secs" "$@" >"$tap_log" 2>&1 </dev/null || tap_status=$?
	tap_problem=
	[ $tap_status -ne 124 ] && [ $tap_status -ne 137 ] || tap_problem="no end after $tap_secs s"
	tap_flatten "$tap_name" "$tap_log" "$tap_status" "$tap_problem"
	rm -f "$tap_log"
}

tap_done() {
	echo "1..$tap_n"
	[ "$tap_n" -gt 0 ] && [ "$tap_failed" -eq 0 ]
}
