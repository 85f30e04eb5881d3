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

/* PTX ISA, bfe: past the top comes the field's highest bit, or zeros. */
static inline uint64_t extract_field(uint64_t a, uint32_t pos, uint32_t len, uint32_t bits,
				     bool is_signed)
{
	uint32_t last;
	uint64_t sign, field;

	pos &= 0xff;
	len &= 0xff;
	last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
	sign = is_signed && len && a >> last & 1 ? ~0ull : 0;
	field = pos < bits ? a >> pos : 0;
	/* Bits that a has none of, and those past the field. */
	if (pos && sign)
		field |= pos < bits ? ~0ull << (bits - pos) : ~0ull;
	if (len < 64)
		field = (field & ((1ull << len) - 1)) | sign << len;
	return field;
}

static inline uint64_t insert_field(uint64_t a, uint64_t b, uint32_t pos, uint32_t len,
				    uint32_t bits)
{
	uint64_t mask;

	pos &= 0xff;
	len &= 0xff;
	if (pos >= bits || !len)
		return b;
	mask = (len < 64 ? (1ull << len) - 1 : ~0ull) << pos;
	return (b & ~mask) | (a << pos & mask);
}

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
