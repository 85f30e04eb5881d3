// SPDX-License-Identifier: GPL-2.0
/*
 * histo64: a histogram of 64 bins without atomics (bins.h): each thread counts in bytes of its own
 * in shared memory, and passes on before a byte is full.
 */
#define HISTO64_BINS	64u
#define HISTO64_THREADS	64u	/* of a counting CTA: 4 KiB of shared memory */
#define HISTO64_MOST	63u	/* words a thread: four counts each, and a byte holds 255 */

#include "bins.h"

#ifdef GPUEMU_DEVICE

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

BINS_MERGE_KERNEL(histo64_merge, HISTO64_BINS)

#else
enum { N };

static const struct bins_shape shape = {
	.count = "histo64", .merge = "histo64_merge", .bins = HISTO64_BINS,
	.threads = HISTO64_THREADS, .crowd = 0x1f1f1f1f,
};

static uint32_t ctas(const struct workload *w)
{
	return (uint32_t)DIV_ROUND_UP(w->option[N], HISTO64_THREADS * HISTO64_MOST);
}

static int histo64_setup(struct workload *w)
{
	return bins_setup(w, &shape, ctas(w));
}

static int histo64_run(struct workload *w)
{
	return bins_run(w, &shape, ctas(w));
}

static int histo64_verify(struct workload *w)
{
	return bins_verify(w, &shape);
}

const struct workload_ops workload_histo64 = {
	.name = "histo64",
	.help = "a histogram of 64 bins without atomics (CUDA SDK's histogram64)",
	.exercises = "bytes in shared memory, which bounds the CTAs; small CTAs",
	.options = {
		[N] = { "n", 2 << 20, 1, 1u << 30, "words; a word is four values",
			.quick = 512 << 10, .tiny = 20011 },
	},
	.state_bytes = sizeof(struct bins),
	.setup = histo64_setup,
	.run = histo64_run,
	.verify = histo64_verify,
};
#endif
