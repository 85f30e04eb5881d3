// SPDX-License-Identifier: GPL-2.0
/*
 * Warped-Slicer (Xu et al., ISCA 2016, section IV). When kernels come to run together, the SMs
 * are split among them, and each SM holds another count of its kernel's CTAs, from the arrival
 * on. After a warm-up the SMs are sampled; where a kernel has fewer SMs than counts, the next
 * counts follow, a sample each. The samples become curves (slicer/), and water-filling says how
 * many CTAs of each kernel every SM holds from then on. A kernel that would lose too much makes all
 * fall back on spatial. CTAs that run stay where they are: a layout is reached as they end.
 *
 * Samples are of SMs that one kernel has to itself: while CTAs of another are there yet,
 * sampling is put off, but not for ever. A kernel that waits for far faults is not slow for lack
 * of CTAs, and the paper's curve would say so (slicer.faults): cycles that wait for them are no
 * part of a sample, and while a kernel's pages arrive it is not sampled. Until then it counts
 * as one to which each CTA brings as much as the one before, so that its faults come from
 * many CTAs at a time. A kernel whose IPC changes for as long as two samples
 * is sampled anew; its SMs are its own then, and so others are held back.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "gpu/dispatch.h"
#include "slicer/slicer.h"

/* Samples that a CTA of somebody else can put off. */
#define PATIENCE	16u
/* Percent of an SM's scheduler cycles: if more of them wait for far faults, pages are arriving. */
#define ARRIVING	25u
/* With less of it, percent, not waiting for far faults, a sample says nothing. */
#define TELLING		10u
/* Profiles of kernels that are kept; the oldest goes. */
#define PROFILES	64u
/* Decisions that a report shows. */
#define DECISIONS	256u

enum phase { ALONE, WARM_UP, SAMPLE, DELAY, SHARED, SPLIT };

/* A kernel's curve, for its next launch. Of the same code and needs it is the same kernel. */
struct profile {
	char name[64];
	struct sm_needs needs;
	struct slicer_curve curve;
};

/* A kernel that runs, by slot. */
struct part {
	struct slicer_curve curve;
	bool known;			/* the curve is */
	struct slicer_sample samples[2 * SLICER_CTAS];
	unsigned int nsamples;
	unsigned int ctas;		/* SHARED: that every SM may hold */
	/* SHARED: instructions when it was looked at last, its IPC then, and how often it was off. */
	uint64_t issued, faulted;
	double ipc;
	unsigned int looks, off;
	bool waits;			/* not known, nor sampled: its pages are arriving */
	unsigned int calm;		/* looks since they do not */
	unsigned int failed;		/* how often its pages arrived all the same, then */
};

struct decision {
	uint64_t cycle;
	unsigned int n, ctas[SM_KERNELS];	/* 0: the SMs were split */
	double performance[SM_KERNELS];
	char name[SM_KERNELS][64];
};

struct dynamic {
	enum phase phase;
	uint64_t due;			/* when the phase ends, or is looked at; NEVER */
	unsigned int round, put_off;
	struct part parts[SM_KERNELS];
	struct profile *profiles;
	unsigned int nprofiles, oldest;
	struct decision *decisions;
	unsigned int ndecisions;
	/*
	 * By SM: instructions of its kernel; its cycles that waited for memory, and for far faults;
	 * lines that it had from behind L1D.
	 */
	uint64_t *issued, *waited, *faulted, *lines;
	uint64_t marked;		/* when these were so: as a sample began */
};

static void dynamic_destroy(void *state)
{
	struct dynamic *y = state;

	free(y->profiles);
	free(y->decisions);
	free(y->issued);
	free(y->waited);
	free(y->faulted);
	free(y->lines);
	free(y);
}

