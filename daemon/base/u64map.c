// SPDX-License-Identifier: GPL-2.0
/*
 * The hash map of base/u64map.h. At most 3/4 full, doubled when it would be
 * fuller; a deletion moves later entries of the same probe run back.
 */
#include "base/u64map.h"

#include <errno.h>
#include <stdlib.h>

#define U64MAP_FIRST	16u

/* Page and block numbers are dense and aligned: the product spreads their low bits upwards. */
static size_t u64map_home(const struct u64map *map, uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ull;
	return (size_t)(key >> 32) & (map->size - 1);
}

/* The key's slot, or the free slot where it belongs. The map has a free slot. */
static size_t u64map_probe(const struct u64map *map, uint64_t key)
{
	size_t i = u64map_home(map, key);

	while (map->slots[i].key != key && map->slots[i].key != U64MAP_NO_KEY)
		i = (i + 1) & (map->size - 1);
	return i;
}

static int u64map_grow(struct u64map *map)
{
	struct u64map bigger = { .size = map->size ? map->size * 2 : U64MAP_FIRST };

	bigger.slots = malloc(bigger.size * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < bigger.size; i++)
		bigger.slots[i].key = U64MAP_NO_KEY;
	for (size_t i = 0; i < map->size; i++)
		if (map->slots[i].key != U64MAP_NO_KEY)
			bigger.slots[u64map_probe(&bigger, map->slots[i].key)] = map->slots[i];
	bigger.count = map->count;
	free(map->slots);
	*map = bigger;
	return 0;
}

int u64map_put(struct u64map *map, uint64_t key, uint64_t value)
{
	size_t i = 0;

	if (key == U64MAP_NO_KEY)
		return -EINVAL;
	if (map->size) {
		i = u64map_probe(map, key);
		if (map->slots[i].key == key) {
			map->slots[i].value = value;
			return 0;
		}
	}
	if (map->count + 1 > map->size / 4 * 3) {
		int rc = u64map_grow(map);

		if (rc)
			return rc;
		i = u64map_probe(map, key);
	}
	map->slots[i] = (struct u64map_slot){ key, value };
	map->count++;
	return 0;
}

bool u64map_get(const struct u64map *map, uint64_t key, uint64_t *value)
{
	size_t i;

	if (!map->count || key == U64MAP_NO_KEY)
		return false;
	i = u64map_probe(map, key);
	if (map->slots[i].key != key)
		return false;
	*value = map->slots[i].value;
	return true;
}

bool u64map_del(struct u64map *map, uint64_t key)
{
	size_t hole, i;

	if (!map->count || key == U64MAP_NO_KEY)
		return false;
	hole = u64map_probe(map, key);
	if (map->slots[hole].key != key)
		return false;
	/*
	 * An entry behind the hole may fill it unless its home lies between the
	 * hole and itself: a look-up starts at the home and would miss it.
	 */
	for (i = (hole + 1) & (map->size - 1); map->slots[i].key != U64MAP_NO_KEY;
	     i = (i + 1) & (map->size - 1)) {
		size_t home = u64map_home(map, map->slots[i].key);

		if (((i - home) & (map->size - 1)) >= ((i - hole) & (map->size - 1))) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].key = U64MAP_NO_KEY;
	map->count--;
	return true;
}

void u64map_clear(struct u64map *map)
{
	free(map->slots);
	*map = (struct u64map){ 0 };
}
