// SPDX-License-Identifier: GPL-2.0
/*
 * Extents that are taken are kept in an array, in the order of their addresses: there are
 * no more than an SM has CTAs (or warps), and holes need no merging.
 */
#include "sm/extent.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int extents_init(struct extents *e, uint32_t size, unsigned int most)
{
	*e = (struct extents){ .size = size, .largest = size, .most = most };
	e->taken = calloc(MAX(most, 1u), sizeof(*e->taken));
	return e->taken ? 0 : -ENOMEM;
}

void extents_fini(struct extents *e)
{
	free(e->taken);
	e->taken = NULL;
}

void extents_clear(struct extents *e)
{
	e->count = 0;
	e->used = 0;
	e->largest = e->size;
}

/* The hole before the i-th extent that is taken, or behind the last one. */
static struct extent hole(const struct extents *e, unsigned int i)
{
	uint32_t at = i ? e->taken[i - 1].at + e->taken[i - 1].size : 0;
	uint32_t end = i < e->count ? e->taken[i].at : e->size;

	return (struct extent){ at, end - at };
}

uint32_t extents_find(const struct extents *e, uint32_t size, uint32_t from, uint32_t to)
{
	if (!size)
		return from;
	for (unsigned int i = 0; i <= e->count; i++) {
		struct extent h = hole(e, i);
		uint32_t at = MAX(h.at, from), end = MIN(h.at + h.size, to);

		if (at < end && end - at >= size)
			return at;
	}
	return EXTENT_NONE;
}

bool extents_fit(const struct extents *e, uint32_t size, unsigned int n, uint32_t from,
		 uint32_t to)
{
	uint64_t fit = 0;

	if (!size)
		return true;
	for (unsigned int i = 0; i <= e->count && fit < n; i++) {
		struct extent h = hole(e, i);
		uint32_t at = MAX(h.at, from), end = MIN(h.at + h.size, to);

		fit += at < end ? (end - at) / size : 0;
	}
	return fit >= n;
}

static void measure(struct extents *e)
{
	e->largest = 0;
	for (unsigned int i = 0; i <= e->count; i++)
		e->largest = MAX(e->largest, hole(e, i).size);
}

uint32_t extents_take(struct extents *e, uint32_t size, uint32_t from, uint32_t to)
{
	uint32_t at = extents_find(e, size, from, to);
	unsigned int i = 0;

	if (!size)
		return at;
	assert(at != EXTENT_NONE && e->count < e->most);
	while (i < e->count && e->taken[i].at < at)
		i++;
	memmove(&e->taken[i + 1], &e->taken[i], (e->count - i) * sizeof(e->taken[0]));
	e->taken[i] = (struct extent){ at, size };
	e->count++;
	e->used += size;
	measure(e);
	return at;
}

void extents_give(struct extents *e, uint32_t at, uint32_t size)
{
	unsigned int i = 0;

	if (!size)
		return;
	while (i < e->count && e->taken[i].at < at)
		i++;
	assert(i < e->count && e->taken[i].at == at && e->taken[i].size == size);
	e->count--;
	memmove(&e->taken[i], &e->taken[i + 1], (e->count - i) * sizeof(e->taken[0]));
	e->used -= size;
	measure(e);
}

unsigned int extents_holes(const struct extents *e)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i <= e->count; i++)
		n += hole(e, i).size != 0;
	return n;
}
