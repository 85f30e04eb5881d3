// SPDX-License-Identifier: GPL-2.0
/* Quotients and rests of __int128, and floating-point numbers of it: the host's. */
#include <string.h>

#include "check.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;
#define N	8
#define RESULTS	10

template <class D> __host__ __device__ void all(wide a, wide b, wide *r, D number)
{
	r[0] = a / b;
	r[1] = a % b;
	r[2] = (wide)((uwide)a / (uwide)b);
	r[3] = (wide)((uwide)a % (uwide)b);
	r[4] = a * b + (a >> 3) - (b << 7);
	r[5] = (wide)number;
	r[6] = (wide)(uwide)(number < 0 ? -number : number);
	double d[2] = { (double)a, (double)(uwide)b };
	float f[4] = { (float)a, (float)(uwide)b, (float)b, 0 };
	memcpy(&r[7], d, sizeof(d));
	memcpy(&r[8], f, sizeof(f));
	r[9] = a / 10 % 7;
}

__global__ void wides(const wide *in, const double *numbers, wide *out)
{
	int i = threadIdx.x / N, j = threadIdx.x % N;

	all(in[i], in[j], out + RESULTS * threadIdx.x, numbers[j]);
}

int main()
{
	static const double some[N] = { 0, 1.75, -3e18, 1e19, -2.5e30, 1.2345e37, -7e25, 1e15 };
	wide *in, *out, expected[RESULTS];
	double *numbers;

	OK(cudaMallocManaged(&in, N * sizeof(*in)));
	OK(cudaMallocManaged(&out, N * N * RESULTS * sizeof(*out)));
	OK(cudaMallocManaged(&numbers, sizeof(some)));
	memcpy(numbers, some, sizeof(some));
	in[0] = 1;
	in[1] = -7;
	in[2] = (wide)0x123456789abcdef << 60 | 0x7777;
	in[3] = -((wide)1 << 126) - 12345;
	in[4] = ((wide)1 << 64) - 1;
	in[5] = ((wide)0x8000000000000400 << 53) + 1;
	in[6] = 1000000007;
	in[7] = ~((wide)1 << 127);
	wides<<<1, N * N>>>(in, numbers, out);
	OK(cudaDeviceSynchronize());
	for (int t = 0; t < N * N; t++) {
		all(in[t / N], in[t % N], expected, numbers[t % N]);
		for (int k = 0; k < RESULTS; k++)
			HOLDS(out[RESULTS * t + k] == expected[k]);
	}
	printf("wide: passed\n");
	return 0;
}
