// SPDX-License-Identifier: GPL-2.0
/*
 * Marks of pages that are the CPU's alone, an entry for each VA block that has
 * some. A mark may outlive the call that made it: mprotect() marks before the
 * kernel splits the VMA, which may fail. So their number is not bounded by that of
 * the VMAs, and anybody may make them: they are charged to the task that makes them, a block
 * has at most a bitmap, and a space has at most so many blocks. Called by
 * va_space.c.
 */
#include <linux/bitmap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <uapi/linux/gpuemu.h>

#include "protect.h"

#define SHIFT (GPUEMU_BLOCK_SHIFT - GPUEMU_PAGE_SHIFT)

/* 2 TiB, in 9 MiB of entries; and 8 MiB of bitmaps. */
#define ENTRIES_MAX (1u << 20)
#define BITMAPS_MAX (1u << 17)

/* The task that makes marks hears that there is no memory, and is not killed for it. */
#define MARK_GFP (GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/* What else an entry is than a bitmap. NONE has its place in the xarray, no more. */
#define NONE	xa_mk_value(0)
#define ALL	xa_mk_value(1)

static bool is_bitmap(const void *entry)
{
	return entry && !xa_is_value(entry);
}

/* The part of pages first..last that is in the block, as page indexes. */
static void clip(u64 index, u64 first, u64 last, u32 *i, u32 *n)
{
	u64 base = index << SHIFT, end;

	*i = first > base ? first - base : 0;
	end = min_t(u64, last - base, GPUEMU_BLOCK_PAGES - 1);
	*n = end - *i + 1;
}

void gpuemu_protect_init(struct gpuemu_protect *p)
{
	/* Its nodes are charged to the process, as the bitmaps are. */
	xa_init_flags(&p->blocks, XA_FLAGS_ACCOUNT);
	p->entries = 0;
	p->bitmaps = 0;
}

void gpuemu_protect_destroy(struct gpuemu_protect *p)
{
	unsigned long index;
	void *entry;

	xa_for_each(&p->blocks, index, entry)
		if (is_bitmap(entry))
			kfree(entry);
	xa_destroy(&p->blocks);
}

/* With the lock. Where there is an entry already, this allocates nothing. */
static void replace(struct gpuemu_protect *p, u64 index, void *old, void *entry)
{
	if (is_bitmap(old)) {
		p->bitmaps--;
		kfree(old);
	}
	if (entry) {
		__xa_store(&p->blocks, index, entry, 0);
	} else {
		p->entries--;
		__xa_erase(&p->blocks, index);
	}
}

/* With the lock, which a new node of the xarray drops for a moment. */
static int add(struct gpuemu_protect *p, u64 index)
{
	int ret;

	if (p->entries == ENTRIES_MAX)
		return -ENOMEM;
	ret = __xa_insert(&p->blocks, index, NONE, MARK_GFP);
	p->entries += !ret;
	return ret;
}

/* Gives the block an entry that says nothing new, and that can say it of a part. */
static int prepare(struct gpuemu_protect *p, u64 index, bool part)
{
	unsigned long *bitmap = NULL;
	void *entry = xa_load(&p->blocks, index);
	int ret = 0;

	if (part && !is_bitmap(entry)) {
		bitmap = bitmap_zalloc(GPUEMU_BLOCK_PAGES, MARK_GFP);
		if (!bitmap)
			return -ENOMEM;
		if (entry == ALL)
			bitmap_fill(bitmap, GPUEMU_BLOCK_PAGES);
	}
	xa_lock(&p->blocks);
	if (bitmap && p->bitmaps == BITMAPS_MAX)
		ret = -ENOMEM;
	if (!ret && !entry)
		ret = add(p, index);
	if (!ret && bitmap) {
		__xa_store(&p->blocks, index, bitmap, 0);
		p->bitmaps++;
		bitmap = NULL;
	}
	xa_unlock(&p->blocks);
	kfree(bitmap);
	return ret;
}

/* Where there is something to be changed, there is an entry that can take it. */
static void apply(struct gpuemu_protect *p, u64 index, u32 i, u32 n, bool on)
{
	void *entry;

	xa_lock(&p->blocks);
	entry = xa_load(&p->blocks, index);
	if (entry && n == GPUEMU_BLOCK_PAGES) {
		replace(p, index, entry, on ? ALL : NULL);
	} else if (is_bitmap(entry)) {
		if (on)
			bitmap_set(entry, i, n);
		else
			bitmap_clear(entry, i, n);
		if (bitmap_empty(entry, GPUEMU_BLOCK_PAGES))
			replace(p, index, entry, NULL);
	}
	xa_unlock(&p->blocks);
}

