// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: the tree of a VA block, as nvidia-uvm's prefetcher has it and
 * ISCA'19 (Ganguly et al.) found it in the driver. The leaves are 64 KiB; a faulted page
 * takes its leaf along; then the largest subtree around it that is more than `threshold`
 * percent full, counting what is here and the leaves of all faults of the batch, is
 * filled. So the more of a block is used, the more comes at once: 2 MiB at most.
 *
 * threshold=51 is nvidia-uvm's, 50 UVMSmart's TBNp (more than half). 0 fills the whole
 * tree at the first fault; 100 never grows: the leaf alone, as sequential-local. The tree
 * is cut to one allocation: a 256 KiB one has a tree of four leaves.
 */
#include "paging/blocks.h"
#include "paging/prefetch/span.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS	BITMAP_WORDS(BLOCK_PAGES)

static int tree_create(const struct gpuemu_policy_view *view, void **state)
{
	*state = calloc(1, sizeof(struct blocks));
	return *state ? 0 : -ENOMEM;
}

static void tree_destroy(void *state)
{
	blocks_clear(state);
	free(state);
}

static void tree_on_arrive(void *state, uint64_t addr, bool prefetched)
{
	/* Without memory the page is asked for again, and left out then. */
	blocks_set(state, addr);
}

static void tree_on_arrive_run(void *state, uint64_t addr, uint64_t pages)
{
	blocks_set_run(state, addr, pages);
}

static void tree_on_leave(void *state, uint64_t addr)
{
	blocks_unset(state, addr);
}

static void tree_on_leave_run(void *state, uint64_t addr, uint64_t pages)
{
	blocks_unset_run(state, addr, pages);
}

/* One tree of the batch. */
struct tree {
	uint64_t base;			/* of its VA block */
	uint64_t managed[WORDS];	/* its pages */
	uint64_t here[WORDS];		/* of them: here, or in the leaf of a fault */
	uint32_t faulted;		/* leaves with faults */
	uint32_t filled;		/* leaves to fill */
};

/* The leaves of the largest subtree around `leaf` that is fuller than the threshold. */
static uint32_t grow(const struct tree *t, unsigned int leaf, uint64_t threshold)
{
	uint32_t best = 1u << leaf;

	for (unsigned int n = 2; n <= BLOCK_LEAVES; n *= 2) {
		unsigned int first = leaf / n * n;
		uint64_t here = leaves_count(t->here, first, n);
		uint64_t size = leaves_count(t->managed, first, n);

		if (here * 100 > size * threshold)
			best = (uint32_t)((1ull << n) - 1) << first;
	}
	return best;
}

static void fill(struct tree *t, uint64_t threshold)
{
	uint32_t left;

	t->filled = 0;
	for (left = t->faulted; left; left &= left - 1)
		t->filled |= grow(t, (unsigned int)__builtin_ctz(left), threshold);
}

/* Appends the absent pages of `leaves`. */
static unsigned int emit(const struct tree *t, const uint64_t *resident, uint32_t leaves,
			 uint64_t *pages, unsigned int count, unsigned int max)
{
	for (; leaves; leaves &= leaves - 1) {
		unsigned int leaf = (unsigned int)__builtin_ctz(leaves);
		unsigned int left = leaf_bits(t->managed, leaf);

		if (resident)
			left &= ~leaf_bits(resident, leaf);
		for (; left && count < max; left &= left - 1)
			pages[count++] = t->base + PAGE_BYTES *
				(leaf * LEAF_PAGES + (unsigned int)__builtin_ctz(left));
	}
	return count;
}

/* The faults of one tree, from faults[0] on; returns how many they are. */
static unsigned int plant(struct tree *t, const struct gpuemu_policy_view *view,
			  const uint64_t *resident, const struct gpuemu_policy_fault *faults,
			  unsigned int n)
{
	struct span span = span_around(view, faults[0].addr, GPUEMU_POLICY_BLOCK);
	unsigned int i;

	t->base = faults[0].addr & ~(GPUEMU_POLICY_BLOCK - 1);
	t->faulted = 0;
	block_mask(t->managed, t->base, span.start, span.end);
	for (unsigned int w = 0; w < WORDS; w++)
		t->here[w] = resident ? resident[w] & t->managed[w] : 0;
	for (i = 0; i < n && faults[i].addr < span.end; i++) {
		unsigned int leaf = (unsigned int)((faults[i].addr - t->base) / GPUEMU_POLICY_LEAF);

		if (faults[i].resident)
			continue;
		t->faulted |= 1u << leaf;
		t->here[leaf / 4] |= t->managed[leaf / 4] &
				     0xffffull << (leaf % 4 * LEAF_PAGES);
	}
	return i;
}

static unsigned int tree_on_batch(void *state, const struct gpuemu_policy_view *view,
				  const struct gpuemu_policy_fault *faults, unsigned int n,
				  uint64_t *pages, unsigned int max)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < n;) {
		const struct block_bits *block = blocks_find(state, faults[i].addr);
		const uint64_t *resident = block ? block->here : NULL;
		struct tree t;

		i += plant(&t, view, resident, &faults[i], n - i);
		fill(&t, view->options[0]);
		/* The faulted leaves are wanted most. */
		count = emit(&t, resident, t.faulted, pages, count, max);
		count = emit(&t, resident, t.filled & ~t.faulted, pages, count, max);
	}
	return count;
}

static const struct gpuemu_policy_option options[] = {
	{ "threshold", 51, 0, 100, "percent: a subtree that is fuller than this is filled" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_tree_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "tree",
	.help = "64 KiB, and the subtree of the 2 MiB block that is half full (nvidia-uvm)",
	.options = options,
	.create = tree_create,
	.destroy = tree_destroy,
	.on_batch = tree_on_batch,
	.on_arrive = tree_on_arrive,
	.on_leave = tree_on_leave,
};

const struct prefetch_runs prefetch_tree_runs = {
	.ops = &prefetch_tree_ops,
	.on_arrive = tree_on_arrive_run,
	.on_leave = tree_on_leave_run,
};
