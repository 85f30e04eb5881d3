// SPDX-License-Identifier: GPL-2.0
/*
 * coulomb: the electrostatic potential on a plane of points from charged atoms (direct
 * Coulomb summation: Stone et al., J. Computational Chemistry 28, 2007; cp in Parboil and
 * in GPGPU-Sim's suite). A thread computes several points of a row, so that what it knows
 * of an atom serves all of them.
 */
#define COULOMB_X	16	/* threads of a CTA's edges */
#define COULOMB_Y	8
#define COULOMB_POINTS	8	/* of a thread, COULOMB_X apart */
#define COULOMB_ATOMS	1024	/* of a launch */

#ifdef GPUEMU_DEVICE
#include "device.h"

struct atom {
	float x, y, zz, charge;		/* zz: the square of its distance from the plane */
};

/* Atoms are the same for all threads of a launch, and read in one order: a broadcast. */
KERNEL coulomb(const struct atom *atoms, int n, float spacing, float *energy, int width)
{
	__shared__ struct atom near[COULOMB_X * COULOMB_Y];
	int x = (int)(blockIdx.x * COULOMB_X * COULOMB_POINTS + threadIdx.x);
	int y = (int)(blockIdx.y * COULOMB_Y + threadIdx.y);
	int me = (int)(threadIdx.y * COULOMB_X + threadIdx.x);
	float px = spacing * (float)x, py = spacing * (float)y;
	float sum[COULOMB_POINTS];

#pragma unroll
	for (int i = 0; i < COULOMB_POINTS; i++)
		sum[i] = 0;
	for (int first = 0; first < n; first += COULOMB_X * COULOMB_Y) {
		int here = min(n - first, COULOMB_X * COULOMB_Y);

		__syncthreads();
		if (me < here)
			near[me] = atoms[first + me];
		__syncthreads();
		for (int k = 0; k < here; k++) {
			float dy = py - near[k].y;
			float rest = fmaf(dy, dy, near[k].zz);

#pragma unroll
			for (int i = 0; i < COULOMB_POINTS; i++) {
				float dx = fmaf(spacing, (float)(i * COULOMB_X), px) - near[k].x;

				sum[i] += near[k].charge / __builtin_sqrtf(fmaf(dx, dx, rest));
			}
		}
	}
#pragma unroll
	for (int i = 0; i < COULOMB_POINTS; i++)
		energy[y * width + x + i * COULOMB_X] += sum[i];
}

#else
#include <errno.h>
#include <math.h>

#include "fill.h"

enum { WIDTH, HEIGHT, ATOMS };

struct coulomb_atom {
	float x, y, zz, charge;
};

struct coulomb {
	struct coulomb_atom *atoms;
	float *energy;
};

#define COULOMB_SPACING	0.125f

static uint32_t width(const struct workload *w)
{
	uint32_t tile = COULOMB_X * COULOMB_POINTS;

	return DIV_ROUND_UP((uint32_t)w->option[WIDTH], tile) * tile;
}

static uint32_t height(const struct workload *w)
{
	return DIV_ROUND_UP((uint32_t)w->option[HEIGHT], COULOMB_Y) * COULOMB_Y;
}

/* No atom is in the plane: the square of its distance is a quarter at least. */
static void make_atoms(struct workload *w, struct coulomb_atom *a)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[ATOMS]; i++) {
		a[i].x = (float)rng_below(&rng, 1 << 16) / 1024;
		a[i].y = (float)rng_below(&rng, 1 << 16) / 1024;
		a[i].zz = 0.25f + (float)rng_below(&rng, 1 << 12) / 256;
		a[i].charge = (float)rng_below(&rng, 256) / 64 - 2;
	}
}

static int coulomb_setup(struct workload *w)
{
	struct coulomb *c = w->state;
	uint64_t points = (uint64_t)width(w) * height(w);
	int ret;

	ret = workload_alloc(w, (void **)&c->atoms, w->option[ATOMS] * sizeof(*c->atoms),
			     WORKLOAD_IN, "atoms");
	if (!ret)
		ret = workload_alloc(w, (void **)&c->energy, points * sizeof(float),
				     WORKLOAD_INOUT, "energy");
	if (ret)
		return ret;
	make_atoms(w, c->atoms);
	fill_floats(w, 1, c->energy, points, 0, 1);
	return 0;
}

