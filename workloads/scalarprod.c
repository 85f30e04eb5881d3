// SPDX-License-Identifier: GPL-2.0
/*
 * scalarprod: scalar products of pairs of vectors, a CTA a pair: each accumulator sums a share
 * of the products, and a tree adds the accumulators up ("scalarProd" of the CUDA SDK).
 */
#define SCALARPROD_MOST		4096u	/* accumulators in shared memory */

#ifdef GPUEMU_DEVICE
#include "device.h"

extern __shared__ float sums[];

/* count, a power of two, is how many accumulators there are. */
KERNEL scalarprod(const float *a, const float *b, float *out, uint32_t pairs, uint32_t n,
		  uint32_t count)
{
	for (uint32_t pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
		const float *va = a + pair * n, *vb = b + pair * n;

		for (uint32_t s = threadIdx.x; s < count; s += blockDim.x) {
			float sum = 0;

			for (uint32_t i = s; i < n; i += count)
				sum = fmaf(va[i], vb[i], sum);
			sums[s] = sum;
		}
		for (uint32_t half = count / 2; half; half /= 2) {
			__syncthreads();
			for (uint32_t s = threadIdx.x; s < half; s += blockDim.x)
				sums[s] += sums[s + half];
		}
		__syncthreads();
		if (threadIdx.x == 0)
			out[pair] = sums[0];
	}
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { PAIRS, N, CTAS, BLOCK, SUMS };

struct scalarprod {
	float *a, *b, *out;
};

static int scalarprod_setup(struct workload *w)
{
	struct scalarprod *s = w->state;
	uint64_t n = w->option[PAIRS] * w->option[N];
	int ret = workload_power_of_two(w, SUMS);

	if (!ret)
		ret = workload_alloc(w, (void **)&s->a, n * sizeof(float), WORKLOAD_IN, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->b, n * sizeof(float), WORKLOAD_IN, "b");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->out, w->option[PAIRS] * sizeof(float),
				     WORKLOAD_OUT, "out");
	if (ret)
		return ret;
	fill_floats(w, 0, s->a, n, -1, 1);
	fill_floats(w, 1, s->b, n, -1, 1);
	return 0;
}

static int scalarprod_run(struct workload *w)
{
	struct scalarprod *s = w->state;
	int ret;

	w->shared = (uint32_t)(w->option[SUMS] * sizeof(float));
	ret = WORKLOAD_LAUNCH(w, "scalarprod", (uint32_t)w->option[CTAS],
			      (uint32_t)w->option[BLOCK], gpuemu_arg_ptr(s->a),
			      gpuemu_arg_ptr(s->b), gpuemu_arg_ptr(s->out),
			      gpuemu_arg_u32((uint32_t)w->option[PAIRS]),
			      gpuemu_arg_u32((uint32_t)w->option[N]),
			      gpuemu_arg_u32((uint32_t)w->option[SUMS]));
	return ret ? ret : workload_synchronize(w);
}

/* In the kernel's order, which does not depend on its CTAs nor their size. */
static float product(const float *a, const float *b, uint64_t n, unsigned int count)
{
	float sums[SCALARPROD_MOST] = { 0 };

	for (uint64_t i = 0; i < n; i++)
		sums[i % count] = fmaf(a[i], b[i], sums[i % count]);
	for (unsigned int half = count / 2; half; half /= 2)
		for (unsigned int i = 0; i < half; i++)
			sums[i] += sums[i + half];
	return sums[0];
}

static int scalarprod_verify(struct workload *w)
{
	struct scalarprod *s = w->state;
	uint64_t pairs = w->option[PAIRS], n = w->option[N];
	float *want;
	int ret = fill_check(w, "a", 0, s->a, pairs * n, -1, 1);

	if (!ret)
		ret = fill_check(w, "b", 1, s->b, pairs * n, -1, 1);
	if (ret)
		return ret;
	want = check_memory(w, pairs, sizeof(float));
	if (!want)
		return -ENOMEM;
	for (uint64_t i = 0; i < pairs; i++)
		want[i] = product(s->a + i * n, s->b + i * n, n,
				  (unsigned int)w->option[SUMS]);
	ret = check_floats(w, "out", 0, s->out, want, pairs);
	free(want);
	return ret;
}

const struct workload_ops workload_scalarprod = {
	.name = "scalarprod",
	.help = "scalar products of pairs of vectors (CUDA SDK's scalarProd)",
	.exercises = "streaming loads, shared-memory trees, barriers in a loop",
	.options = {
		[PAIRS] = { "pairs", 256, 1, 1u << 20, "of vectors", .quick = 64, .tiny = 9 },
		[N] = { "n", 4096, 1, 1u << 20, "elements of a vector; 8 bytes a pair of them",
			.tiny = 1500 },
		[CTAS] = { "ctas", 128, 1, 65535, "that share the pairs", .quick = 64, .tiny = 5 },
		[BLOCK] = { "block", 256, 32, 1024, "threads of a CTA" },
		[SUMS] = { "sums", 1024, 32, SCALARPROD_MOST,
			   "accumulators of a CTA, a power of two; 4 bytes of shared memory each" },
	},
	.state_bytes = sizeof(struct scalarprod),
	.setup = scalarprod_setup,
	.run = scalarprod_run,
	.verify = scalarprod_verify,
};
#endif
