// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of kernels for dispatch dynamic; sampling.h. The SMs are split among the kernels, as
 * spatial does, and each SM holds another count of its kernel's CTAs. Where a kernel has fewer SMs
 * than counts, the next counts follow, a sample each. An SM that holds many CTAs takes more of the
 * memory than it would if all held as many: its sample is scaled (slicer.scale).
 *
 * A kernel that waits for far faults is not slow for lack of CTAs, and the paper's curve would say
 * so (slicer.faults): cycles that wait for them are no part of a sample, and a kernel whose pages
 * arrive is not sampled.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/dispatch/sampling.h"

/*
 * With less of it, percent, not waiting for far faults, a sample says nothing. A kernel that ran
 * for less of a sample was not seen.
 */
#define TELLING		10u
/* A kernel that ran for as much of a sample, percent, was sampled. */
#define ENOUGH		50u

int sampling_create(struct sampling *s, const struct dispatch *d)
{
	s->marks = calloc(d->nsms, sizeof(*s->marks));
	s->starts = calloc(d->nsms, sizeof(*s->starts));
	return s->marks && s->starts ? 0 : -ENOMEM;
}

void sampling_destroy(struct sampling *s)
{
	free(s->marks);
	free(s->starts);
}

struct sampled *sampling_of(struct sampling *s, const struct dispatch_kernel *k)
{
	return &s->kernels[k->slot];
}

static const struct sampled *of(const struct sampling *s, const struct dispatch_kernel *k)
{
	return &s->kernels[k->slot];
}

static bool is_sampled(const struct sampled *p)
{
	return !p->known && !p->waits;
}

bool sampling_none(const struct sampling *s, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (is_sampled(of(s, d->kernels[i])))
			return false;
	return true;
}

/* Did it last for the share of a sample? */
static bool percent_of_sample(uint64_t lasted, const struct dispatch *d, unsigned int share)
{
	return lasted > 0 && lasted * 100 >= share * d->spec->slicer_sample;
}

bool sampling_settled(const struct sampling *s, const struct dispatch *d,
		      const struct dispatch_kernel *k)
{
	const struct sampled *p = of(s, k);

	return p->known || (p->ended && percent_of_sample(p->lasted, d, TELLING));
}

void sampling_arrived(struct sampling *s, const struct dispatch_kernel *k,
		      const struct sampled *kept)
{
	struct sampled *p = sampling_of(s, k);

	if (kept) {
		*p = *kept;
	} else {
		*p = (struct sampled){ .first = 1 };
		p->curve.ctas = MIN(sm_kernel_places(k->kernel), SLICER_CTAS);
	}
}

static void clear(struct sampled *p)
{
	memset(p->sums, 0, sizeof(p->sums));
	p->lasted = 0;
	p->first = 1;
	p->cold = false;
}

void sampling_forget(struct sampling *s, const struct dispatch_kernel *k)
{
	struct sampled *p = sampling_of(s, k);

	p->known = p->waits = p->ended = false;
	p->calm = 0;
	clear(p);
}

/* --- the layout ----------------------------------------------------------------------------- */

/* The kernel whose SM it is, as spatial splits them: its index. */
static unsigned int owner(const struct dispatch *d, unsigned int sm)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int first, n = dispatch_spatial_part(d, i, &first);

		if (first <= sm && sm < first + n)
			return i;
	}
	return 0;
}

static const struct dispatch_kernel *owned_by(const struct dispatch *d, unsigned int sm)
{
	return d->kernels[owner(d, sm)];
}

/* One CTA more on each of its SMs; as many as fit of a kernel that is not sampled. */
unsigned int sampling_limit(const struct sampling *s, const struct dispatch *d, unsigned int i,
			    unsigned int sm)
{
	const struct sampled *p = of(s, d->kernels[i]);
	unsigned int first, n = dispatch_spatial_part(d, i, &first);

	if (sm < first || sm >= first + n)
		return 0;
	return p->spread ? MIN(p->first + sm - first, p->curve.ctas) : p->curve.ctas;
}

bool sampling_disturbed(const struct sampling *s, const struct dispatch *d)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		const struct dispatch_kernel *k = owned_by(d, sm);

		if (is_sampled(of(s, k)) && sm_resident_ctas(d->sms[sm], NULL) !=
					    sm_resident_ctas(d->sms[sm], k->kernel))
			return true;
	}
	return false;
}

