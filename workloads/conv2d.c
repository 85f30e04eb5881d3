// SPDX-License-Identifier: GPL-2.0
/*
 * conv2d: a 3 x 3 convolution of a matrix, each thread one element from nine loads that
 * L1 catches or not (PolyBench/GPU: Grauer-Gray et al., InPar 2012). No shared memory.
 */
#define CONV_X	32	/* threads of a CTA's edges, as PolyBench has them */
#define CONV_Y	8

#define CONV_WEIGHTS							\
	{ { 0.2f, 0.5f, -0.8f }, { -0.3f, 0.6f, -0.9f }, { 0.4f, 0.7f, 0.1f } }

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL conv2d(const float *in, float *out, int rows, int cols)
{
	const float weight[3][3] = CONV_WEIGHTS;
	int x = (int)(blockIdx.x * CONV_X + threadIdx.x);
	int y = (int)(blockIdx.y * CONV_Y + threadIdx.y);
	float sum = 0;

	if (x < 1 || y < 1 || x >= cols - 1 || y >= rows - 1)
		return;
#pragma unroll
	for (int dy = 0; dy < 3; dy++)
#pragma unroll
		for (int dx = 0; dx < 3; dx++)
			sum = fmaf(weight[dy][dx], in[(y + dy - 1) * cols + x + dx - 1], sum);
	out[y * cols + x] = sum;
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { ROWS, COLS };

struct conv2d {
	float *in, *out;
};

static int conv2d_setup(struct workload *w)
{
	struct conv2d *c = w->state;
	uint64_t n = w->option[ROWS] * w->option[COLS];
	int ret;

	ret = workload_alloc(w, (void **)&c->in, n * sizeof(float), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&c->out, n * sizeof(float), WORKLOAD_OUT, "out");
	if (!ret)
		fill_floats(w, 0, c->in, n, -1, 1);
	return ret;
}

static int conv2d_run(struct workload *w)
{
	struct conv2d *c = w->state;
	uint32_t rows = (uint32_t)w->option[ROWS], cols = (uint32_t)w->option[COLS];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "conv2d", ((struct gpuemu_dim3){ DIV_ROUND_UP(cols, CONV_X),
								DIV_ROUND_UP(rows, CONV_Y), 1 }),
				   ((struct gpuemu_dim3){ CONV_X, CONV_Y, 1 }),
				   gpuemu_arg_ptr(c->in), gpuemu_arg_ptr(c->out),
				   gpuemu_arg_s32((int32_t)rows), gpuemu_arg_s32((int32_t)cols));
	return ret ? ret : workload_synchronize(w);
}

/* The CPU goes through the weights outside and the matrix inside; each sum's order is the same. */
static int conv2d_verify(struct workload *w)
{
	static const float weight[3][3] = CONV_WEIGHTS;
	struct conv2d *c = w->state;
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	float *want;
	int ret = fill_check(w, "in", 0, c->in, rows * cols, -1, 1);

	if (ret)
		return ret;
	want = check_memory(w, rows * cols, sizeof(float));
	if (!want)
		return -ENOMEM;
	for (unsigned int k = 0; k < 9; k++)
		for (uint64_t y = 1; y + 1 < rows; y++)
			for (uint64_t x = 1; x + 1 < cols; x++)
				want[y * cols + x] =
					fmaf(weight[k / 3][k % 3],
					     c->in[(y + k / 3 - 1) * cols + x + k % 3 - 1],
					     want[y * cols + x]);
	ret = check_floats(w, "out", 0, c->out, want, rows * cols);
	free(want);
	return ret;
}

const struct workload_ops workload_conv2d = {
	.name = "conv2d",
	.help = "a 3 x 3 convolution of a matrix (PolyBench)",
	.exercises = "L1D reuse between rows, coalescing with overlaps, no shared memory",
	.options = {
		[ROWS] = { "rows", 2048, 1, 1u << 15, "of the matrix; 8 bytes an element",
			   .quick = 512, .tiny = 67 },
		[COLS] = { "cols", 2048, 1, 1u << 15, "of the matrix", .quick = 512, .tiny = 101 },
	},
	.state_bytes = sizeof(struct conv2d),
	.setup = conv2d_setup,
	.run = conv2d_run,
	.verify = conv2d_verify,
};
#endif
