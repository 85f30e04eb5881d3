// SPDX-License-Identifier: GPL-2.0
/* Functions of the device that few programs call: means, bytes in order, lengths, remquo. Each is the host's. */
#include <math.h>

#include "check.h"

#define N	6

__global__ void integers(const int *in, int *out)
{
	int a = in[threadIdx.x], b = in[(threadIdx.x + 1) % N], *o = out + 7 * threadIdx.x;

	o[0] = __hadd(a, b);
	o[1] = __rhadd(a, b);
	o[2] = (int)__uhadd((unsigned int)a, (unsigned int)b);
	o[3] = (int)__urhadd((unsigned int)a, (unsigned int)b);
	o[4] = __sad(a, b, 5);
	o[5] = (int)__usad((unsigned int)a, (unsigned int)b, 5);
	o[6] = (int)__byte_perm((unsigned int)a, (unsigned int)b, 0x7250);
}

__global__ void lengths(double *out, double big)
{
	float s, c;

	sincospi(0.25, out, out + 1);
	sincospif(1.5f, &s, &c);
	out[2] = s;
	out[3] = c;
	out[4] = norm3d(2.0, 3.0, 6.0);
	out[5] = norm4df(2.0f, 4.0f, 5.0f, 6.0f);
	out[6] = norm3d(2 * big, 3 * big, 6 * big) / big;
	out[7] = rnorm3df(2.0f, 3.0f, 6.0f);
}

__global__ void quotients(const double *in, double *out, int *q)
{
	double a = in[threadIdx.x / N], b = in[threadIdx.x % N];

	out[threadIdx.x] = remquo(a, b, q + threadIdx.x);
}

int main()
{
	static const int some[N] = { 0, -1, 0x7fffffff, -0x7fffffff - 1, 0x12345678, -77 };
	static const double numbers[N] = { 1, -2.5, 7, 1e10 + 3, -0.3, 1e300 };
	double *d, *out;
	int *in, *o, q;

	OK(cudaMallocManaged(&in, sizeof(some)));
	OK(cudaMallocManaged(&o, 7 * N * sizeof(int)));
	OK(cudaMallocManaged(&d, N * sizeof(double)));
	OK(cudaMallocManaged(&out, N * N * sizeof(double)));
	memcpy(in, some, sizeof(some));
	memcpy(d, numbers, sizeof(numbers));
	integers<<<1, N>>>(in, o);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++) {
		long long a = some[i], b = some[(i + 1) % N], ua = (unsigned int)a, ub = (unsigned int)b;
		unsigned int perm = (ua & 0xff) | (ub >> 8 & 0xff) << 8 | (ua >> 16 & 0xff) << 16 | (ub >> 24) << 24;

		HOLDS(o[7 * i] == (int)((a + b) >> 1) && o[7 * i + 1] == (int)((a + b + 1) >> 1));
		HOLDS(o[7 * i + 2] == (int)((ua + ub) >> 1) && o[7 * i + 3] == (int)((ua + ub + 1) >> 1));
		HOLDS(o[7 * i + 4] == (int)(llabs(a - b) + 5) && o[7 * i + 5] == (int)(llabs(ua - ub) + 5));
		HOLDS((unsigned int)o[7 * i + 6] == perm);
	}
	lengths<<<1, 1>>>(out, 1e300);
	OK(cudaDeviceSynchronize());
	HOLDS(fabs(out[0] - sqrt(0.5)) < 1e-15 && fabs(out[1] - sqrt(0.5)) < 1e-15 && out[2] == -1 && !out[3]);
	HOLDS(out[4] == 7 && out[5] == 9 && fabs(out[6] - 7) < 1e-14 && (float)out[7] == 1.0f / 7);
	quotients<<<1, N * N>>>(d, out, o);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < N * N; i++) {
		HOLDS(out[i] == remquo(numbers[i / N], numbers[i % N], &q));
		HOLDS((o[i] & 7) == (q & 7));
	}
	printf("intrinsics: passed\n");
	return 0;
}
