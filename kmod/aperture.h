/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An aperture: slots through which the engine reaches pages in system memory, and its mapping
 * of them. Its owner says which page has which slot: remote.c for pages of VA blocks,
 * mirror_slots.c for ordinary memory.
 */
#ifndef _GPUEMU_APERTURE_H
#define _GPUEMU_APERTURE_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct gpuemu_dev;

/**
 * struct gpuemu_aperture_insert - a fault of the engine that maps the page of a slot
 * @node: in gpuemu_aperture.inserts
 * @slot: which
 */
struct gpuemu_aperture_insert {
	struct list_head node;
	u32 slot;
};

/**
 * struct gpuemu_aperture - the device has one for each owner
 * @lock: see locks.h; protects the rest, and what the owner keeps of its slots
 * @at: where it is in the engine's file
 * @inserts: faults that map a page now
 * @inserted: woken when one of them has ended
 */
struct gpuemu_aperture {
	spinlock_t lock;
	loff_t at;
	struct list_head inserts;
	wait_queue_head_t inserted;
};

void gpuemu_aperture_init(struct gpuemu_aperture *aperture, loff_t at);
void gpuemu_aperture_insert_locked(struct gpuemu_aperture *aperture,
				   struct gpuemu_aperture_insert *insert, u32 slot);
void gpuemu_aperture_inserted(struct gpuemu_aperture *aperture,
			      struct gpuemu_aperture_insert *insert);
void gpuemu_aperture_settle(struct gpuemu_aperture *aperture);
void gpuemu_aperture_unmap(struct gpuemu_dev *dev, struct gpuemu_aperture *aperture,
			   const u32 *slots, const unsigned long *mask, u32 n);
void gpuemu_aperture_zap(struct address_space *mapping, loff_t start, loff_t bytes);

#endif
