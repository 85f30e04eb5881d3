// SPDX-License-Identifier: GPL-2.0
/*
 * The timing wheel. Every cycle between the first event and the last has to
 * be asked for with wheel_take(), which the SM's wake-up guarantees.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/wheel.h"

#define NIL	UINT32_MAX

void wheel_init(struct wheel *w)
{
	*w = (struct wheel){ .free = NIL };
	wheel_clear(w);
}

void wheel_fini(struct wheel *w)
{
	free(w->events);
	w->events = NULL;
}

void wheel_clear(struct wheel *w)
{
	for (uint32_t i = 0; i < WHEEL_SLOTS; i++)
		w->slots[i] = NIL;
	for (uint32_t i = 0; i < ARRAY_SIZE(w->map); i++)
		w->map[i] = 0;
	for (uint32_t i = 0; i < w->nevents; i++)
		w->events[i].next = i + 1 < w->nevents ? i + 1 : NIL;
	w->free = w->nevents ? 0 : NIL;
	w->count = 0;
}

static int grow(struct wheel *w)
{
	uint32_t n = w->nevents ? 2 * w->nevents : 256;
	struct wheel_event *events = realloc(w->events, n * sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (uint32_t i = w->nevents; i < n; i++)
		events[i].next = i + 1 < n ? i + 1 : NIL;
	w->free = w->nevents;
	w->events = events;
	w->nevents = n;
	return 0;
}

int wheel_add(struct wheel *w, uint64_t cycle, uint32_t who, const void *what)
{
	uint32_t slot = cycle % WHEEL_SLOTS, i;

	if (w->free == NIL && grow(w))
		return -ENOMEM;
	i = w->free;
	w->free = w->events[i].next;
	w->events[i] = (struct wheel_event){
		.cycle = cycle, .what = what, .who = who, .next = w->slots[slot],
	};
	w->slots[slot] = i;
	w->map[slot / 64] |= 1ull << (slot % 64);
	w->count++;
	return 0;
}

bool wheel_take(struct wheel *w, uint64_t now, uint32_t *who, const void **what)
{
	uint32_t slot = now % WHEEL_SLOTS;
	uint32_t *link = &w->slots[slot];

	while (*link != NIL) {
		uint32_t i = *link;
		struct wheel_event *e = &w->events[i];

		if (e->cycle != now) {
			link = &e->next;
			continue;
		}
		*who = e->who;
		*what = e->what;
		*link = e->next;
		e->next = w->free;
		w->free = i;
		w->count--;
		if (w->slots[slot] == NIL)
			w->map[slot / 64] &= ~(1ull << (slot % 64));
		return true;
	}
	return false;
}

uint64_t wheel_next(const struct wheel *w, uint64_t now)
{
	uint32_t from = (now + 1) % WHEEL_SLOTS;
	uint32_t word = from / 64;
	uint64_t bits;

	if (!w->count)
		return UINT64_MAX;
	/* The first word twice: its bits from `from` on, and at the end those before. */
	bits = w->map[word] & ~0ull << (from % 64);
	for (uint32_t k = 0; k <= ARRAY_SIZE(w->map); k++) {
		if (bits) {
			uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);

			return now + 1 + (slot + WHEEL_SLOTS - from) % WHEEL_SLOTS;
		}
		word = (word + 1) % ARRAY_SIZE(w->map);
		bits = w->map[word];
	}
	return UINT64_MAX;
}
