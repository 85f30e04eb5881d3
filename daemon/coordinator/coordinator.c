// SPDX-License-Identifier: GPL-2.0
/*
 * This file holds the states of warps, their slots and their register sets, and changes them as the
 * SM reports events. queue.c decides which warp gets what.
 */
#include "coordinator/private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int coord_create(const struct coord_limits *limits, const struct coord_threshold *t,
		 const struct coord_ops *ops, void *ctx, struct coordinator **out)
{
	struct coordinator *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->limits = *limits;
	c->threshold = *t;
	c->ops = *ops;
	c->ctx = ctx;
	c->warps = calloc(limits->warps, sizeof(*c->warps));
	c->scratchpad = calloc(limits->ctas, sizeof(*c->scratchpad));
	c->pledged = calloc(limits->ctas, sizeof(*c->pledged));
	c->waiting = calloc(limits->ctas, sizeof(*c->waiting));
	c->begun = calloc(limits->ctas, sizeof(*c->begun));
	c->stalled = calloc(limits->ctas, sizeof(*c->stalled));
	c->slots = calloc(limits->slots, sizeof(*c->slots));
	if (!c->warps || !c->scratchpad || !c->pledged || !c->waiting || !c->begun ||
	    !c->stalled || !c->slots ||
	    coord_table_init(&c->registers, limits->warps, SETS, limits->register_sets) ||
	    (limits->scratchpad_table &&
	     coord_table_init(&c->sets, limits->ctas, SETS, limits->scratchpad_sets))) {
		coord_destroy(c);
		return -ENOMEM;
	}
	coord_reset(c);
	*out = c;
	return 0;
}

void coord_destroy(struct coordinator *c)
{
	if (!c)
		return;
	coord_table_fini(&c->registers);
	coord_table_fini(&c->sets);
	free(c->warps);
	free(c->scratchpad);
	free(c->pledged);
	free(c->waiting);
	free(c->begun);
	free(c->stalled);
	free(c->slots);
	free(c);
}

void coord_reset(struct coordinator *c)
{
	coord_table_clear(&c->registers);
	if (c->limits.scratchpad_table)
		coord_table_clear(&c->sets);
	memset(c->warps, 0, c->limits.warps * sizeof(*c->warps));
	memset(c->scratchpad, 0, c->limits.ctas * sizeof(*c->scratchpad));
	memset(c->pledged, 0, c->limits.ctas * sizeof(*c->pledged));
	memset(c->waiting, 0, c->limits.ctas * sizeof(*c->waiting));
	memset(c->begun, 0, c->limits.ctas * sizeof(*c->begun));
	memset(c->stalled, 0, c->limits.ctas * sizeof(*c->stalled));
	memset(c->slots, 0, c->limits.slots * sizeof(*c->slots));
	memset(c->allowed, 0, sizeof(c->allowed));
	c->may_promise = 0;
	c->free_slots = c->limits.slots;
	c->free_scratchpad = c->limits.scratchpad_sets;
	c->swapped_warps = c->pending = c->runnable = 0;
	c->promised = c->dying = c->unmapped = 0;
	coord_begin(c);
	c->threshold.begun = false;
}

void coord_set_floor(struct coordinator *c, unsigned int warps)
{
	c->limits.floor = warps;
}

/* --- states -------------------------------------------------------------------------- */

void coord_set_state(struct coordinator *c, struct warp *w, enum state state)
{
	c->pending -= w->state == PENDING;
	c->waiting[w->cta] -= w->state == PENDING;
	c->runnable -= w->state == RUNNING;
	w->state = (uint8_t)state;
	c->pending += state == PENDING;
	c->waiting[w->cta] += state == PENDING;
	c->runnable += state == RUNNING;
	if (state == PENDING)
		w->since = c->epochs;
	if (state == PENDING || state == BARRIER)
		w->order = c->next++;
}

void coord_free_slot(struct coordinator *c, struct warp *w)
{
	if (!w->slotted)
		return;
	w->slotted = false;
	c->slots[w->slot] = false;
	c->free_slots++;
}

/* The warp does not need these sets any more. Those that no instruction uses become free now. */
static void release(struct coordinator *c, unsigned int warp, uint64_t sets)
{
	for (; sets; sets &= sets - 1) {
		unsigned int set = (unsigned int)__builtin_ctzll(sets);
		struct coord_entry *e = coord_entry(&c->registers, warp, set);

		if (e->where == COORD_NOWHERE)
			continue;
		if (!e->busy) {
			coord_table_unmap(&c->registers, warp, set);
			continue;
		}
		c->dying += !e->dying;
		e->dying = true;
	}
}

