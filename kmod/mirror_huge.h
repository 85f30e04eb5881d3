/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Huge pages of ordinary memory, which move whole between system and device memory where the
 * kernel can do that. Elsewhere the kernel splits them, and nobody sees one here.
 */
#ifndef _GPUEMU_MIRROR_HUGE_H
#define _GPUEMU_MIRROR_HUGE_H

#include <linux/migrate.h>
#include <linux/mm.h>
#include <uapi/linux/gpuemu.h>

#include "mirror_pages.h"
#include "vram.h"

struct gpuemu_dev;
struct gpuemu_mirror_range;

#ifdef MIGRATE_PFN_COMPOUND

/* In the place of a reserve that the page has taken home. */
#define GPUEMU_MIRROR_GONE ((struct folio *)1)

/*
 * Whether the frame may be one of a huge page's. What a task that holds pages->making sees to be
 * small stays small.
 */
static inline bool gpuemu_mirror_huge_is(const struct gpuemu_mirror_pages *pages, u32 frame)
{
	return READ_ONCE(pages->huge[frame / GPUEMU_VRAM_RUN]);
}

bool gpuemu_mirror_huge_move(struct gpuemu_mirror_range *range, struct vm_area_struct *vma,
			     u64 addr, u32 *moved, u32 *lacking);
u32 gpuemu_mirror_huge_home(struct gpuemu_dev *dev, u32 frame, enum gpuemu_inval_reason reason,
			    bool *no_memory);
bool gpuemu_mirror_huge_to_ram(struct vm_fault *vmf, vm_fault_t *ret);
void gpuemu_mirror_huge_split(struct folio *head, struct folio *tail);
void gpuemu_mirror_huge_end(struct gpuemu_dev *dev, u32 frame);
void gpuemu_mirror_huge_free(struct work_struct *work);

#else

static inline bool gpuemu_mirror_huge_is(const struct gpuemu_mirror_pages *pages, u32 frame)
{
	return false;
}

static inline bool gpuemu_mirror_huge_move(struct gpuemu_mirror_range *range,
					   struct vm_area_struct *vma, u64 addr, u32 *moved,
					   u32 *lacking)
{
	return false;
}

static inline u32 gpuemu_mirror_huge_home(struct gpuemu_dev *dev, u32 frame,
					  enum gpuemu_inval_reason reason, bool *no_memory)
{
	return 0;
}

static inline bool gpuemu_mirror_huge_to_ram(struct vm_fault *vmf, vm_fault_t *ret)
{
	return false;
}

static inline void gpuemu_mirror_huge_end(struct gpuemu_dev *dev, u32 frame)
{
}

static inline void gpuemu_mirror_huge_free(struct work_struct *work)
{
}

#endif
#endif
