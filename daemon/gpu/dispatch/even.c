// SPDX-License-Identifier: GPL-2.0
/*
 * Even partitioning: of K kernels that run, each may hold a K-th of every resource of every SM:
 * CTA and warp slots (dispatch_to_share()), registers, shared memory. The parts
 * are made anew when a kernel arrives or leaves; a kernel that then holds more than its part
 * gets nothing until enough of it has ended. Where a CTA of one of them is larger than a K-th, an
 * SM cannot be split evenly, and the SMs are, as by spatial. SMs hold several kernels, whatever
 * gpu.mixed_sms says.
 */
#include "gpu/dispatch.h"

static uint64_t fits(uint64_t part, uint64_t each)
{
	return each ? part / each : UINT64_MAX;
}

/* How many of its CTAs fit a K-th of an SM. */
static uint64_t limit(const struct dispatch *d, const struct dispatch_kernel *k)
{
	const struct gpu_spec *s = d->spec;
	struct sm_needs needs = sm_kernel_needs(k->kernel);
	unsigned int warps, ctas;
	uint64_t n;

	dispatch_to_share(d, &warps, &ctas);
	n = MIN(ctas / d->nkernels, fits(warps / d->nkernels, needs.warps));
	n = MIN(n, fits(s->registers / d->nkernels, needs.registers));
	return MIN(n, fits(s->shared_bytes / d->nkernels, needs.shared_bytes));
}

static bool all_fit(const struct dispatch *d)
{
	for (unsigned int i = 0; i < d->nkernels; i++)
		if (!limit(d, d->kernels[i]))
			return false;
	return true;
}

/* Registers and shared memory are cut in K: what lies in another's part ends first. */
static void cut(struct dispatch *d)
{
	uint32_t n = d->nkernels, registers = (uint32_t)d->spec->registers;
	uint32_t shared = (uint32_t)d->spec->shared_bytes;
	bool whole = !all_fit(d);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t place = dispatch_place(d, i);
		const uint32_t from = whole ? 0 : place, to = whole ? n : place + 1;
		const struct sm_part part = {
			registers / n * from, to == n ? registers : registers / n * to,
			shared / n * from, to == n ? shared : shared / n * to,
		};

		for (unsigned int sm = 0; sm < d->nsms; sm++)
			sm_set_part(d->sms[sm], d->kernels[i]->kernel, &part);
	}
}

static void even_arrived(void *state, struct dispatch *d, struct dispatch_kernel *k,
			 uint64_t now)
{
	cut(d);
}

static void even_left(void *state, struct dispatch *d, struct dispatch_kernel *k, uint64_t now)
{
	cut(d);
}

static struct dispatch_kernel *even_pick(const void *state, const struct dispatch *d,
					 unsigned int sm, uint64_t cycle)
{
	if (!all_fit(d))
		return dispatch_pick_spatial(d, sm, cycle);
	for (unsigned int i = 0; i < d->nkernels; i++) {
		struct dispatch_kernel *k = d->kernels[i];

		if (sm_resident_ctas(d->sms[sm], k->kernel) < limit(d, k) &&
		    dispatch_can(d, sm, k, cycle))
			return k;
	}
	return NULL;
}

const struct dispatch_ops dispatch_even = {
	.name = "even",
	.help = "of K kernels each may hold a K-th of every resource of every SM",
	.arrived = even_arrived,
	.left = even_left,
	.pick = even_pick,
};
