// SPDX-License-Identifier: GPL-2.0
/*
 * What nvcc takes and a plain clang does not: an int in the braces of a char, libstdc++'s noinline functions beside the
 * macro __noinline__, nan() in device code, the prefetch and advice of CUDA 13 by their names of before, a kernel with
 * more registers than 256 threads of an SM can have.
 */
#include <cuda.h>
#include <math.h>

#include <memory>

#include "check.h"

__device__ __noinline__ int plus(int x) { return x + 1; }

__global__ void bytes(uchar4 *out, int x)
{
	const uchar4 v = { plus(x), x + 2, x + 3, x + 4 };

	*out = v;
}

__global__ void no_number(float *f, double *d)
{
	*f = nanf("");
	*d = nan("1");
}

/* 100 doubles that are all alive: 200 registers. */
__global__ void wide(double *out, const double *in, int rounds)
{
	double v[100];

#pragma unroll
	for (int i = 0; i < 100; i++)
		v[i] = in[i * 256 + threadIdx.x];
	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int i = 0; i < 100; i++)
			v[i] = v[i] * 2 + v[(i + 37) % 100];
	}
#pragma unroll
	for (int i = 0; i < 100; i++)
		out[i * 256 + threadIdx.x] = v[i];
}

int main()
{
	const int n = 100 * 256, rounds = 3;
	std::shared_ptr<int> kept = std::make_shared<int>(7);
	double *in, *out, *d;
	cudaFuncAttributes attributes;
	uchar4 *v;
	float *f;

	OK(cudaMallocManaged(&v, sizeof(*v)));
	OK(cudaMallocManaged(&f, sizeof(*f)));
	OK(cudaMallocManaged(&d, sizeof(*d)));
	OK(cudaMallocManaged(&in, n * sizeof(*in)));
	OK(cudaMallocManaged(&out, n * sizeof(*out)));
#if defined(__NVCC_GPUEMU__) || CUDART_VERSION >= 13000
	cudaMemLocation device = { cudaMemLocationTypeDevice, 0 };

	OK(cudaMemAdvise(in, n * sizeof(*in), cudaMemAdviseSetReadMostly, device));
	OK(cudaMemPrefetchAsync(in, n * sizeof(*in), device, 0, 0));
#endif
#ifdef __NVCC_GPUEMU__
	/* The driver API's, without libcuda. */
	size_t available, total;
	int count, version;

	HOLDS(cuInit(0) == CUDA_SUCCESS && cuInit(1) == CUDA_ERROR_INVALID_VALUE);
	HOLDS(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 1);
	HOLDS(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == CUDA_VERSION);
	HOLDS(cuMemGetInfo(&available, &total) == CUDA_SUCCESS && available && available <= total);
#endif
	bytes<<<1, 1>>>(v, *kept);
	no_number<<<1, 1>>>(f, d);
	OK(cudaDeviceSynchronize());
	HOLDS(v->x == 8 && v->y == 9 && v->z == 10 && v->w == 11);
	HOLDS(*f != *f && *d != *d);

	for (int i = 0; i < n; i++)
		in[i] = i % 1000;
	wide<<<1, 256>>>(out, in, rounds);
	OK(cudaDeviceSynchronize());
	for (int t = 0; t < 256; t++) {
		double x[100];

		for (int i = 0; i < 100; i++)
			x[i] = in[i * 256 + t];
		for (int r = 0; r < rounds; r++)
			for (int i = 0; i < 100; i++)
				x[i] = x[i] * 2 + x[(i + 37) % 100];
		for (int i = 0; i < 100; i++)
			HOLDS(out[i * 256 + t] == x[i]);
	}
	OK(cudaFuncGetAttributes(&attributes, (const void *)wide));
	HOLDS(attributes.maxThreadsPerBlock >= 256);
	printf("as_nvcc: passed\n");
	return 0;
}
