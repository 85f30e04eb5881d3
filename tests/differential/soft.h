/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reference arithmetic in plain C++ for what C has no operator for: rounding modes,
 * flushing, saturation, narrow floats, conversions. From the PTX ISA's words and IEEE
 * 754; written for being right, not for speed. Included by cpu.h only.
 *
 * The build says -frounding-math: what runs between round_begin() and round_end() is
 * not moved out.
 */
#ifndef TESTS_DIFFERENTIAL_SOFT_H
#define TESTS_DIFFERENTIAL_SOFT_H

#include <fenv.h>
#include <math.h>
#include <string.h>

enum soft_mode { RN, RZ, RM, RP };

/* --- the CPU's own arithmetic in another rounding mode ----------------------------------- */
template <typename F> static __attribute__((noinline)) auto rounded(soft_mode mode, F f)
{
	static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

	fesetround(modes[mode]);
	volatile auto r = f();
	fesetround(FE_TONEAREST);
	return r;
}
/* A value the compiler knows nothing of, so that nothing is computed at compile time. */
template <typename T> static inline T opaque(T v)
{
	volatile T w = v;

	return w;
}
template <typename T> static inline T soft_add(soft_mode m, T a, T b)
{ return (T)rounded(m, [&] { return opaque(a) + opaque(b); }); }
template <typename T> static inline T soft_sub(soft_mode m, T a, T b)
{ return (T)rounded(m, [&] { return opaque(a) - opaque(b); }); }
template <typename T> static inline T soft_mul(soft_mode m, T a, T b)
{ return (T)rounded(m, [&] { return opaque(a) * opaque(b); }); }
template <typename T> static inline T soft_div(soft_mode m, T a, T b)
{ return (T)rounded(m, [&] { return opaque(a) / opaque(b); }); }
static inline f32 soft_fma(soft_mode m, f32 a, f32 b, f32 c)
{ return (f32)rounded(m, [&] { return fmaf(opaque(a), opaque(b), opaque(c)); }); }
static inline f64 soft_fma(soft_mode m, f64 a, f64 b, f64 c)
{ return (f64)rounded(m, [&] { return fma(opaque(a), opaque(b), opaque(c)); }); }
static inline f32 soft_sqrt(soft_mode m, f32 a)
{ return (f32)rounded(m, [&] { return sqrtf(opaque(a)); }); }
static inline f64 soft_sqrt(soft_mode m, f64 a)
{ return (f64)rounded(m, [&] { return sqrt(opaque(a)); }); }

/* .ftz: subnormals are zeros of their sign, before and after. */
static inline f32 ftz(f32 v) { return fabsf(v) < 0x1p-126f ? copysignf(0, v) : v; }
/* .sat: [0, 1], NaN is +0. */
template <typename T> static inline T sat(T v) { return v > 0 ? (v < 1 ? v : (T)1) : (T)0; }
/* min, max: a number wins over NaN, -0 is below +0. */
template <typename T> static inline T soft_min(T a, T b)
{
	if (a != a || b != b)
		return a != a ? b : a;
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}
template <typename T> static inline T soft_max(T a, T b)
{
	if (a != a || b != b)
		return a != a ? b : a;
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}
/* With .NaN: NaN if either is. */
template <typename T> static inline T soft_min_nan(T a, T b)
{ return a != a || b != b ? (T)NAN : soft_min(a, b); }
template <typename T> static inline T soft_max_nan(T a, T b)
{ return a != a || b != b ? (T)NAN : soft_max(a, b); }

/* --- any binary format ----------------------------------------------------------------- */
struct soft_format {
	int precision;		/* with the hidden bit */
	int emin, emax;		/* of normal numbers 1.x * 2^e */
	int bits;
};
static const soft_format F16 = { 11, -14, 15, 16 }, BF16 = { 8, -126, 127, 16 };
static const soft_format F32 = { 24, -126, 127, 32 }, F64 = { 53, -1022, 1023, 64 };

typedef unsigned __int128 u128;

static inline u64 soft_inf(soft_format f)
{
	return ((1ull << (f.bits - f.precision)) - 1) << (f.precision - 1);
}
/* CUDA's canonical NaN: every bit but the sign. */
static inline u64 soft_nan(soft_format f) { return (1ull << (f.bits - 1)) - 1; }

/* The bits of (-1)^negative * m * 2^e, and a bit more than that when `sticky`, rounded. */
static inline u64 soft_pack(soft_format f, bool negative, u128 m, int e, bool sticky,
			    soft_mode mode)
{
	u64 sign = (u64)negative << (f.bits - 1), r;
	int top = 127, shift, biased;
	bool up, half, rest;

	if (!m)
		return sign;	/* callers with a sticky bit have m != 0 */
	while (!(m >> top & 1))
		top--;
	shift = (e + top > f.emin ? e + top : f.emin) - (f.precision - 1) - e;
	half = rest = false;
	if (shift <= 0) {
		m <<= -shift;
		rest = sticky;
	} else if (shift > 127) {
		rest = true;
		m = 0;
	} else {
		half = m >> (shift - 1) & 1;
		rest = sticky || (m & (((u128)1 << (shift - 1)) - 1));
		m >>= shift;
	}
	switch (mode) {
	case RN: up = half && (rest || (m & 1)); break;
	case RM: up = negative && (half || rest); break;
	case RP: up = !negative && (half || rest); break;
	default: up = false; break;
	}
	/* The exponent field counts on when the significand overflows. */
	biased = e + top > f.emin ? e + top - f.emin : 0;
	r = (u64)m + up;
	if (biased)
		r += (u64)biased << (f.precision - 1);
	if (e + top > f.emax || r >= soft_inf(f)) {
		bool away = mode == RN || (mode == RM && negative) || (mode == RP && !negative);

		r = soft_inf(f) - !away;
	}
	return sign | r;
}

