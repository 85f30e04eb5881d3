// SPDX-License-Identifier: GPL-2.0
/*
 * How many CTAs an SM under Zorua takes beyond those that it has without (zorua.ctas=lack). The
 * paper takes what fits. It is tried here: when warps have lacked for some epochs, one CTA more
 * comes, and if the SM then issues so many more instructions an epoch (zorua.gain), it stays, and
 * twice as many are tried. Else the SM goes back to what it had, and waits before it tries again,
 * longer each time, also over the kernel's launches. Where resources are oversubscribed o_thresh
 * decides instead. A CTA is not taken back: it ends. Called by virtual.c at the end of each epoch.
 */
#include <string.h>

#include "sm/cta/virtual_state.h"

#define TRIAL		2u	/* epochs that a trial measures */
#define WAIT		8u	/* times zorua.proof: epochs to the second trial */

/*
 * Warps lack in an epoch in which, in a 32nd of the cycles and more often than the load/store unit
 * refused all that were ready, none was ready. They are too many where the unit refused them more
 * often than that, and in a quarter of the cycles: more would only share the caches with them.
 */
bool virtual_lacking(const struct virt *v, const struct idleness *epoch)
{
	uint64_t none = epoch->idle + epoch->mem - epoch->pipeline;

	return 32 * none > v->spec->zorua_epoch * v->spec->schedulers && none > epoch->pipeline;
}

static bool too_many(const struct virt *v, const struct idleness *epoch)
{
	uint64_t none = epoch->idle + epoch->mem - epoch->pipeline;

	return 4 * epoch->pipeline > v->spec->zorua_epoch * v->spec->schedulers &&
	       none < epoch->pipeline;
}

/* What is known of a kernel of this name from launches before; or a place for it. */
static struct verdict *verdict_of(struct virt *v, const char *kernel)
{
	struct verdict *d;

	for (unsigned int i = 0; i < ARRAY_SIZE(v->verdicts); i++)
		if (!strncmp(v->verdicts[i].kernel, kernel, sizeof(d->kernel) - 1))
			return &v->verdicts[i];
	d = &v->verdicts[v->next_verdict++ % ARRAY_SIZE(v->verdicts)];
	*d = (struct verdict){ .wait = WAIT * (unsigned int)v->spec->zorua_proof };
	strncpy(d->kernel, kernel, sizeof(d->kernel) - 1);
	return d;
}

void virtual_growth_begin(struct virt *v)
{
	v->growth = (struct growth){ .verdict = verdict_of(v, sm_kernel_name(v->kernel)) };
}

/*
 * What the SM has to issue in an epoch of the trial, times 100 and the CTAs that it had: as many
 * more CTAs would issue as many more instructions if nobody were in anybody's way.
 */
static bool worth(const struct virt *v, uint64_t issued)
{
	const struct growth *g = &v->growth;
	uint64_t had = sm_kernel_ctas(v->kernel) + g->kept, more = g->extra - g->kept;

	return issued * 100 * had >= g->rate * (100 * had + v->spec->zorua_gain * more);
}

static void try_more(struct virt *v)
{
	struct growth *g = &v->growth;

	g->extra = g->kept ? MIN(2 * g->kept, MAX_WARPS) : 1;
	g->measured = 0;
	g->sum = 0;
	sm_room_grown(v->sm);
}

/*
 * Some warps wait for a resource, or some of one is in swap: o_thresh decides how many warps go on,
 * from c_idle and c_mem, and CTAs that wait cost nothing.
 */
static bool oversubscribed(const struct virt *v)
{
	return coord_pending(v->c) || coord_swapped(v->c, COORD_THREADS) ||
	       coord_swapped(v->c, COORD_SCRATCHPAD) || coord_swapped(v->c, COORD_REGISTERS);
}

/* An epoch in which the CTAs on trial were there from its begin. */
static void measure(struct virt *v, uint64_t issued)
{
	struct growth *g = &v->growth;

	g->sum += issued;
	if (++g->measured < TRIAL)
		return;
	if (worth(v, g->sum / TRIAL)) {
		g->kept = g->extra;
		g->rate = g->sum / TRIAL;
		try_more(v);
		return;
	}
	g->extra = g->kept;
	g->verdict->hold = g->verdict->wait;
	g->verdict->wait = MIN(2 * g->verdict->wait, 1u << 20);
}

void virtual_growth(struct virt *v, const struct idleness *epoch, uint64_t issued)
{
	struct growth *g = &v->growth;
	bool many = too_many(v, epoch), here = g->here;
	bool trial = g->extra > g->kept;

	g->here = sm_resident_ctas(v->sm, NULL) > sm_kernel_ctas(v->kernel) + g->kept;
	if (many) {
		g->lacked = 0;
		g->extra = g->kept = 0;
		return;
	}
	g->lacked += virtual_lacking(v, epoch);
	if (trial && oversubscribed(v)) {
		g->kept = g->extra;
		try_more(v);
		return;
	}
	if (trial) {
		if (here)
			measure(v, issued);
		else
			sm_room_grown(v->sm);
		return;
	}
	if (g->extra)
		sm_room_grown(v->sm);
	/* What it issues with what it has: the mean of the last few epochs, the newest most. */
	g->rate = g->rate ? (g->rate + issued) / 2 : issued;
	if (g->verdict->hold)
		g->verdict->hold--;
	else if (g->lacked >= v->spec->zorua_proof)
		try_more(v);
}