void coord_promise(struct coordinator *c, struct warp *w, unsigned int sets)
{
	c->begun[w->cta] += (unsigned int)(sets > 0) - (w->promised > 0);
	c->promised += sets - w->promised;
	w->promised = sets;
}

/* --- events ---------------------------------------------------------------------------- */

static void want(struct coordinator *c, struct warp *w, const struct coord_needs *needs)
{
	w->needs = needs->sets;
	w->ahead = needs->ahead;
	w->scratchpad = needs->scratchpad;
	w->most_scratchpad = MAX(needs->most_scratchpad, needs->scratchpad);
	coord_set_state(c, w, PENDING);
}

void coord_warp_start(struct coordinator *c, unsigned int warp, unsigned int cta,
		      const struct coord_needs *needs)
{
	struct warp *w = &c->warps[warp];

	assert(w->state == ABSENT);
	/* The warps of a CTA start one behind the other. */
	if (cta != c->newest || !c->waiting[cta])
		c->ages++;
	c->newest = cta;
	*w = (struct warp){ .cta = (uint8_t)cta, .age = c->ages };
	want(c, w, needs);
}

void coord_phase(struct coordinator *c, unsigned int warp, const struct coord_needs *needs)
{
	struct warp *w = &c->warps[warp];

	assert(w->state == RUNNING);
	release(c, warp, w->holds & ~needs->sets);
	w->holds &= needs->sets;
	coord_promise(c, w, needs->ahead);
	want(c, w, needs);
}

void coord_barrier(struct coordinator *c, unsigned int warp)
{
	struct warp *w = &c->warps[warp];

	if (w->state == RUNNING)
		coord_set_state(c, w, BARRIER);
}

void coord_passed(struct coordinator *c, unsigned int warp)
{
	struct warp *w = &c->warps[warp];

	if (w->state == BARRIER)
		coord_set_state(c, w, w->slotted ? RUNNING : PENDING);
}

void coord_stalled(struct coordinator *c, unsigned int cta)
{
	c->stalled[cta] = ++c->next;
}

void coord_resumed(struct coordinator *c, unsigned int cta)
{
	c->stalled[cta] = 0;
}

void coord_ready(struct coordinator *c, unsigned int warp)
{
	struct warp *w = &c->warps[warp];

	if (w->state == RESULTS)
		coord_set_state(c, w, PENDING);
}

void coord_warp_end(struct coordinator *c, unsigned int warp)
{
	struct warp *w = &c->warps[warp];

	if (w->state == ABSENT)
		return;
	release(c, warp, UINT64_MAX);
	coord_free_slot(c, w);
	coord_promise(c, w, 0);
	c->swapped_warps -= w->away;
	coord_set_state(c, w, ABSENT);
	*w = (struct warp){ .state = ABSENT };
}

void coord_cta_end(struct coordinator *c, unsigned int cta)
{
	if (c->limits.scratchpad_table)
		for (unsigned int set = 0; set < c->scratchpad[cta]; set++)
			coord_table_unmap(&c->sets, cta, set);
	else
		c->free_scratchpad += c->scratchpad[cta];
	c->unmapped -= c->pledged[cta] - c->scratchpad[cta];
	c->scratchpad[cta] = c->pledged[cta] = 0;
	c->stalled[cta] = 0;
}

/* --- accesses ----------------------------------------------------------------------------- */

static void spill(struct coordinator *c, struct coord_table *t, unsigned int owner,
		  unsigned int set)
{
	coord_table_spill(t, owner, set);
	if (t == &c->registers) {
		c->stats.spills++;
		c->ops.spill(c->ctx, owner, set);
	} else {
		c->stats.scratchpad_spills++;
		c->ops.spill_scratchpad(c->ctx, owner, set);
	}
}

static void fill(struct coordinator *c, struct coord_table *t, unsigned int owner,
		 unsigned int set)
{
	coord_table_fill(t, owner, set);
	if (t == &c->registers) {
		c->stats.fills++;
		c->ops.fill(c->ctx, owner, set);
	} else {
		c->stats.scratchpad_fills++;
		c->ops.fill_scratchpad(c->ctx, owner, set);
	}
}

bool coord_make_place(struct coordinator *c, struct coord_table *t, unsigned int spare,
		      const struct coord_entry *for_entry)
{
	unsigned int owner, set;

	if (t->free)
		return true;
	if (!coord_table_victim(t, spare, &owner, &set) ||
	    (for_entry && !coord_table_rarer(t, coord_entry(t, owner, set), for_entry)))
		return false;
	spill(c, t, owner, set);
	return true;
}

