// SPDX-License-Identifier: GPL-2.0
/*
 * haar: the one-dimensional Haar wavelet decomposition of a signal (Haar, Math. Annalen 69,
 * 1910; "dwtHaar1D" of the CUDA SDK): a launch takes 1024 samples a CTA through ten levels in
 * shared memory, and leaves one average a CTA to the next launch.
 */
#define HAAR_BLOCK	512u	/* threads of a CTA; two samples each */

#ifdef GPUEMU_DEVICE
#include "device.h"

#define HAAR_SCALE	0.70710678f	/* 1 over the square root of 2 */

/*
 * Details of a level with m pairs are detail[m ..], all of a signal's levels in one array. n is
 * the launch's samples, a power of two; a CTA takes 2 * its threads of them.
 */
KERNEL haar(const float *in, float *detail, float *average, uint32_t n)
{
	__shared__ float level[HAAR_BLOCK];
	uint32_t t = threadIdx.x, pairs = n / 2, mine = blockDim.x;
	uint32_t pair = blockIdx.x * blockDim.x + t;
	float a = in[2 * pair], b = in[2 * pair + 1];

	detail[pairs + pair] = (a - b) * HAAR_SCALE;
	level[t] = (a + b) * HAAR_SCALE;
	for (mine /= 2; mine; mine /= 2) {
		__syncthreads();
		pairs /= 2;
		if (t < mine) {
			a = level[2 * t];
			b = level[2 * t + 1];
		}
		__syncthreads();
		if (t < mine) {
			detail[pairs + blockIdx.x * mine + t] = (a - b) * HAAR_SCALE;
			level[t] = (a + b) * HAAR_SCALE;
		}
	}
	if (t == 0)
		average[blockIdx.x] = level[0];
}

#else
#include <errno.h>

#include "fill.h"

enum { LEVELS };

#define HAAR_SCALE	0.70710678f

struct haar {
	float *in, *detail, *average[2];
};

static uint64_t samples(const struct workload *w)
{
	return 1ull << w->option[LEVELS];
}

static int haar_setup(struct workload *w)
{
	struct haar *h = w->state;
	uint64_t n = samples(w), ctas = MAX(n / (2 * HAAR_BLOCK), 1ull);
	int ret;

	ret = workload_alloc(w, (void **)&h->in, n * sizeof(float), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->detail, n * sizeof(float), WORKLOAD_OUT,
				     "detail");
	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = workload_alloc(w, (void **)&h->average[i], ctas * sizeof(float),
				     WORKLOAD_SCRATCH, "average");
	if (!ret)
		fill_floats(w, 0, h->in, n, -16, 16);
	return ret;
}

static int haar_run(struct workload *w)
{
	struct haar *h = w->state;
	const float *from = h->in;
	unsigned int to = 0;
	int ret = 0;

	for (uint64_t n = samples(w); n > 1 && !ret; to = !to) {
		uint32_t threads = (uint32_t)MIN(n / 2, (uint64_t)HAAR_BLOCK);
		uint32_t ctas = (uint32_t)(n / 2 / threads);

		ret = WORKLOAD_LAUNCH(w, "haar", ctas, threads, gpuemu_arg_ptr(from),
				      gpuemu_arg_ptr(h->detail), gpuemu_arg_ptr(h->average[to]),
				      gpuemu_arg_u32((uint32_t)n));
		from = h->average[to];
		n = ctas;
	}
	return ret ? ret : workload_synchronize(w);
}

/* Level by level over the whole signal; detail[0], which no level has, stays 0. */
static int haar_verify(struct workload *w)
{
	struct haar *h = w->state;
	uint64_t n = samples(w);
	float *want, *level;
	int ret = fill_check(w, "in", 0, h->in, n, -16, 16);

	if (ret)
		return ret;
	want = check_memory(w, 2 * n, sizeof(float));
	if (!want)
		return -ENOMEM;
	level = want + n;
	for (uint64_t i = 0; i < n; i++)
		level[i] = h->in[i];
	for (uint64_t pairs = n / 2; pairs; pairs /= 2) {
		for (uint64_t i = 0; i < pairs; i++) {
			float a = level[2 * i], b = level[2 * i + 1];

			want[pairs + i] = (a - b) * HAAR_SCALE;
			level[i] = (a + b) * HAAR_SCALE;
		}
	}
	ret = check_floats(w, "detail", 0, h->detail, want, n);
	free(want);
	return ret;
}

const struct workload_ops workload_haar = {
	.name = "haar",
	.help = "Haar wavelet decomposition of a signal (CUDA SDK's dwtHaar1D)",
	.exercises = "shared memory, barriers, warps that run out of work level by level",
	.options = {
		[LEVELS] = { "levels", 20, 1, 28, "log2 of the samples; 8 bytes each",
			     .quick = 17, .tiny = 13, .large = 22 },
	},
	.state_bytes = sizeof(struct haar),
	.setup = haar_setup,
	.run = haar_run,
	.verify = haar_verify,
};
#endif
