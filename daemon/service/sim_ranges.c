// SPDX-License-Identifier: GPL-2.0
/* Managed ranges: a sorted array and binary search. sim.c and uffd.c call it. */
#include "base/array.h"
#include "service/sim_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first range that ends behind addr, or that belongs to a later VA space. */
static size_t range_at(const struct ranges *r, uint32_t va_space, uint64_t addr)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &r->at[middle];

		if (range->va_space < va_space ||
		    (range->va_space == va_space && range->end <= addr))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range ranges_at(const struct ranges *r, uint32_t va_space, uint64_t addr)
{
	size_t i = range_at(r, va_space, addr);

	if (i < r->count && r->at[i].va_space == va_space && r->at[i].start <= addr)
		return r->at[i];
	return (struct range){ 0 };
}

bool ranges_have(const struct ranges *r, uint32_t va_space, uint64_t addr)
{
	return ranges_at(r, va_space, addr).end;
}

bool ranges_overlap(const struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end)
{
	size_t i = range_at(r, va_space, start);

	return i < r->count && r->at[i].va_space == va_space && r->at[i].start < end;
}

void ranges_clip(const struct ranges *r, uint32_t va_space, uint64_t addr, uint64_t *start,
		 uint64_t *end)
{
	size_t i = range_at(r, va_space, addr);

	if (i < r->count && r->at[i].va_space == va_space)
		*end = MIN(*end, r->at[i].start);
	if (i && r->at[i - 1].va_space == va_space)
		*start = MAX(*start, r->at[i - 1].end);
}

static int insert(struct ranges *r, size_t i, struct range range)
{
	if (array_grow(r->at, r->room, r->count))
		return -ENOMEM;
	memmove(&r->at[i + 1], &r->at[i], (r->count - i) * sizeof(*r->at));
	r->at[i] = range;
	r->count++;
	return 0;
}

int ranges_add(struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end)
{
	return insert(r, range_at(r, va_space, start), (struct range){ start, end, va_space });
}

static bool is_of(const struct ranges *r, size_t i, uint32_t va_space)
{
	return i < r->count && r->at[i].va_space == va_space;
}

void ranges_tell(const struct ranges *r, const struct ranges *without, uint32_t va_space,
		 struct addr_ranges *to)
{
	ranges_tell_both(r, &(const struct ranges){ 0 }, without, va_space, to);
}

void ranges_tell_both(const struct ranges *a, const struct ranges *b,
		      const struct ranges *without, uint32_t va_space, struct addr_ranges *to)
{
	size_t i = range_at(a, va_space, 0), j = range_at(b, va_space, 0);

	while (is_of(a, i, va_space) || is_of(b, j, va_space)) {
		bool first = !is_of(b, j, va_space) ||
			     (is_of(a, i, va_space) && a->at[i].start < b->at[j].start);
		const struct range *r = first ? &a->at[i++] : &b->at[j++];

		if (!ranges_have(without, va_space, r->start))
			addr_ranges_add(to, r->start, r->end);
	}
}

int ranges_cut(struct ranges *r, uint32_t va_space, uint64_t start, uint64_t end)
{
	size_t i = range_at(r, va_space, start), last;

	if (!is_of(r, i, va_space))
		return 0;
	if (r->at[i].start < start && r->at[i].end > end) {
		int rc = insert(r, i, (struct range){ r->at[i].start, start, va_space });

		if (!rc)
			r->at[i + 1].start = end;
		return rc;
	}
	if (r->at[i].start < start)
		r->at[i++].end = start;
	for (last = i; is_of(r, last, va_space) && r->at[last].end <= end; last++)
		;
	memmove(&r->at[i], &r->at[last], (r->count - last) * sizeof(*r->at));
	r->count -= last - i;
	if (is_of(r, i, va_space) && r->at[i].start < end)
		r->at[i].start = end;
	return 0;
}

void ranges_clear(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){ 0 };
}
