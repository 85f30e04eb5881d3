// SPDX-License-Identifier: GPL-2.0
/*
 * A prefetch policy as an object of its own: the pages that follow each faulted one.
 * Decides as the built-in `sequential` does. gpuemu-policy(7) builds and runs it.
 */
#include <errno.h>
#include <stdlib.h>

#include <gpuemu_policy.h>

enum { PAGES };			/* options, in the order of the table */
enum { ASKED, USED };		/* counters */

static const struct gpuemu_policy_option options[] = {
	{ "pages", 16, 0, 8192, "pages to bring behind each faulted one" },
	{ NULL }
};

static const char *const counters[] = { "asked", "used", NULL };

struct ahead {
	const struct gpuemu_policy_view *view;
};

static int create(const struct gpuemu_policy_view *view, void **state)
{
	struct ahead *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->view = view;
	*state = a;
	return 0;
}

/* Faults are sorted by address, so a page that was asked for is not above `last`. */
static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	unsigned int count = 0;
	uint64_t last = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t end = faults[i].addr + view->options[PAGES] * GPUEMU_POLICY_PAGE;

		if (faults[i].resident)
			continue;
		if (last < faults[i].addr)
			last = faults[i].addr;
		for (; last < end && count < max; count++) {
			last += GPUEMU_POLICY_PAGE;
			pages[count] = last;
		}
	}
	view->count(view->ctx, ASKED, count);
	return count;
}

static void on_touch(void *state, uint64_t addr, bool write)
{
	struct ahead *a = state;

	a->view->count(a->view->ctx, USED, 1);
}

const struct gpuemu_prefetch_ops gpuemu_prefetch = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "ahead",
	.help = "the pages behind each faulted one",
	.options = options,
	.counters = counters,
	.create = create,
	.destroy = free,
	.on_batch = on_batch,
	.on_touch = on_touch,
};
