// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithm 1 of Warped-Slicer gives CTAs to kernels by water-filling. Each step takes the kernel
 * that has least of its best performance, and gives it the fewest CTAs that make it faster. If
 * they do not fit, the kernel is full.
 */
#include "slicer/slicer.h"

/* What the algorithm knows of one kernel. */
struct column {
	const struct slicer_curve *curve;
	const uint64_t *needs;
	double best;			/* the curve's highest IPC */
	unsigned int ctas;		/* T: CTAs that the kernel has so far */
	double performance;		/* Q at g: IPC with `ctas`, over `best` */
	bool full;
};

/* The fewest CTAs with which the kernel is faster than now. 0: it is never faster. */
static unsigned int next_step(const struct column *c)
{
	for (unsigned int j = c->ctas; j < c->curve->ctas; j++)
		if (c->best > 0 && c->curve->at[j] / c->best > c->performance)
			return j + 1;
	return 0;
}

static void raise_to(struct column *c, unsigned int ctas)
{
	c->ctas = ctas;
	c->performance = c->best > 0 ? c->curve->at[ctas - 1] / c->best : 1;
}

/* Takes the resources of so many CTAs from what is left. False: they do not fit. */
static bool take(uint64_t left[SLICER_RESOURCES], const uint64_t needs[SLICER_RESOURCES],
		 unsigned int ctas)
{
	for (unsigned int r = 0; r < SLICER_RESOURCES; r++)
		if (needs[r] && left[r] / needs[r] < ctas)
			return false;
	for (unsigned int r = 0; r < SLICER_RESOURCES; r++)
		left[r] -= needs[r] * ctas;
	return true;
}

static struct column *worst_off(struct column *c, unsigned int n)
{
	struct column *worst = NULL;

	for (unsigned int i = 0; i < n; i++)
		if (!c[i].full && (!worst || c[i].performance < worst->performance))
			worst = &c[i];
	return worst;
}

bool slicer_fill(const struct slicer_curve *const curve[], const uint64_t needs[][SLICER_RESOURCES],
		 unsigned int n, const uint64_t have[SLICER_RESOURCES], unsigned int ctas[])
{
	struct column columns[SLICER_KERNELS], *c;
	uint64_t left[SLICER_RESOURCES];

	for (unsigned int r = 0; r < SLICER_RESOURCES; r++)
		left[r] = have[r];
	for (unsigned int i = 0; i < n; i++) {
		c = &columns[i];
		*c = (struct column){ .curve = curve[i], .needs = needs[i] };
		for (unsigned int j = 0; j < curve[i]->ctas; j++)
			c->best = MAX(c->best, curve[i]->at[j]);
		if (!take(left, needs[i], 1))
			return false;
		raise_to(c, 1);
	}
	while ((c = worst_off(columns, n))) {
		unsigned int step = next_step(c);

		if (step && take(left, c->needs, step - c->ctas))
			raise_to(c, step);
		else
			c->full = true;
	}
	for (unsigned int i = 0; i < n; i++)
		ctas[i] = columns[i].ctas;
	return true;
}

bool slicer_loses_too_much(const struct slicer_curve *const curve[], const unsigned int ctas[],
			   unsigned int n, unsigned int percent)
{
	for (unsigned int i = 0; i < n; i++)
		if ((1 - slicer_performance(curve[i], ctas[i])) * 100 * n > percent)
			return true;
	return false;
}
