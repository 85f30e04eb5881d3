// SPDX-License-Identifier: GPL-2.0
/*
 * sgemm: C = alpha * A * B + beta * C in single precision, blocked as Volkov and Demmel (2008)
 * have it, and Parboil's sgemm after them: a thread keeps a row of 16 results in registers, a
 * CTA shares a tile of B. A and C are stored by columns, B by rows.
 */
#define TILE_M	128u	/* rows of C of a CTA: its threads */
#define TILE_N	16u	/* columns of C of a CTA: results of a thread */
#define TILE_K	8u	/* rows of B in shared memory at a time */

#ifdef GPUEMU_DEVICE
#include "device.h"

typedef float float4 __attribute__((ext_vector_type(4)));

/* Outside the matrices all is zero: the edges add 0 * 0. */
KERNEL sgemm(const float *a, const float *b, float *c, uint32_t m, uint32_t n,
	     uint32_t k, float alpha, float beta)
{
	__shared__ float4 tile[TILE_K][TILE_N / 4];
	float *shared = (float *)tile;
	uint32_t row = blockIdx.x * TILE_M + threadIdx.x;
	uint32_t column = blockIdx.y * TILE_N;
	uint32_t tile_row = threadIdx.x / TILE_N, tile_column = threadIdx.x % TILE_N;
	float sum[TILE_N] = { 0 };

	for (uint32_t first = 0; first < k; first += TILE_K) {
		uint32_t b_row = first + tile_row, b_column = column + tile_column;

		shared[threadIdx.x] = b_row < k && b_column < n ? b[b_row * n + b_column] : 0;
		__syncthreads();
#pragma unroll
		for (uint32_t i = 0; i < TILE_K; i++) {
			float v = row < m && first + i < k ? a[(first + i) * m + row] : 0;

#pragma unroll
			for (uint32_t j = 0; j < TILE_N; j += 4) {
				float4 four = tile[i][j / 4];

				sum[j] = fmaf(v, four.x, sum[j]);
				sum[j + 1] = fmaf(v, four.y, sum[j + 1]);
				sum[j + 2] = fmaf(v, four.z, sum[j + 2]);
				sum[j + 3] = fmaf(v, four.w, sum[j + 3]);
			}
		}
		__syncthreads();
	}
	if (row >= m)
		return;
#pragma unroll
	for (uint32_t j = 0; j < TILE_N; j++) {
		if (column + j < n) {
			float *at = &c[(column + j) * m + row];

			*at = fmaf(alpha, sum[j], beta * *at);
		}
	}
}

/* A value of A times a row of the tile of B. */
INLINE void add_row(float *sum, float v, const float4 *row)
{
#pragma unroll
	for (uint32_t j = 0; j < TILE_N; j++)
		sum[j] = fmaf(v, row[j / 4][j % 4], sum[j]);
}

/*
 * Parboil's loop over the tile's rows has no #pragma unroll. Rolled, it is 26 instructions of 8
 * bytes. The eight rows of sgemm are 250, more than an instruction cache of 2 KB holds. A thread
 * below the last row computes that row again and stores nothing.
 */
KERNEL sgemm_rolled(const float *a, const float *b, float *c, uint32_t m, uint32_t n,
		    uint32_t k, float alpha, float beta)
{
	__shared__ float4 tile[TILE_K][TILE_N / 4];
	float *shared = (float *)tile;
	uint32_t row = blockIdx.x * TILE_M + threadIdx.x;
	uint32_t column = blockIdx.y * TILE_N;
	uint32_t b_row = threadIdx.x / TILE_N, b_column = column + threadIdx.x % TILE_N;
	float sum[TILE_N] = { 0 };

	a += row < m ? row : m - 1;
	b += b_row * n + b_column;
#pragma unroll 1
	while (k) {
		uint32_t rows = min(k, TILE_K);

		shared[threadIdx.x] = b_row < rows && b_column < n ? *b : 0;
		b += TILE_K * n;
		__syncthreads();
#pragma unroll 1
		for (uint32_t i = 0; i < rows; i++) {
			add_row(sum, *a, tile[i]);
			a += m;
		}
		__syncthreads();
		k -= rows;
	}
	if (row >= m)
		return;
	c += column * m + row;
#pragma unroll
	for (uint32_t j = 0; j < TILE_N; j++) {
		if (column + j < n)
			*c = fmaf(alpha, sum[j], beta * *c);
		c += m;
	}
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define ALPHA	1.5f
#define BETA	-0.5f

enum { M, NN, K, ROLLED };

struct sgemm {
	float *a, *b, *c;
};

/* -1 to 1. */
static float random_float(struct rng *rng)
{
	return (float)(int32_t)rng_next(rng) * 0x1p-31f;
}

static void fill(float *to, uint64_t n, struct rng *rng)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] = random_float(rng);
}

