// SPDX-License-Identifier: GPL-2.0
/*
 * convsep: a separable convolution of an image, by rows and then by columns, each from tiles
 * with an apron in shared memory (V. Podlozhnyuk, "Image Convolution with CUDA", NVIDIA 2007).
 * With shared=0 the same through plain loads, as its "texture" version does it.
 */
#define CONVSEP_RADIUS	8
#define CONVSEP_X	16	/* threads of a CTA's edges, by rows */
#define CONVSEP_Y	8
#define CONVSEP_STEPS	4	/* pixels of a thread */

/* The same in the SDK, with sdk=1: by rows, by columns, without tiles. */
#define CONVSEP_SDK_ROWS	4
#define CONVSEP_SDK_PLAIN	12
#define CONVSEP_SDK_STEPS	8

#define CONVSEP_TAPS	(2 * CONVSEP_RADIUS + 1)
/* A triangle: its taps and their sum are exact. */
#define CONVSEP_TAP(i)							\
	((float)((i) <= CONVSEP_RADIUS ? (i) + 1 : CONVSEP_TAPS - (i)) / 128)

#ifdef GPUEMU_DEVICE
#include "device.h"

INLINE float pixel(const float *image, int x, int y, int width, int height)
{
	return x >= 0 && y >= 0 && x < width && y < height ? image[y * width + x] : 0;
}

#define ROWS convsep_rows
#define COLS convsep_cols
#define PLAIN convsep_plain
#define ROWS_Y CONVSEP_Y
#define PLAIN_Y CONVSEP_Y
#define STEPS CONVSEP_STEPS
#include "convsep_kernels.h"

#define ROWS convsep_sdk_rows
#define COLS convsep_sdk_cols
#define PLAIN convsep_sdk_plain
#define ROWS_Y CONVSEP_SDK_ROWS
#define PLAIN_Y CONVSEP_SDK_PLAIN
#define STEPS CONVSEP_SDK_STEPS
#include "convsep_kernels.h"

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { WIDTH, HEIGHT, SHARED, SDK };

struct convsep {
	float *in, *half, *out;
};

static int convsep_setup(struct workload *w)
{
	struct convsep *c = w->state;
	uint64_t n = w->option[WIDTH] * w->option[HEIGHT];
	int ret;

	ret = workload_alloc(w, (void **)&c->in, n * sizeof(float), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&c->half, n * sizeof(float), WORKLOAD_SCRATCH,
				     "half");
	if (!ret)
		ret = workload_alloc(w, (void **)&c->out, n * sizeof(float), WORKLOAD_OUT, "out");
	if (!ret)
		fill_floats(w, 0, c->in, n, 0, 256);
	return ret;
}

/* A kernel, the threads of its CTA along y, the pixels of a thread. */
struct kernel {
	const char *name;
	uint32_t high, steps;
};

/* By sdk; plain, by columns, by rows. */
static const struct kernel kernels[2][3] = {
	{ { "convsep_plain", CONVSEP_Y, 1 }, { "convsep_cols", CONVSEP_Y, CONVSEP_STEPS },
	  { "convsep_rows", CONVSEP_Y, CONVSEP_STEPS } },
	{ { "convsep_sdk_plain", CONVSEP_SDK_PLAIN, 1 },
	  { "convsep_sdk_cols", CONVSEP_Y, CONVSEP_SDK_STEPS },
	  { "convsep_sdk_rows", CONVSEP_SDK_ROWS, CONVSEP_SDK_STEPS } },
};

static int pass(struct workload *w, bool rows, const float *from, float *to)
{
	const struct kernel *k = &kernels[w->option[SDK]][w->option[SHARED] ? 1 + rows : 0];
	uint32_t x = CONVSEP_X * (rows ? k->steps : 1), y = k->high * (rows ? 1 : k->steps);
	uint32_t width = (uint32_t)w->option[WIDTH], height = (uint32_t)w->option[HEIGHT];
	struct gpuemu_dim3 grid = { DIV_ROUND_UP(width, x), DIV_ROUND_UP(height, y), 1 };
	struct gpuemu_dim3 block = { CONVSEP_X, k->high, 1 };

	if (w->option[SHARED])
		return WORKLOAD_LAUNCH_GRID(w, k->name, grid, block,
					    gpuemu_arg_ptr(from), gpuemu_arg_ptr(to),
					    gpuemu_arg_s32((int32_t)width),
					    gpuemu_arg_s32((int32_t)height));
	return WORKLOAD_LAUNCH_GRID(w, k->name, grid, block,
				    gpuemu_arg_ptr(from), gpuemu_arg_ptr(to),
				    gpuemu_arg_s32((int32_t)width), gpuemu_arg_s32((int32_t)height),
				    gpuemu_arg_s32(rows), gpuemu_arg_s32(!rows));
}

static int convsep_run(struct workload *w)
{
	struct convsep *c = w->state;
	int ret = pass(w, true, c->in, c->half);

	if (!ret)
		ret = pass(w, false, c->half, c->out);
	return ret ? ret : workload_synchronize(w);
}

/* Tap by tap over the whole image; what is outside adds nothing, as a zero does. */
static void convolve(const struct workload *w, const float *in, float *out, uint64_t dx,
		     uint64_t dy)
{
	uint64_t width = w->option[WIDTH], height = w->option[HEIGHT];

	for (uint64_t k = 0; k < CONVSEP_TAPS; k++) {
		for (uint64_t y = 0; y < height; y++) {
			for (uint64_t x = 0; x < width; x++) {
				/* Wraps below zero: outside as well. */
				uint64_t fx = x + dx * k - dx * CONVSEP_RADIUS;
				uint64_t fy = y + dy * k - dy * CONVSEP_RADIUS;

				if (fx < width && fy < height)
					out[y * width + x] = fmaf(CONVSEP_TAP(k),
								  in[fy * width + fx],
								  out[y * width + x]);
			}
		}
	}
}

static int convsep_verify(struct workload *w)
{
	struct convsep *c = w->state;
	uint64_t n = w->option[WIDTH] * w->option[HEIGHT];
	float *want;
	int ret = fill_check(w, "in", 0, c->in, n, 0, 256);

	if (ret)
		return ret;
	want = check_memory(w, 2 * n, sizeof(float));
	if (!want)
		return -ENOMEM;
	convolve(w, c->in, want, 1, 0);
	convolve(w, want, want + n, 0, 1);
	ret = check_floats(w, "half", 0, c->half, want, n);
	if (!ret)
		ret = check_floats(w, "out", 0, c->out, want + n, n);
	free(want);
	return ret;
}

const struct workload_ops workload_convsep = {
	.name = "convsep",
	.help = "separable convolution of an image, rows then columns (CUDA SDK)",
	.exercises = "shared-memory tiles with aprons, barriers, unrolled multiply-adds",
	.options = {
		[WIDTH] = { "width", 1024, 1, 1u << 14, "of the image; 12 bytes a pixel",
			    .quick = 512, .tiny = 101 },
		[HEIGHT] = { "height", 1024, 1, 1u << 14, "of the image", .quick = 256, .tiny = 43 },
		[SHARED] = { "shared", 1, 0, 1, "0: plain loads in the place of tiles" },
		[SDK] = { "sdk", 0, 0, 1, "1: CTAs and pixels a thread as the SDK's kernels have them" },
	},
	.state_bytes = sizeof(struct convsep),
	.setup = convsep_setup,
	.run = convsep_run,
	.verify = convsep_verify,
};
#endif
