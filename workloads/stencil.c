// SPDX-License-Identifier: GPL-2.0
/*
 * stencil: Jacobi iterations of a 7-point stencil on a 3D grid, the heat equation as in
 * Parboil's stencil: each inner point becomes c1 * (its six neighbours) - c0 * itself, the
 * boundary stays. A thread marches along z with three planes of its column in registers.
 */
#ifdef GPUEMU_DEVICE
#include "device.h"

KERNEL stencil(const float *in, float *out, uint32_t nx, uint32_t ny,
	       uint32_t nz, float c0, float c1)
{
	uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
	uint32_t plane = nx * ny, at = y * nx + x;
	bool inner = x > 0 && y > 0 && x + 1 < nx && y + 1 < ny;
	float below, here, above;

	if (x >= nx || y >= ny)
		return;
	here = in[at];
	out[at] = here;
	if (nz == 1)
		return;
	above = in[at + plane];
	for (uint32_t z = 1; z + 1 < nz; z++) {
		at += plane;
		below = here;
		here = above;
		above = in[at + plane];
		if (inner) {
			float sum = below + above;

			sum += in[at - 1];
			sum += in[at + 1];
			sum += in[at - nx];
			sum += in[at + nx];
			out[at] = fmaf(c1, sum, -(c0 * here));
		} else {
			out[at] = here;
		}
	}
	out[at + plane] = above;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

#define STENCIL_X	32u	/* threads of a CTA */
#define STENCIL_Y	8u
#define C0		(1.0f / 6.0f)
#define C1		(1.0f / 36.0f)

enum { NX, NY, NZ, ITERATIONS };

/* Iteration i reads grid[i % 2]. */
struct stencil {
	float *grid[2];
};

static uint64_t points(const struct workload *w)
{
	return w->option[NX] * w->option[NY] * w->option[NZ];
}

static void fill(float *grid, uint64_t n, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed);
	for (uint64_t i = 0; i < n; i++)
		grid[i] = (float)(rng_next(&rng) >> 40) * 0x1p-24f;
}

static int stencil_setup(struct workload *w)
{
	struct stencil *s = w->state;
	bool swapped = w->option[ITERATIONS] % 2;
	int ret;

	ret = workload_alloc(w, (void **)&s->grid[0], points(w) * sizeof(float),
			     swapped ? WORKLOAD_IN : WORKLOAD_INOUT, "the first grid");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->grid[1], points(w) * sizeof(float),
				     swapped ? WORKLOAD_OUT : WORKLOAD_SCRATCH, "the second grid");
	if (!ret)
		fill(s->grid[0], points(w), w->seed);
	return ret;
}

static int stencil_run(struct workload *w)
{
	struct stencil *s = w->state;
	uint32_t nx = (uint32_t)w->option[NX], ny = (uint32_t)w->option[NY];
	struct gpuemu_dim3 grid = { DIV_ROUND_UP(nx, STENCIL_X), DIV_ROUND_UP(ny, STENCIL_Y), 1 };
	struct gpuemu_dim3 block = { STENCIL_X, STENCIL_Y, 1 };
	int ret = 0;

	for (uint64_t i = 0; !ret && i < w->option[ITERATIONS]; i++)
		ret = WORKLOAD_LAUNCH_GRID(w, "stencil", grid, block,
					   gpuemu_arg_ptr(s->grid[i % 2]),
					   gpuemu_arg_ptr(s->grid[(i + 1) % 2]),
					   gpuemu_arg_u32(nx), gpuemu_arg_u32(ny),
					   gpuemu_arg_u32((uint32_t)w->option[NZ]),
					   gpuemu_arg_f32(C0), gpuemu_arg_f32(C1));
	return ret ? ret : workload_synchronize(w);
}

static void reference(const struct workload *w, const float *in, float *out)
{
	uint64_t nx = w->option[NX], ny = w->option[NY], nz = w->option[NZ];

	memcpy(out, in, points(w) * sizeof(*out));
	for (uint64_t z = 1; z + 1 < nz; z++) {
		for (uint64_t y = 1; y + 1 < ny; y++) {
			const float *row = in + (z * ny + y) * nx;

			for (uint64_t x = 1; x + 1 < nx; x++) {
				float sum = row[x - nx * ny] + row[x + nx * ny];

				sum = sum + row[x - 1] + row[x + 1];
				sum = sum + row[x - nx] + row[x + nx];
				out[(z * ny + y) * nx + x] = fmaf(C1, sum, -(C0 * row[x]));
			}
		}
	}
}

/* Both grids: the last two steps of the iteration. */
static int stencil_verify(struct workload *w)
{
	struct stencil *s = w->state;
	uint64_t n = points(w);
	float *grid = calloc(2 * n, sizeof(*grid));
	int ret = 0;

	if (!grid)
		return err_set(&w->err, -ENOMEM, "no memory for the reference");
	fill(grid, n, w->seed);
	for (uint64_t i = 0; i < w->option[ITERATIONS]; i++)
		reference(w, grid + i % 2 * n, grid + (i + 1) % 2 * n);
	for (uint64_t i = 0; !ret && i < 2 * n; i++) {
		const float *is = &s->grid[i / n][i % n];

		if (memcmp(is, &grid[i], sizeof(*is)))
			ret = err_set(&w->err, -EBADMSG, "point %" PRIu64 " of grid %" PRIu64
				      " is %a, the CPU says %a", i % n, i / n, *is, grid[i]);
	}
	free(grid);
	return ret;
}

const struct workload_ops workload_stencil = {
	.name = "stencil",
	.help = "Jacobi iterations of a 7-point stencil in 3D, floats",
	.exercises = "planes a page stride apart, reuse between launches, ping-pong buffers",
	.options = {
		[NX] = { "nx", 128, 1, 4096, "points along x, the fastest; 8 bytes each point",
			 .quick = 96, .tiny = 37 },
		[NY] = { "ny", 128, 1, 4096, "points along y", .quick = 64, .tiny = 19 },
		[NZ] = { "nz", 128, 1, 4096, "points along z", .quick = 64, .tiny = 11 },
		[ITERATIONS] = { "iterations", 4, 1, 10000, "of one launch each", .tiny = 3 },
	},
	.state_bytes = sizeof(struct stencil),
	.setup = stencil_setup,
	.run = stencil_run,
	.verify = stencil_verify,
};
#endif
