// SPDX-License-Identifier: GPL-2.0
#include <cuda_runtime_api.h>
#include <stdio.h>

int main()
{
	int n;

	if (cudaGetDeviceCount(&n) || n != 1)
		return 1;
	printf("runtime: passed\n");
	return 0;
}
