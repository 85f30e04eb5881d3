// SPDX-License-Identifier: GPL-2.0
/* nextafter(), both formats: the bits of the host's. */
#include <float.h>
#include <math.h>

#include "check.h"

__global__ void next(const double *in, double *out, float *single, int n)
{
	int i = threadIdx.x, j = threadIdx.y;

	out[i * n + j] = nextafter(in[i], in[j]);
	single[i * n + j] = nextafterf((float)in[i], (float)in[j]);
}

int main()
{
	const double some[] = { 0.0, -0.0, 1, -1, 3.5, DBL_MAX, -DBL_MAX, DBL_MIN, 4.9e-324, -4.9e-324, INFINITY, NAN };
	const int n = sizeof(some) / sizeof(*some);
	double *in, *out;
	float *single;

	OK(cudaMallocManaged(&in, sizeof(some)));
	OK(cudaMallocManaged(&out, n * n * sizeof(double)));
	OK(cudaMallocManaged(&single, n * n * sizeof(float)));
	memcpy(in, some, sizeof(some));
	next<<<1, dim3(n, n)>>>(in, out, single, n);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			double d = nextafter(some[i], some[j]);
			float f = nextafterf((float)some[i], (float)some[j]);

			HOLDS(d != d ? out[i * n + j] != out[i * n + j] : !memcmp(&d, &out[i * n + j], 8));
			HOLDS(f != f ? single[i * n + j] != single[i * n + j] : !memcmp(&f, &single[i * n + j], 4));
		}
	}
	printf("next: passed\n");
	return 0;
}
