// SPDX-License-Identifier: GPL-2.0
/*
 * Transfers on the link, counted by the part that has passed. Told by the fault
 * handler, asked by the counters; it changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/base.h"
#include "gpu/link_use.h"

void link_use_reset(struct link_use *u)
{
	for (unsigned int k = 0; k <= KERNEL_SLOTS; k++)
		for (unsigned int i = 0; i < 2; i++)
			free(u->ways[k][i].parts);
	*u = (struct link_use){ 0 };
}

static bool make_room(struct link_way *w)
{
	if (w->first) {
		memmove(w->parts, w->parts + w->first, (w->count - w->first) * sizeof(*w->parts));
		w->count -= w->first;
		w->first = 0;
	}
	return !array_grow(w->parts, w->room, w->count);
}

void link_use_add(struct link_use *u, unsigned int kernel, bool d2h, uint64_t begin, uint64_t end,
		  uint64_t bytes)
{
	struct link_way *w = &u->ways[kernel][d2h];

	if (end <= begin || (w->count == w->room && !make_room(w))) {
		w->busy += end > begin ? end - begin : 0;
		w->bytes += bytes;
		return;
	}
	w->parts[w->count++] = (struct link_part){ begin, end, bytes };
}

static void way_upto(struct link_way *w, uint64_t now)
{
	uint64_t b, n;

	while (w->first < w->count && w->parts[w->first].end <= now) {
		const struct link_part *p = &w->parts[w->first++];

		w->busy += p->end - p->begin;
		w->bytes += p->bytes;
	}
	b = w->busy;
	n = w->bytes;
	for (size_t i = w->first; i < w->count && w->parts[i].begin < now; i++) {
		const struct link_part *p = &w->parts[i];
		uint64_t passed = MIN(now, p->end) - p->begin;

		b += passed;
		n += (uint64_t)((unsigned __int128)p->bytes * passed / (p->end - p->begin));
	}
	/* A report may be asked for an earlier cycle than the one before. */
	w->told_busy = MAX(w->told_busy, b);
	w->told_bytes = MAX(w->told_bytes, n);
}

void link_use_upto(struct link_use *u, bool d2h, uint64_t now, uint64_t *busy, uint64_t *bytes)
{
	*busy = *bytes = 0;
	for (unsigned int k = 0; k <= KERNEL_SLOTS; k++) {
		struct link_way *w = &u->ways[k][d2h];

		way_upto(w, now);
		*busy += w->told_busy;
		*bytes += w->told_bytes;
	}
}

void link_use_of(const struct link_use *u, unsigned int kernel, bool d2h, uint64_t *busy,
		 uint64_t *bytes)
{
	*busy = u->ways[kernel][d2h].told_busy;
	*bytes = u->ways[kernel][d2h].told_bytes;
}
