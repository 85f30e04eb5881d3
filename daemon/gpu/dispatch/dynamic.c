// SPDX-License-Identifier: GPL-2.0
/*
 * Warped-Slicer (Xu et al., ISCA 2016, section IV). When kernels come to run together, they are
 * sampled (sampling.c), each round of counts behind a warm-up. From then on every SM holds as many
 * CTAs of each as water-filling says (partitioning.c). A kernel that would lose too much makes all
 * fall back on spatial. CTAs that run stay where they are: a layout is reached as they end.
 *
 * This file decides when. Samples are of SMs that one kernel has to itself: while CTAs of another
 * are there yet, sampling is put off, but not for ever. A kernel whose pages arrive is sampled
 * when they have come (slicer.faults). Until then it counts as one to which each CTA brings as
 * much as the one before, so that its faults come from many CTAs at a time. So it is from launch to
 * launch, its own and the others', as long as the same programs run. A kernel whose IPC changes for
 * as long as two samples is sampled anew; its SMs are its own then, and so others are held back.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "gpu/dispatch.h"
#include "gpu/dispatch/partitioning.h"
#include "gpu/dispatch/profiles.h"
#include "gpu/dispatch/sampling.h"

/* Samples that a CTA of somebody else can put off. */
#define PATIENCE	16u

enum phase { ALONE, WARM_UP, SAMPLE, DELAY, SHARED, SPLIT };

/* A kernel that runs, by slot, since the partition. */
struct watched {
	unsigned int ctas;		/* SHARED: that every SM may hold */
	/* Instructions when it was looked at last, its IPC then, and how often it was off. */
	uint64_t issued, faulted;
	double ipc;
	unsigned int looks, off;
};

struct dynamic {
	enum phase phase;
	uint64_t due;			/* when the phase ends, or is looked at; NEVER */
	unsigned int put_off;
	bool moved;			/* kernels have come or gone in this cycle */
	bool extended;			/* the sample has been made longer */
	/* The streams of the kernels that ran before they did. */
	uint32_t streams[SM_KERNELS];
	unsigned int nstreams;
	struct watched watched[SM_KERNELS];
	/* CTAs that every SM may hold, by the programs' places; laid_out: of these programs. */
	unsigned int shares[SM_KERNELS];
	bool laid_out;
	struct sampling sampling;
	struct profiles *profiles;
	struct partitions *partitions;
};

static void dynamic_destroy(void *state)
{
	struct dynamic *y = state;

	profiles_destroy(y->profiles);
	partitions_destroy(y->partitions);
	sampling_destroy(&y->sampling);
	free(y);
}

static int dynamic_create(const struct dispatch *d, void **state)
{
	struct dynamic *y = calloc(1, sizeof(*y));

	if (!y)
		return -ENOMEM;
	y->due = NEVER;
	y->profiles = profiles_create();
	y->partitions = partitions_create();
	if (sampling_create(&y->sampling, d) || !y->profiles || !y->partitions) {
		dynamic_destroy(y);
		return -ENOMEM;
	}
	*state = y;
	return 0;
}

/* --- decisions ------------------------------------------------------------------------------- */

static bool all_settled(const struct dynamic *y, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (!sampling_settled(&y->sampling, d, d->kernels[i]))
			return false;
	return true;
}

static void partition(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	const struct slicer_curve *curves[SM_KERNELS] = { NULL };
	bool goes_on = y->phase == SHARED || y->phase == SPLIT, as_before = y->laid_out && goes_on;
	unsigned int ctas[SM_KERNELS] = { 0 };

	sampling_guess(&y->sampling, d);
	for (unsigned int i = 0; i < d->nkernels; i++)
		curves[i] = &sampling_of(&y->sampling, d->kernels[i])->curve;
	y->phase = partitions_decide(y->partitions, d, curves, now, ctas) ? SHARED : SPLIT;
	/*
	 * A program that is not known yet is sampled when its pages have come. Launches that are
	 * shorter than a sample do not put the next look off.
	 */
	if (all_settled(y, d) && !d->spec->slicer_change)
		y->due = NEVER;
	else if (!goes_on || y->due == NEVER)
		y->due = now + d->spec->slicer_sample;
	y->laid_out = true;
	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int *share = &y->shares[dispatch_place(d, i)];

		as_before &= *share == ctas[i];
		*share = ctas[i];
		y->watched[d->kernels[i]->slot].ctas = ctas[i];
	}
	/* A launch that has come is watched from its begin on (dynamic_arrived()). */
	for (unsigned int i = 0; i < d->nkernels && !as_before; i++) {
		struct watched *w = &y->watched[d->kernels[i]->slot];

		w->looks = w->off = 0;
	}
}

/* The last sample has ended. Its layout stays until the partition is computed. */
static void decide(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	if (!d->spec->slicer_delay) {
		partition(y, d, now);
		return;
	}
	y->phase = DELAY;
	y->due = now + d->spec->slicer_delay;
}

