// SPDX-License-Identifier: GPL-2.0
/* Partitions of an SM by water-filling, for dispatch dynamic; partitioning.h. */
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "gpu/dispatch/partitioning.h"

/* Decisions that a report shows. */
#define DECISIONS	256u

struct decision {
	uint64_t cycle;
	unsigned int n, ctas[SM_KERNELS];	/* 0: the SMs were split */
	uint32_t stream[SM_KERNELS];
	double performance[SM_KERNELS];
	char name[SM_KERNELS][64];
};

struct partitions {
	struct decision all[DECISIONS];
	unsigned int n;
};

struct partitions *partitions_create(void)
{
	return calloc(1, sizeof(struct partitions));
}

void partitions_destroy(struct partitions *all)
{
	free(all);
}

static void note(struct partitions *all, const struct dispatch *d,
		 const struct slicer_curve *const curves[], const unsigned int *ctas, uint64_t now)
{
	struct decision *c = &all->all[all->n];

	if (all->n == DECISIONS)
		return;
	all->n++;
	c->cycle = now;
	c->n = d->nkernels;
	for (unsigned int i = 0; i < d->nkernels; i++) {
		snprintf(c->name[i], sizeof(c->name[i]), "%s", d->kernels[i]->name);
		c->ctas[i] = ctas[i];
		c->stream[i] = d->kernels[i]->stream;
		c->performance[i] = slicer_performance(curves[i], ctas[i]);
	}
}

bool partitions_decide(struct partitions *all, const struct dispatch *d,
		       const struct slicer_curve *const curves[], uint64_t now,
		       unsigned int ctas[SM_KERNELS])
{
	uint64_t have[SLICER_RESOURCES] = {
		[SLICER_REGISTERS] = d->spec->registers, [SLICER_SHARED] = d->spec->shared_bytes,
	};
	uint64_t needs[SM_KERNELS][SLICER_RESOURCES] = { { 0 } };
	unsigned int n = d->nkernels, warps, slots;
	bool shared;

	/*
	 * Shares are of resident CTAs: registers and shared memory are held with slots or without,
	 * and the mechanism (sm.cta) decides which CTAs have slots.
	 */
	dispatch_to_share(d, &warps, &slots);
	have[SLICER_WARPS] = warps;
	have[SLICER_SLOTS] = slots;
	for (unsigned int i = 0; i < n; i++) {
		struct sm_needs one = sm_kernel_needs(d->kernels[i]->kernel);

		needs[i][SLICER_REGISTERS] = one.registers;
		needs[i][SLICER_SHARED] = one.shared_bytes;
		needs[i][SLICER_WARPS] = one.warps;
		needs[i][SLICER_SLOTS] = 1;
	}
	shared = slicer_fill(curves, needs, n, have, ctas) &&
		 !slicer_loses_too_much(curves, ctas, n, (unsigned int)d->spec->slicer_loss);
	for (unsigned int i = 0; !shared && i < n; i++)
		ctas[i] = 0;
	note(all, d, curves, ctas, now);
	return shared;
}

struct json_object *partitions_report(const struct partitions *all)
{
	struct json_object *report = json_object_new_object(), *list = json_object_new_array();

	for (unsigned int i = 0; i < all->n; i++) {
		const struct decision *c = &all->all[i];
		struct json_object *one = json_object_new_object(), *kernels;

		kernels = json_object_new_array();
		json_object_object_add(one, "cycle", json_object_new_uint64(c->cycle));
		json_object_object_add(one, "shared", json_object_new_boolean(c->ctas[0] > 0));
		for (unsigned int k = 0; k < c->n; k++) {
			struct json_object *o = json_object_new_object();

			json_object_object_add(o, "name", json_object_new_string(c->name[k]));
			json_object_object_add(o, "stream", json_object_new_uint64(c->stream[k]));
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
	json_object_object_add(report, "partitions", list);
	return report;
}
