// SPDX-License-Identifier: GPL-2.0
/*
 * histo256: a histogram of 256 bins, a copy a warp in shared memory with atomics (bins.h).
 */
#define HISTO256_BINS		256u
#define HISTO256_WARPS		6u	/* of a counting CTA: 6 KiB of shared memory */
#define HISTO256_THREADS	(HISTO256_WARPS * 32)

#include "bins.h"

#ifdef GPUEMU_DEVICE

KERNEL histo256(const uint32_t *in, uint32_t *partial, uint32_t words)
{
	__shared__ uint32_t counts[HISTO256_WARPS * HISTO256_BINS];
	uint32_t *mine = counts + threadIdx.x / 32 * HISTO256_BINS;

	for (uint32_t i = threadIdx.x; i < HISTO256_WARPS * HISTO256_BINS; i += HISTO256_THREADS)
		counts[i] = 0;
	__syncthreads();
	for (uint32_t i = blockIdx.x * HISTO256_THREADS + threadIdx.x; i < words;
	     i += gridDim.x * HISTO256_THREADS) {
		uint32_t word = in[i];

		atomicAdd(&mine[word & 0xff], 1);
		atomicAdd(&mine[word >> 8 & 0xff], 1);
		atomicAdd(&mine[word >> 16 & 0xff], 1);
		atomicAdd(&mine[word >> 24], 1);
	}
	__syncthreads();
	for (uint32_t bin = threadIdx.x; bin < HISTO256_BINS; bin += HISTO256_THREADS) {
		uint32_t sum = 0;

		for (uint32_t i = 0; i < HISTO256_WARPS; i++)
			sum += counts[i * HISTO256_BINS + bin];
		partial[blockIdx.x * HISTO256_BINS + bin] = sum;
	}
}

BINS_MERGE_KERNEL(histo256_merge, HISTO256_BINS)

#else
enum { N, CTAS };

static const struct bins_shape shape = {
	.count = "histo256", .merge = "histo256_merge", .bins = HISTO256_BINS,
	.threads = HISTO256_THREADS, .crowd = 0x3f3f3f3f,
};

static uint32_t ctas(const struct workload *w)
{
	return (uint32_t)w->option[CTAS];
}

static int histo256_setup(struct workload *w)
{
	return bins_setup(w, &shape, ctas(w));
}

static int histo256_run(struct workload *w)
{
	return bins_run(w, &shape, ctas(w));
}

static int histo256_verify(struct workload *w)
{
	return bins_verify(w, &shape);
}

const struct workload_ops workload_histo256 = {
	.name = "histo256",
	.help = "a histogram of 256 bins, a copy a warp (CUDA SDK's histogram256)",
	.exercises = "atomics in shared memory that collide, shared memory as what bounds the CTAs",
	.options = {
		[N] = { "n", 2 << 20, 1, 1u << 30, "words; a word is four values",
			.quick = 512 << 10, .tiny = 9001 },
		[CTAS] = { "ctas", 240, 1, 65535, "CTAs of 192 threads that share the words",
			   .quick = 120, .tiny = 5 },
	},
	.state_bytes = sizeof(struct bins),
	.setup = histo256_setup,
	.run = histo256_run,
	.verify = histo256_verify,
};
#endif
