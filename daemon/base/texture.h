/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A texture or surface that has a handle: where its elements are and how they are read. It
 * travels from libgpuemu with each launch that reads textures (gpuemu_texture_set()).
 */
#ifndef GPUEMU_BASE_TEXTURE_H
#define GPUEMU_BASE_TEXTURE_H

#include <stdint.h>

/* The same numbers as GPUEMU_TEXEL_* and GPUEMU_TEXTURE_* of gpuemu.h. */
enum texel_kind { TEXEL_UNSIGNED, TEXEL_SIGNED, TEXEL_FLOAT, TEXEL_KINDS };

#define TEXTURE_LINEAR		1u	/* filtered; else the nearest element */
#define TEXTURE_NORMALIZED	2u	/* coordinates are parts of the whole */
#define TEXTURE_AS_FLOAT	4u	/* integers are read as fractions of their largest */
#define TEXTURE_MEMORY		8u	/* linear memory: 0 outside */
/* How dimension i is addressed outside: an enum texture_mode. */
#define TEXTURE_MODE(flags, i)	((flags) >> (4 + 2 * (i)) & 3u)
enum texture_mode { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct texture {
	uint64_t handle;
	uint64_t base, slice;		/* address; bytes from one slice or layer to the next */
	uint32_t width, height, depth;	/* elements; 0: there is no such dimension */
	uint32_t pitch;			/* bytes from one row to the next */
	uint32_t channels, channel_bytes, kind;
	uint32_t flags;
	uint32_t border[4];
};

#endif
