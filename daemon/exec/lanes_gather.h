/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads and stores of 4 and 8 bytes a lane with AVX-512, in place of those that
 * lanes_memory.h makes from C. Included by it only. Eight lanes are one vector of
 * addresses; where they are not in a row for the whole warp they often are for
 * eight of it (blocks that are 8 or 16 threads wide), or all the same.
 */
#include <immintrin.h>

#define EIGHTS		(WARP_LANES / 8)
#define HALF		(WARP_LANES / 2)
#define ON_OF(mask, k)	((__mmask8)((mask) >> 8 * (k)))
#define STEPS(size)	_mm512_set_epi64(7 * (size), 6 * (size), 5 * (size), 4 * (size), \
					 3 * (size), 2 * (size), (size), 0)
#define SET8(value)	_mm512_set1_epi64((long long)(value))

/* Is a half's first address right, and the last one of `row` lanes in a row? */
static inline bool half_fits(uint64_t rel, bool row, const struct exec_window *window,
			     const uint64_t size)
{
	uint64_t end = window->bytes - size;

	return !((rel + window->base) & (size - 1)) && rel <= end &&
	       (!row || end - rel >= (HALF - 1) * size);
}

/*
 * Each half of a warp by itself is in a row or all the same: then it says how
 * they lie together. HALVES leaves where they begin in rel[0] and rel[1], and in
 * rel[2] a bit for each that is in a row.
 */
static inline __attribute__((always_inline)) enum pattern
locate_halves(const __m512i a[EIGHTS], const struct exec_window *window, uint64_t *rel,
	      const uint64_t size)
{
	bool row[2], same[2];
	uint32_t h;

	for (h = 0; h < 2; h++) {
		__m512i low = a[2 * h], high = a[2 * h + 1];
		__m512i first = _mm512_broadcastq_epi64(_mm512_castsi512_si128(low));
		__m512i steps = _mm512_add_epi64(first, STEPS(size));

		row[h] = !(_mm512_cmpneq_epi64_mask(low, steps) |
			   _mm512_cmpneq_epi64_mask(high, _mm512_add_epi64(steps, SET8(8 * size))));
		same[h] = !(_mm512_cmpneq_epi64_mask(low, first) |
			    _mm512_cmpneq_epi64_mask(high, first));
		rel[h] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(low));
	}
	if (!(row[0] | same[0]) || !(row[1] | same[1]))
		return SCATTERED;
	if (!half_fits(rel[0], row[0], window, size) || !half_fits(rel[1], row[1], window, size))
		return OUTSIDE;
	if (row[0] && row[1] && rel[1] == rel[0] + HALF * size)
		return IN_A_ROW;
	if (same[0] && same[1] && rel[0] == rel[1])
		return ALL_SAME;
	rel[2] = row[0] | row[1] << 1;
	return HALVES;
}

/*
 * Where lane i's bytes are, from the window's start. With all lanes on, IN_A_ROW
 * and ALL_SAME leave rel[0] alone; SCATTERED leaves all, of lanes that are off anything.
 */
static inline __attribute__((always_inline)) enum pattern
locate_vectors(const uint8_t *arena, const struct exec_op *op, uint32_t mask,
	       const struct exec_window *window, uint64_t *rel, const uint64_t size)
{
	const uint8_t *row = arena + op->src[0];
	const uint64_t base = window->base, end = window->bytes - size;
	uint64_t shift = op->offset - base;
	__m512i a[EIGHTS], any = _mm512_setzero_si512();
	enum pattern pattern;
	uint32_t wrong = 0, k;

	if (window->bytes < size)
		return OUTSIDE;
	if (op->address >= ADDRESS_64) {
		/* An address that must be cut to 32 bits is outside the window; memory.c cuts it. */
		for (k = 0; k < EIGHTS; k++)
			a[k] = _mm512_load_si512(row + 64 * k);
	} else if (op->address == ADDRESS_32) {
		for (k = 0; k < EIGHTS; k++)
			a[k] = _mm512_cvtepu32_epi64(_mm256_add_epi32(
				_mm256_load_si256((const void *)(row + 32 * k)),
				_mm256_set1_epi32((int)op->offset)));
		shift = -base;
	} else if (op->address == ADDRESS_32_IN_64) {
		for (k = 0; k < EIGHTS; k++)
			a[k] = _mm512_cvtepu32_epi64(
				_mm256_load_si256((const void *)(row + 32 * k)));
	} else {
		for (k = 0; k < EIGHTS; k++)
			a[k] = _mm512_setzero_si512();
	}
	for (k = 0; k < EIGHTS; k++)
		a[k] = _mm512_add_epi64(a[k], SET8(shift));
	if (mask == ALL_LANES && !window->stride) {
		pattern = locate_halves(a, window, rel, size);
		if (pattern != SCATTERED)
			return pattern;
	}
	for (k = 0; k < EIGHTS; k++) {
		any = _mm512_mask_or_epi64(any, ON_OF(mask, k), any,
					   _mm512_add_epi64(a[k], SET8(base)));
		wrong |= _mm512_mask_cmpgt_epu64_mask(ON_OF(mask, k), a[k], SET8(end));
		if (window->stride)
			a[k] = _mm512_add_epi64(a[k], _mm512_mullo_epi64(SET8(window->stride),
				_mm512_add_epi64(SET8(8 * k), STEPS(1))));
		_mm512_store_si512(rel + 8 * k, a[k]);
	}
	wrong |= _mm512_test_epi64_mask(any, SET8(size - 1));
	return wrong ? OUTSIDE : SCATTERED;
}

/*
 * How those of eight lanes that are on lie. *start is where lane 0 is, or would
 * be, when they are in a row, and where all are when that is the same.
 */
