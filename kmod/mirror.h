/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ordinary memory of a client's process (heap, stack, files) for the engine, by HMM:
 * the engine's page table mirrors the process' own. mirror_find.c finds pages,
 * mirror_look.c those that are there, mirror_range.c has what is mapped of a VA space,
 * mirror_slots.c the aperture through which the engine reaches it. Where the kernel has no
 * CONFIG_DEVICE_PRIVATE none is built, and nobody can ask for it.
 */
#ifndef _GPUEMU_MIRROR_H
#define _GPUEMU_MIRROR_H

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <uapi/linux/gpuemu.h>

#include "aperture.h"

struct gpuemu_block;
struct gpuemu_client;
struct gpuemu_dev;
struct gpuemu_mirror_range;
struct gpuemu_space;

#if IS_ENABLED(CONFIG_DEVICE_PRIVATE) && IS_ENABLED(CONFIG_HMM_MIRROR)

/**
 * struct gpuemu_mirror_slot - a page of the aperture
 * @range: whose it is, or NULL; a slot stays a page's until the engine forgot it
 * @index: of that range: which page
 * @pfn: what hmm_range_fault() said of the page; 0: nothing that still holds
 * @lost: the engine has the page of nobody mapped there
 * @framed: the engine has the frame mapped there to which the page has moved
 */
struct gpuemu_mirror_slot {
	struct gpuemu_mirror_range *range;
	u32 index;
	bool lost;
	bool framed;
	unsigned long pfn;
};

/**
 * struct gpuemu_mirror_slots - the device's
 * @slots: how many
 * @aperture: of the slots; its lock protects the rest, and what is mapped of all ranges
 * @slot: each of them
 * @free: a stack of slots that are nobody's
 * @nfree: how many
 * @workers: they wait for clients' memory
 */
struct gpuemu_mirror_slots {
	u32 slots;
	struct gpuemu_aperture aperture;
	struct gpuemu_mirror_slot *slot;
	u32 *free;
	u32 nfree;
	struct workqueue_struct *workers;
};

/**
 * struct gpuemu_mirror_range - what is mirrored of a VA block
 * @ref: one for the mirror, one for the worker
 * @mirror: whose
 * @notifier: tells of changes in the process
 * @block: keeps the leaf table; referenced
 * @index: of the VA block
 * @looks: held to read by a task that looks at the process' page table and maps what it saw;
 *	to write by the engine's thread while it moves pages, of which @seq does not tell
 * @dead: taken out of the mirror; under the lock of the slots, like the rest
 * @seq: sequence number under which pages were mapped last: while it holds, no change
 *	is going on
 * @mapped: pages that have an entry
 * @writable: those that the engine may write
 * @device: those of @mapped that are in device memory; the others are behind their slots
 * @stays: pages that were to go to the device, and did not; until something changes, or a fault
 *	maps them where they are
 * @lacks: of these, some because there was no frame; nobody has heard of it yet
 * @room_asked: a huge page stayed whole because frames lacked. If they lack again, it goes in
 *	parts. Only the worker uses it
 * @owned: pages that have a slot, be it only until the engine has forgotten it
 * @leaving: of these, what somebody unmaps from the engine, which may have it still
 * @leavers: tasks that do; @slots changes for none of @leaving before they are done
 * @slots: valid where owned
 * @frames: valid where device
 */
