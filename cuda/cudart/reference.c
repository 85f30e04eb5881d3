// SPDX-License-Identifier: GPL-2.0
/*
 * Texture and surface references, which CUDA had until 12: the address of one's variable in device
 * code is its handle, and binding says what it means. Objects are texture.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "texture.h"

/* What registration says of one and its structure does not: how it is read. */
static struct reference {
	struct reference *next;
	const void *host;
	bool normalized;
} *references;

API void __cudaRegisterTexture(void **handle, const struct textureReference *host,
			       const void **address, const char *name, int dim, int normalized,
			       int ext);
API void __cudaRegisterTexture(void **handle, const struct textureReference *host,
			       const void **address, const char *name, int dim, int normalized,
			       int ext)
{
	struct reference *r = calloc(1, sizeof(*r));

	__cudaRegisterVar(handle, (char *)host, NULL, name, ext, sizeof(uint64_t), 0, 0);
	if (!r)
		return;
	enter_quietly();
	*r = (struct reference){ references, host, normalized != 0 };
	references = r;
	leave_quietly(cudaSuccess);
}

API void __cudaRegisterSurface(void **handle, const struct surfaceReference *host,
			       const void **address, const char *name, int dim, int ext);
API void __cudaRegisterSurface(void **handle, const struct surfaceReference *host,
			       const void **address, const char *name, int dim, int ext)
{
	__cudaRegisterVar(handle, (char *)host, NULL, name, ext, sizeof(uint64_t), 0, 0);
}

static bool reads_normalized(const void *host)
{
	const struct reference *r = references;

	while (r && r->host != host)
		r = r->next;
	return r && r->normalized;
}

/* From the next launch on the variable means this; `unknown`: there is none of the kind. */
static cudaError_t write_reference(const void *host, const struct gpuemu_texture *d,
				   cudaError_t unknown)
{
	void *address;
	cudaError_t error = cudaGetSymbolAddress(&address, host);

	if (error)
		return error == cudaErrorInvalidSymbol ? error_remember(unknown) : error;
	error = enter();
	return leave(error ? error : texture_mean((uintptr_t)address, d));
}

static cudaError_t bind(const struct textureReference *t, const struct cudaResourceDesc *r)
{
	struct cudaTextureDesc sampler = { 0 };
	struct gpuemu_texture d;
	cudaError_t error;

	if (!t)
		return error_remember(cudaErrorInvalidTexture);
	memcpy(sampler.addressMode, t->addressMode, sizeof(sampler.addressMode));
	sampler.filterMode = t->filterMode;
	sampler.readMode = reads_normalized(t) ? cudaReadModeNormalizedFloat :
						 cudaReadModeElementType;
	sampler.normalizedCoords = t->normalized;
	sampler.sRGB = t->sRGB;
	error = texture_describe(&d, r);
	if (!error)
		error = texture_describe_sampler(&d, &sampler);
	return error ? error_remember(error) : write_reference(t, &d, cudaErrorInvalidTexture);
}

API cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture,
				const void *ptr, const struct cudaChannelFormatDesc *desc,
				size_t bytes)
{
	struct cudaResourceDesc r = { .resType = cudaResourceTypeLinear };

	if (!ptr || !desc)
		return error_remember(cudaErrorInvalidValue);
	r.res.linear.devPtr = (void *)ptr;
	r.res.linear.desc = *desc;
	r.res.linear.sizeInBytes = bytes;
	if (offset)
		*offset = 0;
	return bind(texture, &r);
}

API cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture,
				  const void *ptr, const struct cudaChannelFormatDesc *desc,
				  size_t width, size_t height, size_t pitch)
{
	struct cudaResourceDesc r = { .resType = cudaResourceTypePitch2D };

	if (!ptr || !desc)
		return error_remember(cudaErrorInvalidValue);
	r.res.pitch2D.devPtr = (void *)ptr;
	r.res.pitch2D.desc = *desc;
	r.res.pitch2D.width = width;
	r.res.pitch2D.height = height;
	r.res.pitch2D.pitchInBytes = pitch;
	if (offset)
		*offset = 0;
	return bind(texture, &r);
}

API cudaError_t cudaBindTextureToArray(const struct textureReference *texture,
				       cudaArray_const_t array,
				       const struct cudaChannelFormatDesc *desc)
{
	struct cudaResourceDesc r = { .resType = cudaResourceTypeArray };

	r.res.array.array = (cudaArray_t)array;
	return bind(texture, &r);
}

API cudaError_t cudaUnbindTexture(const struct textureReference *texture)
{
	return error_remember(texture ? cudaSuccess : cudaErrorInvalidTexture);
}

/* Any address is aligned well enough. */
API cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
					      const struct textureReference *texture)
{
	if (!offset || !texture)
		return error_remember(offset ? cudaErrorInvalidTexture : cudaErrorInvalidValue);
	*offset = 0;
	return cudaSuccess;
}

API cudaError_t cudaGetTextureReference(const struct textureReference **texture,
					const void *symbol)
{
	if (!texture || !symbol)
		return error_remember(cudaErrorInvalidTexture);
	*texture = symbol;
	return cudaSuccess;
}

API cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surface,
				       cudaArray_const_t array,
				       const struct cudaChannelFormatDesc *desc)
{
	struct cudaResourceDesc r = { .resType = cudaResourceTypeArray };
	struct gpuemu_texture d;
	cudaError_t error;

	r.res.array.array = (cudaArray_t)array;
	error = texture_describe(&d, &r);
	return error ? error_remember(error) :
		       write_reference(surface, &d, cudaErrorInvalidSurface);
}