static void warm_up(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	y->phase = WARM_UP;
	y->due = now + d->spec->slicer_warmup;
	y->put_off = 0;
	y->extended = false;
}

/* --- kernels come and go --------------------------------------------------------------------- */

/* Is each kernel known, or guessed, or do its pages arrive? */
static bool none_to_sample(const struct dynamic *y, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (!y->sampling.kernels[d->kernels[i]->slot].waits &&
		    !sampling_settled(&y->sampling, d, d->kernels[i]))
			return false;
	return true;
}

/* `same`: the programs are those that ran before. */
static void begin(struct dynamic *y, struct dispatch *d, bool same, uint64_t now)
{
	if (!same)
		profiles_end_waits(y->profiles);
	y->laid_out &= same;
	if (d->nkernels < 2) {
		y->phase = ALONE;
		y->due = NEVER;
		return;
	}
	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];

		/* The samples that it has are as good beside somebody else. */
		if (!d->spec->slicer_reuse)
			sampling_forget(&y->sampling, k);
		if (!same)
			profiles_end_wait(sampling_of(&y->sampling, k));
	}
	sampling_begin(&y->sampling, d, now);
	/* Without a sample there is no delay. */
	if (none_to_sample(y, d))
		partition(y, d, now);
	else
		warm_up(y, d, now);
}

/* Are the kernels of the programs whose kernels ran before? */
static bool same_programs(const struct dynamic *y, const struct dispatch *d)
{
	bool same = y->nstreams == d->nkernels;

	for (unsigned int i = 0; same && i < d->nkernels; i++) {
		unsigned int before = 0, here = 0;

		for (unsigned int k = 0; k < d->nkernels; k++) {
			before += y->streams[k] == d->kernels[i]->stream;
			here += d->kernels[k]->stream == d->kernels[i]->stream;
		}
		same = before == here;
	}
	return same;
}

/*
 * Kernels have come or gone. Where each that went was followed by its program's next, all SMs are
 * whose they were: a sample, its warm-up, or the delay behind it goes on. If it began anew with
 * each launch, it would never end where launches are short.
 */
static void settle(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	bool same = same_programs(y, d);

	y->moved = false;
	y->nstreams = d->nkernels;
	for (unsigned int i = 0; i < d->nkernels; i++)
		y->streams[i] = d->kernels[i]->stream;
	if (same && d->spec->slicer_reuse && y->phase == DELAY)
		return;
	if (!same || !d->spec->slicer_reuse || (y->phase != WARM_UP && y->phase != SAMPLE) ||
	    sampling_none(&y->sampling, d)) {
		begin(y, d, same, now);
		return;
	}
	for (unsigned int i = 0; i < d->nkernels; i++)
		sampling_join(&y->sampling, d, d->kernels[i], y->phase == WARM_UP, now);
}

/* Scheduler cycles in which its slot waited for pages, and did not execute for that. */
static uint64_t fault_cycles(const struct dispatch *d, const struct dispatch_kernel *k,
			     uint64_t now)
{
	uint64_t cycles = 0;

	if (!d->spec->paging || !d->spec->slicer_faults)
		return 0;
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		struct sm_kernel_stats own;

		sm_account(d->sms[sm], now);
		sm_kernel_stats(d->sms[sm], k->kernel, &own);
		cycles += own.own_stalls[STALL_FAR_FAULT];
	}
	return cycles;
}

static void dynamic_arrived(void *state, struct dispatch *d, struct dispatch_kernel *k,
			    uint64_t now)
{
	struct dynamic *y = state;

	y->watched[k->slot] = (struct watched){ .faulted = fault_cycles(d, k, now) };
	sampling_arrived(&y->sampling, k,
			 d->spec->slicer_reuse ? profiles_find(y->profiles, k) : NULL);
	y->moved = true;
}

static void dynamic_left(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	struct dynamic *y = state;

	if (y->phase == WARM_UP || y->phase == SAMPLE)
		sampling_left(&y->sampling, d, k, y->phase == WARM_UP, now);
	sampling_keep(&y->sampling, d, y->profiles, k);
	y->moved = true;
}

/* --- afterwards ---------------------------------------------------------------------------------- */

/* Since it was looked at last, has it waited for pages, and not executed for that? */
static bool faulted(const struct dispatch *d, const struct dispatch_kernel *k, struct watched *w,
		    uint64_t now)
{
	uint64_t all = d->spec->slicer_sample * d->spec->schedulers * d->nsms;
	uint64_t cycles = fault_cycles(d, k, now), before = w->faulted;

	w->faulted = cycles;
	return (cycles - before) * 100 > SAMPLING_ARRIVING * all;
}

/*
 * Compares a kernel's IPC in the sample that ends with its IPC in the first whole sample after the
 * partition. A kernel whose last CTAs run is not watched: its IPC falls, and it needs no share.
 */
