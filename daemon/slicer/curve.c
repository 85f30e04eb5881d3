// SPDX-License-Identifier: GPL-2.0
/*
 * This file makes a kernel's curve of samples (Warped-Slicer, section IV-A, equations 2 to 4).
 * While the SMs are sampled, those that hold many CTAs take more than their share of the memory's
 * bandwidth from those that hold few. The scaling takes that back.
 */
#include <stdlib.h>

#include "slicer/slicer.h"

double slicer_scale(const struct slicer_sample *s, double average)
{
	double psi = average > 0 ? s->ctas / average - 1 : 0;

	return s->ipc * (1 + s->memory * psi);
}

double slicer_cut(const struct slicer_sample *s, double fair)
{
	return s->bytes > fair ? s->ipc * fair / s->bytes : s->ipc;
}

static int by_ctas(const void *a, const void *b)
{
	const struct slicer_sample *x = a, *y = b;

	/* group() sums samples of one count. That sum must not depend on qsort()'s order. */
	if (x->ctas < y->ctas || x->ctas > y->ctas)
		return x->ctas > y->ctas ? 1 : -1;
	return (x->ipc > y->ipc) - (x->ipc < y->ipc);
}

/*
 * Takes the samples that have as many CTAs as the one at `at`: *ipc is their mean. Returns the
 * index behind them.
 */
static unsigned int group(const struct slicer_sample *s, unsigned int n, unsigned int at,
			  double average, double *ipc)
{
	unsigned int end = at;
	double sum = 0;

	while (end < n && s[end].ctas <= s[at].ctas)
		sum += slicer_scale(&s[end++], average);
	*ipc = sum / (end - at);
	return end;
}

void slicer_curve(struct slicer_sample *s, unsigned int n, double average,
		  struct slicer_curve *curve)
{
	double left = 0, left_ipc = 0, right = 0, right_ipc = 0;
	unsigned int next = 0;

	qsort(s, n, sizeof(*s), by_ctas);
	for (unsigned int j = 0; j < curve->ctas; j++) {
		double x = j + 1;

		while (right < x && next < n) {
			left = right;
			left_ipc = right_ipc;
			right = s[next].ctas;
			next = group(s, n, next, average, &right_ipc);
		}
		if (right <= x || right <= left)
			curve->at[j] = right_ipc;
		else
			curve->at[j] = left_ipc + (right_ipc - left_ipc) * (x - left) /
						  (right - left);
	}
}

double slicer_performance(const struct slicer_curve *curve, unsigned int ctas)
{
	double best = 0, most = 0;

	for (unsigned int j = 0; j < curve->ctas; j++) {
		most = MAX(most, curve->at[j]);
		if (j < ctas)
			best = most;
	}
	return most > 0 ? best / most : 1;
}
