// SPDX-License-Identifier: GPL-2.0
/*
 * Distributions: a log-linear histogram that never grows, and exact
 * percentiles of an array. No output here; json.c prints.
 *
 * Values below HISTOGRAM_SUB have a bucket each. Above, an octave [2^e, 2^e+1)
 * is cut into HISTOGRAM_SUB buckets of equal width, so a bucket is at most
 * 1/64 of its values wide.
 */
#include "stats/stats.h"

#include <stdlib.h>
#include <string.h>

#define SUB_SHIFT	6u
_Static_assert(HISTOGRAM_SUB == 1u << SUB_SHIFT, "buckets an octave");

void histogram_reset(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

static unsigned int bucket_of(uint64_t value)
{
	unsigned int exponent;

	if (value < HISTOGRAM_SUB)
		return (unsigned int)value;
	exponent = 63 - (unsigned int)__builtin_clzll(value);
	return (exponent - SUB_SHIFT + 1) * HISTOGRAM_SUB +
	       (unsigned int)(value >> (exponent - SUB_SHIFT)) % HISTOGRAM_SUB;
}

/* The largest value of a bucket. */
static uint64_t bucket_top(unsigned int bucket)
{
	unsigned int octave = bucket / HISTOGRAM_SUB;
	uint64_t sub = bucket % HISTOGRAM_SUB;

	if (octave == 0)
		return sub;
	return ((HISTOGRAM_SUB + sub) << (octave - 1)) + ((1ull << (octave - 1)) - 1);
}

uint64_t histogram_most(const struct histogram *h, unsigned int bucket)
{
	return MIN(bucket_top(bucket), h->max);
}

void histogram_add(struct histogram *h, uint64_t value)
{
	unsigned int bucket = bucket_of(value);

	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	/* A full bucket stays full: the percentile is then off, the count is not. */
	if (h->bucket[bucket] != UINT32_MAX)
		h->bucket[bucket]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (from->count == 0)
		return;
	if (h->count == 0 || from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->count += from->count;
	h->sum += from->sum;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t n = (uint64_t)h->bucket[i] + from->bucket[i];

		h->bucket[i] = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	}
}

/* How many of n values are at or below the percentile: at least one. */
static uint64_t rank_of(uint64_t n, unsigned int permille)
{
	/* Split so that n * permille cannot overflow. */
	uint64_t rank = n / 1000 * permille + DIV_ROUND_UP(n % 1000 * permille, 1000u);

	return MIN(MAX(rank, 1), n);
}

uint64_t histogram_permille(const struct histogram *h, unsigned int permille)
{
	uint64_t rank, seen = 0;

	if (h->count == 0)
		return 0;
	rank = rank_of(h->count, permille);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		/* The largest value is known exactly, and no percentile is above it. */
		if (seen >= rank)
			return MIN(bucket_top(i), h->max);
	}
	return h->max;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool ascending(const uint64_t *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (values[i - 1] > values[i])
			return false;
	return true;
}

uint64_t samples_permille(uint64_t *values, size_t n, unsigned int permille)
{
	if (n == 0)
		return 0;
	/* A caller that wants several percentiles asks for one after the other. */
	if (!ascending(values, n))
		qsort(values, n, sizeof(*values), compare);
	return values[rank_of(n, permille) - 1];
}
