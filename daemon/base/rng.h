/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seeded random numbers for policies and tests: xoshiro256** (Blackman and
 * Vigna, 2018) whose state is filled by splitmix64, so that every seed, 0
 * included, gives a good state. Same seed, same numbers, on every machine.
 * Not for secrets.
 */
#ifndef GPUEMU_BASE_RNG_H
#define GPUEMU_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

static inline uint64_t rng_rotl(uint64_t x, unsigned int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t z = (seed += 0x9e3779b97f4a7c15ull);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		rng->s[i] = z ^ (z >> 31);
	}
}

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rng_rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotl(s[3], 45);
	return result;
}

/*
 * A number in 0 .. n-1 made of one random number: the high half of a product,
 * without a division. Its bias is below n / 2^64.
 */
static inline uint64_t rng_scale(uint64_t random, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return rng_scale(rng_next(rng), n);
}

#endif
