// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs take turns. As many are on the SM as registers and shared memory hold; when some wait for
 * slots, each sm.timeslice cycles the one that has been active longest is parked, and the one
 * that has waited longest of those that are ready comes in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/cta/rows.h"

#define MAX_CTAS	256u

struct timeslice {
	uint64_t slice;
	bool armed;			/* the timer runs */
	bool active[MAX_CTAS], waiting[MAX_CTAS];
	uint64_t order[MAX_CTAS];	/* of becoming active, or of beginning to wait */
	uint64_t next;
};

static int timeslice_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state)
{
	struct timeslice *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->slice = spec->timeslice;
	*state = t;
	return 0;
}

static void timeslice_reset(void *state)
{
	struct timeslice *t = state;

	*t = (struct timeslice){ .slice = t->slice };
}

/* The CTA of the set with the lowest order; MAX_CTAS: the set is empty. */
static unsigned int first(const struct timeslice *t, const bool *set)
{
	unsigned int best = MAX_CTAS;

	for (unsigned int c = 0; c < MAX_CTAS; c++) {
		if (set[c] && (best == MAX_CTAS || t->order[c] < t->order[best]))
			best = c;
	}
	return best;
}

/* Gives free slots to the CTAs that wait, in their order. If some still wait, a slice begins. */
static void fill(struct timeslice *t, struct sm *sm, uint64_t now)
{
	unsigned int c;

	while ((c = first(t, t->waiting)) < MAX_CTAS) {
		if (!sm_restore(sm, c, 0, now))
			continue;
		if (!t->armed)
			sm_timer(sm, now + t->slice);
		t->armed = true;
		return;
	}
}

static void timeslice_wait(struct timeslice *t, struct sm *sm, unsigned int cta, uint64_t now)
{
	t->waiting[cta] = true;
	t->order[cta] = t->next++;
	fill(t, sm, now);
}

static bool timeslice_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_fits(sm, kernel);
}

static void timeslice_admitted(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct sm_cta_view view;

	sm_cta_look(sm, cta, &view);
	if (view.state != SM_CTA_ACTIVE)
		timeslice_wait(state, sm, cta, now);
}

static void timeslice_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct timeslice *t = state;

	t->waiting[cta] = false;
	t->active[cta] = true;
	t->order[cta] = t->next++;
}

static void timeslice_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	fill(state, sm, now);
}

static void timeslice_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	timeslice_wait(state, sm, cta, now);
}

static void timeslice_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct timeslice *t = state;

	t->active[cta] = false;
	fill(t, sm, now);
}

static void timeslice_timer(void *state, struct sm *sm, uint64_t now)
{
	struct timeslice *t = state;
	unsigned int c;

	t->armed = false;
	if (first(t, t->waiting) == MAX_CTAS)
		return;
	/* A CTA whose warps have all exited holds its slots until its stores are acknowledged. */
	while ((c = first(t, t->active)) < MAX_CTAS) {
		t->active[c] = false;
		if (!sm_park(sm, c, 0, now))
			break;
	}
	fill(t, sm, now);
}

const struct sm_mechanism mechanism_timeslice = {
	.name = "timeslice",
	.help = "CTAs up to registers and shared memory; those that have slots change every sm.timeslice cycles",
	.warps = 256,
	.ctas = 256,
	.create = timeslice_create,
	.destroy = free,
	.reset = timeslice_reset,
	.has_room = timeslice_has_room,
	.cta_admitted = timeslice_admitted,
	.cta_started = timeslice_started,
	.cta_parked = timeslice_parked,
	.cta_ready = timeslice_ready,
	.cta_ended = timeslice_ended,
	.timer = timeslice_timer,
};
