// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: the paging.prefetch_pages pages that follow each faulted
 * one. Which of them are here already is the handler's business, and where the
 * managed range ends the service's: both leave out what need not or cannot come.
 * A fault whose page is resident by now asks for nothing.
 */
#include "paging/rows.h"

static int sequential_create(const struct policy_view *view, void **state)
{
	*state = NULL;
	return 0;
}

static void sequential_destroy(void *state)
{
}

static unsigned int sequential_on_batch(void *state, const struct policy_view *view,
					const struct fault *faults, unsigned int n,
					uint64_t *pages, unsigned int max)
{
	uint64_t asked = 0;	/* faults are sorted: every page up to here was looked at */
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t page = faults[i].addr;

		if (faults[i].flags & (FAULT_UNMANAGED | FAULT_RESIDENT))
			continue;
		for (uint64_t ahead = 0; ahead < view->spec->prefetch_pages; ahead++) {
			page += PAGE_BYTES;
			if (page < PAGE_BYTES)
				break;		/* wrapped round the address space */
			if (page <= asked)
				continue;
			if (count == max)
				return count;
			pages[count++] = page;
			asked = page;
		}
	}
	return count;
}

const struct prefetch_ops prefetch_sequential_ops = {
	.name = "sequential",
	.help = "the paging.prefetch_pages pages behind each faulted one",
	.create = sequential_create,
	.destroy = sequential_destroy,
	.on_batch = sequential_on_batch,
};
