#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The demo on the machine this runs on: loads MODULE, starts gpuemud, runs
# scripts/demo-run.sh and puts all of it away again, however it ends.
# demo-host.sh MODULE, with the programs on PATH. Called by scripts/demo.sh, and
# in the VM by tests/check.d/80-vm.sh.
set -eu
die() { echo "demo: $*" >&2; exit 1; }

log=$(mktemp)
daemon=
cleanup() {
	[ -z "$daemon" ] || { kill "$daemon" && wait "$daemon" || :; } 2>/dev/null
	# A ring's last reference goes a moment after its process.
	n=0
	while [ -e /sys/module/gpuemu ] && ! rmmod gpuemu 2>"$log"; do
		n=$((n + 1))
		[ $n -lt 50 ] || { echo "demo: gpuemu.ko stays loaded: $(cat "$log")" >&2; break; }
		sleep 0.1
	done
	rm -f "$log"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
insmod "$1" vram_mb=64 2>"$log" ||
	die "this kernel does not take modules: $(head -n 1 "$log")"
gpuemud 2>"$log" &
daemon=$!
n=0
until grep -q '^gpuemud: attached' "$log"; do
	kill -0 $daemon 2>/dev/null || die "gpuemud ended: $(tail -n 1 "$log")"
	n=$((n + 1))
	[ $n -lt 100 ] || die 'gpuemud did not attach in 10 s'
	sleep 0.1
done
sh scripts/demo-run.sh
