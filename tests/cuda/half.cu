// SPDX-License-Identifier: GPL-2.0
/*
 * fp16 and bf16: all 65536 halves there and back, arithmetic of pairs of them on the device
 * against the host's in double, and a digest of the bits, which nvcc's program prints too.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

#include "check.h"

#define PAIRS	20000

struct results {
	unsigned short sum, difference, product, quotient, fma, root, least, half_of, compare;
};

template <class H> __global__ void compute(const H *a, const H *b, const H *c, results *r, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		H x[8] = { a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] / b[i], __hfma(a[i], b[i], c[i]),
			   hsqrt(a[i]), __hmin(a[i], b[i]), H((float)a[i] * 1.0001f) };

		memcpy(&r[i], x, sizeof(x));
		r[i].compare = (unsigned short)(__hlt(a[i], b[i]) | __heq(a[i], b[i]) << 1 |
						__hgeu(a[i], b[i]) << 2 | __hisnan(a[i]) << 3);
	}
}

__global__ void pairs(__half2 *sum, __half *total)
{
	__half2 h = __floats2half2_rn(threadIdx.x, 0.5f);

	h = __hfma2(h, __float2half2_rn(2), __half2half2(__float2half(1)));
	h = __hadd2(h, __shfl_xor_sync(0xffffffff, h, 1));
	sum[threadIdx.x] = h;
	atomicAdd(total, __float2half(1));
	atomicAdd(sum + 32, __floats2half2_rn(1, 2));
}

static unsigned int seed = 1;

static unsigned int next()
{
	return (seed = seed * 1664525 + 1013904223) >> 8;
}

/*
 * The nearest value of the format, found by what lies beside: independent of the headers' own
 * conversion.
 */
template <class H> static bool nearest(H got, double exact)
{
	unsigned short bits, other;
	double value = (double)(float)got, beside;

	memcpy(&bits, &got, 2);
	if (exact != exact)
		return value != value;
	if (value - value != 0 || bits == 0x8000 || bits == 0)
		return true;	/* infinities and zeros: the conversions' own test has them */
	for (int step = -1; step <= 1; step += 2) {
		H h;

		other = (unsigned short)(bits + step);
		memcpy(&h, &other, 2);
		beside = (double)(float)h;
		if (beside - beside == 0 && fabs(beside - exact) < fabs(value - exact))
			return false;
		if (beside - beside == 0 && fabs(beside - exact) == fabs(value - exact) && (bits & 1))
			return false;
	}
	return true;
}

template <class H> static unsigned int run()
{
	unsigned int digest = 2166136261u;
	H *in[3];
	results *r;

	for (int i = 0; i < 3; i++)
		OK(cudaMallocManaged(&in[i], PAIRS * sizeof(H)));
	OK(cudaMallocManaged(&r, PAIRS * sizeof(*r)));
	for (int i = 0; i < 3 * PAIRS; i++) {
		/* Half of them near each other, so that sums cancel and fma() rounds once. */
		unsigned short bits = (unsigned short)(i % 2 ? next() : 0x3c00 + next() % 1024);

		memcpy(&in[i / PAIRS][i % PAIRS], &bits, 2);
	}
	compute<H><<<16, 256>>>(in[0], in[1], in[2], r, PAIRS);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < PAIRS; i++) {
		double a = (float)in[0][i], b = (float)in[1][i];
		unsigned short bits[9];
		H x[8];

		memcpy(bits, &r[i], sizeof(bits));
		memcpy(x, &r[i], sizeof(x));
		HOLDS(nearest(x[0], a + b) && nearest(x[1], a - b) && nearest(x[2], a * b));
		HOLDS(nearest(x[3], a / b) && nearest(x[5], sqrt(a)) && nearest(x[7], (float)a * 1.0001f));
#ifdef __NVCC_GPUEMU__	/* nvcc has it for the device alone */
		H fma = __hfma(in[0][i], in[1][i], in[2][i]);
		unsigned short host;

		memcpy(&host, &fma, 2);
		HOLDS((float)fma != (float)fma ? (float)x[4] != (float)x[4] : host == bits[4]);
#endif
		HOLDS(bits[8] == ((a < b) | (a == b) << 1 | !(a < b) << 2 | (a != a) << 3));
		for (int j = 0; j < 9; j++)
			digest = (digest ^ ((bits[j] & 0x7fff) > 0x7c00 && j < 8 ? 0x7fff : bits[j])) * 16777619u;
	}
	for (int i = 0; i < 3; i++)
		OK(cudaFree(in[i]));
	OK(cudaFree(r));
	return digest;
}

int main()
{
	unsigned int of_half, of_bfloat;
	__half2 *sum;
	__half *total;

	for (unsigned int i = 0; i < 65536; i++) {
		__half h = __ushort_as_half((unsigned short)i);
		__nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
		float f = __half2float(h), g = __bfloat162float(b);

		HOLDS(f != f ? (i & 0x7c00) == 0x7c00 : __half_as_ushort(__float2half(f)) == i);
		HOLDS(g != g ? (i & 0x7f80) == 0x7f80 : __bfloat16_as_ushort(__float2bfloat16(g)) == i);
	}
	HOLDS(__half2float(__float2half(65519.0f)) == 65504 && isinf(__half2float(__float2half(65520.0f))));
	HOLDS(__half_as_ushort(__float2half(0x1.8p-25f)) == 1 && __half_as_ushort(__float2half(0x1p-25f)) == 0);
	/* One rounding, not two. */
	HOLDS(__half_as_ushort(__double2half(1 + 0x1p-11 + 0x1p-40)) == 0x3c01);
#ifdef __NVCC_GPUEMU__
	HOLDS(__half2int_rn(__float2half(2.5f)) == 2 && __half2int_ru(__float2half(-2.5f)) == -2);
	HOLDS(__bfloat162int_rn(__float2bfloat16(2.5f)) == 2 && __bfloat162ll_rd(__float2bfloat16(-2.5f)) == -3);
	HOLDS(__bfloat162ushort_rz(__float2bfloat16(-7.0f)) == 0 && __bfloat16_as_short(__short_as_bfloat16(-3)) == -3);
	__nv_bfloat162 two = __floats2bfloat162_rn(1, 2), back = __highs2bfloat162(two, __lowhigh2highlow(two));
	HOLDS(__low2float(back) == 2 && __high2float(back) == 1 && __low2float(__high2bfloat162(two)) == 2);
#endif
	of_half = run<__half>();
#if defined(__NVCC_GPUEMU__) || CUDART_VERSION >= 12000
	of_bfloat = run<__nv_bfloat16>();
#endif
	OK(cudaMallocManaged(&sum, 33 * sizeof(*sum)));
	OK(cudaMallocManaged(&total, 2 * sizeof(*total)));
	sum[32] = __floats2half2_rn(0, 0);
	total[0] = total[1] = __float2half(0);
	pairs<<<1, 32>>>(sum, total + 1);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		HOLDS(__low2float(sum[i]) == 2 * i + 1 + 2 * (i ^ 1) + 1 && __high2float(sum[i]) == 4);
	HOLDS(__half2float(total[1]) == 32 && __half2float(total[0]) == 0);
	HOLDS(__low2float(sum[32]) == 32 && __high2float(sum[32]) == 64);
	printf("half: digests %08x %08x\n", of_half, of_bfloat);
	printf("half: passed\n");
	return 0;
}
