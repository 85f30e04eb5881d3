/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of ordinary memory that are in device memory: each frame has a page of the kernel
 * (MEMORY_DEVICE_PRIVATE), which a process' page table names in the place of a page of
 * system memory. mm owns such a page, as it owns any other, and frees it.
 */
#ifndef _GPUEMU_MIRROR_PAGES_H
#define _GPUEMU_MIRROR_PAGES_H

#include <linux/errno.h>
#include <linux/ioport.h>
#include <linux/kconfig.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/gpuemu.h>

#include "tlb.h"

struct gpuemu_dev;
struct gpuemu_mirror;
struct gpuemu_space;

#if IS_ENABLED(CONFIG_DEVICE_PRIVATE) && IS_ENABLED(CONFIG_HMM_MIRROR)

/* Two frames that are on the same account. */
struct gpuemu_mirror_link {
	u32 next, prev;
};

/**
 * struct gpuemu_mirror_pages - the device's
 * @pagemap: the kernel's
 * @region: addresses that are nobody's memory, for the pages' numbers
 * @first: number of the page of frame 0
 * @making: held to write while a huge page is made, which is only tried; to read by a task
 *	that sends pages home by their frames
 * @huge: of each run of frames (vram.h) that is one huge page: the page of system memory in
 *	reserve for it; NULL: they are small pages, or none
 * @spare: of each run: a reserve that was not needed
 * @freer: frees these
 * @lock: see locks.h; protects the rest
 * @used: frames that are a page of a process
 * @owner: the VA space that has the frame on its account; NULL: its file is closed, and a
 *	process still has the page
 * @links: of a frame that is on an account: the next and the previous one there
 * @pass: the commit under which the page came
 * @leaving: frames that @sender is to send home
 * @sender: sends home what many processes may have, for which nobody waits
 * @hand: where the search for victims goes on
 * @stale: frames that mm has freed, and that the engine may still know
 * @nstale: how many
 * @mark: the engine knows of none, once it is past this
 */
struct gpuemu_mirror_pages {
	struct dev_pagemap pagemap;
	struct resource *region;
	unsigned long first;
	struct rw_semaphore making;
	struct folio **huge;
	struct folio **spare;
	struct work_struct freer;
	spinlock_t lock;
	unsigned long *used;
	struct gpuemu_space **owner;
	struct gpuemu_mirror_link *links;
	u32 *pass;
	unsigned long *leaving;
	struct work_struct sender;
	u32 hand;
	u32 *stale;
	u32 nstale;
	struct gpuemu_tlb_mark mark;
};

int gpuemu_mirror_pages_init(struct gpuemu_dev *dev);
void gpuemu_mirror_pages_destroy(struct gpuemu_dev *dev);
void gpuemu_mirror_pages_reap(struct gpuemu_dev *dev);
bool gpuemu_mirror_pages_own(struct gpuemu_mirror *mirror, u32 frame, u32 n);
struct page *gpuemu_mirror_page_get(struct gpuemu_mirror *mirror, u32 frame);
bool gpuemu_mirror_page_is(const struct gpuemu_dev *dev, const struct page *page);
u32 gpuemu_mirror_page_frame(const struct gpuemu_dev *dev,
			     const struct page *page);
void *gpuemu_mirror_page_addr(const struct gpuemu_dev *dev, const struct page *page);
u32 gpuemu_mirror_pages_evict(struct gpuemu_dev *dev, u32 want,
			      const struct gpuemu_space *of);
u32 gpuemu_mirror_pages_home(struct gpuemu_dev *dev, u32 *frames, u32 n,
			     enum gpuemu_inval_reason reason, bool *no_memory,
			     bool *later);
void gpuemu_mirror_pages_leave(struct gpuemu_space *space);

#else

struct gpuemu_mirror_pages { };

static inline int gpuemu_mirror_pages_init(struct gpuemu_dev *dev)
{
	return 0;
}

static inline void gpuemu_mirror_pages_destroy(struct gpuemu_dev *dev)
{
}

static inline void gpuemu_mirror_pages_reap(struct gpuemu_dev *dev)
{
}

static inline u32 gpuemu_mirror_pages_evict(struct gpuemu_dev *dev, u32 want,
					    const struct gpuemu_space *of)
{
	return 0;
}

#endif
#endif
