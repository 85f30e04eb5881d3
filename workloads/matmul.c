// SPDX-License-Identifier: GPL-2.0
/*
 * matmul: C = A B, a thread an element, tiles of both factors in shared memory: the
 * tiled product of the CUDA C Programming Guide (chapter 3, shared memory).
 */
#define MATMUL_TILE	16

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float ta[MATMUL_TILE][MATMUL_TILE], tb[MATMUL_TILE][MATMUL_TILE];
	int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
	int row = (int)blockIdx.y * MATMUL_TILE + ty, col = (int)blockIdx.x * MATMUL_TILE + tx;
	float sum = 0;

	for (int first = 0; first < k; first += MATMUL_TILE) {
		ta[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0;
		tb[ty][tx] = col < n && first + ty < k ? b[(first + ty) * n + col] : 0;
		__syncthreads();
#pragma unroll
		for (int i = 0; i < MATMUL_TILE; i++)
			sum = fmaf(ta[ty][i], tb[i][tx], sum);
		__syncthreads();
	}
	if (row < m && col < n)
		c[row * n + col] = sum;
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { M, N, K };

struct matmul {
	float *a, *b, *c;
};

static int matmul_setup(struct workload *w)
{
	struct matmul *p = w->state;
	uint64_t m = w->option[M], n = w->option[N], k = w->option[K];
	int ret;

	ret = workload_alloc(w, (void **)&p->a, m * k * sizeof(float), WORKLOAD_IN, "a");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->b, k * n * sizeof(float), WORKLOAD_IN, "b");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->c, m * n * sizeof(float), WORKLOAD_OUT, "c");
	if (ret)
		return ret;
	fill_floats(w, 0, p->a, m * k, -1, 1);
	fill_floats(w, 1, p->b, k * n, -1, 1);
	return 0;
}

static int matmul_run(struct workload *w)
{
	struct matmul *p = w->state;
	uint32_t m = (uint32_t)w->option[M], n = (uint32_t)w->option[N];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "matmul", ((struct gpuemu_dim3){ DIV_ROUND_UP(n, MATMUL_TILE),
								DIV_ROUND_UP(m, MATMUL_TILE), 1 }),
				   ((struct gpuemu_dim3){ MATMUL_TILE, MATMUL_TILE, 1 }),
				   gpuemu_arg_ptr(p->a), gpuemu_arg_ptr(p->b), gpuemu_arg_ptr(p->c),
				   gpuemu_arg_s32((int32_t)m), gpuemu_arg_s32((int32_t)n),
				   gpuemu_arg_s32((int32_t)w->option[K]));
	return ret ? ret : workload_synchronize(w);
}

/* Row by row of B, as no GPU would; an element's products are added in the same order. */
static int matmul_verify(struct workload *w)
{
	struct matmul *p = w->state;
	uint64_t m = w->option[M], n = w->option[N], k = w->option[K];
	float *want;
	int ret = fill_check(w, "a", 0, p->a, m * k, -1, 1);

	if (!ret)
		ret = fill_check(w, "b", 1, p->b, k * n, -1, 1);
	if (ret)
		return ret;
	want = check_memory(w, m * n, sizeof(float));
	if (!want)
		return -ENOMEM;
	for (uint64_t row = 0; row < m; row++)
		for (uint64_t i = 0; i < k; i++)
			for (uint64_t col = 0; col < n; col++)
				want[row * n + col] = fmaf(p->a[row * k + i], p->b[i * n + col],
							   want[row * n + col]);
	ret = check_floats(w, "c", 0, p->c, want, m * n);
	free(want);
	return ret;
}

const struct workload_ops workload_matmul = {
	.name = "matmul",
	.help = "dense matrix product by shared-memory tiles (CUDA's guide)",
	.exercises = "shared-memory tiles and broadcasts, barriers, fused multiply-adds",
	.options = {
		[M] = { "m", 512, 1, 1u << 14, "rows of A and C", .quick = 192, .tiny = 65 },
		[N] = { "n", 512, 1, 1u << 14, "columns of B and C", .quick = 192, .tiny = 70 },
		[K] = { "k", 512, 1, 1u << 14, "columns of A, rows of B", .quick = 192, .tiny = 59 },
	},
	.state_bytes = sizeof(struct matmul),
	.setup = matmul_setup,
	.run = matmul_run,
	.verify = matmul_verify,
};
#endif
