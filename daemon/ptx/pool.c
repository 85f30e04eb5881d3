// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that lives as long as a module or a parse and is freed all at once. Called by
 * every file of the ptx room.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/pool.h"

#define CHUNK	(64u << 10)

struct pool_chunk {
	struct pool_chunk *next;
	size_t used, size;
	max_align_t data[];
};

void *pool_alloc(struct pool *pool, size_t bytes)
{
	struct pool_chunk *chunk = pool->chunks;
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
		chunk->next = pool->chunks;
		pool->chunks = chunk;
	}
	mem = (char *)chunk->data + chunk->used;
	chunk->used += bytes;
	return mem;
}

char *pool_strndup(struct pool *pool, const char *s, size_t len)
{
	char *copy = pool_alloc(pool, len + 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

void pool_free(struct pool *pool)
{
	struct pool_chunk *chunk = pool->chunks, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	pool->chunks = NULL;
}
