// SPDX-License-Identifier: GPL-2.0
/* Prefetch policy: demand paging alone, the baseline of HPCA'16 section 3. */
#include "paging/rows.h"

static int none_create(const struct policy_view *view, void **state)
{
	*state = NULL;
	return 0;
}

static void none_destroy(void *state)
{
}

static unsigned int none_on_batch(void *state, const struct policy_view *view,
				  const struct fault *faults, unsigned int n,
				  uint64_t *pages, unsigned int max)
{
	return 0;
}

const struct prefetch_ops prefetch_none_ops = {
	.name = "none",
	.help = "only what faulted",
	.create = none_create,
	.destroy = none_destroy,
	.on_batch = none_on_batch,
};
