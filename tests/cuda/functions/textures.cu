// SPDX-License-Identifier: GPL-2.0
/* Texture and surface objects. What a fetch gives is tests/cuda/textures.cu's. */
#include "functions.h"

static __global__ void fetch(cudaTextureObject_t t, float *p)
{
	*p = tex1Dfetch<float>(t, 5);
}

static void of_textures(cudaResourceDesc linear, cudaResourceDesc of_array)
{
	cudaTextureObject_t object = 0, other;
	cudaTextureDesc how;
	cudaResourceViewDesc view;
	cudaResourceDesc bad = linear;
	float *p, out = 0;

	memset(&how, 0, sizeof(how));
	GIVES(cudaSuccess, cudaCreateTextureObject(&object, &linear, &how, NULL));
	HOLDS(object != 0);
	GIVES(cudaSuccess, cudaMalloc(&p, 4));
	fetch<<<1, 1>>>(object, p);
	GIVES(cudaSuccess, cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost));
	HOLDS(out == 5);
	GIVES(cudaSuccess, cudaFree(p));
	GIVES(cudaSuccess, cudaGetTextureObjectResourceDesc(&bad, object));
	HOLDS(bad.resType == cudaResourceTypeLinear && bad.res.linear.devPtr == linear.res.linear.devPtr);
	GIVES(cudaErrorInvalidValue, cudaGetTextureObjectResourceDesc(NULL, object));
	GIVES(cudaErrorInvalidValue, cudaGetTextureObjectResourceDesc(&bad, 0));
	how.maxAnisotropy = 7;
	GIVES(cudaSuccess, cudaGetTextureObjectTextureDesc(&how, object));
	HOLDS(how.maxAnisotropy == 0 && how.readMode == cudaReadModeElementType);
	GIVES(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(NULL, object));
	GIVES(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&how, 0));
	GIVES(cudaErrorInvalidValue, cudaGetTextureObjectResourceViewDesc(&view, object));
	GIVES(cudaErrorInvalidValue, cudaGetSurfaceObjectResourceDesc(&bad, object));
	GIVES(cudaSuccess, cudaDestroyTextureObject(object));
	GIVES(cudaErrorInvalidValue, cudaDestroyTextureObject(object));
	GIVES(cudaErrorInvalidValue, cudaDestroyTextureObject((cudaTextureObject_t)(size_t)linear.res.linear.devPtr));
	GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(NULL, &linear, &how, NULL));
	GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&other, NULL, &how, NULL));
	GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&other, &linear, NULL, NULL));
	bad.res.linear.devPtr = NULL;
	GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&other, &bad, &how, NULL));
	bad = linear;
	bad.res.linear.desc.x = 5;
	GIVES(cudaErrorInvalidChannelDescriptor, cudaCreateTextureObject(&other, &bad, &how, NULL));
	bad = of_array;
	bad.res.array.array = NO_ARRAY;
	GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&other, &bad, &how, NULL));
	how.readMode = cudaReadModeNormalizedFloat;
	linear.res.linear.desc.f = cudaChannelFormatKindUnsigned;
	GIVES(cudaErrorInvalidNormSetting, cudaCreateTextureObject(&other, &linear, &how, NULL));
	how.readMode = cudaReadModeElementType;
	how.filterMode = cudaFilterModeLinear;
	GIVES(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&other, &linear, &how, NULL));
}

static void of_surfaces(cudaResourceDesc linear, cudaResourceDesc of_array)
{
	cudaSurfaceObject_t object = 0, other;

	GIVES(cudaSuccess, cudaCreateSurfaceObject(&object, &of_array));
	GIVES(cudaSuccess, cudaGetSurfaceObjectResourceDesc(&linear, object));
	HOLDS(linear.resType == cudaResourceTypeArray && linear.res.array.array == of_array.res.array.array);
	GIVES(cudaErrorInvalidValue, cudaGetSurfaceObjectResourceDesc(NULL, object));
	linear.resType = cudaResourceTypeLinear;
	GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(&other, NULL));
	GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(NULL, &of_array));
	GIVES(cudaErrorInvalidValue, cudaCreateSurfaceObject(&other, &linear));
	GIVES(cudaSuccess, cudaDestroySurfaceObject(object));
	GIVES(cudaErrorInvalidValue, cudaDestroySurfaceObject(object));
	GIVES(cudaErrorInvalidValue, cudaDestroySurfaceObject((cudaSurfaceObject_t)0));
}

void textures(void)
{
	cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaResourceDesc linear, of_array;
	float in[64], *p;
	cudaArray_t array;

	for (int i = 0; i < 64; i++)
		in[i] = (float)i;
	GIVES(cudaSuccess, cudaMalloc(&p, sizeof(in)));
	GIVES(cudaSuccess, cudaMemcpy(p, in, sizeof(in), cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaMallocArray(&array, &floats, 8, 8, cudaArraySurfaceLoadStore));
	memset(&linear, 0, sizeof(linear));
	linear.resType = cudaResourceTypeLinear;
	linear.res.linear.devPtr = p;
	linear.res.linear.desc = floats;
	linear.res.linear.sizeInBytes = sizeof(in);
	memset(&of_array, 0, sizeof(of_array));
	of_array.resType = cudaResourceTypeArray;
	of_array.res.array.array = array;
	of_textures(linear, of_array);
	of_surfaces(linear, of_array);
	GIVES(cudaSuccess, cudaFreeArray(array));
	GIVES(cudaSuccess, cudaFree(p));
}
