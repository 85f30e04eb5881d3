/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TLB invalidates: how the module makes the engine forget translations before
 * a frame or a table gets another use.
 */
#ifndef _GPUEMU_TLB_H
#define _GPUEMU_TLB_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_engine;
struct gpuemu_space;

int gpuemu_tlb_invalidate(struct gpuemu_space *space, u64 start, u64 end,
			  enum gpuemu_inval_reason reason, bool killable);
void gpuemu_tlb_post(struct gpuemu_space *space, u64 start, u64 end,
		     enum gpuemu_inval_reason reason);
void gpuemu_tlb_park_locked(struct gpuemu_engine *e);
void gpuemu_tlb_unpark_locked(struct gpuemu_engine *e);
void gpuemu_tlb_touch(struct gpuemu_engine *e);

#endif
