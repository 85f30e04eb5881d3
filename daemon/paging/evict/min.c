// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: Belady's MIN (1966): the page whose next touch in a recorded run is
 * farthest away goes first, and one that is not touched again before all others. The
 * bound: with recent=0, and where this run touches pages as the recorded one did, no
 * policy has fewer faults.
 *
 * Two runs on a GPU do not: what one SM is through with another one may still be at, and
 * in a scan the page touched last is the one that comes again last. So the pages
 * touched last, `recent` percent of all, go only when nothing else can.
 *
 * The others stand in a heap with the farthest next touch on top. All stand in one with
 * the nearest on top: it tells when a page's place was left out by this run, and its next
 * one counts. Ties go by address.
 */
#include "base/array.h"
#include "paging/recorded.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	SIZE_MAX

enum { FAR, NEAR };

struct resident {
	uint64_t addr, next;	/* touch; of a free slot: the next free slot */
	size_t at[2];		/* place in either heap; NONE in FAR: it is recent */
	size_t newer, older;	/* recent pages */
};

struct heap {
	size_t *slots;
	size_t count;
};

struct min {
	struct recorded future;
	struct resident *pages;		/* slots */
	size_t room, free;		/* free: the first free slot, or room */
	struct heap heap[2];
	size_t newest, oldest, nrecent;	/* recent pages */
	uint64_t percent;
	size_t *walk;			/* room for a pick */
	struct u64map index;		/* address to slot */
};

/* --- the heaps ------------------------------------------------------------------- */

/* Is slot a above slot b? A total order, so that nothing depends on the heap's past. */
static bool above(const struct min *m, int which, size_t a, size_t b)
{
	const struct resident *x = &m->pages[a], *y = &m->pages[b];

	if (x->next != y->next)
		return which == FAR ? x->next > y->next : x->next < y->next;
	return x->addr < y->addr;
}

static void set(struct min *m, int which, size_t place, size_t slot)
{
	m->heap[which].slots[place] = slot;
	m->pages[slot].at[which] = place;
}

/* Moves what is at `place` to where it belongs. */
static void sift(struct min *m, int which, size_t place)
{
	const struct heap *h = &m->heap[which];
	size_t slot = h->slots[place];

	for (; place && above(m, which, slot, h->slots[(place - 1) / 2]); place = (place - 1) / 2)
		set(m, which, place, h->slots[(place - 1) / 2]);
	for (;;) {
		size_t child = 2 * place + 1;

		if (child + 1 < h->count && above(m, which, h->slots[child + 1], h->slots[child]))
			child++;
		if (child >= h->count || !above(m, which, h->slots[child], slot))
			break;
		set(m, which, place, h->slots[child]);
		place = child;
	}
	set(m, which, place, slot);
}

static void heap_add(struct min *m, int which, size_t slot)
{
	set(m, which, m->heap[which].count++, slot);
	sift(m, which, m->pages[slot].at[which]);
}

static void heap_remove(struct min *m, int which, size_t slot)
{
	struct heap *h = &m->heap[which];
	size_t place = m->pages[slot].at[which], last = h->slots[--h->count];

	m->pages[slot].at[which] = NONE;
	if (last == slot)
		return;
	set(m, which, place, last);
	sift(m, which, place);
}

/* Its next touch is another one. */
static void move(struct min *m, size_t slot)
{
	m->pages[slot].next = recorded_next(&m->future, m->pages[slot].addr);
	sift(m, NEAR, m->pages[slot].at[NEAR]);
	if (m->pages[slot].at[FAR] != NONE)
		sift(m, FAR, m->pages[slot].at[FAR]);
}

/* --- recent pages ------------------------------------------------------------------ */

static void unlink_recent(struct min *m, size_t slot)
{
	struct resident *page = &m->pages[slot];

	if (page->newer == NONE)
		m->newest = page->older;
	else
		m->pages[page->newer].older = page->older;
	if (page->older == NONE)
		m->oldest = page->newer;
	else
		m->pages[page->older].newer = page->newer;
	m->nrecent--;
}

static void link_recent(struct min *m, size_t slot)
{
	m->pages[slot].newer = NONE;
	m->pages[slot].older = m->newest;
	if (m->newest == NONE)
		m->oldest = slot;
	else
		m->pages[m->newest].newer = slot;
	m->newest = slot;
	m->nrecent++;
}

/* Moves the oldest recent pages to the rest while there are too many recent ones. */
static void age(struct min *m)
{
	while (m->nrecent > m->heap[NEAR].count * m->percent / 100) {
		size_t slot = m->oldest;

		unlink_recent(m, slot);
		heap_add(m, FAR, slot);
	}
}

static void make_recent(struct min *m, size_t slot)
{
	if (m->pages[slot].at[FAR] == NONE)
		unlink_recent(m, slot);
	else
		heap_remove(m, FAR, slot);
	link_recent(m, slot);
	age(m);
}

/* --- making it ------------------------------------------------------------------- */

static int min_create(const struct gpuemu_policy_view *view, void **state)
{
	struct min *m = calloc(1, sizeof(*m));

	if (!m || recorded_make(&m->future, view)) {
		free(m);
		return -ENOMEM;
	}
	m->percent = view->options[0];
	m->newest = NONE;
	m->oldest = NONE;
	*state = m;
	return 0;
}

