/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdevice.h's second half: trigonometric and hyperbolic functions, remainders, the error
 * function. libdevice.h alone includes it.
 */
#ifndef GPUEMU_LIBDEVICE_MORE_H
#define GPUEMU_LIBDEVICE_MORE_H

/* --- sine and cosine ------------------------------------------------------------------------ */

GPUEMU_BITS double gpuemu_sin_near(double r)
{
	double t = r * r, p = -1.0 / 121645100408832000.0;

	p = __nv_fma(p, t, 1.0 / 355687428096000.0);
	p = __nv_fma(p, t, -1.0 / 1307674368000.0);
	p = __nv_fma(p, t, 1.0 / 6227020800.0);
	p = __nv_fma(p, t, -1.0 / 39916800.0);
	p = __nv_fma(p, t, 1.0 / 362880.0);
	p = __nv_fma(p, t, -1.0 / 5040.0);
	p = __nv_fma(p, t, 1.0 / 120.0);
	p = __nv_fma(p, t, -1.0 / 6.0);
	return __nv_fma(p * t, r, r);
}

GPUEMU_BITS double gpuemu_cos_near(double r)
{
	double t = r * r, p = 1.0 / 2432902008176640000.0;

	p = __nv_fma(p, t, -1.0 / 6402373705728000.0);
	p = __nv_fma(p, t, 1.0 / 20922789888000.0);
	p = __nv_fma(p, t, -1.0 / 87178291200.0);
	p = __nv_fma(p, t, 1.0 / 479001600.0);
	p = __nv_fma(p, t, -1.0 / 3628800.0);
	p = __nv_fma(p, t, 1.0 / 40320.0);
	p = __nv_fma(p, t, -1.0 / 720.0);
	p = __nv_fma(p, t, 1.0 / 24.0);
	p = __nv_fma(p, t, -0.5);
	return __nv_fma(p, t, 1.0);
}

/*
 * a less a multiple of pi/2, between -pi/4 and pi/4; returns which multiple, modulo 4. Exact
 * enough up to 2^31 pi/2; farther out what is left of pi/2's bits is not.
 */
GPUEMU_BITS int gpuemu_reduce(double a, double *r)
{
	double k = __nv_rint(a * 0.63661977236758134), t;

	t = __nv_fma(-k, 1.5707963267948966, a);
	t = __nv_fma(-k, 6.123233995736766e-17, t);
	*r = __nv_fma(-k, -1.4973849048591833e-33, t);
	return (int)((long long)k & 3);
}

GPUEMU_BITS double gpuemu_quadrant(double r, int q)
{
	double v = q & 1 ? gpuemu_cos_near(r) : gpuemu_sin_near(r);

	return q & 2 ? -v : v;
}

