// SPDX-License-Identifier: GPL-2.0
/*
 * vecadd: c[i] = a[i] + b[i]. The stream through memory that every GPU system
 * is first measured with: each page is used by a few warps, once.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL vecadd(const float *a, const float *b, float *c, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

#else
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "workload.h"

enum { N, BLOCK };

struct vecadd {
	float *a, *b, *c;
};

/* Any finite float: all signs and exponents, subnormals too; the sum may overflow. */
static float random_float(struct rng *rng)
{
	uint32_t bits = (uint32_t)rng_next(rng);
	float f;

	if ((bits & 0x7f800000) == 0x7f800000)
		bits &= ~0x40000000u;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

static int vecadd_setup(struct workload *w)
{
	struct vecadd *v = w->state;
	uint64_t n = w->option[N];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&v->a, n * sizeof(float),
			     WORKLOAD_IN, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&v->b, n * sizeof(float),
				     WORKLOAD_IN, "b");
	if (!ret)
		ret = workload_alloc(w, (void **)&v->c, n * sizeof(float),
				     WORKLOAD_OUT, "c");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++) {
		v->a[i] = random_float(&rng);
		v->b[i] = random_float(&rng);
	}
	return 0;
}

static int vecadd_run(struct workload *w)
{
	struct vecadd *v = w->state;
	uint64_t n = w->option[N], block = w->option[BLOCK];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "vecadd", (uint32_t)DIV_ROUND_UP(n, block),
			      (uint32_t)block, gpuemu_arg_ptr(v->a),
			      gpuemu_arg_ptr(v->b), gpuemu_arg_ptr(v->c),
			      gpuemu_arg_u32((uint32_t)n));
	return ret ? ret : workload_synchronize(w);
}

/* The inputs are made again, so that a byte lost in a migration shows too. */
static int vecadd_verify(struct workload *w)
{
	struct vecadd *v = w->state;
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < w->option[N]; i++) {
		float a = random_float(&rng), b = random_float(&rng);
		float c = a + b;

		if (memcmp(&v->c[i], &c, sizeof(c)))
			return err_set(&w->err, -EBADMSG,
				       "c[%" PRIu64 "] is %a, the CPU says %a + %a = %a",
				       i, v->c[i], a, b, c);
		if (memcmp(&v->a[i], &a, sizeof(a)) || memcmp(&v->b[i], &b, sizeof(b)))
			return err_set(&w->err, -EBADMSG, "an input changed at %" PRIu64, i);
	}
	return 0;
}

const struct workload_ops workload_vecadd = {
	.name = "vecadd",
	.help = "c[i] = a[i] + b[i], floats",
	.exercises = "streaming, coalescing, far faults that follow each other",
	.options = {
		[N] = { "n", 64 << 10, 1, 1u << 30, "elements; 12 bytes of managed memory each",
			.tiny = 5003 },
		[BLOCK] = { "block", 256, 1, 1024, "threads of a CTA" },
	},
	.state_bytes = sizeof(struct vecadd),
	.setup = vecadd_setup,
	.run = vecadd_run,
	.verify = vecadd_verify,
};
#endif
