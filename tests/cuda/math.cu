// SPDX-License-Identifier: GPL-2.0
/*
 * The mathematical functions against the host's, in units of the last place: each has the bound that
 * CUDA documents for it, or the one in docs/cuda.md. It prints the largest error it saw.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define N	2000

/* What the host has by another name, or by Newton's steps. */
static long double j0(long double x) { return j0l(x); }
static long double j1(long double x) { return j1l(x); }
static long double y0(long double x) { return y0l(x); }
static long double y1(long double x) { return y1l(x); }
static long double jn(int n, long double x) { return jnl(n, x); }
static long double yn(int n, long double x) { return ynl(n, x); }
static long double erfcx(long double x) { return expl(x * x) * erfcl(x); }
static long double sinpi(long double x)
{
	long double n = rintl(x), s = sinl(M_PIl * (x - n));

	return fmodl(n, 2) ? -s : s;
}
static long double cospi(long double x) { return sinpi(x + 0.5L); }
static long double tgamma(long double x) { return tgammal(x); }
static long double lgamma(long double x) { return lgammal(x); }

static long double erfcinv(long double q)
{
	long double y = 0, step = 1;

	if (q > 1)
		return -erfcinv(2 - q);
	if (q < 0.1L)
		y = sqrtl(-logl(q)) - 0.1L;
	for (int i = 0; i < 200 && fabsl(step) > 1e-18L * y; i++) {
		step = (erfcl(y) - q) / (2 / sqrtl(M_PIl) * expl(-y * y));
		y += step / (1 + y * step);
	}
	return y;
}

static long double erfinv(long double x)
{
	long double y = 0, step;

	if (fabsl(x) > 0.5L)
		return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
	for (int i = 0; i < 30; i++) {
		step = (erfl(y) - x) / (2 / sqrtl(M_PIl) * expl(-y * y));
		y -= step / (1 + y * step);
	}
	return y;
}

#define A(name, expr, from, to, bound)	D(name, expr, from, to, bound)
#define D(name, expr, from, to, bound)								\
	__global__ void d_##name(const double *in, double *out)					\
	{											\
		int i = blockIdx.x * blockDim.x + threadIdx.x;					\
		double x = in[i];								\
												\
		if (i < N)									\
			out[i] = expr;								\
	}											\
	static long double h_##name(long double x) { return expr; }
#define F(name, expr, from, to, bound)								\
	__global__ void d_##name(const double *in, double *out)					\
	{											\
		int i = blockIdx.x * blockDim.x + threadIdx.x;					\
		double x = in[i];								\
												\
		if (i < N)									\
			out[i] = expr;								\
	}											\
	static long double h_##name(long double x) { return expr; }					\
	__global__ void f_##name(const double *in, double *out)					\
	{											\
		int i = blockIdx.x * blockDim.x + threadIdx.x;					\
		float x = (float)in[i];								\
												\
		if (i < N)									\
			out[i] = (double)(float)(expr);						\
	}
#include "math.def"
#undef F
#undef D
#undef A

/* In units of b's last place, as a float or a double. */
static double apart(double a, long double b, bool single)
{
	double unit;
	int e;

	if (a == b || (a != a && b != b))
		return 0;
	if (a != a || b != b || isinf(a) || isinf(b))
		return 1e9;
	frexpl(b, &e);
	unit = ldexp(1.0, single ? (e < -125 ? -149 : e - 24) : (e < -1021 ? -1074 : e - 53));
	return (double)fabsl(a - b) / unit;
}

static double *in, *out;

static void compare(const char *name, void (*kernel)(const double *, double *), long double (*host)(long double),
		    double from, double to, bool single, double bound, bool absolute = false)
{
	double worst = 0, at = 0;

	for (int i = 0; i < N; i++) {
		in[i] = from + (to - from) * (i + 0.37) / N;
		if (single)
			in[i] = (double)(float)in[i];
	}
	kernel<<<(N + 127) / 128, 128>>>(in, out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++) {
		double u = absolute ? (double)fabsl(out[i] - host(in[i])) :
				      apart(out[i], host(in[i]), single);

		if (u > worst) {
			worst = u;
			at = in[i];
		}
	}
	printf("%-6s %-6s %.3g%s%s\n", single ? "float" : "double", name, worst, absolute ? "" : " ulp",
	       worst <= bound ? "" : "  TOO MUCH");
	if (worst > bound) {
		printf("math: %s(%.17g): more than %g\n", name, at, bound);
		exit(1);
	}
}

__global__ void infinities(float *out, float inf, float nan)
{
	out[0] = hypotf(inf, nan);
	out[1] = hypotf(nan, -inf);
	out[2] = (float)hypot((double)inf, (double)nan);
	out[3] = rhypotf(inf, nan);
	out[4] = hypotf(nan, 1.0f);
}

/* A hypotenuse of an infinite side is infinite, whatever the other is. */
static void far_away(void)
{
	float *out;

	OK(cudaMallocManaged(&out, 5 * sizeof(*out)));
	infinities<<<1, 1>>>(out, INFINITY, NAN);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == INFINITY && out[1] == INFINITY && out[2] == INFINITY && out[3] == 0);
	HOLDS(out[4] != out[4]);
	OK(cudaFree(out));
}

int main()
{
	OK(cudaMallocManaged(&in, (N + 128) * sizeof(double)));
	OK(cudaMallocManaged(&out, (N + 128) * sizeof(double)));
#define F(name, expr, from, to, bound)							\
	compare(#name, d_##name, h_##name, from, to, false, bound);			\
	compare(#name, f_##name, h_##name, from, to, true, bound);
#define D(name, expr, from, to, bound)	compare(#name, d_##name, h_##name, from, to, false, bound);
#define A(name, expr, from, to, bound)	compare(#name, d_##name, h_##name, from, to, false, bound, true);
#include "math.def"
	far_away();
	printf("math: passed\n");
	return 0;
}
