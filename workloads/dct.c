// SPDX-License-Identifier: GPL-2.0
/*
 * dct: the discrete cosine transform of an image in blocks of 8 x 8, as JPEG has it (Ahmed et
 * al., IEEE Trans. Computers C-23, 1974; "dct8x8" of the CUDA SDK): two products of 8 x 8
 * matrices, through shared memory.
 */
#define DCT_EDGE	8

/* cos((2 x + 1) u pi / 16) times the norm, u down, x across; rows are mirrored. */
#define DCT_MATRIX {							\
	{ 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f,		\
	  0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f },		\
	{ 0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f,		\
	  -0.09754516f, -0.27778512f, -0.41573481f, -0.49039264f },	\
	{ 0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f,		\
	  -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f },	\
	{ 0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f,	\
	  0.27778512f, 0.49039264f, 0.09754516f, -0.41573481f },	\
	{ 0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f,		\
	  0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f },	\
	{ 0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f,		\
	  -0.41573481f, -0.09754516f, 0.49039264f, -0.27778512f },	\
	{ 0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f,		\
	  -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f },	\
	{ 0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f,		\
	  0.49039264f, -0.41573481f, 0.27778512f, -0.09754516f },	\
}

#ifdef GPUEMU_DEVICE
#include "device.h"

/*
 * basis: DCT_EDGE rows; then the CTA's pixels by rows, and by columns, what one product makes of
 * them. Each row has a word more, so that banks differ.
 */
extern __shared__ float basis[];

/* matrix is DCT_MATRIX, row by row; all threads of a CTA copy it. */
KERNEL dct(const float *in, float *out, const float *matrix, int width)
{
	int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	int cols = (int)blockDim.x, rows = (int)blockDim.y, pitch = cols + 1;
	float *tile = basis + DCT_EDGE * (DCT_EDGE + 1), *half = tile + rows * pitch;
	int u = tx % DCT_EDGE, v = ty % DCT_EDGE, left = tx - u, top = ty - v;
	int at = ((int)blockIdx.y * rows + ty) * width + (int)blockIdx.x * cols + tx;
	float sum = 0;

	if (tx < DCT_EDGE && ty < DCT_EDGE)
		basis[ty * (DCT_EDGE + 1) + tx] = matrix[ty * DCT_EDGE + tx];
	tile[ty * pitch + tx] = in[at];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < DCT_EDGE; i++)
		sum = fmaf(tile[ty * pitch + left + i], basis[u * (DCT_EDGE + 1) + i], sum);
	half[tx * (rows + 1) + ty] = sum;
	__syncthreads();
	sum = 0;
#pragma unroll
	for (int i = 0; i < DCT_EDGE; i++)
		sum = fmaf(basis[v * (DCT_EDGE + 1) + i], half[tx * (rows + 1) + top + i], sum);
	out[at] = sum;
}

#else
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fill.h"

enum { WIDTH, HEIGHT, BLOCK };

struct dct {
	float *in, *out, *matrix;
};

static const float dct_matrix[DCT_EDGE][DCT_EDGE] = DCT_MATRIX;

/* A CTA has whole blocks of the image, as many rows as columns where that can be, else fewer. */
static struct gpuemu_dim3 cta(const struct workload *w)
{
	uint32_t threads = (uint32_t)w->option[BLOCK], rows = DCT_EDGE;

	while (2 * 2 * rows * rows <= threads && threads % (2 * rows * DCT_EDGE) == 0)
		rows *= 2;
	return (struct gpuemu_dim3){ threads / rows, rows, 1 };
}

static uint32_t width_of(const struct workload *w)
{
	return DIV_ROUND_UP((uint32_t)w->option[WIDTH], cta(w).x) * cta(w).x;
}

static uint32_t height_of(const struct workload *w)
{
	return DIV_ROUND_UP((uint32_t)w->option[HEIGHT], cta(w).y) * cta(w).y;
}

