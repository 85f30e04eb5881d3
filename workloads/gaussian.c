// SPDX-License-Identifier: GPL-2.0
/*
 * gaussian: elimination of a linear system's matrix, a column at a time, without
 * pivoting (in Rodinia, Che et al., IISWC 2009). Of each column the first kernel
 * makes the multipliers, the second subtracts the pivot's row from those below it,
 * so the grid of each launch pair is a little smaller than the one before.
 */
#define GAUSS_BLOCK	256	/* threads of a CTA that makes multipliers */
#define GAUSS_WIDE	32	/* of one that eliminates: a warp is along a row */
#define GAUSS_HIGH	8

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL gaussian_fan1(const float *a, float *m, uint32_t n, uint32_t t)
{
	uint32_t row = t + 1 + blockIdx.x * blockDim.x + threadIdx.x;

	if (row < n)
		m[(uint64_t)row * n + t] = a[(uint64_t)row * n + t] / a[(uint64_t)t * n + t];
}

KERNEL gaussian_fan2(float *a, float *b, const float *m, uint32_t n, uint32_t t)
{
	uint32_t column = t + blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t row = t + 1 + blockIdx.y * blockDim.y + threadIdx.y;
	uint64_t at = (uint64_t)row * n + column;
	float by;

	if (row >= n || column >= n)
		return;
	by = m[(uint64_t)row * n + t];
	a[at] = fmaf(-by, a[(uint64_t)t * n + column], a[at]);
	if (column == t)
		b[row] = fmaf(-by, b[t], b[row]);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { N, COLUMNS, BLOCK };

struct gaussian {
	float *a, *b, *m;
};

/* The last column has nothing below its pivot. */
static uint64_t columns(const struct workload *w)
{
	return MIN(w->option[COLUMNS], w->option[N] - 1);
}

/* -1 to 1 in steps that a float has. */
static float random_entry(struct rng *rng)
{
	return (float)rng_below(rng, 1 << 17) / (1 << 16) - 1;
}

/* A row, and behind it the right side's entry. The diagonal outweighs the row. */
static void make_row(const struct workload *w, struct rng *rng, uint64_t y,
		     float *row, float *right)
{
	uint64_t n = w->option[N];

	for (uint64_t x = 0; x < n; x++)
		row[x] = random_entry(rng) + (x == y ? (float)n : 0);
	*right = random_entry(rng) * (float)n;
}

static int gaussian_setup(struct workload *w)
{
	struct gaussian *g = w->state;
	uint64_t n = w->option[N];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&g->a, n * n * sizeof(float), WORKLOAD_INOUT, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->b, n * sizeof(float), WORKLOAD_INOUT, "b");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->m, n * n * sizeof(float), WORKLOAD_OUT, "m");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t y = 0; y < n; y++)
		make_row(w, &rng, y, g->a + y * n, g->b + y);
	return 0;
}

static int gaussian_run(struct workload *w)
{
	struct gaussian *g = w->state;
	uint32_t n = (uint32_t)w->option[N], edge = (uint32_t)w->option[BLOCK];
	const struct gpuemu_dim3 block = {
		edge ? edge : GAUSS_WIDE, edge ? edge : GAUSS_HIGH, 1
	};
	int ret = 0;

	for (uint32_t t = 0; t < columns(w) && !ret; t++) {
		uint32_t below = n - 1 - t;
		struct gpuemu_dim3 grid = {
			DIV_ROUND_UP(below + 1, block.x), DIV_ROUND_UP(below, block.y), 1
		};

		ret = WORKLOAD_LAUNCH(w, "gaussian_fan1", DIV_ROUND_UP(below, GAUSS_BLOCK),
				      GAUSS_BLOCK, gpuemu_arg_ptr(g->a), gpuemu_arg_ptr(g->m),
				      gpuemu_arg_u32(n), gpuemu_arg_u32(t));
		if (!ret)
			ret = WORKLOAD_LAUNCH_GRID(w, "gaussian_fan2", grid, block,
						   gpuemu_arg_ptr(g->a), gpuemu_arg_ptr(g->b),
						   gpuemu_arg_ptr(g->m), gpuemu_arg_u32(n),
						   gpuemu_arg_u32(t));
	}
	return ret ? ret : workload_synchronize(w);
}

