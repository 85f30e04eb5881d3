// SPDX-License-Identifier: GPL-2.0
/*
 * lbm: fluid flow by the lattice Boltzmann method, D3Q19 with the BGK collision (Qian,
 * d'Humieres and Lallemand 1992), single precision, as Parboil's lbm after SPEC's. Each step
 * pulls 19 densities from the neighbours, collides, and writes them to the other lattice;
 * solid cells bounce back. Arrays of one direction each, periodic at the borders.
 */
#define Q	19

/* The directions: x, y, z of each, and which is its opposite. */
#define VELOCITIES							\
	{ 0, 0, 0 },							\
	{ 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 },		\
	{ 0, 0, 1 }, { 0, 0, -1 }, { 1, 1, 0 }, { -1, -1, 0 },		\
	{ 1, -1, 0 }, { -1, 1, 0 }, { 1, 0, 1 }, { -1, 0, -1 },		\
	{ 1, 0, -1 }, { -1, 0, 1 }, { 0, 1, 1 }, { 0, -1, -1 },		\
	{ 0, 1, -1 }, { 0, -1, 1 }
#define OPPOSITE	0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17

#define OMEGA		1.85f	/* 1 / relaxation time */
#define WEIGHT_REST	(1.0f / 3.0f)
#define WEIGHT_AXIS	(1.0f / 18.0f)	/* directions 1 to 6 */
#define WEIGHT_EDGE	(1.0f / 36.0f)	/* the others */

#ifdef GPUEMU_DEVICE
#include "device.h"

/* i + step, step in -1 .. 1, around the border. */
INLINE uint32_t around(uint32_t i, int step, uint32_t n)
{
	if (step > 0)
		return i + 1 == n ? 0 : i + 1;
	if (step < 0)
		return i == 0 ? n - 1 : i - 1;
	return i;
}

INLINE void add_signed(float &sum, int sign, float v)
{
	if (sign > 0)
		sum += v;
	else if (sign < 0)
		sum -= v;
}

INLINE float weight(int q)
{
	return q == 0 ? WEIGHT_REST : q < 7 ? WEIGHT_AXIS : WEIGHT_EDGE;
}

KERNEL lbm(const float *from, float *to, const uint8_t *solid, uint32_t nx, uint32_t ny,
	   uint32_t nz)
{
	constexpr int c[Q][3] = { VELOCITIES }, opposite[Q] = { OPPOSITE };
	uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
	uint32_t cells = nx * ny * nz, cell = (z * ny + y) * nx + x;
	float f[Q], rho = 0, ux = 0, uy = 0, uz = 0, square;

	if (x >= nx)
		return;
#pragma unroll
	for (int q = 0; q < Q; q++) {
		uint32_t at = (around(z, -c[q][2], nz) * ny + around(y, -c[q][1], ny)) * nx +
			      around(x, -c[q][0], nx);

		f[q] = from[q * cells + at];
	}
	if (solid[cell]) {
#pragma unroll
		for (int q = 0; q < Q; q++)
			to[opposite[q] * cells + cell] = f[q];
		return;
	}
#pragma unroll
	for (int q = 0; q < Q; q++) {
		rho += f[q];
		add_signed(ux, c[q][0], f[q]);
		add_signed(uy, c[q][1], f[q]);
		add_signed(uz, c[q][2], f[q]);
	}
	ux /= rho;
	uy /= rho;
	uz /= rho;
	square = fmaf(uz, uz, fmaf(uy, uy, ux * ux));
#pragma unroll
	for (int q = 0; q < Q; q++) {
		float along = 0, equilibrium; /* then how far off it is */

		add_signed(along, c[q][0], ux);
		add_signed(along, c[q][1], uy);
		add_signed(along, c[q][2], uz);
		equilibrium = fmaf(along, fmaf(4.5f, along, 3.0f), fmaf(-1.5f, square, 1.0f));
		equilibrium = fmaf(equilibrium, weight(q) * rho, -f[q]);
		to[q * cells + cell] = fmaf(OMEGA, equilibrium, f[q]);
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
	uint8_t *solid;
};

static const int velocity[Q][3] = { VELOCITIES };

static uint64_t cells_of(const struct workload *w)
{
	return w->option[NX] * w->option[NY] * w->option[NZ];
}

static float weight(int q)
{
	return q == 0 ? WEIGHT_REST : q < 7 ? WEIGHT_AXIS : WEIGHT_EDGE;
}

/* Near rest, each density up to 10% off; one cell of 16 is solid. */
static void fill(const struct workload *w, float *lattice, uint8_t *solid)
{
	uint64_t n = cells_of(w);
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (int q = 0; q < Q; q++)
		for (uint64_t i = 0; i < n; i++)
			lattice[(uint64_t)q * n + i] = weight(q) *
				(0.9f + 0.2f * ((float)(rng_next(&rng) >> 40) * 0x1p-24f));
	for (uint64_t i = 0; i < n; i++)
		solid[i] = rng_next(&rng) % 16 == 0;
}

static int lbm_setup(struct workload *w)
{
	struct lbm *l = w->state;
	size_t bytes = Q * cells_of(w) * sizeof(float);
	bool swapped = w->option[STEPS] % 2;
	int ret;

	ret = workload_alloc(w, (void **)&l->lattice[0], bytes,
			     swapped ? WORKLOAD_IN : WORKLOAD_INOUT, "the first lattice");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->lattice[1], bytes,
				     swapped ? WORKLOAD_OUT : WORKLOAD_SCRATCH,
				     "the second lattice");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->solid, cells_of(w), WORKLOAD_IN,
				     "the obstacles");
	if (!ret)
		fill(w, l->lattice[0], l->solid);
	return ret;
}

