// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: any resident page, each as likely. HPCA'16 compares it with
 * LRU. The pages stand in a dense array, so that a random index is a random
 * page; a removed one is replaced by the last.
 */
#include "base/array.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/u64map.h"
#include "base/rng.h"

/* Random tries before the array is walked: enough while few pages are kept. */
#define TRIES	16u

struct random {
	uint64_t *pages;
	size_t count, room;
	struct u64map index;	/* address to its place in pages */
};

static int random_create(const struct gpuemu_policy_view *view, void **state)
{
	*state = calloc(1, sizeof(struct random));
	return *state ? 0 : -ENOMEM;
}

static void random_destroy(void *state)
{
	struct random *r = state;

	u64map_clear(&r->index);
	free(r->pages);
	free(r);
}

static int random_insert(void *state, uint64_t addr, bool prefetched)
{
	struct random *r = state;
	uint64_t place;

	if (u64map_get(&r->index, addr, &place))
		return 0;
	if (array_grow(r->pages, r->room, r->count))
		return -ENOMEM;
	if (u64map_put(&r->index, addr, r->count))
		return -ENOMEM;
	r->pages[r->count++] = addr;
	return 0;
}

static void random_remove(void *state, uint64_t addr)
{
	struct random *r = state;
	uint64_t place, last;

	if (!u64map_get(&r->index, addr, &place))
		return;
	u64map_del(&r->index, addr);
	last = r->pages[--r->count];
	if (last == addr)
		return;
	r->pages[place] = last;
	/* Replaces a key that is there: needs no memory, cannot fail. */
	u64map_put(&r->index, last, place);
}

/*
 * A page that is drawn changes places with the one at the end of those not drawn
 * yet, so that none is drawn twice; the last call's order is the next one's start.
 */
static void swap(struct random *r, size_t a, size_t b)
{
	uint64_t page = r->pages[a];

	if (a == b)
		return;
	r->pages[a] = r->pages[b];
	r->pages[b] = page;
	/* Both keys are there: this needs no memory, it cannot fail. */
	u64map_put(&r->index, r->pages[a], a);
	u64map_put(&r->index, r->pages[b], b);
}

static unsigned int random_pick(void *state, const struct gpuemu_policy_view *view,
				unsigned int need, bool (*keep)(void *ctx, uint64_t addr),
				void *ctx, uint64_t *pages, unsigned int max)
{
	struct random *r = state;
	size_t left = r->count;		/* pages that were not drawn */
	unsigned int n = 0, misses = 0;

	while (left && n < need && misses < TRIES) {
		size_t at = rng_scale(view->random(view->ctx), left);

		if (keep(ctx, r->pages[at])) {
			misses++;
			continue;
		}
		misses = 0;
		pages[n++] = r->pages[at];
		swap(r, at, --left);
	}
	/* Nearly all are kept: in order, from a random place on. */
	for (size_t i = 0, from = left ? rng_scale(view->random(view->ctx), left) : 0;
	     i < left && n < need; i++) {
		uint64_t addr = r->pages[(from + i) % left];

		if (!keep(ctx, addr))
			pages[n++] = addr;
	}
	return n;
}

const struct gpuemu_evict_ops evict_random_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "random",
	.help = "any page, each as likely; gpu.seed repeats it",
	.create = random_create,
	.destroy = random_destroy,
	.insert = random_insert,
	.remove = random_remove,
	.pick = random_pick,
};
