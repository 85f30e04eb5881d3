/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moving pages of ordinary memory between system and device memory.
 */
#ifndef _GPUEMU_MIRROR_MOVE_H
#define _GPUEMU_MIRROR_MOVE_H

#include <linux/mm.h>
#include <uapi/linux/gpuemu.h>

/* So many pages go home at a time: they are on the stack. */
#define GPUEMU_HOME_PAGES 32

/* So many are mapped, or go to the device, at once without the worker. */
#define GPUEMU_NOW_PAGES 16

/* What a fault of the CPU waits for the engine at a time, with mmap_lock held. */
#define GPUEMU_AWAY_MS 20

struct gpuemu_dev;
struct gpuemu_mirror;
struct gpuemu_mirror_range;

bool gpuemu_mirror_vma_moves(const struct gpuemu_mirror *mirror,
			     const struct vm_area_struct *vma);
u32 gpuemu_mirror_move(struct gpuemu_mirror_range *range, struct mm_struct *mm,
		       u32 first, u32 n, bool write, bool fresh, u32 *lacking);
bool gpuemu_mirror_move_now(struct gpuemu_mirror_range *range, struct vm_area_struct *vma,
			    u64 addr, u32 n, const unsigned long *pfns);
u32 gpuemu_mirror_home(struct gpuemu_dev *dev, const u32 *frames, u32 n,
		       enum gpuemu_inval_reason reason, bool *no_memory);
void gpuemu_mirror_count_home(struct gpuemu_dev *dev, u32 frame, u32 n, u64 addr, u64 begin,
			      enum gpuemu_inval_reason reason);
vm_fault_t gpuemu_mirror_to_ram(struct vm_fault *vmf);

#endif
