// SPDX-License-Identifier: GPL-2.0
/* What main.cu uses, and a kernel that uses what main.cu has. */
__device__ int counter = 7;
__constant__ int offset = 20000;
__managed__ int shared_by_all = 3;

static __device__ int own = 200;
static __constant__ int table[2] = { 300, 0 };
__global__ void adds_it(int *out) { *out += table[0]; }
static __device__ __noinline__ int helper(int x) { return x * 2; }
__device__ __noinline__ int twice(int x) { return helper(x); }
__device__ int plus_one(int x);

__global__ void second(int *out)
{
	shared_by_all++;
	out[0] = plus_one(counter) + own + shared_by_all;
}

void run_other(int *out)
{
	int none = 0;

	second<<<1, 1>>>(out);
	adds_it<<<1, 1>>>(out);
	cudaMemcpyToSymbol(table, &none, sizeof(none), sizeof(int));
}
