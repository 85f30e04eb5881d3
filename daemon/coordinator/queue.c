// SPDX-License-Identifier: GPL-2.0
/*
 * The queues. A warp that is not schedulable is in one of three queues. In the first are warps
 * without a thread slot, in the second those with a slot but without their CTA's scratchpad, in the
 * third those with both but without their registers. At every event the coordinator goes through
 * the queues, the third one first, in the order in which warps wait. A warp gets all that it lacks
 * or nothing. So warps that hold more go first, and no warp holds what it cannot use.
 *
 * Deadlock: fewer warps than the floor go on, and a warp waits. Then the first warp whose CTA has
 * its scratchpad gets slot and registers, whatever the threshold says. Scratchpad alone is never
 * forced. A CTA is promised all of it when it takes its first set, so a CTA that has some never
 * waits for more.
 *
 * Warps that go on may wait for what an older CTA does, for example in a loop that reads its flag,
 * and keep from it what it lacks. So a warp of the oldest CTA that has waited for LATE epochs gets
 * slot and registers in the same way. The oldest CTA comes to its end, then the next one does.
 *
 * Warps of a stalled CTA (coord_stalled()) lend their slots before warps at barriers do. Such a
 * warp is in no queue until its results have come. It comes back by itself, so no warp waits for it
 * for ever.
 */
#include "coordinator/private.h"

#include <assert.h>

/* --- what a warp lacks -------------------------------------------------------------------- */

/* The warp's queue. 2: it lacks registers; 1: it lacks scratchpad; 0: it lacks a slot. */
static unsigned int queue_of(const struct coordinator *c, const struct warp *w)
{
	return !w->slotted ? 0 : c->scratchpad[w->cta] < w->scratchpad ? 1 : 2;
}

/* Whether the warp's CTA has stalled and the warp has a slot to lend. */
static bool stalled(const struct coordinator *c, const struct warp *w)
{
	return w->slotted && c->stalled[w->cta] && (w->state == RUNNING || w->state == BARRIER);
}

/* The first warp with a slot to lend, of the CTA that stalled first. NULL: there is none. */
static struct warp *first_stalled(const struct coordinator *c)
{
	struct warp *best = NULL;

	for (unsigned int i = 0; i < c->limits.warps; i++) {
		struct warp *w = &c->warps[i];

		if (stalled(c, w) && (!best || c->stalled[w->cta] < c->stalled[best->cta]))
			best = w;
	}
	return best;
}

/*
 * The warp that lends its slot to warp `to`: one of a stalled CTA, or the one that has waited
 * longest at a barrier. NULL: there is none. With `force` a warp may also lend its slot while it
 * waits in a queue, for example for scratchpad of a CTA whose other warps have no slot.
 */
static struct warp *lender(const struct coordinator *c, unsigned int to, bool force)
{
	struct warp *best = c->limits.lend ? first_stalled(c) : NULL;

	if (best)
		return best;
	for (unsigned int i = 0; c->limits.lend && i < c->limits.warps; i++) {
		struct warp *w = &c->warps[i];

		if (!w->slotted || i == to)
			continue;
		if (w->state != BARRIER && !(force && w->state == PENDING))
			continue;
		/* If the barrier waits for no warp in the queues, it is over soon. */
		if (!force && !c->waiting[w->cta])
			continue;
		if (!best || w->state > best->state ||
		    (w->state == best->state && w->order < best->order))
			best = w;
	}
	return best;
}

/* Register sets of the warp that need a new place. A dying set that it needs lives on in its own. */
static uint64_t missing(const struct coordinator *c, unsigned int warp)
{
	const struct warp *w = &c->warps[warp];
	uint64_t sets = w->needs & ~w->holds, more = 0;

	for (; sets; sets &= sets - 1) {
		unsigned int set = (unsigned int)__builtin_ctzll(sets);

		if (coord_entry(&c->registers, warp, set)->where == COORD_NOWHERE)
			more |= 1ull << set;
	}
	return more;
}

/* Whether there is room for the warp's registers, or others may go to swap for them. */
static bool fits_registers(const struct coordinator *c, unsigned int warp)
{
	const struct warp *w = &c->warps[warp];
	unsigned int sets = (unsigned int)__builtin_popcountll(missing(c, warp));

	if (!c->limits.promise)
		return sets <= c->registers.free || c->registers.swapped + sets -
		       c->registers.free <= coord_allowed(c, COORD_REGISTERS);
	if (!w->promised &&
	    c->promised + w->ahead > c->limits.register_sets + coord_allowed(c, COORD_REGISTERS))
		return false;
	/* No set is spilled while dying ones are about to leave their places. */
	return sets <= c->registers.free || !c->dying;
}

