/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loads and stores of 32 lanes whose bytes are all in one place of the host.
 * Included by lanes.h only, once for each instruction set. They do everything or,
 * when an address is misaligned or outside the window, nothing: memory.c finds
 * out then which lane it was.
 *
 * Addresses of a warp are mostly in a row, or all the same. Both are seen in
 * the vector registers; anything else goes lane by lane, in lane order, so that the
 * highest lane's store is the one that stays.
 */

enum pattern { OUTSIDE, IN_A_ROW, ALL_SAME, HALVES, SCATTERED };

/*
 * Where lane i's bytes are, from the window's start: rel[0] alone unless
 * SCATTERED. Local memory has a part for each thread, `stride` bytes apart.
 */
static inline __attribute__((always_inline)) enum pattern
locate(const uint8_t *arena, const struct exec_op *op, uint32_t mask,
       const struct exec_window *window, uint64_t *rel, const uint64_t size)
{
	uint64_t offset = op->offset, base = window->base, end = window->bytes - size;
	uint64_t any = 0, most = 0, apart = 0, differ = 0, first;

	if (window->bytes < size)
		return OUTSIDE;
	if (op->address >= ADDRESS_64) {
		const uint64_t *row = ROW_OF(u64, op->src[0]);

		/* An address that must be cut to 32 bits is outside the window; memory.c cuts it. */
		LANES
			rel[i] = row[i] + offset;
	} else if (op->address == ADDRESS_32) {
		const uint32_t *row = ROW_OF(u32, op->src[0]);
		const uint32_t low = (uint32_t)offset;

		LANES
			rel[i] = row[i] + low;
	} else if (op->address == ADDRESS_32_IN_64) {
		const uint32_t *row = ROW_OF(u32, op->src[0]);

		LANES
			rel[i] = row[i] + offset;
	} else if (window->stride) {
		LANES
			rel[i] = offset;
	} else {
		rel[0] = offset - base;
		return (offset & (size - 1)) || rel[0] > end ? OUTSIDE : ALL_SAME;
	}
	first = rel[__builtin_ctz(mask)];
	if (mask != ALL_LANES) {
		/* Lanes that are off look like one that is on. */
		LANES
			rel[i] = mask & lane_bit[i] ? rel[i] : first;
	}
	LANES {
		uint64_t step = rel[i] - first;

		apart |= step ^ i * size;
		differ |= step;
	}
	if ((!apart || !differ) && !window->stride) {
		rel[0] = first - base;
		if ((first & (size - 1)) || rel[0] > end ||
		    (!apart && end - rel[0] < (WARP_LANES - 1) * size))
			return OUTSIDE;
		return apart ? ALL_SAME : IN_A_ROW;
	}
	LANES {
		any |= rel[i];
		rel[i] -= base;
		most = rel[i] > most ? rel[i] : most;
		rel[i] += i * window->stride;
	}
	return (any & (size - 1)) || most > end ? OUTSIDE : SCATTERED;
}

static bool memory_locate(const uint8_t *arena, const struct exec_op *op, uint32_t mask,
			  const struct exec_window *window, uint64_t *rel)
{
	uint64_t size = op->elem * op->vec, first;
	enum pattern pattern = locate(arena, op, mask, window, rel, size);

	first = rel[0];
	size = pattern == IN_A_ROW ? size : 0;
	if (pattern != SCATTERED)
		LANES
			rel[i] = first + i * size;
	return pattern != OUTSIDE;
}

#define ON(mask, lane) \
	for (uint32_t rest_ = (mask), lane; \
	     rest_ && (lane = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* Memory of type M, extended as V, in a row of R. */
#define LOAD_ONE(name, M, V, R) \
static bool load_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
			const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	enum pattern pattern = locate(arena, op, mask, window, rel, sizeof(M)); \
	const uint8_t *host = window->host; \
	R *d = __builtin_assume_aligned(arena + op->dst[0], 64), value; \
	M m; \
	if (pattern == IN_A_ROW) { \
		host += rel[0]; \
		LANES { \
			__builtin_memcpy(&m, host + i * sizeof(M), sizeof(M)); \
			d[i] = (R)(V)m; \
		} \
	} else if (pattern == ALL_SAME) { \
		__builtin_memcpy(&m, host + rel[0], sizeof(M)); \
		value = (R)(V)m; \
		LANES \
			d[i] = mask & lane_bit[i] ? value : d[i]; \
	} else if (pattern == SCATTERED && mask == ALL_LANES) { \
		for (unsigned int i = 0; i < WARP_LANES; i++) { \
			__builtin_memcpy(&m, host + rel[i], sizeof(M)); \
			d[i] = (R)(V)m; \
		} \
	} else if (pattern == SCATTERED) { \
		ON(mask, i) { \
			__builtin_memcpy(&m, host + rel[i], sizeof(M)); \
			d[i] = (R)(V)m; \
		} \
	} \
	return pattern != OUTSIDE; \
}

#define LOAD_VECTOR(name, M, V, R) \
static bool load_vector_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
			       const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	const uint8_t *host = window->host; \
	M m; \
	if (!memory_locate(arena, op, mask, window, rel)) \
		return false; \
	for (unsigned int e = 0; e < op->vec; e++, host += sizeof(M)) { \
		R *d = __builtin_assume_aligned(arena + op->dst[e], 64); \
		ON(mask, i) { \
			__builtin_memcpy(&m, host + rel[i], sizeof(M)); \
			d[i] = (R)(V)m; \
		} \
	} \
	return true; \
}

