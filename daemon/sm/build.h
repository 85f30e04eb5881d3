/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The room is compiled twice (scripts/mk/engine.mk): with sets of 64 warps, and with sets of 256
 * for SMs that hold more. What sm.h declares of an SM has a name of each build's own, which
 * build.c calls; what the files call of each other is not seen outside of its build.
 * SM_BUILD is narrow or wide; it is not defined where the room is used. Private to the sm room.
 */
#ifndef GPUEMU_SM_BUILD_H
#define GPUEMU_SM_BUILD_H

#include <stdbool.h>

/* What a struct sm of either build begins with. */
struct sm_base {
	bool wide;
};

/* Warps and CTAs: numbers there are, and slots. */
struct sm_numbers {
	unsigned int warps, ctas, warp_slots, cta_slots;
};

#ifdef SM_BUILD
#define SM_NAME_(build, name)	build##_##name
#define SM_NAME__(build, name)	SM_NAME_(build, name)
#define SM_NAME(name)		SM_NAME__(SM_BUILD, name)
#define sm_account		SM_NAME(sm_account)
#define sm_admit		SM_NAME(sm_admit)
#define sm_background		SM_NAME(sm_background)
#define sm_begin		SM_NAME(sm_begin)
#define sm_cancel		SM_NAME(sm_cancel)
#define sm_count_virtual	SM_NAME(sm_count_virtual)
#define sm_cta_look		SM_NAME(sm_cta_look)
#define sm_cta_kernel		SM_NAME(sm_cta_kernel)
#define sm_cta_runs		SM_NAME(sm_cta_runs)
#define sm_cta_warps		SM_NAME(sm_cta_warps)
#define sm_describe		SM_NAME(sm_describe)
#define sm_destroy		SM_NAME(sm_destroy)
#define sm_drop			SM_NAME(sm_drop)
#define sm_evict		SM_NAME(sm_evict)
#define sm_failure		SM_NAME(sm_failure)
#define sm_find_waiting		SM_NAME(sm_find_waiting)
#define sm_fits			SM_NAME(sm_fits)
#define sm_fits_numbers		SM_NAME(sm_fits_numbers)
#define sm_fits_slots		SM_NAME(sm_fits_slots)
#define sm_flush		SM_NAME(sm_flush)
#define sm_forget		SM_NAME(sm_forget)
#define sm_fragmentation	SM_NAME(sm_fragmentation)
#define sm_halt			SM_NAME(sm_halt)
#define sm_has_room		SM_NAME(sm_has_room)
#define sm_hold			SM_NAME(sm_hold)
#define sm_idle			SM_NAME(sm_idle)
#define sm_kernel_stats		SM_NAME(sm_kernel_stats)
#define sm_last			SM_NAME(sm_last)
#define sm_launch_cta		SM_NAME(sm_launch_cta)
#define sm_make			SM_NAME(sm_make)
#define sm_memory_pipeline	SM_NAME(sm_memory_pipeline)
#define sm_held_beside		SM_NAME(sm_held_beside)
#define sm_move			SM_NAME(sm_move)
#define sm_park			SM_NAME(sm_park)
#define sm_perform		SM_NAME(sm_perform)
#define sm_perform_next		SM_NAME(sm_perform_next)
#define sm_refused		SM_NAME(sm_refused)
#define sm_resident_ctas	SM_NAME(sm_resident_ctas)
#define sm_operands_away	SM_NAME(sm_operands_away)
#define sm_resource_granted	SM_NAME(sm_resource_granted)
#define sm_restore		SM_NAME(sm_restore)
#define sm_rooms			SM_NAME(sm_rooms)
#define sm_room_grown		SM_NAME(sm_room_grown)
#define sm_run			SM_NAME(sm_run)
#define sm_scheduler		SM_NAME(sm_scheduler)
#define sm_set_part		SM_NAME(sm_set_part)
#define sm_share		SM_NAME(sm_share)
#define sm_shares_add_up	SM_NAME(sm_shares_add_up)
#define sm_sizes		SM_NAME(sm_sizes)
#define sm_stats		SM_NAME(sm_stats)
#define sm_timer		SM_NAME(sm_timer)
#define sm_warp_awaits		SM_NAME(sm_warp_awaits)
#define sm_warp_cta		SM_NAME(sm_warp_cta)
#define sm_warp_schedule	SM_NAME(sm_warp_schedule)
#define sm_warp_revoke		SM_NAME(sm_warp_revoke)
#define sm_warp_unschedule	SM_NAME(sm_warp_unschedule)
#endif

#endif
