// SPDX-License-Identifier: GPL-2.0
/*
 * Cooperative launches: CTAs of a whole grid wait for each other, as cooperative_groups has them
 * wait, and no grid is launched that does not fit the device at once.
 */
#include "check.h"

/* The memory that a barrier of the grid is in; 0: the launch is not cooperative. */
__device__ unsigned long long workspace()
{
	unsigned int high, low;

	asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
	asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
	return (unsigned long long)high << 32 | low;
}

/* As nvcc 13 has it: the top bit turns over when the last CTA has come. */
__device__ void sync_grid()
{
	volatile unsigned int *barrier = (volatile unsigned int *)(workspace() + 4);
	unsigned int ctas = gridDim.x * gridDim.y * gridDim.z;

	__syncthreads();
	if (!(threadIdx.x | threadIdx.y | threadIdx.z)) {
		bool first = !(blockIdx.x | blockIdx.y | blockIdx.z);
		unsigned int mine = first ? 0x80000000u - (ctas - 1) : 1, old;

		__threadfence();
		old = atomicAdd((unsigned int *)barrier, mine);
		while (!((*barrier ^ old) & 0x80000000u))
			;
		__threadfence();
	}
	__syncthreads();
}

/* Each round reads what the last CTA's neighbour wrote in the one before. */
__global__ void rounds(int *cells, int n)
{
	int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
	int from = (me + blockDim.x) % threads;

	for (int round = 0; round < n; round++) {
		int value = cells[(round & 1) * threads + from];

		cells[(~round & 1) * threads + me] = value + 1;
		sync_grid();
	}
}

__global__ void __launch_bounds__(256) meet(int *sums)
{
	if (threadIdx.x == 0)
		atomicAdd(&sums[0], 1);
	sync_grid();
	if (threadIdx.x == 0 && *(volatile int *)&sums[0] == (int)gridDim.x)
		atomicAdd(&sums[1], 1);
}

__global__ void is_cooperative(int *answer)
{
	*answer = workspace() != 0;
}

int main()
{
	const int threads = 64, n = 5;
	int ctas, device, *cells, *host, *sums, supported;
	cudaDeviceProp p;
	cudaStream_t streams[2];

	OK(cudaGetDevice(&device));
	OK(cudaGetDeviceProperties(&p, device));
	OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
	HOLDS(p.cooperativeLaunch && supported);

	/* Rounds. */
	int grid = p.multiProcessorCount * 2, all = grid * threads;
	void *args[] = { &cells, (void *)&n };

	OK(cudaMalloc(&cells, 2 * all * sizeof(int)));
	host = new int[2 * all];
	for (int i = 0; i < all; i++)
		host[i] = i;
	OK(cudaMemcpy(cells, host, all * sizeof(int), cudaMemcpyHostToDevice));
	OK(cudaLaunchCooperativeKernel(rounds, dim3(grid), dim3(threads), args));
	OK(cudaMemcpy(host, cells + (n & 1) * all, all * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < all; i++)
		HOLDS(host[i] == (i + n * threads) % all + n);

	/* As many as fit, in two streams; one more does not. */
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, meet, 256, 0));
	OK(cudaMalloc(&sums, 4 * sizeof(int)));
	OK(cudaMemset(sums, 0, 4 * sizeof(int)));
	for (int s = 0; s < 2; s++) {
		int *mine = sums + 2 * s;
		void *arg[] = { &mine };

		OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
		OK(cudaLaunchCooperativeKernel((void *)meet, dim3(ctas * p.multiProcessorCount),
					       dim3(256), arg, 0, streams[s]));
	}
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(host, sums, 4 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4; i++)
		HOLDS(host[i] == ctas * p.multiProcessorCount);
	void *arg[] = { &sums };

	IS(cudaLaunchCooperativeKernel((void *)meet, dim3(ctas * p.multiProcessorCount + 1),
				       dim3(256), arg, 0, 0),
	   cudaErrorCooperativeLaunchTooLarge);
	IS(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);

	/* What a kernel is told. */
	OK(cudaLaunchCooperativeKernel((void *)is_cooperative, dim3(1), dim3(1), arg, 0, 0));
	OK(cudaMemcpy(host, sums, sizeof(int), cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 1);
	is_cooperative<<<1, 1>>>(sums);
	OK(cudaMemcpy(host, sums, sizeof(int), cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 0);
	printf("cooperative: passed\n");
	return 0;
}
