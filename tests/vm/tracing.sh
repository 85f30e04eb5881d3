# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# In the VM: runs the one-liners of docs/tracing.md as they stand there, for 2 s instead of
# 10, beside a program that faults, and looks at what they print. Prints TAP; called by
# tests/check.d/81-tracing.sh, which puts perf and trace-cmd into the VM.
. tests/lib/tap.sh

docs=$PWD/docs/tracing.md
cd /tmp || exit 1
mkdir -p /root

while :; do timeout 60 gpuemu run gather n=4K pages=256 --backend kmod --vram 256K; done >/dev/null 2>&1 &
work=$!
until grep -q '^far_faults  *[1-9]' /tmp/stat 2>/dev/null; do gpuemu stat >/tmp/stat; done

# What is documented is what is run.
lines() { grep "^$1" "$docs"; }

# shows NAME PATTERN: the last command's output has a line of the pattern.
shows() {
	if grep -q -e "$2" /tmp/out; then tap_ok "$1"; else tap_not_ok "$1" "no '$2' in: $(tail -n 5 /tmp/out)"; fi
}
run() { timeout 60 sh -c "$(echo "$1" | sed 's/sleep 10/sleep 2/')" >/tmp/out 2>/tmp/err; }

n=0
for tool in trace-cmd perf; do
	lines "$tool record" >/tmp/lines
	while read -r line; do
		n=$((n + 1))
		run "$line" </dev/null
		case $line in
		*gpuemu:gpuemu_replay*) shows "$line" 'total_ns=[1-9]' ;;
		*gpuemu:gpuemu_migrate*) shows "$line" '[1-9][0-9]* cause=far_fault' ;;
		*) tap_not_ok "$line" 'what should it print?' ;;
		esac
		tap_check 'without a complaint' sh -c '! grep -q -i -e error -e ignoring /tmp/err'
	done </tmp/lines
done
tap_check 'there are four of them' test $n -eq 4

lines 'echo .hist' >/tmp/lines
while read -r line; do
	file=${line##* }
	sh -c "$line" && sleep 2 && cat "${file%trigger}hist" >/tmp/out
	shows "$line" '[1-9][0-9]*$'
	shows 'with a total' 'Hits: [1-9]'
	sh -c "$(echo "$line" | sed "s/'hist/'!hist/")"
done </tmp/lines
kill $work
tap_done
