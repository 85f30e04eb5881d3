/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names to pointers: map.c. Private to the room.
 */
#ifndef GPUEMU_PTX_MAP_H
#define GPUEMU_PTX_MAP_H

#include "ptx/slab.h"

/*
 * A crit-bit tree: the work of a look-up is bounded by the length of the name
 * whatever other names are in it, which no hash table promises to hostile text.
 * Nodes come from the slab; names are kept by reference.
 */
struct map {
	struct slab *slab;
	uintptr_t root;
};

void *map_get(const struct map *map, const char *name, uint32_t len);
/* -EEXIST when the name is there, -ENOMEM. */
int map_put(struct map *map, const char *name, uint32_t len, void *value);

#endif
