// SPDX-License-Identifier: GPL-2.0
/*
 * lbm: fluid flow by the lattice Boltzmann method, D3Q19 with the BGK collision (Qian,
 * d'Humieres and Lallemand 1992), single precision, as Parboil's lbm after SPEC's. Each step
 * pulls 19 densities from the neighbours, collides, and writes them to the other lattice;
 * solid cells bounce back. Arrays of one direction each. As in Parboil rows are padded and there
 * is room around the lattice, so that a neighbour is a fixed distance away; what is there never
 * changes, so fluid at rest surrounds the lattice.
 */
#define Q	19

/* The directions: x, y, z of each, those that read one row together; and which is its opposite. */
#define VELOCITIES							\
	{ 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 },				\
	{ 0, 1, 0 }, { 1, 1, 0 }, { -1, 1, 0 },				\
	{ 0, -1, 0 }, { 1, -1, 0 }, { -1, -1, 0 },			\
	{ 0, 0, 1 }, { 1, 0, 1 }, { -1, 0, 1 },				\
	{ 0, 0, -1 }, { 1, 0, -1 }, { -1, 0, -1 },			\
	{ 0, 1, 1 }, { 0, -1, -1 }, { 0, 1, -1 }, { 0, -1, 1 }
#define OPPOSITE	0, 2, 1, 6, 8, 7, 3, 5, 4, 12, 14, 13, 9, 11, 10, 16, 15, 18, 17

#define OMEGA		1.85f	/* 1 / relaxation time */
#define WEIGHT_REST	(1.0f / 3.0f)
#define WEIGHT_AXIS	(1.0f / 18.0f)	/* directions along an axis */
#define WEIGHT_EDGE	(1.0f / 36.0f)	/* the others */

#ifdef GPUEMU_DEVICE
#include "device.h"

INLINE float along(const int *c, float x, float y, float z)
{
	float sum = c[0] ? (c[0] > 0 ? x : -x) : c[1] ? (c[1] > 0 ? y : -y) : z;

	if (c[0] && c[1])
		sum = c[1] > 0 ? sum + y : sum - y;
	if ((c[0] || c[1]) && c[2])
		sum = c[2] > 0 ? sum + z : sum - z;
	return sum;
}

INLINE void add_signed(float &sum, int sign, float v)
{
	if (sign > 0)
		sum += v;
	else if (sign < 0)
		sum -= v;
}

INLINE float weight(const int *c)
{
	int axes = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];

	return axes == 0 ? WEIGHT_REST : axes == 1 ? WEIGHT_AXIS : WEIGHT_EDGE;
}

/* Towards equilibrium; a direction and its opposite at a time. */
INLINE void collide(float *f)
{
	constexpr int c[Q][3] = { VELOCITIES }, opposite[Q] = { OPPOSITE };
	float rho = f[0], ux = 0, uy = 0, uz = 0, rest;

#pragma unroll
	for (int q = 1; q < Q; q++) {
		float more = f[q] - f[opposite[q]];

		if (opposite[q] < q)
			continue;
		rho += f[q] + f[opposite[q]];
		add_signed(ux, c[q][0], more);
		add_signed(uy, c[q][1], more);
		add_signed(uz, c[q][2], more);
	}
	ux /= rho;
	uy /= rho;
	uz /= rho;
	rest = fmaf(-1.5f, fmaf(uz, uz, fmaf(uy, uy, ux * ux)), 1.0f);
	rho *= OMEGA;
	f[0] = fmaf(WEIGHT_REST * rho, rest, (1 - OMEGA) * f[0]);
#pragma unroll
	for (int q = 1; q < Q; q++) {
		float u = along(c[q], ux, uy, uz), both = fmaf(4.5f * u, u, rest);

		if (opposite[q] < q)
			continue;
		f[q] = fmaf(weight(c[q]) * rho, fmaf(3.0f, u, both), (1 - OMEGA) * f[q]);
		f[opposite[q]] = fmaf(weight(c[q]) * rho, fmaf(-3.0f, u, both),
				      (1 - OMEGA) * f[opposite[q]]);
	}
}

