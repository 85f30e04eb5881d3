// SPDX-License-Identifier: GPL-2.0
/* cudaHostRegister(): a kernel uses the program's own arrays; two share a page; CUDA's errors. */
#include "check.h"

__global__ void twice(int *p, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		p[i] *= 2;
}

int main()
{
	const int n = 10000;
	int *both = (int *)malloc(2 * n * sizeof(int)), *a = both, *b = both + n, *device;
	cudaPointerAttributes attributes;
	unsigned int flags;

	for (int i = 0; i < 2 * n; i++)
		both[i] = i;
	OK(cudaHostRegister(a, n * sizeof(int), cudaHostRegisterDefault));
	OK(cudaHostRegister(b, n * sizeof(int), cudaHostRegisterMapped));
	IS(cudaHostRegister(a + 5, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
	IS(cudaHostRegister(NULL, 4, 0), cudaErrorInvalidValue);
	IS(cudaHostRegister(a, 0, 0), cudaErrorInvalidValue);
	OK(cudaHostGetDevicePointer((void **)&device, b, 0));
	OK(cudaHostGetFlags(&flags, a));
	OK(cudaPointerGetAttributes(&attributes, a + 1));
	HOLDS(attributes.type == cudaMemoryTypeHost);
	twice<<<1, 256>>>(a, n);
	twice<<<1, 256>>>(device, n);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 2 * n; i++)
		HOLDS(both[i] == 2 * i);
	IS(cudaFreeHost(a), cudaErrorInvalidValue);
	/* Their common page is b's still. */
	OK(cudaHostUnregister(a));
	IS(cudaHostUnregister(a), cudaErrorHostMemoryNotRegistered);
	OK(cudaPointerGetAttributes(&attributes, a + 1));
	HOLDS(attributes.type == cudaMemoryTypeUnregistered);
	twice<<<1, 256>>>(b, n);
	OK(cudaDeviceSynchronize());
	OK(cudaHostUnregister(b));
	for (int i = 0; i < n; i++)
		HOLDS(both[i] == 2 * i && b[i] == 4 * (n + i));
	free(both);
	printf("register: passed\n");
	return 0;
}
