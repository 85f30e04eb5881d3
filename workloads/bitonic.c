// SPDX-License-Identifier: GPL-2.0
/*
 * bitonic: sorts keys with their values by a bitonic network (Batcher, AFIPS SJCC 1968;
 * "sorting networks" of the CUDA SDK): blocks of 1024 pairs in shared memory, then merges,
 * whose wide steps go through global memory, a launch a step.
 */
#define BITONIC_SHARED	1024u	/* pairs of a CTA; a thread has two */

#ifdef GPUEMU_DEVICE
#include "device.h"

INLINE void order(uint32_t *ka, uint32_t *va, uint32_t *kb, uint32_t *vb, bool up)
{
	if ((*ka > *kb) == up) {
		uint32_t k = *ka, v = *va;

		*ka = *kb;
		*va = *vb;
		*kb = k;
		*vb = v;
	}
}

/* The steps of strides `from` and below, of the merge of `size`. */
INLINE void steps(uint32_t *key, uint32_t *value, uint32_t from, bool up)
{
	for (uint32_t stride = from; stride; stride /= 2) {
		uint32_t at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));

		__syncthreads();
		order(&key[at], &value[at], &key[at + stride], &value[at + stride], up);
	}
	__syncthreads();
}

INLINE void load(uint32_t *key, uint32_t *value, const uint32_t *keys, const uint32_t *values)
{
	uint32_t first = blockIdx.x * BITONIC_SHARED + threadIdx.x;

	for (uint32_t i = 0; i < BITONIC_SHARED; i += BITONIC_SHARED / 2) {
		key[threadIdx.x + i] = keys[first + i];
		value[threadIdx.x + i] = values[first + i];
	}
}

INLINE void store(const uint32_t *key, const uint32_t *value, uint32_t *keys, uint32_t *values)
{
	uint32_t first = blockIdx.x * BITONIC_SHARED + threadIdx.x;

	for (uint32_t i = 0; i < BITONIC_SHARED; i += BITONIC_SHARED / 2) {
		keys[first + i] = key[threadIdx.x + i];
		values[first + i] = value[threadIdx.x + i];
	}
}

/* Each CTA's pairs, upwards in the even ones, downwards in the odd. */
KERNEL bitonic_sort(uint32_t *keys, uint32_t *values)
{
	__shared__ uint32_t key[BITONIC_SHARED], value[BITONIC_SHARED];

	load(key, value, keys, values);
	for (uint32_t size = 2; size < BITONIC_SHARED; size *= 2)
		steps(key, value, size / 2, !(threadIdx.x & size / 2));
	steps(key, value, BITONIC_SHARED / 2, !(blockIdx.x & 1));
	store(key, value, keys, values);
}

/* One step of a merge of `size`. */
KERNEL bitonic_step(uint32_t *keys, uint32_t *values, uint32_t size, uint32_t stride)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t at = 2 * i - (i & (stride - 1));

	order(&keys[at], &values[at], &keys[at + stride], &values[at + stride], !(i & size / 2));
}

/* The steps of a merge of `size` that fit shared memory. */
KERNEL bitonic_merge(uint32_t *keys, uint32_t *values, uint32_t size)
{
	__shared__ uint32_t key[BITONIC_SHARED], value[BITONIC_SHARED];
	uint32_t i = blockIdx.x * BITONIC_SHARED / 2 + threadIdx.x;

	load(key, value, keys, values);
	steps(key, value, BITONIC_SHARED / 2, !(i & size / 2));
	store(key, value, keys, values);
}

#else
#include <errno.h>
#include <inttypes.h>

#include "fill.h"

enum { BLOCKS };

struct bitonic {
	uint32_t *keys, *values;
};

/* Power of two, so that the network has a leaf for each pair. */
static uint64_t pairs(const struct workload *w)
{
	uint64_t n = BITONIC_SHARED;

	while (n < w->option[BLOCKS] * BITONIC_SHARED)
		n *= 2;
	return n;
}

static int bitonic_setup(struct workload *w)
{
	struct bitonic *b = w->state;
	uint64_t n = pairs(w);
	int ret;

	ret = workload_alloc(w, (void **)&b->keys, n * sizeof(uint32_t), WORKLOAD_INOUT, "keys");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->values, n * sizeof(uint32_t), WORKLOAD_INOUT,
				     "values");
	if (ret)
		return ret;
	/* Some keys are there twice. */
	fill_words(w, 0, b->keys, n, 4 * n);
	for (uint64_t i = 0; i < n; i++)
		b->values[i] = (uint32_t)i;
	return 0;
}

static int bitonic_run(struct workload *w)
{
	struct bitonic *b = w->state;
	uint32_t n = (uint32_t)pairs(w), ctas = n / BITONIC_SHARED;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "bitonic_sort", ctas, BITONIC_SHARED / 2,
			      gpuemu_arg_ptr(b->keys), gpuemu_arg_ptr(b->values));
	for (uint64_t size = 2 * BITONIC_SHARED; size <= n && !ret; size *= 2) {
		for (uint64_t stride = size / 2; stride >= BITONIC_SHARED && !ret; stride /= 2)
			ret = WORKLOAD_LAUNCH(w, "bitonic_step", ctas, BITONIC_SHARED / 2,
					      gpuemu_arg_ptr(b->keys), gpuemu_arg_ptr(b->values),
					      gpuemu_arg_u32((uint32_t)size),
					      gpuemu_arg_u32((uint32_t)stride));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "bitonic_merge", ctas, BITONIC_SHARED / 2,
					      gpuemu_arg_ptr(b->keys), gpuemu_arg_ptr(b->values),
					      gpuemu_arg_u32((uint32_t)size));
	}
	return ret ? ret : workload_synchronize(w);
}

/*
 * Keys ascend, and each value is there once, beside its own key: so it is the input, sorted. Which
 * of two equal keys comes first is the network's.
 */
static int bitonic_verify(struct workload *w)
{
	struct bitonic *b = w->state;
	uint64_t n = pairs(w);
	uint32_t *input = check_memory(w, 2 * n, sizeof(*input)), *seen = input + n;
	int ret = input ? 0 : -ENOMEM;

	if (!ret)
		fill_words(w, 0, input, n, 4 * n);
	for (uint64_t i = 0; i < n && !ret; i++) {
		uint32_t value = b->values[i];

		if (value >= n || seen[value]++)
			ret = err_set(&w->err, -EBADMSG, "values[%" PRIu64 "] is %u: %s", i, value,
				      value < n ? "it was there before" : "there is none");
		else if (b->keys[i] != input[value])
			ret = err_set(&w->err, -EBADMSG, "keys[%" PRIu64 "] is %u, its value's was %u",
				      i, b->keys[i], input[value]);
		else if (i && b->keys[i] < b->keys[i - 1])
			ret = err_set(&w->err, -EBADMSG, "keys[%" PRIu64 "] is %u, behind %u",
				      i, b->keys[i], b->keys[i - 1]);
	}
	free(input);
	return ret;
}

const struct workload_ops workload_bitonic = {
	.name = "bitonic",
	.help = "sorts pairs by a bitonic network (CUDA SDK's sorting networks)",
	.exercises = "shared memory with conflicts, many barriers, many launches, integer compares",
	.options = {
		[BLOCKS] = { "blocks", 256, 1, 1u << 16,
			     "of 1024 pairs, rounded up to a power of two; 8 bytes a pair",
			     .quick = 32, .tiny = 7 },
	},
	.state_bytes = sizeof(struct bitonic),
	.setup = bitonic_setup,
	.run = bitonic_run,
	.verify = bitonic_verify,
};
#endif
