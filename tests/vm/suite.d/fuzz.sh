# SPDX-License-Identifier: GPL-2.0
# vm: no-daemon timeout=240 vram_mb=2 remote_mb=1 enable_tests=1
#
# A minute, or more where all is slow, of random operations on the module's whole ABI, with a
# model of what each page must hold (tests/kernel/fuzz/). make fuzz-kernel SECONDS=3600
# SEED=n does more.
# On the debug kernel four clients leave the GPU no time.
clients=4
[ "$GPUEMU_SLOW" -lt 4 ] || clients=2
exec fuzz --seconds $((60 * GPUEMU_SLOW)) --clients $clients --places "$(cat /vm/places)"