/* A cell's neighbours are x + 1, y + row and z + plane away; the next direction `next` floats. */
KERNEL lbm(const float *from, float *to, const uint32_t *solid, uint32_t nx, uint64_t row,
	   uint64_t plane, uint64_t next)
{
	constexpr int c[Q][3] = { VELOCITIES }, opposite[Q] = { OPPOSITE };
	uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t cell = (blockIdx.z + 1) * (uint32_t)plane + (blockIdx.y + 1) * (uint32_t)row + x;
	float f[Q];
	bool wall;

	if (x >= nx)
		return;
	from += cell;
	wall = solid[cell] != 0;
#pragma unroll
	for (int q = 0; q < Q; q++) {
		/* A step from the direction before. */
		if (q)
			from += next - (c[q][2] - c[q - 1][2]) * plane -
				(c[q][1] - c[q - 1][1]) * row;
		f[q] = from[-c[q][0]];
	}
	if (wall) {
#pragma unroll
		for (int q = 1; q < Q; q++) {
			float swap = f[q];

			if (opposite[q] < q)
				continue;
			f[q] = f[opposite[q]];
			f[opposite[q]] = swap;
		}
	} else {
		collide(f);
	}
	to += cell;
#pragma unroll
	for (int q = 0; q < Q; q++) {
		*to = f[q];
		to += next;
	}
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define LBM_BLOCK	128u	/* threads of a CTA: cells of a row */

enum { NX, NY, NZ, STEPS };

/* Step i reads lattice[i % 2]. */
struct lbm {
	float *lattice[2];
	uint32_t *solid;
};

/* Floats from a cell to the next y, the next z, and the same cell of the next direction. */
struct strides {
	uint64_t row, plane, next;
};

/* A row has at least one cell more than nx, a plane a row more, and there is a plane at both ends. */
static struct strides strides(const struct workload *w)
{
	struct strides s = { .row = DIV_ROUND_UP(w->option[NX] + 1, 32) * 32 };

	s.plane = (w->option[NY] + 1) * s.row;
	s.next = (w->option[NZ] + 2) * s.plane + 2 * s.row;
	return s;
}

static const int velocity[Q][3] = { VELOCITIES };

static uint64_t place(const struct strides *s, uint64_t x, uint64_t y, uint64_t z)
{
	return (z + 1) * s->plane + (y + 1) * s->row + x;
}

static float weight(int q)
{
	int axes = abs(velocity[q][0]) + abs(velocity[q][1]) + abs(velocity[q][2]);

	return axes == 0 ? WEIGHT_REST : axes == 1 ? WEIGHT_AXIS : WEIGHT_EDGE;
}

/* The cell is of the lattice's faces: the walls of a cavity. */
static bool at_wall(const struct workload *w, uint64_t x, uint64_t y, uint64_t z)
{
	return x == 0 || y == 0 || z == 0 || x == w->option[NX] - 1 || y == w->option[NY] - 1 ||
	       z == w->option[NZ] - 1;
}

/* Near rest, each density up to 10% off, at rest around; walls, and one cell of 512, are solid. */
static void fill(const struct workload *w, float *lattice, uint32_t *solid)
{
	struct strides s = strides(w);
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (int q = 0; q < Q; q++)
		for (uint64_t i = 0; i < s.next; i++)
			lattice[(uint64_t)q * s.next + i] = weight(q);
	for (uint64_t z = 0; z < w->option[NZ]; z++)
		for (uint64_t y = 0; y < w->option[NY]; y++)
			for (uint64_t x = 0; x < w->option[NX]; x++) {
				uint64_t at = place(&s, x, y, z);

				for (uint64_t q = 0; q < Q; q++)
					lattice[q * s.next + at] *= 0.9f + 0.2f *
						((float)(rng_next(&rng) >> 40) * 0x1p-24f);
				solid[at] = at_wall(w, x, y, z) || rng_next(&rng) % 512 == 0;
			}
}

static int lbm_setup(struct workload *w)
{
	struct lbm *l = w->state;
	struct strides s = strides(w);
	size_t bytes = Q * s.next * sizeof(float);
	bool swapped = w->option[STEPS] % 2;
	int ret;

	ret = workload_alloc(w, (void **)&l->lattice[0], bytes,
			     swapped ? WORKLOAD_IN : WORKLOAD_INOUT, "the first lattice");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->lattice[1], bytes, WORKLOAD_INOUT,
				     "the second lattice");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->solid, s.next * sizeof(*l->solid), WORKLOAD_IN,
				     "the obstacles");
	if (ret)
		return ret;
	fill(w, l->lattice[0], l->solid);
	/* What is around the lattice; what is in it is written before it is read. */
	memcpy(l->lattice[1], l->lattice[0], bytes);
	return 0;
}

static int lbm_run(struct workload *w)
{
	struct lbm *l = w->state;
	uint32_t nx = (uint32_t)w->option[NX], ny = (uint32_t)w->option[NY];
	uint32_t nz = (uint32_t)w->option[NZ];
	struct strides s = strides(w);
	struct gpuemu_dim3 grid = { DIV_ROUND_UP(nx, LBM_BLOCK), ny, nz };
	struct gpuemu_dim3 block = { MIN(nx, LBM_BLOCK), 1, 1 };
	int ret = 0;

	for (uint64_t i = 0; !ret && i < w->option[STEPS]; i++)
		ret = WORKLOAD_LAUNCH_GRID(w, "lbm", grid, block,
					   gpuemu_arg_ptr(l->lattice[i % 2]),
					   gpuemu_arg_ptr(l->lattice[(i + 1) % 2]),
					   gpuemu_arg_ptr(l->solid), gpuemu_arg_u32(nx),
					   gpuemu_arg_u64(s.row), gpuemu_arg_u64(s.plane),
					   gpuemu_arg_u64(s.next));
	return ret ? ret : workload_synchronize(w);
}