static int dynamic_create(const struct dispatch *d, void **state)
{
	struct dynamic *y = calloc(1, sizeof(*y));

	if (!y)
		return -ENOMEM;
	y->due = NEVER;
	y->profiles = calloc(PROFILES, sizeof(*y->profiles));
	y->decisions = calloc(DECISIONS, sizeof(*y->decisions));
	y->issued = calloc(d->nsms, sizeof(*y->issued));
	y->waited = calloc(d->nsms, sizeof(*y->waited));
	y->faulted = calloc(d->nsms, sizeof(*y->faulted));
	y->lines = calloc(d->nsms, sizeof(*y->lines));
	if (!y->profiles || !y->decisions || !y->issued || !y->waited || !y->faulted || !y->lines) {
		dynamic_destroy(y);
		return -ENOMEM;
	}
	*state = y;
	return 0;
}

/* --- profiles of kernels ------------------------------------------------------------------ */

static struct profile *find_profile(const struct dynamic *y, const struct dispatch_kernel *k)
{
	struct sm_needs needs = sm_kernel_needs(k->kernel);

	for (unsigned int i = 0; i < y->nprofiles; i++) {
		struct profile *p = &y->profiles[i];

		if (!strncmp(p->name, k->name, sizeof(p->name) - 1) &&
		    p->needs.warps == needs.warps && p->needs.registers == needs.registers &&
		    p->needs.shared_bytes == needs.shared_bytes)
			return p;
	}
	return NULL;
}

static void keep_profile(struct dynamic *y, const struct dispatch_kernel *k)
{
	struct profile *p = find_profile(y, k);

	if (!p && y->nprofiles < PROFILES)
		p = &y->profiles[y->nprofiles++];
	if (!p)
		p = &y->profiles[y->oldest++ % PROFILES];
	snprintf(p->name, sizeof(p->name), "%s", k->name);
	p->needs = sm_kernel_needs(k->kernel);
	p->curve = y->parts[k->slot].curve;
}

/* --- the layout while sampling ------------------------------------------------------------- */

static bool all_known(const struct dynamic *y, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (!y->parts[d->kernels[i]->slot].known)
			return false;
	return true;
}

static bool is_sampled(const struct part *p)
{
	return !p->known && !p->waits;
}

/* The kernel whose SM it is, as spatial splits them, and the SM's number among that kernel's. */
static unsigned int owner(const struct dispatch *d, unsigned int sm, unsigned int *number)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int first, n = dispatch_spatial_part(d, i, &first);

		*number = sm - first;
		if (first <= sm && sm < first + n)
			return i;
	}
	return 0;
}

/* How many of the i-th kernel's CTAs its `number`-th SM holds: 1, 2, .. over its SMs, round by round. */
static unsigned int count(const struct dynamic *y, const struct dispatch *d, unsigned int i,
			  unsigned int number)
{
	const struct part *p = &y->parts[d->kernels[i]->slot];
	unsigned int first, n = dispatch_spatial_part(d, i, &first);

	return is_sampled(p) ? MIN(1 + number + y->round * n, p->curve.ctas) : p->curve.ctas;
}

/* So many samples has the kernel that needs most. */
static unsigned int rounds(const struct dynamic *y, const struct dispatch *d)
{
	unsigned int most = 1;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct part *p = &y->parts[d->kernels[i]->slot];
		unsigned int first, n = dispatch_spatial_part(d, i, &first);

		if (is_sampled(p))
			most = MAX(most, DIV_ROUND_UP(p->curve.ctas, n));
	}
	return most;
}

/* --- decisions ------------------------------------------------------------------------------- */

static void note(struct dynamic *y, const struct dispatch *d, uint64_t now)
{
	struct decision *c = &y->decisions[y->ndecisions];

	if (y->ndecisions == DECISIONS)
		return;
	y->ndecisions++;
	c->cycle = now;
	c->n = d->nkernels;
	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct part *p = &y->parts[d->kernels[i]->slot];

		snprintf(c->name[i], sizeof(c->name[i]), "%s", d->kernels[i]->name);
		c->ctas[i] = y->phase == SHARED ? p->ctas : 0;
		c->performance[i] = slicer_performance(&p->curve, p->ctas);
	}
}

