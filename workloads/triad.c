// SPDX-License-Identifier: GPL-2.0
/*
 * triad: a[i] = b[i] + s * c[i], of McCalpin's STREAM (1995): three streams through
 * memory, each page used by a few warps at one time and then never again.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL triad(float *a, const float *b, const float *c, float s, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] = fmaf(s, c[i], b[i]);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "workload.h"

#define TRIAD_S		3.0f

enum { N, BLOCK };

struct triad {
	float *a, *b, *c;
};

/* -1 to 1. */
static float random_float(struct rng *rng)
{
	return (float)(int32_t)rng_next(rng) * 0x1p-31f;
}

static int triad_setup(struct workload *w)
{
	struct triad *t = w->state;
	uint64_t n = w->option[N];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&t->a, n * sizeof(float), WORKLOAD_OUT, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&t->b, n * sizeof(float), WORKLOAD_IN, "b");
	if (!ret)
		ret = workload_alloc(w, (void **)&t->c, n * sizeof(float), WORKLOAD_IN, "c");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++) {
		t->b[i] = random_float(&rng);
		t->c[i] = random_float(&rng);
	}
	return 0;
}

static int triad_run(struct workload *w)
{
	struct triad *t = w->state;
	uint64_t n = w->option[N], block = w->option[BLOCK];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "triad", (uint32_t)DIV_ROUND_UP(n, block),
			      (uint32_t)block, gpuemu_arg_ptr(t->a),
			      gpuemu_arg_ptr(t->b), gpuemu_arg_ptr(t->c),
			      gpuemu_arg_f32(TRIAD_S), gpuemu_arg_u32((uint32_t)n));
	return ret ? ret : workload_synchronize(w);
}

/* The inputs are made again, so that a byte lost in a migration shows too. */
static int triad_verify(struct workload *w)
{
	struct triad *t = w->state;
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < w->option[N]; i++) {
		float b = random_float(&rng), c = random_float(&rng);
		float a = fmaf(TRIAD_S, c, b);

		if (memcmp(&t->a[i], &a, sizeof(a)))
			return err_set(&w->err, -EBADMSG,
				       "a[%" PRIu64 "] is %a, the CPU says %a + %a * %a = %a",
				       i, t->a[i], b, TRIAD_S, c, a);
		if (memcmp(&t->b[i], &b, sizeof(b)) || memcmp(&t->c[i], &c, sizeof(c)))
			return err_set(&w->err, -EBADMSG, "an input changed at %" PRIu64, i);
	}
	return 0;
}

const struct workload_ops workload_triad = {
	.name = "triad",
	.help = "a[i] = b[i] + s * c[i], floats (STREAM)",
	.exercises = "streaming at full bandwidth, prefetchers",
	.options = {
		[N] = { "n", 1 << 20, 1, 1u << 30, "elements; 12 bytes of managed memory each",
			.quick = 256 << 10, .tiny = 10007 },
		[BLOCK] = { "block", 256, 1, 1024, "threads of a CTA" },
	},
	.state_bytes = sizeof(struct triad),
	.setup = triad_setup,
	.run = triad_run,
	.verify = triad_verify,
};
#endif
