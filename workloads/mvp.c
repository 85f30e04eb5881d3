// SPDX-License-Identifier: GPL-2.0
/*
 * mvp: y = A x and z = transpose(A) w, a thread an element (mvt of PolyBench/GPU). The first
 * reads the matrix by rows, 32 lines an access; the second by columns, coalesced.
 */
#define MVP_BLOCK	256

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL mvp_rows(const float *a, const float *x, float *y, int rows, int cols)
{
	int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	float sum = 0;

	if (row >= rows)
		return;
	for (int i = 0; i < cols; i++)
		sum = fmaf(a[row * cols + i], x[i], sum);
	y[row] = sum;
}

KERNEL mvp_cols(const float *a, const float *x, float *y, int rows, int cols)
{
	int col = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	float sum = 0;

	if (col >= cols)
		return;
	for (int i = 0; i < rows; i++)
		sum = fmaf(a[i * cols + col], x[i], sum);
	y[col] = sum;
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { ROWS, COLS, TRANSPOSED };

struct mvp {
	float *a, *x, *y, *u, *z;	/* u and z of the transposed product */
};

static int mvp_setup(struct workload *w)
{
	struct mvp *p = w->state;
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	int ret;

	ret = workload_alloc(w, (void **)&p->a, rows * cols * sizeof(float), WORKLOAD_IN, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->x, cols * sizeof(float), WORKLOAD_IN, "x");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->y, rows * sizeof(float), WORKLOAD_OUT, "y");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->u, rows * sizeof(float), WORKLOAD_IN, "u");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->z, cols * sizeof(float), WORKLOAD_OUT, "z");
	if (ret)
		return ret;
	fill_floats(w, 0, p->a, rows * cols, -1, 1);
	fill_floats(w, 1, p->x, cols, -1, 1);
	fill_floats(w, 2, p->u, rows, -1, 1);
	return 0;
}

static int mvp_run(struct workload *w)
{
	struct mvp *p = w->state;
	uint32_t rows = (uint32_t)w->option[ROWS], cols = (uint32_t)w->option[COLS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "mvp_rows", DIV_ROUND_UP(rows, MVP_BLOCK), MVP_BLOCK,
			      gpuemu_arg_ptr(p->a), gpuemu_arg_ptr(p->x), gpuemu_arg_ptr(p->y),
			      gpuemu_arg_s32((int32_t)rows), gpuemu_arg_s32((int32_t)cols));
	if (!ret && w->option[TRANSPOSED])
		ret = WORKLOAD_LAUNCH(w, "mvp_cols", DIV_ROUND_UP(cols, MVP_BLOCK), MVP_BLOCK,
				      gpuemu_arg_ptr(p->a), gpuemu_arg_ptr(p->u),
				      gpuemu_arg_ptr(p->z), gpuemu_arg_s32((int32_t)rows),
				      gpuemu_arg_s32((int32_t)cols));
	return ret ? ret : workload_synchronize(w);
}

/* Both products in one pass over the matrix. */
static int compare(struct workload *w, float *y, float *z)
{
	struct mvp *p = w->state;
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	int ret;

	for (uint64_t row = 0; row < rows; row++) {
		for (uint64_t col = 0; col < cols; col++) {
			float a = p->a[row * cols + col];

			y[row] = fmaf(a, p->x[col], y[row]);
			if (w->option[TRANSPOSED])
				z[col] = fmaf(a, p->u[row], z[col]);
		}
	}
	ret = check_floats(w, "y", 0, p->y, y, rows);
	return ret ? ret : check_floats(w, "z", 0, p->z, z, cols);
}

static int mvp_verify(struct workload *w)
{
	struct mvp *p = w->state;
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	float *want;
	int ret = fill_check(w, "a", 0, p->a, rows * cols, -1, 1);

	if (!ret)
		ret = fill_check(w, "x", 1, p->x, cols, -1, 1);
	if (!ret)
		ret = fill_check(w, "u", 2, p->u, rows, -1, 1);
	if (ret)
		return ret;
	want = check_memory(w, rows + cols, sizeof(float));
	if (!want)
		return -ENOMEM;
	ret = compare(w, want, want + rows);
	free(want);
	return ret;
}

const struct workload_ops workload_mvp = {
	.name = "mvp",
	.help = "matrix-vector products, by rows and by columns (PolyBench)",
	.exercises = "uncoalesced and coalesced loads of one matrix, L1D capacity",
	.options = {
		[ROWS] = { "rows", 4096, 1, 1u << 15, "of the matrix; 4 bytes an element",
			   .quick = 1024, .tiny = 300 },
		[COLS] = { "cols", 1024, 1, 1u << 15, "of the matrix", .quick = 256, .tiny = 77 },
		[TRANSPOSED] = { "transposed", 1, 0, 1, "1: the transposed product, too" },
	},
	.state_bytes = sizeof(struct mvp),
	.setup = mvp_setup,
	.run = mvp_run,
	.verify = mvp_verify,
};
#endif