#define STORE_ONE(name, M, R) \
static bool store_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
			 const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	enum pattern pattern = locate(arena, op, mask, window, rel, sizeof(M)); \
	const R *s = __builtin_assume_aligned(arena + op->src[1], 64); \
	uint8_t *host = window->host; \
	M m; \
	if (pattern == IN_A_ROW) { \
		host += rel[0]; \
		LANES { \
			m = (M)s[i]; \
			__builtin_memcpy(host + i * sizeof(M), &m, sizeof(M)); \
		} \
	} else if (pattern == ALL_SAME) { \
		m = (M)s[31 - __builtin_clz(mask)]; \
		__builtin_memcpy(host + rel[0], &m, sizeof(M)); \
	} else if (pattern == SCATTERED) { \
		ON(mask, i) { \
			m = (M)s[i]; \
			__builtin_memcpy(host + rel[i], &m, sizeof(M)); \
		} \
	} \
	return pattern != OUTSIDE; \
}

#define STORE_VECTOR(name, M, R) \
static bool store_vector_##name(uint8_t *arena, const struct exec_op *op, uint32_t mask, \
				const struct exec_window *window) \
{ \
	uint64_t rel[WARP_LANES] __attribute__((aligned(64))); \
	uint8_t *host = window->host; \
	M m; \
	if (!memory_locate(arena, op, mask, window, rel)) \
		return false; \
	for (unsigned int e = 0; e < op->vec; e++) { \
		const R *s = __builtin_assume_aligned(arena + op->src[1 + e], 64); \
		ON(mask, i) { \
			m = (M)s[i]; \
			__builtin_memcpy(host + rel[i] + e * sizeof(M), &m, sizeof(M)); \
		} \
	} \
	return true; \
}

#define LOADS(F) \
	F(u8, uint8_t, uint32_t, uint32_t) F(s8, int8_t, int32_t, uint32_t) \
	F(u8_wide, uint8_t, uint64_t, uint64_t) F(s8_wide, int8_t, int64_t, uint64_t) \
	F(u16, uint16_t, uint32_t, uint32_t) F(s16, int16_t, int32_t, uint32_t) \
	F(u16_wide, uint16_t, uint64_t, uint64_t) F(s16_wide, int16_t, int64_t, uint64_t) \
	F(u32_wide, uint32_t, uint64_t, uint64_t) F(s32_wide, int32_t, int64_t, uint64_t)
#define STORES(F) \
	F(u8, uint8_t, uint32_t) F(u8_wide, uint8_t, uint64_t) \
	F(u16, uint16_t, uint32_t) F(u16_wide, uint16_t, uint64_t) \
	F(u32_wide, uint32_t, uint64_t)
#ifdef __AVX512F__
#include "exec/lanes_gather.h"
#else
LOAD_ONE(u32, uint32_t, uint32_t, uint32_t)
LOAD_ONE(u64_wide, uint64_t, uint64_t, uint64_t)
STORE_ONE(u32, uint32_t, uint32_t)
STORE_ONE(u64_wide, uint64_t, uint64_t)
#endif
LOADS(LOAD_ONE)
LOADS(LOAD_VECTOR)
STORES(STORE_ONE)
LOAD_VECTOR(u32, uint32_t, uint32_t, uint32_t)
LOAD_VECTOR(u64_wide, uint64_t, uint64_t, uint64_t)
STORE_VECTOR(u32, uint32_t, uint32_t)
STORE_VECTOR(u64_wide, uint64_t, uint64_t)
STORES(STORE_VECTOR)

/* Indexed by log2 of the element's bytes, wide, sign, vector; memory.c looks them up. */
#define BOTH_LOADS(l, wide, sign, name) \
	[l][wide][sign] = { load_##name, load_vector_##name },
#define BOTH_STORES(l, wide, name) [l][wide] = { store_##name, store_vector_##name },
static const struct memory_lanes memory_lanes = {
	.locate = memory_locate,
	.load = {
		BOTH_LOADS(0, 0, 0, u8) BOTH_LOADS(0, 0, 1, s8)
		BOTH_LOADS(0, 1, 0, u8_wide) BOTH_LOADS(0, 1, 1, s8_wide)
		BOTH_LOADS(1, 0, 0, u16) BOTH_LOADS(1, 0, 1, s16)
		BOTH_LOADS(1, 1, 0, u16_wide) BOTH_LOADS(1, 1, 1, s16_wide)
		BOTH_LOADS(2, 0, 0, u32) BOTH_LOADS(2, 0, 1, u32)
		BOTH_LOADS(2, 1, 0, u32_wide) BOTH_LOADS(2, 1, 1, s32_wide)
		BOTH_LOADS(3, 1, 0, u64_wide) BOTH_LOADS(3, 1, 1, u64_wide)
	},
	.store = {
		BOTH_STORES(0, 0, u8) BOTH_STORES(0, 1, u8_wide)
		BOTH_STORES(1, 0, u16) BOTH_STORES(1, 1, u16_wide)
		BOTH_STORES(2, 0, u32) BOTH_STORES(2, 1, u32_wide)
		BOTH_STORES(3, 1, u64_wide)
	},
};
