// SPDX-License-Identifier: GPL-2.0
/*
 * -rdc=true, with other.cu: kernels use functions and variables of the other file, both files have things of one name
 * that are their own, and a managed variable is everybody's.
 */
#include "../check.h"

extern __device__ int counter;
extern __device__ int twice(int x);
extern __constant__ int offset;
extern __managed__ int shared_by_all;

static __device__ int own = 100;
/* The kernel names it before the host does. */
static __constant__ int table[2] = { 1, 2 };
__global__ void looks_up(int *out) { *out = table[0] * 10 + table[1]; }
static __device__ __noinline__ int helper(int x) { return x + 1; }
__device__ __noinline__ int plus_one(int x) { return helper(x); }

__global__ void first(int *out)
{
	out[threadIdx.x] = twice(threadIdx.x) + counter + shared_by_all + own + offset;
}

/* A kernel of this file's own, and one that is made of a template. */
static __global__ void kept(int *out) { *out += 1; }
template <int n> __global__ void made(int *out) { *out += n; }

void run_other(int *out);
/* The other file's kernel. */
extern __global__ void adds_it(int *out);

int main()
{
	int *out, five = 5, value;

	HOLDS(shared_by_all == 3);
	shared_by_all = 1000;
	OK(cudaMallocManaged(&out, 32 * sizeof(int)));
	OK(cudaMemcpyToSymbol(counter, &five, sizeof(five)));
	first<<<1, 32>>>(out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		HOLDS(out[i] == 2 * i + 5 + 1000 + 100 + 20000);
	run_other(out);
	OK(cudaDeviceSynchronize());
	/* plus_one(5) + its own `own` and `table` + shared_by_all, which it raised before. */
	HOLDS(out[0] == 6 + 200 + 300 + 1001 && shared_by_all == 1001);
	OK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
	HOLDS(value == 5);
	kept<<<1, 1>>>(out);
	made<32><<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 6 + 200 + 300 + 1001 + 33);
	looks_up<<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 12);
	OK(cudaMemcpyToSymbol(table, &five, sizeof(five), sizeof(int)));
	looks_up<<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 15);
	adds_it<<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 15 + 300);
	OK(cudaFree(out));
	printf("linked: passed\n");
	return 0;
}
