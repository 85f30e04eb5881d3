// SPDX-License-Identifier: GPL-2.0
/* Places of pages in a recorded run. Used by the oracle and by MIN; decides nothing. */
#include "base/array.h"
#include "paging/recorded.h"

#include <errno.h>
#include <stdlib.h>

#define MEAN_SHIFT	6u	/* the deviation is a mean over about 64 touches */
#define AHEAD_MOST	64u	/* matches ahead in a row: this run has left something out */
#define SLACK_LEAST	8u

/* --- making it ------------------------------------------------------------------- */

static int count_page(struct recorded *r, uint64_t *room, uint64_t addr)
{
	uint64_t i;

	if (u64map_get(&r->index, addr, &i)) {
		r->pages[i].count++;
		return 0;
	}
	if (array_grow(r->pages, *room, r->npages))
		return -ENOMEM;
	if (u64map_put(&r->index, addr, r->npages))
		return -ENOMEM;
	r->pages[r->npages++] = (struct recorded_page){ .count = 1 };
	return 0;
}

static int sort_places(struct recorded *r)
{
	uint64_t room = 0, first = 0, i;

	for (uint64_t place = 0; place < r->length; place++)
		if (count_page(r, &room, r->record[place]))
			return -ENOMEM;
	for (i = 0; i < r->npages; i++) {
		r->pages[i].first = first;
		first += r->pages[i].count;
		r->pages[i].count = 0;
	}
	for (uint64_t place = 0; place < r->length; place++) {
		u64map_get(&r->index, r->record[place], &i);
		r->places[r->pages[i].first + r->pages[i].count++] = place;
	}
	return 0;
}

int recorded_make(struct recorded *r, const struct gpuemu_policy_view *view)
{
	*r = (struct recorded){
		.record = view->record,
		.length = view->record_length,
	};
	r->places = malloc(MAX(r->length, 1u) * sizeof(*r->places));
	if (!r->places || sort_places(r)) {
		recorded_clear(r);
		return -ENOMEM;
	}
	return 0;
}

void recorded_clear(struct recorded *r)
{
	free(r->places);
	free(r->pages);
	u64map_clear(&r->index);
	*r = (struct recorded){ NULL };
}

/* --- following this run ------------------------------------------------------------- */

/* Index of the page's place that is nearest to now. */
static uint64_t nearest(const struct recorded *r, struct recorded_page *page)
{
	const uint64_t *places = &r->places[page->first];
	uint64_t i = page->near;

	while (i < page->count && places[i] < r->now)
		i++;
	while (i > 0 && places[i - 1] >= r->now)
		i--;
	page->near = i;
	/* places[i - 1] < now <= places[i] */
	if (i == page->count || (i > 0 && r->now - places[i - 1] < places[i] - r->now))
		i--;
	return i;
}

/* Many in a row that are all ahead by more than that: so is this run. */
static void look_ahead(struct recorded *r, uint64_t place)
{
	uint64_t by = place > r->now ? place - r->now : 0;

	if (!by) {
		r->ahead = 0;
		return;
	}
	r->least_ahead = r->ahead ? MIN(r->least_ahead, by) : by;
	if (++r->ahead < AHEAD_MOST)
		return;
	r->now += r->least_ahead;
	r->ahead = 0;
}

void recorded_touch(struct recorded *r, uint64_t addr)
{
	struct recorded_page *page;
	uint64_t i, place, off;

	if (!u64map_get(&r->index, addr, &i))
		return;
	page = &r->pages[i];
	i = nearest(r, page);
	place = r->places[page->first + i];
	page->next = MAX(page->next, i + 1);
	off = place > r->now ? place - r->now : r->now - place;
	r->deviation += MIN(off, r->length / 8) - (r->deviation >> MEAN_SHIFT);
	look_ahead(r, place);
	/* Behind: none; there: one; ahead: two. */
	r->now += (place >= r->now) + (place > r->now);
}

uint64_t recorded_next(struct recorded *r, uint64_t addr)
{
	uint64_t slack = SLACK_LEAST + 4 * (r->deviation >> MEAN_SHIFT);
	struct recorded_page *page;
	uint64_t i;

	if (!u64map_get(&r->index, addr, &i))
		return NEVER_AGAIN;
	page = &r->pages[i];
	while (page->next < page->count &&
	       r->places[page->first + page->next] + slack < r->now)
		page->next++;
	return page->next < page->count ? r->places[page->first + page->next] : NEVER_AGAIN;
}
