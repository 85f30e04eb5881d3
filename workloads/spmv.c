// SPDX-License-Identifier: GPL-2.0
/*
 * spmv: y = A * x of a sparse matrix in jagged diagonal storage (Saad 1989), as in Parboil's
 * spmv: rows sorted by length, their k-th entries side by side, so that the threads of a warp
 * read A in order and gather from x. Half of a row is near the diagonal, half anywhere.
 *
 * With dofs=N the matrix is one of finite elements: a node has N unknowns, whose rows have their
 * entries in the same columns, N side by side. A warp then reads a line of x again and again,
 * and L1 holds the lines of few warps.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

/* The k-th entries of rows 0.. (of the sorted order) begin at diagonal[k]. */
KERNEL spmv(const float *value, const uint32_t *column, const uint32_t *diagonal,
	    const uint32_t *length, const uint32_t *row, const float *x, float *y,
	    uint32_t rows)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	uint32_t out;

	if (i >= rows)
		return;
	/* Read first, and the loop not unrolled: few registers, so that an SM holds eight CTAs. */
	out = row[i];
#pragma unroll 1
	for (uint32_t k = 0; k < length[i]; k++) {
		uint32_t at = diagonal[k] + i;

		sum = fmaf(value[at], x[column[at]], sum);
	}
	y[out] = sum;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define SPMV_BLOCK	192u
#define BAND		64u	/* "near": so many columns on each side */

enum { ROWS, ENTRIES, PRODUCTS, DOFS };

struct spmv {
	float *value, *x, *y;
	uint32_t *column, *diagonal, *length, *row;
};

/* A matrix's rows one by one, always the same of one seed. */
struct source {
	struct rng rng;
	uint64_t rows, longest;
	uint64_t dofs, seed, row;	/* row: the next whose length is asked */
};

static void source_begin(struct source *s, const struct workload *w)
{
	rng_seed(&s->rng, w->seed);
	s->rows = w->option[ROWS];
	s->longest = 2 * w->option[ENTRIES] - 1;
	s->dofs = w->option[DOFS];
	s->seed = w->seed;
	s->row = 0;
}

/* A random number of a node: its which-th. */
static uint64_t of_node(const struct source *s, uint64_t node, uint64_t which)
{
	struct rng rng;

	rng_seed(&rng, s->seed ^ node << 20 ^ which << 1);
	return rng_next(&rng);
}

static float random_float(struct rng *rng)
{
	return (float)(int32_t)rng_next(rng) * 0x1p-31f;
}

static uint32_t next_length(struct source *s)
{
	uint64_t blocks = s->longest / s->dofs, n;

	if (s->dofs == 1)
		return 1 + (uint32_t)rng_below(&s->rng, s->longest);
	n = 1 + of_node(s, s->row++ / s->dofs, 0) % MAX(blocks, 1u);
	return (uint32_t)MIN(n * s->dofs, s->longest);
}

/* The row's k-th. A block of `dofs` columns is a node's: one near the row's own, or any. */
static uint32_t block_column(const struct source *s, uint64_t row, uint32_t k)
{
	uint64_t nodes = DIV_ROUND_UP(s->rows, s->dofs), node = row / s->dofs, other;
	uint64_t bits = of_node(s, node, 1 + k / s->dofs), near = DIV_ROUND_UP(BAND, s->dofs);

	if (bits & 1)
		other = (node + nodes * BAND + (bits >> 1) % (2 * near + 1) - near) % nodes;
	else
		other = (bits >> 32) % nodes;
	return (uint32_t)((other * s->dofs + k % s->dofs) % s->rows);
}

static uint32_t next_column(struct source *s, uint64_t row, uint32_t k)
{
	uint64_t bits;

	if (s->dofs > 1)
		return block_column(s, row, k);
	bits = rng_next(&s->rng);

	if (bits & 1)
		return (uint32_t)(row + s->rows * BAND + (bits >> 1) % (2 * BAND + 1) - BAND) %
		       (uint32_t)s->rows;
	return (uint32_t)((bits >> 32) % s->rows);
}

/*
 * Lengths, the order of the rows (longest first, then by number: a counting sort) and where
 * each diagonal begins. Returns the entries of the matrix.
 */
