// SPDX-License-Identifier: GPL-2.0
/*
 * The use of pages that stay in TLBs, with paging.record: a TLB fill says that a page
 * is used, and nothing more is heard of it for as long as it hits. A record of first touches
 * alone would make Belady's MIN evict what is used most. So a hit counts as well, when nothing
 * was said of its entry for TOUCH_EVERY cycles. gmmu.c calls it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "gmmu/state.h"

#define TOUCH_EVERY	16384u	/* cycles */

int touch_init(struct gmmu *g, const struct gpu_spec *spec)
{
	for (unsigned int i = 0; g->record && i < g->sms; i++) {
		struct touches *t = &g->sm[i].touches;

		t->said = calloc(spec->tlb_entries, sizeof(*t->said));
		t->room = 64;
		t->at = calloc(t->room, sizeof(*t->at));
		if (!t->said || !t->at)
			return -ENOMEM;
	}
	return 0;
}

void touch_fini(struct gmmu *g)
{
	for (unsigned int i = 0; g->sm && i < g->sms; i++) {
		free(g->sm[i].touches.said);
		free(g->sm[i].touches.at);
	}
}

void touch_hit(struct sm_state *s, const struct gmmu_waiter *w, uint64_t page, uint64_t now)
{
	struct touches *t = &s->touches;
	/* It is the newest, since it was hit. */
	uint64_t *said = &t->said[s->tlb.newest];

	if (now - *said < TOUCH_EVERY)
		return;
	if (array_grow(t->at, t->room, t->count)) {
		t->failed = true;
		return;
	}
	*said = now;
	t->at[t->count++] = (struct touch){ now, page, w->access >= ACCESS_WRITE };
}

void touch_tell(struct gmmu *g, uint64_t upto)
{
	for (;;) {
		struct touches *first = NULL;
		const struct touch *use;

		for (unsigned int i = 0; i < g->sms; i++) {
			struct touches *t = &g->sm[i].touches;

			if (t->failed)
				g->error = -ENOMEM;
			t->failed = false;
			if (t->next < t->count && t->at[t->next].cycle <= upto &&
			    (!first || t->at[t->next].cycle < first->at[first->next].cycle))
				first = t;
		}
		if (!first)
			return;
		use = &first->at[first->next++];
		g->ops->touch(g->ctx, use->page, use->write);
		if (first->next == first->count)
			first->next = first->count = 0;
	}
}
