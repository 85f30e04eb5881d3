// SPDX-License-Identifier: GPL-2.0
/*
 * eigen: all eigenvalues of a symmetric tridiagonal matrix by bisection (Givens, 1954; Demmel,
 * Dhillon and Ren, ETNA 3, 1995; "eigenvalues" of the CUDA SDK): a thread halves the interval of
 * its eigenvalue by Sturm counts; the CTA brings the matrix into shared memory tile by tile.
 */
#define EIGEN_BLOCK	256u	/* threads of a CTA at most, and rows of a tile */

#include "both.h"

/* A pivot that is nearly zero counts as a small negative one, on both sides. */
BOTH float pivot(float d, float e2, float q, float x)
{
	float next = (d - x) - e2 / q;

	return next < 1e-30f && next > -1e-30f ? -1e-30f : next;
}

#ifdef GPUEMU_DEVICE

/*
 * How many eigenvalues are below x. square[i] is the square of what couples row i to the row
 * before; square[0] is 0. All threads of the CTA come along, each with its own x.
 */
INLINE uint32_t below(const float *diagonal, const float *square, uint32_t n, float x,
		      float *tile_d, float *tile_e)
{
	uint32_t count = 0;
	float q = 1;

	for (uint32_t first = 0; first < n; first += blockDim.x) {
		uint32_t i = first + threadIdx.x, rows = min(n - first, blockDim.x);

		__syncthreads();
		if (i < n) {
			tile_d[threadIdx.x] = diagonal[i];
			tile_e[threadIdx.x] = square[i];
		}
		__syncthreads();
		for (uint32_t k = 0; k < rows; k++) {
			q = pivot(tile_d[k], tile_e[k], q, x);
			count += q < 0;
		}
	}
	return count;
}

/* A row of CTAs a matrix, which is n rows of each array. */
KERNEL eigen(const float *diagonal, const float *square, float *values, uint32_t n, float low,
	     float high, uint32_t steps)
{
	__shared__ float tile_d[EIGEN_BLOCK], tile_e[EIGEN_BLOCK];
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * n;

	for (uint32_t step = 0; step < steps; step++) {
		float middle = 0.5f * (low + high);

		if (below(diagonal + row, square + row, n, middle, tile_d, tile_e) > i)
			high = middle;
		else
			low = middle;
	}
	if (i < n)
		values[row + i] = 0.5f * (low + high);
}

#else

enum { N, MATRICES, STEPS };

struct eigen {
	float *diagonal, *square, *values;
	float low, high;	/* Gerschgorin's interval, of all matrices */
};

static uint64_t rows(const struct workload *w)
{
	return w->option[N] * w->option[MATRICES];
}

static void make(struct workload *w, float *diagonal, float *square)
{
	fill_floats(w, 0, diagonal, rows(w), -4, 4);
	fill_floats(w, 1, square, rows(w), 0.01f, 1);
	for (uint64_t i = 0; i < rows(w); i += w->option[N])
		square[i] = 0;
}

static int eigen_setup(struct workload *w)
{
	struct eigen *e = w->state;
	uint64_t n = rows(w), bytes = n * sizeof(float);
	int ret;

	ret = workload_alloc(w, (void **)&e->diagonal, bytes, WORKLOAD_IN, "diagonal");
	if (!ret)
		ret = workload_alloc(w, (void **)&e->square, bytes, WORKLOAD_IN, "squares");
	if (!ret)
		ret = workload_alloc(w, (void **)&e->values, bytes, WORKLOAD_OUT, "values");
	if (ret)
		return ret;
	make(w, e->diagonal, e->square);
	for (uint64_t i = 0; i < n; i++) {
		float reach = sqrtf(e->square[i]) + (i + 1 < n ? sqrtf(e->square[i + 1]) : 0);

		e->low = MIN(e->low, e->diagonal[i] - reach);
		e->high = MAX(e->high, e->diagonal[i] + reach);
	}
	e->low -= 0.001f;
	e->high += 0.001f;
	return 0;
}

