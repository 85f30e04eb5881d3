/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages that the engine wants, found by the client's worker.
 */
#ifndef _GPUEMU_MIRROR_FIND_H
#define _GPUEMU_MIRROR_FIND_H

#include <linux/mm.h>
#include <linux/workqueue.h>

#include "mirror.h"

static inline bool gpuemu_mirror_to_device(const struct gpuemu_mirror_want *want)
{
	return want->where == GPUEMU_MIRROR_DEVICE ||
	       want->where == GPUEMU_MIRROR_PREFETCH;
}

int gpuemu_mirror_vma_fits(const struct vm_area_struct *vma, bool write);
bool gpuemu_mirror_pages_there(const unsigned long *pfns, u32 n, bool write);
int gpuemu_mirror_ask(struct gpuemu_mirror *mirror,
		      const struct gpuemu_mirror_want *want, u64 begin, u64 patience_ns);
void gpuemu_mirror_answered(struct gpuemu_mirror *mirror, const struct gpuemu_mirror_want *want,
			    u64 begin, u64 patience_ns);
void gpuemu_mirror_work(struct work_struct *work);

#endif
