// SPDX-License-Identifier: GPL-2.0
/* Variables of device code, by their symbols. */
#include "functions.h"

static __device__ int array[4];
static __constant__ int fixed[4];

void symbols(void)
{
	const int *no_symbol = &((const int *)"no symbol of device code")[0];
	int in[4] = { 1, 2, 3, 4 }, out[4] = { 0, 0, 0, 0 }, *p = NULL;
	cudaMemcpyKind to = cudaMemcpyHostToDevice, from = cudaMemcpyDeviceToHost;
	size_t bytes = 0;

	GIVES(cudaSuccess, cudaMemcpyToSymbol(array, in, 16));
	GIVES(cudaSuccess, cudaMemcpyToSymbol(fixed, in, 8, 8));
	GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void *)no_symbol, in, 4, 0, to));
	GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void *)NULL, in, 4, 0, to));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(array, in, 17));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(array, in, 4, 16));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(fixed, in, 4, (size_t)-4));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(array, NULL, 4));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(array, in, 4, 0, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(array, in, 4, 0, (cudaMemcpyKind)9));
	GIVES(cudaSuccess, cudaMemcpyToSymbolAsync(array, in + 3, 4, 0, to, 0));
	GIVES(cudaErrorInvalidSymbol, cudaMemcpyToSymbolAsync((const void *)no_symbol, in, 4, 0, to, 0));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbolAsync(array, in, 4, 0, from, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemcpyToSymbolAsync(array, in, 4, 0, to, NO_STREAM));
	GIVES(cudaSuccess, cudaMemcpyFromSymbol(out, array, 16));
	HOLDS(out[0] == 4 && out[1] == 2 && out[3] == 4);
	GIVES(cudaErrorInvalidSymbol, cudaMemcpyFromSymbol(out, (const void *)no_symbol, 4, 0, from));
	GIVES(cudaErrorInvalidValue, cudaMemcpyFromSymbol(out, array, 4, 13));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyFromSymbol(out, array, 4, 0, to));
	GIVES(cudaSuccess, cudaMemcpyFromSymbolAsync(out, fixed, 4, 12, from, 0));
	HOLDS(out[0] == 2);
	GIVES(cudaErrorInvalidValue, cudaMemcpyFromSymbolAsync(out, fixed, 4, 13, from, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemcpyFromSymbolAsync(out, array, 4, 0, from, NO_STREAM));

	GIVES(cudaSuccess, cudaGetSymbolAddress((void **)&p, array));
	GIVES(cudaSuccess, cudaMemcpy(out, p, 16, cudaMemcpyDeviceToHost));
	HOLDS(out[0] == 4 && out[1] == 2);
	GIVES(cudaErrorInvalidSymbol, cudaGetSymbolAddress((void **)&p, (const void *)no_symbol));
	GIVES(cudaErrorInvalidValue, cudaGetSymbolAddress((void **)NULL, array));
	GIVES(cudaSuccess, cudaGetSymbolSize(&bytes, fixed));
	HOLDS(bytes == 16);
	GIVES(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, (const void *)no_symbol));
	GIVES(cudaErrorInvalidValue, cudaGetSymbolSize((size_t *)NULL, array));
}
