// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: the trend of the far faults. The distances between faults, in
 * the order in which they were raised, vote for a stride; the pages that lie on it ahead
 * of each faulted page come. As Leap does (Maruf and Chowdhury, ATC'20, algorithm 1): a
 * majority among the last few distances is looked for first, then among twice as many, so
 * that a new trend is seen soon and a noisy one at all. Without a majority nothing comes.
 *
 * The majority vote is Boyer and Moore's (1981): one pass, then a count.
 */
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW		64u	/* distances that are remembered, a power of two */
#define WINDOW_LEAST	8u	/* that are looked at first */
#define BATCH_MOST	256u

struct stride {
	int64_t delta[WINDOW];	/* ring, in pages */
	uint64_t ndeltas;	/* ever: the next one goes to ndeltas % WINDOW */
	uint64_t last;		/* page of the last fault; 0: none yet */
};

static int stride_create(const struct gpuemu_policy_view *view, void **state)
{
	*state = calloc(1, sizeof(struct stride));
	return *state ? 0 : -ENOMEM;
}

static int compare_raised(const void *a, const void *b)
{
	const struct gpuemu_policy_fault *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	if (x->sm != y->sm)
		return x->sm < y->sm ? -1 : 1;
	if (x->warp != y->warp)
		return x->warp < y->warp ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int64_t back(const struct stride *s, uint64_t k)
{
	return s->delta[(s->ndeltas - 1 - k) % WINDOW];
}

/* The distance that more than half of the last n are; 0: none is. */
static int64_t majority(const struct stride *s, uint64_t n)
{
	int64_t candidate = 0;
	uint64_t lead = 0, votes = 0;

	for (uint64_t k = 0; k < n; k++) {
		if (!lead)
			candidate = back(s, k);
		lead = back(s, k) == candidate ? lead + 1 : lead - 1;
	}
	for (uint64_t k = 0; k < n; k++)
		votes += back(s, k) == candidate;
	return votes * 2 > n ? candidate : 0;
}

static int64_t trend(const struct stride *s)
{
	int64_t found = 0;

	for (uint64_t n = WINDOW_LEAST; n <= MIN(s->ndeltas, WINDOW) && !found; n *= 2)
		found = majority(s, n);
	return found;
}

static void remember(struct stride *s, const struct gpuemu_policy_fault *faults, unsigned int n)
{
	struct gpuemu_policy_fault raised[BATCH_MOST];

	n = MIN(n, BATCH_MOST);
	memcpy(raised, faults, n * sizeof(*faults));
	qsort(raised, n, sizeof(*raised), compare_raised);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t page = raised[i].addr / GPUEMU_POLICY_PAGE;

		if (s->last && page != s->last)
			s->delta[s->ndeltas++ % WINDOW] = (int64_t)(page - s->last);
		s->last = page;
	}
}

static unsigned int stride_on_batch(void *state, const struct gpuemu_policy_view *view,
				    const struct gpuemu_policy_fault *faults, unsigned int n,
				    uint64_t *pages, unsigned int max)
{
	struct stride *s = state;
	unsigned int count = 0;
	int64_t step;

	remember(s, faults, n);
	step = trend(s);
	if (!step)
		return 0;
	/* The next page of every stream before the one after it. */
	for (uint64_t k = 1; k <= view->options[0]; k++)
		for (unsigned int i = 0; i < n; i++) {
			uint64_t page = faults[i].addr / GPUEMU_POLICY_PAGE + (uint64_t)step * k;

			/* Below 0 and above 2^64 is nothing. */
			if (faults[i].resident || page > UINT64_MAX / GPUEMU_POLICY_PAGE)
				continue;
			page *= GPUEMU_POLICY_PAGE;
			if (view->resident(view->ctx, page))
				continue;
			if (count == max)
				return count;
			pages[count++] = page;
		}
	return count;
}

static const struct gpuemu_policy_option options[] = {
	{ "depth", 16, 1, 512, "pages along the stride, for each faulted one" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_stride_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "stride",
	.help = "pages along the stride that most of the last faults have (Leap, ATC'20)",
	.options = options,
	.create = stride_create,
	.destroy = free,
	.on_batch = stride_on_batch,
};