static int coulomb_run(struct workload *w)
{
	struct coulomb *c = w->state;
	struct gpuemu_dim3 grid = { width(w) / (COULOMB_X * COULOMB_POINTS),
				    height(w) / COULOMB_Y, 1 };
	int ret = 0;

	for (uint64_t first = 0; first < w->option[ATOMS] && !ret; first += COULOMB_ATOMS) {
		uint64_t n = MIN(w->option[ATOMS] - first, (uint64_t)COULOMB_ATOMS);

		ret = WORKLOAD_LAUNCH_GRID(w, "coulomb", grid,
					   ((struct gpuemu_dim3){ COULOMB_X, COULOMB_Y, 1 }),
					   gpuemu_arg_ptr(c->atoms + first),
					   gpuemu_arg_s32((int32_t)n),
					   gpuemu_arg_f32(COULOMB_SPACING),
					   gpuemu_arg_ptr(c->energy),
					   gpuemu_arg_s32((int32_t)width(w)));
	}
	return ret ? ret : workload_synchronize(w);
}

/* One point at a time; a launch's atoms are summed before they are added to what was there. */
static float potential(const struct workload *w, const struct coulomb_atom *atoms,
		       uint32_t x, uint32_t y, float energy)
{
	uint32_t tile = COULOMB_X * COULOMB_POINTS;
	uint32_t step = x % tile / COULOMB_X * COULOMB_X;
	float px = COULOMB_SPACING * (float)(x - step), py = COULOMB_SPACING * (float)y;

	for (uint64_t first = 0; first < w->option[ATOMS]; first += COULOMB_ATOMS) {
		float sum = 0;

		for (uint64_t k = first; k < MIN(first + COULOMB_ATOMS, w->option[ATOMS]); k++) {
			float dx = fmaf(COULOMB_SPACING, (float)step, px) - atoms[k].x;
			float dy = py - atoms[k].y;

			sum += atoms[k].charge / sqrtf(fmaf(dx, dx, fmaf(dy, dy, atoms[k].zz)));
		}
		energy += sum;
	}
	return energy;
}

static int coulomb_verify(struct workload *w)
{
	struct coulomb *c = w->state;
	uint64_t points = (uint64_t)width(w) * height(w);
	struct coulomb_atom *atoms = check_memory(w, w->option[ATOMS], sizeof(*atoms));
	float *want = check_memory(w, points, sizeof(float));
	int ret = atoms && want ? 0 : -ENOMEM;

	if (!ret) {
		make_atoms(w, atoms);
		ret = check_floats(w, "atoms", 0, &c->atoms->x, &atoms->x, 4 * w->option[ATOMS]);
	}
	if (!ret) {
		fill_floats(w, 1, want, points, 0, 1);
		for (uint64_t i = 0; i < points; i++)
			want[i] = potential(w, atoms, (uint32_t)(i % width(w)),
					    (uint32_t)(i / width(w)), want[i]);
		ret = check_floats(w, "energy", 0, c->energy, want, points);
	}
	free(atoms);
	free(want);
	return ret;
}

const struct workload_ops workload_coulomb = {
	.name = "coulomb",
	.help = "potential of charged atoms on a plane (cp of Parboil and GPGPU-Sim)",
	.exercises = "arithmetic, division and square root, shared memory as a broadcast",
	.options = {
		[WIDTH] = { "width", 512, 1, 1u << 14, "points of the plane; rounded up to 128",
			    .quick = 256, .tiny = 128 },
		[HEIGHT] = { "height", 512, 1, 1u << 14, "points of the plane; rounded up to 8",
			     .quick = 128, .tiny = 72 },
		[ATOMS] = { "atoms", 256, 1, 1u << 20, "charges; 1024 a launch",
			    .quick = 128, .tiny = 29 },
	},
	.state_bytes = sizeof(struct coulomb),
	.setup = coulomb_setup,
	.run = coulomb_run,
	.verify = coulomb_verify,
};
#endif
