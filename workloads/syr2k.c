// SPDX-License-Identifier: GPL-2.0
/*
 * syr2k: a symmetric update of rank 2k, C = alpha (A B' + B A') + beta C, as BLAS defines it
 * (Dongarra et al., ACM TOMS 16, 1990; PolyBench/GPU: Grauer-Gray et al., InPar 2012). A thread
 * an element, four loads a step of its sum, no shared memory.
 */
#define SYR2K_X		32	/* threads of a CTA's edges, as PolyBench has them */
#define SYR2K_Y		8
#define SYR2K_ALPHA	1.5f
#define SYR2K_BETA	0.75f

#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL syr2k(const float *a, const float *b, float *c, int n, int m)
{
	int j = (int)(blockIdx.x * SYR2K_X + threadIdx.x);
	int i = (int)(blockIdx.y * SYR2K_Y + threadIdx.y);
	float sum;

	if (i >= n || j >= n)
		return;
	sum = c[i * n + j] * SYR2K_BETA;
	for (int k = 0; k < m; k++) {
		sum = fmaf(SYR2K_ALPHA * a[i * m + k], b[j * m + k], sum);
		sum = fmaf(SYR2K_ALPHA * b[i * m + k], a[j * m + k], sum);
	}
	c[i * n + j] = sum;
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { N, M };
enum { A, B, C, MATRICES };

struct syr2k {
	float *matrix[MATRICES];
};

static uint64_t elements(const struct workload *w, unsigned int matrix)
{
	return w->option[N] * w->option[matrix == C ? N : M];
}

static int syr2k_setup(struct workload *w)
{
	static const char *const names[] = { "a", "b", "c" };
	struct syr2k *s = w->state;
	int ret = 0;

	for (unsigned int i = 0; i < MATRICES && !ret; i++) {
		ret = workload_alloc(w, (void **)&s->matrix[i], elements(w, i) * sizeof(float),
				     i == C ? WORKLOAD_INOUT : WORKLOAD_IN, names[i]);
		if (!ret)
			fill_floats(w, i, s->matrix[i], elements(w, i), -1, 1);
	}
	return ret;
}

static int syr2k_run(struct workload *w)
{
	struct syr2k *s = w->state;
	uint32_t n = (uint32_t)w->option[N];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "syr2k", ((struct gpuemu_dim3){ DIV_ROUND_UP(n, SYR2K_X),
							       DIV_ROUND_UP(n, SYR2K_Y), 1 }),
				   ((struct gpuemu_dim3){ SYR2K_X, SYR2K_Y, 1 }),
				   gpuemu_arg_ptr(s->matrix[A]), gpuemu_arg_ptr(s->matrix[B]),
				   gpuemu_arg_ptr(s->matrix[C]), gpuemu_arg_s32((int32_t)n),
				   gpuemu_arg_s32((int32_t)w->option[M]));
	return ret ? ret : workload_synchronize(w);
}

/* A rank at a time, all elements of C each. */
static int syr2k_verify(struct workload *w)
{
	struct syr2k *s = w->state;
	const float *a = s->matrix[A], *b = s->matrix[B];
	uint64_t n = w->option[N], m = w->option[M];
	float *want;
	int ret = fill_check(w, "a", A, a, elements(w, A), -1, 1);

	if (!ret)
		ret = fill_check(w, "b", B, b, elements(w, B), -1, 1);
	if (ret)
		return ret;
	want = check_memory(w, n * n, sizeof(float));
	if (!want)
		return -ENOMEM;
	fill_floats(w, C, want, n * n, -1, 1);
	for (uint64_t i = 0; i < n * n; i++)
		want[i] *= SYR2K_BETA;
	for (uint64_t k = 0; k < m; k++) {
		for (uint64_t i = 0; i < n; i++) {
			float x = SYR2K_ALPHA * a[i * m + k], y = SYR2K_ALPHA * b[i * m + k];

			for (uint64_t j = 0; j < n; j++)
				want[i * n + j] = fmaf(y, a[j * m + k],
						       fmaf(x, b[j * m + k], want[i * n + j]));
		}
	}
	ret = check_floats(w, "c", 0, s->matrix[C], want, n * n);
	free(want);
	return ret;
}

const struct workload_ops workload_syr2k = {
	.name = "syr2k",
	.help = "a symmetric update of rank 2k (PolyBench)",
	.exercises = "loads with strides of a row, L1D reuse, arithmetic behind each load",
	.options = {
		[N] = { "n", 512, 1, 1u << 14, "rows of A and B; 4 bytes an element of C",
			.quick = 192, .tiny = 67 },
		[M] = { "m", 512, 1, 1u << 14, "columns of A and B; 8 bytes an element of both",
			.quick = 128, .tiny = 31 },
	},
	.state_bytes = sizeof(struct syr2k),
	.setup = syr2k_setup,
	.run = syr2k_run,
	.verify = syr2k_verify,
};
#endif