static int eigen_run(struct workload *w)
{
	struct eigen *e = w->state;
	uint32_t n = (uint32_t)w->option[N], block = MIN(DIV_ROUND_UP(n, 32) * 32, EIGEN_BLOCK);
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "eigen",
				   ((struct gpuemu_dim3){ DIV_ROUND_UP(n, block),
							  (uint32_t)w->option[MATRICES], 1 }),
				   ((struct gpuemu_dim3){ block, 1, 1 }),
				   gpuemu_arg_ptr(e->diagonal), gpuemu_arg_ptr(e->square),
				   gpuemu_arg_ptr(e->values), gpuemu_arg_u32(n),
				   gpuemu_arg_f32(e->low), gpuemu_arg_f32(e->high),
				   gpuemu_arg_u32((uint32_t)w->option[STEPS]));
	return ret ? ret : workload_synchronize(w);
}

static uint64_t count_below(const float *diagonal, const float *square, uint64_t n, float x)
{
	uint64_t count = 0;
	float q = 1;

	for (uint64_t i = 0; i < n; i++) {
		q = pivot(diagonal[i], square[i], q, x);
		count += q < 0;
	}
	return count;
}

/*
 * The eigenvalues `from` to `to` lie between low and high: one count at the middle says which are
 * below. Eigenvalues whose intervals are the same share it, where each thread counts by itself.
 */
static void bisect(const struct eigen *e, uint64_t row, uint64_t n, float *want, uint64_t from,
		   uint64_t to, float low, float high, uint64_t steps)
{
	float middle = 0.5f * (low + high);
	uint64_t cut;

	if (from == to)
		return;
	if (!steps) {
		while (from < to)
			want[from++] = middle;
		return;
	}
	cut = count_below(e->diagonal + row, e->square + row, n, middle);
	cut = MIN(MAX(cut, from), to);
	bisect(e, row, n, want, from, cut, low, middle, steps - 1);
	bisect(e, row, n, want, cut, to, middle, high, steps - 1);
}

static int eigen_verify(struct workload *w)
{
	struct eigen *e = w->state;
	uint64_t n = w->option[N], all = rows(w), steps = w->option[STEPS];
	double width = ldexp((double)(e->high - e->low), -(int)steps);
	float *want = check_memory(w, 2 * all, sizeof(float));
	int ret;

	if (!want)
		return -ENOMEM;
	make(w, want, want + all);
	ret = check_floats(w, "diagonal", 0, e->diagonal, want, all);
	if (!ret)
		ret = check_floats(w, "squares", 0, e->square, want + all, all);
	for (uint64_t row = 0; row < all && !ret; row += n) {
		double trace = 0, sum = 0;

		bisect(e, row, n, want + row, 0, n, e->low, e->high, steps);
		for (uint64_t i = row; i < row + n; i++) {
			trace += (double)e->diagonal[i];
			sum += (double)want[i];
		}
		/* Eigenvalues sum to the trace, each as exact as its interval and a float are. */
		if (fabs(sum - trace) > (double)n * (width + 1e-5))
			ret = err_set(&w->err, -EBADMSG, "the eigenvalues' sum is %g, the trace %g",
				      sum, trace);
	}
	if (!ret)
		ret = check_floats(w, "values", 0, e->values, want, all);
	free(want);
	return ret;
}

const struct workload_ops workload_eigen = {
	.name = "eigen",
	.help = "eigenvalues of a tridiagonal matrix by bisection (CUDA SDK's eigenvalues)",
	.exercises = "divisions one behind the other, shared-memory broadcasts, barriers in a loop",
	.options = {
		[N] = { "n", 2048, 1, 1u << 20, "rows of a matrix; 12 bytes each",
			.quick = 512, .tiny = 33 },
		[MATRICES] = { "matrices", 1, 1, 65535, "of as many rows", .quick = 8, .tiny = 86 },
		[STEPS] = { "steps", 24, 1, 40, "of bisection", .tiny = 3 },
	},
	.state_bytes = sizeof(struct eigen),
	.setup = eigen_setup,
	.run = eigen_run,
	.verify = eigen_verify,
};
#endif