/* Algorithm 1 over the kernels that run. */
static void partition(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	uint64_t have[SLICER_RESOURCES] = {
		[SLICER_REGISTERS] = d->spec->registers, [SLICER_SHARED] = d->spec->shared_bytes,
	};
	const struct slicer_curve *curves[SM_KERNELS] = { NULL };
	uint64_t needs[SM_KERNELS][SLICER_RESOURCES] = { { 0 } };
	unsigned int ctas[SM_KERNELS] = { 0 };
	unsigned int n = d->nkernels, warps, slots;

	/*
	 * Shares are of resident CTAs: registers and shared memory are held with slots or without,
	 * and the mechanism (sm.cta) decides which CTAs have slots.
	 */
	sm_numbers(d->spec, &warps, &slots);
	have[SLICER_WARPS] = warps;
	have[SLICER_SLOTS] = slots;
	for (unsigned int i = 0; i < n; i++) {
		struct sm_needs one = sm_kernel_needs(d->kernels[i]->kernel);

		curves[i] = &y->parts[d->kernels[i]->slot].curve;
		needs[i][SLICER_REGISTERS] = one.registers;
		needs[i][SLICER_SHARED] = one.shared_bytes;
		needs[i][SLICER_WARPS] = one.warps;
		needs[i][SLICER_SLOTS] = 1;
	}
	y->phase = SPLIT;
	/* A program that is not known yet is sampled when its pages have come. */
	y->due = all_known(y, d) ? NEVER : now + d->spec->slicer_sample;
	if (slicer_fill(curves, needs, n, have, ctas) &&
	    !slicer_loses_too_much(curves, ctas, n, (unsigned int)d->spec->slicer_loss)) {
		y->phase = SHARED;
		if (d->spec->slicer_change)
			y->due = now + d->spec->slicer_sample;
	}
	for (unsigned int i = 0; i < n; i++) {
		struct part *p = &y->parts[d->kernels[i]->slot];

		p->ctas = y->phase == SHARED ? ctas[i] : 0;
		p->looks = p->off = p->calm = 0;
	}
	note(y, d, now);
}

/* The rest have no curve: each CTA more is assumed to gain as much as the first. */
static void guess(struct dynamic *y, const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct part *p = &y->parts[d->kernels[i]->slot];

		for (unsigned int j = 0; !p->known && j < p->curve.ctas; j++)
			p->curve.at[j] = j + 1;
	}
}

static void decide(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	if (y->phase != DELAY && d->spec->slicer_delay) {
		y->phase = DELAY;
		y->due = now + d->spec->slicer_delay;
	} else {
		guess(y, d);
		partition(y, d, now);
	}
}

/* Scheduler cycles of the SM in which no warp issued for this reason. */
static uint64_t stalled(const struct dispatch *d, unsigned int sm, enum stall why,
			uint64_t now)
{
	sm_account(d->sms[sm], now);
	return sm_stats(d->sms[sm])->stalls[why];
}

/* Lines that the SM asked for behind L1D, or wrote there, so far. */
static uint64_t lines(const struct dispatch *d, unsigned int sm)
{
	const struct cache_counters *l1d = &sm_stats(d->sms[sm])->l1d;

	return l1d->read_misses + l1d->writes;
}

/* Counts begin from here. */
static void mark(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		unsigned int number;
		const struct dispatch_kernel *k = d->kernels[owner(d, sm, &number)];

		y->issued[sm] = sm_share(d->sms[sm], k->kernel)->warp_instructions;
		y->waited[sm] = stalled(d, sm, STALL_LONG, now);
		y->faulted[sm] = stalled(d, sm, STALL_FAR_FAULT, now);
		y->lines[sm] = lines(d, sm);
	}
	y->marked = now;
}

