// SPDX-License-Identifier: GPL-2.0
/*
 * cg: the conjugate gradient method (Hestenes and Stiefel 1952) on the 27-point operator of a
 * cube, in compressed rows and doubles, as the HPCCG and miniFE proxies have it. A warp multiplies
 * a row (Bell and Garland 2009); everything stays on the device, seven launches a step.
 */
#define CG_BLOCK	256u
#define WARP		32u

#ifdef GPUEMU_DEVICE
#include "device.h"

/* The value of the lane that many further on. */
INLINE double shuffle_down(double v, uint32_t lanes)
{
	uint32_t low, high;

	asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "d"(v));
	asm volatile("shfl.down.b32 %0, %0, %1, 31;" : "+r"(low) : "r"(lanes));
	asm volatile("shfl.down.b32 %0, %0, %1, 31;" : "+r"(high) : "r"(lanes));
	asm("mov.b64 %0, {%1, %2};" : "=d"(v) : "r"(low), "r"(high));
	return v;
}

/* The CTA's values added up, in tree[0] for every thread. */
INLINE void tree_sum(double *tree, double value)
{
	tree[threadIdx.x] = value;
	__syncthreads();
	for (uint32_t half = CG_BLOCK / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			tree[threadIdx.x] += tree[threadIdx.x + half];
		__syncthreads();
	}
}

/* x = 0, r = p = b */
KERNEL cg_begin(const double *b, double *x, double *r, double *p, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		x[i] = 0;
		r[i] = b[i];
		p[i] = b[i];
	}
}

/* q = A p */
KERNEL cg_multiply(const uint32_t *row, const uint32_t *column, const double *value,
		   const double *p, double *q, uint32_t n)
{
	uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
	double sum = 0;

	if (i >= n)
		return;
	for (uint32_t k = row[i] + lane; k < row[i + 1]; k += WARP)
		sum = fma(value[k], p[column[k]], sum);
	for (uint32_t half = WARP / 2; half > 0; half /= 2)
		sum += shuffle_down(sum, half);
	if (lane == 0)
		q[i] = sum;
}

KERNEL cg_dot(const double *a, const double *b, double *partial, uint32_t n)
{
	__shared__ double tree[CG_BLOCK];
	double sum = 0;

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
	     i += gridDim.x * blockDim.x)
		sum = fma(a[i], b[i], sum);
	tree_sum(tree, sum);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = tree[0];
}

/* Adds up what cg_dot() left; *ratio is it over *square, or the other way; one CTA. */
KERNEL cg_ratio(const double *partial, double *square, double *ratio, uint32_t n, uint32_t what)
{
	__shared__ double tree[CG_BLOCK];
	double sum = 0;

	for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
		sum += partial[i];
	tree_sum(tree, sum);
	if (threadIdx.x > 0)
		return;
	if (what == 0) {		/* alpha = r.r / p.q */
		*ratio = *square / tree[0];
	} else {			/* beta = new r.r / r.r, or just r.r */
		if (what == 1)
			*ratio = tree[0] / *square;
		*square = tree[0];
	}
}

/* x += alpha p, r -= alpha q */
KERNEL cg_step(double *x, double *r, const double *p, const double *q, const double *alpha,
	       uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		x[i] = fma(*alpha, p[i], x[i]);
		r[i] = fma(-*alpha, q[i], r[i]);
	}
}