/* --- counts --------------------------------------------------------------------------------- */

/* Scheduler cycles of the SM in which no warp issued for this reason. */
static uint64_t stalled(const struct dispatch *d, unsigned int sm, enum stall why,
			uint64_t now)
{
	sm_account(d->sms[sm], now);
	return sm_stats(d->sms[sm])->stalls[why];
}

static uint64_t issued(const struct dispatch *d, unsigned int sm, const struct dispatch_kernel *k)
{
	return sm_share(d->sms[sm], k->kernel)->warp_instructions;
}

/* The cycles in which CTAs of the kernel were on the SM, and the sum of how many these were. */
static void resident(const struct dispatch *d, unsigned int sm, const struct dispatch_kernel *k,
		     uint64_t *cycles, uint64_t *ctas)
{
	struct sm_kernel_stats own;

	sm_kernel_stats(d->sms[sm], k->kernel, &own);
	*cycles = own.counters.cycles;
	*ctas = own.counters.ctas;
}

/* Lines that the SM asked for behind L1D, or wrote there, so far. */
static uint64_t lines(const struct dispatch *d, unsigned int sm)
{
	const struct cache_counters *l1d = &sm_stats(d->sms[sm])->l1d;

	return l1d->read_misses + l1d->writes;
}

static struct sampling_mark mark(const struct sampling *s, const struct dispatch *d,
				 unsigned int sm, uint64_t now)
{
	unsigned int i = owner(d, sm);
	const struct dispatch_kernel *k = d->kernels[i];
	struct sampling_mark m = {
		.issued = issued(d, sm, k),
		.waited = stalled(d, sm, STALL_LONG, now),
		.faulted = stalled(d, sm, STALL_FAR_FAULT, now),
		.lines = lines(d, sm),
		.retired = sm_share(d->sms[sm], k->kernel)->retired_ctas,
		.at = now,
		.owner = k,
		.limit = sampling_limit(s, d, i, sm),
	};

	resident(d, sm, k, &m.cycles, &m.ctas);
	return m;
}

void sampling_mark(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		s->marks[sm] = mark(s, d, sm, now);
		s->starts[sm] = (struct sampling_start){
			.lines = lines(d, sm), .ctas = sm_stats(d->sms[sm])->ctas,
		};
	}
	s->marked = now;
}

bool sampling_whole(const struct sampling *s, const struct dispatch *d)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		const struct dispatch_kernel *k = owned_by(d, sm);
		uint64_t retired = sm_share(d->sms[sm], k->kernel)->retired_ctas;

		if (is_sampled(of(s, k)) && k->next < k->ctas &&
		    retired - s->marks[sm].retired < sm_resident_ctas(d->sms[sm], k->kernel))
			return false;
	}
	return true;
}

static uint64_t faulted(const struct sampling *s, const struct dispatch *d, unsigned int sm,
			uint64_t now)
{
	return stalled(d, sm, STALL_FAR_FAULT, now) - s->marks[sm].faulted;
}

/* Do the SMs of the kernel wait for its pages? */
static bool arriving(const struct sampling *s, const struct dispatch *d,
		     const struct dispatch_kernel *k, uint64_t now)
{
	uint64_t waited = 0, all = 0;

	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		if (s->marks[sm].owner != k)
			continue;
		waited += faulted(s, d, sm, now);
		all += (now - s->marks[sm].at) * d->spec->schedulers;
	}
	return d->spec->paging && d->spec->slicer_faults && waited * 100 > SAMPLING_ARRIVING * all;
}

bool sampling_choose(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	bool any = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct sampled *p = sampling_of(s, d->kernels[i]);

		if (is_sampled(p) && arriving(s, d, d->kernels[i], now)) {
			p->waits = true;
			p->spread = false;
			p->failed++;
			p->calm = 0;
		}
		any |= is_sampled(p);
	}
	return any;
}

/* --- samples -------------------------------------------------------------------------------- */

/* The numbers that scale a sample. */
struct scale {
	double ctas;			/* printed: CTAs of an SM, the mean of all */
	double bytes;			/* bandwidth: an SM's share, a cycle */
};

/*
 * An SM's share of what memory gives: as much as they had on average, and where that was little,
 * memory not being asked for more, half of what DRAM's pins could carry. More than half is
 * rarely reached: reads, writes, and lines that are read to be written take turns.
 */
