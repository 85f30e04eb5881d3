// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual Thread (Yoon et al., ISCA 2016, sections III and IV): CTAs up to what registers and
 * shared memory hold, in as many slots as there are. A CTA whose warps have all stalled makes
 * room for one that is ready, first ready, first served.
 *
 * A swap (section IV-A and IV-C): the context of the CTA that leaves goes to a
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
#include "sm/cta/vt.h"

/* Equation 1: bits of a virtual warp's number, of a CTA's three indices, of an entry of the stack. */
#define VWI_BITS	8u
#define CTA_BITS	96u
#define ENTRY_BITS	160u
#define ENTRIES		4u

/* The bytes of a CTA's context by equation 1, rounded up; the CTA has so many warps. */
static uint32_t vt_context_bytes(const struct gpu_spec *spec, uint32_t warps)
{
	uint32_t bits = VWI_BITS + CTA_BITS + ENTRY_BITS * ENTRIES * warps;

	/* log2 of the CTA's warps, rounded up. */
	bits += warps > 1 ? 32 - (uint32_t)__builtin_clz(warps - 1) : 0;
	return (uint32_t)(DIV_ROUND_UP(bits, 8u) * spec->vt_context);
}

static int vt_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state)
{
	struct vt *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->spec = spec;
	if (spec->vt_oversubscribe) {
		v->out.recent = calloc(RECENT, sizeof(*v->out.recent));
		if (!v->out.recent) {
			free(v);
			return -ENOMEM;
		}
		v->out.degree = 1;
	}
	*state = v;
	return 0;
}

static void vt_destroy(void *state)
{
	struct vt *v = state;

	free(v->out.recent);
	free(v);
}

static void vt_reset(void *state)
{
	struct vt *v = state;
	struct dropped_page *recent = v->out.recent;

	if (recent)
		memset(recent, 0, RECENT * sizeof(*recent));
	*v = (struct vt){
		.spec = v->spec, .out = { .recent = recent, .degree = recent ? 1 : 0 },
	};
}

int vt_check(const struct gpu_spec *spec, struct err *err)
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

unsigned int vt_stall_on(const struct gpu_spec *spec)
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

/* --- who swaps ------------------------------------------------------------------------ */

void vt_set_state(struct vt_cta *c, enum vt_state state)
{
	struct vt *v = c->vt;

	v->ready += (state == VT_READY) - (c->state == VT_READY);
	v->leaving += (state == VT_LEAVING) - (c->state == VT_LEAVING);
	v->out.ready += (state == VT_OUTSIDE_READY) - (c->state == VT_OUTSIDE_READY);
	c->state = (uint8_t)state;
}

struct vt_cta *vt_first(struct vt *v, enum vt_state state)
{
	struct vt_cta *best = NULL;

	for (unsigned int i = 0; i < v->top; i++) {
		struct vt_cta *c = &v->ctas[i];

		if (c->state == state && (!best || c->order < best->order))
			best = c;
	}
	return best;
}

/* The next CTA to leave: one that has exited, else the first that stalled, if the buffer is empty. */
static struct vt_cta *first_idle(struct vt *v)
{
	struct vt_cta *best = NULL;

	for (unsigned int i = 0; i < v->top; i++) {
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
		.bytes = vt_context_bytes(v->spec, c->warps),
		.width = (uint32_t)v->spec->vt_bits / 8, .done = done, .ctx = c,
	};

	return v->spec->vt_bits && !sm_move(sm, &job);
}

static void bring(struct vt *v, struct sm *sm, uint64_t now);

