/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random inputs of workloads, made from a seed so that verify can make them again, and the
 * comparison that does. Host side only.
 */
#ifndef GPUEMU_WORKLOADS_FILL_H
#define GPUEMU_WORKLOADS_FILL_H

#include <stdlib.h>

#include "check.h"

/* The stream-th input of the workload: a seed of its own. */
static inline uint64_t fill_seed(const struct workload *w, unsigned int stream)
{
	return w->seed * 0x9e3779b97f4a7c15ull + stream;
}

/* n floats in [low, high), in steps of 2^-16 of the span. */
static inline void fill_floats(struct workload *w, unsigned int stream, float *to, uint64_t n,
			       float low, float high)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, stream));
	for (uint64_t i = 0; i < n; i++)
		to[i] = low + (high - low) * ((float)rng_below(&rng, 1 << 16) / (1 << 16));
}

static inline void fill_words(struct workload *w, unsigned int stream, uint32_t *to, uint64_t n,
			      uint64_t below)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, stream));
	for (uint64_t i = 0; i < n; i++)
		to[i] = (uint32_t)rng_below(&rng, below);
}

/* The input is still what fill_floats() made of it. -EBADMSG, -ENOMEM. */
static inline int fill_check(struct workload *w, const char *what, unsigned int stream,
			     const float *got, uint64_t n, float low, float high)
{
	float *want = check_memory(w, n, sizeof(float));
	int ret;

	if (!want)
		return -ENOMEM;
	fill_floats(w, stream, want, n, low, high);
	ret = check_floats(w, what, 0, got, want, n);
	free(want);
	return ret;
}

static inline int fill_check_words(struct workload *w, const char *what, unsigned int stream,
				   const uint32_t *got, uint64_t n, uint64_t below)
{
	uint32_t *want = check_memory(w, n, sizeof(uint32_t));
	int ret;

	if (!want)
		return -ENOMEM;
	fill_words(w, stream, want, n, below);
	ret = check_words(w, what, 0, got, want, n);
	free(want);
	return ret;
}

#endif
