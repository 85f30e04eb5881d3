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
		    double from, double to, bool single, double bound)
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
		double u = apart(out[i], host(in[i]), single);

		if (u > worst) {
			worst = u;
			at = in[i];
		}
	}
	printf("%-6s %-6s %.2f ulp%s\n", single ? "float" : "double", name, worst,
	       worst <= bound ? "" : "  TOO MUCH");
	if (worst > bound) {
		printf("math: %s(%.17g): more than %g ulp\n", name, at, bound);
		exit(1);
	}
}

int main()
{
	OK(cudaMallocManaged(&in, (N + 128) * sizeof(double)));
	OK(cudaMallocManaged(&out, (N + 128) * sizeof(double)));
#define F(name, expr, from, to, bound)							\
	compare(#name, d_##name, h_##name, from, to, false, bound);			\
	compare(#name, f_##name, h_##name, from, to, true, bound);
#include "math.def"
#undef F
	printf("math: passed\n");
	return 0;
}
