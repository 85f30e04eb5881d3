// SPDX-License-Identifier: GPL-2.0
/* %globaltimer counts nanoseconds, %clock64 cycles: the device's clock is between them. */
#include "check.h"

__device__ unsigned long long now(void)
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
	return ns;
}

__global__ void wait(unsigned long long ns, long long *out)
{
	unsigned long long t = now();
	long long c = clock64();
	unsigned int lo, hi;

	while (now() - t < ns)
		;
	out[1] = clock64() - c;
	out[0] = now() - t;
	asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(lo) :: "memory");
	asm volatile("mov.u32 %0, %%globaltimer_hi;" : "=r"(hi) :: "memory");
	out[2] = (unsigned long long)hi << 32 | lo;
	out[3] = now();
}

int main()
{
	long long *out;
	int khz;

	OK(cudaMallocManaged(&out, 32));
	OK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
	wait<<<1, 1>>>(50000, out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] >= 50000 && out[0] < 60000);
	HOLDS(llabs(out[1] * 1000000 / khz - out[0]) < out[0] / 50);
	HOLDS(out[2] <= out[3] && out[3] - out[2] < 10000);
	printf("timer: passed\n");
	return 0;
}
