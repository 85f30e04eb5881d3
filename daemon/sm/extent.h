/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of a register file or a shared memory, and their holders: an allocator of contiguous
 * extents, first fit. It knows no CTAs and no kernels. Nothing is allocated after
 * extents_init(). Private to the sm room; placement.c calls it.
 */
#ifndef GPUEMU_SM_EXTENT_H
#define GPUEMU_SM_EXTENT_H

#include "base/base.h"

#define EXTENT_NONE	UINT32_MAX

struct extent {
	uint32_t at, size;
};

struct extents {
	uint32_t size;		/* of what is handed out */
	uint32_t used;		/* of it */
	uint32_t largest;	/* hole */
	unsigned int count, most;
	struct extent *taken;	/* ascending, none of size 0 */
};

/* Makes room for `most` extents at a time. -ENOMEM. */
int extents_init(struct extents *e, uint32_t size, unsigned int most);
void extents_fini(struct extents *e);
/* Frees all extents. */
void extents_clear(struct extents *e);
/*
 * Where an extent of the size begins that is free and lies in [from, to): the lowest.
 * EXTENT_NONE: there is none. One of size 0 is at from.
 */
uint32_t extents_find(const struct extents *e, uint32_t size, uint32_t from, uint32_t to);
/* Are there n such extents? */
bool extents_fit(const struct extents *e, uint32_t size, unsigned int n, uint32_t from,
		 uint32_t to);
/* Takes the one that extents_find() finds, which is not none, and says where it begins. */
uint32_t extents_take(struct extents *e, uint32_t size, uint32_t from, uint32_t to);
/* Gives back the whole extent that begins there. */
void extents_give(struct extents *e, uint32_t at, uint32_t size);
unsigned int extents_holes(const struct extents *e);

static inline uint32_t extents_free(const struct extents *e)
{
	return e->size - e->used;
}

#endif