/* The same for the scratchpad of the warp's CTA. */
static bool fits_scratchpad(const struct coordinator *c, const struct warp *w)
{
	unsigned int free = coord_free(c, COORD_SCRATCHPAD);
	unsigned int more = w->most_scratchpad + c->unmapped;

	if (w->scratchpad <= c->pledged[w->cta])
		return true;
	more -= c->pledged[w->cta];
	return more <= free || c->sets.swapped + more - free <= coord_allowed(c, COORD_SCRATCHPAD);
}

static bool fits(const struct coordinator *c, unsigned int warp, bool force)
{
	const struct warp *w = &c->warps[warp];

	if (!fits_scratchpad(c, w))
		return false;
	if (!w->slotted && !c->free_slots) {
		const struct warp *from = lender(c, warp, force);

		if (!from)
			return false;
		/*
		 * A warp whose state is in swap changes places with another. That adds nothing to
		 * swap, so the threshold has no say: an old CTA must go on for which others wait.
		 */
		if (!force && !w->away && !stalled(c, from) &&
		    c->swapped_warps + 1 > coord_allowed(c, COORD_THREADS))
			return false;
	}
	return force || fits_registers(c, warp);
}

/* --- taking it ------------------------------------------------------------------------------ */

static void take_slot(struct coordinator *c, struct warp *w)
{
	uint16_t slot = 0;

	assert(c->free_slots);
	while (c->slots[slot])
		slot++;
	c->slots[slot] = true;
	c->free_slots--;
	w->slot = slot;
	w->slotted = true;
}

/* Returns whether the CTA of the warp that lends its slot has stalled. */
static bool lend_slot(struct coordinator *c, unsigned int to, bool force)
{
	struct warp *from = lender(c, to, force);
	bool has_stalled = stalled(c, from);

	coord_free_slot(c, from);
	from->away = true;
	if (from->state == RUNNING)
		coord_set_state(c, from, RESULTS);
	c->swapped_warps++;
	c->stats.swapped_out++;
	c->ops.swap_out(c->ctx, (unsigned int)(from - c->warps));
	return has_stalled;
}

/*
 * Notes how much swap may hold after it grew, for coord_sound(). Registers that a warp was promised
 * may go to swap later, when the threshold is lower.
 */
static void grew(struct coordinator *c, enum coord_resource r, unsigned int before, bool free_of_it)
{
	unsigned int swapped = coord_swapped(c, r), most = coord_allowed(c, r);

	if (swapped <= before)
		return;
	if (r == COORD_REGISTERS && c->limits.promise && c->promised > c->limits.register_sets)
		most = MAX(most, c->promised - c->limits.register_sets);
	c->allowed[r] = free_of_it ? swapped : most;
}

/* Gives the CTA its scratchpad up to the set that the warp needs, and promises it the rest. */
static void take_scratchpad(struct coordinator *c, const struct warp *w)
{
	unsigned int cta = w->cta, sets = w->scratchpad;
	unsigned int *has = &c->scratchpad[cta];

	if (sets > c->pledged[cta]) {
		/* The CTA may take what it is promised later, when the threshold is lower. */
		if (w->most_scratchpad + c->unmapped - c->pledged[cta] >
		    coord_free(c, COORD_SCRATCHPAD))
			c->allowed[COORD_SCRATCHPAD] = coord_allowed(c, COORD_SCRATCHPAD);
		c->unmapped += w->most_scratchpad - c->pledged[cta];
		c->pledged[cta] = w->most_scratchpad;
	}
	c->unmapped -= sets - *has;
	if (!c->limits.scratchpad_table)
		c->free_scratchpad -= sets - *has;
	for (unsigned int set = *has; c->limits.scratchpad_table && set < sets; set++) {
		bool place = coord_make_place(c, &c->sets, cta, NULL);

		coord_table_map(&c->sets, cta, set, place ? COORD_PHYSICAL : COORD_SWAP);
	}
	*has = sets;
}