/* A kernel has come or gone. */
static void begin(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	y->round = y->put_off = 0;
	if (d->nkernels < 2) {
		y->phase = ALONE;
		y->due = NEVER;
		return;
	}
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct part *p = &y->parts[d->kernels[i]->slot];

		p->nsamples = 0;
		p->known = p->known && d->spec->slicer_reuse;
		p->waits = false;
	}
	if (all_known(y, d)) {
		y->phase = WARM_UP;
		decide(y, d, now);
		return;
	}
	y->phase = WARM_UP;
	y->due = now + d->spec->slicer_warmup;
	mark(y, d, now);
}

static void dynamic_arrived(void *state, struct dispatch *d, struct dispatch_kernel *k,
			    uint64_t now)
{
	struct dynamic *y = state;
	struct part *p = &y->parts[k->slot];
	const struct profile *known = d->spec->slicer_reuse ? find_profile(y, k) : NULL;

	*p = (struct part){ .known = known };
	if (known)
		p->curve = known->curve;
	else
		p->curve.ctas = MIN(sm_kernel_places(k->kernel), SLICER_CTAS);
	begin(y, d, now);
}

static void dynamic_left(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	begin(state, d, now);
}

/* --- samples ------------------------------------------------------------------------------------ */

/* An SM of a kernel that is sampled holds CTAs of another. */
static bool foreign(const struct dynamic *y, const struct dispatch *d)
{
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		unsigned int number;
		const struct dispatch_kernel *k = d->kernels[owner(d, sm, &number)];

		if (is_sampled(&y->parts[k->slot]) && sm_resident_ctas(d->sms[sm], NULL) !=
						sm_resident_ctas(d->sms[sm], k->kernel))
			return true;
	}
	return false;
}

/* A program whose SMs waited for far faults is not sampled. False: none is left to be sampled. */
static bool choose_sampled(struct dynamic *y, const struct dispatch *d, uint64_t now)
{
	uint64_t all = (now - y->marked) * d->spec->schedulers;
	bool any = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		unsigned int first, n = dispatch_spatial_part(d, i, &first);
		struct part *p = &y->parts[d->kernels[i]->slot];
		uint64_t faulted = 0;

		for (unsigned int sm = first; sm < first + n; sm++)
			faulted += stalled(d, sm, STALL_FAR_FAULT, now) - y->faulted[sm];
		if (is_sampled(p) && d->spec->paging && d->spec->slicer_faults &&
		    faulted * 100 > ARRIVING * all * n) {
			p->waits = true;
			p->failed++;
		}
		any |= is_sampled(p);
	}
	return any;
}

static void sample_begin(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	mark(y, d, now);
	y->phase = SAMPLE;
	y->due = now + d->spec->slicer_sample;
}

/* What a sample is scaled by. */
struct scale {
	double ctas;			/* printed: CTAs of an SM, the mean of all */
	double bytes;			/* bandwidth: an SM's share, a cycle */
};

static double taken(const struct dynamic *y, const struct dispatch *d, unsigned int sm)
{
	return (double)((lines(d, sm) - y->lines[sm]) * d->spec->l1d_line) /
	       (double)d->spec->slicer_sample;
}

/*
 * An SM's share of what memory gives: as much as they had on average, and where that was little,
 * memory not being asked for more, half of what DRAM's pins could carry. More than half is
 * rarely reached: reads, writes, and lines that are read to be written take turns.
 */
static struct scale scale_of(const struct dynamic *y, const struct dispatch *d)
{
	const struct gpu_spec *s = d->spec;
	double pins = (double)(s->dram_channels * s->dram_bus * s->dram_ratio) *
		      (double)s->dram_clock_mhz / (double)s->clock_mhz;
	struct scale all = { 0 };

	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		all.ctas += sm_resident_ctas(d->sms[sm], NULL);
		all.bytes += taken(y, d, sm);
	}
	all.ctas /= d->nsms;
	all.bytes = fmax(all.bytes, pins / 2) / d->nsms;
	return all;
}

