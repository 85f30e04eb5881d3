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

/* With less of it, percent, not waiting for far faults, a sample says nothing. */
#define TELLING		10u

int sampling_create(struct sampling *s, const struct dispatch *d)
{
	s->marks = calloc(d->nsms, sizeof(*s->marks));
	s->kept = calloc(d->nsms, sizeof(*s->kept));
	return s->marks && s->kept ? 0 : -ENOMEM;
}

void sampling_destroy(struct sampling *s)
{
	free(s->marks);
	free(s->kept);
}

struct sampled *sampling_of(struct sampling *s, const struct dispatch_kernel *k)
{
	return &s->kernels[k->slot];
}

static const struct sampled *of(const struct sampling *s, const struct dispatch_kernel *k)
{
	return &s->kernels[k->slot];
}

bool sampling_all_known(const struct sampling *s, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (!of(s, d->kernels[i])->known)
			return false;
	return true;
}

void sampling_arrived(struct sampling *s, const struct dispatch_kernel *k,
		      const struct sampled *kept)
{
	struct sampled *p = sampling_of(s, k);

	if (kept) {
		*p = *kept;
		p->failed = 0;
	} else {
		*p = (struct sampled){ .first = 1 };
		p->curve.ctas = MIN(sm_kernel_places(k->kernel), SLICER_CTAS);
	}
}

void sampling_forget(struct sampling *s, const struct dispatch_kernel *k)
{
	struct sampled *p = sampling_of(s, k);

	p->known = p->waits = false;
	p->nsamples = 0;
	p->first = 1;
}

static bool is_sampled(const struct sampled *p)
{
	return !p->known && !p->waits;
}

void sampling_begin(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct sampled *p = sampling_of(s, d->kernels[i]);

		p->spread = is_sampled(p);
	}
	sampling_mark(s, d, now);
}

/* --- the layout ----------------------------------------------------------------------------- */

/* The kernel whose SM it is, as spatial splits them. */
static const struct dispatch_kernel *owner(const struct dispatch *d, unsigned int sm)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int first, n = dispatch_spatial_part(d, i, &first);

		if (first <= sm && sm < first + n)
			return d->kernels[i];
	}
	return d->kernels[0];
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
		const struct dispatch_kernel *k = owner(d, sm);

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

static uint64_t issued(const struct dispatch *d, unsigned int sm)
{
	return sm_share(d->sms[sm], owner(d, sm)->kernel)->warp_instructions;
}

/* Lines that the SM asked for behind L1D, or wrote there, so far. */
static uint64_t lines(const struct dispatch *d, unsigned int sm)
{
	const struct cache_counters *l1d = &sm_stats(d->sms[sm])->l1d;

	return l1d->read_misses + l1d->writes;
}

static struct sampling_mark mark(const struct dispatch *d, unsigned int sm, uint64_t now)
{
	return (struct sampling_mark){
		.issued = issued(d, sm),
		.waited = stalled(d, sm, STALL_LONG, now),
		.faulted = stalled(d, sm, STALL_FAR_FAULT, now),
		.lines = lines(d, sm),
		.retired = sm_share(d->sms[sm], owner(d, sm)->kernel)->retired_ctas,
		.at = now,
		.owner = owner(d, sm),
	};
}

void sampling_mark(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++)
		s->marks[sm] = mark(d, sm, now);
	s->marked = now;
}

void sampling_pause(struct sampling *s, const struct dispatch *d,
		    const struct dispatch_kernel *leaves)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		s->kept[sm] = s->marks[sm];
		/* Another kernel may get the same place in memory. */
		if (s->kept[sm].owner == leaves)
			s->kept[sm].owner = NULL;
	}
}

bool sampling_resume(struct sampling *s, const struct dispatch *d)
{
	if (sampling_disturbed(s, d))
		return false;
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		if (s->kept[sm].owner == owner(d, sm))
			s->marks[sm] = s->kept[sm];
	}
	return true;
}

bool sampling_whole(const struct sampling *s, const struct dispatch *d)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		const struct dispatch_kernel *k = owner(d, sm);
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

bool sampling_choose(struct sampling *s, const struct dispatch *d, uint64_t now)
{
	uint64_t all = (now - s->marked) * d->spec->schedulers;
	bool any = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int first, n = dispatch_spatial_part(d, i, &first);
		struct sampled *p = sampling_of(s, d->kernels[i]);
		uint64_t waited = 0;

		for (unsigned int sm = first; sm < first + n; sm++)
			waited += faulted(s, d, sm, now);
		if (is_sampled(p) && d->spec->paging && d->spec->slicer_faults &&
		    waited * 100 > SAMPLING_ARRIVING * all * n) {
			p->waits = true;
			p->spread = false;
			p->failed++;
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

static double taken(const struct sampling *s, const struct dispatch *d, unsigned int sm,
		    uint64_t now)
{
	return (double)((lines(d, sm) - s->marks[sm].lines) * d->spec->l1d_line) /
	       (double)(now - s->marks[sm].at);
}

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
	struct scale all = { 0 };

	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		all.ctas += sm_resident_ctas(d->sms[sm], NULL);
		all.bytes += taken(s, d, sm, now);
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

static void take(struct sampling *s, const struct dispatch *d, unsigned int sm,
		 const struct scale *all, uint64_t now)
{
	double schedulers = (double)d->spec->schedulers;
	double lasted = (double)(now - s->marks[sm].at), cycles = lasted;
	const struct dispatch_kernel *k = owner(d, sm);
	struct sampled *p = sampling_of(s, k);
	struct slicer_sample one = { .ctas = sm_resident_ctas(d->sms[sm], k->kernel) };

	/* Nothing is left to hand out, say. */
	if (!is_sampled(p) || one.ctas <= 0 || p->nsamples == ARRAY_SIZE(p->samples))
		return;
	if (d->spec->slicer_faults)
		cycles -= (double)faulted(s, d, sm, now) / schedulers;
	if (cycles * 100 < TELLING * lasted)
		return;
	one.ipc = (double)(issued(d, sm) - s->marks[sm].issued) / cycles;
	one.memory = (double)(stalled(d, sm, STALL_LONG, now) - s->marks[sm].waited) /
		     (cycles * schedulers);
	one.bytes = taken(s, d, sm, now);
	one.ipc = scaled(d, &one, all);
	one.memory = 0;
	p->samples[p->nsamples++] = one;
}

void sampling_keep(const struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		   const struct dispatch_kernel *k)
{
	const struct sampled *p = of(s, k);

	/* A kernel that was never seen to run is no kernel to remember. */
	if (p->nsamples && d->spec->slicer_reuse)
		profiles_keep(profiles, k, p);
}

bool sampling_end(struct sampling *s, const struct dispatch *d, struct profiles *profiles,
		  uint64_t now)
{
	const struct scale all = scale_of(s, d, now);
	bool again = false;

	for (unsigned int sm = 0; sm < d->nsms; sm++)
		take(s, d, sm, &all, now);
	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];
		struct sampled *p = sampling_of(s, k);
		unsigned int first, n = dispatch_spatial_part(d, i, &first);

		if (!is_sampled(p))
			continue;
		if (p->first + n <= p->curve.ctas) {
			p->first += n;
			again = true;
			continue;
		}
		/* Seen only to wait for its pages, it is not known. */
		if (!p->nsamples && d->spec->paging && d->spec->slicer_faults)
			continue;
		slicer_curve(p->samples, p->nsamples, 0, &p->curve);
		p->known = true;
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

		for (unsigned int j = 0; !p->known && j < p->curve.ctas; j++)
			p->curve.at[j] = j + 1;
	}
}
