/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays, and the descriptor of a texture or surface, as daemon/ptx/texture.cu has it. */
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

struct descriptor {
	uint64_t base, slice;
	uint32_t width, height, depth, pitch;
	uint32_t format, flags, border[4];
	uint32_t unused[2];
};

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
		       size_t size, int constant, int global);

/* What a fetch needs to know of the memory, and then of how it is read; CUDA's errors. */
cudaError_t texture_describe(struct descriptor *d, const struct cudaResourceDesc *r);
cudaError_t texture_describe_sampler(struct descriptor *d, const struct cudaTextureDesc *t);
/* Is it an array that was made and not freed? The lock is held. */
bool array_is(cudaArray_const_t array);
/* Bytes of an element; 0: no such format. */
size_t channel_bytes(const struct cudaChannelFormatDesc *desc);

#endif
