# SPDX-License-Identifier: GPL-2.0
# vm: no-daemon timeout=180 vram_mb=2
#
# Oversubscribed four times by eight programs, the daemon killed every second: every
# byte right (tests/kernel/soak/). make soak does it for ten minutes.
exec soak --seconds $((15 * GPUEMU_SLOW))