/* Takes back what prepare() did of blocks first..last. */
static void forget_empty(struct gpuemu_protect *p, u64 first, u64 last)
{
	unsigned long index;
	void *entry;

	xa_for_each_range(&p->blocks, index, entry, first, last) {
		xa_lock(&p->blocks);
		if (entry == NONE || (is_bitmap(entry) &&
				      bitmap_empty(entry, GPUEMU_BLOCK_PAGES)))
			replace(p, index, entry, NULL);
		xa_unlock(&p->blocks);
		cond_resched();
	}
}

static int prepare_marks(struct gpuemu_protect *p, u64 first, u64 last)
{
	u64 index;
	int ret = 0;
	u32 i, n;

	for (index = first >> SHIFT; index <= last >> SHIFT && !ret; index++) {
		clip(index, first, last, &i, &n);
		if (xa_load(&p->blocks, index) != ALL)
			ret = prepare(p, index, n < GPUEMU_BLOCK_PAGES);
		cond_resched();
		if (fatal_signal_pending(current))
			ret = -EINTR;
	}
	return ret;
}

/* Only of the first and the last block may something stay. */
static int prepare_clear(struct gpuemu_protect *p, u64 first, u64 last)
{
	const u64 index[] = { first >> SHIFT, last >> SHIFT };
	int ret = 0, at;
	u32 i, n;

	for (at = 0; at < ARRAY_SIZE(index) && !ret; at++) {
		clip(index[at], first, last, &i, &n);
		if (n < GPUEMU_BLOCK_PAGES &&
		    xa_load(&p->blocks, index[at]) == ALL)
			ret = prepare(p, index[at], true);
	}
	return ret;
}

/* Marks pages first..last, or takes their marks. -ENOMEM, -EINTR: nothing has changed. */
int gpuemu_protect_set(struct gpuemu_protect *p, u64 first, u64 last, bool on)
{
	const u64 from = first >> SHIFT, to = last >> SHIFT;
	unsigned long index;
	void *entry;
	int ret;
	u32 i, n;

	ret = on ? prepare_marks(p, first, last) : prepare_clear(p, first, last);
	if (ret) {
		forget_empty(p, from, to);
		return ret;
	}
	xa_for_each_range(&p->blocks, index, entry, from, to) {
		clip(index, first, last, &i, &n);
		apply(p, index, i, n, on);
		cond_resched();
	}
	return 0;
}

/* Are all of pages first..last marked, or none of them? */
bool gpuemu_protect_all(struct gpuemu_protect *p, u64 first, u64 last, bool on)
{
	u64 next = first >> SHIFT;
	unsigned long index;
	void *entry;
	bool same;
	u32 i, n;

	xa_for_each_range(&p->blocks, index, entry, next, last >> SHIFT) {
		if (on && index != next)
			return false;
		clip(index, first, last, &i, &n);
		if (is_bitmap(entry) && on)
			same = find_next_zero_bit(entry, i + n, i) >= i + n;
		else if (is_bitmap(entry))
			same = find_next_bit(entry, i + n, i) >= i + n;
		else
			same = on;
		if (!same)
			return false;
		next = index + 1;
		cond_resched();
	}
	return !on || next > last >> SHIFT;
}

bool gpuemu_protect_test(struct gpuemu_protect *p, u64 page_nr)
{
	bool marked;
	void *entry;

	if (xa_empty(&p->blocks))
		return false;
	xa_lock(&p->blocks);
	entry = xa_load(&p->blocks, page_nr >> SHIFT);
	marked = is_bitmap(entry) ?
		 test_bit(page_nr % GPUEMU_BLOCK_PAGES, entry) : entry == ALL;
	xa_unlock(&p->blocks);
	return marked;
}

/* Clears mask bits bit.. for the marked ones of the n pages from first, of one block. */
void gpuemu_protect_mask(struct gpuemu_protect *p, u64 first, u32 n,
			 unsigned long *mask, u32 bit)
{
	u32 at = first % GPUEMU_BLOCK_PAGES, i;
	void *entry;

	if (xa_empty(&p->blocks))
		return;
	xa_lock(&p->blocks);
	entry = xa_load(&p->blocks, first >> SHIFT);
	if (entry == ALL)
		bitmap_clear(mask, bit, n);
	for (i = 0; is_bitmap(entry) && i < n; i++)
		if (test_bit(at + i, entry))
			__clear_bit(bit + i, mask);
	xa_unlock(&p->blocks);
}
