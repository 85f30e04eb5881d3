/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hash map from uint64_t to uint64_t: open addressing, linear probing, no
 * tombstones, so look-ups stay short however long it lives. It has no
 * iteration: a user who needs an order keeps one, and nothing in the model depends
 * on where a key hashes to.
 */
#ifndef GPUEMU_BASE_U64MAP_H
#define GPUEMU_BASE_U64MAP_H

#include "base/base.h"

#define U64MAP_NO_KEY	UINT64_MAX	/* the one key that cannot be stored */

struct u64map_slot {
	uint64_t key, value;
};

/* All zero is an empty map. */
struct u64map {
	struct u64map_slot *slots;
	size_t size;			/* slots: 0 or a power of two */
	size_t count;
};

/* Sets or replaces. -ENOMEM leaves the map as it was. */
int u64map_put(struct u64map *map, uint64_t key, uint64_t value);
/* False when the key is not there; *value is then untouched. */
bool u64map_get(const struct u64map *map, uint64_t key, uint64_t *value);
/* Forgets a key; false when it was not there. */
bool u64map_del(struct u64map *map, uint64_t key);
/* Frees what the map holds; it is empty and usable again. */
void u64map_clear(struct u64map *map);

#endif