static double scaled(const struct dispatch *d, const struct slicer_sample *s,
		     const struct scale *all)
{
	if (!strcmp(d->spec->slicer_scale, "printed"))
		return slicer_scale(s, all->ctas);
	return strcmp(d->spec->slicer_scale, "off") ? slicer_cut(s, all->bytes) : s->ipc;
}

static void sample_sm(struct dynamic *y, const struct dispatch *d, unsigned int sm,
		      const struct scale *all, uint64_t now)
{
	double cycles = (double)d->spec->slicer_sample, schedulers = (double)d->spec->schedulers;
	unsigned int number;
	const struct dispatch_kernel *k = d->kernels[owner(d, sm, &number)];
	struct part *p = &y->parts[k->slot];
	struct slicer_sample s = { .ctas = sm_resident_ctas(d->sms[sm], k->kernel) };

	/* Nothing is left to hand out, say. */
	if (!is_sampled(p) || s.ctas <= 0 || p->nsamples == ARRAY_SIZE(p->samples))
		return;
	if (d->spec->slicer_faults)
		cycles -= (double)(stalled(d, sm, STALL_FAR_FAULT, now) - y->faulted[sm]) /
			  schedulers;
	if (cycles * 100 < TELLING * (double)d->spec->slicer_sample)
		return;
	s.ipc = (double)(sm_share(d->sms[sm], k->kernel)->warp_instructions - y->issued[sm]) /
		cycles;
	s.memory = (double)(stalled(d, sm, STALL_LONG, now) - y->waited[sm]) /
		   (cycles * schedulers);
	s.bytes = taken(y, d, sm);
	s.ipc = scaled(d, &s, all);
	s.memory = 0;
	p->samples[p->nsamples++] = s;
}

static void sample_end(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	const struct scale all = scale_of(y, d);

	for (unsigned int sm = 0; sm < d->nsms; sm++)
		sample_sm(y, d, sm, &all, now);
	if (++y->round < rounds(y, d)) {
		sample_begin(y, d, now);
		return;
	}
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];
		struct part *p = &y->parts[k->slot];

		/* Seen only to wait for its pages, it is not known. */
		if (!is_sampled(p) || (!p->nsamples && d->spec->paging && d->spec->slicer_faults))
			continue;
		slicer_curve(p->samples, p->nsamples, 0, &p->curve);
		/* A kernel that was never seen to run is no kernel to remember. */
		if (p->nsamples && d->spec->slicer_reuse)
			keep_profile(y, k);
		p->known = true;
	}
	decide(y, d, now);
}

/* --- afterwards ---------------------------------------------------------------------------------- */

/* Since it was looked at last, has it waited for pages, and not executed for that? */
static bool faulted(const struct dispatch *d, const struct dispatch_kernel *k, struct part *p,
		    uint64_t now)
{
	uint64_t all = d->spec->slicer_sample * d->spec->schedulers * d->nsms, cycles = 0, before;

	if (!d->spec->paging || !d->spec->slicer_faults)
		return false;
	for (unsigned int sm = 0; sm < d->nsms; sm++) {
		struct sm_kernel_stats own;

		sm_account(d->sms[sm], now);
		sm_kernel_stats(d->sms[sm], k->kernel, &own);
		cycles += own.own_stalls[STALL_FAR_FAULT];
	}
	before = p->faulted;
	p->faulted = cycles;
	return (cycles - before) * 100 > ARRIVING * all;
}

/*
 * Compares a kernel's IPC in the sample that ends with its IPC in the first whole sample after the
 * partition. A kernel whose last CTAs run is not watched: its IPC falls, and it needs no share.
 */