static uint64_t lay_out(const struct workload *w, uint32_t *diagonal, uint32_t *length,
			uint32_t *row, uint32_t *place)
{
	uint64_t rows = w->option[ROWS], longest = 2 * w->option[ENTRIES] - 1, entries = 0;
	struct source s;

	memset(diagonal, 0, (longest + 1) * sizeof(*diagonal));
	source_begin(&s, w);
	for (uint64_t i = 0; i < rows; i++)
		diagonal[next_length(&s)]++;
	/* Now the rows of each length; how many are longer is where they begin. */
	for (uint64_t l = longest, before = 0; l > 0; l--) {
		uint32_t n = diagonal[l];

		diagonal[l] = (uint32_t)before;
		before += n;
	}
	source_begin(&s, w);
	for (uint64_t i = 0; i < rows; i++) {
		uint32_t l = next_length(&s);

		place[i] = diagonal[l]++;
		length[place[i]] = l;
		row[place[i]] = (uint32_t)i;
	}
	/* diagonal[l] is now how many have length l or more: the entries of diagonal l - 1. */
	for (uint64_t l = 1; l <= longest; l++) {
		uint32_t n = diagonal[l];

		diagonal[l - 1] = (uint32_t)entries;
		entries += n;
	}
	diagonal[longest] = (uint32_t)entries;
	return entries;
}

static int alloc_matrix(struct workload *w, struct spmv *s, uint64_t entries)
{
	int ret = workload_alloc(w, (void **)&s->value, entries * sizeof(float),
				 WORKLOAD_IN, "the values");

	return ret ? ret : workload_alloc(w, (void **)&s->column, entries * sizeof(uint32_t),
					  WORKLOAD_IN, "the columns");
}

static int alloc_vectors(struct workload *w, struct spmv *s)
{
	uint64_t rows = w->option[ROWS];
	int ret;

	ret = workload_alloc(w, (void **)&s->diagonal, 2 * w->option[ENTRIES] * sizeof(uint32_t),
			     WORKLOAD_IN, "the diagonals");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->length, rows * sizeof(uint32_t),
				     WORKLOAD_IN, "the lengths");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->row, rows * sizeof(uint32_t),
				     WORKLOAD_IN, "the rows' order");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->x, rows * sizeof(float), WORKLOAD_IN, "x");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->y, rows * sizeof(float), WORKLOAD_OUT, "y");
	return ret;
}

static void fill_matrix(const struct workload *w, struct spmv *s, const uint32_t *place)
{
	struct source lengths, entries;

	/* Entries come behind all lengths, in the order of rows. */
	source_begin(&lengths, w);
	source_begin(&entries, w);
	for (uint64_t i = 0; i < w->option[ROWS]; i++)
		next_length(&entries);
	for (uint64_t i = 0; i < w->option[ROWS]; i++) {
		uint32_t n = next_length(&lengths);

		for (uint32_t k = 0; k < n; k++) {
			s->column[s->diagonal[k] + place[i]] = next_column(&entries, i, k);
			s->value[s->diagonal[k] + place[i]] = random_float(&entries.rng);
		}
	}
	for (uint64_t i = 0; i < w->option[ROWS]; i++)
		s->x[i] = random_float(&entries.rng);
}

static int spmv_setup(struct workload *w)
{
	struct spmv *s = w->state;
	uint32_t *place = malloc(w->option[ROWS] * sizeof(*place));
	int ret;

	if (!place)
		return err_set(&w->err, -ENOMEM, "no memory to sort the rows");
	ret = alloc_vectors(w, s);
	if (!ret)
		ret = alloc_matrix(w, s, lay_out(w, s->diagonal, s->length, s->row, place));
	if (!ret)
		fill_matrix(w, s, place);
	free(place);
	return ret;
}

static int spmv_run(struct workload *w)
{
	struct spmv *s = w->state;
	uint32_t rows = (uint32_t)w->option[ROWS];
	int ret = 0;

	for (uint64_t i = 0; !ret && i < w->option[PRODUCTS]; i++)
		ret = WORKLOAD_LAUNCH(w, "spmv", DIV_ROUND_UP(rows, SPMV_BLOCK), SPMV_BLOCK,
				      gpuemu_arg_ptr(s->value), gpuemu_arg_ptr(s->column),
				      gpuemu_arg_ptr(s->diagonal), gpuemu_arg_ptr(s->length),
				      gpuemu_arg_ptr(s->row), gpuemu_arg_ptr(s->x),
				      gpuemu_arg_ptr(s->y), gpuemu_arg_u32(rows));
	return ret ? ret : workload_synchronize(w);
}