static int lbm_run(struct workload *w)
{
	struct lbm *l = w->state;
	uint32_t nx = (uint32_t)w->option[NX], ny = (uint32_t)w->option[NY];
	uint32_t nz = (uint32_t)w->option[NZ];
	struct gpuemu_dim3 grid = { DIV_ROUND_UP(nx, LBM_BLOCK), ny, nz };
	struct gpuemu_dim3 block = { MIN(nx, LBM_BLOCK), 1, 1 };
	int ret = 0;

	for (uint64_t i = 0; !ret && i < w->option[STEPS]; i++)
		ret = WORKLOAD_LAUNCH_GRID(w, "lbm", grid, block,
					   gpuemu_arg_ptr(l->lattice[i % 2]),
					   gpuemu_arg_ptr(l->lattice[(i + 1) % 2]),
					   gpuemu_arg_ptr(l->solid), gpuemu_arg_u32(nx),
					   gpuemu_arg_u32(ny), gpuemu_arg_u32(nz));
	return ret ? ret : workload_synchronize(w);
}

/* What the method says of one cell, written out again from the equations. */
static void collide(float f[Q])
{
	float rho = 0, u[3] = { 0 }, square;

	for (int q = 0; q < Q; q++) {
		rho += f[q];
		for (int axis = 0; axis < 3; axis++)
			if (velocity[q][axis])
				u[axis] += velocity[q][axis] > 0 ? f[q] : -f[q];
	}
	for (int axis = 0; axis < 3; axis++)
		u[axis] /= rho;
	square = fmaf(u[2], u[2], fmaf(u[1], u[1], u[0] * u[0]));
	for (int q = 0; q < Q; q++) {
		float along = 0, equilibrium;

		for (int axis = 0; axis < 3; axis++)
			if (velocity[q][axis])
				along += velocity[q][axis] > 0 ? u[axis] : -u[axis];
		equilibrium = fmaf(along, fmaf(4.5f, along, 3.0f), fmaf(-1.5f, square, 1.0f));
		equilibrium = fmaf(equilibrium, weight(q) * rho, -f[q]);
		f[q] = fmaf(OMEGA, equilibrium, f[q]);
	}
}

static uint64_t neighbour(const struct workload *w, uint64_t cell, int q)
{
	uint64_t nx = w->option[NX], ny = w->option[NY], nz = w->option[NZ];
	uint64_t x = (cell % nx + nx - (uint64_t)velocity[q][0]) % nx;
	uint64_t y = (cell / nx % ny + ny - (uint64_t)velocity[q][1]) % ny;
	uint64_t z = (cell / nx / ny + nz - (uint64_t)velocity[q][2]) % nz;

	return (z * ny + y) * nx + x;
}

static void reference(const struct workload *w, const float *from, float *to,
		      const uint8_t *solid)
{
	static const int opposite[Q] = { OPPOSITE };
	uint64_t n = cells_of(w);

	for (uint64_t cell = 0; cell < n; cell++) {
		float f[Q];

		for (int q = 0; q < Q; q++)
			f[q] = from[(uint64_t)q * n + neighbour(w, cell, q)];
		if (!solid[cell])
			collide(f);
		for (int q = 0; q < Q; q++)
			to[(uint64_t)(solid[cell] ? opposite[q] : q) * n + cell] = f[q];
	}
}

/* Both lattices: the last two steps. */
static int lbm_verify(struct workload *w)
{
	struct lbm *l = w->state;
	uint64_t n = cells_of(w), size = Q * n;
	float *lattice = calloc(2 * size + DIV_ROUND_UP(n, sizeof(float)), sizeof(*lattice));
	uint8_t *solid = (uint8_t *)(lattice + 2 * size);
	int ret = 0;

	if (!lattice)
		return err_set(&w->err, -ENOMEM, "no memory for the reference");
	fill(w, lattice, solid);
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
		[NX] = { "nx", 128, 1, 1024, "cells along x, the fastest; 153 bytes each cell",
			 .quick = 32, .tiny = 21 },
		[NY] = { "ny", 32, 1, 1024, "cells along y", .quick = 24, .tiny = 5 },
		[NZ] = { "nz", 32, 1, 1024, "cells along z", .quick = 24, .tiny = 7 },
		[STEPS] = { "steps", 4, 1, 10000, "of one launch each", .tiny = 3 },
	},
	.state_bytes = sizeof(struct lbm),
	.setup = lbm_setup,
	.run = lbm_run,
	.verify = lbm_verify,
};
#endif
