// SPDX-License-Identifier: GPL-2.0
/*
 * A mapping table knows where each logical set is. A set gets the lowest free place. The place's
 * number makes no difference to the model: only coord_table_sound() looks at it, to see that no two
 * sets share a place.
 */
#include "coordinator/coordinator.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int coord_table_init(struct coord_table *t, unsigned int owners, unsigned int sets,
		     unsigned int physical)
{
	*t = (struct coord_table){ .owners = owners, .sets = sets, .physical = physical };
	t->entries = calloc((size_t)owners * sets + 1, sizeof(*t->entries));
	t->holder = calloc((size_t)physical + 1, sizeof(*t->holder));
	if (!t->entries || !t->holder) {
		coord_table_fini(t);
		return -ENOMEM;
	}
	coord_table_clear(t);
	return 0;
}

void coord_table_fini(struct coord_table *t)
{
	free(t->entries);
	free(t->holder);
	memset(t, 0, sizeof(*t));
}

void coord_table_clear(struct coord_table *t)
{
	memset(t->entries, 0, (size_t)t->owners * t->sets * sizeof(*t->entries));
	memset(t->holder, 0, t->physical * sizeof(*t->holder));
	t->free = t->physical;
	t->swapped = 0;
}

static void take(struct coord_table *t, struct coord_entry *e)
{
	uint16_t place = 0;

	assert(t->free);
	while (t->holder[place])
		place++;
	t->holder[place] = (uint32_t)(e - t->entries) + 1;
	t->free--;
	e->where = COORD_PHYSICAL;
	e->place = place;
	e->accesses = 0;
	e->since = t->clock;
}

static void give(struct coord_table *t, struct coord_entry *e)
{
	t->holder[e->place] = 0;
	t->free++;
	e->place = COORD_NO_PLACE;
}

void coord_table_map(struct coord_table *t, unsigned int owner, unsigned int set,
		     enum coord_where where)
{
	struct coord_entry *e = coord_entry(t, owner, set);

	assert(e->where == COORD_NOWHERE && !e->busy);
	*e = (struct coord_entry){ .where = COORD_SWAP, .place = COORD_NO_PLACE,
				   .since = t->clock };
	if (where == COORD_PHYSICAL)
		take(t, e);
	else
		t->swapped++;
}

void coord_table_unmap(struct coord_table *t, unsigned int owner, unsigned int set)
{
	struct coord_entry *e = coord_entry(t, owner, set);

	assert(e->where != COORD_NOWHERE && !e->busy);
	if (e->where == COORD_PHYSICAL)
		give(t, e);
	else
		t->swapped--;
	*e = (struct coord_entry){ .where = COORD_NOWHERE };
}

void coord_table_spill(struct coord_table *t, unsigned int owner, unsigned int set)
{
	struct coord_entry *e = coord_entry(t, owner, set);

	assert(e->where == COORD_PHYSICAL && !e->busy);
	give(t, e);
	e->where = COORD_SWAP;
	e->accesses = 0;
	e->since = t->clock;
	t->swapped++;
}

void coord_table_fill(struct coord_table *t, unsigned int owner, unsigned int set)
{
	struct coord_entry *e = coord_entry(t, owner, set);

	assert(e->where == COORD_SWAP);
	take(t, e);
	t->swapped--;
}

bool coord_table_rarer(const struct coord_table *t, const struct coord_entry *a,
		       const struct coord_entry *b)
{
	return (a->accesses + 1ull) * (t->clock - b->since + 1) <
	       (b->accesses + 1ull) * (t->clock - a->since + 1);
}

bool coord_table_victim(const struct coord_table *t, unsigned int spare, unsigned int *owner,
			unsigned int *set)
{
	const struct coord_entry *best = NULL;

	for (unsigned int p = 0; p < t->physical; p++) {
		const struct coord_entry *e = &t->entries[t->holder[p] ? t->holder[p] - 1 : 0];
		unsigned int of;

		if (!t->holder[p] || e->busy)
			continue;
		of = (t->holder[p] - 1) / t->sets;
		if (of == spare || (best && !coord_table_rarer(t, e, best)))
			continue;
		best = e;
		*owner = of;
		*set = (t->holder[p] - 1) % t->sets;
	}
	return best;
}

bool coord_table_sound(const struct coord_table *t)
{
	unsigned int free = t->physical, swapped = 0;

	for (uint32_t i = 0; i < t->owners * t->sets; i++) {
		const struct coord_entry *e = &t->entries[i];

		swapped += e->where == COORD_SWAP;
		if (e->where != COORD_PHYSICAL)
			continue;
		if (e->place >= t->physical || t->holder[e->place] != i + 1)
			return false;
		free--;
	}
	for (unsigned int p = 0; p < t->physical; p++) {
		if (t->holder[p] && t->entries[t->holder[p] - 1].place != p)
			return false;
	}
	return free == t->free && swapped == t->swapped;
}
