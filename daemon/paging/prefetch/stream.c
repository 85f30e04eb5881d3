// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: HPCA'16 section 4, sequential: pages from the lowest to the
 * highest managed address, whatever faults. Each batch of faults brings the next
 * ones; those that came by themselves are passed over.
 *
 * The paper does not say how much at once: 128 pages, as its locality-aware
 * prefetcher, take 33 us of a 16 GB/s link, more than the 20 us that a batch is
 * served in, so the link does not run dry. It goes over memory once: what is evicted
 * behind it does not come again, what is allocated above it later does.
 */
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

struct stream {
	uint64_t next;		/* everything below was brought, or was here */
};

static int stream_create(const struct gpuemu_policy_view *view, void **state)
{
	*state = calloc(1, sizeof(struct stream));
	return *state ? 0 : -ENOMEM;
}

static unsigned int stream_on_batch(void *state, const struct gpuemu_policy_view *view,
				    const struct gpuemu_policy_fault *faults, unsigned int n,
				    uint64_t *pages, unsigned int max)
{
	struct stream *s = state;
	struct gpuemu_policy_range range;
	unsigned int count = 0;

	max = (unsigned int)MIN(max, view->options[0]);
	if (!n)
		return 0;
	while (count < max && view->next_range(view->ctx, s->next, &range)) {
		s->next = MAX(s->next, range.start);
		for (; s->next < range.end && count < max; s->next += GPUEMU_POLICY_PAGE)
			if (!view->resident(view->ctx, s->next))
				pages[count++] = s->next;
	}
	return count;
}

static const struct gpuemu_policy_option options[] = {
	{ "pages", 128, 1, 8192, "pages to bring with each batch" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_stream_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "stream",
	.help = "from the lowest to the highest managed address (HPCA'16, sequential)",
	.options = options,
	.create = stream_create,
	.destroy = free,
	.on_batch = stream_on_batch,
};
