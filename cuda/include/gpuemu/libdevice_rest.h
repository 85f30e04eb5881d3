/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of libdevice that are neither elementary nor special: means and differences of
 * integers, bytes in another order, lengths of vectors, remquo. Included by libdevice.h only.
 */
#ifndef GPUEMU_LIBDEVICE_REST_H
#define GPUEMU_LIBDEVICE_REST_H

/* Half the sum, downwards and upwards: the sum itself may not fit. */
GPUEMU_NV int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
GPUEMU_NV int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
GPUEMU_NV int __nv_uhadd(unsigned int a, unsigned int b) { return (int)((a & b) + ((a ^ b) >> 1)); }
GPUEMU_NV unsigned int __nv_urhadd(unsigned int a, unsigned int b)
{
	return (a | b) - ((a ^ b) >> 1);
}
GPUEMU_NV unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c)
{
	return (a > b ? a - b : b - a) + c;
}
GPUEMU_NV int __nv_sad(int a, int b, int c)
{
	unsigned int x = (unsigned int)a, y = (unsigned int)b;

	return (int)((a > b ? x - y : y - x) + (unsigned int)c);
}
/* Each of the four low digits of `which` picks a byte of the eight. */
GPUEMU_NV int __nv_byte_perm(int a, int b, int which)
{
	unsigned long long bytes = (unsigned long long)(unsigned int)b << 32 | (unsigned int)a;
	unsigned int r = 0;

	for (int i = 0; i < 4; i++)
		r |= (unsigned int)(bytes >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
	return (int)r;
}

GPUEMU_NV void __nv_sincospi(double a, double *s, double *c)
{
	*s = __nv_sinpi(a);
	*c = __nv_cospi(a);
}
GPUEMU_NV void __nv_sincospif(float a, float *s, float *c)
{
	*s = __nv_sinpif(a);
	*c = __nv_cospif(a);
}

/* The quotient's three low bits: of eight times b more or less, they are the same. */
GPUEMU_NV double __nv_remquo(double a, double b, int *quotient)
{
	double r = __nv_remainder(a, b), n = __nv_fabs(b), m = __nv_fabs(a);
	int q;

	*quotient = 0;
	if (r != r || __nv_isinfd(b))
		return r;
	if (n < 0x1p1020)
		m = __nv_fmod(m, 8.0 * n);
	q = (int)((m - (__nv_signbitd(a) ? -r : r)) / n + 0.5) & 7;
	*quotient = __nv_signbitd(a) != __nv_signbitd(b) ? -q : q;
	return r;
}
GPUEMU_NV float __nv_remquof(float a, float b, int *quotient)
{
	return (float)__nv_remquo((double)a, (double)b, quotient);
}

/* The square root of a sum of squares, by a power of two that keeps it in range. */
GPUEMU_NV double __nv_norm4d(double a, double b, double c, double d)
{
	double m = __nv_fmax(__nv_fmax(__nv_fabs(a), __nv_fabs(b)),
			     __nv_fmax(__nv_fabs(c), __nv_fabs(d)));
	int e;

	if (__nv_isinfd(m) || m == 0.0)
		return m + (m == 0.0 ? __nv_fabs(a + b + c + d) : 0.0);
	__nv_frexp(m, &e);
	a = __nv_ldexp(a, -e);
	b = __nv_ldexp(b, -e);
	c = __nv_ldexp(c, -e);
	d = __nv_ldexp(d, -e);
	return __nv_ldexp(__nv_sqrt(__nv_fma(a, a, __nv_fma(b, b, __nv_fma(c, c, d * d)))), e);
}
GPUEMU_NV double __nv_norm3d(double a, double b, double c) { return __nv_norm4d(a, b, c, 0.0); }
GPUEMU_NV double __nv_rnorm4d(double a, double b, double c, double d)
{
	return 1.0 / __nv_norm4d(a, b, c, d);
}
GPUEMU_NV double __nv_rnorm3d(double a, double b, double c) { return 1.0 / __nv_norm3d(a, b, c); }
GPUEMU_NV float __nv_norm4df(float a, float b, float c, float d)
{
	return (float)__nv_norm4d((double)a, (double)b, (double)c, (double)d);
}
GPUEMU_NV float __nv_norm3df(float a, float b, float c) { return __nv_norm4df(a, b, c, 0.0f); }
GPUEMU_NV float __nv_rnorm4df(float a, float b, float c, float d)
{
	return (float)__nv_rnorm4d((double)a, (double)b, (double)c, (double)d);
}
GPUEMU_NV float __nv_rnorm3df(float a, float b, float c) { return __nv_rnorm4df(a, b, c, 0.0f); }
GPUEMU_NV double __nv_norm(int n, const double *v)
{
	double r = 0.0;

	for (int i = 0; i < n; i++)
		r = __nv_hypot(r, v[i]);
	return r;
}
GPUEMU_NV float __nv_normf(int n, const float *v)
{
	double r = 0.0;

	for (int i = 0; i < n; i++)
		r = __nv_hypot(r, (double)v[i]);
	return (float)r;
}
GPUEMU_NV double __nv_rnorm(int n, const double *v) { return 1.0 / __nv_norm(n, v); }
GPUEMU_NV float __nv_rnormf(int n, const float *v)
{
	return (float)(1.0 / (double)__nv_normf(n, v));
}

/*
 * The modified Bessel functions of the first kind, of order 0 and 1: the power series, whose
 * terms are all positive, and beyond 20 the asymptotic one, whose smallest term is e^-2x.
 */
GPUEMU_NV double gpuemu_bessel_i(int order, double x)
{
	double sum = 1.0, term = 1.0, a = __nv_fabs(x), half;
	int k;

	if (!(a > 20.0)) {
		for (k = 1; k < 80 && term > sum * 0x1p-56; k++) {
			term *= 0.25 * a * a / ((double)k * (double)(k + order));
			sum += term;
		}
		return order ? sum * 0.5 * x : sum;
	}
	if (__nv_isinfd(a))
		return order ? x : a;
	for (k = 1; k < 40 && __nv_fabs(term) > 0x1p-56; k++) {
		term *= ((double)((2 * k - 1) * (2 * k - 1)) - 4.0 * order) / (8.0 * k * a);
		sum += term;
	}
	/* e^x alone overflows before the whole does. */
	half = __nv_exp(0.5 * a);
	sum = half * (sum / __nv_sqrt(6.283185307179586 * a)) * half;
	return order && x < 0.0 ? -sum : sum;
}
GPUEMU_NV double __nv_cyl_bessel_i0(double x) { return gpuemu_bessel_i(0, x); }
GPUEMU_NV double __nv_cyl_bessel_i1(double x) { return gpuemu_bessel_i(1, x); }
GPUEMU_NV float __nv_cyl_bessel_i0f(float x) { return (float)gpuemu_bessel_i(0, (double)x); }
GPUEMU_NV float __nv_cyl_bessel_i1f(float x) { return (float)gpuemu_bessel_i(1, (double)x); }

#endif
