// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual Thread (Yoon et al., ISCA 2016, sections III and IV): CTAs up to what registers and
 * shared memory hold, in as many slots as there are. A CTA whose warps have all stalled makes
 * room for one that is ready, first ready, first served.
 *
 * What a swap takes (section IV-A and IV-C): the context of the CTA that leaves goes to a
 * temporary buffer, with its instructions still in the pipelines; the one that comes is read from
 * shared memory, by equations 1 and 2; then the buffer is written there. Both go behind the
 * program's accesses. The buffer holds one context, and one context is read at a time. A CTA that
 * comes for the first time has no context. One whose warps have all exited needs none: it gives
 * up its slots while its stores are under way.
 *
 * The virtual thread controller's tracking counter is the SM's own view of a CTA: how many of
 * its warps are stalled while it is active, how many results are on their way while it is not.
 * The paper's two load queues, which put loads of active CTAs first, are sm.mem_order=vt.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/cta/rows.h"

#define MAX_CTAS	256u

/* Equation 1: bits of a virtual warp's number, of a CTA's three indices, of an entry of the stack. */
#define VWI_BITS	8u
#define CTA_BITS	96u
#define ENTRY_BITS	160u
#define ENTRIES		4u

enum vt_state {
	VT_NONE,
	VT_ACTIVE,
	VT_LEAVING,		/* is being parked */
	VT_AWAY,		/* parked, and waits for results */
	VT_READY,
	VT_COMING,		/* its context is being read */
	VT_OVER,		/* parked, all warps have exited: it ends so */
};

struct vt;

/* One CTA of the status table; also what a background job is told to. */
struct vt_cta {
	struct vt *vt;
	uint8_t number, state;		/* enum vt_state */
	bool stalled;			/* active: all its warps are */
	bool exited;			/* all its warps have */
	bool context;			/* it has one in shared memory: it ran before */
	uint64_t order;			/* of stalling, or of becoming ready */
	uint32_t warps, shared;		/* that it takes */
};

struct vt {
	const struct gpu_spec *spec;
	struct vt_cta ctas[MAX_CTAS];
	uint64_t next;			/* order of the next */
	unsigned int leaving, ready;	/* CTAs */
	bool coming;			/* a context is being read */
	bool saving;			/* the buffer holds a context, or will */
	uint32_t resident, warps, shared; /* of all CTAs on the SM */
	uint64_t contexts;		/* bytes of them, if all were parked */
};

static int vt_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state)
{
	struct vt *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->spec = spec;
	*state = v;
	return 0;
}

static void vt_reset(void *state)
{
	struct vt *v = state;

	*v = (struct vt){ .spec = v->spec };
}

static int vt_check(const struct gpu_spec *spec, struct err *err)
{
	if (strcmp(spec->vt_swap_on, "memory") && strcmp(spec->vt_swap_on, "fault") &&
	    strcmp(spec->vt_swap_on, "both"))
		return err_set(err, -EINVAL,
			       "vt.swap_on: '%s'; there are: memory, fault, both", spec->vt_swap_on);
	if (strcmp(spec->vt_long, "load") && strcmp(spec->vt_long, "miss"))
		return err_set(err, -EINVAL, "vt.long: '%s'; there are: load, miss", spec->vt_long);
	if (strcmp(spec->vt_barrier, "stalled") && strcmp(spec->vt_barrier, "ignored"))
		return err_set(err, -EINVAL, "vt.barrier: '%s'; there are: stalled, ignored",
			       spec->vt_barrier);
	return 0;
}

static unsigned int vt_stall_on(const struct gpu_spec *spec)
{
	unsigned int on = 0;

	if (strcmp(spec->vt_swap_on, "fault"))
		on |= SM_WAIT_MEMORY;
	if (strcmp(spec->vt_swap_on, "memory"))
		on |= SM_WAIT_FAULT;
	if (!strcmp(spec->vt_barrier, "stalled"))
		on |= SM_WAIT_BARRIER;
	if (!strcmp(spec->vt_long, "miss"))
		on |= SM_WAIT_MISS;
	return on;
}

/* Equation 1, in whole bytes. */
static uint32_t context_bytes(const struct gpu_spec *spec, uint32_t warps)
{
	uint32_t bits = VWI_BITS + CTA_BITS + ENTRY_BITS * ENTRIES * warps;

	/* log2 of the CTA's warps, rounded up. */
	bits += warps > 1 ? 32 - (uint32_t)__builtin_clz(warps - 1) : 0;
	return (uint32_t)(DIV_ROUND_UP(bits, 8u) * spec->vt_context);
}

/* --- who swaps ------------------------------------------------------------------------ */

static void set_state(struct vt_cta *c, enum vt_state state)
{
	c->vt->ready += (state == VT_READY) - (c->state == VT_READY);
	c->vt->leaving += (state == VT_LEAVING) - (c->state == VT_LEAVING);
	c->state = (uint8_t)state;
}

/* The first that became ready; NULL: there is none. */
static struct vt_cta *first_ready(struct vt *v)
{
	struct vt_cta *best = NULL;

	for (unsigned int i = 0; v->ready && i < MAX_CTAS; i++) {
		struct vt_cta *c = &v->ctas[i];

		if (c->state == VT_READY && (!best || c->order < best->order))
			best = c;
	}
	return best;
}

/* Who leaves next: one that has exited, else the first that stalled, if the buffer is empty. */
static struct vt_cta *first_idle(struct vt *v)
{
	struct vt_cta *best = NULL;

	for (unsigned int i = 0; i < MAX_CTAS; i++) {
		struct vt_cta *c = &v->ctas[i];

		if (c->state != VT_ACTIVE)
			continue;
		if (c->exited)
			return c;
		if (c->stalled && !v->saving && (!best || c->order < best->order))
			best = c;
	}
	return best;
}