/*
 * Returns which of the sets are in swap, and brings some of them back. A set in swap takes a free
 * place if there is one. It takes the place of a more rarely accessed set when its accesses in swap
 * have cost as much as both ways of an exchange.
 */
static uint64_t look_up(struct coordinator *c, struct coord_table *t, unsigned int owner,
			uint64_t sets)
{
	uint64_t swapped = 0;

	for (; sets; sets &= sets - 1) {
		unsigned int set = (unsigned int)__builtin_ctzll(sets);
		struct coord_entry *e = coord_entry(t, owner, set);

		if (e->where == COORD_NOWHERE)
			continue;
		e->accesses++;
		t->clock++;
		if (e->where != COORD_SWAP)
			continue;
		swapped |= 1ull << set;
		if (t->free || (e->accesses >= coord_exchange(t == &c->sets) &&
				coord_make_place(c, t, owner, e)))
			fill(c, t, owner, set);
	}
	return swapped;
}

static void use(struct coord_table *t, unsigned int owner, uint64_t sets)
{
	for (; sets; sets &= sets - 1) {
		struct coord_entry *e = coord_entry(t, owner, (unsigned int)__builtin_ctzll(sets));

		if (e->where != COORD_NOWHERE)
			e->busy++;
	}
}

uint64_t coord_access(struct coordinator *c, unsigned int warp, uint64_t sets)
{
	uint64_t swapped = look_up(c, &c->registers, warp, sets);

	for (; sets; sets &= sets - 1)
		c->stats.accesses += coord_entry(&c->registers, warp,
						 (unsigned int)__builtin_ctzll(sets))->where !=
				     COORD_NOWHERE;
	c->stats.swapped += (unsigned int)__builtin_popcountll(swapped);
	return swapped;
}

void coord_use(struct coordinator *c, unsigned int warp, uint64_t sets)
{
	use(&c->registers, warp, sets);
}

void coord_done(struct coordinator *c, unsigned int warp, uint64_t sets)
{
	for (; sets; sets &= sets - 1) {
		unsigned int set = (unsigned int)__builtin_ctzll(sets);
		struct coord_entry *e = coord_entry(&c->registers, warp, set);

		if (!e->busy || --e->busy || !e->dying)
			continue;
		c->dying--;
		coord_table_unmap(&c->registers, warp, set);
	}
}

uint64_t coord_scratchpad_access(struct coordinator *c, unsigned int cta, uint64_t sets)
{
	return look_up(c, &c->sets, cta, sets);
}

bool coord_scratchpad_held(const struct coordinator *c, unsigned int cta, uint64_t sets)
{
	unsigned int has = c->scratchpad[cta];

	return has >= SETS || !(sets >> has);
}

void coord_scratchpad_use(struct coordinator *c, unsigned int cta, uint64_t sets)
{
	use(&c->sets, cta, sets);
}

void coord_scratchpad_done(struct coordinator *c, unsigned int cta, uint64_t sets)
{
	for (; sets; sets &= sets - 1) {
		struct coord_entry *e = coord_entry(&c->sets, cta,
						    (unsigned int)__builtin_ctzll(sets));

		e->busy -= e->busy > 0;
	}
}

void coord_begin(struct coordinator *c)
{
	c->proof = 0;
}

void coord_epoch(struct coordinator *c, uint64_t idle, uint64_t mem)
{
	c->epochs++;
	c->ended = true;
	coord_threshold_epoch(&c->threshold, idle, mem);
	c->proof = idle > mem + c->threshold.delta ? c->proof + 1 : 0;
}

/* --- looking at it ---------------------------------------------------------------------------- */

unsigned int coord_allowed(const struct coordinator *c, enum coord_resource r)
{
	if (c->proof < c->limits.proof)
		return 0;
	if (r == COORD_SCRATCHPAD)
		return c->limits.scratchpad_table ?
		       coord_threshold_units(&c->threshold, c->limits.scratchpad_sets) : 0;
	return coord_threshold_units(&c->threshold, r == COORD_THREADS ? c->limits.slots :
				     c->limits.register_sets);
}

unsigned int coord_pending(const struct coordinator *c)
{
	return c->pending;
}

bool coord_backlog(const struct coordinator *c)
{
	for (unsigned int cta = 0; c->pending && cta < c->limits.ctas; cta++)
		if (c->waiting[cta] && !c->begun[cta])
			return true;
	return false;
}

unsigned int coord_runnable(const struct coordinator *c)
{
	return c->runnable;
}

