# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# lane: vm
#
# The one-liners of docs/tracing.md for perf and trace-cmd, in the VM. With one CPU: what
# enables a tracepoint patches the kernel's text, which emulated CPUs do not always survive.
. tests/lib/tap.sh

perf=$(command -v perf) tracecmd=$(command -v trace-cmd)
if [ -z "$perf" ] || [ -z "$tracecmd" ]; then
	tap_not_ok 'perf and trace-cmd are installed' 'scripts/deps.sh check installs them'
	tap_done
	exit
fi
make -j"$(nproc)" vm-ready >build/check/vm-ready.log 2>&1
tests/vm/run.sh --smp 1 --timeout 200 --file "$perf" --file "$tracecmd" -- \
	sh tests/vm/tracing.sh >build/check/tracing.tap 2>build/check/tracing.err
status=$?
grep -v '^1\.\.' build/check/tracing.tap
tap_n=$(grep -c -E '^(not )?ok ' build/check/tracing.tap)
tap_failed=$(grep -c '^not ok ' build/check/tracing.tap)
[ $status -eq 0 ] || [ "$tap_failed" -gt 0 ] || tap_not_ok 'the VM ran them' "status $status: $(tail -n 3 build/check/tracing.err)"
[ "$tap_n" -gt 0 ] || tap_not_ok 'there was something to run'
tap_done
