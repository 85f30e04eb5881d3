# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 1800
#
# 500 generated kernels with a fresh seed against the CPU. SEED=n runs those of n again;
# `make fuzz-ptx` goes on with others. What differs is kept in build/differential/failed/.
. tests/lib/tap.sh

if ! make -j"$(nproc)" fuzz-ptx-build >build/check/generated.log 2>&1; then
	tap_not_ok 'the runner and the generator build' "$(tail -n 30 build/check/generated.log)"
	tap_done
	exit 1
fi
seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
tests/differential/fuzz.sh build/differential '' "$seed" 500 >build/check/generated.out 2>&1
status=$?
if [ $status -eq 0 ] && grep -qx "500 passed, 0 failed, SEED=$seed" build/check/generated.out; then
	tap_ok "500 generated kernels, SEED=$seed"
else
	tap_not_ok "500 generated kernels, SEED=$seed" "status $status
$(tail -n 40 build/check/generated.out)"
fi

# What a seed chooses is computed in 64 bits; the largest seeds made it negative once.
tests/differential/fuzz.sh build/differential '' 4294967295 2 >build/check/generated.largest 2>&1
tap_check 'the largest seed' grep -qx '2 passed, 0 failed, SEED=4294967295' build/check/generated.largest

# The same seed makes the same kernels, and another does not.
generate=build/differential/generate
$generate "$seed" 0 20 >build/check/generated.a
$generate "$seed" 0 20 >build/check/generated.b
tap_check 'a seed is a seed' cmp build/check/generated.a build/check/generated.b
$generate "$((seed + 1))" 0 20 | tail -n +5 >build/check/generated.b
tap_check 'another seed, other kernels' sh -c '! tail -n +5 build/check/generated.a | cmp -s - build/check/generated.b'
$generate "$seed" 7 1 >build/check/generated.b
tap_check 'a kernel does not depend on its file' sh -c 'grep -qFx "$(grep "^CASE(g7," build/check/generated.b)" build/check/generated.a'
tap_done
