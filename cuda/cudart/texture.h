/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays, which textures and surfaces read. */
#ifndef GPUEMU_CUDART_TEXTURE_H
#define GPUEMU_CUDART_TEXTURE_H

#include "cudart.h"
#include "texture_types.h"

struct cudaArray {
	struct cudaArray *next;
	struct cudaChannelFormatDesc desc;
	struct cudaExtent extent;	/* as it was asked for: 0 where there is no such dimension */
	unsigned int flags;
	char *base;			/* rows on the device */
	size_t pitch, element;
};

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
		       size_t size, int constant, int global);

/* What a fetch needs to know of the memory, and then of how it is read; CUDA's errors. */
cudaError_t texture_describe(struct gpuemu_texture *d, const struct cudaResourceDesc *r);
cudaError_t texture_describe_sampler(struct gpuemu_texture *d, const struct cudaTextureDesc *t);
/* What a handle means from the next launch on; NULL: nothing. The lock is held. */
cudaError_t texture_mean(unsigned long long handle, const struct gpuemu_texture *d);
/* Is it an array that was made and not freed? The lock is held. */
bool array_is(cudaArray_const_t array);
/* Bytes of an element; 0: no such format. */
size_t channel_bytes(const struct cudaChannelFormatDesc *desc);

#endif