static bool come_in(struct sm *sm, struct vt_cta *c, uint64_t now)
{
	/* A CTA that was launched meanwhile may have taken the slots: it waits on, and first. */
	vt_set_state(c, VT_READY);
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

/* CTAs that are ready get free slots, one after the other. */
static void bring(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c;

	while (!v->coming && v->ready && (c = vt_first(v, VT_READY))) {
		if (!sm_fits_slots(sm, sm_cta_kernel(sm, c->number)))
			return;
		if (c->context && move(v, sm, c, MEM_READ, now, context_read)) {
			vt_set_state(c, VT_COMING);
			v->coming = true;
			return;
		}
		if (!come_in(sm, c, now))
			return;
	}
}

static void leave(struct sm *sm, struct vt_cta *c, uint64_t now)
{
	c->stalled = false;
	if (sm_park(sm, c->number, 0, now)) {
		/* The CTA has ended in this cycle, and vt.c is told later: it must not ask this CTA again. */
		c->exited = false;
		return;
	}
	vt_set_state(c, VT_LEAVING);
	if (!c->exited)
		c->vt->saving = c->context = c->vt->spec->vt_bits;
}

/* As many CTAs leave as are ready to come, or one for a CTA that is outside. */
static void swap(struct vt *v, struct sm *sm, uint64_t now)
{
	struct vt_cta *c;

	bring(v, sm, now);
	while (v->leaving < v->ready && (c = first_idle(v)))
		leave(sm, c, now);
	if (v->out.ready && !v->leaving && !v->saving && (c = outside_wants(v, sm)))
		leave(sm, c, now);
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
static bool room_inside(const struct vt *v, const struct sm *sm, const struct sm_kernel *kernel)
{
	struct sm_needs needs = sm_kernel_needs(kernel);

	if (!sm_fits(sm, kernel))
		return false;
	if (v->resident + 1 <= v->spec->ctas && v->warps + needs.warps <= v->spec->warps &&
	    !v->out.recent)
		return true;
	return v->shared + needs.shared_bytes + v->contexts +
	       vt_context_bytes(v->spec, needs.warps) <= v->spec->shared_bytes;
}

static bool vt_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	const struct vt *v = state;

	return room_inside(v, sm, kernel) || (v->out.recent && outside_room(v, sm, kernel));
}

static bool vt_outside(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	const struct vt *v = state;

	return v->out.recent && !room_inside(v, sm, kernel);
}

void vt_count(struct vt_cta *c, bool inside)
{
	struct vt *v = c->vt;
	int n = inside ? 1 : -1;

	v->resident += (uint32_t)n;
	v->warps += (uint32_t)n * c->warps;
	v->shared += (uint32_t)n * c->shared;
	v->contexts += (uint64_t)(n * (int64_t)vt_context_bytes(v->spec, c->warps));
	v->out.ctas -= (unsigned int)n;
	v->out.warps -= (uint32_t)n * c->warps;
}

void vt_come(struct vt_cta *c, struct sm *sm, uint64_t now)
{
	c->order = c->vt->next++;
	vt_set_state(c, VT_READY);
	swap(c->vt, sm, now);
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
	v->top = MAX(v->top, cta + 1);
	v->out.ctas++;
	v->out.warps += c->warps;
	if (!view.outside)
		vt_count(c, true);
	if (view.state == SM_CTA_ACTIVE)
		return;
	if (!view.outside) {
		vt_come(c, sm, now);
		return;
	}
	c->order = v->next++;
	vt_set_state(c, VT_OUTSIDE_READY);
	outside_look(v, sm, now);
	swap(v, sm, now);
}

static void vt_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;

	vt_set_state(&v->ctas[cta], VT_ACTIVE);
	v->ctas[cta].stalled = false;
}

static void vt_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	vt_count(c, false);
	v->out.ctas--;
	v->out.warps -= c->warps;
	vt_set_state(c, VT_NONE);
	bring(v, sm, now);
	if (v->out.recent)
		outside_look(v, sm, now);
}

static void vt_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	vt_set_state(c, c->exited ? VT_OVER : VT_AWAY);
	bring(v, sm, now);
	if (!c->exited && !move(v, sm, c, MEM_WRITE, now, context_written))
		v->saving = false;
	if (v->out.recent)
		outside_look(v, sm, now);
}

static void vt_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct vt *v = state;
	struct vt_cta *c = &v->ctas[cta];

	if (c->state == VT_WRITING) {
		c->came = true;
	} else if (c->state == VT_OUTSIDE) {
		c->order = v->next++;
		vt_set_state(c, VT_OUTSIDE_READY);
		outside_look(v, sm, now);
		swap(v, sm, now);
	} else {
		vt_come(c, sm, now);
	}
}