static void min_destroy(void *state)
{
	struct min *m = state;

	recorded_clear(&m->future);
	u64map_clear(&m->index);
	free(m->pages);
	free(m->heap[FAR].slots);
	free(m->heap[NEAR].slots);
	free(m->walk);
	free(m);
}

static int grow(struct min *m)
{
	size_t room = m->room ? m->room * 2 : 512;

	if (array_resize(m->pages, room) || array_resize(m->heap[FAR].slots, room) ||
	    array_resize(m->heap[NEAR].slots, room) || array_resize(m->walk, room))
		return -ENOMEM;
	for (size_t slot = m->room; slot < room; slot++)
		m->pages[slot].next = slot + 1;
	m->free = m->room;
	m->room = room;
	return 0;
}

/* --- pages come, are touched, and go ------------------------------------------------ */

static int min_insert(void *state, uint64_t addr, bool prefetched)
{
	struct min *m = state;
	struct resident *page;
	uint64_t slot;

	if (u64map_get(&m->index, addr, &slot))
		return 0;
	if (m->heap[NEAR].count == m->room && grow(m))
		return -ENOMEM;
	slot = m->free;
	if (u64map_put(&m->index, addr, slot))
		return -ENOMEM;
	page = &m->pages[slot];
	m->free = page->next;
	page->addr = addr;
	page->next = recorded_next(&m->future, addr);
	page->at[FAR] = NONE;
	heap_add(m, NEAR, slot);
	link_recent(m, slot);
	age(m);
	return 0;
}

static void min_touch(void *state, uint64_t addr, bool write)
{
	struct min *m = state;
	uint64_t slot;

	recorded_touch(&m->future, addr);
	if (u64map_get(&m->index, addr, &slot)) {
		move(m, slot);
		make_recent(m, slot);
	}
	/* Pages whose place this run has left behind. Each round passes over a place. */
	while (m->heap[NEAR].count) {
		size_t nearest = m->heap[NEAR].slots[0];

		if (m->pages[nearest].next == recorded_next(&m->future, m->pages[nearest].addr))
			break;
		move(m, nearest);
	}
}

static void min_remove(void *state, uint64_t addr)
{
	struct min *m = state;
	uint64_t slot;

	if (!u64map_get(&m->index, addr, &slot))
		return;
	u64map_del(&m->index, addr);
	if (m->pages[slot].at[FAR] == NONE)
		unlink_recent(m, slot);
	else
		heap_remove(m, FAR, slot);
	heap_remove(m, NEAR, slot);
	m->pages[slot].next = m->free;
	m->free = slot;
	age(m);
}

/*
 * The farthest that need not be kept. A heap gives its top only, so a walk keeps the
 * places whose parents were seen in a heap of its own: k pages cost O(k log k).
 */
static size_t at_walk(const struct min *m, size_t i)
{
	return m->heap[FAR].slots[m->walk[i]];
}

static void push(struct min *m, size_t *n, size_t place)
{
	size_t at = (*n)++;

	for (; at && above(m, FAR, m->heap[FAR].slots[place], at_walk(m, (at - 1) / 2));
	     at = (at - 1) / 2)
		m->walk[at] = m->walk[(at - 1) / 2];
	m->walk[at] = place;
}

static size_t pop(struct min *m, size_t *n)
{
	size_t top = m->walk[0], last = m->walk[--*n], at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < *n && above(m, FAR, at_walk(m, child + 1), at_walk(m, child)))
			child++;
		if (child >= *n || !above(m, FAR, at_walk(m, child), m->heap[FAR].slots[last]))
			break;
		m->walk[at] = m->walk[child];
		at = child;
	}
	if (*n)
		m->walk[at] = last;
	return top;
}

static unsigned int min_pick(void *state, const struct gpuemu_policy_view *view,
			     unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			     uint64_t *pages, unsigned int max)
{
	struct min *m = state;
	unsigned int n = 0;
	size_t waiting = 0;

	if (m->heap[FAR].count)
		push(m, &waiting, 0);
	while (waiting && n < need) {
		size_t place = pop(m, &waiting);
		uint64_t addr = m->pages[m->heap[FAR].slots[place]].addr;

		if (!keep(ctx, addr))
			pages[n++] = addr;
		for (size_t child = 2 * place + 1; child <= 2 * place + 2; child++)
			if (child < m->heap[FAR].count)
				push(m, &waiting, child);
	}
	for (size_t slot = m->oldest; slot != NONE && n < need; slot = m->pages[slot].newer)
		if (!keep(ctx, m->pages[slot].addr))
			pages[n++] = m->pages[slot].addr;
	return n;
}

static const struct gpuemu_policy_option options[] = {
	{ "recent", 12, 0, 99, "percent of the pages, those touched last, that go last; 0: exact MIN" },
	{ NULL }
};

const struct gpuemu_evict_ops evict_min_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "min",
	.help = "what a recorded run touches again last (Belady); needs --recorded FILE",
	.options = options,
	.needs_record = true,
	.create = min_create,
	.destroy = min_destroy,
	.insert = min_insert,
	.touch = min_touch,
	.remove = min_remove,
	.pick = min_pick,
};
