// SPDX-License-Identifier: GPL-2.0
/* Functions that CUDA has dropped, which older programs call; texture and surface references. */
#include "functions.h"

#if CUDART_VERSION < 13000

static texture<float, cudaTextureType1D> line;
static texture<float, cudaTextureType2D> plane;
static surface<void, cudaSurfaceType2D> ground;

static __global__ void fetch(float *p)
{
	*p = tex1Dfetch(line, 3) + tex2D(plane, 1, 1);
	surf2Dwrite(*p, ground, 4, 0);
}

static void references(void)
{
	cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat), odd = floats;
	const textureReference *found = NULL;
	textureReference nobodys;
	float in[64], *p, *q, out = 0;
	cudaArray_t array;
	size_t offset = 7;

	odd.x = 5;
	memset(&nobodys, 0, sizeof(nobodys));
	for (int i = 0; i < 64; i++)
		in[i] = (float)i;
	GIVES(cudaSuccess, cudaMalloc(&p, sizeof(in)));
	GIVES(cudaSuccess, cudaMalloc(&q, 4));
	GIVES(cudaSuccess, cudaMallocArray(&array, &floats, 8, 8, cudaArraySurfaceLoadStore));
	GIVES(cudaSuccess, cudaMemcpy(p, in, sizeof(in), cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaBindTexture(&offset, &line, p, &floats, sizeof(in)));
	HOLDS(offset == 0);
	GIVES(cudaErrorInvalidValue, cudaBindTexture(&offset, &line, NULL, &floats, sizeof(in)));
	GIVES(cudaErrorInvalidChannelDescriptor, cudaBindTexture(&offset, &line, p, &odd, sizeof(in)));
	GIVES(cudaErrorInvalidTexture, cudaBindTexture(&offset, (const textureReference *)NULL, p, &floats, 64));
	GIVES(cudaErrorInvalidTexture, cudaBindTexture(&offset, &nobodys, p, &floats, 64));
	GIVES(cudaSuccess, cudaBindTextureToArray(&plane, array, &floats));
	GIVES(cudaErrorInvalidTexture, cudaBindTextureToArray((const textureReference *)NULL, array, &floats));
	GIVES(cudaErrorInvalidValue, cudaBindTextureToArray(&plane, NO_ARRAY, &floats));
	/* The last one that was bound is what is read. */
	GIVES(cudaSuccess, cudaBindTexture2D(&offset, &plane, p, &floats, 8, 8, 32));
	GIVES(cudaErrorInvalidValue, cudaBindTexture2D(&offset, &plane, NULL, &floats, 8, 8, 32));
	GIVES(cudaErrorInvalidTexture, cudaBindTexture2D(&offset, (const textureReference *)NULL, p, &floats, 8, 8, 32));
	GIVES(cudaSuccess, cudaBindSurfaceToArray(&ground, array, &floats));
	GIVES(cudaErrorInvalidValue, cudaBindSurfaceToArray(&ground, NO_ARRAY, &floats));
	GIVES(cudaErrorInvalidSurface, cudaBindSurfaceToArray((const surfaceReference *)NULL, array, &floats));
	fetch<<<1, 1>>>(q);
	GIVES(cudaSuccess, cudaMemcpy(&out, q, 4, cudaMemcpyDeviceToHost));
	HOLDS(out == 12);
	GIVES(cudaSuccess, cudaMemcpyFromArray(in, array, 4, 0, 4, cudaMemcpyDeviceToHost));
	HOLDS(in[0] == 12);
	GIVES(cudaSuccess, cudaGetTextureAlignmentOffset(&offset, &line));
	GIVES(cudaErrorInvalidValue, cudaGetTextureAlignmentOffset(NULL, &line));
	GIVES(cudaErrorInvalidTexture, cudaGetTextureAlignmentOffset(&offset, NULL));
	GIVES(cudaSuccess, cudaGetTextureReference(&found, &line));
	HOLDS(found == &line);
	GIVES(cudaErrorInvalidTexture, cudaGetTextureReference(&found, NULL));
	GIVES(cudaSuccess, cudaUnbindTexture(&line));
	GIVES(cudaErrorInvalidTexture, cudaUnbindTexture(NULL));
	GIVES(cudaSuccess, cudaFreeArray(array));
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaSuccess, cudaFree(q));
}

void dropped(void)
{
	size_t value;

	GIVES(cudaSuccess, cudaThreadSynchronize());
	GIVES(cudaSuccess, cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
	GIVES(cudaErrorInvalidValue, cudaThreadSetCacheConfig((cudaFuncCache)9));
	GIVES(cudaSuccess, cudaThreadSetLimit(cudaLimitStackSize, 2048));
	GIVES(cudaErrorUnsupportedLimit, cudaThreadSetLimit((cudaLimit)77, 1));
	GIVES(cudaSuccess, cudaThreadGetLimit(&value, cudaLimitStackSize));
	HOLDS(value == 2048);
	GIVES(cudaErrorUnsupportedLimit, cudaThreadGetLimit(&value, (cudaLimit)77));
	GIVES(cudaSuccess, cudaThreadExit());
	references();
}

#endif
