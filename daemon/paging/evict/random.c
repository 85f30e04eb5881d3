// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: any resident page, each as likely. HPCA'16 compares it with
 * LRU. The pages stand in a dense array, so that a random index is a random
 * page; a removed one is replaced by the last.
 */
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

static int random_create(const struct policy_view *view, void **state)
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

static int random_insert(void *state, uint64_t addr)
{
	struct random *r = state;
	uint64_t place;

	if (u64map_get(&r->index, addr, &place))
		return 0;
	if (r->count == r->room) {
		size_t room = r->room ? r->room * 2 : 512;
		uint64_t *bigger = realloc(r->pages, room * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		r->pages = bigger;
		r->room = room;
	}
	if (u64map_put(&r->index, addr, r->count))
		return -ENOMEM;
	r->pages[r->count++] = addr;
	return 0;
}

static void random_touch(void *state, uint64_t addr, bool write)
{
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

static uint64_t random_pick(void *state, const struct policy_view *view,
			    bool (*keep)(void *ctx, uint64_t addr), void *ctx)
{
	struct random *r = state;
	size_t at = 0;

	if (r->count == 0)
		return 0;
	for (unsigned int i = 0; i < TRIES; i++) {
		at = rng_scale(view->random(view->ctx), r->count);
		if (!keep(ctx, r->pages[at]))
			return r->pages[at];
	}
	for (size_t i = 0; i < r->count; i++) {
		uint64_t addr = r->pages[(at + i) % r->count];

		if (!keep(ctx, addr))
			return addr;
	}
	return 0;
}

const struct evict_ops evict_random_ops = {
	.name = "random",
	.help = "any page, each as likely; gpu.seed repeats it",
	.create = random_create,
	.destroy = random_destroy,
	.insert = random_insert,
	.touch = random_touch,
	.remove = random_remove,
	.pick = random_pick,
};
