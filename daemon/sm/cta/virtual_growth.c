// SPDX-License-Identifier: GPL-2.0
/*
 * How many CTAs run on an SM under Zorua beyond those whose specification it has room for
 * (zorua.ctas=lack). The paper takes what fits. It is tried here: when warps have lacked for some
 * epochs, one CTA more comes, and if the SM then issues so many more instructions an epoch
 * (zorua.gain), it is kept, and twice as many are tried. Else the SM goes back to what it had, and
 * waits before it tries again, longer each time, also over the kernel's launches. Every second
 * trial is of fewer CTAs than are kept. What is too many is held (virtual_hold.c). An SM takes no
 * more than its share of the CTAs that wait (virtual_growth_ctas()). Where resources are
 * oversubscribed o_thresh decides instead. Called by virtual.c at the end of each epoch.
 */
#include <string.h>

#include "sm/cta/virtual_state.h"

#define TRIAL		2u	/* epochs that a trial measures */
#define WAIT		8u	/* times zorua.proof: epochs to the second trial */
#define STARVED		64u	/* epochs that warps are held, the first time */
#define RELIEF		2u	/* epochs that they go on then */
#define DOUBLED		20u	/* times at most */

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

unsigned int virtual_specified(const struct virt *v, const struct sm_kernel *kernel)
{
	unsigned int by_slots = (unsigned int)v->spec->warps / sm_kernel_needs(kernel).warps;

	return MAX(sm_kernel_ctas(kernel), MIN(sm_kernel_places(kernel), by_slots));
}

static bool too_many(const struct virt *v, const struct idleness *epoch)
{
	uint64_t none = epoch->idle + epoch->mem - epoch->pipeline;

	return 4 * epoch->pipeline > v->spec->zorua_epoch * v->spec->schedulers &&
	       none < epoch->pipeline;
}

/* Finds what earlier launches have shown of a kernel of this name, or a place for that. */
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
 * Are `more` CTAs, with which the SM issues `gained` instructions an epoch, worth it, when it
 * issues `rate` with the few? As many more CTAs would issue as many more instructions if nobody
 * were in anybody's way.
 */
static bool worth(const struct virt *v, unsigned int few, uint64_t rate, unsigned int more,
		  uint64_t gained)
{
	uint64_t had = virtual_specified(v, v->kernel) + few;

	return gained * 100 * had >= rate * (100 * had + v->spec->zorua_gain * (more - few));
}

/* Lets so many CTAs more (or fewer) than are kept run from now on. */
static void try_ctas(struct virt *v, unsigned int extra)
{
	struct growth *g = &v->growth;

	g->extra = extra;
	g->here = false;
	g->measured = 0;
	g->sum = 0;
}

static void try_more(struct virt *v)
{
	try_ctas(v, v->growth.kept ? MIN(2 * v->growth.kept, MAX_WARPS) : 1);
}

/* Are there more CTAs than these? */
static bool beyond(const struct virt *v, unsigned int extra)
{
	return sm_resident_ctas(v->sm, NULL) > virtual_specified(v, v->kernel) + extra;
}

static bool swapped(const struct virt *v)
{
	return coord_swapped(v->c, COORD_THREADS) || coord_swapped(v->c, COORD_SCRATCHPAD) ||
	       coord_swapped(v->c, COORD_REGISTERS);
}

/*
 * Some warps wait for a resource, or some of one is in swap: o_thresh decides how many warps go on,
 * from c_idle and c_mem.
 */
static bool oversubscribed(const struct virt *v)
{
	return coord_pending(v->c) || swapped(v);
}

static void settle(struct growth *g)
{
	g->extra = g->kept;
	g->verdict->hold = g->verdict->wait;
	g->verdict->wait = MIN(2 * g->verdict->wait, 1u << 20);
}

/* Counts an epoch that had the trial's CTAs from its begin. */
static void measure(struct virt *v, uint64_t issued)
{
	struct growth *g = &v->growth;
	bool more = g->extra > g->kept;
	uint64_t rate;

	g->sum += issued;
	if (++g->measured < TRIAL)
		return;
	rate = g->sum / TRIAL;
	g->look_back = more;
	if (more ? !worth(v, g->kept, g->rate, g->extra, rate) :
		   worth(v, g->extra, rate, g->kept, g->rate)) {
		settle(g);
		return;
	}
	g->kept = g->extra;
	g->rate = rate;
	if (more)
		try_more(v);
	else if (g->kept)
		try_ctas(v, g->kept / 2);
	else
		settle(g);
}

/* Is there a trial in this epoch? */
static bool trial(struct virt *v, bool here, uint64_t issued)
{
	struct growth *g = &v->growth;

	if (g->extra == g->kept)
		return false;
	if (oversubscribed(v)) {
		g->kept = MAX(g->kept, g->extra);
		try_more(v);
	} else if (!g->here) {
		/* No CTA came: there are no more, or no numbers for them. */
		g->look_back = g->extra > g->kept;
		g->extra = g->kept;
	} else if (here) {
		measure(v, issued);
	}
	return true;
}

void virtual_growth(struct virt *v, const struct idleness *epoch, uint64_t issued)
{
	struct growth *g = &v->growth;
	bool many = too_many(v, epoch), here = g->here;

	g->here = beyond(v, MIN(g->kept, g->extra));
	if (many) {
		g->lacked = 0;
		/* mst's kernels want more CTAs soon after that, so the wait grows no longer. */
		if (g->extra > g->kept)
			g->verdict->hold = g->verdict->wait;
		g->extra = g->kept = 0;
		return;
	}
	g->lacked += virtual_lacking(v, epoch);
	if (trial(v, here, issued))
		return;
	/* The rate is a mean of the last few epochs, in which the newest counts most. */
	g->rate = g->rate ? (g->rate + issued) / 2 : issued;
	if (g->verdict->hold)
		g->verdict->hold--;
	else if (g->look_back && g->kept && beyond(v, g->kept / 2))
		try_ctas(v, g->kept / 2);
	else if (g->lacked >= v->spec->zorua_proof)
		try_more(v);
}

/*
 * A held CTA may have what others wait for (a lock), so all warps go on at times. Each time they
 * drive each other's lines out of the caches, so the next time comes after twice as long and lasts
 * twice as long. An epoch in which nobody is held, such as a trial's, begins that anew.
 */
static bool relieved(struct growth *g, bool held)
{
	if (!held && !g->relieved) {
		g->turn = g->doubled = 0;
		return false;
	}
	if (++g->turn < (g->relieved ? RELIEF : STARVED) << g->doubled)
		return g->relieved;
	g->turn = 0;
	if (g->relieved)
		g->doubled = MIN(g->doubled + 1, DOUBLED);
	g->relieved = !g->relieved;
	return g->relieved;
}

unsigned int virtual_growth_runs(struct virt *v)
{
	struct growth *g = &v->growth;

	if (!beyond(v, g->extra)) {
		g->relieved = false;
		g->turn = g->doubled = 0;
		return UINT32_MAX;
	}
	if (relieved(g, v->held))
		return UINT32_MAX;
	return (virtual_specified(v, v->kernel) + g->extra) * sm_kernel_needs(v->kernel).warps;
}

unsigned int virtual_growth_ctas(const struct virt *v, const struct sm_kernel *kernel)
{
	uint64_t share = sm_kernel_waiting(kernel) / v->spec->sms;

	return virtual_specified(v, kernel) +
	       (swapped(v) ? v->growth.extra : (unsigned int)MIN(share, v->growth.extra));
}