static void acquire(struct coordinator *c, unsigned int warp, bool force)
{
	struct warp *w = &c->warps[warp];
	uint64_t sets = missing(c, warp);
	unsigned int slots = c->swapped_warps, swapped = c->registers.swapped;
	bool restored = w->away, has_stalled = false;

	if (w->scratchpad > c->scratchpad[w->cta])
		take_scratchpad(c, w);
	if (!w->slotted) {
		if (!c->free_slots)
			has_stalled = lend_slot(c, warp, force);
		take_slot(c, w);
	}
	c->swapped_warps -= w->away;
	w->away = false;
	for (uint64_t s = w->needs & ~w->holds & ~sets; s; s &= s - 1) {
		coord_entry(&c->registers, warp, (unsigned int)__builtin_ctzll(s))->dying = false;
		c->dying--;
	}
	for (; sets; sets &= sets - 1)
		coord_table_map(&c->registers, warp, (unsigned int)__builtin_ctzll(sets),
				coord_make_place(c, &c->registers, warp, NULL) ?
				COORD_PHYSICAL : COORD_SWAP);
	w->holds = w->needs;
	/* A warp that was promised registers before is promised no more now. */
	if (!w->promised)
		c->may_promise = force ? c->promised + w->ahead :
				 c->limits.register_sets + coord_allowed(c, COORD_REGISTERS);
	coord_promise(c, w, w->ahead);
	grew(c, COORD_THREADS, slots, force || has_stalled);
	grew(c, COORD_REGISTERS, swapped, force);
	coord_set_state(c, w, RUNNING);
	c->stalled[w->cta] = 0;
	c->stats.grants++;
	c->ops.schedule(c->ctx, warp, w->slot, restored);
}

/* Whether warp a is before warp b in a queue. */
static bool before(const struct warp *a, const struct warp *b)
{
	return a->age < b->age || (a->age == b->age && a->order < b->order);
}

/* The number of the next warp of the queue behind `last`. limits.warps: there is none. */
static unsigned int next_of(const struct coordinator *c, unsigned int queue,
			    const struct warp *last)
{
	unsigned int best = c->limits.warps;

	for (unsigned int i = 0; i < c->limits.warps; i++) {
		const struct warp *w = &c->warps[i];

		if (w->state == PENDING && before(last, w) && queue_of(c, w) == queue &&
		    (best == c->limits.warps || before(w, &c->warps[best])))
			best = i;
	}
	return best;
}

/*
 * Goes through one queue in its order. With `one` it stops at the first warp that gets through.
 * Returns whether a warp got through.
 */
static bool traverse(struct coordinator *c, unsigned int queue, bool force, bool one)
{
	struct warp last = { 0 };
	bool any = false;
	unsigned int i;

	while (!(any && one) && (i = next_of(c, queue, &last)) < c->limits.warps) {
		last = c->warps[i];
		if (!fits(c, i, force))
			continue;
		c->stats.forced += force;
		acquire(c, i, force);
		any = true;
	}
	return any;
}

/*
 * How many warps go on whatever becomes of the warps in the queues: they run, or they wait at a
 * barrier for others that run.
 */
static unsigned int go_on(const struct coordinator *c)
{
	unsigned int n = c->runnable;

	for (unsigned int i = 0; i < c->limits.warps; i++)
		n += c->warps[i].state == BARRIER && !c->waiting[c->warps[i].cta];
	return n;
}

/* The warp of the oldest CTA that has waited for LATE epochs. NULL: there is none. */
static struct warp *late(const struct coordinator *c)
{
	struct warp *first = NULL;
	uint64_t oldest = UINT64_MAX;

	for (unsigned int i = 0; i < c->limits.warps; i++)
		if (c->warps[i].state != ABSENT)
			oldest = MIN(oldest, c->warps[i].age);
	for (unsigned int i = 0; i < c->limits.warps; i++) {
		struct warp *w = &c->warps[i];

		if (w->state == PENDING && w->age == oldest && c->epochs - w->since >= LATE &&
		    (!first || before(w, first)))
			first = w;
	}
	return first;
}

void coord_run(struct coordinator *c)
{
	unsigned int queue = 3;
	struct warp *w;

	if (!c->pending)
		return;
	while (queue--)
		traverse(c, queue, false, false);
	while (c->pending && go_on(c) < c->limits.floor) {
		if (!traverse(c, 2, true, true) && !traverse(c, 1, true, true) &&
		    !traverse(c, 0, true, true))
			break;
	}
	w = c->pending && c->ended ? late(c) : NULL;
	c->ended = false;
	if (w && fits(c, (unsigned int)(w - c->warps), true)) {
		c->stats.forced++;
		acquire(c, (unsigned int)(w - c->warps), true);
	}
}
