# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=200 vram_mb=16
#
# Workloads side by side on backend kmod, with arrivals and targets, beside another client and
# with a client that is killed in the middle. The library's own test is libgpuemu_streams.
. tests/lib/tap.sh

run() { timeout 120 gpuemu run "$@" --backend kmod; }
# of N WHAT: of the N-th workload's kernels in /tmp/out the first begin (1), the last end (2).
of() { sed -n 's/.*kernels from \([0-9]*\) to \([0-9]*\), .*/\1 \2/p' /tmp/out | sed -n "$1p" | cut -d ' ' -f "$2"; }
at_once() { [ "$(of 1 1)" -lt "$(of 2 2)" ] && [ "$(of 2 1)" -lt "$(of 1 2)" ]; }

run sgemm size=tiny + lbm size=tiny >/tmp/out 2>&1
tap_check 'two workloads side by side are right' test "$(grep -c ': verified' /tmp/out)" -eq 2
tap_check "their kernels ran at once ($(of 1 1)-$(of 1 2), $(of 2 1)-$(of 2 2))" at_once
run sgemm size=tiny + vecadd size=tiny @900000000 >/tmp/out 2>&1
tap_check "one arrives at its cycle ($(of 2 1))" test "$(of 2 1)" -ge 900000000
tap_check 'both are right' test "$(grep -c ': verified' /tmp/out)" -eq 2
run sgemm size=tiny halt=1000 + vecadd size=tiny --json /tmp/run.json >/tmp/out 2>&1
tap_check 'one is halted' grep -q '"halted": *true' /tmp/run.json
tap_check 'and the other right' grep -q '^vecadd.*: verified' /tmp/out
run vecadd size=tiny + sgemm size=tiny until=100 --json /tmp/run.json >/tmp/out 2>&1
tap_check 'one is halted at a cycle' grep -q '"halted_cycle": *1[0-9][0-9],*$' /tmp/run.json

# Two processes, each with streams, take turns.
run sgemm size=tiny + lbm size=tiny >/tmp/a 2>&1 &
other=$!
tap_check 'two processes with streams: one is right' run sgemm size=tiny + reduce size=tiny
wait $other
status=$?
tap_check 'and the other' test $status -eq 0

# Killed while its kernels run, or stand still for others; the next client is served.
gpuemu run gather n=1M pages=2048 + lbm --backend kmod --vram 64K >/tmp/long 2>&1 &
long=$!
sleep 3
kill -9 $long
wait $long
tap_check 'after one was killed in the middle others go on' run vecadd size=tiny + sgemm size=tiny
tap_done