static bool changed(const struct dispatch *d, const struct dispatch_kernel *k, struct part *p,
		    uint64_t now)
{
	bool waits = faulted(d, k, p, now);
	uint64_t issued = 0;
	double ipc;

	for (unsigned int sm = 0; sm < d->nsms; sm++)
		issued += sm_share(d->sms[sm], k->kernel)->warp_instructions;
	ipc = (double)(issued - p->issued) / (double)d->spec->slicer_sample;
	p->issued = issued;
	/* The first look has nothing to begin at, and while the second lasts the layout is reached. */
	if (waits || ++p->looks <= 2 || k->next == k->ctas)
		return false;
	if (p->looks == 3)
		p->ipc = ipc;
	if (fabs(ipc - p->ipc) * 100 <= (double)d->spec->slicer_change * p->ipc)
		p->off = 0;
	else
		p->off++;
	return p->off >= 2;
}

/*
 * Its pages have come: it can be sampled. With the few CTAs of a sample it may wait again; each
 * time it is left alone for twice as long.
 */
static bool arrived(const struct dispatch *d, const struct dispatch_kernel *k, struct part *p,
		    uint64_t now)
{
	p->calm = faulted(d, k, p, now) ? 0 : p->calm + 1;
	return p->calm > 1u << MIN(p->failed, 10u) && k->next < k->ctas;
}

static void look(struct dynamic *y, struct dispatch *d, uint64_t now)
{
	bool again = false;

	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];
		struct part *p = &y->parts[k->slot];

		if (p->known && (y->phase == SPLIT || !changed(d, k, p, now)))
			continue;
		p->waits = !p->known && !arrived(d, k, p, now);
		if (p->waits)
			continue;
		p->known = false;
		p->nsamples = 0;
		again = true;
	}
	y->due = now + (again ? d->spec->slicer_warmup : d->spec->slicer_sample);
	if (again) {
		y->phase = WARM_UP;
		y->round = y->put_off = 0;
		mark(y, d, now);
	}
}

static uint64_t dynamic_timer(const void *state, const struct dispatch *d)
{
	const struct dynamic *y = state;

	return y->due;
}

static void dynamic_tick(void *state, struct dispatch *d, uint64_t now)
{
	struct dynamic *y = state;

	switch (y->phase) {
	case WARM_UP:
		if (!choose_sampled(y, d, now))
			decide(y, d, now);
		else if (foreign(y, d) && y->put_off++ < PATIENCE)
			y->due = now + d->spec->slicer_sample;
		else
			sample_begin(y, d, now);
		break;
	case SAMPLE:
		sample_end(y, d, now);
		break;
	case DELAY:
		decide(y, d, now);
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
	unsigned int first, n, number = 0;

	if (y->phase == ALONE)
		return UINT_MAX;
	if (y->phase == SHARED)
		return y->parts[d->kernels[i]->slot].ctas;
	n = dispatch_spatial_part(d, i, &first);
	number = sm - first;
	return first <= sm && sm < first + n ? count(y, d, i, number) : 0;
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

/* "partitions": [{"cycle", "shared", "kernels": [{"name", "ctas", "performance"}]}] */
static struct json_object *dynamic_report(const void *state)
{
	const struct dynamic *y = state;
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();

	for (unsigned int i = 0; i < y->ndecisions; i++) {
		const struct decision *c = &y->decisions[i];
		struct json_object *one = json_object_new_object(), *kernels;

		kernels = json_object_new_array();
		json_object_object_add(one, "cycle", json_object_new_uint64(c->cycle));
		json_object_object_add(one, "shared", json_object_new_boolean(c->ctas[0] > 0));
		for (unsigned int k = 0; k < c->n; k++) {
			struct json_object *o = json_object_new_object();

			json_object_object_add(o, "name", json_object_new_string(c->name[k]));
			if (c->ctas[k]) {
				json_object_object_add(o, "ctas",
						       json_object_new_uint64(c->ctas[k]));
				json_object_object_add(o, "performance",
						       stats_json_ratio(c->performance[k]));
			}
			json_object_array_add(kernels, o);
		}
		json_object_object_add(one, "kernels", kernels);
		json_object_array_add(list, one);
	}
	json_object_object_add(all, "partitions", list);
	return all;
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
