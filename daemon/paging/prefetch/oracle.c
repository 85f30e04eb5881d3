// SPDX-License-Identifier: GPL-2.0
/*
 * Prefetch policy: the pages that a recorded run touched next and that are not
 * here: the bound that others are compared with (HPCA'16 section 4, oracle). It knows
 * what comes and in which order, not when: how much it brings with a batch is `pages`.
 */
#include "paging/prefetch/span.h"
#include "paging/recorded.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

/* Places of the record that one batch looks at. */
#define HORIZON	16384u

struct oracle {
	struct recorded future;
	uint64_t scan;		/* every page that is touched before this place is here */
};

static int oracle_create(const struct gpuemu_policy_view *view, void **state)
{
	struct oracle *o = calloc(1, sizeof(*o));

	if (!o || recorded_make(&o->future, view)) {
		free(o);
		return -ENOMEM;
	}
	*state = o;
	return 0;
}

static void oracle_destroy(void *state)
{
	struct oracle *o = state;

	recorded_clear(&o->future);
	free(o);
}

static void oracle_on_touch(void *state, uint64_t addr, bool write)
{
	struct oracle *o = state;

	recorded_touch(&o->future, addr);
}

static void oracle_on_leave(void *state, uint64_t addr)
{
	struct oracle *o = state;

	o->scan = MIN(o->scan, recorded_next(&o->future, addr));
}

/* The place is the page's next one, and the page is not here. */
static bool wanted(struct oracle *o, const struct gpuemu_policy_view *view, uint64_t place)
{
	uint64_t addr = o->future.record[place];

	return !view->resident(view->ctx, addr) && recorded_next(&o->future, addr) == place &&
	       span_managed(view, addr);
}

static bool is_faulted(const struct gpuemu_policy_fault *faults, unsigned int n, uint64_t addr)
{
	unsigned int low = 0, high = n;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (faults[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && faults[low].addr == addr;
}

static unsigned int oracle_on_batch(void *state, const struct gpuemu_policy_view *view,
				    const struct gpuemu_policy_fault *faults, unsigned int n,
				    uint64_t *pages, unsigned int max)
{
	struct oracle *o = state;
	uint64_t end;
	unsigned int count = 0;

	max = (unsigned int)MIN(max, view->options[0]);
	if (!n)
		return 0;
	while (o->scan < o->future.length && !wanted(o, view, o->scan))
		o->scan++;
	end = MIN(o->future.length, o->scan + HORIZON);
	for (uint64_t place = o->scan; place < end && count < max; place++)
		if (wanted(o, view, place) && !is_faulted(faults, n, o->future.record[place]))
			pages[count++] = o->future.record[place];
	return count;
}

static const struct gpuemu_policy_option options[] = {
	{ "pages", 128, 1, 8192, "pages to bring with each batch" },
	{ NULL }
};

const struct gpuemu_prefetch_ops prefetch_oracle_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "oracle",
	.help = "what a recorded run touched next; needs --recorded FILE",
	.options = options,
	.needs_record = true,
	.create = oracle_create,
	.destroy = oracle_destroy,
	.on_batch = oracle_on_batch,
	.on_touch = oracle_on_touch,
	.on_leave = oracle_on_leave,
};