static void vt_exited(void *state, struct sm *sm, unsigned int warp, uint64_t now)
{
	struct vt *v = state;
	unsigned int cta = sm_warp_cta(sm, warp);

	if (sm_cta_runs(sm, cta))
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

static void vt_pages_dropped(void *state, uint64_t start, uint64_t end, uint64_t now)
{
	struct vt *v = state;

	if (v->out.recent)
		outside_dropped(v, start, end, now);
}

static void vt_page_faulted(void *state, struct sm *sm, uint64_t page, uint64_t now)
{
	struct vt *v = state;

	if (!v->out.recent)
		return;
	outside_faulted(v, page, now);
	/* The warp's CTA may have stalled before: the timer has it looked at when the cycle ends. */
	sm_timer(sm, now);
}

static void vt_timer(void *state, struct sm *sm, uint64_t now)
{
	outside_look(state, sm, now);
	swap(state, sm, now);
}

/* --- the table's counters against a recount -------------------------------------------- */

/* Does the CTA's state agree with where the SM has it? */
static bool state_fits(const struct vt_cta *c, const struct sm_cta_view *view)
{
	switch ((enum vt_state)c->state) {
	case VT_ACTIVE:
		/* A CTA counts as stalled while as many of its warps are stalled as run. */
		return (view->state == SM_CTA_ACTIVE || view->state == SM_CTA_RESTORING) &&
		       !view->outside && (!c->stalled || view->stalled == view->running);
	case VT_LEAVING:
		return view->state == SM_CTA_PARKING && !view->outside;
	case VT_OUTSIDE:
	case VT_OUTSIDE_READY:
		return view->state == SM_CTA_PARKED && view->outside;
	default:
		return view->state == SM_CTA_PARKED && !view->outside;
	}
}

static bool same_counts(const struct vt *v, const struct vt *counted)
{
	return v->leaving == counted->leaving && v->ready == counted->ready &&
	       v->resident == counted->resident && v->warps == counted->warps &&
	       v->shared == counted->shared && v->contexts == counted->contexts &&
	       v->out.ready == counted->out.ready && v->out.ctas == counted->out.ctas &&
	       v->out.warps == counted->out.warps;
}

/* Changes nothing. mechanism.c asks at the end of each cycle, where tests run. */
static bool vt_sound(void *state, const struct sm *sm)
{
	const struct vt *v = state;
	struct vt counted = { .resident = 0 };
	unsigned int ctas = 0;
	bool fits = true;

	for (unsigned int i = 0; i < MAX_CTAS; i++) {
		const struct vt_cta *c = &v->ctas[i];
		struct sm_cta_view view;

		if (c->state == VT_NONE)
			continue;
		ctas++;
		sm_cta_look(sm, i, &view);
		fits = fits && state_fits(c, &view);
		counted.leaving += c->state == VT_LEAVING;
		counted.ready += c->state == VT_READY;
		counted.out.ready += c->state == VT_OUTSIDE_READY;
		if (view.outside) {
			counted.out.ctas++;
			counted.out.warps += c->warps;
			continue;
		}
		counted.resident++;
		counted.warps += c->warps;
		counted.shared += c->shared;
		counted.contexts += vt_context_bytes(v->spec, c->warps);
	}
	return fits && same_counts(v, &counted) && ctas == sm_resident_ctas(sm, NULL);
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
	.destroy = vt_destroy,
	.reset = vt_reset,
	.sound = vt_sound,
	.has_room = vt_has_room,
	.outside = vt_outside,
	.pages_dropped = vt_pages_dropped,
	.page_faulted = vt_page_faulted,
	.timer = vt_timer,
	.cta_admitted = vt_admitted,
	.cta_started = vt_started,
	.cta_ended = vt_ended,
	.cta_parked = vt_parked,
	.cta_ready = vt_ready,
	.cta_stalled = vt_stalled,
	.cta_resumed = vt_resumed,
	.warp_exited = vt_exited,
};
