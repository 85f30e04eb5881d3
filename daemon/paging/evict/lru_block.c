// SPDX-License-Identifier: GPL-2.0
/*
 * Eviction policy: all of the 2 MiB VA block whose last TLB fill is longest ago (UVMSmart's
 * LRU of 2 MiB; nvidia-uvm's unit of eviction). Pages that must stay stay.
 */
#include "paging/evict/units.h"
#include "paging/rows.h"

#include <errno.h>
#include <stdlib.h>

static int lru_block_create(const struct gpuemu_policy_view *view, void **state)
{
	struct units *units = malloc(sizeof(*units));

	if (!units)
		return -ENOMEM;
	evict_units_init(units, BLOCK_SHIFT);
	*state = units;
	return 0;
}

static void lru_block_destroy(void *state)
{
	units_clear(state);
	free(state);
}

static int lru_block_insert(void *state, uint64_t addr, bool prefetched)
{
	return units_insert(state, addr);
}

static void lru_block_touch(void *state, uint64_t addr, bool write)
{
	units_touch(state, addr);
}

static void lru_block_remove(void *state, uint64_t addr)
{
	units_remove(state, addr);
}

static unsigned int lru_block_pick(void *state, const struct gpuemu_policy_view *view,
				   unsigned int need,
				   bool (*keep)(void *ctx, uint64_t addr), void *ctx,
				   uint64_t *pages, unsigned int max)
{
	return units_pick(state, need, keep, ctx, pages, max);
}

const struct gpuemu_evict_ops evict_lru_block_ops = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "lru-block",
	.help = "all of the 2 MiB block that was touched longest ago",
	.create = lru_block_create,
	.destroy = lru_block_destroy,
	.insert = lru_block_insert,
	.touch = lru_block_touch,
	.remove = lru_block_remove,
	.pick = lru_block_pick,
};