GPUEMU_NV double __nv_sin(double a)
{
	double r;
	int q;

	if (!__nv_isfinited(a))
		return __builtin_nan("");
	if (a == 0.0)
		return a;
	q = gpuemu_reduce(a, &r);
	return gpuemu_quadrant(r, q);
}
GPUEMU_NV double __nv_cos(double a)
{
	double r;
	int q;

	if (!__nv_isfinited(a))
		return __builtin_nan("");
	q = gpuemu_reduce(a, &r);
	return gpuemu_quadrant(r, q + 1);
}
GPUEMU_NV double __nv_tan(double a)
{
	double r, s, c;
	int q;

	if (!__nv_isfinited(a))
		return __builtin_nan("");
	if (a == 0.0)
		return a;
	q = gpuemu_reduce(a, &r);
	s = gpuemu_sin_near(r);
	c = gpuemu_cos_near(r);
	return q & 1 ? -c / s : s / c;
}
GPUEMU_NV void __nv_sincos(double a, double *s, double *c)
{
	*s = __nv_sin(a);
	*c = __nv_cos(a);
}
/* a pi within an eighth of a turn, exact but for the last product; which quarter it was. */
GPUEMU_BITS int gpuemu_reduce_pi(double a, double *r)
{
	double half = __nv_rint(2.0 * (a - 2.0 * __nv_rint(a * 0.5)));
	double t = (a - 2.0 * __nv_rint(a * 0.5)) - 0.5 * half;

	*r = __nv_fma(t, 3.141592653589793, t * 1.2246467991473532e-16);
	return (int)half;
}
GPUEMU_NV double __nv_sinpi(double a)
{
	double r, s;
	int q;

	if (!__nv_isfinited(a))
		return __builtin_nan("");
	q = gpuemu_reduce_pi(a, &r);
	s = q & 1 ? gpuemu_cos_near(r) : gpuemu_sin_near(r);
	return s == 0.0 ? __nv_copysign(0.0, a) : q & 2 ? -s : s;
}
GPUEMU_NV double __nv_cospi(double a)
{
	double r, c;
	int q;

	if (!__nv_isfinited(a))
		return __builtin_nan("");
	q = gpuemu_reduce_pi(a, &r);
	c = q & 1 ? gpuemu_sin_near(r) : gpuemu_cos_near(r);
	return c == 0.0 ? 0.0 : (q + 1) & 2 ? -c : c;
}
GPUEMU_NV float __nv_sinpif(float a) { return (float)__nv_sinpi((double)a); }
GPUEMU_NV float __nv_cospif(float a) { return (float)__nv_cospi((double)a); }

/* In single precision as far as pi/2 in three parts carries; farther out in double. */
GPUEMU_BITS int gpuemu_reducef(float a, float *r)
{
	float k, t;
	double wide;
	int q;

	if (__nv_fabsf(a) > 48000.0f) {
		q = gpuemu_reduce((double)a, &wide);
		*r = (float)wide;
		return q;
	}
	k = __nv_rintf(a * 0.636619772f);
	t = __nv_fmaf(-k, 1.57079601e+00f, a);
	t = __nv_fmaf(-k, 3.13916473e-07f, t);
	*r = __nv_fmaf(-k, 5.39030253e-15f, t);
	return (int)k & 3;
}

GPUEMU_BITS float gpuemu_quadrantf(float r, int q)
{
	float t = r * r, p;

	if (q & 1) {
		p = -1.0f / 3628800.0f;
		p = __nv_fmaf(p, t, 1.0f / 40320.0f);
		p = __nv_fmaf(p, t, -1.0f / 720.0f);
		p = __nv_fmaf(p, t, 1.0f / 24.0f);
		p = __nv_fmaf(p, t, -0.5f);
		p = __nv_fmaf(p, t, 1.0f);
	} else {
		p = 1.0f / 362880.0f;
		p = __nv_fmaf(p, t, -1.0f / 5040.0f);
		p = __nv_fmaf(p, t, 1.0f / 120.0f);
		p = __nv_fmaf(p, t, -1.0f / 6.0f);
		p = __nv_fmaf(p * t, r, r);
	}
	return q & 2 ? -p : p;
}

GPUEMU_NV float __nv_sinf(float a)
{
	float r;
	int q;

	if (!__nv_finitef(a))
		return __builtin_nanf("");
	if (a == 0.0f)
		return a;
	q = gpuemu_reducef(a, &r);
	return gpuemu_quadrantf(r, q);
}
GPUEMU_NV float __nv_cosf(float a)
{
	float r;
	int q;

	if (!__nv_finitef(a))
		return __builtin_nanf("");
	q = gpuemu_reducef(a, &r);
	return gpuemu_quadrantf(r, q + 1);
}
GPUEMU_NV void __nv_sincosf(float a, float *s, float *c)
{
	*s = __nv_sinf(a);
	*c = __nv_cosf(a);
}
GPUEMU_NV float __nv_tanf(float a) { return (float)__nv_tan((double)a); }

/* --- their inverses --------------------------------------------------------------------------- */

