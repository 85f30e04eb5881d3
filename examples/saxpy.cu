// SPDX-License-Identifier: GPL-2.0
/* y = a x + y: a plain kernel, as for nvcc. README.md compiles and launches it. */
extern "C" __global__ void saxpy(unsigned int n, float a, const float *x, float *y)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}
