/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libdevice.h's third part: the gamma function and its logarithm, the inverses of the error
 * function, the Bessel functions, the number after another. libdevice.h alone includes it. float
 * is double, rounded.
 */
#ifndef GPUEMU_LIBDEVICE_SPECIAL_H
#define GPUEMU_LIBDEVICE_SPECIAL_H

/*
 * --- the gamma function
 * -----------------------------------------------------------------------
 */

/*
 * (-1)^k (zeta(k) - 1) / k, k from 2: Taylor's series of log gamma(2 + e) behind its first
 * term.
 */
static __device__ const double gpuemu_zeta[] = {
	0.32246703342411321824,
	-0.067352301053198095133,
	0.020580808427784547879,
	-0.0073855510286739852663,
	0.0028905103307415232858,
	-0.0011927539117032609771,
	0.00050966952474304242234,
	-0.00022315475845357937976,
	0.000099457512781808533715,
	-0.0000449262367381331417,
	0.000020507212775670691553,
	-9.439488275268395904e-6,
	4.3748667899074878042e-6,
	-2.0392157538013662368e-6,
	9.5514121304074198329e-7,
	-4.4924691987645660433e-7,
	2.1207184805554665869e-7,
	-1.0043224823968099609e-7,
	4.7698101693639805658e-8,
	-2.271109460894316491e-8,
	1.0838659214896954091e-8,
	-5.1834750419700466551e-9,
	2.4836745438024783172e-9,
	-1.1921401405860912074e-9,
	5.7313672416788620133e-10,
	-2.7595228851242331452e-10,
	1.3304764374244489481e-10,
	-6.4229645638381000221e-11,
	3.1044247747322272762e-11,
	-1.5021384080754142171e-11,
	7.2759744802390796625e-12,
	-3.5277424765759150836e-12,
	1.7119917905596179086e-12,
	-8.3153858414202848198e-13,
	4.0422005252894400655e-13,
	-1.9664756310966164904e-13,
	9.5736303878385557638e-14,
	-4.6640760264283742246e-14,
	2.2737369600659723206e-14,
	-1.1091399470834522017e-14,
	5.4136591567253631315e-15,
};

/* log gamma(2 + e), |e| <= 0.8. */
GPUEMU_BITS double gpuemu_lgamma_near2(double e)
{
	double p = 0.0;

	for (int k = 40; k >= 0; k--)
		p = __nv_fma(p, e, gpuemu_zeta[k]);
	return e * __nv_fma(p, e, 0.42278433509846714);
}

/* log gamma(a), a > 0. */
GPUEMU_BITS double gpuemu_lgamma_above0(double a)
{
	double p, t, sum = 0.0, product = 1.0;

	if (a < 0.5)
		return gpuemu_lgamma_near2(a) - __nv_log1p(a) - __nv_log(a);
	if (a < 1.2)
		return gpuemu_lgamma_near2(a - 1.0) - __nv_log1p(a - 1.0);
	if (a < 9.0) {
		for (; a >= 2.5; a -= 1.0)
			product *= a - 1.0;
		return gpuemu_lgamma_near2(a - 2.0) + (product > 1.0 ? __nv_log(product) : 0.0);
	}
	/* Stirling. */
	t = 1.0 / (a * a);
	p = -3617.0 / 122400.0;
	p = __nv_fma(p, t, 1.0 / 156.0);
	p = __nv_fma(p, t, -691.0 / 360360.0);
	p = __nv_fma(p, t, 1.0 / 1188.0);
	p = __nv_fma(p, t, -1.0 / 1680.0);
	p = __nv_fma(p, t, 1.0 / 1260.0);
	p = __nv_fma(p, t, -1.0 / 360.0);
	p = __nv_fma(p, t, 1.0 / 12.0);
	sum = p / a + 0.91893853320467274;
	if (a > 1e306)
		return a * (__nv_log(a) - 1.0);
	return __nv_fma(a - 0.5, __nv_log(a), -a) + sum;
}

GPUEMU_NV double __nv_lgamma(double a)
{
	if (a != a)
		return a;
	if (__nv_isinfd(a))
		return __builtin_inf();
	if (a > 0.0)
		return gpuemu_lgamma_above0(a);
	if (a == __nv_floor(a))
		return __builtin_inf();
	/* pi / (-a sin(pi a)) = gamma(a) gamma(-a) */
	return 1.1447298858494002 - __nv_log(__nv_fabs(a * __nv_sinpi(a))) -
	       gpuemu_lgamma_above0(-a);
}

