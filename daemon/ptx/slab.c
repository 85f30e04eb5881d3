// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that lives as long as a module or a parse and is freed all at once. Called by
 * every file of the ptx room.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/slab.h"

#define CHUNK	(64u << 10)

struct slab_chunk {
	struct slab_chunk *next;
	size_t used, size;
	max_align_t data[];
};

void *slab_alloc(struct slab *slab, size_t bytes)
{
	struct slab_chunk *chunk = slab->chunks;
	size_t size;
	void *mem;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	if (!chunk || chunk->size - chunk->used < bytes) {
		size = MAX(bytes, (size_t)CHUNK);
		chunk = calloc(1, sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		chunk->size = size;
		chunk->next = slab->chunks;
		slab->chunks = chunk;
	}
	mem = (char *)chunk->data + chunk->used;
	chunk->used += bytes;
	return mem;
}

char *slab_strndup(struct slab *slab, const char *s, size_t len)
{
	char *copy = slab_alloc(slab, len + 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

void slab_free(struct slab *slab)
{
	struct slab_chunk *chunk = slab->chunks, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	slab->chunks = NULL;
}