/* |a| < 0.27: Taylor's series to a^27. */
GPUEMU_BITS double gpuemu_atan_near(double a)
{
	double t = a * a, p = 1.0 / 25.0;

	p = __nv_fma(p, -t, 1.0 / 23.0);
	p = __nv_fma(p, -t, 1.0 / 21.0);
	p = __nv_fma(p, -t, 1.0 / 19.0);
	p = __nv_fma(p, -t, 1.0 / 17.0);
	p = __nv_fma(p, -t, 1.0 / 15.0);
	p = __nv_fma(p, -t, 1.0 / 13.0);
	p = __nv_fma(p, -t, 1.0 / 11.0);
	p = __nv_fma(p, -t, 1.0 / 9.0);
	p = __nv_fma(p, -t, 1.0 / 7.0);
	p = __nv_fma(p, -t, 1.0 / 5.0);
	p = __nv_fma(p, -t, 1.0 / 3.0);
	return __nv_fma(-p * t, a, a);
}

/* 0 <= a: tan of 0, pi/8, pi/4 and pi/2 are what it is near to. */
GPUEMU_BITS double gpuemu_atan_positive(double a)
{
	if (a > 1.4966)
		return 1.5707963267948966 - (gpuemu_atan_positive(1.0 / a) - 6.123233995736766e-17);
	if (a > 0.6681786379192989)
		return 0.7853981633974483 +
		       (gpuemu_atan_near((a - 1.0) / (a + 1.0)) + 3.061616997868383e-17);
	if (a > 0.1989123673796580)
		return 0.39269908169872414 +
		       gpuemu_atan_near((a - 0.41421356237309503) / __nv_fma(a, 0.41421356237309503,
									     1.0));
	return gpuemu_atan_near(a);
}

GPUEMU_NV double __nv_atan(double a)
{
	return a != a ? a : __nv_copysign(gpuemu_atan_positive(__nv_fabs(a)), a);
}
GPUEMU_NV double __nv_atan2(double y, double x)
{
	double ay = __nv_fabs(y), ax = __nv_fabs(x), r;

	if (x != x || y != y)
		return x + y;
	if (ax == ay)
		r = ax == 0.0 ? 0.0 : 0.7853981633974483;
	else if (__nv_isinfd(ax))
		r = 0.0;
	else if (ay > ax)
		r = 1.5707963267948966 - (gpuemu_atan_positive(ax / ay) - 6.123233995736766e-17);
	else
		r = gpuemu_atan_positive(ay / ax);
	if (__nv_signbitd(x))
		r = 3.141592653589793 - (r - 1.2246467991473532e-16);
	return __nv_copysign(r, y);
}
GPUEMU_NV double __nv_asin(double a)
{
	return __nv_fabs(a) > 1.0 ? __builtin_nan("") : __nv_atan2(a, __nv_sqrt((1.0 - a) * (1.0 + a)));
}
GPUEMU_NV double __nv_acos(double a)
{
	return __nv_fabs(a) > 1.0 ? __builtin_nan("") : __nv_atan2(__nv_sqrt((1.0 - a) * (1.0 + a)),
								   a);
}
GPUEMU_NV float __nv_atanf(float a) { return (float)__nv_atan((double)a); }
GPUEMU_NV float __nv_atan2f(float y, float x) { return (float)__nv_atan2((double)y, (double)x); }
GPUEMU_NV float __nv_asinf(float a) { return (float)__nv_asin((double)a); }
GPUEMU_NV float __nv_acosf(float a) { return (float)__nv_acos((double)a); }

/*
 * --- hyperbolic
 * ----------------------------------------------------------------------------------
 */

