// SPDX-License-Identifier: GPL-2.0
/*
 * histo: a histogram whose counters saturate at 255, as in Parboil's histo. Each CTA counts its
 * share in shared memory (privatisation, Podlozhnyuk 2007) and adds that to the whole
 * by atomics. The input is crowded around one bin, as an image's levels are.
 */
#define HISTO_BLOCK	256u
#define HISTO_BINS	4096u	/* at most: 16 KiB of shared memory */

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL histo_clear(uint32_t *counts, uint32_t bins)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < bins)
		counts[i] = 0;
}

KERNEL histo_count(const uint32_t *in, uint32_t *counts, uint32_t n, uint32_t bins)
{
	__shared__ uint32_t mine[HISTO_BINS];

	for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
		mine[i] = 0;
	__syncthreads();
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * blockDim.x)
		atomicAdd(&mine[in[i] % bins], 1);
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
		if (mine[i])
			atomicAdd(&counts[i], mine[i]);
}

KERNEL histo_saturate(const uint32_t *counts, uint8_t *out, uint32_t bins)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < bins)
		out[i] = (uint8_t)min(counts[i], 255u);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "workload.h"

enum { N, BINS, CTAS };

struct histo {
	uint32_t *in, *counts;
	uint8_t *out;
};

/* The sum of four even numbers: a bell, most of it in a few hundred bins. */
static uint32_t random_value(struct rng *rng)
{
	uint64_t bits = rng_next(rng);

	return (uint32_t)((bits & 1023) + (bits >> 10 & 1023) + (bits >> 20 & 1023) +
			  (bits >> 30 & 1023));
}

static int histo_setup(struct workload *w)
{
	struct histo *h = w->state;
	uint64_t n = w->option[N], bins = w->option[BINS];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&h->in, n * sizeof(*h->in), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->counts, bins * sizeof(*h->counts),
				     WORKLOAD_SCRATCH, "counts");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->out, bins, WORKLOAD_OUT, "out");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++)
		h->in[i] = random_value(&rng);
	return 0;
}

static int histo_run(struct workload *w)
{
	struct histo *h = w->state;
	struct gpuemu_arg bins = gpuemu_arg_u32((uint32_t)w->option[BINS]);
	uint32_t ctas = DIV_ROUND_UP((uint32_t)w->option[BINS], HISTO_BLOCK);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "histo_clear", ctas, HISTO_BLOCK, gpuemu_arg_ptr(h->counts), bins);
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "histo_count", (uint32_t)w->option[CTAS], HISTO_BLOCK,
				      gpuemu_arg_ptr(h->in), gpuemu_arg_ptr(h->counts),
				      gpuemu_arg_u32((uint32_t)w->option[N]), bins);
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "histo_saturate", ctas, HISTO_BLOCK,
				      gpuemu_arg_ptr(h->counts), gpuemu_arg_ptr(h->out), bins);
	return ret ? ret : workload_synchronize(w);
}

static int histo_verify(struct workload *w)
{
	struct histo *h = w->state;
	uint64_t bins = w->option[BINS];
	uint32_t counts[HISTO_BINS] = { 0 };
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < w->option[N]; i++) {
		uint32_t value = random_value(&rng);

		if (h->in[i] != value)
			return err_set(&w->err, -EBADMSG, "in[%" PRIu64 "] changed: %u, was %u",
				       i, h->in[i], value);
		counts[value % bins]++;
	}
	for (uint64_t i = 0; i < bins; i++) {
		if (h->counts[i] != counts[i])
			return err_set(&w->err, -EBADMSG, "bin %" PRIu64 " has %u, the CPU says %u",
				       i, h->counts[i], counts[i]);
		if (h->out[i] != MIN(counts[i], 255u))
			return err_set(&w->err, -EBADMSG, "bin %" PRIu64 " of %u is %u saturated",
				       i, counts[i], h->out[i]);
	}
	return 0;
}

const struct workload_ops workload_histo = {
	.name = "histo",
	.help = "histogram with saturating counters, private to each CTA first",
	.exercises = "shared and global atomics on crowded addresses, streaming input",
	.options = {
		[N] = { "n", 4 << 20, 1, 1u << 30, "values; 4 bytes of managed memory each",
			.quick = 1 << 20, .tiny = 30011 },
		[BINS] = { "bins", HISTO_BINS, 1, HISTO_BINS, "counters", .tiny = 117 },
		[CTAS] = { "ctas", 90, 1, 65535, "CTAs of 256 threads that share the values",
			   .tiny = 5 },
	},
	.state_bytes = sizeof(struct histo),
	.setup = histo_setup,
	.run = histo_run,
	.verify = histo_verify,
};
#endif