/* gamma(a), 0 < a < 172, as a double and what it lacks: the product of up to 170 numbers. */
GPUEMU_BITS double gpuemu_gamma_above0(double a, double *rest)
{
	double high = 1.0, low = 0.0, near, t;

	if (a < 1.5) {
		near = __nv_exp(gpuemu_lgamma_near2(a < 0.5 ? a : a - 1.0));
		t = a < 0.5 ? a * (1.0 + a) : a;
		high = near / t;
		*rest = __nv_fma(-high, t, near) / t;
		/* What a (1 + a) lost. */
		if (a < 0.5)
			*rest -= high * (__nv_fma(a, 1.0 + a, -t) +
					 a * (a - ((1.0 + a) - 1.0))) / t;
		return high;
	}
	for (; a >= 2.5; a -= 1.0) {
		double factor = a - 1.0, product = high * factor;

		low = __nv_fma(low, factor, __nv_fma(high, factor, -product));
		high = product;
	}
	near = __nv_exp(gpuemu_lgamma_near2(a - 2.0));
	t = high * near;
	*rest = __nv_fma(high, near, -t) + low * near;
	return t;
}

GPUEMU_NV double __nv_tgamma(double a)
{
	double rest, g, s;

	if (a != a || a == __builtin_inf())
		return a;
	if (a == 0.0)
		return __nv_copysign(__builtin_inf(), a);
	if (a < 0.0 && a == __nv_floor(a))
		return __builtin_nan("");
	if (a > 171.7)
		return __builtin_inf();
	if (a > 0.0) {
		g = gpuemu_gamma_above0(a, &rest);
		return g + rest;
	}
	if (a < -184.0)
		return __nv_copysign(0.0, __nv_sinpi(a));
	/* pi / (-a sin(pi a) gamma(-a)); in two steps where gamma(-a) is beyond the range. */
	s = -a * __nv_sinpi(a);
	if (a > -170.0) {
		g = gpuemu_gamma_above0(-a, &rest);
		return 3.1415926535897931 / (s * (g + rest));
	}
	g = gpuemu_gamma_above0(-a - 20.0, &rest);
	g = 3.1415926535897931 / (s * (g + rest));
	for (int i = 1; i <= 20; i++)
		g /= -a - (double)i;
	return g;
}
GPUEMU_NV float __nv_lgammaf(float a) { return (float)__nv_lgamma((double)a); }
GPUEMU_NV float __nv_tgammaf(float a) { return (float)__nv_tgamma((double)a); }

/*
 * --- the inverses of the error function
 * ---------------------------------------------------------
 */

/*
 * A guess with three digits, then Halley's steps; 0 < q <= 1. Within, erf() has the digits that
 * erfc() has outside.
 */
GPUEMU_NV double __nv_erfcinv(double q)
{
	double l, h, y, error, slope;

	if (!(q >= 0.0 && q <= 2.0))
		return __builtin_nan("");
	if (q == 0.0 || q == 2.0)
		return q == 0.0 ? __builtin_inf() : -__builtin_inf();
	if (q > 1.0)
		return -__nv_erfcinv(2.0 - q);
	l = __nv_log(q * (2.0 - q));
	h = 4.3307467508 + 0.5 * l;
	y = __nv_sqrt(__nv_sqrt(h * h - l / 0.147) - h);
	for (int i = 0; i < 4; i++) {
		error = y < 0.9 ? (1.0 - q) - __nv_erf(y) : __nv_erfc(y) - q;
		slope = 1.1283791670955126 * gpuemu_bell(y);
		error = slope > 0.0 ? error / slope : 0.0;
		y += error / (1.0 - y * error);
	}
	return y;
}

GPUEMU_NV double __nv_erfinv(double a)
{
	double m = __nv_fabs(a), l, h, y, error;

	if (m > 0.5)
		return m > 1.0 ? __builtin_nan("") : __nv_copysign(__nv_erfcinv(1.0 - m), a);
	if (!(m > 1e-9))
		return a * 0.88622692545275801;
	l = __nv_log1p(-m * m);
	h = 4.3307467508 + 0.5 * l;
	y = __nv_sqrt(__nv_sqrt(h * h - l / 0.147) - h);
	for (int i = 0; i < 4; i++) {
		error = (m - __nv_erf(y)) / (1.1283791670955126 * gpuemu_bell(y));
		y += error / (1.0 - y * error);
	}
	return __nv_copysign(y, a);
}