/* Moves a CTA's context through the port of shared memory. False: it takes no time, or no memory. */
static bool move(struct vt *v, struct sm *sm, struct vt_cta *c, uint8_t kind, uint64_t now,
		 void (*done)(void *ctx, struct sm *sm, uint64_t now))
{
	const struct background_job job = {
		.way = BACKGROUND_SHARED, .kind = kind, .from = now + 1,
		.bytes = context_bytes(v->spec, c->warps),
		.width = (uint32_t)v->spec->vt_bits / 8, .done = done, .ctx = c,
	};

	return v->spec->vt_bits && !sm_move(sm, &job);
}

static void bring(struct vt *v, struct sm *sm, uint64_t now);

static bool come_in(struct sm *sm, struct vt_cta *c, uint64_t now)
{
	/* A CTA that was launched meanwhile may have taken the slots: it waits on, and first. */
	set_state(c, VT_READY);
	c->context = false;
	return !sm_restore(sm, c->number, 0, now);
}

static void context_read(void *ctx, struct sm *sm, uint64_t now)
{
	struct vt_cta *c = ctx;

	c->vt->coming = false;
	if (come_in(sm, c, now))
		bring(c->vt, sm, now);
}

/* Who is ready comes into slots that are free, one after the other. */
static void bring(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c;

	while (!v->coming && (c = first_ready(v))) {
		struct sm_cta_view view;

		sm_cta_look(sm, c->number, &view);
		if (!sm_fits_slots(sm, view.kernel))
			return;
		if (c->context && move(v, sm, c, MEM_READ, now, context_read)) {
			set_state(c, VT_COMING);
			v->coming = true;
			return;
		}
		if (!come_in(sm, c, now))
			return;
	}
}

/* As many CTAs leave as are ready to come. */
static void swap(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c;

	bring(v, sm, now);
	while (v->leaving < v->ready && (c = first_idle(v))) {
		c->stalled = false;
		if (sm_park(sm, c->number, 0, now))
			continue;
		set_state(c, VT_LEAVING);
		if (!c->exited)
			v->saving = c->context = v->spec->vt_bits;
	}
}

static void context_written(void *ctx, struct sm *sm, uint64_t now)
{
	struct vt_cta *c = ctx;

	c->vt->saving = false;
	swap(c->vt, sm, now);
}

/* --- events -------------------------------------------------------------------------------- */

/*
 * Registers and shared memory are free; shared memory also for the contexts of all, unless all
 * have slots.
 */
static bool vt_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	const struct vt *v = state;
	struct sm_needs needs = sm_kernel_needs(kernel);

	if (!sm_fits(sm, kernel))
		return false;
	if (v->resident + 1 <= v->spec->ctas && v->warps + needs.warps <= v->spec->warps)
		return true;
	return v->shared + needs.shared_bytes + v->contexts +
	       context_bytes(v->spec, needs.warps) <= v->spec->shared_bytes;
}

static void vt_admitted(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];
	struct sm_needs needs;
	struct sm_cta_view view;

	sm_cta_look(sm, cta, &view);
	needs = sm_kernel_needs(view.kernel);
	*c = (struct vt_cta){
		.vt = v, .number = (uint8_t)cta, .state = VT_ACTIVE,
		.warps = needs.warps, .shared = needs.shared_bytes,
	};
	v->resident++;
	v->warps += c->warps;
	v->shared += c->shared;
	v->contexts += context_bytes(v->spec, c->warps);
	if (view.state == SM_CTA_ACTIVE)
		return;
	set_state(c, VT_READY);
	c->order = v->next++;
	swap(v, sm, now);
}

static void vt_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;

	set_state(&v->ctas[cta], VT_ACTIVE);
	v->ctas[cta].stalled = false;
}

static void vt_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	v->resident--;
	v->warps -= c->warps;
	v->shared -= c->shared;
	v->contexts -= context_bytes(v->spec, c->warps);
	set_state(c, VT_NONE);
	bring(v, sm, now);
}

static void vt_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	set_state(c, c->exited ? VT_OVER : VT_AWAY);
	bring(v, sm, now);
	if (!c->exited && !move(v, sm, c, MEM_WRITE, now, context_written))
		v->saving = false;
}

static void vt_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	c->order = v->next++;
	set_state(c, VT_READY);
	swap(v, sm, now);
}

static void vt_exited(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct vt *v = state;
	unsigned int cta = sm_warp_cta(sm, warp);
	struct sm_cta_view view;

	sm_cta_look(sm, cta, &view);
	if (view.running)
		return;
	v->ctas[cta].exited = true;
	swap(v, sm, now);
}

static void vt_stalled(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;

	v->ctas[cta].stalled = true;
	v->ctas[cta].order = v->next++;
	swap(v, sm, now);
}

static void vt_resumed(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;

	v->ctas[cta].stalled = false;
}

const struct sm_mechanism mechanism_vt = {
	.name = "vt",
	.help = "Virtual Thread: CTAs up to registers and shared memory; one whose warps have all stalled makes room",
	.warps = 256,
	.ctas = 256,
	.leaves_pipelines = true,
	.check = vt_check,
	.stall_on = vt_stall_on,
	.create = vt_create,
	.destroy = free,
	.reset = vt_reset,
	.has_room = vt_has_room,
	.cta_admitted = vt_admitted,
	.cta_started = vt_started,
	.cta_ended = vt_ended,
	.cta_parked = vt_parked,
	.cta_ready = vt_ready,
	.cta_stalled = vt_stalled,
	.cta_resumed = vt_resumed,
	.warp_exited = vt_exited,
};
