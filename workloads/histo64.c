// SPDX-License-Identifier: GPL-2.0
/*
 * histo64: a histogram of 64 bins without atomics (Podlozhnyuk, "Histogram calculation in CUDA",
 * NVIDIA 2007): each thread counts in bytes of its own in shared memory, and passes on before
 * a byte is full; a second launch adds up what the CTAs have left.
 */
#define HISTO64_BINS	64u
#define HISTO64_THREADS	64u	/* of a counting CTA: 4 KiB of shared memory */
#define HISTO64_MOST	63u	/* words a thread: four counts each, and a byte holds 255 */
#define HISTO64_MERGE	256u	/* threads of a CTA that adds up a bin */

#ifdef GPUEMU_DEVICE
#include "device.h"

/* Byte `lane(t)` of each row is thread t's: sixteen threads in a row use sixteen banks. */
INLINE uint32_t lane(uint32_t t)
{
	return (t & 15) << 2 | t >> 4;
}

INLINE void count(uint8_t *mine, uint32_t value)
{
	mine[(value & 63) * HISTO64_THREADS]++;
}

KERNEL histo64(const uint32_t *in, uint32_t *partial, uint32_t words)
{
	__shared__ uint32_t counts[HISTO64_BINS * HISTO64_THREADS / 4];
	uint8_t *mine = (uint8_t *)counts + lane(threadIdx.x);
	uint32_t t = threadIdx.x, first = blockIdx.x * HISTO64_THREADS * HISTO64_MOST, sum = 0;
	uint32_t end = min(first + HISTO64_THREADS * HISTO64_MOST, words);

	for (uint32_t i = t; i < HISTO64_BINS * HISTO64_THREADS / 4; i += HISTO64_THREADS)
		counts[i] = 0;
	__syncthreads();
	for (uint32_t i = first + t; i < end; i += HISTO64_THREADS) {
		uint32_t word = in[i];

		count(mine, word >> 2);
		count(mine, word >> 10);
		count(mine, word >> 18);
		count(mine, word >> 26);
	}
	__syncthreads();
	/* Thread t adds up bin t; each begins elsewhere, at another bank. */
	for (uint32_t i = 0; i < HISTO64_THREADS / 4; i++) {
		uint32_t four = counts[t * (HISTO64_THREADS / 4) +
				       ((i + t) & (HISTO64_THREADS / 4 - 1))];

		sum += (four & 0xff) + (four >> 8 & 0xff) + (four >> 16 & 0xff) + (four >> 24);
	}
	partial[blockIdx.x * HISTO64_BINS + t] = sum;
}

KERNEL histo64_merge(const uint32_t *partial, uint32_t *out, uint32_t ctas)
{
	__shared__ uint32_t sums[HISTO64_MERGE];
	uint32_t t = threadIdx.x, sum = 0;

	for (uint32_t i = t; i < ctas; i += HISTO64_MERGE)
		sum += partial[i * HISTO64_BINS + blockIdx.x];
	sums[t] = sum;
	for (uint32_t half = HISTO64_MERGE / 2; half; half /= 2) {
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

enum { N };

struct histo64 {
	uint32_t *in, *partial, *out;
};

static uint32_t ctas(const struct workload *w)
{
	return (uint32_t)DIV_ROUND_UP(w->option[N], HISTO64_THREADS * HISTO64_MOST);
}

/* Bytes crowd at the low end, since bins should not all be alike. */
static void make(struct workload *w, uint32_t *to)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[N]; i++) {
		uint32_t a = (uint32_t)rng_next(&rng), b = (uint32_t)rng_next(&rng);

		to[i] = a & (b | 0x1f1f1f1f);
	}
}

static int histo64_setup(struct workload *w)
{
	struct histo64 *h = w->state;
	int ret;

	ret = workload_alloc(w, (void **)&h->in, w->option[N] * sizeof(uint32_t), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->partial,
				     ctas(w) * HISTO64_BINS * sizeof(uint32_t), WORKLOAD_SCRATCH,
				     "partial");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->out, HISTO64_BINS * sizeof(uint32_t),
				     WORKLOAD_OUT, "out");
	if (!ret)
		make(w, h->in);
	return ret;
}

static int histo64_run(struct workload *w)
{
	struct histo64 *h = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "histo64", ctas(w), HISTO64_THREADS, gpuemu_arg_ptr(h->in),
			      gpuemu_arg_ptr(h->partial), gpuemu_arg_u32((uint32_t)w->option[N]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "histo64_merge", HISTO64_BINS, HISTO64_MERGE,
				      gpuemu_arg_ptr(h->partial), gpuemu_arg_ptr(h->out),
				      gpuemu_arg_u32(ctas(w)));
	return ret ? ret : workload_synchronize(w);
}

static int histo64_verify(struct workload *w)
{
	struct histo64 *h = w->state;
	uint64_t n = w->option[N];
	uint32_t *in = check_memory(w, n, sizeof(*in)), want[HISTO64_BINS] = { 0 };
	int ret;

	if (!in)
		return -ENOMEM;
	make(w, in);
	for (uint64_t i = 0; i < 4 * n; i++)
		want[((const uint8_t *)in)[i] / 4]++;
	ret = check_words(w, "in", 0, h->in, in, n);
	free(in);
	return ret ? ret : check_words(w, "out", 0, h->out, want, HISTO64_BINS);
}

const struct workload_ops workload_histo64 = {
	.name = "histo64",
	.help = "a histogram of 64 bins without atomics (CUDA SDK's histogram64)",
	.exercises = "bytes in shared memory, which bounds the CTAs; small CTAs",
	.options = {
		[N] = { "n", 2 << 20, 1, 1u << 30, "words; a word is four values",
			.quick = 512 << 10, .tiny = 20011 },
	},
	.state_bytes = sizeof(struct histo64),
	.setup = histo64_setup,
	.run = histo64_run,
	.verify = histo64_verify,
};
#endif
