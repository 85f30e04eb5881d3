// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: the mirror of the tree prefetcher (ISCA'19, Ganguly et al.: TBNe;
 * UVMSmart). The least recently touched VA block gives the least recently touched of its 64 KiB
 * leaves; then, from there upwards, a subtree that is left less than half full, but not
 * empty, goes whole. So memory goes as it came, in growing pieces, and what the prefetcher
 * would not have brought does not stay.
 *
 * Trees are cut to one allocation, as those of the prefetcher are. Pages that must stay stay,
 * and count as if they had gone: they are few, and soon touched.
 */
#include "paging/evict/units.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	BITMAP_WORDS(BLOCK_PAGES)

static int tree_create(const struct gpuemu_policy_view *view, void **state)
{
	struct units *units = malloc(sizeof(*units));

	if (!units)
		return -ENOMEM;
	evict_units_init(units, BLOCK_SHIFT);
	*state = units;
	return 0;
}

static void tree_destroy(void *state)
{
	units_clear(state);
	free(state);
}

static int tree_insert(void *state, uint64_t addr, bool prefetched)
{
	return units_insert(state, addr);
}

static void tree_touch(void *state, uint64_t addr, bool write)
{
	units_touch(state, addr);
}

static void tree_remove(void *state, uint64_t addr)
{
	units_remove(state, addr);
}

static uint64_t leaf_mask(unsigned int leaf)
{
	return 0xffffull << (leaf % 4 * LEAF_PAGES);
}

/* The pages of the tree that the leaf is in: its allocation's part of the block. */
static void tree_pages(const struct gpuemu_policy_view *view, uint64_t base, uint64_t addr,
		       uint64_t *managed)
{
	uint64_t start = base, end = base + GPUEMU_POLICY_BLOCK;
	struct gpuemu_policy_range range;

	if (view->next_range(view->ctx, addr, &range) && range.start <= addr) {
		start = MAX(start, range.start);
		end = MIN(end, range.end);
	}
	block_mask(managed, base, start, end);
}

/* Takes from left[], what is left of the tree, all that goes with `leaf`: into gone[]. */
static void fall(uint64_t *left, const uint64_t *managed, unsigned int leaf, uint64_t *gone)
{
	memset(gone, 0, WORDS * sizeof(*gone));
	for (unsigned int n = 1; n <= BLOCK_LEAVES; n *= 2) {
		unsigned int first = leaf / n * n;
		uint64_t here = 0;

		for (unsigned int i = first; i < first + n; i++)
			here += (unsigned int)__builtin_popcount(leaf_bits(left, i) &
								 leaf_bits(managed, i));
		if (n > 1 && (!here || here * 2 >= leaves_count(managed, first, n)))
			continue;
		for (unsigned int i = first; i < first + n; i++) {
			/* The leaf itself goes whatever ranges say of it. */
			uint64_t goes = left[i / 4] & leaf_mask(i) &
					(i == leaf ? ~0ull : managed[i / 4]);

			gone[i / 4] |= goes;
			left[i / 4] &= ~goes;
		}
	}
}

/* The least recently touched leaf that has something left; -1: none has. */
static int oldest_leaf(const struct unit *block, const uint64_t *left)
{
	int oldest = -1;

	for (int leaf = 0; leaf < (int)BLOCK_LEAVES; leaf++)
		if (leaf_bits(left, (unsigned int)leaf) &&
		    (oldest < 0 || block->touched[leaf] < block->touched[oldest]))
			oldest = leaf;
	return oldest;
}

static unsigned int pick_in_block(const struct gpuemu_policy_view *view, const struct unit *block,
				  unsigned int need, bool (*keep)(void *ctx, uint64_t addr),
				  void *ctx, uint64_t *pages, unsigned int n, unsigned int max)
{
	uint64_t left[WORDS];
	int found;

	memcpy(left, block->here, sizeof(left));
	while (n < need && (found = oldest_leaf(block, left)) >= 0) {
		unsigned int leaf = (unsigned int)found;
		unsigned int first = (unsigned int)__builtin_ctz(leaf_bits(left, leaf));
		uint64_t managed[WORDS], gone[WORDS];

		tree_pages(view, block->addr,
			   block->addr + (leaf * LEAF_PAGES + first) * PAGE_BYTES, managed);
		fall(left, managed, leaf, gone);
		n = unit_pick(block, gone, keep, ctx, pages, n, max);
	}
	return n;
}

static unsigned int tree_pick(void *state, const struct gpuemu_policy_view *view,
			      unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			      uint64_t *pages, unsigned int max)
{
	struct units *units = state;
	unsigned int n = 0;

	list_for_each(node, &units->order) {
		if (n >= need)
			break;
		n = pick_in_block(view, list_entry(node, struct unit, node), need, keep, ctx,
				  pages, n, max);
	}
	return n;
}

const struct gpuemu_evict_ops evict_tree_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "tree",
	.help = "a 64 KiB leaf, and the subtree that is left less than half full",
	.create = tree_create,
	.destroy = tree_destroy,
	.insert = tree_insert,
	.touch = tree_touch,
	.remove = tree_remove,
	.pick = tree_pick,
};