GPUEMU_NV double __nv_sinh(double a)
{
	double m = __nv_fabs(a), e;

	if (m > 40.0) {
		e = gpuemu_exp2parts(m * 0.5, 0.0);
		return __nv_copysign(0.5 * e * e, a);
	}
	e = __nv_expm1(m);
	return __nv_copysign(0.5 * (e + e / (e + 1.0)), a);
}
GPUEMU_NV double __nv_cosh(double a)
{
	double m = __nv_fabs(a), e = gpuemu_exp2parts(m * 0.5, 0.0);

	if (m > 40.0)
		return 0.5 * e * e;
	e = __nv_exp(m);
	return 0.5 * (e + 1.0 / e);
}
GPUEMU_NV double __nv_tanh(double a)
{
	double m = __nv_fabs(a), e;

	if (m > 22.0)
		return __nv_copysign(1.0, a);
	if (a != a)
		return a;
	e = __nv_expm1(2.0 * m);
	return __nv_copysign(e / (e + 2.0), a);
}
GPUEMU_NV double __nv_asinh(double a)
{
	double m = __nv_fabs(a);

	if (m > 0x1p28)
		return __nv_copysign(__nv_log(m) + 0.6931471805599453, a);
	return __nv_copysign(__nv_log1p(m + m * m / (1.0 + __nv_sqrt(1.0 + m * m))), a);
}
GPUEMU_NV double __nv_acosh(double a)
{
	double t = a - 1.0;

	if (a > 0x1p28)
		return __nv_log(a) + 0.6931471805599453;
	return a < 1.0 ? __builtin_nan("") : __nv_log1p(t + __nv_sqrt(2.0 * t + t * t));
}
GPUEMU_NV double __nv_atanh(double a)
{
	double m = __nv_fabs(a);

	return __nv_copysign(0.5 * __nv_log1p(2.0 * m / (1.0 - m)), a);
}
GPUEMU_NV float __nv_sinhf(float a) { return (float)__nv_sinh((double)a); }
GPUEMU_NV float __nv_coshf(float a) { return (float)__nv_cosh((double)a); }
GPUEMU_NV float __nv_tanhf(float a) { return (float)__nv_tanh((double)a); }
GPUEMU_NV float __nv_asinhf(float a) { return (float)__nv_asinh((double)a); }
GPUEMU_NV float __nv_acoshf(float a) { return (float)__nv_acosh((double)a); }
GPUEMU_NV float __nv_atanhf(float a) { return (float)__nv_atanh((double)a); }

/*
 * --- remainders, lengths
 * ----------------------------------------------------------------------------
 */

/* Exact: b, doubled as often as it fits, is taken off a. */
GPUEMU_NV double __nv_fmod(double a, double b)
{
	double m = __nv_fabs(a), n = __nv_fabs(b), d;
	int ea, eb;

	if (b == 0.0 || !__nv_isfinited(a) || b != b)
		return __builtin_nan("");
	if (__nv_isinfd(b) || m < n)
		return a;
	__nv_frexp(m, &ea);
	__nv_frexp(n, &eb);
	for (int e = ea - eb; e >= 0; e--) {
		d = __nv_ldexp(n, e);
		if (m >= d)
			m -= d;
	}
	return __nv_copysign(m, a);
}
GPUEMU_NV float __nv_fmodf(float a, float b) { return (float)__nv_fmod((double)a, (double)b); }
GPUEMU_NV double __nv_remainder(double a, double b)
{
	double n = __nv_fabs(b), r;
	bool odd;

	if (b == 0.0 || !__nv_isfinited(a) || b != b)
		return __builtin_nan("");
	if (__nv_isinfd(b))
		return a;
	r = n < 0x1p1022 ? __nv_fabs(__nv_fmod(a, 2.0 * n)) : __nv_fabs(a);
	odd = r >= n;
	if (odd)
		r -= n;
	/* To the nearest multiple, to the even one of two. */
	if (r > n - r || (r == n - r && odd))
		r -= n;
	return __nv_signbitd(a) ? -r : r;
}
GPUEMU_NV float __nv_remainderf(float a, float b)
{
	return (float)__nv_remainder((double)a, (double)b);
}
GPUEMU_NV double __nv_hypot(double a, double b)
{
	double m = __nv_fmax(__nv_fabs(a), __nv_fabs(b)), n = __nv_fmin(__nv_fabs(a), __nv_fabs(b));
	int e;

	if (__nv_isinfd(a) || __nv_isinfd(b))
		return __builtin_inf();
	if (m == 0.0 || a != a || b != b)
		return m + __nv_fabs(a + b);
	__nv_frexp(m, &e);
	m = __nv_ldexp(m, -e);
	n = __nv_ldexp(n, -e);
	return __nv_ldexp(__nv_sqrt(__nv_fma(m, m, n * n)), e);
}
GPUEMU_NV float __nv_hypotf(float a, float b)
{
	/* An infinity is farther than any number that the other may be. */
	if (__nv_isinff(a) || __nv_isinff(b))
		return __builtin_inff();
	return (float)__nv_sqrt((double)a * (double)a + (double)b * (double)b);
}
GPUEMU_NV double __nv_rhypot(double a, double b) { return 1.0 / __nv_hypot(a, b); }
GPUEMU_NV float __nv_rhypotf(float a, float b)
{
	if (__nv_isinff(a) || __nv_isinff(b))
		return 0.0f;
	return (float)(1.0 / __nv_sqrt((double)a * (double)a + (double)b * (double)b));
}

