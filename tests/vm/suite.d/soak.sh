# SPDX-License-Identifier: GPL-2.0
# vm: no-daemon timeout=180 vram_mb=2 invalidate_timeout_ms=4000
#
# Oversubscribed four times by eight programs, the daemon killed every second: every
# byte right (tests/kernel/soak/). make soak does it for ten minutes.
# The test kills the daemon, and the module shall not: on a busy machine a daemon that
# starts may be silent for longer than it has by default.
exec soak --seconds $((15 * GPUEMU_SLOW))
