// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: all of the 64 KiB leaf whose last TLB fill is longest ago (UVMSmart's
 * SLe), so that write-backs are longer than a page. Pages that must stay stay.
 */
#include "paging/evict/units.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

static int sequential_local_create(const struct gpuemu_policy_view *view, void **state)
{
	struct units *units = malloc(sizeof(*units));

	if (!units)
		return -ENOMEM;
	evict_units_init(units, LEAF_SHIFT);
	*state = units;
	return 0;
}

static void sequential_local_destroy(void *state)
{
	units_clear(state);
	free(state);
}

static int sequential_local_insert(void *state, uint64_t addr, bool prefetched)
{
	return units_insert(state, addr);
}

static void sequential_local_touch(void *state, uint64_t addr, bool write)
{
	units_touch(state, addr);
}

static void sequential_local_remove(void *state, uint64_t addr)
{
	units_remove(state, addr);
}

static unsigned int sequential_local_pick(void *state, const struct gpuemu_policy_view *view,
					  unsigned int need,
					  bool (*keep)(void *ctx, uint64_t addr), void *ctx,
					  uint64_t *pages, unsigned int max)
{
	return units_pick(state, need, keep, ctx, pages, max);
}

const struct gpuemu_evict_ops evict_sequential_local_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "sequential-local",
	.help = "all of the 64 KiB leaf that was touched longest ago",
	.create = sequential_local_create,
	.destroy = sequential_local_destroy,
	.insert = sequential_local_insert,
	.touch = sequential_local_touch,
	.remove = sequential_local_remove,
	.pick = sequential_local_pick,
};