/*
 * --- the error function and the normal distribution
 * ------------------------------------------------------
 */

/* exp(-a^2), a^2 with its rounding. */
GPUEMU_BITS double gpuemu_bell(double a)
{
	double t = a * a;

	return gpuemu_exp2parts(-t, -__nv_fma(a, a, -t));
}

/* erfc of a > 0.9 by its continued fraction, from the back: the smaller a, the more of it. */
GPUEMU_BITS double gpuemu_erfc_far(double a)
{
	double f = a;

	for (int n = 20 + (int)(160.0 / (a * a)); n > 0; n--)
		f = a + 0.5 * (double)n / f;
	return gpuemu_bell(a) * 0.5641895835477563 / f;
}

/* erf of |a| <= 0.9 by Taylor's series: 2 / sqrt(pi) sum of (-1)^n a^(2n+1) / (n! (2n+1)). */
GPUEMU_BITS double gpuemu_erf_series(double a)
{
	double t = a * a, p = 0.0, q = 1.0 / 2432902008176640000.0;

	/* q is the reciprocal of n!, of 20! first. */
	for (int n = 20; n > 0; n--) {
		p = __nv_fma(p, -t, q / (double)(2 * n + 1));
		q *= (double)n;
	}
	return -p * t;
}

GPUEMU_BITS double gpuemu_erf_near(double a)
{
	double p = gpuemu_erf_series(a);

	return __nv_fma(a * 0.1283791670955126, 1.0, __nv_fma(1.1283791670955126 * a, p, a));
}

/* 1 less the same, with one rounding less. */
GPUEMU_BITS double gpuemu_erfc_near(double a)
{
	double p = gpuemu_erf_series(a);

	return (1.0 - __nv_fma(1.1283791670955126 * a, p, a)) - a * 0.1283791670955126;
}

GPUEMU_NV double __nv_erf(double a)
{
	double m = __nv_fabs(a);

	if (!(m > 0.9))
		return a != a ? a : gpuemu_erf_near(a);
	return __nv_copysign(m > 6.0 ? 1.0 : 1.0 - gpuemu_erfc_far(m), a);
}
GPUEMU_NV double __nv_erfc(double a)
{
	if (a > 0.9)
		return a > 28.0 ? 0.0 : gpuemu_erfc_far(a);
	if (a > 0.3)
		return gpuemu_erfc_near(a);
	return 1.0 - __nv_erf(a);
}
GPUEMU_NV float __nv_erff(float a) { return (float)__nv_erf((double)a); }
GPUEMU_NV float __nv_erfcf(float a) { return (float)__nv_erfc((double)a); }
GPUEMU_NV double __nv_normcdf(double a) { return 0.5 * __nv_erfc(a * -0.70710678118654752); }
GPUEMU_NV float __nv_normcdff(float a) { return (float)__nv_normcdf((double)a); }

#endif
