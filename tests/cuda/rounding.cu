// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic in the four directions of rounding, of float and double: each bit as the host has it
 * in the same direction, with zeros, subnormals and overflows among the operands.
 */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { NEAREST, ZERO, UP, DOWN, MODES };
enum { ADD, SUB, MUL, DIV, RCP, SQRT, FMA, OPS };
enum { N = 512 };

static const int modes[MODES] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
static const char *const names[OPS] = { "add", "sub", "mul", "div", "rcp", "sqrt", "fma" };

template <class T> struct numbers {
	T a[N], b[N], c[N], out[MODES][OPS][N];
};

#define DOUBLES(mode, r)							\
	do {									\
		d->out[mode][ADD][i] = __dadd_##r(a, b);			\
		d->out[mode][SUB][i] = __dsub_##r(a, b);			\
		d->out[mode][MUL][i] = __dmul_##r(a, b);			\
		d->out[mode][DIV][i] = __ddiv_##r(a, b);			\
		d->out[mode][RCP][i] = __drcp_##r(a);				\
		d->out[mode][SQRT][i] = __dsqrt_##r(a);				\
		d->out[mode][FMA][i] = __fma_##r(a, b, c);			\
	} while (0)

__global__ void doubles(numbers<double> *d)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double a = d->a[i], b = d->b[i], c = d->c[i];

	DOUBLES(NEAREST, rn);
	DOUBLES(ZERO, rz);
	DOUBLES(UP, ru);
	DOUBLES(DOWN, rd);
}

#define FLOATS(mode, r)								\
	do {									\
		d->out[mode][ADD][i] = __fadd_##r(a, b);			\
		d->out[mode][SUB][i] = __fsub_##r(a, b);			\
		d->out[mode][MUL][i] = __fmul_##r(a, b);			\
		d->out[mode][DIV][i] = __fdiv_##r(a, b);			\
		d->out[mode][RCP][i] = __frcp_##r(a);				\
		d->out[mode][SQRT][i] = __fsqrt_##r(a);				\
		d->out[mode][FMA][i] = __fmaf_##r(a, b, c);			\
	} while (0)

__global__ void floats(numbers<float> *d)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float a = d->a[i], b = d->b[i], c = d->c[i];

	FLOATS(NEAREST, rn);
	FLOATS(ZERO, rz);
	FLOATS(UP, ru);
	FLOATS(DOWN, rd);
}

static uint64_t seed = 1;

/* Of any exponent, or of one like the others', or special. */
template <class T, class B> static T number(int digits, int exponents)
{
	static const T special[] = { 0, -(T)0, 1, -1, (T)INFINITY, -(T)INFINITY };
	B bits, exponent;
	T x;

	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	if (seed >> 60 == 0)
		return special[(seed >> 40) % 6];
	bits = (B)(seed >> 8 ^ seed << 40);
	if (seed >> 60 < 12) {
		exponent = ((B)1 << (exponents - 1)) - 4 + (B)(seed >> 33) % 8;
		bits = (bits & ~((((B)1 << exponents) - 1) << digits)) | exponent << digits;
	}
	memcpy(&x, &bits, sizeof(x));
	return x == x ? x : 1;
}

template <class T> static T on_host(int op, volatile T a, volatile T b, volatile T c)
{
	switch (op) {
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	case MUL:
		return a * b;
	case DIV:
		return a / b;
	case RCP:
		return 1 / a;
	case SQRT:
		return sqrt((T)a);
	default:
		return fma((T)a, (T)b, (T)c);
	}
}

template <class T, class B>
static void check(void (*kernel)(numbers<T> *), int digits, int exponents)
{
	int differ[MODES] = { 0 };
	numbers<T> *d;

	OK(cudaMallocManaged(&d, sizeof(*d)));
	for (int i = 0; i < N; i++) {
		d->a[i] = number<T, B>(digits, exponents);
		d->b[i] = i % 16 ? number<T, B>(digits, exponents) : d->a[i];
		d->c[i] = number<T, B>(digits, exponents);
	}
	kernel<<<N / 128, 128>>>(d);
	OK(cudaDeviceSynchronize());
	for (int mode = 0; mode < MODES; mode++) {
		for (int op = 0; op < OPS; op++) {
			for (int i = 0; i < N; i++) {
				volatile T want;
				T host, got = d->out[mode][op][i];

				fesetround(modes[mode]);
				want = on_host<T>(op, d->a[i], d->b[i], d->c[i]);
				fesetround(FE_TONEAREST);
				host = want;
				differ[mode] += memcmp(&got, &d->out[NEAREST][op][i], sizeof(T)) != 0;
				if (host != host ? got == got : memcmp(&host, &got, sizeof(T))) {
					printf("%s of %zu bytes, direction %d: %a %a %a: %a, not %a\n",
					       names[op], sizeof(T), mode, (double)d->a[i],
					       (double)d->b[i], (double)d->c[i], (double)got,
					       (double)host);
					exit(1);
				}
			}
		}
	}
	/* The directions are four. */
	HOLDS(differ[ZERO] > N && differ[UP] > N && differ[DOWN] > N);
	OK(cudaFree(d));
}

int main()
{
	check<float, uint32_t>(floats, 23, 8);
	check<double, uint64_t>(doubles, 52, 11);
	printf("rounding: passed\n");
	return 0;
}
