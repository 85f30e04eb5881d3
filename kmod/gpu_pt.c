// SPDX-License-Identifier: GPL-2.0
/*
 * The GPU page table's tables. Leaf tables belong to a VA block and are freed
 * with it, after an acknowledged invalidate; upper tables belong to the space
 * and live until it ends. Knows no frames' owners and posts no invalidates.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <uapi/linux/gpuemu.h>

#include "dev.h"
#include "gpu_pt.h"
#include "limit.h"
#include "objects.h"
#include "user.h"
#include "va_space.h"

#define PT_ENTRIES	512u
#define PT_LEVEL_BITS	9
/* Level 3 is the root, level 1 points at leaves. */
#define PT_ROOT_LEVEL	3

static u64 *pt_table(struct gpuemu_pt *pt, u32 table)
{
	return pt->base + ((size_t)table << PAGE_SHIFT);
}

static void pt_write(u64 *entry, u64 value)
{
	/* The engine reads entries with acquire: a table is seen zeroed or filled. */
	smp_store_release(entry, value);
}

static u32 pt_entry_target(u64 entry)
{
	return entry >> GPUEMU_PTE_SHIFT;
}

/* Which entry of a table of this level leads to the block. */
static u32 pt_index(u64 block_index, int level)
{
	return (block_index >> (PT_LEVEL_BITS * (level - 1))) % PT_ENTRIES;
}

