# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=150 vram_mb=16
#
# gpuemu stat and gpuemu events on a real run: what they say agrees with what
# was run and with each other; what is not allowed is refused in one line.
. tests/lib/tap.sh

# value FILE NAME: the device's, which come first.
value() { sed -n "s/^ *\"$2\": *\([0-9]*\),*\$/\1/p" "$1" | head -n 1; }
same() { [ -n "$1" ] && [ "$1" = "$2" ]; }
# refused STATUS TEXT COMMAND...: one line on stderr that holds TEXT.
refused() {
	want=$1 text=$2
	shift 2
	timeout 20 "$@" >/tmp/out 2>/tmp/err
	status=$?
	if [ $status -eq "$want" ] && [ "$(wc -l </tmp/err)" -eq 1 ] && grep -q -e "$text" /tmp/err; then
		tap_ok "refused: $*"
	else
		tap_not_ok "refused: $*" "status $status (expected $want, '$text'): $(cat /tmp/err)"
	fi
}
nobody='/usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups'

gpuemu stat --json >/tmp/before
gpuemu events --count 2 --timeout 60 --json >/tmp/events &
events=$!
sleep 1
tap_check 'a run' sh -c 'gpuemu run vecadd --backend kmod --json - >/tmp/run'
gpuemu stat --json >/tmp/after
wait $events
tap_check 'events ended with its count' test $? -eq 0

tap_check 'the far faults are those that the run reports' \
	same "$(value /tmp/after far_faults)" "$(value /tmp/run far_faults)"
tap_check 'what is on the device came and did not go' same \
	"$(value /tmp/after resident_pages)" 0
tap_check 'batches were replayed' same "$(value /tmp/after batches)" "$(value /tmp/after replays)"
tap_check 'works were done' same "$(value /tmp/after works_queued)" "$(value /tmp/after works_done)"
tap_check 'one more file was opened' same "$(value /tmp/after clients_opened)" \
	$(($(value /tmp/before clients_opened) + 1))
tap_check 'two events were numbered' same "$(value /tmp/after events)" \
	$(($(value /tmp/before events) + 2))
tap_check 'a client opened' sh -c 'head -n 1 /tmp/events | grep -q "\"event\":\"client-opened\""'
tap_check 'and closed' sh -c 'tail -n 1 /tmp/events | grep -q "\"event\":\"client-closed\""'
tap_check 'nothing was missed' sh -c '! grep -v "\"missed\":0" /tmp/events'

tap_check 'stat as text' sh -c 'gpuemu stat >/tmp/out && grep -q "^far_faults  *[1-9]" /tmp/out && grep -q gpuemud /tmp/out'
tap_check 'stat --watch' sh -c 'gpuemu stat --watch 0.1 --count 3 >/tmp/out && [ $(wc -l </tmp/out) -eq 4 ]'
tap_check 'stat --watch --json' sh -c 'gpuemu stat --watch 0.1 --count 2 --json >/tmp/out && [ $(grep -c "^{\"time_ns\".*}\$" /tmp/out) -eq 2 ]'
tap_check 'stat --set' sh -c 'gpuemu stat --set invalidate_timeout_ms=700 && [ $(cat /sys/module/gpuemu/parameters/invalidate_timeout_ms) -eq 700 ]'
tap_check 'stat --params' sh -c 'gpuemu stat --params | grep -q "^invalidate_timeout_ms  *700  settable"'
gpuemu stat --reset
gpuemu stat --json >/tmp/after
tap_check 'stat --reset' same "$(value /tmp/after far_faults)" 0
tap_check 'events --timeout' sh -c 'timeout 5 gpuemu events --timeout 0.2'

refused 1 'outside' gpuemu stat --set invalidate_timeout_ms=1
refused 1 'no parameter' gpuemu stat --set no_such=1
refused 1 'loaded' gpuemu stat --set vram_mb=32
refused 1 'no such VA space' gpuemu stat --blocks 4000000
refused 1 '0 of 1 events' gpuemu events --count 1 --timeout 0.1
refused 1 'root' $nobody gpuemu stat --set invalidate_timeout_ms=800
refused 1 'root' $nobody gpuemu stat --reset
refused 1 'root' $nobody gpuemu stat --blocks 1
refused 1 'first network namespace' unshare -n gpuemu stat
tap_check 'anybody may look' $nobody gpuemu stat
tap_check 'at the own clients alone' sh -c '! /usr/bin/setpriv --reuid 65534 --clear-groups gpuemu stat | grep -q gpuemud'

# Of measured far faults the stages are the latency, to the nanosecond; the handler's own parts took time.
. tests/lib/faults.sh
for b in kmod uffd; do
	gpuemu run bfs size=tiny --backend $b --vram 64K --faults /tmp/faults.$b >/tmp/run.$b 2>&1
	adds_up /tmp/faults.$b >/tmp/sums
	read -r lines bad all </tmp/sums
	tap_check "$b: the stages of $lines far faults are their latency, $all ns together" test "$lines" -gt 20 -a "$bad" -eq 0
	tap_check "$b: each was handled in measured time" awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "unmap_ns") u = i }
		NR > 1 && $u > 0 { n++ } END { exit !(n > 20) }' /tmp/faults.$b
done
tap_done