static int dct_setup(struct workload *w)
{
	struct dct *d = w->state;
	uint64_t n = (uint64_t)width_of(w) * height_of(w);
	int ret;

	if (w->option[BLOCK] % (DCT_EDGE * DCT_EDGE))
		return err_set(&w->err, -EINVAL, "block=%u is not a multiple of %u",
			       (unsigned int)w->option[BLOCK], DCT_EDGE * DCT_EDGE);
	ret = workload_alloc(w, (void **)&d->in, n * sizeof(float), WORKLOAD_IN, "in");
	if (!ret)
		ret = workload_alloc(w, (void **)&d->out, n * sizeof(float), WORKLOAD_OUT, "out");
	if (!ret)
		ret = workload_alloc(w, (void **)&d->matrix, sizeof(dct_matrix), WORKLOAD_IN,
				     "matrix");
	if (ret)
		return ret;
	fill_floats(w, 0, d->in, n, -128, 128);
	memcpy(d->matrix, dct_matrix, sizeof(dct_matrix));
	return 0;
}

static int dct_run(struct workload *w)
{
	struct dct *d = w->state;
	uint32_t width = width_of(w);
	struct gpuemu_dim3 block = cta(w), grid = { width / block.x, height_of(w) / block.y, 1 };
	int ret;

	w->shared = (DCT_EDGE * (DCT_EDGE + 1) + block.y * (block.x + 1) +
		     block.x * (block.y + 1)) * (uint32_t)sizeof(float);
	ret = WORKLOAD_LAUNCH_GRID(w, "dct", grid, block, gpuemu_arg_ptr(d->in),
				   gpuemu_arg_ptr(d->out), gpuemu_arg_ptr(d->matrix),
				   gpuemu_arg_s32((int32_t)width));
	return ret ? ret : workload_synchronize(w);
}

/* A block of the image at a time. */
static void transform(const float *in, float *out, uint64_t width)
{
	float half[DCT_EDGE][DCT_EDGE] = { 0 };

	for (unsigned int y = 0; y < DCT_EDGE; y++)
		for (unsigned int u = 0; u < DCT_EDGE; u++)
			for (unsigned int x = 0; x < DCT_EDGE; x++)
				half[y][u] = fmaf(in[y * width + x], dct_matrix[u][x], half[y][u]);
	for (unsigned int v = 0; v < DCT_EDGE; v++)
		for (unsigned int u = 0; u < DCT_EDGE; u++)
			for (unsigned int y = 0; y < DCT_EDGE; y++)
				out[v * width + u] = fmaf(dct_matrix[v][y], half[y][u],
							  out[v * width + u]);
}

static int dct_verify(struct workload *w)
{
	struct dct *d = w->state;
	uint64_t width = width_of(w), height = height_of(w);
	float *want;
	int ret = fill_check(w, "in", 0, d->in, width * height, -128, 128);

	if (!ret)
		ret = check_floats(w, "matrix", 0, d->matrix, &dct_matrix[0][0],
				   DCT_EDGE * DCT_EDGE);
	if (ret)
		return ret;
	want = check_memory(w, width * height, sizeof(float));
	if (!want)
		return -ENOMEM;
	for (uint64_t y = 0; y < height; y += DCT_EDGE)
		for (uint64_t x = 0; x < width; x += DCT_EDGE)
			transform(d->in + y * width + x, want + y * width + x, width);
	ret = check_floats(w, "out", 0, d->out, want, width * height);
	free(want);
	return ret;
}

const struct workload_ops workload_dct = {
	.name = "dct",
	.help = "discrete cosine transform of an image in 8 x 8 blocks (CUDA SDK)",
	.exercises = "shared memory, two barriers, short CTAs, unrolled multiply-adds",
	.options = {
		[WIDTH] = { "width", 1024, 1, 1u << 14,
			    "of the image, rounded up to CTAs; 8 bytes a pixel", .quick = 512, .tiny = 88 },
		[HEIGHT] = { "height", 1024, 1, 1u << 14, "of the image, rounded up to CTAs",
			     .quick = 256, .tiny = 56 },
		[BLOCK] = { "block", 256, 64, 512, "threads of a CTA, a multiple of 64" },
	},
	.state_bytes = sizeof(struct dct),
	.setup = dct_setup,
	.run = dct_run,
	.verify = dct_verify,
};
#endif
