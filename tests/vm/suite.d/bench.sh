# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=200 vram_mb=64
#
# gpuemu bench fault: every figure of its report is there, is positive, and
# they agree with one another.
. tests/lib/tap.sh

tap_check 'bench fault' sh -c 'timeout 150 gpuemu bench fault --json >/tmp/bench.json'
tr -d ' \n\t' </tmp/bench.json >/tmp/flat.json
figure() { # OBJECT KEY
	sed -n "s/.*\"$1\":{\([^}]*\)}.*/\1/p" /tmp/flat.json | tr ',' '\n' | sed -n "s/^\"$2\":\([0-9.e+]*\)\$/\1/p" | head -n 1
}
positive() { awk -v x="$1" 'BEGIN { exit !(x + 0 > 0) }'; }
for key in p50 p90 p99 max count; do
	tap_check "far_fault_ns.$key" positive "$(figure far_fault_ns $key)"
done
for key in raised_to_fetched fetched_to_committed unmap copy map replay; do
	tap_check "stages_ns.$key" positive "$(figure stages_ns $key)"
done
for key in minor_fault uffd_resolve pipe_rtt memcpy_4k; do
	tap_check "yardsticks_ns.$key" positive "$(figure yardsticks_ns $key)"
done
tap_check 'percentiles ascend' awk -v a="$(figure far_fault_ns p50)" -v b="$(figure far_fault_ns p90)" \
	-v c="$(figure far_fault_ns p99)" -v d="$(figure far_fault_ns max)" 'BEGIN { exit !(a <= b && b <= c && c <= d) }'
tap_check 'ratio_uffd is the ratio' awk -v r="$(sed -n 's/.*"ratio_uffd":\([0-9.e+-]*\).*/\1/p' /tmp/flat.json)" \
	-v f="$(figure far_fault_ns p50)" -v u="$(figure yardsticks_ns uffd_resolve)" \
	'BEGIN { x = f / u; exit !(r > 0 && r > x * 0.98 && r < x * 1.02) }'
echo "# far fault p50 $(figure far_fault_ns p50) ns, uffd $(figure yardsticks_ns uffd_resolve) ns, on $GPUEMU_VIRT"
tap_done
