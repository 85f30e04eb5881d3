// SPDX-License-Identifier: GPL-2.0
/*
 * Scratchpad in swap: where a CTA's sets are there, what is moved when the coordinator spills or
 * fills one, and which of those that an instruction accesses it finds in swap. A set that is being
 * read into its place is not there before its last byte: until then it is accessed in swap.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sm/cta/virtual_state.h"

#define SET		1024u

unsigned int virtual_scratchpad_set(const struct gpu_spec *spec)
{
	unsigned int bytes = SET;

	while ((uint64_t)bytes * SETS < spec->shared_bytes)
		bytes *= 2;
	return bytes;
}

int virtual_scratchpad_create(struct virt *v)
{
	v->sets = calloc((size_t)MAX_CTAS * SETS, sizeof(*v->sets));
	if (!v->sets)
		return -ENOMEM;
	for (unsigned int i = 0; i < MAX_CTAS * SETS; i++)
		v->sets[i] = (struct vset){ v, (uint8_t)(i / SETS), (uint8_t)(i % SETS) };
	return 0;
}

void virtual_scratchpad_destroy(struct virt *v)
{
	free(v->sets);
}

/* One set beyond its 64 lies between two CTAs: their first ones are not in one set of the caches. */
static uint64_t address(const struct virt *v, unsigned int cta, unsigned int set)
{
	return sm_background(v->sm) + SWAP_SCRATCHPAD +
	       ((uint64_t)cta * (SETS + 1) + set) * v->unit;
}

static void moved(void *ctx, struct sm *sm, uint64_t now)
{
}

static void came(void *ctx, struct sm *sm, uint64_t now)
{
	struct vset *s = ctx;

	s->v->coming[s->owner] &= ~(1ull << s->number);
}

static bool move(struct virt *v, unsigned int cta, unsigned int set, uint8_t kind,
		 void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	const struct background_job job = {
		.way = BACKGROUND_L1, .kind = kind, .from = v->now + 1,
		.addr = address(v, cta, set), .bytes = v->unit, .done = done,
		.ctx = &v->sets[cta * SETS + set],
	};

	return !sm_move(v->sm, &job);
}

void virtual_spill_scratchpad(void *ctx, unsigned int cta, unsigned int set)
{
	move(ctx, cta, set, MEM_WRITE, moved);
}

void virtual_fill_scratchpad(void *ctx, unsigned int cta, unsigned int set)
{
	struct virt *v = ctx;

	if (move(v, cta, set, MEM_READ, came))
		v->coming[cta] |= 1ull << set;
}

uint64_t virtual_shared_access(void *state, struct sm *sm, unsigned int warp, uint64_t sets,
			       uint64_t *swap)
{
	struct virt *v = state;
	unsigned int cta = sm_warp_cta(sm, warp);
	uint64_t swapped = coord_scratchpad_access(v->c, cta, sets) | (v->coming[cta] & sets);
	const struct virtual_counters more = {
		.scratchpad_accesses = (unsigned int)__builtin_popcountll(sets),
		.scratchpad_swapped = (unsigned int)__builtin_popcountll(swapped),
	};

	/* The CTA's phase says that it has scratchpad (ptx/needs.c). */
	assert(coord_scratchpad_held(v->c, cta, sets));
	sm_count_virtual(sm, v->kernels[cta], &more);
	coord_scratchpad_use(v->c, cta, sets);
	*swap = address(v, cta, 0);
	return swapped;
}

void virtual_shared_done(void *state, struct sm *sm, unsigned int warp, uint64_t sets)
{
	struct virt *v = state;

	coord_scratchpad_done(v->c, sm_warp_cta(sm, warp), sets);
}
