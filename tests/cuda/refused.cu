// SPDX-License-Identifier: GPL-2.0
/* A kernel that the engine cannot run is refused when it is launched; the others of the program run. */
#include "check.h"

__global__ void good(int *p)
{
	p[threadIdx.x] = threadIdx.x * 3;
}

/* A tensor core's instruction: not built. */
__global__ void bad(int *p)
{
	unsigned int a = 0, b = 0;

	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(a) : "r"(b));
	p[0] = a;
}

int main()
{
	int *p;

	OK(cudaMallocManaged(&p, 32 * sizeof(int)));
	good<<<1, 32>>>(p);
	OK(cudaDeviceSynchronize());
	HOLDS(p[31] == 93);
	bad<<<1, 32>>>(p);
	IS(cudaGetLastError(), cudaErrorNotSupported);
	OK(cudaGetLastError());
	p[31] = 0;
	good<<<1, 32>>>(p);
	OK(cudaDeviceSynchronize());
	HOLDS(p[31] == 93);
	printf("refused: passed\n");
	return 0;
}