GPUEMU_NV double __nv_normcdfinv(double a) { return -1.4142135623730951 * __nv_erfcinv(2.0 * a); }

GPUEMU_NV double __nv_erfcx(double a)
{
	double f = a, t = a * a;

	if (a > 0.9) {
		for (int n = 20 + (int)(160.0 / t); n > 0; n--)
			f = a + 0.5 * (double)n / f;
		return 0.5641895835477563 / f;
	}
	if (a < -26.7)
		return __builtin_inf();
	return gpuemu_exp2parts(t, __nv_fma(a, a, -t)) * __nv_erfc(a);
}
GPUEMU_NV float __nv_erfcinvf(float a) { return (float)__nv_erfcinv((double)a); }
GPUEMU_NV float __nv_erfinvf(float a) { return (float)__nv_erfinv((double)a); }
GPUEMU_NV float __nv_normcdfinvf(float a) { return (float)__nv_normcdfinv((double)a); }
GPUEMU_NV float __nv_erfcxf(float a) { return (float)__nv_erfcx((double)a); }

/*
 * --- Bessel functions: within 5e-12, as CUDA has them
 * ---------------------------------------------
 */

/* Beyond, Hankel's series; before, the power series. */
#define GPUEMU_BESSEL_FAR	12.7

/* Both kinds of order n = 0 or 1 beyond it. */
GPUEMU_BITS void gpuemu_bessel_far(int n, double a, double *j, double *y)
{
	double mu = 4.0 * (double)(n * n), term = 1.0, p = 1.0, q = 0.0, before = 1.0, s, c, scale;

	for (int k = 1; k < 60; k++) {
		double odd = 2.0 * (double)k - 1.0;

		term *= (mu - odd * odd) / (8.0 * a * (double)k);
		if (__nv_fabs(term) > before || __nv_fabs(term) < 1e-18)
			break;
		before = __nv_fabs(term);
		if (k & 1)
			q += k & 2 ? -term : term;
		else
			p += k & 2 ? -term : term;
	}
	/* cos and sin of a - pi / 4 - n pi / 2, by those of a. */
	__nv_sincos(a, &s, &c);
	scale = __nv_sqrt(0.63661977236758138 / a) * 0.70710678118654757;
	if (n) {
		double t = c;

		c = s - t;
		s = -(s + t);
		*j = scale * (p * c - q * s);
		*y = scale * (p * s + q * c);
		return;
	}
	{
		double t = c;

		c = t + s;
		s = s - t;
	}
	*j = scale * (p * c - q * s);
	*y = scale * (p * s + q * c);
}

/* sum of (-a^2 / 4)^k / (k! (k + n)!) times (a / 2)^n, and the same times harmonic numbers. */
GPUEMU_BITS double gpuemu_bessel_series(int n, double a, double *harmonic)
{
	double t = -0.25 * a * a, term = n ? 0.5 * a : 1.0, sum = term, h = n ? 1.0 : 0.0;
	double with = term * h;

	for (int k = 1; k < 80; k++) {
		term *= t / ((double)k * (double)(k + n));
		h += 1.0 / (double)k + (n ? 1.0 / (double)(k + 1) : 1.0 / (double)k);
		sum += term;
		with += term * h;
		if (__nv_fabs(term) < 1e-19)
			break;
	}
	*harmonic = with;
	return sum;
}

GPUEMU_NV double __nv_j0(double a)
{
	double j, y, m = __nv_fabs(a);

	if (m > GPUEMU_BESSEL_FAR) {
		if (__nv_isinfd(m))
			return 0.0;
		gpuemu_bessel_far(0, m, &j, &y);
		return j;
	}
	return gpuemu_bessel_series(0, m, &y);
}

GPUEMU_NV double __nv_j1(double a)
{
	double j, y, m = __nv_fabs(a);

	if (m > GPUEMU_BESSEL_FAR) {
		if (__nv_isinfd(m))
			return 0.0;
		gpuemu_bessel_far(1, m, &j, &y);
	} else {
		j = gpuemu_bessel_series(1, m, &y);
	}
	return a < 0.0 ? -j : j;
}

