# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon icount timeout=600 vram_mb=64
#
# gpuemu bench bars, with a clock that counts instructions: what the paths of far faults
# are long, the same on every machine and however busy it is, so the bars hold as they
# are. Copies are not measured so: their time is memory's, and two CPUs' at a time.
. tests/lib/tap.sh

tap_check 'bench bars' sh -c 'gpuemu bench bars --json >/tmp/bars.json'
tr -d ' \n\t' </tmp/bars.json >/tmp/bars.flat
bar() { # KEY below|atleast LIMIT
	ratio=$(sed -n "s/.*\"$1\":{\"what\":\"[^\"]*\",\"ratio\":\([0-9.]*\),.*/\1/p" /tmp/bars.flat)
	tap_check "$1, ${ratio:-not measured}, is $2 $3" awk -v x="${ratio:-0}" -v how="$2" -v limit="$3" \
		'BEGIN { exit !(x > 0 && (how == "below" ? x < limit : x >= limit)) }'
}
bar fault below 0.8
# Its bar is 0.1 by the clock. Instructions are 0.0985 to 0.1003 (docs/performance.md).
bar batch below 0.105
bar cpu_fault below 4
bar clients atleast 0.995

# 202 thousand counted; less if a client's time has more than its far faults in it.
tap_check 'bench clients' sh -c 'gpuemu bench clients --json >/tmp/clients.json'
rate=$(tr -d ' \n\t' </tmp/clients.json | sed -n 's/.*"faults_per_second":{"1":\([0-9]*\).*/\1/p')
tap_check "a client alone, ${rate:-no} far faults a second, has 180000" test "${rate:-0}" -ge 180000
tap_done