int gpuemu_pt_init(struct gpuemu_pt *pt, u32 tables)
{
	u32 i;

	BUILD_BUG_ON(GPUEMU_BLOCK_PAGES != PT_ENTRIES);
	BUILD_BUG_ON(GPUEMU_SPACES_MAX > PT_ENTRIES);

	spin_lock_init(&pt->lock);
	/* The log says which parameter is too large, and needs no stack for it. */
	pt->base = __vmalloc((size_t)tables << PAGE_SHIFT,
			     GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	pt->free = kvmalloc_array(tables, sizeof(*pt->free), GFP_KERNEL);
	if (!pt->base || !pt->free) {
		gpuemu_pt_destroy(pt);
		return -ENOMEM;
	}
	/* Table 0 is the directory of spaces; it is never free. */
	for (i = 0; i + 1 < tables; i++)
		pt->free[i] = tables - 1 - i;
	pt->tables = tables;
	pt->nfree = tables - 1;
	return 0;
}

void gpuemu_pt_destroy(struct gpuemu_pt *pt)
{
	kvfree(pt->free);
	vfree(pt->base);
	pt->free = NULL;
	pt->base = NULL;
}

/* A zeroed table, or 0: there is none, or none for this client. */
static u32 pt_table_alloc(struct gpuemu_space *space)
{
	struct gpuemu_pt *pt = &space->dev->pt;
	u32 table = 0;

	spin_lock(&pt->lock);
	if (pt->nfree && gpuemu_limit_may_table(pt, space)) {
		table = pt->free[--pt->nfree];
		atomic_inc(&space->tables);
		space->user->tables++;
	}
	spin_unlock(&pt->lock);
	if (!table) {
		gpuemu_count(space, NO_TABLE, 1);
		return 0;
	}
	clear_page(pt_table(pt, table));
	gpuemu_created(tables);
	return table;
}

void gpuemu_pt_table_free(struct gpuemu_space *space, u32 table)
{
	struct gpuemu_pt *pt = &space->dev->pt;

	spin_lock(&pt->lock);
	pt->free[pt->nfree++] = table;
	atomic_dec(&space->tables);
	space->user->tables--;
	spin_unlock(&pt->lock);
	gpuemu_destroyed(tables);
}

/*
 * Gives the block an empty leaf table and links it. Returns the table, or 0
 * without memory in the aperture that the client may have; upper tables built on the way stay, they
 * serve the next attempt.
 */
u32 gpuemu_pt_block_attach(struct gpuemu_space *space, u64 block_index)
{
	struct gpuemu_pt *pt = &space->dev->pt;
	u32 table, next;
	u64 *entry;
	int level;

	mutex_lock(&space->pt_lock);
	table = space->root;
	if (!table) {
		table = pt_table_alloc(space);
		if (!table)
			goto out;
		space->root = table;
		pt_write(pt_table(pt, 0) + space->slot,
			 (u64)space->id << 32 | table);
	}
	for (level = PT_ROOT_LEVEL; level >= 1; level--) {
		entry = pt_table(pt, table) + pt_index(block_index, level);
		next = pt_entry_target(*entry);
		if (!next) {
			next = pt_table_alloc(space);
			if (!next) {
				table = 0;
				goto out;
			}
			pt_write(entry, (u64)next << GPUEMU_PTE_SHIFT |
				 GPUEMU_PTE_VALID);
		}
		table = next;
	}
out:
	mutex_unlock(&space->pt_lock);
	return table;
}

/*
 * Unlinks the block's leaf table. The table stays allocated: the caller frees
 * it once the engine has acknowledged that it forgot it.
 */
void gpuemu_pt_block_detach(struct gpuemu_space *space, u64 block_index)
{
	struct gpuemu_pt *pt = &space->dev->pt;
	u64 *entry = NULL;
	u32 table;
	int level;

	mutex_lock(&space->pt_lock);
	table = space->root;
	for (level = PT_ROOT_LEVEL; level >= 1 && table; level--) {
		entry = pt_table(pt, table) + pt_index(block_index, level);
		table = pt_entry_target(*entry);
	}
	if (entry && table)
		pt_write(entry, 0);
	mutex_unlock(&space->pt_lock);
}

/* Hides the whole space from the engine; tables stay until _space_free(). */
void gpuemu_pt_space_clear(struct gpuemu_space *space)
{
	if (space->root)
		pt_write(pt_table(&space->dev->pt, 0) + space->slot, 0);
}

/* Frees the upper tables of a space whose blocks are all gone. */
void gpuemu_pt_space_free(struct gpuemu_space *space)
{
	struct gpuemu_pt *pt = &space->dev->pt;
	u64 *root, *middle;
	u32 i, j;

	BUILD_BUG_ON(PT_ROOT_LEVEL != 3);
	if (!space->root)
		return;
	root = pt_table(pt, space->root);
	for (i = 0; i < PT_ENTRIES; i++) {
		if (!root[i])
			continue;
		middle = pt_table(pt, pt_entry_target(root[i]));
		for (j = 0; j < PT_ENTRIES; j++)
			if (middle[j])
				gpuemu_pt_table_free(space,
						     pt_entry_target(middle[j]));
		gpuemu_pt_table_free(space, pt_entry_target(root[i]));
	}
	gpuemu_pt_table_free(space, space->root);
	space->root = 0;
}

void gpuemu_pt_set(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 frame)
{
	pt_write(pt_table(pt, leaf) + i,
		 (u64)frame << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID);
}

/* Entry i of the mask leads to frames[i]. */
void gpuemu_pt_set_mask(struct gpuemu_pt *pt, u32 leaf,
			const unsigned long *mask, const u32 *frames)
{
	u64 *table = pt_table(pt, leaf);
	u32 i, end;

	for_each_set_bitrange(i, end, mask, PT_ENTRIES)
		for (; i < end; i++)
			pt_write(table + i, (u64)frames[i] << GPUEMU_PTE_SHIFT |
				 GPUEMU_PTE_VALID);
}

/* All entries of the leaf, of a block that is not paged. */
void gpuemu_pt_set_device(struct gpuemu_pt *pt, u32 leaf, const u32 *frames)
{
	u64 *table = pt_table(pt, leaf);
	u32 i;

	for (i = 0; i < PT_ENTRIES; i++)
		pt_write(table + i, (u64)frames[i] << GPUEMU_PTE_SHIFT |
			 GPUEMU_PTE_VALID | GPUEMU_PTE_DEVICE);
}

void gpuemu_pt_set_read_only(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 frame)
{
	pt_write(pt_table(pt, leaf) + i,
		 (u64)frame << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID |
		 GPUEMU_PTE_READ_ONLY);
}

void gpuemu_pt_set_remote(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 slot)
{
	pt_write(pt_table(pt, leaf) + i,
		 (u64)slot << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID |
		 GPUEMU_PTE_REMOTE);
}

void gpuemu_pt_set_mirror(struct gpuemu_pt *pt, u32 leaf, u32 i, u32 slot,
			  bool writable)
{
	pt_write(pt_table(pt, leaf) + i,
		 (u64)slot << GPUEMU_PTE_SHIFT | GPUEMU_PTE_VALID |
		 GPUEMU_PTE_REMOTE | GPUEMU_PTE_MIRROR |
		 (writable ? 0 : GPUEMU_PTE_READ_ONLY));
}

void gpuemu_pt_clear(struct gpuemu_pt *pt, u32 leaf, u32 i)
{
	pt_write(pt_table(pt, leaf) + i, 0);
}

void gpuemu_pt_clear_mask(struct gpuemu_pt *pt, u32 leaf,
			  const unsigned long *mask)
{
	u64 *table = pt_table(pt, leaf);
	u32 i, end;

	for_each_set_bitrange(i, end, mask, PT_ENTRIES)
		for (; i < end; i++)
			pt_write(table + i, 0);
}
