/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of warps. The room is compiled twice (scripts/mk/engine.mk): with sets of 64 warps, one
 * word, and with SM_WIDE for SMs that hold up to 256. Sets are combined by & | ^ ~ in both;
 * what C cannot say of a vector is a function here. Private to the sm room.
 */
#ifndef GPUEMU_SM_WARPSET_H
#define GPUEMU_SM_WARPSET_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SM_WIDE

#define MAX_WARPS	256u

/* The allocator promises no more than this alignment. */
typedef uint64_t warpset __attribute__((vector_size(32), aligned(16)));

/* As wide as the host's registers are everywhere. */
typedef uint64_t halfset __attribute__((vector_size(16)));

static inline bool set_any(warpset s)
{
	halfset half = (halfset){ s[0], s[1] } | (halfset){ s[2], s[3] };

	return half[0] | half[1];
}

static inline warpset set_of(unsigned int w)
{
	warpset s = { 0 };

	s[w / 64] = 1ull << (w % 64);
	return s;
}

/* The word of the set that has w. An element of the vector, so it may be aliased. */
static inline uint64_t *set_word(warpset *s, unsigned int w)
{
	return (uint64_t *)s + w / 64;
}

static inline bool set_has(warpset s, unsigned int w)
{
	return s[w / 64] >> (w % 64) & 1;
}

/* The set must not be empty. */
static inline unsigned int set_first(warpset s)
{
	unsigned int i = s[0] ? 0 : s[1] ? 1 : s[2] ? 2 : 3;

	return 64 * i + (unsigned int)__builtin_ctzll(s[i]);
}

/* Gives the set without its first warp. The set must not be empty. */
static inline warpset set_rest(warpset s)
{
	unsigned int i = s[0] ? 0 : s[1] ? 1 : s[2] ? 2 : 3;

	s[i] &= s[i] - 1;
	return s;
}

/* The first behind `last`, or of all if there is none behind it. Not of an empty set. */
static inline unsigned int set_after(warpset s, unsigned int last)
{
	unsigned int i = last / 64;
	uint64_t word = s[i] & ~1ull << (last % 64);

	while (!word) {
		i = (i + 1) % 4;
		word = s[i];
	}
	return 64 * i + (unsigned int)__builtin_ctzll(word);
}

/* A processor that the compiler may not ask to count has a function for each word. */
static inline unsigned int set_count(warpset s)
{
	uint64_t bytes, pairs;

	s -= s >> 1 & 0x5555555555555555;
	s = (s & 0x3333333333333333) + (s >> 2 & 0x3333333333333333);
	s = (s + (s >> 4)) & 0x0f0f0f0f0f0f0f0f;
	bytes = s[0] + s[1] + s[2] + s[3];
	/* 256 would not fit a byte. */
	pairs = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
	return (unsigned int)(pairs * 0x0001000100010001 >> 48);
}

/* Warps before n; n may be MAX_WARPS. */
static inline warpset set_before(unsigned int n)
{
	static const uint64_t whole[][4] = {
		{ 0 }, { ~0ull }, { ~0ull, ~0ull }, { ~0ull, ~0ull, ~0ull },
		{ ~0ull, ~0ull, ~0ull, ~0ull },
	};
	warpset s = *(const warpset *)whole[n / 64];

	if (n < MAX_WARPS)
		s[n / 64] = (1ull << (n % 64)) - 1;
	return s;
}

#else

#define MAX_WARPS	64u

typedef uint64_t warpset;

static inline bool set_any(warpset s)
{
	return s;
}

static inline warpset set_of(unsigned int w)
{
	return 1ull << w;
}

static inline uint64_t *set_word(warpset *s, unsigned int w)
{
	return s;
}

static inline bool set_has(warpset s, unsigned int w)
{
	return s >> w & 1;
}

static inline unsigned int set_first(warpset s)
{
	return (unsigned int)__builtin_ctzll(s);
}

static inline warpset set_rest(warpset s)
{
	return s & (s - 1);
}

static inline unsigned int set_after(warpset s, unsigned int last)
{
	warpset behind = s & ~1ull << last;

	return set_first(behind ? behind : s);
}

static inline unsigned int set_count(warpset s)
{
	return (unsigned int)__builtin_popcountll(s);
}

static inline warpset set_before(unsigned int n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

#endif

#define NO_WARPS	((warpset){ 0 })

/* The set without w, with it, or with it if `in`: one word of the set is touched. */
static inline void set_drop(warpset *s, unsigned int w)
{
	*set_word(s, w) &= ~(1ull << (w % 64));
}

static inline void set_add(warpset *s, unsigned int w)
{
	*set_word(s, w) |= 1ull << (w % 64);
}

static inline void set_let(warpset *s, unsigned int w, bool in)
{
	uint64_t *word = set_word(s, w), bit = 1ull << (w % 64);

	*word = (*word & ~bit) | (in ? bit : 0);
}

/* Warps behind w. */
static inline warpset set_behind(unsigned int w)
{
	return ~set_before(w + 1);
}

static inline bool set_equal(warpset a, warpset b)
{
	return !set_any(a ^ b);
}

/* Each warp w of the set, in rising order; w is the caller's variable. */
#define for_each_warp(w, set)							\
	for (warpset w##_left = (set);						\
	     set_any(w##_left) && ((w) = set_first(w##_left), true);		\
	     w##_left = set_rest(w##_left))

#endif
