// SPDX-License-Identifier: GPL-2.0
/*
 * histo256: a histogram of 256 bins, a copy a warp in shared memory with atomics (Podlozhnyuk,
 * "Histogram calculation in CUDA", NVIDIA 2007); a second launch adds up what the CTAs have left.
 */
#define HISTO256_BINS		256u
#define HISTO256_WARPS		6u	/* of a counting CTA: 6 KiB of shared memory */
#define HISTO256_THREADS	(HISTO256_WARPS * 32)
#define HISTO256_MERGE		256u	/* threads of a CTA that adds up a bin */

#ifdef GPUEMU_DEVICE
#include "device.h"

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

KERNEL histo256_merge(const uint32_t *partial, uint32_t *out, uint32_t ctas)
{
	__shared__ uint32_t sums[HISTO256_MERGE];
	uint32_t t = threadIdx.x, sum = 0;

	for (uint32_t i = t; i < ctas; i += HISTO256_MERGE)
		sum += partial[i * HISTO256_BINS + blockIdx.x];
	sums[t] = sum;
	for (uint32_t half = HISTO256_MERGE / 2; half; half /= 2) {
		__syncthreads();
		if (t < half)
			sums[t] += sums[t + half];
	}
	if (t == 0)
		out[blockIdx.x] = sums[0];
}

#else
#include <errno.h>

#include "fill.h"

enum { N, CTAS };

struct histo256 {
	uint32_t *in, *partial, *out;
};

/* Bytes crowd at the low end: threads of a warp meet at some bins. */
static void make(struct workload *w, uint32_t *to)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[N]; i++) {
		uint32_t a = (uint32_t)rng_next(&rng), b = (uint32_t)rng_next(&rng);

		to[i] = a & (b | 0x3f3f3f3f);
	}
}

static int histo256_setup(struct workload *w)
{
	struct histo256 *h = w->state;
	int ret;

	ret = workload_alloc(w, (void **)&h->in, w->option[N] * sizeof(uint32_t), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->partial,
				     w->option[CTAS] * HISTO256_BINS * sizeof(uint32_t),
				     WORKLOAD_SCRATCH, "partial");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->out, HISTO256_BINS * sizeof(uint32_t),
				     WORKLOAD_OUT, "out");
	if (!ret)
		make(w, h->in);
	return ret;
}

static int histo256_run(struct workload *w)
{
	struct histo256 *h = w->state;
	uint32_t ctas = (uint32_t)w->option[CTAS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "histo256", ctas, HISTO256_THREADS, gpuemu_arg_ptr(h->in),
			      gpuemu_arg_ptr(h->partial), gpuemu_arg_u32((uint32_t)w->option[N]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "histo256_merge", HISTO256_BINS, HISTO256_MERGE,
				      gpuemu_arg_ptr(h->partial), gpuemu_arg_ptr(h->out),
				      gpuemu_arg_u32(ctas));
	return ret ? ret : workload_synchronize(w);
}

static int histo256_verify(struct workload *w)
{
	struct histo256 *h = w->state;
	uint64_t n = w->option[N];
	uint32_t *in = check_memory(w, n, sizeof(*in)), want[HISTO256_BINS] = { 0 };
	int ret;

	if (!in)
		return -ENOMEM;
	make(w, in);
	for (uint64_t i = 0; i < 4 * n; i++)
		want[((const uint8_t *)in)[i]]++;
	ret = check_words(w, "in", 0, h->in, in, n);
	free(in);
	return ret ? ret : check_words(w, "out", 0, h->out, want, HISTO256_BINS);
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
	.state_bytes = sizeof(struct histo256),
	.setup = histo256_setup,
	.run = histo256_run,
	.verify = histo256_verify,
};
#endif
