/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bits in arrays of uint64_t, bit n in word n / 64. The caller sizes the array
 * with BITMAP_WORDS() and stays inside.
 */
#ifndef GPUEMU_BASE_BITMAP_H
#define GPUEMU_BASE_BITMAP_H

#include "base/base.h"

#define BITMAP_WORDS(bits)	DIV_ROUND_UP(bits, 64u)

static inline bool bitmap_test(const uint64_t *map, unsigned int bit)
{
	return map[bit / 64] >> (bit % 64) & 1;
}

static inline void bitmap_set(uint64_t *map, unsigned int bit)
{
	map[bit / 64] |= 1ull << (bit % 64);
}

static inline void bitmap_clear(uint64_t *map, unsigned int bit)
{
	map[bit / 64] &= ~(1ull << (bit % 64));
}

/* First set bit at or after `from`, or `bits` when there is none. */
static inline unsigned int bitmap_next(const uint64_t *map, unsigned int bits,
				       unsigned int from)
{
	while (from < bits) {
		uint64_t word = map[from / 64] >> (from % 64);

		if (word) {
			from += (unsigned int)__builtin_ctzll(word);
			return from < bits ? from : bits;
		}
		from = (from / 64 + 1) * 64;
	}
	return bits;
}

#endif
