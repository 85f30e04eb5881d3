# SPDX-License-Identifier: GPL-2.0
#
# vm: daemon timeout=400 vram_mb=16 fault_entries=64
#
# The daemon under each replay policy, with whole batches and with small ones of a
# small fault buffer: results are verified byte for byte, and the counters say
# that the policy was followed.
. tests/lib/tap.sh

value() { gpuemu stat --json | sed -n "s/^ *\"$1\": *\([0-9]*\),*\$/\1/p" | head -n 1; }
run() { timeout 120 gpuemu run "$@" --backend kmod --json /tmp/run.json; }

# policy NUMBER NAME
policy() {
	for batch in 256 7; do
		gpuemu stat --set replay_policy="$1"
		gpuemu stat --set fault_batch=$batch
		gpuemu stat --reset
		tap_check "$2, batches of $batch: set" test \
			"$(cat /sys/module/gpuemu/parameters/replay_policy /sys/module/gpuemu/parameters/fault_batch | tr '\n' ' ')" = "$1 $batch "
		tap_check "$2, batches of $batch: vecadd" run vecadd n=16K
		tap_check "$2, batches of $batch: gather, evicting" run gather size=tiny --vram 32K
		tap_check "$2, batches of $batch: stencil" run stencil size=tiny
		tap_check "$2, batches of $batch: verified" grep -q '"verified": *true' /tmp/run.json
		tap_check "$2, batches of $batch: two clients" sh -c '
			gpuemu run vecadd --backend kmod --vram 256K >/tmp/a 2>&1 & a=$!
			gpuemu run reduce --backend kmod --vram 256K >/tmp/b 2>&1; b=$?
			wait $a && [ $b -eq 0 ] || { cat /tmp/a /tmp/b; exit 1; }'
		batches=$(value batches) replays=$(value replays) flushed=$(value faults_flushed)
		echo "# $2, batches of $batch: $batches batches, $replays replays, $flushed records flushed"
		case $1 in
		3) [ $batch = 256 ] || tap_check "$2: fewer replays than batches" test "$replays" -lt "$batches" ;;
		*) tap_check "$2: a replay a batch" test "$replays" -eq "$batches" ;;
		esac
		case $1$batch in
		27) tap_check "$2: records were flushed" test "$flushed" -gt 0 ;;
		1*) tap_check "$2: nothing is flushed" test "$flushed" -eq 0 ;;
		esac
	done
}

policy 0 block
policy 1 batch
policy 2 batch_flush
policy 3 once
tap_done
