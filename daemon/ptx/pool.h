/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is freed all at once: pool.c. Private to the room.
 */
#ifndef GPUEMU_PTX_POOL_H
#define GPUEMU_PTX_POOL_H

#include "base/base.h"

struct pool {
	struct pool_chunk *chunks;
};

void *pool_alloc(struct pool *pool, size_t bytes);	/* zeroed; NULL: no memory */
char *pool_strndup(struct pool *pool, const char *s, size_t len);
void pool_free(struct pool *pool);

#endif
