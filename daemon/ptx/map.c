// SPDX-License-Identifier: GPL-2.0
/*
 * Names to pointers: a crit-bit tree (D. J. Bernstein's), for names that hold
 * any byte but compare by length too. An inner node tests one bit; the length
 * is part of the key as a virtual ninth bit of every byte: "a byte is here".
 */
#include <errno.h>
#include <string.h>

#include "ptx/map.h"

struct leaf {
	const char *name;
	uint32_t len;
	void *value;
};

/* `bit` is 9 * byte + place: place 0: does the byte exist; 1 to 8: its bits, from the top. */
struct inner {
	uintptr_t child[2];
	uint64_t bit;
};

static bool is_inner(uintptr_t node)
{
	return node & 1;
}

static struct inner *inner_of(uintptr_t node)
{
	return (struct inner *)(node - 1);
}

static unsigned int bit_at(const char *name, uint32_t len, uint64_t bit)
{
	uint64_t byte = bit / 9;
	unsigned int place = bit % 9;

	if (byte >= len)
		return 0;
	return place ? (unsigned char)name[byte] >> (8 - place) & 1 : 1;
}

static struct leaf *closest(const struct map *map, const char *name, uint32_t len)
{
	uintptr_t node = map->root;

	while (is_inner(node))
		node = inner_of(node)->child[bit_at(name, len, inner_of(node)->bit)];
	return (struct leaf *)node;
}

void *map_get(const struct map *map, const char *name, uint32_t len)
{
	struct leaf *leaf = closest(map, name, len);

	if (!leaf || leaf->len != len || memcmp(leaf->name, name, len))
		return NULL;
	return leaf->value;
}

/* The first bit where two different names differ. */
static uint64_t first_difference(const struct leaf *leaf, const char *name, uint32_t len)
{
	uint32_t both = MIN(leaf->len, len), i;

	for (i = 0; i < both && leaf->name[i] == name[i]; i++)
		;
	if (i == both)
		return 9ull * i;
	return 9ull * i + 1 +
	       (unsigned int)(__builtin_clz((unsigned char)(leaf->name[i] ^ name[i])) - 24);
}

int map_put(struct map *map, const char *name, uint32_t len, void *value)
{
	struct leaf *near = closest(map, name, len);
	struct leaf *leaf;
	struct inner *inner;
	uintptr_t *where = &map->root;
	unsigned int side;
	uint64_t bit;

	if (near && near->len == len && !memcmp(near->name, name, len))
		return -EEXIST;
	leaf = slab_alloc(map->slab, sizeof(*leaf));
	if (!leaf)
		return -ENOMEM;
	*leaf = (struct leaf){ name, len, value };
	if (!near) {
		map->root = (uintptr_t)leaf;
		return 0;
	}
	inner = slab_alloc(map->slab, sizeof(*inner));
	if (!inner)
		return -ENOMEM;
	bit = first_difference(near, name, len);
	while (is_inner(*where) && inner_of(*where)->bit < bit)
		where = &inner_of(*where)->child[bit_at(name, len, inner_of(*where)->bit)];
	side = bit_at(name, len, bit);
	inner->bit = bit;
	inner->child[side] = (uintptr_t)leaf;
	inner->child[!side] = *where;
	*where = (uintptr_t)inner + 1;
	return 0;
}
