/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is freed all at once: slab.c. Private to the room.
 */
#ifndef GPUEMU_PTX_SLAB_H
#define GPUEMU_PTX_SLAB_H

#include "base/base.h"

struct slab {
	struct slab_chunk *chunks;
};

void *slab_alloc(struct slab *slab, size_t bytes);	/* zeroed; NULL: no memory */
char *slab_strndup(struct slab *slab, const char *s, size_t len);
void slab_free(struct slab *slab);

#endif
