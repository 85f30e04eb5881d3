// SPDX-License-Identifier: GPL-2.0
/*
 * Which build of the room an SM is of (build.h): the calls of sm.h go on to the one that made
 * it. Compiled once. scripts/check-layers.sh holds that no call of sm.h is forgotten here.
 */
#include "sm/build.h"
#include "sm/sm.h"

#define CALL(type, name, params, ...)						\
	type narrow_##name params;						\
	type wide_##name params;						\
	type name params							\
	{									\
		return ((const struct sm_base *)sm)->wide ?			\
			wide_##name(__VA_ARGS__) : narrow_##name(__VA_ARGS__);	\
	}

bool narrow_sm_scheduler(unsigned int n, const char **name, const char **help);

bool sm_scheduler(unsigned int n, const char **name, const char **help)
{
	return narrow_sm_scheduler(n, name, help);
}

CALL(void, sm_account, (struct sm *sm, uint64_t upto), sm, upto)
CALL(int, sm_begin, (struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(void, sm_cancel, (struct sm *sm), sm)
CALL(void, sm_describe, (const struct sm *sm, char *buf, size_t bytes), sm, buf, bytes)
CALL(void, sm_cta_look, (const struct sm *sm, unsigned int cta, struct sm_cta_view *view),
     sm, cta, view)
CALL(const struct sm_kernel *, sm_cta_kernel, (const struct sm *sm, unsigned int cta), sm, cta)
CALL(bool, sm_cta_runs, (const struct sm *sm, unsigned int cta), sm, cta)
CALL(void, sm_drop, (struct sm *sm, uint64_t start, uint64_t end), sm, start, end)
CALL(const struct sm_failure *, sm_failure, (const struct sm *sm), sm)
CALL(bool, sm_find_waiting, (const struct sm *sm, uint64_t page, struct sm_waiting *w), sm, page, w)
CALL(bool, sm_fits, (const struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(bool, sm_fits_slots, (const struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(void, sm_flush, (struct sm *sm), sm)
CALL(void, sm_forget, (struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(const struct fragmentation_counters *, sm_fragmentation, (const struct sm *sm), sm)
CALL(void, sm_halt, (struct sm *sm, const struct sm_kernel *kernel, uint64_t now), sm, kernel, now)
CALL(bool, sm_has_room, (const struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(bool, sm_idle, (const struct sm *sm), sm)
CALL(void, sm_kernel_stats, (struct sm *sm, const struct sm_kernel *kernel,
			     struct sm_kernel_stats *stats), sm, kernel, stats)
CALL(uint64_t, sm_last, (const struct sm *sm), sm)
CALL(int, sm_launch_cta, (struct sm *sm, const struct sm_kernel *kernel, const uint32_t ctaid[3],
			  uint64_t now), sm, kernel, ctaid, now)
CALL(int, sm_move, (struct sm *sm, const struct background_job *job), sm, job)
CALL(int, sm_evict, (struct sm *sm, unsigned int cta, uint64_t now), sm, cta, now)
CALL(int, sm_admit, (struct sm *sm, unsigned int cta, uint64_t now), sm, cta, now)
CALL(int, sm_park, (struct sm *sm, unsigned int cta, uint64_t delay, uint64_t now),
     sm, cta, delay, now)
CALL(int, sm_perform, (struct sm *sm, uint64_t cycle), sm, cycle)
CALL(uint64_t, sm_perform_next, (const struct sm *sm), sm)
CALL(void, sm_refused, (struct sm *sm, const struct sm_kernel *kernel, uint64_t cycle), sm, kernel,
     cycle)
CALL(unsigned int, sm_resident_ctas, (const struct sm *sm, const struct sm_kernel *kernel),
     sm, kernel)
CALL(void, sm_operands_away, (struct sm *sm, unsigned int warp), sm, warp)
CALL(void, sm_resource_granted, (struct sm *sm, unsigned int warp), sm, warp)
CALL(int, sm_restore, (struct sm *sm, unsigned int cta, uint64_t delay, uint64_t now),
     sm, cta, delay, now)
CALL(uint64_t, sm_rooms, (const struct sm *sm), sm)
CALL(void, sm_room_grown, (struct sm *sm), sm)
CALL(int, sm_run, (struct sm *sm, uint64_t from, uint64_t upto), sm, from, upto)
CALL(void, sm_set_part, (struct sm *sm, const struct sm_kernel *kernel, const struct sm_part *part),
     sm, kernel, part)
CALL(const struct sm_share *, sm_share, (const struct sm *sm, const struct sm_kernel *kernel),
     sm, kernel)
CALL(bool, sm_shares_add_up, (struct sm *sm), sm)
CALL(const struct sm_counters *, sm_stats, (const struct sm *sm), sm)
CALL(void, sm_timer, (struct sm *sm, uint64_t cycle), sm, cycle)
CALL(unsigned int, sm_warp_cta, (const struct sm *sm, unsigned int warp), sm, warp)
CALL(uint64_t, sm_background, (const struct sm *sm), sm)
CALL(void, sm_count_virtual, (struct sm *sm, const struct sm_kernel *kernel,
     const struct virtual_counters *more), sm, kernel, more)
CALL(unsigned int, sm_cta_warps, (const struct sm *sm, unsigned int cta, uint8_t *warps,
				  unsigned int n), sm, cta, warps, n)
CALL(bool, sm_fits_numbers, (const struct sm *sm, const struct sm_kernel *kernel), sm, kernel)
CALL(void, sm_hold, (struct sm *sm, uint32_t registers, uint32_t shared_bytes, uint64_t now),
     sm, registers, shared_bytes, now)
CALL(uint64_t, sm_memory_pipeline, (const struct sm *sm), sm)
CALL(uint64_t, sm_held_beside, (const struct sm *sm), sm)
CALL(void, sm_warp_schedule, (struct sm *sm, unsigned int warp, unsigned int slot, uint64_t now),
     sm, warp, slot, now)
CALL(bool, sm_warp_awaits, (const struct sm *sm, unsigned int warp), sm, warp)
CALL(bool, sm_warp_revoke, (struct sm *sm, unsigned int warp), sm, warp)
CALL(bool, sm_warp_unschedule, (struct sm *sm, unsigned int warp, uint64_t now), sm, warp, now)
CALL(void, sm_sizes, (const struct sm *sm, unsigned int *warps, unsigned int *ctas),
     sm, warps, ctas)