/* p = r + beta p */
KERNEL cg_direction(double *p, const double *r, const double *beta, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = fma(*beta, p[i], r[i]);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define DOT_CTAS	30u	/* of a dot product */
#define DIAGONAL	27.0	/* more than 26 neighbours of at most 1: positive definite */

enum { EDGE, STEPS };
enum { ALPHA, BETA, FRESH };	/* what cg_ratio() is for */

struct cg {
	uint32_t *row, *column;
	double *value, *b, *x, *r, *p, *q, *partial;
	double *scalar;		/* r.r, alpha, beta */
};

static uint64_t rows_of(const struct workload *w)
{
	return w->option[EDGE] * w->option[EDGE] * w->option[EDGE];
}

static uint64_t entries_of(const struct workload *w)
{
	uint64_t a_side = 3 * w->option[EDGE] - 2;

	return a_side * a_side * a_side;
}

/* The same for (i, j) and (j, i): the matrix is symmetric. -1 to -1/2. */
static double coupling(const struct workload *w, uint64_t i, uint64_t j)
{
	struct rng rng;

	rng_seed(&rng, w->seed ^ (MIN(i, j) << 32 | MAX(i, j)));
	return -1.0 + (double)(rng_next(&rng) >> 11) * 0x1p-54;
}

/* Row by row, columns in order. */
static void fill_matrix(const struct workload *w, uint32_t *row, uint32_t *column, double *value)
{
	int64_t edge = (int64_t)w->option[EDGE];
	uint32_t k = 0;

	for (int64_t i = 0; i < edge * edge * edge; i++) {
		int64_t x = i % edge, y = i / edge % edge, z = i / edge / edge;

		row[i] = k;
		for (int64_t d = 0; d < 27; d++) {
			int64_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
			int64_t j = i + (dz * edge + dy) * edge + dx;

			if (x + dx < 0 || x + dx >= edge || y + dy < 0 || y + dy >= edge ||
			    z + dz < 0 || z + dz >= edge)
				continue;
			column[k] = (uint32_t)j;
			value[k++] = i == j ? DIAGONAL : coupling(w, (uint64_t)i, (uint64_t)j);
		}
	}
	row[edge * edge * edge] = k;
}

static void fill_vector(const struct workload *w, double *b)
{
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < rows_of(w); i++)
		b[i] = (double)(rng_next(&rng) >> 11) * 0x1p-53;
}

static int cg_setup(struct workload *w)
{
	struct cg *c = w->state;
	uint64_t rows = rows_of(w), entries = entries_of(w);
	const struct {
		void **at;
		size_t bytes;
		enum workload_direction direction;
		const char *what;
	} buffers[] = {
		{ (void **)&c->row, (rows + 1) * sizeof(*c->row), WORKLOAD_IN, "the rows" },
		{ (void **)&c->column, entries * sizeof(*c->column), WORKLOAD_IN, "the columns" },
		{ (void **)&c->value, entries * sizeof(*c->value), WORKLOAD_IN, "the values" },
		{ (void **)&c->b, rows * sizeof(*c->b), WORKLOAD_IN, "b" },
		{ (void **)&c->x, rows * sizeof(*c->x), WORKLOAD_OUT, "x" },
		{ (void **)&c->r, rows * sizeof(*c->r), WORKLOAD_SCRATCH, "r" },
		{ (void **)&c->p, rows * sizeof(*c->p), WORKLOAD_SCRATCH, "p" },
		{ (void **)&c->q, rows * sizeof(*c->q), WORKLOAD_SCRATCH, "q" },
		{ (void **)&c->partial, DOT_CTAS * sizeof(*c->partial), WORKLOAD_SCRATCH,
		  "partial sums" },
		{ (void **)&c->scalar, 3 * sizeof(*c->scalar), WORKLOAD_OUT, "r.r" },
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(buffers); i++)
		ret = workload_alloc(w, buffers[i].at, buffers[i].bytes, buffers[i].direction,
				     buffers[i].what);
	if (ret)
		return ret;
	fill_matrix(w, c->row, c->column, c->value);
	fill_vector(w, c->b);
	return 0;
}

/* The dot product of a and b, and then what it is for. */
static int dot(struct workload *w, const double *a, const double *b, unsigned int what)
{
	struct cg *c = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "cg_dot", DOT_CTAS, CG_BLOCK, gpuemu_arg_ptr(a),
			      gpuemu_arg_ptr(b), gpuemu_arg_ptr(c->partial),
			      gpuemu_arg_u32((uint32_t)rows_of(w)));
	if (ret)
		return ret;
	return WORKLOAD_LAUNCH(w, "cg_ratio", 1, CG_BLOCK, gpuemu_arg_ptr(c->partial),
			       gpuemu_arg_ptr(&c->scalar[0]),
			       gpuemu_arg_ptr(&c->scalar[what == ALPHA ? 1 : 2]),
			       gpuemu_arg_u32(DOT_CTAS), gpuemu_arg_u32(what));
}