struct soft_number {
	bool nan, inf, negative;
	u64 m;
	int e;		/* value m * 2^e */
};
static inline soft_number soft_unpack(soft_format f, u64 v)
{
	soft_number n = {};
	u64 fraction = v & ((1ull << (f.precision - 1)) - 1);
	u64 field = v >> (f.precision - 1) & ((1ull << (f.bits - f.precision)) - 1);

	n.negative = v >> (f.bits - 1) & 1;
	if (field == (1ull << (f.bits - f.precision)) - 1) {
		n.nan = fraction != 0;
		n.inf = !n.nan;
	} else {
		n.m = field ? fraction | 1ull << (f.precision - 1) : fraction;
		n.e = (field ? (int)field - 1 : 0) + f.emin - (f.precision - 1);
	}
	return n;
}
static inline u64 soft_convert(soft_format to, soft_format from, u64 v, soft_mode mode)
{
	soft_number n = soft_unpack(from, v);

	if (n.nan)
		return soft_nan(to);
	if (n.inf)
		return soft_inf(to) | (u64)n.negative << (to.bits - 1);
	return soft_pack(to, n.negative, n.m, n.e, false, mode);
}

static inline u64 bits_of(f64 v) { u64 r; memcpy(&r, &v, 8); return r; }
static inline u32 bits_of(f32 v) { u32 r; memcpy(&r, &v, 4); return r; }
static inline f64 f64_of(u64 v) { f64 r; memcpy(&r, &v, 8); return r; }
static inline f32 f32_of(u32 v) { f32 r; memcpy(&r, &v, 4); return r; }
static inline f64 wide_of(soft_format f, u64 v) { return f64_of(soft_convert(F64, f, v, RN)); }
static inline u64 narrow_of(soft_format f, f64 v, soft_mode m = RN)
{ return soft_convert(f, F64, bits_of(v), m); }
static inline f32 narrow_f32(f64 v, soft_mode m)
{ return f32_of((u32)soft_convert(F32, F64, bits_of(v), m)); }

/*
 * a * b + c in a 16-bit format. The product is exact in f64; the sum is rounded to
 * odd there (Boldo and Melquiond, 2008), so that rounding again is rounding once.
 */
static inline u64 small_fma(soft_format f, u64 a, u64 b, u64 c)
{
	f64 p = wide_of(f, a) * wide_of(f, b), w = wide_of(f, c), s = p + w, t, err;
	u64 bits;

	if (!(fabs(s) < INFINITY) || s == 0)
		return narrow_of(f, s);
	t = opaque(s) - p;
	err = (p - (opaque(s) - t)) + (w - t);
	bits = bits_of(s);
	if (err != 0 && !(bits & 1))
		bits += (err > 0) == (s > 0) ? 1 : -1;
	return narrow_of(f, f64_of(bits));
}
static inline u64 small_one(soft_format f) { return narrow_of(f, 1.0); }
static inline u64 small_add(soft_format f, u64 a, u64 b)
{ return small_fma(f, a, small_one(f), b); }
static inline u64 small_sub(soft_format f, u64 a, u64 b)
{ return small_fma(f, b, narrow_of(f, -1.0), a); }
static inline u64 small_mul(soft_format f, u64 a, u64 b)
{ return narrow_of(f, wide_of(f, a) * wide_of(f, b)); }

/* --- floats to integers and back ---------------------------------------------------------- */
static inline f64 integral(soft_mode m, f64 v)
{
	switch (m) {
	case RZ: return trunc(v);
	case RM: return floor(v);
	case RP: return ceil(v);
	default: return nearbyint(v);
	}
}
/*
 * To an integer of `bits`, clamped. NaN, as the PTX ISA has it: 0 unless the source
 * has 64 bits or the result has, then the top bit alone.
 */
static inline u64 soft_to_int(soft_mode m, f64 v, int bits, bool is_signed, bool from_f64)
{
	f64 low = is_signed ? -ldexp(1, bits - 1) : 0, high = ldexp(1, bits - is_signed);

	if (v != v)
		return !from_f64 && bits != 64 ? 0 :
		       is_signed ? ~0ull << (bits - 1) : 1ull << (bits - 1);
	v = integral(m, v);
	if (v <= low)
		return is_signed ? ~0ull << (bits - 1) : 0;
	if (v >= high)
		return is_signed ? (1ull << (bits - 1)) - 1 :
		       bits == 64 ? ~0ull : (1ull << bits) - 1;
	return is_signed || v < 0 ? (u64)(s64)v : (u64)v;
}
static inline u64 soft_from_u64(soft_format f, u64 v, soft_mode m)
{ return soft_pack(f, false, v, 0, false, m); }
static inline u64 soft_from_s64(soft_format f, s64 v, soft_mode m)
{ return soft_pack(f, v < 0, v < 0 ? 0 - (u64)v : (u64)v, 0, false, m); }

/* --- integers ------------------------------------------------------------------------------- */
template <typename T, typename W> static inline T clamp_to(W v, W low, W high)
{ return (T)(v < low ? low : v > high ? high : v); }

#endif
