/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that a CUDA toolkit has in libdevice, as CUDA C: what clang's headers make of
 * sinf() and __popc(). Only device code calls them. Errors are given where a function is not
 * correctly rounded, in units of the last place, as tests/cuda/math.cu measures them.
 */
#ifndef GPUEMU_LIBDEVICE_H
#define GPUEMU_LIBDEVICE_H

#define GPUEMU_NV	extern "C" __device__ inline
#define GPUEMU_BITS	static __device__ __forceinline__

GPUEMU_BITS unsigned int gpuemu_bits(float x) { return __builtin_bit_cast(unsigned int, x); }
GPUEMU_BITS float gpuemu_float(unsigned int x) { return __builtin_bit_cast(float, x); }
GPUEMU_BITS unsigned long long gpuemu_bits64(double x)
{
	return __builtin_bit_cast(unsigned long long, x);
}
GPUEMU_BITS double gpuemu_double(unsigned long long x) { return __builtin_bit_cast(double, x); }

/* --- integers and bits --------------------------------------------------------------- */

GPUEMU_NV int __nv_abs(int a) { return a < 0 ? -a : a; }
GPUEMU_NV long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
GPUEMU_NV int __nv_min(int a, int b) { return a < b ? a : b; }
GPUEMU_NV int __nv_max(int a, int b) { return a > b ? a : b; }
GPUEMU_NV unsigned int __nv_umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
GPUEMU_NV unsigned int __nv_umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
GPUEMU_NV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
GPUEMU_NV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
GPUEMU_NV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b)
{
	return a < b ? a : b;
}
GPUEMU_NV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}
GPUEMU_NV int __nv_popc(unsigned int a) { return __builtin_popcount(a); }
GPUEMU_NV int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
GPUEMU_NV int __nv_clz(int a) { return a ? __builtin_clz((unsigned int)a) : 32; }
GPUEMU_NV int __nv_clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
GPUEMU_NV int __nv_ffs(int a) { return a ? __builtin_ctz((unsigned int)a) + 1 : 0; }
GPUEMU_NV int __nv_ffsll(long long a) { return a ? __builtin_ctzll((unsigned long long)a) + 1 : 0; }
GPUEMU_NV unsigned int __nv_brev(unsigned int a) { return __builtin_bitreverse32(a); }
GPUEMU_NV unsigned long long __nv_brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
GPUEMU_NV int __nv_mul24(int a, int b)
{
	int r;

	asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
GPUEMU_NV unsigned int __nv_umul24(unsigned int a, unsigned int b)
{
	unsigned int r;

	asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	return r;
}
GPUEMU_NV int __nv_mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
GPUEMU_NV unsigned int __nv_umulhi(unsigned int a, unsigned int b)
{
	return (unsigned int)((unsigned long long)a * b >> 32);
}
GPUEMU_NV long long __nv_mul64hi(long long a, long long b)
{
	long long r;

	asm("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
	return r;
}
GPUEMU_NV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b)
{
	unsigned long long r;

	asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
	return r;
}

/* --- rounding to integers, signs, roots: what instructions do -------------------------- */

#define GPUEMU_INSN1(name, type, c, insn)						\
	GPUEMU_NV type name(type a)							\
	{										\
		type r;									\
											\
		asm(insn " %0, %1;" : "=" c(r) : c(a));					\
		return r;								\
	}
#define GPUEMU_INSN2(name, type, c, insn)						\
	GPUEMU_NV type name(type a, type b)						\
	{										\
		type r;									\
											\
		asm(insn " %0, %1, %2;" : "=" c(r) : c(a), c(b));			\
		return r;								\
	}
#define GPUEMU_INSN3(name, type, c, insn)						\
	GPUEMU_NV type name(type a, type b, type d)					\
	{										\
		type r;									\
											\
		asm(insn " %0, %1, %2, %3;" : "=" c(r) : c(a), c(b), c(d));		\
		return r;								\
	}

GPUEMU_INSN1(__nv_fabsf, float, "f", "abs.f32")
GPUEMU_INSN1(__nv_fabs, double, "d", "abs.f64")
GPUEMU_INSN1(__nv_floorf, float, "f", "cvt.rmi.f32.f32")
GPUEMU_INSN1(__nv_floor, double, "d", "cvt.rmi.f64.f64")
GPUEMU_INSN1(__nv_ceilf, float, "f", "cvt.rpi.f32.f32")
GPUEMU_INSN1(__nv_ceil, double, "d", "cvt.rpi.f64.f64")
GPUEMU_INSN1(__nv_truncf, float, "f", "cvt.rzi.f32.f32")
GPUEMU_INSN1(__nv_trunc, double, "d", "cvt.rzi.f64.f64")
GPUEMU_INSN1(__nv_rintf, float, "f", "cvt.rni.f32.f32")
GPUEMU_INSN1(__nv_rint, double, "d", "cvt.rni.f64.f64")
GPUEMU_INSN1(__nv_nearbyintf, float, "f", "cvt.rni.f32.f32")
GPUEMU_INSN1(__nv_nearbyint, double, "d", "cvt.rni.f64.f64")
GPUEMU_INSN1(__nv_sqrtf, float, "f", "sqrt.rn.f32")
GPUEMU_INSN1(__nv_sqrt, double, "d", "sqrt.rn.f64")
GPUEMU_INSN1(__nv_rsqrtf, float, "f", "rsqrt.approx.f32")
GPUEMU_INSN1(__nv_frsqrt_rn, float, "f", "rsqrt.approx.f32")
GPUEMU_INSN1(__nv_fast_sinf, float, "f", "sin.approx.f32")
GPUEMU_INSN1(__nv_fast_cosf, float, "f", "cos.approx.f32")
GPUEMU_INSN1(__nv_saturatef, float, "f", "cvt.sat.f32.f32")
GPUEMU_INSN2(__nv_fminf, float, "f", "min.f32")
GPUEMU_INSN2(__nv_fmaxf, float, "f", "max.f32")
GPUEMU_INSN2(__nv_fmin, double, "d", "min.f64")
GPUEMU_INSN2(__nv_fmax, double, "d", "max.f64")
GPUEMU_INSN2(__nv_fast_fdividef, float, "f", "div.approx.f32")
GPUEMU_INSN3(__nv_fmaf, float, "f", "fma.rn.f32")
GPUEMU_INSN3(__nv_fma, double, "d", "fma.rn.f64")
/* Rounded to nearest, to zero, up, down. */
#define GPUEMU_ROUND(n, name, type, c, insn, of)					\
	GPUEMU_INSN##n(name##_rn, type, c, insn ".rn" of)				\
	GPUEMU_INSN##n(name##_rz, type, c, insn ".rz" of)				\
	GPUEMU_INSN##n(name##_ru, type, c, insn ".rp" of)				\
	GPUEMU_INSN##n(name##_rd, type, c, insn ".rm" of)
GPUEMU_ROUND(1, __nv_frcp, float, "f", "rcp", ".f32")
GPUEMU_ROUND(1, __nv_drcp, double, "d", "rcp", ".f64")
GPUEMU_ROUND(1, __nv_fsqrt, float, "f", "sqrt", ".f32")
GPUEMU_ROUND(1, __nv_dsqrt, double, "d", "sqrt", ".f64")
GPUEMU_ROUND(2, __nv_fadd, float, "f", "add", ".f32")
GPUEMU_ROUND(2, __nv_dadd, double, "d", "add", ".f64")
GPUEMU_ROUND(2, __nv_fsub, float, "f", "sub", ".f32")
GPUEMU_ROUND(2, __nv_dsub, double, "d", "sub", ".f64")
GPUEMU_ROUND(2, __nv_fmul, float, "f", "mul", ".f32")
GPUEMU_ROUND(2, __nv_dmul, double, "d", "mul", ".f64")
GPUEMU_ROUND(2, __nv_fdiv, float, "f", "div", ".f32")
GPUEMU_ROUND(2, __nv_ddiv, double, "d", "div", ".f64")
GPUEMU_ROUND(3, __nv_fmaf, float, "f", "fma", ".f32")
GPUEMU_ROUND(3, __nv_fmaf_ieee, float, "f", "fma", ".f32")
GPUEMU_ROUND(3, __nv_fma, double, "d", "fma", ".f64")
#undef GPUEMU_ROUND
#undef GPUEMU_INSN1
#undef GPUEMU_INSN2
#undef GPUEMU_INSN3

GPUEMU_BITS float gpuemu_ex2(float a)
{
	float r;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
	return r;
}

GPUEMU_BITS float gpuemu_lg2(float a)
{
	float r;

	asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
	return r;
}

GPUEMU_NV double __nv_rsqrt(double a) { return 1.0 / __nv_sqrt(a); }
GPUEMU_NV float __nv_fast_expf(float a) { return gpuemu_ex2(a * 1.4426950408889634f); }
GPUEMU_NV float __nv_fast_exp10f(float a) { return gpuemu_ex2(a * 3.3219280948873623f); }
GPUEMU_NV float __nv_fast_log2f(float a) { return gpuemu_lg2(a); }
GPUEMU_NV float __nv_fast_logf(float a) { return gpuemu_lg2(a) * 0.6931471805599453f; }
GPUEMU_NV float __nv_fast_log10f(float a) { return gpuemu_lg2(a) * 0.30102999566398120f; }
GPUEMU_NV float __nv_fast_powf(float a, float b) { return gpuemu_ex2(b * gpuemu_lg2(a)); }
GPUEMU_NV float __nv_fast_tanf(float a)
{
	return __nv_fast_fdividef(__nv_fast_sinf(a), __nv_fast_cosf(a));
}
GPUEMU_NV void __nv_fast_sincosf(float a, float *s, float *c)
{
	*s = __nv_fast_sinf(a);
	*c = __nv_fast_cosf(a);
}

GPUEMU_NV float __nv_copysignf(float a, float b)
{
	return gpuemu_float((gpuemu_bits(a) & 0x7fffffffu) | (gpuemu_bits(b) & 0x80000000u));
}
GPUEMU_NV double __nv_copysign(double a, double b)
{
	return gpuemu_double((gpuemu_bits64(a) & ~(1ull << 63)) | (gpuemu_bits64(b) & 1ull << 63));
}
GPUEMU_NV int __nv_signbitf(float a) { return (int)(gpuemu_bits(a) >> 31); }
GPUEMU_NV int __nv_signbitd(double a) { return (int)(gpuemu_bits64(a) >> 63); }
GPUEMU_NV int __nv_isnanf(float a) { return a != a; }
GPUEMU_NV int __nv_isnand(double a) { return a != a; }
GPUEMU_NV int __nv_isinff(float a) { return (gpuemu_bits(a) & 0x7fffffffu) == 0x7f800000u; }
GPUEMU_NV int __nv_isinfd(double a) { return (gpuemu_bits64(a) & ~(1ull << 63)) == 0x7ffull << 52; }
GPUEMU_NV int __nv_finitef(float a) { return (gpuemu_bits(a) & 0x7f800000u) != 0x7f800000u; }
GPUEMU_NV int __nv_isfinited(double a)
{
	return (gpuemu_bits64(a) & 0x7ffull << 52) != 0x7ffull << 52;
}
GPUEMU_NV float __nv_fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
GPUEMU_NV double __nv_fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
/* Half away from zero. 0.5 just below a half must not round up, so the sum is of the fraction. */
GPUEMU_NV float __nv_roundf(float a)
{
	float t = __nv_truncf(a);

	return __nv_copysignf(__nv_fabsf(a - t) >= 0.5f ? t + __nv_copysignf(1.0f, a) : t, a);
}
GPUEMU_NV double __nv_round(double a)
{
	double t = __nv_trunc(a);

	return __nv_copysign(__nv_fabs(a - t) >= 0.5 ? t + __nv_copysign(1.0, a) : t, a);
}
GPUEMU_NV long long __nv_llroundf(float a) { return (long long)__nv_roundf(a); }
GPUEMU_NV long long __nv_llround(double a) { return (long long)__nv_round(a); }
GPUEMU_NV long long __nv_llrintf(float a) { return (long long)__nv_rintf(a); }
GPUEMU_NV long long __nv_llrint(double a) { return (long long)__nv_rint(a); }
GPUEMU_NV float __nv_modff(float a, float *whole)
{
	*whole = __nv_truncf(a);
	return __nv_copysignf(__nv_isinff(a) ? 0.0f : a - *whole, a);
}
GPUEMU_NV double __nv_modf(double a, double *whole)
{
	*whole = __nv_trunc(a);
	return __nv_copysign(__nv_isinfd(a) ? 0.0 : a - *whole, a);
}

/* --- bits of numbers, moved as they are -------------------------------------------------- */

GPUEMU_NV int __nv_float_as_int(float a) { return (int)gpuemu_bits(a); }
GPUEMU_NV float __nv_int_as_float(int a) { return gpuemu_float((unsigned int)a); }
GPUEMU_NV unsigned int __nv_float_as_uint(float a) { return gpuemu_bits(a); }
GPUEMU_NV float __nv_uint_as_float(unsigned int a) { return gpuemu_float(a); }
GPUEMU_NV unsigned long long __nv_double_as_longlong(double a) { return gpuemu_bits64(a); }
GPUEMU_NV double __nv_longlong_as_double(long long a)
{
	return gpuemu_double((unsigned long long)a);
}
GPUEMU_NV int __nv_double2hiint(double a) { return (int)(gpuemu_bits64(a) >> 32); }
GPUEMU_NV int __nv_double2loint(double a) { return (int)gpuemu_bits64(a); }
GPUEMU_NV double __nv_hiloint2double(int hi, int lo)
{
	return gpuemu_double((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo);
}

#define GPUEMU_CVT(name, to, ct, from, cf, insn)					\
	GPUEMU_NV to name(from a)							\
	{										\
		to r;									\
											\
		asm(insn " %0, %1;" : "=" ct(r) : cf(a));				\
		return r;								\
	}
#define GPUEMU_CVT4(name, to, ct, from, cf, i, types)					\
	GPUEMU_CVT(name##_rn, to, ct, from, cf, "cvt.rn" i types)			\
	GPUEMU_CVT(name##_rz, to, ct, from, cf, "cvt.rz" i types)			\
	GPUEMU_CVT(name##_ru, to, ct, from, cf, "cvt.rp" i types)			\
	GPUEMU_CVT(name##_rd, to, ct, from, cf, "cvt.rm" i types)
GPUEMU_CVT4(__nv_float2int, int, "r", float, "f", "i", ".s32.f32")
GPUEMU_CVT4(__nv_float2uint, unsigned int, "r", float, "f", "i", ".u32.f32")
GPUEMU_CVT4(__nv_float2ll, long long, "l", float, "f", "i", ".s64.f32")
GPUEMU_CVT4(__nv_float2ull, unsigned long long, "l", float, "f", "i", ".u64.f32")
GPUEMU_CVT4(__nv_double2int, int, "r", double, "d", "i", ".s32.f64")
GPUEMU_CVT4(__nv_double2uint, unsigned int, "r", double, "d", "i", ".u32.f64")
GPUEMU_CVT4(__nv_double2ll, long long, "l", double, "d", "i", ".s64.f64")
GPUEMU_CVT4(__nv_double2ull, unsigned long long, "l", double, "d", "i", ".u64.f64")
GPUEMU_CVT4(__nv_double2float, float, "f", double, "d", "", ".f32.f64")
GPUEMU_CVT4(__nv_int2float, float, "f", int, "r", "", ".f32.s32")
GPUEMU_CVT4(__nv_uint2float, float, "f", unsigned int, "r", "", ".f32.u32")
GPUEMU_CVT4(__nv_ll2float, float, "f", long long, "l", "", ".f32.s64")
GPUEMU_CVT4(__nv_ull2float, float, "f", unsigned long long, "l", "", ".f32.u64")
GPUEMU_CVT4(__nv_ll2double, double, "d", long long, "l", "", ".f64.s64")
GPUEMU_CVT4(__nv_ull2double, double, "d", unsigned long long, "l", "", ".f64.u64")
GPUEMU_CVT(__nv_int2double_rn, double, "d", int, "r", "cvt.rn.f64.s32")
GPUEMU_CVT(__nv_uint2double_rn, double, "d", unsigned int, "r", "cvt.rn.f64.u32")
#undef GPUEMU_CVT4
#undef GPUEMU_CVT

/* --- exponents ------------------------------------------------------------------------- */

GPUEMU_BITS double gpuemu_pow2(int n)
{
	return gpuemu_double((unsigned long long)(n + 1023) << 52);
}

/* Three factors of at most 2^767 each reach everything; the last alone may round. */
GPUEMU_NV double __nv_ldexp(double a, int n)
{
	int step;

	n = n < -2200 ? -2200 : n > 2200 ? 2200 : n;
	for (int i = 0; i < 2; i++) {
		step = n < -969 ? -969 : n > 1023 ? 1023 : 0;
		a *= gpuemu_pow2(step);
		n -= step;
	}
	return a * (n < -1022 ? gpuemu_pow2(-1022) : gpuemu_pow2(n > 1023 ? 1023 : n));
}
GPUEMU_NV float __nv_ldexpf(float a, int n) { return (float)__nv_ldexp((double)a, n); }
GPUEMU_NV double __nv_scalbn(double a, int n) { return __nv_ldexp(a, n); }
GPUEMU_NV float __nv_scalbnf(float a, int n) { return __nv_ldexpf(a, n); }

GPUEMU_NV double __nv_frexp(double a, int *e)
{
	unsigned long long bits = gpuemu_bits64(a);
	int shift = 0;

	*e = 0;
	if (a == 0.0 || !__nv_isfinited(a))
		return a;
	if (!(bits >> 52 & 0x7ff)) {
		bits = gpuemu_bits64(a * 0x1p54);
		shift = 54;
	}
	*e = (int)(bits >> 52 & 0x7ff) - 1022 - shift;
	return gpuemu_double((bits & ~(0x7ffull << 52)) | 1022ull << 52);
}
GPUEMU_NV float __nv_frexpf(float a, int *e) { return (float)__nv_frexp((double)a, e); }
GPUEMU_NV int __nv_ilogb(double a)
{
	int e;

	if (a == 0.0 || __nv_isnand(a))
		return -2147483647 - 1;
	if (__nv_isinfd(a))
		return 2147483647;
	__nv_frexp(a, &e);
	return e - 1;
}
GPUEMU_NV int __nv_ilogbf(float a) { return __nv_ilogb((double)a); }
GPUEMU_NV double __nv_logb(double a)
{
	return a == 0.0 ? -__builtin_inf() : __nv_isfinited(a) ? (double)__nv_ilogb(a) : a * a;
}
GPUEMU_NV float __nv_logbf(float a) { return (float)__nv_logb((double)a); }

/* --- exponentials and logarithms --------------------------------------------------------- */

#define GPUEMU_LN2_HI	0x1.62e42fee00000p-1
#define GPUEMU_LN2_LO	0x1.a39ef35793c76p-33

/* e^(r + tail), |r| < 0.35: Taylor's series to r^13, 4e-18. */
GPUEMU_BITS double gpuemu_exp_near(double r)
{
	double p = 1.0 / 6227020800.0;

	p = __nv_fma(p, r, 1.0 / 479001600.0);
	p = __nv_fma(p, r, 1.0 / 39916800.0);
	p = __nv_fma(p, r, 1.0 / 3628800.0);
	p = __nv_fma(p, r, 1.0 / 362880.0);
	p = __nv_fma(p, r, 1.0 / 40320.0);
	p = __nv_fma(p, r, 1.0 / 5040.0);
	p = __nv_fma(p, r, 1.0 / 720.0);
	p = __nv_fma(p, r, 1.0 / 120.0);
	p = __nv_fma(p, r, 1.0 / 24.0);
	p = __nv_fma(p, r, 1.0 / 6.0);
	p = __nv_fma(p, r, 0.5);
	/* e^r - 1 */
	return __nv_fma(p, r * r, r);
}

GPUEMU_BITS double gpuemu_exp2parts(double a, double tail)
{
	double k, r;

	if (!(a < 710.0))
		return a != a ? a : __builtin_inf();
	if (a < -746.0)
		return 0.0;
	k = __nv_rint(a * 1.4426950408889634);
	r = __nv_fma(-k, GPUEMU_LN2_HI, a);
	r = __nv_fma(-k, GPUEMU_LN2_LO, r) + tail;
	return __nv_ldexp(1.0 + gpuemu_exp_near(r), (int)k);
}

GPUEMU_NV double __nv_exp(double a) { return gpuemu_exp2parts(a, 0.0); }
GPUEMU_NV double __nv_exp2(double a)
{
	double k = __nv_rint(a);

	if (!(__nv_fabs(a) < 1100.0))
		return a != a ? a : a > 0.0 ? __builtin_inf() : 0.0;
	return __nv_ldexp(1.0 + gpuemu_exp_near((a - k) * 0.6931471805599453), (int)k);
}
GPUEMU_NV double __nv_exp10(double a)
{
	double hi = a * 2.302585092994046;

	return gpuemu_exp2parts(hi, __nv_fma(a, 2.302585092994046,
					     -hi) + a * -2.1707562233822494e-16);
}
/* 2^k (e^r - 1) + (2^k - 1) */
GPUEMU_NV double __nv_expm1(double a)
{
	double k, r, whole;

	if (!(__nv_fabs(a) < 40.0))
		return __nv_exp(a) - 1.0;
	if (a == 0.0)
		return a;
	k = __nv_rint(a * 1.4426950408889634);
	r = __nv_fma(-k, GPUEMU_LN2_HI, a);
	r = __nv_fma(-k, GPUEMU_LN2_LO, r);
	whole = gpuemu_pow2((int)k);
	return __nv_fma(whole, gpuemu_exp_near(r), whole - 1.0);
}

/* In single precision, as the instruction ex2 allows: 2 ulp. */
GPUEMU_NV float __nv_expf(float a)
{
	float k, r;

	a = a < -104.0f ? -104.0f : a > 89.0f ? 89.0f : a;
	k = __nv_rintf(a * 1.4426950408889634f);
	r = __nv_fmaf(-k, 0.693359375f, a);
	r = __nv_fmaf(-k, -2.12194440e-4f, r);
	r = gpuemu_ex2(r * 1.4426950408889634f);
	/* Two factors, for results below the smallest normal number. */
	return r * gpuemu_ex2(k * 0.5f - 0.5f * (float)((int)k & 1)) *
	       gpuemu_ex2(k * 0.5f + 0.5f * (float)((int)k & 1));
}
GPUEMU_NV float __nv_exp2f(float a) { return (float)__nv_exp2((double)a); }
GPUEMU_NV float __nv_exp10f(float a) { return (float)__nv_exp10((double)a); }
GPUEMU_NV float __nv_expm1f(float a) { return (float)__nv_expm1((double)a); }

/*
 * log(a) = *hi + the result, 64 bits of it: a = 2^k (1 + f), s = f / (2 + f), and log(1 + f) is
 * 2 s + 2 s^3 / 3 + 2 s^5 / 5 + .. a is positive and finite.
 */
GPUEMU_BITS double gpuemu_log_parts(double a, double *hi)
{
	double f, s, s_lo, t, p, sum, big;
	int k;

	a = __nv_frexp(a, &k);
	if (a < 0.70710678118654752) {
		a *= 2.0;
		k--;
	}
	f = a - 1.0;
	s = f / (2.0 + f);
	/* The quotient's remainder: f - s (2 + f), both products exact. */
	s_lo = __nv_fma(-s, 2.0, f);
	s_lo = __nv_fma(-s, f, s_lo) / (2.0 + f);
	t = s * s;
	p = 2.0 / 23.0;
	p = __nv_fma(p, t, 2.0 / 21.0);
	p = __nv_fma(p, t, 2.0 / 19.0);
	p = __nv_fma(p, t, 2.0 / 17.0);
	p = __nv_fma(p, t, 2.0 / 15.0);
	p = __nv_fma(p, t, 2.0 / 13.0);
	p = __nv_fma(p, t, 2.0 / 11.0);
	p = __nv_fma(p, t, 2.0 / 9.0);
	p = __nv_fma(p, t, 2.0 / 7.0);
	p = __nv_fma(p, t, 2.0 / 5.0);
	p = __nv_fma(p, t, 2.0 / 3.0);
	p = p * t * s;
	big = (double)k * GPUEMU_LN2_HI;
	sum = big + 2.0 * s;
	*hi = sum;
	/* The error of the sum, whichever is larger. */
	if (__nv_fabs(big) >= __nv_fabs(2.0 * s))
		p += (big - sum) + 2.0 * s;
	else
		p += (2.0 * s - sum) + big;
	return p + 2.0 * s_lo + (double)k * GPUEMU_LN2_LO;
}

GPUEMU_BITS bool gpuemu_log_special(double a, double *r)
{
	if (a > 0.0 && a < __builtin_inf())
		return false;
	*r = a == 0.0 ? -__builtin_inf() : a > 0.0 ? a : __builtin_nan("");
	return true;
}

GPUEMU_NV double __nv_log(double a)
{
	double hi, lo;

	if (gpuemu_log_special(a, &hi))
		return hi;
	lo = gpuemu_log_parts(a, &hi);
	return hi + lo;
}
GPUEMU_NV double __nv_log2(double a)
{
	double hi, lo;

	if (gpuemu_log_special(a, &hi))
		return hi;
	lo = gpuemu_log_parts(a, &hi);
	return __nv_fma(hi, 1.4426950408889634, __nv_fma(hi, 2.0355273740931033e-17,
							 lo * 1.4426950408889634));
}
GPUEMU_NV double __nv_log10(double a)
{
	double hi, lo;

	if (gpuemu_log_special(a, &hi))
		return hi;
	lo = gpuemu_log_parts(a, &hi);
	return __nv_fma(hi, 0.4342944819032518, __nv_fma(hi, 1.098319650216765e-17,
							 lo * 0.4342944819032518));
}
/* log(1 + a): what 1 + a lost is the sum's small part. */
GPUEMU_NV double __nv_log1p(double a)
{
	double u = 1.0 + a, hi, lo;

	if (__nv_fabs(a) < 0x1p-54)
		return a;
	if (gpuemu_log_special(u, &hi))
		return hi;
	lo = gpuemu_log_parts(u, &hi);
	return hi + (lo + (a - (u - 1.0)) / u);
}

/* In single precision: 1 ulp. */
GPUEMU_NV float __nv_logf(float a)
{
	unsigned int bits;
	float k = 0.0f, f, s, t, p;

	if (!(a > 0.0f) || __nv_isinff(a))
		return a == 0.0f ? -__builtin_inff() : a > 0.0f ? a : __builtin_nanf("");
	if (a < 1.17549435e-38f) {
		a *= 8388608.0f;
		k = -23.0f;
	}
	bits = gpuemu_bits(a) - 0x3f2aaaabu;	/* from two thirds to four thirds */
	k += (float)((int)bits >> 23);
	f = gpuemu_float((bits & 0x007fffffu) + 0x3f2aaaabu) - 1.0f;
	s = f / (2.0f + f);
	t = s * s;
	p = 2.0f / 11.0f;
	p = __nv_fmaf(p, t, 2.0f / 9.0f);
	p = __nv_fmaf(p, t, 2.0f / 7.0f);
	p = __nv_fmaf(p, t, 2.0f / 5.0f);
	p = __nv_fmaf(p, t, 2.0f / 3.0f);
	/* log(1 + f) = f - s (f - R) */
	p = __nv_fmaf(-s, f - p * t, f);
	return __nv_fmaf(k, 0.693145752f, __nv_fmaf(k, 1.42860677e-6f, p));
}
GPUEMU_NV float __nv_log2f(float a) { return (float)__nv_log2((double)a); }
GPUEMU_NV float __nv_log10f(float a) { return (float)__nv_log10((double)a); }
GPUEMU_NV float __nv_log1pf(float a) { return (float)__nv_log1p((double)a); }

/* a^b of a > 0: b log(a) to 64 bits and more. */
GPUEMU_BITS double gpuemu_pow_positive(double a, double b)
{
	double hi, lo = gpuemu_log_parts(a, &hi), p = b * hi;

	if (!(__nv_fabs(p) < 800.0))
		return p > 0.0 ? __builtin_inf() : 0.0;
	return gpuemu_exp2parts(p, __nv_fma(b, hi, -p) + b * lo);
}

/* C99's annex F says what the special cases are. */
GPUEMU_NV double __nv_pow(double a, double b)
{
	double whole = __nv_trunc(b), magnitude = __nv_fabs(a), r;
	bool integral = whole == b;
	bool odd = integral && __nv_fabs(b) < 0x1p53 && ((long long)whole & 1);

	if (b == 0.0 || a == 1.0)
		return 1.0;
	if (a != a || b != b)
		return a + b;
	if (__nv_isinfd(b)) {
		if (magnitude == 1.0)
			return 1.0;
		return (magnitude > 1.0) == (b > 0.0) ? __builtin_inf() : 0.0;
	}
	if (magnitude == 0.0 || __nv_isinfd(a))
		r = (magnitude == 0.0) == (b > 0.0) ? 0.0 : __builtin_inf();
	else if (a < 0.0 && !integral)
		return __builtin_nan("");
	else
		r = gpuemu_pow_positive(magnitude, b);
	return odd ? __nv_copysign(r, a) : r;
}
GPUEMU_NV float __nv_powf(float a, float b) { return (float)__nv_pow((double)a, (double)b); }
GPUEMU_NV double __nv_powi(double a, int b) { return __nv_pow(a, (double)b); }
GPUEMU_NV float __nv_powif(float a, int b) { return __nv_powf(a, (float)b); }
GPUEMU_NV double __nv_cbrt(double a)
{
	double r, m = __nv_fabs(a);

	if (m == 0.0 || !__nv_isfinited(a))
		return a;
	r = gpuemu_pow_positive(m, 1.0 / 3.0);
	/* 1/3 is not exact: one step of Newton's. */
	r -= (r - m / (r * r)) / 3.0;
	return __nv_copysign(r, a);
}
GPUEMU_NV float __nv_cbrtf(float a) { return (float)__nv_cbrt((double)a); }
GPUEMU_NV double __nv_rcbrt(double a) { return 1.0 / __nv_cbrt(a); }
GPUEMU_NV float __nv_rcbrtf(float a) { return (float)__nv_rcbrt((double)a); }

#include "libdevice_more.h"
#include "libdevice_special.h"
#include "libdevice_rest.h"

#undef GPUEMU_NV
#undef GPUEMU_BITS

#endif