static int step(struct workload *w)
{
	struct cg *c = w->state;
	struct gpuemu_arg n = gpuemu_arg_u32((uint32_t)rows_of(w));
	uint32_t ctas = DIV_ROUND_UP((uint32_t)rows_of(w), CG_BLOCK);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "cg_multiply",
			      DIV_ROUND_UP((uint32_t)rows_of(w), CG_BLOCK / WARP), CG_BLOCK,
			      gpuemu_arg_ptr(c->row), gpuemu_arg_ptr(c->column),
			      gpuemu_arg_ptr(c->value), gpuemu_arg_ptr(c->p),
			      gpuemu_arg_ptr(c->q), n);
	if (!ret)
		ret = dot(w, c->p, c->q, ALPHA);
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "cg_step", ctas, CG_BLOCK, gpuemu_arg_ptr(c->x),
				      gpuemu_arg_ptr(c->r), gpuemu_arg_ptr(c->p),
				      gpuemu_arg_ptr(c->q), gpuemu_arg_ptr(&c->scalar[1]), n);
	if (!ret)
		ret = dot(w, c->r, c->r, BETA);
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "cg_direction", ctas, CG_BLOCK, gpuemu_arg_ptr(c->p),
				      gpuemu_arg_ptr(c->r), gpuemu_arg_ptr(&c->scalar[2]), n);
	return ret;
}

static int cg_run(struct workload *w)
{
	struct cg *c = w->state;
	uint32_t n = (uint32_t)rows_of(w);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "cg_begin", DIV_ROUND_UP(n, CG_BLOCK), CG_BLOCK,
			      gpuemu_arg_ptr(c->b), gpuemu_arg_ptr(c->x),
			      gpuemu_arg_ptr(c->r), gpuemu_arg_ptr(c->p), gpuemu_arg_u32(n));
	if (!ret)
		ret = dot(w, c->r, c->r, FRESH);
	for (uint64_t i = 0; !ret && i < w->option[STEPS]; i++)
		ret = step(w);
	return ret ? ret : workload_synchronize(w);
}

/* --- reference: the method, its sums in the order of the kernels' ---------------- */

/* Halves a row of sums until one is left. */
static double halve(double *sums, unsigned int n)
{
	for (n /= 2; n > 0; n /= 2)
		for (unsigned int i = 0; i < n; i++)
			sums[i] += sums[i + n];
	return sums[0];
}

static double reference_dot(const double *a, const double *b, uint64_t n)
{
	double partial[CG_BLOCK] = { 0 };

	for (uint64_t cta = 0; cta < DOT_CTAS; cta++) {
		double sums[CG_BLOCK] = { 0 };

		for (uint64_t first = cta * CG_BLOCK; first < n; first += DOT_CTAS * CG_BLOCK)
			for (uint64_t i = first; i < MIN(first + CG_BLOCK, n); i++)
				sums[i - first] = fma(a[i], b[i], sums[i - first]);
		partial[cta] = halve(sums, CG_BLOCK);
	}
	return halve(partial, CG_BLOCK);
}

static void reference_multiply(const struct cg *c, uint64_t n, const double *p, double *q)
{
	for (uint64_t i = 0; i < n; i++) {
		double sums[WARP] = { 0 };

		for (uint32_t k = c->row[i]; k < c->row[i + 1]; k++) {
			double *sum = &sums[(k - c->row[i]) % WARP];

			*sum = fma(c->value[k], p[c->column[k]], *sum);
		}
		q[i] = halve(sums, WARP);
	}
}

/* Into m->x and m->r; returns r.r. */
static double reference(const struct workload *w, struct cg *m)
{
	uint64_t n = rows_of(w);
	double square;

	memset(m->x, 0, n * sizeof(*m->x));
	memcpy(m->r, m->b, n * sizeof(*m->r));
	memcpy(m->p, m->b, n * sizeof(*m->p));
	square = reference_dot(m->r, m->r, n);
	for (uint64_t s = 0; s < w->option[STEPS]; s++) {
		double alpha, beta, before = square;

		reference_multiply(m, n, m->p, m->q);
		alpha = square / reference_dot(m->p, m->q, n);
		for (uint64_t i = 0; i < n; i++) {
			m->x[i] = fma(alpha, m->p[i], m->x[i]);
			m->r[i] = fma(-alpha, m->q[i], m->r[i]);
		}
		square = reference_dot(m->r, m->r, n);
		beta = square / before;
		for (uint64_t i = 0; i < n; i++)
			m->p[i] = fma(beta, m->p[i], m->r[i]);
	}
	return square;
}

