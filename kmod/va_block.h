/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A VA block: 2 MiB of a VA space, and where the content of each of its pages
 * is. For a page of the block there are six states:
 *
 *   untouched  no sysmem page, no frame: reads as zero
 *   system     pages[i] holds the content; the CPU may have it mapped
 *   device     frames[i] holds the content (resident); pages[i] is a page with
 *		stale bytes, so that going home cannot fail for memory; never
 *		mapped by the CPU, never pinned
 *   remote     as system, and the engine has pages[i] mapped, in slots[i] of
 *		the remote aperture, at the same time as the CPU
 *   duplicate  as device, and pages[i] holds the content too: both sides may
 *		read it, neither may write it. A write of the CPU takes the frame
 *		away, one of the engine (H2D) the CPU's mapping
 *   closed     the mapping is gone (not managed): the closer frees both
 */
#ifndef _GPUEMU_VA_BLOCK_H
#define _GPUEMU_VA_BLOCK_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_space;
struct gpuemu_thrash_page;

/**
 * struct gpuemu_block - one VA block
 * @ref: one for the space's xarray, one for each user
 * @lock: see locks.h; protects everything below
 * @space: whose client the user of a block holds
 * @index: VA >> GPUEMU_BLOCK_SHIFT
 * @dead: no longer in the space; look it up again
 * @mirrored: ordinary memory has entries in its leaf table, or may get some
 * @device_memory: all of it is, so its content stays in its frames
 * @leaf: leaf page table, 0 until a page is first resident
 * @closing: the closer's list of dead blocks
 * @lru: in the device's list of blocks with resident pages; like the next three
 *	under that list's lock
 * @lru_of_space: the same in its space's
 * @lru_pass: the last commit that asked for pages of it
 * @lru_search: the last search for victims that looked at it
 * @thrash_side: which side wanted pages of it last; thrash.c's, like the next three
 * @thrash_when: when
 * @thrash: what is known of each page, or NULL
 * @pinned: in the device's list of blocks with pinned pages
 * @resident: pages whose content is in frames[]
 * @cpu_mapped: pages that the CPU may have mapped (a superset)
 * @remote: pages that are remote mapped
 * @duplicate: those of resident whose content is also in pages[]
 * @pages: sysmem pages, one reference each
 * @frames: valid where resident
 * @slots: valid where remote; NULL until a page first is
 */
struct gpuemu_block {
	struct kref ref;
	struct mutex lock;
	struct gpuemu_space *space;
	u64 index;
	bool dead;
	bool mirrored;
	bool device_memory;
	u32 leaf;
	struct list_head closing;
	struct list_head lru;
	struct list_head lru_of_space;
	u64 lru_pass;
	u64 lru_search;
	u8 thrash_side;
	u32 thrash_when;
	struct gpuemu_thrash_page *thrash;
	struct list_head pinned;
	DECLARE_BITMAP(resident, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(cpu_mapped, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(remote, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(duplicate, GPUEMU_BLOCK_PAGES);
	struct page *pages[GPUEMU_BLOCK_PAGES];
	u32 frames[GPUEMU_BLOCK_PAGES];
	u32 *slots;
};

/**
 * struct gpuemu_block_look - what a block is like, for those that only look
 * @resident: as the block's
 * @cpu_mapped: as the block's
 * @remote: as the block's
 * @duplicate: as the block's
 * @system_pages: pages that it has in system memory, with or without content
 * @busy: it was being worked on, so that the rest may not belong together
 */
struct gpuemu_block_look {
	DECLARE_BITMAP(resident, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(cpu_mapped, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(remote, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(duplicate, GPUEMU_BLOCK_PAGES);
	u32 system_pages;
	bool busy;
};

void gpuemu_block_look(struct gpuemu_block *block,
		       struct gpuemu_block_look *look);
struct gpuemu_block *gpuemu_block_alloc(struct gpuemu_space *space, u64 index,
					gfp_t gfp);
void gpuemu_block_put(struct gpuemu_block *block);

void gpuemu_block_retire_unmanaged(struct gpuemu_block *block);
bool gpuemu_block_close_begin(struct gpuemu_block *block, u32 first, u32 last,
			      struct list_head *dead);
void gpuemu_block_unmirror(struct gpuemu_block *block);
void gpuemu_block_close_end(struct gpuemu_block *block, u32 first, u32 last);

bool gpuemu_block_allows(const struct gpuemu_block *block, u32 i,
			 enum gpuemu_access access);
bool gpuemu_block_needs_page(const struct gpuemu_block *block, u32 i);
vm_fault_t gpuemu_block_cpu_fault(struct gpuemu_block *block,
				  struct vm_fault *vmf, struct page **page);

static inline u64 gpuemu_block_addr(const struct gpuemu_block *block, u32 i)
{
	return (block->index << GPUEMU_BLOCK_SHIFT) +
	       ((u64)i << GPUEMU_PAGE_SHIFT);
}

#endif
