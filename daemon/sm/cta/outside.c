// SPDX-License-Identifier: GPL-2.0
/*
 * Thread oversubscription under Virtual Thread (BAUM: Kim et al., ASPLOS 2020; vt.oversubscribe):
 * CTAs beyond what registers and shared memory hold. They are outside: what they have in
 * registers and shared memory is in device memory. When one outside could go on and a CTA inside
 * waits for far faults, the two change places: the one is written, the other read, through L2 and
 * behind the program's accesses. A CTA that has not run yet has nothing to be read. One CTA moves
 * at a time. A CTA that is outside when its pages come is ready, and comes in with the next
 * change, or when a CTA ends.
 *
 * How many may be outside begins with one (BAUM). Each window of vt.early cycles it goes down by
 * one if more pages than in the last came back so soon after they had been evicted, and up by one,
 * vt.oversubscribe at most, if none did and the SM issued as much as before.
 */
#include "sm/cta/vt.h"

bool outside_room(const struct vt *v, const struct sm *sm, const struct sm_kernel *kernel)
{
	struct sm_needs needs = sm_kernel_needs(kernel);
	unsigned int warps, ctas;

	sm_sizes(sm, &warps, &ctas);
	/* Without a CTA inside none would ever make room. */
	return v->resident && v->out.ctas < v->out.degree &&
	       v->resident + v->out.ctas + 1 <= ctas &&
	       v->warps + v->out.warps + needs.warps <= warps;
}

/* --- the degree ----------------------------------------------------------------------- */

static void adapt(struct vt *v, struct sm *sm, uint64_t now)
{
	struct outside *o = &v->out;
	uint64_t issued = sm_stats(sm)->warp_instructions, done = issued - o->issued;

	if (now < o->window)
		return;
	if (o->window) {
		if (o->early > o->early_before && o->degree)
			o->degree--;
		else if (!o->early && done >= o->done_before &&
			 o->degree < v->spec->vt_oversubscribe) {
			o->degree++;
			sm_room_grown(sm);
		}
		o->early_before = o->early;
		o->done_before = done;
	}
	o->early = 0;
	o->issued = issued;
	o->window = now + v->spec->vt_early;
}

void outside_dropped(struct vt *v, uint64_t start, uint64_t end, uint64_t now)
{
	for (uint64_t page = start / PAGE_BYTES; page < DIV_ROUND_UP(end, PAGE_BYTES); page++)
		v->out.recent[page % RECENT] = (struct dropped_page){ page, now };
}

void outside_faulted(struct vt *v, uint64_t addr, uint64_t now)
{
	struct dropped_page *p = &v->out.recent[addr / PAGE_BYTES % RECENT];

	if (p->page != addr / PAGE_BYTES)
		return;
	v->out.early += now - p->cycle < v->spec->vt_early;
	/* Other accesses to it are of the same fault. */
	p->page = 0;
}

/* --- changes of places ---------------------------------------------------------------------- */

/* Inside and parked, an access of it waits for a far fault: the last that stalled waits longest. */
static struct vt_cta *waits_longest(struct vt *v, struct sm *sm, enum vt_state state)
{
	struct vt_cta *best = NULL;

	for (unsigned int i = 0; i < MAX_CTAS; i++) {
		struct vt_cta *c = &v->ctas[i];
		struct sm_cta_view view;

		if (c->state != state || (best && c->order < best->order))
			continue;
		sm_cta_look(sm, i, &view);
		if (view.faulted && (state == VT_AWAY || c->stalled))
			best = c;
	}
	return best;
}

struct vt_cta *outside_wants(struct vt *v, struct sm *sm)
{
	if (v->out.moving || waits_longest(v, sm, VT_AWAY))
		return NULL;
	return waits_longest(v, sm, VT_ACTIVE);
}

/* Moves registers and shared memory. False: nothing moves. */
static bool move(struct vt_cta *c, struct sm *sm, uint8_t kind, uint64_t now,
		 void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	struct sm_cta_view view;

	sm_cta_look(sm, c->number, &view);
	return !sm_move(sm, &(struct background_job){
		.way = BACKGROUND_L2, .kind = kind, .kernel = view.slot, .from = now + 1,
		.addr = view.memory, .bytes = view.memory_bytes, .done = done, .ctx = c,
	});
}

static void was_read(void *ctx, struct sm *sm, uint64_t now)
{
	struct vt_cta *c = ctx;

	c->vt->out.moving = false;
	vt_come(c, sm, now);
	outside_look(c->vt, sm, now);
}

/* The first that could go on comes in, if there is room. */
static bool come_in(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c = vt_first(v, VT_OUTSIDE_READY);

	if (!c || sm_admit(sm, c->number, now))
		return false;
	vt_count(c, true);
	/* One CTA fewer is outside. */
	sm_room_grown(sm);
	if (c->ran && move(c, sm, MEM_READ, now, was_read)) {
		v->out.moving = true;
		vt_set_state(c, VT_READING);
	} else {
		vt_come(c, sm, now);
	}
	return true;
}

static void was_written(void *ctx, struct sm *sm, uint64_t now)
{
	struct vt_cta *c = ctx;
	struct vt *v = c->vt;

	v->out.moving = false;
	sm_evict(sm, c->number, now);
	vt_count(c, false);
	c->ran = true;
	c->context = false;
	c->order = v->next++;
	vt_set_state(c, VT_OUTSIDE);
	/* The one that it makes room for is first: it has waited longer. */
	come_in(v, sm, now);
	if (c->came)
		vt_set_state(c, VT_OUTSIDE_READY);
	outside_look(v, sm, now);
}

void outside_look(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c;

	adapt(v, sm, now);
	while (v->out.ready && !v->out.moving) {
		if (come_in(v, sm, now))
			continue;
		c = waits_longest(v, sm, VT_AWAY);
		if (!c)
			return;
		c->came = false;
		vt_set_state(c, VT_WRITING);
		v->out.moving = move(c, sm, MEM_WRITE, now, was_written);
		if (!v->out.moving)
			vt_set_state(c, VT_AWAY);
		return;
	}
}
