// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs to SMs: at most one an SM and cycle, round robin over the SMs from the one
 * behind that which got one last, as GPGPU-Sim does. The policy says which kernel's CTA it is
 * (gpu/dispatch/). Called by the loop, which tells of kernels and of CTAs that retired.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/dispatch.h"

static bool waits(const struct dispatch_kernel *k, uint64_t cycle)
{
	return k->next < k->ctas && k->first <= cycle;
}

bool dispatch_can(const struct dispatch *d, unsigned int sm, const struct dispatch_kernel *k,
		  uint64_t cycle)
{
	if (!waits(k, cycle))
		return false;
	if (sm_has_room(d->sms[sm], k->kernel))
		return true;
	sm_refused(d->sms[sm], k->kernel, cycle);
	return false;
}

bool dispatch_may_share(const struct dispatch *d, unsigned int sm,
			const struct dispatch_kernel *k)
{
	return d->nkernels == 1 || d->spec->mixed_sms ||
	       sm_resident_ctas(d->sms[sm], NULL) == sm_resident_ctas(d->sms[sm], k->kernel);
}

void dispatch_to_share(const struct dispatch *d, unsigned int *warps, unsigned int *ctas)
{
	const struct sm_mechanism *m = sm_mechanism_find(d->spec->cta);

	sm_numbers(d->spec, warps, ctas);
	/* A kernel that has the SMs alone may have all numbers. */
	if (m && m->by_warp && d->nkernels > 1)
		*warps = (unsigned int)d->spec->warps;
}

unsigned int dispatch_place(const struct dispatch *d, unsigned int i)
{
	unsigned int place = 0;

	for (unsigned int k = 0; k < d->nkernels; k++)
		place += d->kernels[k]->stream < d->kernels[i]->stream ||
			 (k < i && d->kernels[k]->stream == d->kernels[i]->stream);
	return place;
}

/* --- which kernels run ------------------------------------------------------------------- */

int dispatch_create(const struct gpu_spec *spec, const struct dispatch_ops *ops,
		    struct sm **sms, unsigned int nsms, struct dispatch **out)
{
	struct dispatch *d = calloc(1, sizeof(*d));
	int ret = 0;

	if (!d)
		return -ENOMEM;
	d->spec = spec;
	d->sms = sms;
	d->nsms = nsms;
	d->ops = ops;
	d->told = calloc((size_t)nsms * SM_KERNELS, sizeof(*d->told));
	if (!d->ops)
		ret = -EINVAL;
	else if (!d->told)
		ret = -ENOMEM;
	else if (d->ops->create)
		ret = d->ops->create(d, &d->state);
	if (ret) {
		/* There is no state to destroy. */
		free(d->told);
		free(d);
		return ret;
	}
	*out = d;
	return 0;
}

void dispatch_destroy(struct dispatch *d)
{
	if (!d)
		return;
	if (d->ops->destroy)
		d->ops->destroy(d->state);
	free(d->told);
	free(d);
}

void dispatch_arrived(struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	assert(d->nkernels < SM_KERNELS);
	d->kernels[d->nkernels++] = k;
	sm_kernel_set_waiting(k->kernel, k->ctas - k->next);
	for (unsigned int i = 0; i < d->nsms; i++)
		d->told[i * SM_KERNELS + k->slot] = 0;
	d->room = true;
	if (d->ops->arrived)
		d->ops->arrived(d->state, d, k, now);
}

void dispatch_left(struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	unsigned int at = 0;

	while (d->kernels[at] != k)
		at++;
	d->nkernels--;
	memmove(&d->kernels[at], &d->kernels[at + 1],
		(d->nkernels - at) * sizeof(d->kernels[0]));
	/* An SM that was this kernel's alone may be another's now. */
	d->room = true;
	if (d->ops->left)
		d->ops->left(d->state, d, k, now);
}

void dispatch_room(struct dispatch *d)
{
	d->room = true;
}

void dispatch_retired(struct dispatch *d, unsigned int sm, uint64_t now)
{
	for (unsigned int i = 0; d->ops->retired && i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];
		uint64_t *told = &d->told[sm * SM_KERNELS + k->slot];
		uint64_t ctas = sm_share(d->sms[sm], k->kernel)->retired_ctas - *told;

		*told += ctas;
		if (ctas)
			d->ops->retired(d->state, d, sm, k, ctas, now);
	}
}

struct json_object *dispatch_report(const struct dispatch *d)
{
	return d->ops->report ? d->ops->report(d->state) : NULL;
}

/* --- handing out ------------------------------------------------------------------ */

static bool any_waits(const struct dispatch *d, uint64_t cycle)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (waits(d->kernels[i], cycle))
			return true;
	return false;
}

static int launch(struct dispatch *d, unsigned int sm, struct dispatch_kernel *k, uint64_t cycle)
{
	const uint32_t ctaid[3] = {
		(uint32_t)(k->next % k->grid[0]),
		(uint32_t)(k->next / k->grid[0] % k->grid[1]),
		(uint32_t)(k->next / k->grid[0] / k->grid[1]),
	};
	int ret = sm_launch_cta(d->sms[sm], k->kernel, ctaid, cycle);

	if (ret)
		return ret;
	k->next++;
	sm_kernel_set_waiting(k->kernel, k->ctas - k->next);
	d->next_sm = (sm + 1) % d->nsms;
	if (d->ops->launched)
		d->ops->launched(d->state, d, sm, k, cycle);
	return 0;
}

/*
 * Has a kernel's first cycle come since SMs were looked at last? That no one picked an SM's
 * CTA then says nothing about it.
 */
static bool any_begins(const struct dispatch *d, uint64_t cycle)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (d->kernels[i]->first > d->looked && d->kernels[i]->first <= cycle)
			return true;
	return false;
}

/* A CTA is put on its SM at a cycle's end. */
static int hand_out(struct dispatch *d, uint64_t cycle)
{
	unsigned int start = d->next_sm;
	bool room = false;

	d->room |= any_begins(d, cycle);
	d->looked = cycle;
	if (!d->room || !any_waits(d, cycle))
		return 0;
	for (unsigned int i = 0; i < d->nsms; i++) {
		unsigned int sm = (start + i) % d->nsms;
		struct dispatch_kernel *k = d->ops->pick(d->state, d, sm, cycle);
		int ret;

		if (!k)
			continue;
		assert(dispatch_can(d, sm, k, cycle));
		ret = launch(d, sm, k, cycle);
		if (ret)
			return ret;
		room |= d->ops->pick(d->state, d, sm, cycle) != NULL;
	}
	d->room = room;
	return 0;
}

static uint64_t timer(const struct dispatch *d)
{
	return d->ops->timer ? d->ops->timer(d->state, d) : NEVER;
}

int dispatch_step(struct dispatch *d, uint64_t now)
{
	if (timer(d) <= now) {
		d->ops->tick(d->state, d, now);
		d->room = true;
		assert(timer(d) > now);
	}
	return now ? hand_out(d, now - 1) : 0;
}

uint64_t dispatch_next(const struct dispatch *d, uint64_t from)
{
	uint64_t next = MAX(timer(d), from + 1);

	for (unsigned int i = 0; i < d->nkernels; i++) {
		const struct dispatch_kernel *k = d->kernels[i];

		if (k->next == k->ctas)
			continue;
		/* At the end of k->first at the soonest. */
		if (k->first >= from)
			next = MIN(next, k->first + 1);
		else if (d->room)
			next = MIN(next, from + 1);
	}
	return next;
}
