// SPDX-License-Identifier: GPL-2.0
/* Variables: __constant__ and __device__, written and read by the host, with offsets and addresses. */
#include "check.h"

__constant__ float weights[8];
__constant__ int given[4] = { 10, 20, 30, 40 };
__device__ int total;
__device__ float table[16];
struct shape {
	int width, height;
	float scale;
};
__constant__ shape form;

__global__ void use(float *out)
{
	int i = threadIdx.x;

	out[i] = weights[i % 8] * form.scale + given[i % 4] + table[i % 16];
	atomicAdd(&total, form.width * form.height);
}

/* The address of a constant is a device pointer as any other. */
__global__ void by_pointer(const float *p, float *out)
{
	out[threadIdx.x] = p[threadIdx.x];
}

int main()
{
	float w[8], t[16], out[32], part[3] = { -3, -4 }, *dout, *address;
	shape s = { 6, 7, 2.5f }, back;
	int sum, more[2] = { 21, 31 };
	size_t bytes;

	for (int i = 0; i < 8; i++)
		w[i] = 1.0f + i;
	for (int i = 0; i < 16; i++)
		t[i] = 100.0f * i;
	OK(cudaMalloc(&dout, sizeof(out)));
	OK(cudaMemcpyToSymbol(weights, w, sizeof(w)));
	OK(cudaMemcpyToSymbol(form, &s, sizeof(s)));
	OK(cudaMemcpyToSymbol(table, t, sizeof(t)));
	use<<<1, 32>>>(dout);
	OK(cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		HOLDS(out[i] == w[i % 8] * 2.5f + 10.0f * (i % 4 + 1) + t[i % 16]);
	OK(cudaMemcpyFromSymbol(&sum, total, sizeof(sum)));
	HOLDS(sum == 32 * 42);
	/* A part of a variable, between two launches. */
	OK(cudaMemcpyToSymbol(given, more, sizeof(more), 1 * sizeof(int)));
	use<<<1, 32>>>(dout);
	OK(cudaMemcpyToSymbol(given, more, sizeof(int), 0));
	OK(cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost));
	HOLDS(out[1] == w[1] * 2.5f + 21 + t[1] && out[2] == w[2] * 2.5f + 31 + t[2] &&
	      out[0] == w[0] * 2.5f + 10 + t[0]);
	OK(cudaMemcpyToSymbol(table, part, 2 * sizeof(float), 3 * sizeof(float)));
	OK(cudaMemcpyFromSymbol(part, table, 3 * sizeof(float), 2 * sizeof(float)));
	HOLDS(part[0] == t[2] && part[1] == -3 && part[2] == -4);
	OK(cudaMemcpyFromSymbol(&back, form, sizeof(back)));
	HOLDS(back.width == 6 && back.height == 7 && back.scale == 2.5f);
	OK(cudaGetSymbolSize(&bytes, weights));
	HOLDS(bytes == sizeof(weights));
	OK(cudaGetSymbolAddress((void **)&address, weights));
	by_pointer<<<1, 8>>>(address, dout);
	OK(cudaMemcpy(out, dout, 8 * sizeof(float), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		HOLDS(out[i] == w[i]);
	/* Copies and memsets through it, whole and in part, in both directions. */
	OK(cudaMemcpy(out, address, sizeof(w), cudaMemcpyDeviceToHost));
	HOLDS(out[0] == w[0] && out[7] == w[7]);
	OK(cudaMemcpy(address + 2, part, 2 * sizeof(float), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dout, address, sizeof(w), cudaMemcpyDeviceToDevice));
	OK(cudaMemset(address + 6, 0, 2 * sizeof(float)));
	by_pointer<<<1, 8>>>(address, dout + 8);
	OK(cudaMemcpy(out, dout, 16 * sizeof(float), cudaMemcpyDefault));
	HOLDS(out[1] == w[1] && out[2] == part[0] && out[3] == part[1] && out[7] == w[7]);
	HOLDS(out[9] == w[1] && out[10] == part[0] && out[13] == w[5] && !out[14] && !out[15]);
	OK(cudaMemcpyAsync(address, w, sizeof(w), cudaMemcpyHostToDevice, 0));
	OK(cudaMemcpyFromSymbol(out, weights, sizeof(w)));
	HOLDS(out[2] == w[2] && out[6] == w[6]);
	IS(cudaMemcpy(address + 1, w, sizeof(w), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	IS(cudaMemcpy(address, w, sizeof(w), cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
	OK(cudaGetSymbolAddress((void **)&address, table));
	OK(cudaMemcpy(out, address, sizeof(t), cudaMemcpyDeviceToHost));
	HOLDS(out[15] == t[15]);
	IS(cudaMemcpyToSymbol(weights, w, sizeof(w), 4), cudaErrorInvalidValue);
	IS(cudaMemcpyToSymbol((const void *)&sum, w, 4), cudaErrorInvalidSymbol);
	printf("symbols: passed\n");
	return 0;
}