/*
 * The CPU's way: row by row, each finished against the finished rows above it, where the GPU
 * goes column by column. An entry meets the same operations in the same order, each IEEE
 * single, so the bits are equal. `up` keeps the first rows, each with its right side's entry
 * behind it; the row after them is the one at work.
 */
static int compare(struct workload *w, float *up, float *by)
{
	struct gaussian *g = w->state;
	uint64_t n = w->option[N], pitch = n + 1, steps = columns(w);
	struct rng rng;
	int ret = 0;

	rng_seed(&rng, w->seed);
	for (uint64_t y = 0; y < n && !ret; y++) {
		float *row = up + MIN(y, steps) * pitch;

		make_row(w, &rng, y, row, row + n);
		for (uint64_t t = 0; t < MIN(y, steps); t++) {
			const float *pivot = up + t * pitch;

			by[t] = row[t] / pivot[t];
			for (uint64_t x = t; x < pitch; x++)
				row[x] = fmaf(-by[t], pivot[x], row[x]);
		}
		for (uint64_t t = MIN(y, steps); t < n; t++)
			by[t] = 0;
		ret = check_floats(w, "a", y * n, g->a + y * n, row, n);
		if (!ret)
			ret = check_floats(w, "b", y, g->b + y, row + n, 1);
		if (!ret)
			ret = check_floats(w, "m", y * n, g->m + y * n, by, n);
	}
	return ret;
}

/*
 * When all columns are done, what is left is solved from the bottom up, and the solution
 * put into the system as it was: to a ten-thousandth of the terms' magnitude.
 */
static int check_solution(struct workload *w, double *x, float *row)
{
	struct gaussian *g = w->state;
	uint64_t n = w->option[N];
	struct rng rng;

	for (uint64_t y = n; y-- > 0;) {
		x[y] = g->b[y];
		for (uint64_t c = y + 1; c < n; c++)
			x[y] -= (double)g->a[y * n + c] * x[c];
		x[y] /= (double)g->a[y * n + y];
	}
	rng_seed(&rng, w->seed);
	for (uint64_t y = 0; y < n; y++) {
		double sum, size;

		make_row(w, &rng, y, row, row + n);
		sum = -(double)row[n];
		size = fabs(sum);
		for (uint64_t c = 0; c < n; c++) {
			sum += (double)row[c] * x[c];
			size += fabs((double)row[c] * x[c]);
		}
		if (!(fabs(sum) <= 1e-4 * size))
			return err_set(&w->err, -EBADMSG,
				       "the solution leaves %g of %g in equation %" PRIu64,
				       sum, size, y);
	}
	return 0;
}

static int gaussian_verify(struct workload *w)
{
	uint64_t n = w->option[N], pitch = n + 1, steps = columns(w);
	double *x = check_memory(w, n + ((steps + 1) * pitch + n) / 2 + 1, sizeof(double));
	float *up = (float *)(x + n);
	int ret;

	if (!x)
		return -ENOMEM;
	ret = compare(w, up, up + (steps + 1) * pitch);
	if (!ret && steps == n - 1)
		ret = check_solution(w, x, up);
	free(x);
	return ret;
}

const struct workload_ops workload_gaussian = {
	.name = "gaussian",
	.help = "Gaussian elimination of the first columns of a system (Rodinia)",
	.exercises = "two launches a column, a column's stride over pages, streaming updates",
	.options = {
		[N] = { "n", 1536, 2, 1u << 15, "unknowns; 8 bytes an entry of the matrix",
			.quick = 640, .tiny = 101 },
		[COLUMNS] = { "columns", 8, 1, 1u << 15, "to eliminate; n or more: all, and solve",
			      .tiny = 9 },
		[BLOCK] = { "block", 0, 0, 32,
			    "threads of an edge of the CTAs that eliminate (Rodinia: 4); 0: 32 x 8" },
	},
	.state_bytes = sizeof(struct gaussian),
	.setup = gaussian_setup,
	.run = gaussian_run,
	.verify = gaussian_verify,
};
#endif
