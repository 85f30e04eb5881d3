# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 2400
#
# The cycle model: micro-benchmarks whose cycles were counted by hand, the reference
# kernels within their aims, how many host instructions a simulated run takes and how much memory, and kernels
# of many kinds, generated ones too, in every way there is to run them.
. tests/lib/tap.sh

work=build/check/cycles
rm -rf $work
mkdir -p $work
if ! make -j"$(nproc)" cycles fuzz-ptx-build programs >$work/build.log 2>&1; then
	tap_not_ok 'the programs build' "$(tail -n 30 $work/build.log)"
	tap_done
	exit 1
fi
cycles=build/cycles
unset GPUEMU_DATADIR
export GPUEMU_BACKEND=sim

tap_program micro 300 $cycles/micro

# --- against the reference -------------------------------------------------------------
if $cycles/validate -q -j "$(nproc)" >$work/validate 2>$work/validate.err; then
	tap_ok 'the reference kernels are within the aims'
else
	tap_not_ok 'the reference kernels are within the aims' "$(grep -E 'MISSED|WRONG|FAILED' $work/validate | cut -c1-160)
$(cat $work/validate.err)"
fi
tap_check 'every run of the reference was made' test "$(grep -c '^[a-zA-Z2_]*__' $work/validate)" -ge 45

# --- host instructions and memory ----------------------------------------------------------
# The same work takes the same instructions, to a few in a thousand (compiler and C library differ by machine).
# count RUN MILLIONS: what it took when this was written; a tenth more is too much.
count() {
	local got
	if ! valgrind --tool=callgrind --callgrind-out-file=$work/callgrind."$1" --toggle-collect=gpuemu_launch \
		$cycles/bench -1 -r tests/cycles/reference "$1" >$work/callgrind.log 2>&1; then
		tap_not_ok "host instructions of $1" "$(tail -n 5 $work/callgrind.log)"
		return
	fi
	got=$(($(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' $work/callgrind.log) / 1000000))
	tap_check "host instructions of $1: $got million, $2 when written" test "$got" -gt 0 -a "$got" -le $(($2 * 11 / 10))
}
count gto__scan_98304_0 922
count gto__histo_shared_524288_90 532
count gto__fmadep_32_2048 19
above=$($cycles/bench -1 -r tests/cycles/reference gto__gather_46080_4 | sed 's/.* \([0-9]*\) KiB above.*/\1/')
tap_check "memory above the workload's own: $above KiB" test "${above:-999999}" -lt 204800

tap_check 'Virtual Thread costs at most a quarter of the host instructions' tests/cycles/vt.sh

# --- every scheduler, configuration, number of threads ---------------------------------------
schedulers=$(sed -n 's/^X(\([a-z0-9_]*\).*/\1/p' daemon/sm/sched.def | paste -sd,)
configs=$(find configs -name '*.conf' -printf '%f\n' | sed 's/\.conf$//' | sort | paste -sd,)
tap_check 'there are schedulers and configurations' test "$(tr -cd , <<<"$schedulers$configs" | wc -c)" -ge 8
tap_program kinds 600 $cycles/robust $cycles/ptx/extra.ptx "$schedulers" "$configs"

# Generated kernels, a fresh seed each time; SEED=n runs those of n again.
seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
runner=build/differential/runner
k=$work/generated
build/differential/generate "$seed" 0 40 >$k.cu
if tests/differential/compile.sh cpu $k.cu $k.so 2>$k.log && tests/differential/compile.sh O2 $k.cu $k.ptx 2>>$k.log; then
	# ways NAME OPTION...: right on 1 and on 3 threads, and the same statistics
	ways() {
		local name=$1 threads
		shift
		rm -f $k.1.json $k.3.json
		for threads in 1 3; do
			if ! $runner --quiet --timed "$@" --set "gpu.threads=$threads" --statistics $k.$threads.json \
				$k.so "timed=$k.ptx" >$k.out 2>&1; then
				tap_not_ok "generated kernels, $name, SEED=$seed" "$threads threads: $(grep -A 1 '^not ok' $k.out | head -n 6; tail -n 2 $k.out)"
				return
			fi
		done
		tap_check "generated kernels, $name, SEED=$seed" sh -c "test -s $k.1.json && cmp $k.1.json $k.3.json"
	}
	for s in ${schedulers//,/ }; do
		ways "$s, paging off" --set "sm.scheduler=$s" --set paging.enabled=0
		ways "$s, paging on" --set "sm.scheduler=$s" --set paging.vram=65536
	done
	for c in ${configs//,/ }; do
		ways "$c" --config "$c" --set paging.enabled=0
	done
else
	tap_not_ok "generated kernels compile, SEED=$seed" "$(head -n 10 $k.log)"
fi
tap_done