static int sgemm_setup(struct workload *w)
{
	struct sgemm *g = w->state;
	uint64_t m = w->option[M], n = w->option[NN], k = w->option[K];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&g->a, m * k * sizeof(float), WORKLOAD_IN, "A");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->b, k * n * sizeof(float), WORKLOAD_IN, "B");
	if (!ret)
		ret = workload_alloc(w, (void **)&g->c, m * n * sizeof(float), WORKLOAD_INOUT, "C");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	fill(g->a, m * k, &rng);
	fill(g->b, k * n, &rng);
	fill(g->c, m * n, &rng);
	return 0;
}

static int sgemm_run(struct workload *w)
{
	struct sgemm *g = w->state;
	uint32_t m = (uint32_t)w->option[M], n = (uint32_t)w->option[NN];
	struct gpuemu_dim3 grid = { DIV_ROUND_UP(m, TILE_M), DIV_ROUND_UP(n, TILE_N), 1 };
	struct gpuemu_dim3 block = { TILE_M, 1, 1 };
	const char *kernel = w->option[ROLLED] ? "sgemm_rolled" : "sgemm";
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, kernel, grid, block, gpuemu_arg_ptr(g->a),
				   gpuemu_arg_ptr(g->b), gpuemu_arg_ptr(g->c),
				   gpuemu_arg_u32(m), gpuemu_arg_u32(n),
				   gpuemu_arg_u32((uint32_t)w->option[K]),
				   gpuemu_arg_f32(ALPHA), gpuemu_arg_f32(BETA));
	return ret ? ret : workload_synchronize(w);
}

/* One column of results, an outer product at a time: each adds up in the order of k. */
static void reference_column(const struct workload *w, const float *a, const float *b, float *sum,
			     uint64_t column)
{
	uint64_t m = w->option[M], n = w->option[NN];

	memset(sum, 0, m * sizeof(*sum));
	for (uint64_t i = 0; i < w->option[K]; i++)
		for (uint64_t j = 0; j < m; j++)
			sum[j] = fmaf(a[i * m + j], b[i * n + column], sum[j]);
}

static int verify_input(struct workload *w, const char *name, const float *is, float *was,
			uint64_t n, struct rng *rng)
{
	fill(was, n, rng);
	for (uint64_t i = 0; i < n; i++)
		if (memcmp(&is[i], &was[i], sizeof(*is)))
			return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] changed: %a, was %a",
				       name, i, is[i], was[i]);
	return 0;
}

static int sgemm_verify(struct workload *w)
{
	struct sgemm *g = w->state;
	uint64_t m = w->option[M], n = w->option[NN], k = w->option[K];
	float *a = malloc((m * k + k * n + m) * sizeof(*a)), *b = a + m * k, *sum = b + k * n;
	struct rng rng;
	int ret;

	if (!a)
		return err_set(&w->err, -ENOMEM, "no memory for the reference");
	rng_seed(&rng, w->seed);
	ret = verify_input(w, "A", g->a, a, m * k, &rng);
	if (!ret)
		ret = verify_input(w, "B", g->b, b, k * n, &rng);
	for (uint64_t i = 0; !ret && i < n; i++) {
		reference_column(w, a, b, sum, i);
		for (uint64_t j = 0; !ret && j < m; j++) {
			float c = fmaf(ALPHA, sum[j], BETA * random_float(&rng));

			if (memcmp(&g->c[i * m + j], &c, sizeof(c)))
				ret = err_set(&w->err, -EBADMSG, "C[%" PRIu64 "][%" PRIu64
					      "] is %a, the CPU says %a", j, i, g->c[i * m + j], c);
		}
	}
	free(a);
	return ret;
}

const struct workload_ops workload_sgemm = {
	.name = "sgemm",
	.help = "C = alpha * A * B + beta * C, floats, tiled",
	.exercises = "FMA throughput, shared memory, reuse of pages by many CTAs",
	.options = {
		[M] = { "m", 1280, 1, 1 << 15, "rows of A and C", .quick = 768, .tiny = 131 },
		[NN] = { "n", 1280, 1, 1 << 15, "columns of B and C", .quick = 768, .tiny = 37 },
		[K] = { "k", 256, 1, 1 << 15, "columns of A, rows of B", .quick = 64, .tiny = 27 },
		[ROLLED] = { "rolled", 0, 0, 1, "1: a tile's rows are a loop, which needs less of the "
			     "instruction cache" },
	},
	.state_bytes = sizeof(struct sgemm),
	.setup = sgemm_setup,
	.run = sgemm_run,
	.verify = sgemm_verify,
};
#endif
