// SPDX-License-Identifier: GPL-2.0
/*
 * xsbench: macroscopic neutron cross sections at random energies, the kernel of Monte Carlo
 * transport that Tramm, Siegel, Islam and Schulz (PHYSOR 2014) describe. A lookup searches the
 * unionized energy grid, whose row says where that energy is in each nuclide's own grid, and
 * adds up the interpolated cross sections of its material's nuclides.
 */
#define CHANNELS	5	/* total, elastic, absorption, fission, nu-fission */

struct point {
	double energy, xs[CHANNELS];
};

/* A material for each of 16 equally likely draws: fuel (0) and water (2) are met most. */
#define MATERIALS	12
#define MATERIAL_OF(draw)	(0xba98765432221000ull >> 4 * (draw) & 15)

/* A random number for each i by itself (splitmix64's output function). */
#define MIX(z)								\
	do {								\
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;		\
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;		\
		z ^= z >> 31;						\
	} while (0)
#define STEP		0x9e3779b97f4a7c15ull

#ifdef GPUEMU_DEVICE
#include "device.h"

/*
 * Row i of index is for energies from energy[i] on: the point of each nuclide's grid below it.
 * Row m of nuclide and density is material m's, count[m] of `nuclides` entries.
 */
KERNEL xsbench(const double *energy, const uint32_t *index, const struct point *grid,
	       const uint32_t *count, const uint32_t *nuclide, const double *density,
	       double *out, uint64_t seed, uint32_t nuclides, uint32_t points,
	       uint32_t lookups)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint64_t z = seed + (i + 1) * STEP;
	uint32_t low = 0, high = nuclides * points - 1, material;
	double at, sum[CHANNELS] = { 0 };

	if (i >= lookups)
		return;
	MIX(z);
	material = (uint32_t)MATERIAL_OF(z & 15);
	at = (double)(z >> 11) * 0x1p-53;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (energy[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	for (uint32_t n = 0; n < count[material]; n++) {
		uint32_t which = nuclide[material * nuclides + n];
		double much = density[material * nuclides + n], f;
		const struct point *p = &grid[which * points + index[low * nuclides + which]];

		f = (p[1].energy - at) / (p[1].energy - p[0].energy);
#pragma unroll
		for (int c = 0; c < CHANNELS; c++)
			sum[c] = fma(much, fma(-f, p[1].xs[c] - p[0].xs[c], p[1].xs[c]), sum[c]);
	}
#pragma unroll
	for (int c = 0; c < CHANNELS; c++)
		out[c * lookups + i] = sum[c];
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define XSBENCH_BLOCK	128u

enum { NUCLIDES, POINTS, LOOKUPS };

struct xsbench {
	double *energy, *density, *out;
	uint32_t *index, *count, *nuclide;
	struct point *grid;
};

static double random_double(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each nuclide's grid, sorted; `energy` is what is sorted in between. */
static void fill_grids(const struct workload *w, struct point *grid, double *energy,
		       struct rng *rng)
{
	uint64_t points = w->option[POINTS];

	for (uint64_t n = 0; n < w->option[NUCLIDES]; n++) {
		for (uint64_t i = 0; i < points; i++)
			energy[i] = random_double(rng);
		qsort(energy, points, sizeof(*energy), by_value);
		for (uint64_t i = 0; i < points; i++) {
			struct point *p = &grid[n * points + i];

			p->energy = energy[i];
			for (int c = 0; c < CHANNELS; c++)
				p->xs[c] = random_double(rng);
		}
	}
}

/* The unionized grid: all energies in order, and for each where it is in every nuclide's grid. */
static void fill_union(const struct workload *w, const struct point *grid, double *energy,
		       uint32_t *index, uint32_t *at)
{
	uint64_t points = w->option[POINTS], nuclides = w->option[NUCLIDES];
	uint64_t all = points * nuclides;

	for (uint64_t i = 0; i < all; i++)
		energy[i] = grid[i].energy;
	qsort(energy, all, sizeof(*energy), by_value);
	memset(at, 0, nuclides * sizeof(*at));
	for (uint64_t i = 0; i < all; i++) {
		for (uint64_t n = 0; n < nuclides; n++) {
			/* The last point is nobody's lower end. */
			while (at[n] + 2 < points &&
			       grid[n * points + at[n] + 1].energy <= energy[i])
				at[n]++;
			index[i * nuclides + n] = at[n];
		}
	}
}

/* Fuel has half of the nuclides, other materials up to a third; each a nuclide once. */
static void fill_materials(const struct workload *w, struct xsbench *x, struct rng *rng)
{
	uint64_t nuclides = w->option[NUCLIDES];

	for (uint64_t m = 0; m < MATERIALS; m++) {
		uint64_t n = m ? 1 + 7 * m % (nuclides / 3 + 1) : nuclides / 2;
		uint64_t first = rng_below(rng, nuclides);

		n = MIN(MAX(n, 1u), nuclides);
		x->count[m] = (uint32_t)n;
		for (uint64_t i = 0; i < nuclides; i++) {
			uint64_t spread = i * nuclides / n;

			x->nuclide[m * nuclides + i] =
				i < n ? (uint32_t)((first + spread) % nuclides) : 0;
			x->density[m * nuclides + i] = random_double(rng);
		}
	}
}

/* All inputs; scratch has room for max(points, nuclides) doubles. */
static void fill(const struct workload *w, struct xsbench *x, double *scratch)
{
	struct rng rng;

	rng_seed(&rng, w->seed);
	fill_grids(w, x->grid, scratch, &rng);
	fill_materials(w, x, &rng);
	fill_union(w, x->grid, x->energy, x->index, (uint32_t *)scratch);
}

static uint64_t scratch_bytes(const struct workload *w)
{
	return MAX(w->option[POINTS], w->option[NUCLIDES]) * sizeof(double);
}

/* The inputs, and how large they are. */
#define INPUTS		6
struct input {
	const char *name;
	void **at;
	size_t bytes;
};

static void list_inputs(const struct workload *w, struct xsbench *x, struct input inputs[INPUTS])
{
	uint64_t nuclides = w->option[NUCLIDES], all = nuclides * w->option[POINTS];
	const struct input list[INPUTS] = {
		{ "the unionized grid", (void **)&x->energy, all * sizeof(*x->energy) },
		{ "its indices", (void **)&x->index, all * nuclides * sizeof(*x->index) },
		{ "the nuclides' grids", (void **)&x->grid, all * sizeof(*x->grid) },
		{ "the counts", (void **)&x->count, MATERIALS * sizeof(*x->count) },
		{ "the materials", (void **)&x->nuclide,
		  MATERIALS * nuclides * sizeof(*x->nuclide) },
		{ "the densities", (void **)&x->density,
		  MATERIALS * nuclides * sizeof(*x->density) },
	};

	memcpy(inputs, list, sizeof(list));
}

static int xsbench_setup(struct workload *w)
{
	struct xsbench *x = w->state;
	struct input inputs[INPUTS];
	double *scratch;
	int ret = 0;

	list_inputs(w, x, inputs);
	for (unsigned int i = 0; !ret && i < INPUTS; i++)
		ret = workload_alloc(w, inputs[i].at, inputs[i].bytes, WORKLOAD_IN,
				     inputs[i].name);
	if (!ret)
		ret = workload_alloc(w, (void **)&x->out,
				     CHANNELS * w->option[LOOKUPS] * sizeof(*x->out),
				     WORKLOAD_OUT, "the cross sections");
	if (ret)
		return ret;
	scratch = malloc(scratch_bytes(w));
	if (!scratch)
		return err_set(&w->err, -ENOMEM, "no memory to make the grids");
	fill(w, x, scratch);
	free(scratch);
	return 0;
}

static int xsbench_run(struct workload *w)
{
	struct xsbench *x = w->state;
	uint32_t lookups = (uint32_t)w->option[LOOKUPS];
	int ret;

	ret = WORKLOAD_LAUNCH(w, "xsbench", DIV_ROUND_UP(lookups, XSBENCH_BLOCK), XSBENCH_BLOCK,
			      gpuemu_arg_ptr(x->energy), gpuemu_arg_ptr(x->index),
			      gpuemu_arg_ptr(x->grid), gpuemu_arg_ptr(x->count),
			      gpuemu_arg_ptr(x->nuclide), gpuemu_arg_ptr(x->density),
			      gpuemu_arg_ptr(x->out), gpuemu_arg_u64(w->seed),
			      gpuemu_arg_u32((uint32_t)w->option[NUCLIDES]),
			      gpuemu_arg_u32((uint32_t)w->option[POINTS]),
			      gpuemu_arg_u32(lookups));
	return ret ? ret : workload_synchronize(w);
}

/* Searches the nuclide's own grid; nothing of the unionized one is used. */
static const struct point *point_below(const struct point *grid, uint64_t points, double at)
{
	uint64_t low = 0;

	for (uint64_t step = 1ull << 40; step; step /= 2)
		if (low + step + 1 < points && grid[low + step].energy <= at)
			low += step;
	return grid + low;
}

static int verify_lookup(struct workload *w, const struct xsbench *x, const double *out,
			 uint64_t i)
{
	uint64_t points = w->option[POINTS], nuclides = w->option[NUCLIDES];
	uint64_t z = w->seed + (i + 1) * STEP, material;
	double at, sum[CHANNELS] = { 0 };

	MIX(z);
	material = MATERIAL_OF(z & 15);
	at = (double)(z >> 11) * 0x1p-53;
	for (uint64_t n = 0; n < x->count[material]; n++) {
		uint64_t which = x->nuclide[material * nuclides + n];
		const struct point *p = point_below(x->grid + which * points, points, at);
		double f = (p[1].energy - at) / (p[1].energy - p[0].energy);

		for (int c = 0; c < CHANNELS; c++) {
			double xs = fma(-f, p[1].xs[c] - p[0].xs[c], p[1].xs[c]);

			sum[c] = fma(x->density[material * nuclides + n], xs, sum[c]);
		}
	}
	for (uint64_t c = 0; c < CHANNELS; c++)
		if (memcmp(&out[c * w->option[LOOKUPS] + i], &sum[c], sizeof(sum[c])))
			return err_set(&w->err, -EBADMSG, "lookup %" PRIu64 ", channel %" PRIu64
				       " is %a, the CPU says %a", i, c,
				       out[c * w->option[LOOKUPS] + i], sum[c]);
	return 0;
}

static int verify_inputs(struct workload *w, struct xsbench *x, struct xsbench *was)
{
	struct input is[INPUTS], made[INPUTS];

	list_inputs(w, x, is);
	list_inputs(w, was, made);
	for (unsigned int i = 0; i < INPUTS; i++)
		if (memcmp(*is[i].at, *made[i].at, is[i].bytes))
			return err_set(&w->err, -EBADMSG, "%s changed", is[i].name);
	return 0;
}

static int xsbench_verify(struct workload *w)
{
	struct xsbench *x = w->state, was = { 0 };
	struct input inputs[INPUTS];
	double *scratch = malloc(scratch_bytes(w));
	bool memory = scratch;
	int ret;

	list_inputs(w, &was, inputs);
	for (unsigned int i = 0; i < INPUTS; i++) {
		*inputs[i].at = malloc(inputs[i].bytes);
		memory = memory && *inputs[i].at;
	}
	if (memory) {
		fill(w, &was, scratch);
		ret = verify_inputs(w, x, &was);
		for (uint64_t i = 0; !ret && i < w->option[LOOKUPS]; i++)
			ret = verify_lookup(w, &was, x->out, i);
	} else {
		ret = err_set(&w->err, -ENOMEM, "no memory for the reference");
	}
	for (unsigned int i = 0; i < INPUTS; i++)
		free(*inputs[i].at);
	free(scratch);
	return ret;
}

const struct workload_ops workload_xsbench = {
	.name = "xsbench",
	.help = "neutron cross-section lookups on a unionized energy grid, doubles",
	.exercises = "binary searches and gathers: a page for almost every lane",
	.options = {
		[NUCLIDES] = { "nuclides", 64, 1, 512, "of all materials", .quick = 32,
			       .tiny = 11 },
		[POINTS] = { "points", 1024, 2, 1 << 16,
			     "of each nuclide's grid; 56 + 4 x nuclides bytes each",
			     .quick = 384, .tiny = 43 },
		[LOOKUPS] = { "lookups", 16 << 10, 1, 1 << 28, "40 bytes each", .quick = 4 << 10,
			      .tiny = 301 },
	},
	.state_bytes = sizeof(struct xsbench),
	.setup = xsbench_setup,
	.run = xsbench_run,
	.verify = xsbench_verify,
};
#endif