static struct scale scale_of(const struct sampling *s, const struct dispatch *d, uint64_t now)
{
	const struct gpu_spec *spec = d->spec;
	double pins = (double)(spec->dram_channels * spec->dram_bus * spec->dram_ratio) *
		      (double)spec->dram_clock_mhz / (double)spec->clock_mhz;
	double lasted = (double)MAX(now - s->marked, 1);
	struct scale all = { 0 };

	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		sm_account(d->sms[sm], now);
		all.ctas += (double)(sm_stats(d->sms[sm])->ctas - s->starts[sm].ctas) / lasted;
		all.bytes += (double)((lines(d, sm) - s->starts[sm].lines) * d->spec->l1d_line) /
			     lasted;
	}
	all.ctas /= d->nsms;
	all.bytes = fmax(all.bytes, pins / 2) / d->nsms;
	return all;
}

static double scaled(const struct dispatch *d, const struct slicer_sample *one,
		     const struct scale *all)
{
	if (!strcmp(d->spec->slicer_scale, "printed"))
		return slicer_scale(one, all->ctas);
	return strcmp(d->spec->slicer_scale, "off") ? slicer_cut(one, all->bytes) : one->ipc;
}

/*
 * What the SM did for the kernel since its mark. The time in which it held no CTA of it does not
 * count, nor does the count that it was to hold: a launch that ends leaves it fewer.
 */
static void take(const struct sampling *s, const struct dispatch *d, struct sampled *p,
		 unsigned int sm, const struct scale *all, uint64_t now)
{
	const struct sampling_mark *m = &s->marks[sm];
	double schedulers = (double)d->spec->schedulers, held, cycles;
	struct slicer_sample one = { 0 };
	struct sampled_sums *sums;
	uint64_t there, ctas;

	sm_account(d->sms[sm], now);
	resident(d, sm, m->owner, &there, &ctas);
	cycles = held = (double)(there - m->cycles);
	/* Nothing is left to hand out, say. */
	if (held <= 0)
		return;
	if (d->spec->slicer_faults)
		cycles -= (double)faulted(s, d, sm, now) / schedulers;
	if (cycles * 100 < TELLING * held)
		return;
	one.ctas = (double)(ctas - m->ctas) / held;
	one.ipc = (double)(issued(d, sm, m->owner) - m->issued) / cycles;
	one.memory = (double)(stalled(d, sm, STALL_LONG, now) - m->waited) / (cycles * schedulers);
	one.bytes = (double)((lines(d, sm) - m->lines) * d->spec->l1d_line) / held;
	sums = &p->sums[MIN(m->limit, SLICER_CTAS) - 1];
	sums->cycles += cycles;
	sums->ctas += one.ctas * cycles;
	sums->instructions += scaled(d, &one, all) * cycles;
}

/*
 * Samples a kernel on the SMs that are its own. A launch that ran for next to nothing of a sample
 * is no better than those that ended in their warm-up.
 */
static void sample(const struct sampling *s, const struct dispatch *d, struct sampled *p,
		   const struct dispatch_kernel *k, bool cold, uint64_t now)
{
	const struct scale all = scale_of(s, d, now);
	uint64_t lasted = 0;
	unsigned int n = 0;

	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		if (s->marks[sm].owner != k || s->marks[sm].at >= now)
			continue;
		lasted = now - s->marks[sm].at;
		n++;
	}
	if (p->cold && !cold && !percent_of_sample(lasted, d, TELLING))
		return;
	if (p->cold && !cold)
		clear(p);
	for (unsigned int sm = 0; sm < d->nsms; sm++)
		if (s->marks[sm].owner == k)
			take(s, d, p, sm, &all, now);
	p->cold = cold;
	p->lasted += lasted;
	p->sms = n ? n : p->sms;
}

/* Makes p->curve of the sums. False: there are none. */
static bool curve_of(struct sampled *p)
{
	struct slicer_sample samples[SLICER_CTAS];
	unsigned int n = 0;

	for (unsigned int j = 0; j < SLICER_CTAS; j++) {
		const struct sampled_sums *sums = &p->sums[j];

		if (sums->cycles > 0)
			samples[n++] = (struct slicer_sample){
				.ctas = sums->ctas / sums->cycles,
				.ipc = sums->instructions / sums->cycles,
			};
	}
	if (n)
		slicer_curve(samples, n, 0, &p->curve);
	return n > 0;
}

