// SPDX-License-Identifier: GPL-2.0
/* Arrays and the copies into and out of them. */
#include "functions.h"

static char host[256];

static void made(cudaArray_t *array, cudaArray_t *box)
{
	cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaChannelFormatDesc odd = cudaCreateChannelDesc(5, 0, 0, 0, cudaChannelFormatKindFloat), found;
	cudaArray_t other;
	cudaExtent extent;
	unsigned int flags = 7;

	/* The host's C++ has a type's descriptor, too. */
	found = cudaCreateChannelDesc<float>();
	HOLDS(!memcmp(&found, &floats, sizeof(found)));
	found = cudaCreateChannelDesc<uchar4>();
	HOLDS(found.w == 8 && found.f == cudaChannelFormatKindUnsigned);
	GIVES(cudaSuccess, cudaMallocArray(array, &floats, 8, 4));
	GIVES(cudaErrorInvalidValue, cudaMallocArray(NULL, &floats, 8, 4));
	GIVES(cudaErrorInvalidValue, cudaMallocArray(&other, NULL, 8, 4));
	GIVES(cudaErrorInvalidValue, cudaMallocArray(&other, &floats, 0, 4));
	GIVES(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&other, &odd, 8, 4));
	GIVES(cudaErrorMemoryAllocation, cudaMallocArray(&other, &floats, (size_t)1 << 40, 4));
	GIVES(cudaSuccess, cudaMalloc3DArray(box, &floats, make_cudaExtent(4, 3, 2), 0));
	GIVES(cudaErrorInvalidValue, cudaMalloc3DArray(NULL, &floats, make_cudaExtent(4, 3, 2), 0));
	GIVES(cudaErrorInvalidValue, cudaMalloc3DArray(&other, &floats, make_cudaExtent(0, 3, 2), 0));
	GIVES(cudaErrorNotSupported,
	      cudaMalloc3DArray(&other, &floats, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
	GIVES(cudaSuccess, cudaArrayGetInfo(&found, &extent, &flags, *box));
	HOLDS(found.x == 32 && extent.width == 4 && extent.height == 3 && extent.depth == 2 && !flags);
	GIVES(cudaErrorInvalidValue, cudaArrayGetInfo(&found, &extent, &flags, NO_ARRAY));
	GIVES(cudaSuccess, cudaGetChannelDesc(&found, *array));
	HOLDS(found.x == 32 && found.y == 0 && found.f == cudaChannelFormatKindFloat);
	GIVES(cudaErrorInvalidValue, cudaGetChannelDesc(NULL, *array));
	GIVES(cudaErrorInvalidValue, cudaGetChannelDesc(&found, NO_ARRAY));
}

static void rows(cudaArray_t array)
{
	for (int i = 0; i < 128; i++)
		host[i] = (char)i;
	GIVES(cudaSuccess, cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 4, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2DToArray(array, 0, 0, NULL, 32, 32, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DToArray(array, 0, 0, host, 16, 32, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue,
	      cudaMemcpy2DToArray(NO_ARRAY, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaMemcpy2DToArrayAsync(array, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaMemcpy2DToArrayAsync(array, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice, NO_STREAM));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpy2DFromArray(host, 8, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 36 && host[7] == 43 && host[8] == 68);
	GIVES(cudaErrorInvalidValue, cudaMemcpy2DFromArray(host, 8, array, 4, 3, 8, 2, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DFromArray(host, 4, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidMemcpyDirection,
	      cudaMemcpy2DFromArray(host, 8, array, 4, 1, 8, 2, (cudaMemcpyKind)9));
	GIVES(cudaErrorInvalidValue,
	      cudaMemcpy2DFromArray(host, 8, NO_ARRAY, 4, 1, 8, 2, cudaMemcpyDeviceToHost));
	GIVES(cudaSuccess, cudaMemcpy2DFromArrayAsync(host, 8, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaMemcpy2DFromArrayAsync(host, 8, array, 4, 1, 8, 2, cudaMemcpyDeviceToHost, NO_STREAM));
}

/* Elements in a row, over the ends of rows. */
static void runs(cudaArray_t array)
{
	for (int i = 0; i < 128; i++)
		host[i] = (char)(100 - i);
	GIVES(cudaSuccess, cudaMemcpyToArray(array, 4, 0, host, 100, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToArray(array, 4, 0, host, 128, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToArray(NO_ARRAY, 4, 0, host, 100, cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaMemcpyToArrayAsync(array, 4, 0, host, 100, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidValue, cudaMemcpyToArrayAsync(array, 4, 9, host, 100, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaMemcpyToArrayAsync(array, 4, 0, host, 100, cudaMemcpyHostToDevice, NO_STREAM));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpyFromArray(host, array, 4, 0, 100, cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 100 && host[99] == 1);
	GIVES(cudaErrorInvalidValue, cudaMemcpyFromArray(host, array, 4, 0, 128, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidValue, cudaMemcpyFromArray(host, NO_ARRAY, 4, 0, 100, cudaMemcpyDeviceToHost));
	GIVES(cudaSuccess, cudaMemcpyFromArrayAsync(host, array, 4, 0, 100, cudaMemcpyDeviceToHost, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaMemcpyFromArrayAsync(host, array, 4, 0, 100, cudaMemcpyDeviceToHost, NO_STREAM));
}

/* One row of the array of 8 by 4 floats is two of the other of 4 by 8. */
static void between(cudaArray_t array)
{
	cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaMemcpyKind kind = cudaMemcpyDeviceToDevice;
	cudaArray_t other;

	for (int i = 0; i < 128; i++)
		host[i] = (char)i;
	GIVES(cudaSuccess, cudaMallocArray(&other, &floats, 4, 8));
	GIVES(cudaSuccess, cudaMemcpyToArray(array, 0, 0, host, 128, cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaMemcpyArrayToArray(other, 4, 1, array, 8, 0, 100, kind));
	GIVES(cudaErrorInvalidValue, cudaMemcpyArrayToArray(other, 4, 1, array, 8, 0, 112, kind));
	GIVES(cudaErrorInvalidValue, cudaMemcpyArrayToArray(other, 4, 1, NO_ARRAY, 8, 0, 100, kind));
	GIVES(cudaErrorInvalidMemcpyDirection,
	      cudaMemcpyArrayToArray(other, 4, 1, array, 8, 0, 100, cudaMemcpyHostToDevice));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpyFromArray(host, other, 4, 1, 100, cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 8 && host[50] == 58 && host[99] == 107);
	GIVES(cudaSuccess, cudaMemcpy2DArrayToArray(other, 0, 6, array, 16, 1, 16, 2, kind));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2DArrayToArray(other, 0, 7, array, 16, 1, 16, 2, kind));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2DArrayToArray(NO_ARRAY, 0, 6, array, 16, 1, 16, 2, kind));
	GIVES(cudaErrorInvalidMemcpyDirection,
	      cudaMemcpy2DArrayToArray(other, 0, 6, array, 16, 1, 16, 2, cudaMemcpyDeviceToHost));
	GIVES(cudaSuccess, cudaMemcpy2DFromArray(host, 16, other, 0, 6, 16, 2, cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 48 && host[15] == 63 && host[16] == 80);
	GIVES(cudaSuccess, cudaFreeArray(other));
}

void arrays(void)
{
	cudaArray_t array, box;

	made(&array, &box);
	rows(array);
	runs(array);
	between(array);
	GIVES(cudaSuccess, cudaFreeArray(array));
	GIVES(cudaErrorInvalidValue, cudaFreeArray(array));
	GIVES(cudaErrorInvalidValue, cudaFreeArray(NO_ARRAY));
	GIVES(cudaSuccess, cudaFreeArray(NULL));
	GIVES(cudaSuccess, cudaFreeArray(box));
}