static bool changed(const struct dispatch *d, const struct dispatch_kernel *k, struct watched *w,
		    uint64_t now)
{
	bool waits = faulted(d, k, w, now);
	uint64_t issued = 0;
	double ipc;

	for (unsigned int sm = 0; sm < d->nsms; sm++)
		issued += sm_share(d->sms[sm], k->kernel)->warp_instructions;
	ipc = (double)(issued - w->issued) / (double)d->spec->slicer_sample;
	w->issued = issued;
	/* The first look has nothing to begin at, and while the second lasts the layout is reached. */
	if (waits || ++w->looks <= 2 || k->next == k->ctas)
		return false;
	if (w->looks == 3)
		w->ipc = ipc;
	if (fabs(ipc - w->ipc) * 100 <= (double)d->spec->slicer_change * w->ipc)
		w->off = 0;
	else
		w->off++;
	return w->off >= 2;
}

/*
 * Its pages have come: it can be sampled. With the few CTAs of a sample it may wait again; each
 * time it is left alone for twice as long.
 */
static bool paged(const struct dispatch *d, const struct dispatch_kernel *k, struct watched *w,
		  struct sampled *p, uint64_t now)
{
	p->calm = faulted(d, k, w, now) ? 0 : p->calm + 1;
	return p->calm > 1u << MIN(p->failed, 10u) && k->next < k->ctas;
}

static void look(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	bool again = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];
		struct watched *w = &y->watched[k->slot];
		struct sampled *p = sampling_of(&y->sampling, k);
		bool known = sampling_settled(&y->sampling, d, k);

		if (known && !changed(d, k, w, now))
			continue;
		if (!known && !paged(d, k, w, p, now)) {
			p->waits = true;
			continue;
		}
		sampling_forget(&y->sampling, k);
		again = true;
	}
	if (!again) {
		y->due = now + d->spec->slicer_sample;
		return;
	}
	sampling_begin(&y->sampling, d, now);
	warm_up(y, d, now);
}

static uint64_t dynamic_timer(const void *state, const struct dispatch *d)
{
	const struct dynamic *y = state;

	/* Before a CTA is handed out, all that come and go in a cycle have. */
	return y->moved ? 0 : y->due;
}

static void dynamic_tick(void *state, struct dispatch *d, uint64_t now)
{
	struct dynamic *y = state;

	if (y->moved) {
		settle(y, d, now);
		if (y->due > now)
			return;
	}
	switch (y->phase) {
	case WARM_UP:
		if (!sampling_choose(&y->sampling, d, now)) {
			partition(y, d, now);
			break;
		}
		y->due = now + d->spec->slicer_sample;
		if (sampling_disturbed(&y->sampling, d) && y->put_off++ < PATIENCE)
			break;
		y->phase = SAMPLE;
		sampling_mark(&y->sampling, d, now);
		break;
	case SAMPLE:
		if (d->spec->slicer_whole && !sampling_whole(&y->sampling, d)) {
			y->due = now + d->spec->slicer_sample;
		} else if (!y->extended && sampling_too_short(&y->sampling, d, now)) {
			y->extended = true;
			y->due = now + d->spec->slicer_sample;
		} else if (!sampling_end(&y->sampling, d, y->profiles, now)) {
			decide(y, d, now);
		} else {
			/* CTAs that come for the next counts begin now, all of them cold. */
			y->phase = WARM_UP;
			y->due = now + d->spec->slicer_warmup;
		}
		break;
	case DELAY:
		partition(y, d, now);
		break;
	case SHARED:
	case SPLIT:
		look(y, d, now);
		break;
	default:
		y->due = NEVER;
	}
}

static unsigned int limit(const struct dynamic *y, const struct dispatch *d, unsigned int i,
			  unsigned int sm)
{
	if (y->phase == ALONE)
		return UINT_MAX;
	if (y->phase == SHARED)
		return y->watched[d->kernels[i]->slot].ctas;
	return sampling_limit(&y->sampling, d, i, sm);
}

static struct dispatch_kernel *dynamic_pick(const void *state, const struct dispatch *d,
					    unsigned int sm, uint64_t cycle)
{
	const struct dynamic *y = state;

	if (y->phase == SPLIT)
		return dispatch_pick_spatial(d, sm, cycle);
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if (sm_resident_ctas(d->sms[sm], k->kernel) < limit(y, d, i, sm) &&
		    dispatch_can(d, sm, k, cycle))
			return k;
	}
	return NULL;
}

static struct json_object *dynamic_report(const void *state)
{
	const struct dynamic *y = state;

	return partitions_report(y->partitions);
}

const struct dispatch_ops dispatch_dynamic = {
	.name = "dynamic",
	.help = "Warped-Slicer: kernels are sampled, then share each SM by water-filling",
	.create = dynamic_create,
	.destroy = dynamic_destroy,
	.arrived = dynamic_arrived,
	.left = dynamic_left,
	.pick = dynamic_pick,
	.timer = dynamic_timer,
	.tick = dynamic_tick,
	.report = dynamic_report,
};
