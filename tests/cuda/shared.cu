// SPDX-License-Identifier: GPL-2.0
/* Shared memory, static and dynamic, barriers, warp functions, atomics: a reduction, a transposition, a histogram. */
#include "check.h"

__global__ void reduce(const int *in, int *out, int n)
{
	__shared__ int sums[256];
	int sum = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += in[i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half >>= 1) {
		if (threadIdx.x < half)
			sums[threadIdx.x] += sums[threadIdx.x + half];
		__syncthreads();
	}
	if (!threadIdx.x)
		atomicAdd(out, sums[0]);
}

__global__ void reduce_warps(const int *in, int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;

	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (!(threadIdx.x & 31))
		atomicAdd(out, v);
}

__global__ void transpose(float *out, const float *in, int width, int height)
{
	extern __shared__ float tile[];
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

	if (x < width && y < height)
		tile[threadIdx.y * 17 + threadIdx.x] = in[y * width + x];
	__syncthreads();
	x = blockIdx.y * 16 + threadIdx.x;
	y = blockIdx.x * 16 + threadIdx.y;
	if (x < height && y < width)
		out[y * height + x] = tile[threadIdx.x * 17 + threadIdx.y];
}

__global__ void histogram(const unsigned char *in, unsigned int *out, int n)
{
	__shared__ unsigned int bins[256];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[in[i]], 1u);
	__syncthreads();
	atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void votes(unsigned int *out)
{
	int odd = threadIdx.x & 1;

	out[threadIdx.x] = __ballot_sync(0xffffffffu, odd) + (__any_sync(0xffffffffu, odd) ? 1 : 0) +
			   (__all_sync(0xffffffffu, odd) ? 2 : 0) + __popc(__activemask());
}

__global__ void each_atomic(int *i, unsigned int *u, unsigned long long *l, float *f)
{
	atomicMax(&i[0], (int)threadIdx.x - 5);
	atomicMin(&i[1], (int)threadIdx.x - 5);
	atomicSub(&i[2], 2);
	atomicInc(&u[0], 9);
	atomicDec(&u[1], 9);
	atomicAnd(&u[2], ~(1u << threadIdx.x % 4));
	atomicOr(&u[3], 1u << threadIdx.x % 8);
	atomicXor(&u[4], 1u << threadIdx.x % 32);
	atomicAdd(&l[0], 1ull << 33);
	atomicAdd(&f[0], 0.5f);
	atomicCAS(&i[3], (int)threadIdx.x, (int)threadIdx.x + 1);
	if (threadIdx.x == 7)
		atomicExch(&i[4], 77);
}

int main()
{
	const int n = 10000, w = 50, h = 37;
	int *in, *out, sum = 0;
	float *a, *b;
	unsigned char *bytes;
	unsigned int *bins, *votes_out, expected[256] = { 0 };

	OK(cudaMallocManaged(&in, n * sizeof(int)));
	OK(cudaMallocManaged(&out, 2 * sizeof(int)));
	for (int i = 0; i < n; i++)
		sum += in[i] = i * 7 % 1001 - 300;
	reduce<<<7, 256>>>(in, out, n);
	reduce_warps<<<(n + 127) / 128, 128>>>(in, out + 1, n);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == sum && out[1] == sum);

	OK(cudaMallocManaged(&a, w * h * sizeof(float)));
	OK(cudaMallocManaged(&b, w * h * sizeof(float)));
	for (int i = 0; i < w * h; i++)
		a[i] = (float)i;
	transpose<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16), 16 * 17 * sizeof(float)>>>(b, a, w, h);
	OK(cudaDeviceSynchronize());
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			HOLDS(b[x * h + y] == a[y * w + x]);

	OK(cudaMallocManaged(&bytes, n));
	OK(cudaMallocManaged(&bins, sizeof(expected)));
	for (int i = 0; i < n; i++)
		expected[bytes[i] = (unsigned char)(i * i >> 3)]++;
	histogram<<<5, 256>>>(bytes, bins, n);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 256; i++)
		HOLDS(bins[i] == expected[i]);

	OK(cudaMallocManaged(&votes_out, 32 * sizeof(unsigned int)));
	votes<<<1, 32>>>(votes_out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		HOLDS(votes_out[i] == 0xaaaaaaaau + 1 + 32);

	struct all {
		int i[8];
		unsigned int u[8];
		unsigned long long l[1];
		float f[1];
	} *v;
	OK(cudaMallocManaged(&v, sizeof(*v)));
	v->i[1] = 100;
	v->u[2] = 0xffu;
	each_atomic<<<1, 64>>>(v->i, v->u, v->l, v->f);
	OK(cudaDeviceSynchronize());
	HOLDS(v->i[0] == 58 && v->i[1] == -5 && v->i[2] == -128 && v->i[4] == 77 && v->i[3] >= 1);
	HOLDS(v->u[0] == 4 && v->u[1] == 6 && v->u[2] == 0xf0 && v->u[3] == 0xff && v->u[4] == 0);
	HOLDS(v->l[0] == 64ull << 33 && v->f[0] == 32.0f);
	printf("shared: passed\n");
	return 0;
}
