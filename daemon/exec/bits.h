/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer functions that the expressions of alu.def call. Included by lanes.h
 * only, once for each instruction set, so that they are inlined and vectorised.
 */

static inline __int128 clamp(__int128 v, __int128 least, __int128 most)
{
	return v < least ? least : v > most ? most : v;
}
static inline int32_t clamp_s32(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline int32_t low24(int32_t v)
{
	return (int32_t)((uint32_t)v << 8) >> 8;
}

static inline uint32_t popcount(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return v * 0x0101010101010101ull >> 56;
}

static inline uint64_t reverse_bits(uint64_t v)
{
	v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
	v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
	v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
	return __builtin_bswap64(v);
}

static inline uint32_t top_bit(uint64_t v)
{
	return v ? 63u - (uint32_t)__builtin_clzll(v) : ~0u;
}

/*
 * PTX ISA, bfe: past the top comes the field's highest bit, or zeros. Without
 * branches, shifts below the width: the lanes vectorise.
 */
#define FIELDS(T, bits) \
static inline T low_ones_##T(uint32_t n) \
{ \
	return n < bits ? ((T)1 << (n & (bits - 1))) - 1 : (T)-1; \
} \
static inline T extract_##T(T a, uint32_t pos, uint32_t len, bool is_signed) \
{ \
	uint32_t at = pos & 0xff, n = len & 0xff, last = at + n - 1; \
	T field = at < bits ? a >> (at & (bits - 1)) : 0; \
	/* The field's bits that a has. */ \
	T mask = low_ones_##T(n) & (at < bits ? (T)-1 >> (at & (bits - 1)) : 0); \
	T top = a >> (last < bits ? last & (bits - 1) : bits - 1) & 1; \
	T sign = is_signed && n ? 0 - top : 0; \
	return (field & mask) | (sign & ~mask); \
} \
static inline T insert_##T(T a, T b, uint32_t pos, uint32_t len) \
{ \
	uint32_t at = pos & 0xff; \
	T mask = at < bits ? low_ones_##T(len & 0xff) << (at & (bits - 1)) : 0; \
	return (b & ~mask) | (a << (at & (bits - 1)) & mask); \
}
FIELDS(uint32_t, 32)
FIELDS(uint64_t, 64)

static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
	uint32_t r = 0;

	r |= -(table >> 0 & 1) & ~a & ~b & ~c;
	r |= -(table >> 1 & 1) & ~a & ~b & c;
	r |= -(table >> 2 & 1) & ~a & b & ~c;
	r |= -(table >> 3 & 1) & ~a & b & c;
	r |= -(table >> 4 & 1) & a & ~b & ~c;
	r |= -(table >> 5 & 1) & a & ~b & c;
	r |= -(table >> 6 & 1) & a & b & ~c;
	r |= -(table >> 7 & 1) & a & b & c;
	return r;
}

/* Bytes of b:a by the selector's nibbles; bit 3 of one replicates the byte's sign. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
	uint64_t bytes = (uint64_t)b << 32 | a;
	uint32_t r = 0, k;

	for (k = 0; k < 4; k++) {
		uint32_t n = selector >> 4 * k & 15, byte = bytes >> 8 * (n & 7) & 0xff;

		r |= (n & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
	}
	return r;
}

static inline uint32_t b4e(uint32_t c)
{
	static const uint16_t selectors[] = { 0x5670, 0x6701, 0x7012, 0x0123 };

	return selectors[c & 3];
}

static inline uint32_t ecl(uint32_t c)
{
	static const uint16_t selectors[] = { 0x3210, 0x3211, 0x3222, 0x3333 };

	return selectors[c & 3];
}

static inline uint32_t ecr(uint32_t c)
{
	static const uint16_t selectors[] = { 0x0000, 0x1110, 0x2210, 0x3210 };

	return selectors[c & 3];
}

static inline uint64_t funnel(uint32_t a, uint32_t b)
{
	return (uint64_t)b << 32 | a;
}

/* PTX ISA, fns: the n-th set bit at or above pos, or for a negative n at or below. */
static inline uint32_t find_nth(uint32_t mask, uint32_t pos, int32_t n)
{
	uint32_t count = n < 0 ? 0 - (uint32_t)n : (uint32_t)n, k;

	if (pos > 31)
		return ~0u;
	if (!n)
		return mask >> pos & 1 ? pos : ~0u;
	if (count > 32)
		return ~0u;
	mask = n > 0 ? mask >> pos << pos : mask << (31 - pos) >> (31 - pos);
	for (k = 1; k < count; k++)
		mask &= n > 0 ? mask - 1 : ~(mask ? 0x80000000u >> __builtin_clz(mask) : 0);
	return !mask ? ~0u : n > 0 ? (uint32_t)__builtin_ctz(mask) : 31u - __builtin_clz(mask);
}

/* Past the top there is nothing: widths and positions of 32 and more included. */
static inline uint32_t bit_mask(uint32_t pos, uint32_t width)
{
	uint32_t ones = width < 32 ? (1u << (width & 31)) - 1 : ~0u;

	return pos < 32 ? ones << (pos & 31) : 0;
}

static inline uint32_t extend_low(uint32_t a, uint32_t bits, bool is_signed)
{
	uint32_t mask = ~0u << (bits & 31), sign = a >> ((bits - 1) & 31) & 1, r;

	r = (a & ~mask) | (is_signed ? (0 - sign) & mask : 0);
	r = bits ? r : 0;
	return bits < 32 ? r : a;
}

/* Products of bytes (of words and bytes) of both signs fit an int32_t; the sum wraps. */
#define DOT1(A, B, a, b)	((uint32_t)((int32_t)(A)(a) * (int32_t)(B)(b)))
#define DOT2(A, B, a, b)	(DOT1(A, B, a, b) + DOT1(A, B, (a) >> 16, (b) >> 8))
#define DOT4(A, B, a, b) \
	(DOT1(A, B, a, b) + DOT1(A, B, (a) >> 8, (b) >> 8) + \
	 DOT1(A, B, (a) >> 16, (b) >> 16) + DOT1(A, B, (a) >> 24, (b) >> 24))

/* For TWICE2: one half of a pair, as it is in 32 bits. */
#define LEAST_U16(a, b)	((a) < (b) ? (a) : (b))
#define MOST_U16(a, b)	((a) > (b) ? (a) : (b))
#define LEAST_S16(a, b)	((int16_t)(a) < (int16_t)(b) ? (a) : (b))
#define MOST_S16(a, b)	((int16_t)(a) > (int16_t)(b) ? (a) : (b))

#define DIFF1(T, a, b) \
	((uint32_t)((T)(a) > (T)(b) ? (T)(a) - (T)(b) : (T)(b) - (T)(a)))
#define DIFFS(T, a, b) \
	(DIFF1(T, a, b) | DIFF1(T, (a) >> 8, (b) >> 8) << 8 | \
	 DIFF1(T, (a) >> 16, (b) >> 16) << 16 | DIFF1(T, (a) >> 24, (b) >> 24) << 24)
#define DIFF_SUM(T, a, b) \
	(DIFF1(T, a, b) + DIFF1(T, (a) >> 8, (b) >> 8) + \
	 DIFF1(T, (a) >> 16, (b) >> 16) + DIFF1(T, (a) >> 24, (b) >> 24))
#define VABSDIFF(to, from, T) \
	ALU2(vabsdiff4, PTX_ATOM_NONE, to, from, u32, u32, u32, DIFFS(T, a, b)) \
	ALU3(vabsdiff4, PTX_ATOM_ADD, to, from, u32, u32, u32, u32, c + DIFF_SUM(T, a, b))
