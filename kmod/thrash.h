/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Thrashing: pages that CPU and engine take from each other again and again. The
 * side that lost one waits a while before it takes it back (throttling); a page that both
 * go on wanting is told to be best left in system memory (pinning).
 */
#ifndef _GPUEMU_THRASH_H
#define _GPUEMU_THRASH_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct gpuemu_block;

/**
 * struct gpuemu_thrash - the device's
 * @lock: see locks.h; protects @pinned and @npinned, and the blocks' places in it
 * @pinned: blocks with pinned pages
 * @npinned: how many
 * @unpin: looks whose time is over
 */
struct gpuemu_thrash {
	spinlock_t lock;
	struct list_head pinned;
	u32 npinned;
	struct delayed_work unpin;
};

/**
 * struct gpuemu_thrash_page - of a block that both sides wanted
 * @when: when it went to @side, or was pinned, in units of thrash.c
 * @events: times in a row that a side took it from the other soon after
 * @side: the side that had it last
 * @state: THRASH_*
 */
struct gpuemu_thrash_page {
	u32 when;
	u8 events;
	u8 side;
	u8 state;
	u8 reserved;
};

void gpuemu_thrash_init(struct gpuemu_thrash *thrash);
void gpuemu_thrash_exit(struct gpuemu_thrash *thrash);

void gpuemu_thrash_device(struct gpuemu_block *block, const unsigned long *mask);
void gpuemu_thrash_cpu(struct gpuemu_block *block, u32 i);
void gpuemu_thrash_forget(struct gpuemu_block *block, u32 i);
void gpuemu_thrash_dead(struct gpuemu_block *block);

u8 gpuemu_thrash_flags(const struct gpuemu_block *block, u32 i);
u64 gpuemu_thrash_nap(struct gpuemu_block *block, const struct vm_fault *vmf);
void gpuemu_thrash_sleep(const struct vm_fault *vmf, u64 ns);

#endif
