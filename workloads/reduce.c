// SPDX-License-Identifier: GPL-2.0
/*
 * reduce: the sum of n integers, by trees in shared memory with a barrier at
 * each level. One launch leaves a partial sum a CTA, a second adds those up.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

/* A word a thread; a CTA has a power of two of threads. */
extern __shared__ uint64_t tree[];

/* Adds up the CTA's values; the sum is in tree[0], for every thread. */
static __device__ inline void tree_sum(uint64_t value)
{
	tree[threadIdx.x] = value;
	__syncthreads();
	for (uint32_t half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			tree[threadIdx.x] += tree[threadIdx.x + half];
		__syncthreads();
	}
}

KERNEL reduce(const uint32_t *in, uint64_t *partial, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * blockDim.x)
		sum += in[i];
	tree_sum(sum);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = tree[0];
}

KERNEL reduce_final(const uint64_t *partial, uint64_t *total, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		sum += partial[i];
	tree_sum(sum);
	if (threadIdx.x == 0)
		*total = tree[0];
}

#else
#include <errno.h>
#include <inttypes.h>

#include "workload.h"

enum { N, CTAS, BLOCK };

struct reduce {
	uint32_t *in;
	uint64_t *partial, *total;
};

static int reduce_setup(struct workload *w)
{
	struct reduce *r = w->state;
	uint64_t n = w->option[N];
	struct rng rng;
	int ret = workload_power_of_two(w, BLOCK);

	if (!ret)
		ret = workload_alloc(w, (void **)&r->in, n * sizeof(*r->in), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&r->partial,
				     w->option[CTAS] * sizeof(*r->partial),
				     WORKLOAD_SCRATCH, "partial");
	if (!ret)
		ret = workload_alloc(w, (void **)&r->total, sizeof(*r->total),
				     WORKLOAD_OUT, "total");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++)
		r->in[i] = (uint32_t)rng_next(&rng);
	return 0;
}

static int reduce_run(struct workload *w)
{
	struct reduce *r = w->state;
	uint32_t ctas = (uint32_t)w->option[CTAS], block = (uint32_t)w->option[BLOCK];
	int ret;

	w->shared = block * (uint32_t)sizeof(uint64_t);
	ret = WORKLOAD_LAUNCH(w, "reduce", ctas, block,
			      gpuemu_arg_ptr(r->in), gpuemu_arg_ptr(r->partial),
			      gpuemu_arg_u32((uint32_t)w->option[N]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "reduce_final", 1, block,
				      gpuemu_arg_ptr(r->partial),
				      gpuemu_arg_ptr(r->total), gpuemu_arg_u32(ctas));
	return ret ? ret : workload_synchronize(w);
}

/* The CPU adds up each CTA's share by itself: a wrong CTA is named. */
static int reduce_verify(struct workload *w)
{
	struct reduce *r = w->state;
	uint64_t n = w->option[N], ctas = w->option[CTAS], block = w->option[BLOCK], total = 0;
	struct rng rng;

	for (uint64_t cta = 0; cta < ctas; cta++) {
		uint64_t sum = 0;

		for (uint64_t first = cta * block; first < n; first += ctas * block)
			for (uint64_t i = first; i < MIN(first + block, n); i++)
				sum += r->in[i];
		if (r->partial[cta] != sum)
			return err_set(&w->err, -EBADMSG, "CTA %" PRIu64 "'s sum is %" PRIu64
				       ", the CPU says %" PRIu64, cta, r->partial[cta], sum);
	}
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++)
		total += (uint32_t)rng_next(&rng);
	if (*r->total != total)
		return err_set(&w->err, -EBADMSG, "the total is %" PRIu64 ", the CPU says %" PRIu64,
			       *r->total, total);
	return 0;
}

const struct workload_ops workload_reduce = {
	.name = "reduce",
	.help = "sum of n 32-bit integers",
	.exercises = "shared memory, barriers, divergence, two dependent launches",
	.options = {
		[N] = { "n", 256 << 10, 1, 1u << 30, "elements; 4 bytes of managed memory each",
			.tiny = 40001 },
		[CTAS] = { "ctas", 32, 1, 65535, "CTAs that share the elements", .tiny = 7 },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA, a power of two" },
	},
	.state_bytes = sizeof(struct reduce),
	.setup = reduce_setup,
	.run = reduce_run,
	.verify = reduce_verify,
};
#endif
