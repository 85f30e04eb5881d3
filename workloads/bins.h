/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of bytes in two launches (Podlozhnyuk, "Histogram calculation in CUDA", NVIDIA 2007):
 * each CTA of the first leaves a count a bin, the second adds them up, a CTA a bin. Here are
 * the second launch, the buffers, the input and the reference; how a CTA counts is each
 * workload's own. Included by histo64.c and histo256.c in place of device.h and fill.h. The first
 * option of such a workload is how many words it counts.
 */
#ifndef GPUEMU_WORKLOADS_BINS_H
#define GPUEMU_WORKLOADS_BINS_H

#define BINS_MERGE	256u	/* threads of a CTA that adds up a bin */

#ifdef GPUEMU_DEVICE
#include "device.h"

/*
 * The kernel `name`: adds up a bin of all CTAs. As a macro, since clang makes other code of an
 * inlined function.
 */
#define BINS_MERGE_KERNEL(name, bins)							\
KERNEL name(const uint32_t *partial, uint32_t *out, uint32_t ctas)			\
{											\
	__shared__ uint32_t sums[BINS_MERGE];						\
	uint32_t t = threadIdx.x, sum = 0;						\
											\
	for (uint32_t i = t; i < ctas; i += BINS_MERGE)					\
		sum += partial[i * (bins) + blockIdx.x];				\
	sums[t] = sum;									\
	for (uint32_t half = BINS_MERGE / 2; half; half /= 2) {				\
		__syncthreads();							\
		if (t < half)								\
			sums[t] += sums[t + half];					\
	}										\
	if (t == 0)									\
		out[blockIdx.x] = sums[0];						\
}

#else
#include <errno.h>

#include "fill.h"

/* A workload's state. */
struct bins {
	uint32_t *in, *partial, *out;
};

/* A histogram: its kernels, and the bits that each byte of the input may have. */
struct bins_shape {
	const char *count, *merge;
	uint32_t bins, threads;		/* of a counting CTA */
	uint32_t crowd;			/* bits of a byte that are set as often as not; the others are rare, so bins differ */
};

static inline void bins_make(struct workload *w, const struct bins_shape *s, uint32_t *to)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[0]; i++) {
		uint32_t a = (uint32_t)rng_next(&rng), b = (uint32_t)rng_next(&rng);

		to[i] = a & (b | s->crowd);
	}
}

static inline int bins_setup(struct workload *w, const struct bins_shape *s, uint32_t ctas)
{
	struct bins *h = w->state;
	uint64_t bytes = w->option[0] * sizeof(uint32_t);
	int ret;

	ret = workload_alloc(w, (void **)&h->in, bytes, WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->partial, ctas * s->bins * sizeof(uint32_t),
				     WORKLOAD_SCRATCH, "partial");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->out, s->bins * sizeof(uint32_t), WORKLOAD_OUT,
				     "out");
	if (!ret)
		bins_make(w, s, h->in);
	return ret;
}

static inline int bins_run(struct workload *w, const struct bins_shape *s, uint32_t ctas)
{
	struct bins *h = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, s->count, ctas, s->threads, gpuemu_arg_ptr(h->in),
			      gpuemu_arg_ptr(h->partial), gpuemu_arg_u32((uint32_t)w->option[0]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, s->merge, s->bins, BINS_MERGE, gpuemu_arg_ptr(h->partial),
				      gpuemu_arg_ptr(h->out), gpuemu_arg_u32(ctas));
	return ret ? ret : workload_synchronize(w);
}

static inline int bins_verify(struct workload *w, const struct bins_shape *s)
{
	struct bins *h = w->state;
	uint64_t n = w->option[0];
	uint32_t *in = check_memory(w, n, sizeof(*in)), want[256] = { 0 };
	int ret;

	if (!in)
		return -ENOMEM;
	bins_make(w, s, in);
	for (uint64_t i = 0; i < 4 * n; i++)
		want[((const uint8_t *)in)[i] / (256 / s->bins)]++;
	ret = check_words(w, "in", 0, h->in, in, n);
	free(in);
	return ret ? ret : check_words(w, "out", 0, h->out, want, s->bins);
}

#endif
#endif
