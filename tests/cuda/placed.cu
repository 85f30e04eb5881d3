// SPDX-License-Identifier: GPL-2.0
/* __managed__ variables: the host reads and writes them before and after kernels, by name, by address, by symbol. */
#include "check.h"

struct pair {
	long a;
	char b;
};

__managed__ int number = 41, table[2000] = { 1, 2, 3 };
__managed__ struct pair pair = { 5, 'x' };
static __managed__ double own;
__device__ __managed__ unsigned char byte;
__managed__ int *pointer;
/* The variable's address is another's value on the device. nvcc has no such, and clang-14 ends with an error. */
#if __clang_major__ >= 16
__device__ int *inside = &table[1];
#endif

__global__ void change()
{
	number++;
	for (int i = threadIdx.x; i < 2000; i += blockDim.x)
		table[i] += i;
	pair.a *= 2;
	own = 0.5 * pair.a;
	byte = 200;
	*pointer = 77;
#if __clang_major__ >= 16
	*inside += 1000;
#else
	table[1] += 1000;
#endif
}

int main()
{
	cudaPointerAttributes a;
	int *where, seven = 7;

	HOLDS(number == 41 && table[2] == 3 && pair.b == 'x' && own == 0);
	number = 10;
	OK(cudaMallocManaged(&pointer, sizeof(int)));
	change<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	HOLDS(number == 11 && table[2] == 5 && table[1999] == 1999 && table[1] == 1003);
	HOLDS(pair.a == 10 && pair.b == 'x' && own == 5 && byte == 200 && *pointer == 77);
	table[7] = -7;
#if CUDART_VERSION < 13000
	OK(cudaMemPrefetchAsync(table, sizeof(table), 0, 0));
#endif
	change<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	HOLDS(number == 12 && table[7] == 0);
	OK(cudaGetSymbolAddress((void **)&where, number));
	HOLDS(where == &number);
	OK(cudaMemcpyToSymbol(number, &seven, sizeof(seven)));
	HOLDS(number == 7);
	OK(cudaPointerGetAttributes(&a, &table[3]));
	HOLDS(a.type == cudaMemoryTypeManaged);
	OK(cudaFree(pointer));
	/* What they hold outlives the device; nvcc's are gone. */
#ifdef __NVCC_GPUEMU__
	OK(cudaDeviceReset());
	HOLDS(number == 7 && table[2] == 7);
	pointer = &table[9];
	change<<<1, 1>>>();
	OK(cudaDeviceSynchronize());
	HOLDS(number == 8 && table[9] == 77);
#endif
	printf("placed: passed\n");
	return 0;
}
