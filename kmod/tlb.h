/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TLB invalidates: how the module makes the engine forget translations before
 * a frame or a table gets another use.
 */
#ifndef _GPUEMU_TLB_H
#define _GPUEMU_TLB_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_dev;
struct gpuemu_engine;
struct gpuemu_space;

/**
 * struct gpuemu_tlb_mark - what an engine was told until then
 * @generation: of the engine; 0: there was none
 * @seq: the last invalidate
 */
struct gpuemu_tlb_mark {
	u32 generation;
	u32 seq;
};

int gpuemu_tlb_invalidate(struct gpuemu_space *space, u64 start, u64 end,
			  enum gpuemu_inval_reason reason, bool killable);
void gpuemu_tlb_post(struct gpuemu_space *space, u64 start, u64 end,
		     enum gpuemu_inval_reason reason);
void gpuemu_tlb_flush(struct gpuemu_dev *dev);
bool gpuemu_tlb_flush_for(struct gpuemu_dev *dev, unsigned int ms);
void gpuemu_tlb_late(struct gpuemu_dev *dev);
struct gpuemu_tlb_mark gpuemu_tlb_mark(struct gpuemu_dev *dev);
bool gpuemu_tlb_passed(struct gpuemu_dev *dev, struct gpuemu_tlb_mark mark);
void gpuemu_tlb_park_locked(struct gpuemu_engine *e);
void gpuemu_tlb_unpark_locked(struct gpuemu_engine *e);
void gpuemu_tlb_touch(struct gpuemu_engine *e);

#endif