/* What the method says of one cell, written out again from the equations. */
static void collide(float f[Q])
{
	static const int opposite[Q] = { OPPOSITE };
	float rho = f[0], u[3] = { 0 }, rest;

	for (int q = 1; q < Q; q++) {
		if (opposite[q] < q)
			continue;
		rho += f[q] + f[opposite[q]];
		for (int axis = 0; axis < 3; axis++)
			if (velocity[q][axis])
				u[axis] += (float)velocity[q][axis] * (f[q] - f[opposite[q]]);
	}
	for (int axis = 0; axis < 3; axis++)
		u[axis] /= rho;
	rest = fmaf(-1.5f, fmaf(u[2], u[2], fmaf(u[1], u[1], u[0] * u[0])), 1.0f);
	rho *= OMEGA;
	for (int q = 0; q < Q; q++) {
		float along = 0;

		for (int axis = 0; axis < 3; axis++)
			if (velocity[q][axis])
				along += (float)velocity[q][axis] * u[axis];
		f[q] = fmaf(weight(q) * rho, fmaf(3, along, fmaf(4.5f * along, along, rest)),
			    (1 - OMEGA) * f[q]);
	}
}

static void reference_cell(const float *from, float *to, const struct strides *s, uint64_t at,
			   bool solid)
{
	static const int opposite[Q] = { OPPOSITE };
	float f[Q];

	for (int q = 0; q < Q; q++)
		f[q] = from[(int64_t)((uint64_t)q * s->next + at) - velocity[q][0] -
			    velocity[q][1] * (int64_t)s->row - velocity[q][2] * (int64_t)s->plane];
	if (!solid)
		collide(f);
	for (int q = 0; q < Q; q++)
		to[(uint64_t)(solid ? opposite[q] : q) * s->next + at] = f[q];
}

static void reference(const struct workload *w, const float *from, float *to,
		      const uint32_t *solid)
{
	struct strides s = strides(w);

	for (uint64_t z = 0; z < w->option[NZ]; z++)
		for (uint64_t y = 0; y < w->option[NY]; y++)
			for (uint64_t x = 0; x < w->option[NX]; x++) {
				uint64_t at = place(&s, x, y, z);

				reference_cell(from, to, &s, at, solid[at]);
			}
}

/* Both lattices, what is around them too: the last two steps. */
static int lbm_verify(struct workload *w)
{
	struct lbm *l = w->state;
	uint64_t n = strides(w).next, size = Q * n;
	float *lattice = calloc(2 * size + n, sizeof(*lattice));
	uint32_t *solid = (uint32_t *)(lattice + 2 * size);
	int ret = 0;

	if (!lattice)
		return err_set(&w->err, -ENOMEM, "no memory for the reference");
	fill(w, lattice, solid);
	memcpy(lattice + size, lattice, size * sizeof(*lattice));
	for (uint64_t i = 0; i < w->option[STEPS]; i++)
		reference(w, lattice + i % 2 * size, lattice + (i + 1) % 2 * size, solid);
	for (uint64_t i = 0; !ret && i < n; i++)
		if (l->solid[i] != solid[i])
			ret = err_set(&w->err, -EBADMSG, "obstacle %" PRIu64 " changed: %u, was %u",
				      i, l->solid[i], solid[i]);
	for (uint64_t i = 0; !ret && i < 2 * size; i++) {
		const float *is = &l->lattice[i / size][i % size];

		if (memcmp(is, &lattice[i], sizeof(*is)))
			ret = err_set(&w->err, -EBADMSG, "lattice %" PRIu64 ", direction %" PRIu64
				      ", cell %" PRIu64 " is %a, the CPU says %a", i / size,
				      i % size / n, i % n, *is, lattice[i]);
	}
	free(lattice);
	return ret;
}

const struct workload_ops workload_lbm = {
	.name = "lbm",
	.help = "lattice Boltzmann flow, D3Q19, floats",
	.exercises = "38 streams at once, high register use, pages far apart in every warp",
	.options = {
		[NX] = { "nx", 120, 1, 1024, "cells along x, the fastest; 156 bytes each, in rows of "
			 "a multiple of 32, more than nx", .quick = 60, .tiny = 21 },
		[NY] = { "ny", 32, 1, 1024, "cells along y", .quick = 16, .tiny = 3 },
		[NZ] = { "nz", 32, 1, 1024, "cells along z", .quick = 16, .tiny = 3 },
		[STEPS] = { "steps", 4, 1, 10000, "of one launch each", .tiny = 3 },
	},
	.state_bytes = sizeof(struct lbm),
	.setup = lbm_setup,
	.run = lbm_run,
	.verify = lbm_verify,
};
#endif
