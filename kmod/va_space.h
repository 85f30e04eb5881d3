/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A VA space: the GPU addresses of one client file. Knows which ranges are
 * managed and which VA blocks exist; what a block holds is the block's.
 */
#ifndef _GPUEMU_VA_SPACE_H
#define _GPUEMU_VA_SPACE_H

#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <uapi/linux/gpuemu.h>

#include "patience.h"
#include "protect.h"
#include "stats.h"
#include "sysmem.h"

struct gpuemu_block;
struct gpuemu_dev;
struct gpuemu_mirror;
struct gpuemu_reclaim_mark;
struct gpuemu_user;
struct mem_cgroup;

/**
 * struct gpuemu_space - embedded in its client, which counts references
 * @dev: the device
 * @mapping: of the client's file; unmaps hit only this client
 * @memcg: what the space's memory is charged to, or NULL: of the process that opened the
 *	file, then of the first one that maps memory
 * @opened_memcg: the first of the two, for as long as the space lives
 * @mark: the object for which @memcg calls the module's shrinker; NULL: nobody has mapped memory
 * @hidden_next: in jiffies; the shrinker looks for hidden pages no sooner
 * @user: whose account it is on
 * @limited: by that account; not, if it was opened with CAP_SYS_RESOURCE
 * @id: never 0, not reused for long
 * @slot: entry in the directory of VA spaces
 * @root: root table, 0 until a first leaf is needed; under @pt_lock
 * @pt_lock: see locks.h
 * @managed: has every page number of a managed mapping; changes under the mm's
 *	mmap_lock only
 * @protect: those of them that the device may not have
 * @sysmem: the system pages that it gets
 * @mirror: ordinary memory of the process, or NULL: it is not given
 * @patience: to wait for that, or for the mappings, in vain
 * @blocks: block index -> block; erased under the block's lock
 * @last_block: of @blocks, the one that was looked up last, or NULL; under its lock
 * @notify_writes: there may be duplicates, so the CPU's first writes are faults;
 *	never false again; changes under the mm's mmap_lock
 * @stats: what is counted for this space, and so for the device
 * @frames: of device memory that it has, or is being given; see limit.c
 * @device_frames: of these, what is not paged; under the lock of the device's users
 * @tables: page tables that it has
 * @lru: its blocks with resident pages; under the lock of the device's list
 */
struct gpuemu_space {
	struct gpuemu_dev *dev;
	struct address_space *mapping;
	struct mem_cgroup *memcg;
	struct mem_cgroup *opened_memcg;
	struct gpuemu_reclaim_mark *mark;
	unsigned long hidden_next;
	struct gpuemu_user *user;
	bool limited;
	u32 id;
	u32 slot;
	u32 root;
	struct mutex pt_lock;
	struct maple_tree managed;
	struct gpuemu_protect protect;
	struct gpuemu_sysmem sysmem;
	struct gpuemu_mirror *mirror;
	struct gpuemu_patience patience;
	struct xarray blocks;
	struct gpuemu_block *last_block;
	bool notify_writes;
	struct gpuemu_stats stats;
	atomic_t frames;
	u32 device_frames;
	atomic_t tables;
	struct list_head lru;
};

int gpuemu_space_init(struct gpuemu_space *space, struct gpuemu_dev *dev,
		      struct address_space *mapping);
void gpuemu_space_charge_to(struct gpuemu_space *space, struct mm_struct *mm);
void gpuemu_space_end(struct gpuemu_space *space);
void gpuemu_space_count_hidden(struct gpuemu_space *space);
void gpuemu_space_close(struct gpuemu_space *space);
void gpuemu_space_destroy(struct gpuemu_space *space);

int gpuemu_space_may_map(struct gpuemu_space *space, unsigned long addr,
			 unsigned long len, unsigned long pgoff,
			 unsigned long flags);
int gpuemu_space_mmap(struct gpuemu_space *space, struct vm_area_struct *vma);
bool gpuemu_space_managed(struct gpuemu_space *space, u64 page_nr);
void gpuemu_space_managed_mask(struct gpuemu_space *space, u64 first, u32 n,
			       unsigned long *mask, u32 bit);
void gpuemu_space_device_mask(struct gpuemu_space *space, u64 first, u32 n,
			      unsigned long *mask, u32 bit);

struct gpuemu_block *gpuemu_space_block(struct gpuemu_space *space, u64 index);
struct gpuemu_block *gpuemu_space_block_create(struct gpuemu_space *space,
					       u64 index, gfp_t gfp);
void gpuemu_space_forget_block(struct gpuemu_space *space,
			       struct gpuemu_block *block);
struct gpuemu_block *gpuemu_space_next_block(struct gpuemu_space *space,
					     unsigned long *index,
					     unsigned long last);
void gpuemu_space_close_pages(struct gpuemu_space *space, u64 first, u64 last);
int gpuemu_space_notify_writes(struct gpuemu_space *space, u64 patience_ns);
void gpuemu_space_mark_faults(struct gpuemu_space *space,
			      struct gpuemu_fault *faults, u32 n);

#endif