static int verify_inputs(struct workload *w, const struct cg *is, const struct cg *was)
{
	uint64_t rows = rows_of(w), entries = entries_of(w);

	if (memcmp(is->row, was->row, (rows + 1) * sizeof(*is->row)) ||
	    memcmp(is->column, was->column, entries * sizeof(*is->column)) ||
	    memcmp(is->value, was->value, entries * sizeof(*is->value)))
		return err_set(&w->err, -EBADMSG, "the matrix changed");
	if (memcmp(is->b, was->b, rows * sizeof(*is->b)))
		return err_set(&w->err, -EBADMSG, "b changed");
	return 0;
}

/* Is it a solution at all: b - A x, plainly computed, is r to within rounding. */
static int verify_residual(struct workload *w, const struct cg *m, const double *x, double square)
{
	double sum = 0;

	for (uint64_t i = 0; i < rows_of(w); i++) {
		double r = m->b[i];

		for (uint32_t k = m->row[i]; k < m->row[i + 1]; k++)
			r -= m->value[k] * x[m->column[k]];
		sum += r * r;
	}
	/* 1e-12 of a b that is about 1 in every row. */
	if (fabs(sqrt(sum) - sqrt(square)) > 1e-12 * (double)rows_of(w))
		return err_set(&w->err, -EBADMSG, "|b - A x| is %g, the method says %g", sqrt(sum),
			       sqrt(square));
	return 0;
}

static int verify_results(struct workload *w, const struct cg *c, struct cg *m)
{
	double square = reference(w, m);

	for (uint64_t i = 0; i < rows_of(w); i++) {
		if (memcmp(&c->x[i], &m->x[i], sizeof(*c->x)))
			return err_set(&w->err, -EBADMSG, "x[%" PRIu64 "] is %a, the CPU says %a",
				       i, c->x[i], m->x[i]);
		if (memcmp(&c->r[i], &m->r[i], sizeof(*c->r)))
			return err_set(&w->err, -EBADMSG, "r[%" PRIu64 "] is %a, the CPU says %a",
				       i, c->r[i], m->r[i]);
	}
	if (memcmp(&c->scalar[0], &square, sizeof(square)))
		return err_set(&w->err, -EBADMSG, "r.r is %a, the CPU says %a", c->scalar[0],
			       square);
	return verify_residual(w, m, c->x, square);
}

static int cg_verify(struct workload *w)
{
	uint64_t rows = rows_of(w), entries = entries_of(w);
	double *doubles = malloc((entries + 5 * rows) * sizeof(*doubles));
	uint32_t *words = malloc((entries + rows + 1) * sizeof(*words));
	int ret = -ENOMEM;

	if (doubles && words) {
		struct cg m = { .value = doubles, .column = words };

		m.b = m.value + entries;
		m.x = m.b + rows;
		m.r = m.x + rows;
		m.p = m.r + rows;
		m.q = m.p + rows;
		m.row = m.column + entries;
		fill_matrix(w, m.row, m.column, m.value);
		fill_vector(w, m.b);
		ret = verify_inputs(w, w->state, &m);
		if (!ret)
			ret = verify_results(w, w->state, &m);
	} else {
		err_set(&w->err, ret, "no memory for the reference");
	}
	free(doubles);
	free(words);
	return ret;
}

const struct workload_ops workload_cg = {
	.name = "cg",
	.help = "conjugate gradients on a sparse matrix of a cube, doubles",
	.exercises = "many dependent launches, sparse rows, dot products",
	.options = {
		[EDGE] = { "edge", 32, 2, 256, "points along a side of the cube; 27 x 12 bytes a point",
			   .quick = 20, .tiny = 7 },
		[STEPS] = { "steps", 4, 1, 10000, "of seven launches each", .quick = 3,
			    .tiny = 2 },
	},
	.state_bytes = sizeof(struct cg),
	.setup = cg_setup,
	.run = cg_run,
	.verify = cg_verify,
};
#endif
