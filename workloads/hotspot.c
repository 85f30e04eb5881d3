// SPDX-License-Identifier: GPL-2.0
/*
 * hotspot: the temperature of a chip from the power that its parts take: an
 * explicit 2-D heat equation (Huang et al., "HotSpot", IEEE TVLSI 2006; in
 * Rodinia, Che et al., IISWC 2009). A CTA computes several time steps of its tile
 * between launches, on a ghost zone that shrinks by a cell a step: a pyramid. As in
 * Rodinia, temperatures, powers and new temperatures are tiles in shared memory, and a
 * constant is a double, so that most of a step is computed in double precision.
 */
#define HOT_TILE	16	/* cells of a tile's edge, ghost zone included */

#ifdef GPUEMU_DEVICE
#include "device.h"

typedef float tile[HOT_TILE][HOT_TILE];

/*
 * One step of a cell: what flows in from its neighbours (the edge is insulated), from the power
 * it takes and from the surroundings. wide, high and up are one over the thermal
 * resistances, rate the time step over the heat capacity.
 */
INLINE float heated(float here, float rows, float columns, float watts, float wide, float high,
		    float up, float rate, float ambient)
{
	double flow = fma(fma(-2.0, (double)here, (double)rows), (double)high, (double)watts);

	flow = fma(fma(-2.0, (double)here, (double)columns), (double)wide, flow);
	flow += (double)((ambient - here) * up);
	return (float)fma((double)rate, flow, (double)here);
}

KERNEL hotspot(const float *power, const float *from, float *to, int n, int steps,
	       float capacity, float rx, float ry, float rz, float step, float ambient)
{
	__shared__ tile heat, watts, next;
	float rate = step / capacity, wide = 1 / rx, high = 1 / ry, up = 1 / rz;
	int tx = threadIdx.x, ty = threadIdx.y, inner = HOT_TILE - 2 * steps;
	int x = (int)blockIdx.x * inner - steps + tx;
	int y = (int)blockIdx.y * inner - steps + ty;
	bool inside = x >= 0 && x < n && y >= 0 && y < n;
	int west = x > 0 ? tx - 1 : tx, east = x < n - 1 ? tx + 1 : tx;
	int north = y > 0 ? ty - 1 : ty, south = y < n - 1 ? ty + 1 : ty;
	int at = y * n + x;

	if (inside) {
		heat[ty][tx] = from[at];
		watts[ty][tx] = power[at];
	}
	__syncthreads();
	for (int i = 0; i < steps; i++) {
		bool computed = inside && tx > i && tx < HOT_TILE - 1 - i && ty > i &&
				ty < HOT_TILE - 1 - i;

		if (computed)
			next[ty][tx] = heated(heat[ty][tx], heat[south][tx] + heat[north][tx],
					      heat[ty][east] + heat[ty][west], watts[ty][tx],
					      wide, high, up, rate, ambient);
		__syncthreads();
		if (i == steps - 1) {
			if (computed)
				to[at] = next[ty][tx];
			break;
		}
		if (computed)
			heat[ty][tx] = next[ty][tx];
		__syncthreads();
	}
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { N, STEPS, HEIGHT };

/* Silicon, and a chip of 16 x 16 x 0.5 mm, in W, m, K, J. */
#define HOT_CONDUCTIVITY	100.0	/* W/(m K) */
#define HOT_CAPACITY		1.75e6	/* J/(m^3 K) */
#define HOT_EDGE		0.016
#define HOT_THICK		0.0005
#define HOT_AMBIENT		353.0f
#define HOT_POWER		3.0e6	/* W/m^2 at most */

struct hotspot {
	float *power, *a, *b;	/* a holds the temperatures at the start */
};

/* Thermal capacity of a cell, resistances to its neighbours and surroundings, and the time step. */
struct hot_factors {
	float capacity, rx, ry, rz, step;
};

/* Cells are squares of the chip; the time step is half of what stays stable. */
static struct hot_factors factors(const struct workload *w)
{
	double cell = HOT_EDGE / (double)w->option[N];
	double side = 2 * HOT_CONDUCTIVITY * HOT_THICK;	/* cell length over cell width is 1 */
	double up = HOT_CONDUCTIVITY * cell * cell / HOT_THICK;
	double capacity = HOT_CAPACITY * HOT_THICK * cell * cell;

	return (struct hot_factors){
		.capacity = (float)capacity, .rx = (float)(1 / side), .ry = (float)(1 / side),
		.rz = (float)(1 / up), .step = (float)(0.5 * capacity / (4 * side + up)),
	};
}

static uint64_t launches(const struct workload *w)
{
	return DIV_ROUND_UP(w->option[STEPS], w->option[HEIGHT]);
}

static float random_power(const struct workload *w, struct rng *rng)
{
	double cell = HOT_EDGE / (double)w->option[N];

	return (float)(HOT_POWER * cell * cell * (double)rng_below(rng, 1024) / 1024);
}

static float random_heat(struct rng *rng)
{
	return 323 + (float)rng_below(rng, 1 << 16) / (1 << 11);
}

static int hotspot_setup(struct workload *w)
{
	struct hotspot *h = w->state;
	uint64_t cells = w->option[N] * w->option[N];
	bool even = launches(w) % 2 == 0;
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&h->power, cells * sizeof(float), WORKLOAD_IN, "power");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->a, cells * sizeof(float),
				     even ? WORKLOAD_INOUT : WORKLOAD_IN, "temperature");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->b, cells * sizeof(float),
				     even ? WORKLOAD_SCRATCH : WORKLOAD_OUT, "other temperature");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < cells; i++) {
		h->power[i] = random_power(w, &rng);
		h->a[i] = random_heat(&rng);
	}
	return 0;
}