/* The buffers against others laid out again: a byte lost in a migration shows. */
static int verify_inputs(struct workload *w, const struct spmv *is, const struct spmv *was)
{
	const struct {
		const char *name;
		const void *is, *was;
		uint64_t n;
	} words[] = {
		{ "diagonal", is->diagonal, was->diagonal, 2 * w->option[ENTRIES] },
		{ "length", is->length, was->length, w->option[ROWS] },
		{ "row", is->row, was->row, w->option[ROWS] },
		{ "x", is->x, was->x, w->option[ROWS] },
		{ "value", is->value, was->value, was->diagonal[2 * w->option[ENTRIES] - 1] },
		{ "column", is->column, was->column, was->diagonal[2 * w->option[ENTRIES] - 1] },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const uint32_t *now = words[i].is, *then = words[i].was;

		for (uint64_t j = 0; j < words[i].n; j++)
			if (now[j] != then[j])
				return err_set(&w->err, -EBADMSG, "%s[%" PRIu64 "] changed",
					       words[i].name, j);
	}
	return 0;
}

/* Row by row as the source tells them; knows nothing of diagonals. */
static int verify_products(struct workload *w, const float *x, const float *y)
{
	struct source lengths, entries;

	source_begin(&lengths, w);
	source_begin(&entries, w);
	for (uint64_t i = 0; i < w->option[ROWS]; i++)
		next_length(&entries);
	for (uint64_t i = 0; i < w->option[ROWS]; i++) {
		uint32_t n = next_length(&lengths);
		float sum = 0;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t column = next_column(&entries, i, k);

			sum = fmaf(random_float(&entries.rng), x[column], sum);
		}
		if (memcmp(&y[i], &sum, sizeof(sum)))
			return err_set(&w->err, -EBADMSG, "y[%" PRIu64 "] is %a, the CPU says %a",
				       i, y[i], sum);
	}
	return 0;
}

static int spmv_verify(struct workload *w)
{
	struct spmv *s = w->state, was = { 0 };
	uint64_t rows = w->option[ROWS], most = 2 * w->option[ENTRIES], entries;
	uint32_t *vectors = malloc((most + 3 * rows) * sizeof(*vectors)), *matrix = NULL, *place;
	int ret = err_set(&w->err, -ENOMEM, "no memory for the reference");

	if (!vectors)
		return ret;
	was.diagonal = vectors;
	was.length = was.diagonal + most;
	was.row = was.length + rows;
	place = was.row + rows;
	entries = lay_out(w, was.diagonal, was.length, was.row, place);
	matrix = malloc((2 * entries + rows) * sizeof(*matrix));
	if (matrix) {
		was.column = matrix;
		was.value = (float *)matrix + entries;
		was.x = was.value + entries;
		fill_matrix(w, &was, place);
		ret = verify_inputs(w, s, &was);
		if (!ret)
			ret = verify_products(w, was.x, s->y);
	}
	free(matrix);
	free(vectors);
	return ret;
}

const struct workload_ops workload_spmv = {
	.name = "spmv",
	.help = "y = A * x, sparse matrix in jagged diagonals, floats",
	.exercises = "streams of indices, gathers, warps whose lanes end apart",
	.options = {
		[ROWS] = { "rows", 64 << 10, 1, 1 << 24, "rows and columns", .quick = 16 << 10,
			   .tiny = 777 },
		[ENTRIES] = { "entries", 18, 1, 64, "of a row on average; 8 bytes each",
			      .tiny = 9 },
		[PRODUCTS] = { "products", 4, 1, 10000, "launches, all of the same x",
			       .tiny = 2 },
		[DOFS] = { "dofs", 1, 1, 8, "unknowns of a node; their entries are side by side" },
	},
	.state_bytes = sizeof(struct spmv),
	.setup = spmv_setup,
	.run = spmv_run,
	.verify = spmv_verify,
};
#endif
