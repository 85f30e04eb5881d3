// SPDX-License-Identifier: GPL-2.0
/*
 * How pages come into the engine's mapping of an aperture, and how they are taken out of it.
 *
 *   a fault of the engine                 a task that takes a page away
 *   lock; which page has the slot?        lock; the slot has no page; unlock
 *     it is in the list; unlock           wait until no fault of the list maps it
 *   map the page                          unmap the slot
 *   lock; out of the list; unlock
 *
 * A client's task may be put off anywhere, for as long as others want its CPU, and so may a
 * fault that needs memory for page tables. The engine's other threads and the other clients
 * need the lock. So it is a spinlock, and nobody has it who maps or unmaps.
 */
#include <linux/mm.h>

#include "aperture.h"
#include "client.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"

void gpuemu_aperture_init(struct gpuemu_aperture *aperture, loff_t at)
{
	spin_lock_init(&aperture->lock);
	aperture->at = at;
	INIT_LIST_HEAD(&aperture->inserts);
	init_waitqueue_head(&aperture->inserted);
}

/*
 * The page of the slot stays until gpuemu_aperture_inserted(). The caller has seen that the
 * engine lives.
 */
void gpuemu_aperture_insert_locked(struct gpuemu_aperture *aperture,
				   struct gpuemu_aperture_insert *insert, u32 slot)
{
	lockdep_assert_held(&aperture->lock);
	insert->slot = slot;
	list_add(&insert->node, &aperture->inserts);
}

void gpuemu_aperture_inserted(struct gpuemu_aperture *aperture,
			      struct gpuemu_aperture_insert *insert)
{
	spin_lock(&aperture->lock);
	list_del(&insert->node);
	spin_unlock(&aperture->lock);
	wake_up_all(&aperture->inserted);
}

static bool quiet(struct gpuemu_aperture *aperture)
{
	bool quiet;

	spin_lock(&aperture->lock);
	quiet = list_empty(&aperture->inserts);
	spin_unlock(&aperture->lock);
	return quiet;
}

/* The engine is lost: all its faults that saw it live have ended afterwards. */
void gpuemu_aperture_settle(struct gpuemu_aperture *aperture)
{
	wait_event(aperture->inserted, quiet(aperture));
}

/* Whether a fault maps the page of one of the slots. There are as many faults as threads. */
static bool inserting(struct gpuemu_aperture *aperture, const u32 *slots,
		      const unsigned long *mask, u32 n)
{
	const struct gpuemu_aperture_insert *insert;
	bool found = false;
	u32 i;

	spin_lock(&aperture->lock);
	list_for_each_entry(insert, &aperture->inserts, node)
		for_each_set_bit(i, mask, n)
			found |= insert->slot == slots[i];
	spin_unlock(&aperture->lock);
	return found;
}

/*
 * mm calls this while it changes a client's page table, and this changes the engine's. To
 * lockdep both are one thing, which must not happen inside itself: i_mmap_rwsem, which could
 * have a class of its own, and the map of mm's notifiers (invalidate_range_start), which is
 * one for all and which any way to unmap takes. It may here: no task that has i_mmap_rwsem of
 * an engine's file waits for a client. The engine's process may be a client, too; mm tells its
 * mirror of this change, and the mirror has nothing of an aperture.
 */
void gpuemu_aperture_zap(struct address_space *mapping, loff_t start, loff_t bytes)
{
	lockdep_off();
	unmap_mapping_range(mapping, start, bytes, 1);
	lockdep_on();
}

static void zap_slots(struct address_space *mapping, loff_t at, u32 first, u32 n)
{
	gpuemu_aperture_zap(mapping, at + ((loff_t)first << PAGE_SHIFT),
			    (loff_t)n << PAGE_SHIFT);
}

/**
 * gpuemu_aperture_unmap() - the engine's mapping of slots is empty after this
 * @dev: whose
 * @aperture: of the slots
 * @slots: numbers; they are nobody else's yet
 * @mask: which of these
 * @n: bits of the mask
 *
 * No fault finds their pages any more. The task has none of the locks that a COMMIT or an
 * engine's fault waits for, but its own VA block's.
 */
void gpuemu_aperture_unmap(struct gpuemu_dev *dev, struct gpuemu_aperture *aperture,
			   const u32 *slots, const unsigned long *mask, u32 n)
{
	struct gpuemu_client *engine;
	u32 i, first = 0, run = 0;

	wait_event(aperture->inserted, !inserting(aperture, slots, mask, n));
	gpuemu_inject_pause(dev, GPUEMU_INJECT_PAUSE_UNMAP);
	engine = gpuemu_engine_file_get(dev);
	if (!engine)
		return;
	for_each_set_bit(i, mask, n) {
		if (run && slots[i] == first + run) {
			run++;
			continue;
		}
		if (run)
			zap_slots(&engine->mapping, aperture->at, first, run);
		first = slots[i];
		run = 1;
	}
	if (run)
		zap_slots(&engine->mapping, aperture->at, first, run);
	gpuemu_client_put(engine);
}