static int hotspot_run(struct workload *w)
{
	struct hotspot *h = w->state;
	struct hot_factors f = factors(w);
	uint32_t n = (uint32_t)w->option[N];
	float *from = h->a, *to = h->b;
	uint64_t steps;
	int ret = 0;

	for (uint64_t step = 0; step < w->option[STEPS] && !ret; step += steps) {
		float *swap = from;
		uint32_t tiles;

		steps = MIN(w->option[HEIGHT], w->option[STEPS] - step);
		tiles = DIV_ROUND_UP(n, HOT_TILE - 2 * (uint32_t)steps);
		ret = WORKLOAD_LAUNCH_GRID(w, "hotspot", ((struct gpuemu_dim3){ tiles, tiles, 1 }),
					   ((struct gpuemu_dim3){ HOT_TILE, HOT_TILE, 1 }),
					   gpuemu_arg_ptr(h->power), gpuemu_arg_ptr(from),
					   gpuemu_arg_ptr(to), gpuemu_arg_s32((int32_t)n),
					   gpuemu_arg_s32((int32_t)steps),
					   gpuemu_arg_f32(f.capacity), gpuemu_arg_f32(f.rx),
					   gpuemu_arg_f32(f.ry), gpuemu_arg_f32(f.rz),
					   gpuemu_arg_f32(f.step), gpuemu_arg_f32(HOT_AMBIENT));
		from = to;
		to = swap;
	}
	return ret ? ret : workload_synchronize(w);
}

/*
 * The CPU's way: the whole chip, step by step, no tiles. Each operation is IEEE's
 * and no product is added but by fma(), so the GPU's bits are the CPU's.
 */
static void heat_step(const struct hot_factors *f, uint64_t n, const float *power,
		      const float *from, float *to)
{
	float rate = f->step / f->capacity, wide = 1 / f->rx, high = 1 / f->ry, up = 1 / f->rz;

	for (uint64_t y = 0; y < n; y++) {
		const float *row = from + y * n;
		const float *above = y ? row - n : row, *below = y < n - 1 ? row + n : row;

		for (uint64_t x = 0; x < n; x++) {
			float west = row[x ? x - 1 : x], east = row[x < n - 1 ? x + 1 : x];
			float rows = below[x] + above[x], columns = east + west;
			float out = (HOT_AMBIENT - row[x]) * up;
			double here = (double)row[x], flow;

			flow = fma(fma(-2, here, (double)rows), (double)high,
				   (double)power[y * n + x]);
			flow = fma(fma(-2, here, (double)columns), (double)wide, flow);
			to[y * n + x] = (float)fma((double)rate, flow + (double)out, here);
		}
	}
}

static int compare(struct workload *w, float *power, float *now, float *next, float *last)
{
	struct hotspot *h = w->state;
	struct hot_factors f = factors(w);
	uint64_t n = w->option[N], steps = w->option[STEPS], cells = n * n;
	uint64_t last_step = (launches(w) - 1) * w->option[HEIGHT];
	bool even = launches(w) % 2 == 0;
	struct rng rng;
	int ret;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < cells; i++) {
		power[i] = random_power(w, &rng);
		now[i] = random_heat(&rng);
	}
	ret = check_floats(w, "power", 0, h->power, power, cells);
	for (uint64_t step = 0; step < steps; step++) {
		float *swap = now;

		/* The other buffer still has what the last launch began with. */
		if (step == last_step)
			memcpy(last, now, cells * sizeof(float));
		heat_step(&f, n, power, now, next);
		now = next;
		next = swap;
	}
	if (!ret)
		ret = check_floats(w, "temperature", 0, even ? h->a : h->b, now, cells);
	if (!ret)
		ret = check_floats(w, "temperature before the last launch", 0,
				   even ? h->b : h->a, last, cells);
	return ret;
}

static int hotspot_verify(struct workload *w)
{
	uint64_t cells = w->option[N] * w->option[N];
	float *m = check_memory(w, 4 * cells, sizeof(float));
	int ret;

	if (!m)
		return -ENOMEM;
	ret = compare(w, m, m + cells, m + 2 * cells, m + 3 * cells);
	free(m);
	return ret;
}

const struct workload_ops workload_hotspot = {
	.name = "hotspot",
	.help = "temperatures of a chip, a 2-D stencil over time (Rodinia)",
	.exercises = "shared-memory tiles, ghost zones, barriers, divergence at the tile's edge",
	.options = {
		[N] = { "n", 1536, 1, 1u << 15, "cells of the chip's edge; 12 bytes a cell",
			.quick = 512, .tiny = 101 },
		[STEPS] = { "steps", 4, 1, 1u << 20, "of time", .tiny = 5 },
		[HEIGHT] = { "height", 2, 1, 7, "steps that a launch computes" },
	},
	.state_bytes = sizeof(struct hotspot),
	.setup = hotspot_setup,
	.run = hotspot_run,
	.verify = hotspot_verify,
};
#endif
