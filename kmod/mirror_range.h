/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The mirror's ranges, for mirror.c.
 */
#ifndef _GPUEMU_MIRROR_RANGE_H
#define _GPUEMU_MIRROR_RANGE_H

#include <linux/hmm.h>
#include <linux/mm.h>

#include "client.h"
#include "mirror.h"

static inline struct gpuemu_client *
gpuemu_mirror_client(struct gpuemu_space *space)
{
	return container_of(space, struct gpuemu_client, space);
}

static inline u64 gpuemu_mirror_range_addr(const struct gpuemu_mirror_range *range,
					   u32 i)
{
	return (range->index << GPUEMU_BLOCK_SHIFT) + ((u64)i << PAGE_SHIFT);
}

struct gpuemu_mirror_range *
gpuemu_mirror_range_find(struct gpuemu_mirror *mirror, u64 index);
struct gpuemu_mirror_range *
gpuemu_mirror_range_make(struct gpuemu_mirror *mirror, u64 index);
void gpuemu_mirror_range_put(struct gpuemu_mirror_range *range);

int gpuemu_mirror_range_map(struct gpuemu_mirror_range *range,
			    struct hmm_range *found, u32 first, u32 n);
int gpuemu_mirror_range_note(struct gpuemu_mirror_range *range,
			     struct hmm_range *found, u32 first, u32 n);
u32 gpuemu_mirror_range_frames(struct gpuemu_mirror_range *range, u32 *first,
			       u32 end, u32 *frames, u32 max);
int gpuemu_mirror_range_map_locked(struct gpuemu_mirror_range *range, u32 first,
				   u32 n, const unsigned long *pfns, bool *news);

/* mirror_hide.c */
extern const struct mmu_interval_notifier_ops gpuemu_mirror_range_ops;
void gpuemu_mirror_range_hide(struct gpuemu_mirror_range *range, u32 first, u32 last);
void gpuemu_mirror_range_revoke(struct gpuemu_mirror_range *range);
void gpuemu_mirror_range_remove(struct gpuemu_mirror_range *range);
void gpuemu_mirror_range_find_lost(struct gpuemu_mirror_range *range, u32 first, u32 n);

#endif
