# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# For tests in the VM that start gpuemud themselves. Sourced after tap.sh.

daemon_log=/tmp/gpuemud.log

# daemon_start OPTION...: in this shell, whose child the daemon is: $daemon is its process id.
daemon_start() {
	# The log of the daemon before says that it attached: this shell empties it, because the
	# child does so only when it runs, which can be after the first look.
	: >$daemon_log
	gpuemud "$@" >$daemon_log 2>&1 &
	daemon=$!
	daemon_n=0
	# On a busy host the guest's clock runs ahead of what the guest does, so the limit is long.
	until grep -q '^gpuemud: attached' $daemon_log; do
		daemon_n=$((daemon_n + 1))
		[ $daemon_n -lt 600 ] && kill -0 $daemon 2>/dev/null || return 1
		usleep 100000
	done
}

# daemon_starts NAME OPTION...: that as a case. A daemon that ended has said why.
daemon_starts() {
	daemon_name=$1
	shift
	if daemon_start "$@"; then
		tap_ok "$daemon_name"
	else
		kill -0 $daemon 2>/dev/null && daemon_is='it runs' || daemon_is='it has ended'
		tap_not_ok "$daemon_name" "$daemon_is; it said: $(cat $daemon_log)"
	fi
}