unsigned int coord_free(const struct coordinator *c, enum coord_resource r)
{
	if (r == COORD_SCRATCHPAD)
		return c->limits.scratchpad_table ? c->sets.free : c->free_scratchpad;
	return r == COORD_THREADS ? c->free_slots : c->registers.free;
}

unsigned int coord_swapped(const struct coordinator *c, enum coord_resource r)
{
	return r == COORD_THREADS ? c->swapped_warps : r == COORD_SCRATCHPAD ? c->sets.swapped :
	       c->registers.swapped;
}

unsigned int coord_unpromised(const struct coordinator *c, enum coord_resource r)
{
	unsigned int free = coord_free(c, r);

	if (r == COORD_SCRATCHPAD)
		return free - MIN(c->unmapped, free);
	return c->limits.register_sets - MIN(c->promised, c->limits.register_sets);
}

unsigned int coord_percent(const struct coordinator *c)
{
	return c->threshold.percent;
}

const struct coord_counters *coord_stats(const struct coordinator *c)
{
	return &c->stats;
}

/* Whether the warp has its slot to itself, and all sets that it holds are mapped. */
static bool warp_sound(const struct coordinator *c, unsigned int i, bool *taken)
{
	const struct warp *w = &c->warps[i];

	if (w->slotted && (taken[w->slot] || !c->slots[w->slot]))
		return false;
	if (w->slotted)
		taken[w->slot] = true;
	for (uint64_t s = w->holds; s; s &= s - 1) {
		if (coord_entry(&c->registers, i, (unsigned int)__builtin_ctzll(s))->where ==
		    COORD_NOWHERE)
			return false;
	}
	if (w->state == RESULTS)
		return !w->slotted && w->away && w->holds == w->needs;
	if (w->state != RUNNING)
		return true;
	return w->slotted && !w->away && w->holds == w->needs &&
	       c->scratchpad[w->cta] >= w->scratchpad;
}

/*
 * Whether the counts of dying sets, of waiting warps and of warps that have begun are right, and no
 * warp holds more than it was promised.
 */
static bool counts_sound(const struct coordinator *c)
{
	unsigned int dying = 0, promised = 0, waiting = 0, begun = 0;

	for (unsigned int i = 0; i < c->limits.warps; i++) {
		promised += c->warps[i].promised;
		begun += c->warps[i].promised > 0;
		for (unsigned int s = 0; s < SETS; s++)
			dying += coord_entry(&c->registers, i, s)->dying;
		if (c->warps[i].state == RUNNING &&
		    (unsigned int)__builtin_popcountll(c->warps[i].holds) > c->warps[i].promised)
			return false;
	}
	for (unsigned int i = 0; i < c->limits.ctas; i++) {
		waiting += c->waiting[i];
		begun -= c->begun[i];
	}
	return dying == c->dying && promised == c->promised && waiting == c->pending && !begun;
}

/* Whether swap holds no more than it may now, or might when it last grew. */
static bool within(const struct coordinator *c, enum coord_resource r)
{
	return coord_swapped(c, r) <= MAX(c->allowed[r], coord_allowed(c, r));
}

/* Whether no more registers are promised than may be, or might when a warp was last promised some. */
static bool promises_kept(const struct coordinator *c)
{
	return !c->limits.promise ||
	       c->promised <= MAX(c->may_promise, c->limits.register_sets +
						  coord_allowed(c, COORD_REGISTERS));
}

bool coord_sound(const struct coordinator *c)
{
	unsigned int free_slots = c->limits.slots, away = 0;
	unsigned int scratchpad = coord_free(c, COORD_SCRATCHPAD), unmapped = 0;
	bool taken[256] = { false };
	bool sound = coord_table_sound(&c->registers) && coord_table_sound(&c->sets);

	for (unsigned int i = 0; i < c->limits.warps; i++) {
		sound = sound && warp_sound(c, i, taken);
		free_slots -= c->warps[i].slotted;
		away += c->warps[i].away;
	}
	for (unsigned int i = 0; i < c->limits.ctas; i++) {
		scratchpad += c->scratchpad[i];
		unmapped += c->pledged[i] - c->scratchpad[i];
		sound = sound && c->pledged[i] >= c->scratchpad[i];
	}
	return sound && unmapped == c->unmapped && counts_sound(c) && free_slots == c->free_slots &&
	       away == c->swapped_warps &&
	       scratchpad == c->limits.scratchpad_sets + c->sets.swapped &&
	       within(c, COORD_THREADS) && within(c, COORD_SCRATCHPAD) &&
	       within(c, COORD_REGISTERS) && promises_kept(c);
}
