// SPDX-License-Identifier: GPL-2.0
/*
 * gather: out[i] = table[index[i]] with random indices, so that the lanes of
 * one warp land on many pages: the worst case for TLBs, far-fault MSHRs and
 * sequential prefetch.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL gather(const uint32_t *table, const uint32_t *index, uint32_t *out,
	      uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = table[index[i]];
}

#else
#include <errno.h>
#include <inttypes.h>

#include "workload.h"

#define GATHER_BLOCK	256
#define SLOTS		(PAGE_BYTES / sizeof(uint32_t))	/* of a page */

enum { N, PAGES };

struct gather {
	uint32_t *table, *index, *out;
};

/* A second stream of random numbers, independent of the table's. */
static uint64_t index_seed(const struct workload *w)
{
	return ~w->seed;
}

static int gather_setup(struct workload *w)
{
	struct gather *g = w->state;
	uint64_t n = w->option[N], slots = w->option[PAGES] * SLOTS;
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&g->table, slots * sizeof(uint32_t),
			     WORKLOAD_IN, "table");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->index, n * sizeof(uint32_t),
				     WORKLOAD_IN, "index");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->out, n * sizeof(uint32_t),
				     WORKLOAD_OUT, "out");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < slots; i++)
		g->table[i] = (uint32_t)rng_next(&rng);
	rng_seed(&rng, index_seed(w));
	for (uint64_t i = 0; i < n; i++)
		g->index[i] = (uint32_t)rng_below(&rng, slots);
	return 0;
}

static int gather_run(struct workload *w)
{
	struct gather *g = w->state;
	uint64_t n = w->option[N];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "gather", (uint32_t)DIV_ROUND_UP(n, GATHER_BLOCK),
			      GATHER_BLOCK, gpuemu_arg_ptr(g->table),
			      gpuemu_arg_ptr(g->index), gpuemu_arg_ptr(g->out),
			      gpuemu_arg_u32((uint32_t)n));
	return ret ? ret : workload_synchronize(w);
}

static int gather_verify(struct workload *w)
{
	struct gather *g = w->state;
	uint64_t slots = w->option[PAGES] * SLOTS;
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < slots; i++) {
		uint32_t value = (uint32_t)rng_next(&rng);

		if (g->table[i] != value)
			return err_set(&w->err, -EBADMSG, "table[%" PRIu64 "] changed: %u, was %u",
				       i, g->table[i], value);
	}
	rng_seed(&rng, index_seed(w));
	for (uint64_t i = 0; i < w->option[N]; i++) {
		uint32_t slot = (uint32_t)rng_below(&rng, slots);

		if (g->index[i] != slot)
			return err_set(&w->err, -EBADMSG, "index[%" PRIu64 "] changed: %u, was %u",
				       i, g->index[i], slot);
		if (g->out[i] != g->table[slot])
			return err_set(&w->err, -EBADMSG,
				       "out[%" PRIu64 "] is %u, the CPU says table[%u] = %u",
				       i, g->out[i], slot, g->table[slot]);
	}
	return 0;
}

const struct workload_ops workload_gather = {
	.name = "gather",
	.help = "out[i] = table[index[i]], random pages of a table",
	.exercises = "divergent loads, TLB misses, NACKs, eviction from a small VRAM",
	.options = {
		[N] = { "n", 16 << 10, 1, 1u << 30, "loads; 8 bytes of managed memory each",
			.tiny = 1001 },
		[PAGES] = { "pages", 1024, 1, 1u << 20, "4 KiB pages of the table",
			    .tiny = 37 },
	},
	.state_bytes = sizeof(struct gather),
	.setup = gather_setup,
	.run = gather_run,
	.verify = gather_verify,
};
#endif
