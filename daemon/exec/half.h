/* SPDX-License-Identifier: GPL-2.0 */
/*
 * f16 and bf16, one lane: exact conversions and arithmetic that rounds once,
 * in integers and floats, without branches so that the lanes vectorise.
 * Included by lanes.h and texture.c after approx.h. Everything runs in the host's rounding to
 * nearest; other directions are taken by the mode's own arithmetic.
 *
 * A wider result is rounded to odd before it is narrowed: of its two
 * neighbours the one with an odd last bit, so that no second rounding sees a
 * tie that was none (Boldo and Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", IEEE Transactions on
 * Computers 57(4), 2008). Sums and products of two halves in f32 need not even
 * that: 24 bits are 2 * 11 + 2. NaN results are 0x7fff.
 */

#define F16_INF		0x7c00u
#define BF16_INF	0x7f80u
#define HALF_NAN	0x7fffu

static inline float half_to_float(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, m = h & 0x7fff;
	/* The exponent's bias grows by 112; for infinities once more. */
	uint32_t normal = (m << 13) + (m < F16_INF ? 0x38000000u : 0x70000000u);
	uint32_t subnormal = f32_bits((float)(int32_t)(m & 0x3ff) * 0x1p-24f);
	uint32_t r = m < 0x400 ? subnormal : normal;

	return bits_f32(m > F16_INF ? 0x7fffffff : sign | r);
}

/* A bf16 is the upper half of a float; a NaN stays what it is. */
static inline float bhalf_to_float(uint32_t h)
{
	return bits_f32(h << 16);
}

/* Does the mode round a magnitude of this sign up? For RM and RP. */
static inline bool rounds_away(uint32_t sign, int mode)
{
	return mode == PTX_RND_RP ? sign == 0 : mode == PTX_RND_RM ? sign != 0 : false;
}