struct gpuemu_mirror_range {
	struct kref ref;
	struct gpuemu_mirror *mirror;
	struct mmu_interval_notifier notifier;
	struct gpuemu_block *block;
	u64 index;
	struct rw_semaphore looks;
	bool dead;
	bool lacks;
	bool room_asked;
	unsigned long seq;
	DECLARE_BITMAP(mapped, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(writable, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(device, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(stays, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(owned, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(leaving, GPUEMU_BLOCK_PAGES);
	u32 leavers;
	u32 slots[GPUEMU_BLOCK_PAGES];
	u32 frames[GPUEMU_BLOCK_PAGES];
};

/**
 * struct gpuemu_mirror - of a VA space whose client gave its process' memory
 * @space: which
 * @lock: protects the next three
 * @asks: pages that the engine wants, the oldest first
 * @nasks: how many; a task looks without the lock whether there are any
 * @closed: nothing is mirrored any more
 * @watched: the process' soft-dirty bits were cleared
 * @worker: finds them
 * @ranges: VA block index -> range; the worker's, and then the closer's
 * @next: where the worker's search for slots goes on
 * @given: slots that a range gives back; under @ranges_lock
 * @pfns: the worker's, like the next three
 * @src: see migrate_vma_setup()
 * @dst: the same
 * @frames: for pages that are to move
 * @npages: how many pages it has on the device; under the lock of these, like the next
 * @first: one of these, see struct gpuemu_mirror_pages.links
 * @lost: the page of nobody: for an access of the engine that came too late
 * @late: such an access may have been to memory that the process has: no work ends well
 */
struct gpuemu_mirror {
	struct gpuemu_space *space;
	spinlock_t lock;
	struct list_head asks;
	u32 nasks;
	bool closed;
	bool watched;
	struct work_struct worker;
	struct xarray ranges;
	struct mutex ranges_lock;
	unsigned long next;
	u32 given[GPUEMU_BLOCK_PAGES];
	unsigned long pfns[GPUEMU_BLOCK_PAGES];
	unsigned long src[GPUEMU_BLOCK_PAGES];
	unsigned long dst[GPUEMU_BLOCK_PAGES];
	u32 frames[GPUEMU_BLOCK_PAGES];
	u32 npages;
	u32 first;
	struct page *lost;
	bool late;
};

/**
 * struct gpuemu_mirror_want - pages that an engine wants
 * @addr: of the first
 * @n: how many, of one VA block
 * @write: to write them
 * @where: where they are to be
 */
struct gpuemu_mirror_want {
	u64 addr;
	u32 n;
	bool write;
	enum {
		GPUEMU_MIRROR_ANYWHERE,	/* where they are */
		GPUEMU_MIRROR_HOME,	/* in system memory */
		GPUEMU_MIRROR_DEVICE,	/* on the device; else where they are */
		GPUEMU_MIRROR_PREFETCH,	/* on the device those that are there; else nowhere */
	} where;
};

extern const struct vm_operations_struct gpuemu_mirror_vm_ops;

static inline const struct vm_operations_struct *gpuemu_mirror_ops(void)
{
	return &gpuemu_mirror_vm_ops;
}

int gpuemu_mirror_slots_init(struct gpuemu_mirror_slots *slots, u32 n);
void gpuemu_mirror_slots_destroy(struct gpuemu_mirror_slots *slots);
void gpuemu_mirror_flush(struct gpuemu_mirror_slots *slots);
u32 gpuemu_mirror_slots_count(const struct gpuemu_dev *dev);
void gpuemu_mirror_settle(struct gpuemu_dev *dev);
bool gpuemu_mirror_slot_get_locked(struct gpuemu_space *space, u32 *slot);
void gpuemu_mirror_slot_put_locked(struct gpuemu_space *space, u32 slot);

int gpuemu_mirror_open(struct gpuemu_client *client);
int gpuemu_mirror_fault(struct gpuemu_mirror *mirror,
			const struct gpuemu_mirror_want *want, u64 patience_ns);
bool gpuemu_mirror_has(struct gpuemu_space *space, u64 addr);
int gpuemu_mirror_drop(struct gpuemu_space *space, struct gpuemu_migration *m,
		       enum gpuemu_access access, u64 patience_ns);
int gpuemu_mirror_bring(struct gpuemu_space *space, struct gpuemu_migration *m,
			enum gpuemu_access access, u64 patience_ns);
int gpuemu_mirror_use(struct gpuemu_space *space, struct gpuemu_migration *m,
		      enum gpuemu_access access, u64 patience_ns);
u8 gpuemu_mirror_flags(struct gpuemu_space *space,
		       const struct gpuemu_fault *f);
bool gpuemu_mirror_denies(struct gpuemu_space *space);
bool gpuemu_mirror_late(struct gpuemu_space *space);
void gpuemu_mirror_close(struct gpuemu_space *space);
void gpuemu_mirror_free(struct gpuemu_space *space);

#else

struct gpuemu_mirror_slots { };

static inline const struct vm_operations_struct *gpuemu_mirror_ops(void)
{
	return NULL;
}

static inline int gpuemu_mirror_slots_init(struct gpuemu_mirror_slots *slots,
					   u32 n)
{
	return 0;
}

static inline void
gpuemu_mirror_slots_destroy(struct gpuemu_mirror_slots *slots)
{
}

static inline void gpuemu_mirror_flush(struct gpuemu_mirror_slots *slots)
{
}

static inline u32 gpuemu_mirror_slots_count(const struct gpuemu_dev *dev)
{
	return 0;
}

static inline void gpuemu_mirror_settle(struct gpuemu_dev *dev)
{
}

static inline int gpuemu_mirror_open(struct gpuemu_client *client)
{
	return -EOPNOTSUPP;
}

static inline bool gpuemu_mirror_has(struct gpuemu_space *space, u64 addr)
{
	return false;
}

#define gpuemu_mirror_drop	NULL
#define gpuemu_mirror_bring	NULL
#define gpuemu_mirror_use	NULL

static inline u8 gpuemu_mirror_flags(struct gpuemu_space *space,
				     const struct gpuemu_fault *f)
{
	return GPUEMU_FAULT_UNMANAGED;
}

static inline bool gpuemu_mirror_denies(struct gpuemu_space *space)
{
	return false;
}

static inline bool gpuemu_mirror_late(struct gpuemu_space *space)
{
	return false;
}

static inline void gpuemu_mirror_close(struct gpuemu_space *space)
{
}

static inline void gpuemu_mirror_free(struct gpuemu_space *space)
{
}

#endif
#endif