static inline __attribute__((always_inline)) enum pattern
pattern_of_eight(__m512i rel, __mmask8 on, const uint64_t size, int64_t *start)
{
	/* Where lane 0 would be for each of them: one place if they are in a row. */
	__m512i origin = _mm512_sub_epi64(rel, STEPS(size));
	__m512i low = _mm512_maskz_compress_epi64(on, origin);

	*start = _mm_cvtsi128_si64(_mm512_castsi512_si128(low));
	if (!_mm512_mask_cmpneq_epi64_mask(on, origin, SET8(*start)))
		return IN_A_ROW;
	*start += (int64_t)(__builtin_ctz(on) * size);
	return _mm512_mask_cmpneq_epi64_mask(on, rel, SET8(*start)) ? SCATTERED : ALL_SAME;
}

#define LOAD_EIGHTS(name, T, V, set1, mask_load, gather, mask_store) \
static __attribute__((noinline)) void load_eights_##name(T *d, const uint8_t *host, uint32_t mask, \
							 const uint64_t *addresses) \
{ \
	_Pragma("GCC unroll 1") \
	for (; mask; mask >>= 8, d += 8, addresses += 8) { \
		__m512i rel = _mm512_load_si512(addresses); \
		__mmask8 on = (__mmask8)mask; \
		int64_t start; \
		T value; \
		V v; \
		if (!on) \
			continue; \
		switch (pattern_of_eight(rel, on, sizeof(T), &start)) { \
		case IN_A_ROW: \
			v = mask_load(on, host + start); \
			break; \
		case ALL_SAME: \
			__builtin_memcpy(&value, host + start, sizeof(value)); \
			v = set1(value); \
			break; \
		default: \
			v = gather(on, rel, host); \
			break; \
		} \
		mask_store(d, on, v); \
	} \
} \
static inline void load_half_##name(T *d, const uint8_t *host, bool row) \
{ \
	T value; \
	if (row) { \
		__builtin_memcpy(d, host, sizeof(T) * HALF); \
		return; \
	} \
	__builtin_memcpy(&value, host, sizeof(value)); \
	for (unsigned int i = 0; i < HALF; i++) \
		d[i] = value; \
} \
static bool load_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
			const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	T *d = __builtin_assume_aligned(arena + op->dst[0], 64), value; \
	switch (locate_vectors(arena, op, mask, window, rel, sizeof(T))) { \
	case OUTSIDE: \
		return false; \
	case IN_A_ROW: \
		__builtin_memcpy(d, window->host + rel[0], sizeof(T) * WARP_LANES); \
		return true; \
	case ALL_SAME: \
		__builtin_memcpy(&value, window->host + rel[0], sizeof(value)); \
		LANES \
			d[i] = value; \
		return true; \
	case HALVES: \
		load_half_##name(d, window->host + rel[0], rel[2] & 1); \
		load_half_##name(d + HALF, window->host + rel[1], rel[2] & 2); \
		return true; \
	default: \
		load_eights_##name(d, window->host, mask, rel); \
		return true; \
	} \
}

#define SET4(value)	_mm256_set1_epi32((int)(value))
#define GATHER4(on, rel, host) \
	_mm512_mask_i64gather_epi32(_mm256_setzero_si256(), on, rel, host, 1)
#define GATHER8(on, rel, host) \
	_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), on, rel, host, 1)
LOAD_EIGHTS(u32, uint32_t, __m256i, SET4, _mm256_maskz_loadu_epi32, GATHER4,
	    _mm256_mask_store_epi32)
LOAD_EIGHTS(u64_wide, uint64_t, __m512i, SET8, _mm512_maskz_loadu_epi64, GATHER8,
	    _mm512_mask_store_epi64)

/* The lanes that are on, one after the other: where two are the same the higher stays. */
#define STORE_EIGHTS(name, T, load_row, mask_store) \
static __attribute__((noinline)) void store_eights_##name(const T *s, uint8_t *host, \
							  uint32_t mask, \
							  const uint64_t *addresses) \
{ \
	_Pragma("GCC unroll 1") \
	for (; mask; mask >>= 8, s += 8, addresses += 8) { \
		__mmask8 on = (__mmask8)mask; \
		int64_t start; \
		if (!on) \
			continue; \
		if (pattern_of_eight(_mm512_load_si512(addresses), on, sizeof(T), &start) == \
		    IN_A_ROW) { \
			mask_store(host + start, on, load_row((const void *)s)); \
			continue; \
		} \
		ON(on, i) \
			__builtin_memcpy(host + addresses[i], &s[i], sizeof(T)); \
	} \
} \
static bool store_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
			 const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	const T *s = __builtin_assume_aligned(arena + op->src[1], 64); \
	switch (locate_vectors(arena, op, mask, window, rel, sizeof(T))) { \
	case OUTSIDE: \
		return false; \
	case IN_A_ROW: \
		__builtin_memcpy(window->host + rel[0], s, sizeof(T) * WARP_LANES); \
		return true; \
	case ALL_SAME: \
		__builtin_memcpy(window->host + rel[0], &s[WARP_LANES - 1], sizeof(T)); \
		return true; \
	case HALVES: \
		for (unsigned int h = 0; h < 2; h++, s += HALF) { \
			if (rel[2] >> h & 1) \
				__builtin_memcpy(window->host + rel[h], s, sizeof(T) * HALF); \
			else \
				__builtin_memcpy(window->host + rel[h], &s[HALF - 1], sizeof(T)); \
		} \
		return true; \
	default: \
		store_eights_##name(s, window->host, mask, rel); \
		return true; \
	} \
}
STORE_EIGHTS(u32, uint32_t, _mm256_load_si256, _mm256_mask_storeu_epi32)
STORE_EIGHTS(u64_wide, uint64_t, _mm512_load_si512, _mm512_mask_storeu_epi64)