GPUEMU_NV double __nv_y0(double a)
{
	double j, y;

	if (!(a > 0.0))
		return a == 0.0 ? -__builtin_inf() : __builtin_nan("");
	if (a > GPUEMU_BESSEL_FAR) {
		if (__nv_isinfd(a))
			return 0.0;
		gpuemu_bessel_far(0, a, &j, &y);
		return y;
	}
	j = gpuemu_bessel_series(0, a, &y);
	return 0.63661977236758138 * (__nv_log(0.5 * a) + 0.57721566490153287) * j -
	       0.31830988618379069 * y;
}

GPUEMU_NV double __nv_y1(double a)
{
	double j, y;

	if (!(a > 0.0))
		return a == 0.0 ? -__builtin_inf() : __builtin_nan("");
	if (a > GPUEMU_BESSEL_FAR) {
		if (__nv_isinfd(a))
			return 0.0;
		gpuemu_bessel_far(1, a, &j, &y);
		return y;
	}
	j = gpuemu_bessel_series(1, a, &y);
	return 0.63661977236758138 * ((__nv_log(0.5 * a) + 0.57721566490153287) * j - 1.0 / a) -
	       0.31830988618379069 * y;
}

/* Upwards from the first two where that is stable; else down from far above, and scaled. */
GPUEMU_NV double __nv_jn(int n, double a)
{
	double m = __nv_fabs(a), below = __nv_j0(m), here = __nv_j1(m), above;
	double sum = 0.0, found = 0.0;

	if (n < 0)
		return __builtin_nan("");
	if (n == 0)
		return below;
	if (m == 0.0 || a != a)
		return a != a ? a : 0.0;
	if (m >= (double)n) {
		for (int k = 1; k < n; k++) {
			above = 2.0 * (double)k / m * here - below;
			below = here;
			here = above;
		}
	} else {
		/* From above, twice the even ones and J0 sum to one. */
		int from = (n + 20 + (int)__nv_sqrt(60.0 * (double)n)) & ~1;

		above = 0.0;
		here = 1e-300;
		for (int k = from; k > 0; k--) {
			below = 2.0 * (double)k / m * here - above;
			above = here;
			here = below;
			if (__nv_fabs(here) > 1e250) {
				here *= 1e-250;
				above *= 1e-250;
				found *= 1e-250;
				sum *= 1e-250;
			}
			if (k - 1 == n)
				found = here;
			if (k - 1 && !((k - 1) & 1))
				sum += 2.0 * here;
		}
		here = found / (sum + here);
	}
	return a < 0.0 && n & 1 ? -here : here;
}

GPUEMU_NV double __nv_yn(int n, double a)
{
	double below = __nv_y0(a), here = __nv_y1(a), above;

	if (n < 0)
		return __builtin_nan("");
	if (n == 0)
		return below;
	for (int k = 1; k < n && here > -__builtin_inf(); k++) {
		above = 2.0 * (double)k / a * here - below;
		below = here;
		here = above;
	}
	return here;
}
GPUEMU_NV float __nv_j0f(float a) { return (float)__nv_j0((double)a); }
GPUEMU_NV float __nv_j1f(float a) { return (float)__nv_j1((double)a); }
GPUEMU_NV float __nv_y0f(float a) { return (float)__nv_y0((double)a); }
GPUEMU_NV float __nv_y1f(float a) { return (float)__nv_y1((double)a); }
GPUEMU_NV float __nv_jnf(int n, float a) { return (float)__nv_jn(n, (double)a); }
GPUEMU_NV float __nv_ynf(int n, float a) { return (float)__nv_yn(n, (double)a); }

/*
 * --- the number after another
 * --------------------------------------------------------------------
 */

GPUEMU_NV double __nv_nextafter(double a, double b)
{
	long long bits = (long long)gpuemu_bits64(a);

	if (a != a || b != b)
		return a + b;
	if (a == b)
		return b;
	if (a == 0.0)
		return __nv_copysign(4.9406564584124654e-324, b);
	bits += (a < b) == (a > 0.0) ? 1 : -1;
	return __builtin_bit_cast(double, bits);
}

GPUEMU_NV float __nv_nextafterf(float a, float b)
{
	int bits = (int)gpuemu_bits(a);

	if (a != a || b != b)
		return a + b;
	if (a == b)
		return b;
	if (a == 0.0f)
		return __nv_copysignf(1.40129846e-45f, b);
	bits += (a < b) == (a > 0.0f) ? 1 : -1;
	return gpuemu_float((unsigned int)bits);
}

#undef GPUEMU_BESSEL_FAR

#endif