static inline uint32_t float_to_half(float f, int mode)
{
	uint32_t u = f32_bits(f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
	bool away = rounds_away(sign, mode), is_small = a < 0x38800000;
	uint32_t t = a - 0x38000000, bias, r, whole;
	float small = bits_f32(is_small ? a : 0), back;

	bias = mode == PTX_RND_RN ? 0xfff + (t >> 13 & 1) : away ? 0x1fff : 0;
	r = (t + bias) >> 13;
	/* 65536 and more: t's exponent can no longer be told from infinity's. */
	r = a < 0x47800000 ? r : mode == PTX_RND_RN || away ? F16_INF : F16_INF - 1;
	r = a < 0x7f800000 ? r : F16_INF;
	/* Subnormals are multiples of 2^-24, the unit of floats from 1/2 to 1. */
	whole = f32_bits(small + 0.5f) - 0x3f000000;
	back = bits_f32(whole + 0x3f000000) - 0.5f;
	if (mode != PTX_RND_RN)
		whole += away ? back < small : 0u - (back > small);
	r = is_small ? whole : r;
	return a > 0x7f800000 ? HALF_NAN : sign | r;
}

static inline uint32_t float_to_bhalf(float f, int mode)
{
	uint32_t u = f32_bits(f), sign = u >> 31, bias;

	bias = mode == PTX_RND_RN ? 0x7fff + (u >> 16 & 1) : rounds_away(sign, mode) ? 0xffff : 0;
	return (u & 0x7fffffff) > 0x7f800000 ? HALF_NAN : (u + bias) >> 16;
}

/* --- rounding to odd -------------------------------------------------------------- */

static inline float odd_f64(double d)
{
	float f = (float)d;
	double back = f, far = back < 0 ? -back : back, near = d < 0 ? -d : d;
	uint32_t u = f32_bits(f);

	u -= far > near;
	u |= back != d;
	return bits_f32(u);
}

/* The upper 53 bits hold the rest's being there in their last one. */
static inline float odd_u64(uint64_t v)
{
	bool wide = v >> 53;
	uint64_t top = v >> 11 | ((v & 0x7ff) != 0);

	return odd_f64((double)(wide ? top : v) * (wide ? 2048.0 : 1.0));
}

static inline float odd_s64(int64_t v)
{
	float f = odd_u64(v < 0 ? 0 - (uint64_t)v : (uint64_t)v);

	return v < 0 ? -f : f;
}

/* p + c to odd. The sum's error is exact (Knuth's TwoSum). */
static inline float odd_sum_f32(float p, float c)
{
	float s = p + c, virtual = s - p;
	float error = (p - (s - virtual)) + (c - virtual);
	uint32_t u = f32_bits(s), step;
	bool exact = (error == 0) | ((u & 0x7f800000) == 0x7f800000) | (u & 1);

	step = (error < 0) == (s < 0) ? 1 : -1u;
	return bits_f32(exact ? u : u + step);
}

static inline double odd_sum_f64(double p, double c)
{
	double s = p + c, virtual = s - p;
	double error = (p - (s - virtual)) + (c - virtual);
	uint64_t u = f64_bits(s), step;
	bool exact = (error == 0) | ((u & 0x7ff0000000000000ull) == 0x7ff0000000000000ull) |
		     (u & 1);

	step = (error < 0) == (s < 0) ? 1 : -1ull;
	return bits_f64(exact ? u : u + step);
}

/* --- arithmetic ------------------------------------------------------------------- */

#define H(x)	half_to_float((x) & 0xffff)
#define B(x)	bhalf_to_float((x) & 0xffff)
#define TO_H(x)	float_to_half(x, PTX_RND_RN)
#define TO_B(x)	float_to_bhalf(x, PTX_RND_RN)

/* A product of halves is exact: 22 bits in f32, or 16 in f64 where its exponent fits. */
static inline uint32_t half_fma(uint32_t a, uint32_t b, uint32_t c)
{
	return TO_H(odd_sum_f32(H(a) * H(b), H(c)));
}

static inline uint32_t bhalf_fma(uint32_t a, uint32_t b, uint32_t c)
{
	return TO_B(odd_f64(odd_sum_f64((double)B(a) * (double)B(b), (double)B(c))));
}

/* --- on the bits -------------------------------------------------------------------- */

static inline uint32_t half_nan(uint32_t h, uint32_t inf)
{
	return (h & 0x7fff) > inf ? HALF_NAN : h;
}

static inline uint32_t flush_bits(uint32_t h, uint32_t inf)
{
	return h & inf ? h & 0xffff : h & 0x8000;
}

/* To [0, 1]; NaN is +0, as is all that has a sign. `one` is 1.0. */
static inline uint32_t saturate_bits(uint32_t h, uint32_t inf, uint32_t one)
{
	h &= 0xffff;
	return h > inf ? 0 : h < one ? h : one;
}

/* .relu: what has a sign is +0, a NaN is 0x7fff. */
static inline uint32_t relu_bits(uint32_t h, uint32_t inf)
{
	h &= 0xffff;
	return (h & 0x7fff) > inf ? HALF_NAN : h & 0x8000 ? 0 : h;
}

/* .satfinite: the largest number for infinity. */
static inline uint32_t finite_bits(uint32_t h, uint32_t inf)
{
	h &= 0xffff;
	return (h & 0x7fff) == inf ? h - 1 : h;
}

/* Orders halves that are no NaN, -0 below +0. */
static inline int32_t half_key(uint32_t h)
{
	return h & 0x8000 ? ~(int32_t)(h & 0x7fff) : (int32_t)h;
}

/* PTX ISA, min and max: a NaN loses unless .NaN; .xorsign.abs compares magnitudes. */
static inline uint32_t half_extreme(uint32_t a, uint32_t b, uint32_t inf, bool largest, bool nan,
				    bool xorsign)
{
	uint32_t sign = xorsign ? (a ^ b) & 0x8000 : 0, strip = xorsign ? 0x7fff : 0xffff, r;
	bool a_is_nan = (a & 0x7fff) > inf, b_is_nan = (b & 0x7fff) > inf;

	a &= strip;
	b &= strip;
	r = (half_key(a) < half_key(b)) != largest ? a : b;
	r = a_is_nan ? b : r;
	r = b_is_nan ? a : r;
	return (nan ? a_is_nan | b_is_nan : a_is_nan & b_is_nan) ? HALF_NAN : r | sign;
}

/* The same for both halves of a word. */
#define TWICE1(f, a, ...) \
	(f((a) & 0xffff, ##__VA_ARGS__) | f((a) >> 16, ##__VA_ARGS__) << 16)
#define TWICE2(f, a, b, ...) \
	(f((a) & 0xffff, (b) & 0xffff, ##__VA_ARGS__) | \
	 f((a) >> 16, (b) >> 16, ##__VA_ARGS__) << 16)
#define TWICE3(f, a, b, c) \
	(f((a) & 0xffff, (b) & 0xffff, (c) & 0xffff) | f((a) >> 16, (b) >> 16, (c) >> 16) << 16)
#define H_ADD(a, b)	TO_H(H(a) + H(b))
#define H_SUB(a, b)	TO_H(H(a) - H(b))
#define H_MUL(a, b)	TO_H(H(a) * H(b))
#define B_ADD(a, b)	TO_B(B(a) + B(b))
#define B_SUB(a, b)	TO_B(B(a) - B(b))
#define B_MUL(a, b)	TO_B(B(a) * B(b))

#define H_EXTREME(a, b, ...)	half_extreme(a, b, F16_INF, __VA_ARGS__)
#define B_EXTREME(a, b, ...)	half_extreme(a, b, BF16_INF, __VA_ARGS__)
#define H_EX2(a)	TO_H(ex2_approx(H(a)))
#define B_EX2(a)	TO_B(ex2_approx(B(a)))
#define H_TANH(a)	TO_H(tanh_approx(H(a)))
#define B_TANH(a)	TO_B(tanh_approx(B(a)))
#define H_ABS(a)	half_nan((a) & 0x7fffu, F16_INF)
#define B_ABS(a)	half_nan((a) & 0x7fffu, BF16_INF)
#define H_NEG(a)	half_nan(((a) ^ 0x8000u) & 0xffff, F16_INF)
#define B_NEG(a)	half_nan(((a) ^ 0x8000u) & 0xffff, BF16_INF)
#define H_FLUSH(a)	flush_bits(a, F16_INF)
#define B_FLUSH(a)	flush_bits(a, BF16_INF)
#define H_SATURATE(a)	saturate_bits(a, F16_INF, 0x3c00)
#define B_SATURATE(a)	saturate_bits(a, BF16_INF, 0x3f80)
#define H_RELU(a)	relu_bits(a, F16_INF)
#define B_RELU(a)	relu_bits(a, BF16_INF)
#define H_FINITE(a)	finite_bits(a, F16_INF)
#define B_FINITE(a)	finite_bits(a, BF16_INF)

/* Rows of alu.def: f16, f16x2, bf16, bf16x2 by the macros for one half. */
#define HALF1(op, sel, h, b_) \
	ALU1(op, sel, f16, NONE, u16, u16, h(a)) \
	ALU1(op, sel, f16x2, NONE, u32, u32, TWICE1(h, a)) \
	ALU1(op, sel, bf16, NONE, u16, u16, b_(a)) \
	ALU1(op, sel, bf16x2, NONE, u32, u32, TWICE1(b_, a))
#define HALF2(op, sel, h, b_, ...) \
	ALU2(op, sel, f16, NONE, u16, u16, u16, h(a, b, ##__VA_ARGS__)) \
	ALU2(op, sel, f16x2, NONE, u32, u32, u32, TWICE2(h, a, b, ##__VA_ARGS__)) \
	ALU2(op, sel, bf16, NONE, u16, u16, u16, b_(a, b, ##__VA_ARGS__)) \
	ALU2(op, sel, bf16x2, NONE, u32, u32, u32, TWICE2(b_, a, b, ##__VA_ARGS__))
/* The first source of a pair is its upper half (PTX ISA, cvt). */
#define CVT_HALF(sel, mode) \
	ALU1(cvt, sel, f16, f32, u16, f32, float_to_half(a, mode)) \
	ALU1(cvt, sel, bf16, f32, u16, f32, float_to_bhalf(a, mode)) \
	ALU2(cvt, sel, f16x2, f32, u32, f32, f32, \
	     float_to_half(a, mode) << 16 | float_to_half(b, mode)) \
	ALU2(cvt, sel, bf16x2, f32, u32, f32, f32, \
	     float_to_bhalf(a, mode) << 16 | float_to_bhalf(b, mode))