/*
 * Has the kernel been sampled with these counts? Then it is known, or the next counts are to
 * follow.
 */
static void go_on(struct sampled *p, const struct dispatch *d)
{
	if (p->known || p->cold || !percent_of_sample(p->lasted, d, ENOUGH))
		return;
	if (p->first + p->sms <= p->curve.ctas) {
		p->lasted = 0;
		p->first += p->sms;
	} else {
		/* A kernel that was never seen to run is not known. */
		p->known = curve_of(p);
	}
}

void sampling_begin(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct sampled *p = sampling_of(s, d->kernels[i]);

		go_on(p, d);
		p->spread = is_sampled(p);
	}
	sampling_mark(s, d, now);
}

void sampling_keep(const struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		   const struct dispatch_kernel *k)
{
	const struct sampled *p = of(s, k);

	/* A kernel that was never seen to run is no kernel to remember, unless it waits for pages. */
	if (d->spec->slicer_reuse && (p->known || p->waits || p->lasted || p->first > 1))
		profiles_keep(profiles, k, p);
}

void sampling_left(struct sampling *s, const struct dispatch *d, const struct dispatch_kernel *k,
		   bool cold, uint64_t now)
{
	struct sampled *p = sampling_of(s, k);
	bool seen = is_sampled(p) && (!cold || p->cold || (!p->lasted && p->first == 1)) &&
		    !arriving(s, d, k, now);

	if (seen)
		sample(s, d, p, k, cold, now);
	p->ended |= !p->known;
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		struct sampling_mark *m = &s->marks[sm];

		if (m->owner != k)
			continue;
		/* Another kernel may get the same place in memory. */
		m->owner = NULL;
		/* Those that it ended count beside those that the next launch ends. */
		m->retired -= sm_share(d->sms[sm], k->kernel)->retired_ctas;
	}
}

void sampling_join(struct sampling *s, const struct dispatch *d, const struct dispatch_kernel *k,
		   bool warm, uint64_t now)
{
	struct sampled *p = sampling_of(s, k);

	/* A sample is of the counts with which it was warmed up. */
	if (warm)
		go_on(p, d);
	p->spread = is_sampled(p);
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		uint64_t before = s->marks[sm].retired;

		if (s->marks[sm].owner || owned_by(d, sm) != k)
			continue;
		s->marks[sm] = mark(s, d, sm, now);
		s->marks[sm].retired += before;
	}
}

bool sampling_too_short(const struct sampling *s, const struct dispatch *d, uint64_t now)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		const struct sampling_mark *m = &s->marks[sm];
		const struct sampled *p = of(s, owned_by(d, sm));

		if (is_sampled(p) && !p->ended &&
		    (p->lasted + now - m->at) * 100 < ENOUGH * d->spec->slicer_sample)
			return true;
	}
	return false;
}

bool sampling_end(struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		  uint64_t now)
{
	bool again = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];
		struct sampled *p = sampling_of(s, k);
		unsigned int first = p->first;

		if (!is_sampled(p))
			continue;
		sample(s, d, p, k, false, now);
		/* Where kernels outnumber SMs there may never be one for it. */
		p->failed += !p->lasted;
		go_on(p, d);
		again |= p->first > first;
		sampling_keep(s, d, profiles, k);
	}
	if (!again)
		return false;
	/* A known kernel holds as many CTAs as fit while others are sampled. */
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct sampled *p = sampling_of(s, d->kernels[i]);

		p->spread &= !p->known;
	}
	sampling_mark(s, d, now);
	return true;
}

void sampling_guess(struct sampling *s, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct sampled *p = sampling_of(s, d->kernels[i]);
		unsigned int most = 0;
		double last = 1;

		if (p->known)
			continue;
		for (unsigned int j = 0; j < p->curve.ctas; j++)
			most = p->sums[j].cycles > 0 ? j + 1 : most;
		if (!percent_of_sample(p->lasted, d, TELLING) && p->first == 1)
			most = 0;
		else if (curve_of(p))
			last = p->curve.at[most - 1] / most;
		for (unsigned int j = most; j < p->curve.ctas; j++)
			p->curve.at[j] = last * (j + 1);
	}
}
