// SPDX-License-Identifier: GPL-2.0
/*
 * lavamd: what particles do to one another within a cut-off, in boxes of up to 100 of them
 * (Szafaryn et al., 2011; lavaMD in Rodinia): a CTA a box. For each of up to 27 boxes around, its
 * particles come into shared memory, and every thread goes through all of them, in double
 * precision.
 */
#define LAVA_BOX	100u	/* particles of a box at most */
#define LAVA_BLOCK	128u	/* threads of a CTA */
#define LAVA_A2		0.5	/* 2 alpha^2 */

#ifdef GPUEMU_DEVICE
#include "device.h"
#define LAVA	INLINE
#define LAVA_DOUBLE(bits)	__builtin_bit_cast(double, bits)
#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "fill.h"
#define LAVA	static inline
#define LAVA_DOUBLE(bits)	double_of(bits)

static inline double double_of(unsigned long long bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}
#endif

/* A particle, and what is done to it: potential and force. */
struct four {
	double v, x, y, z;
};

/* e to the x, -700 < x <= 0, to some bits: the same ones on both sides. */
LAVA double lava_exp(double x)
{
	long long n = (long long)fma(x, 1.4426950408889634, -0.5);
	double r = fma((double)n, -0.6931471805599453, x), p = 1.0 / 3628800;

	p = fma(r, p, 1.0 / 362880);
	p = fma(r, p, 1.0 / 40320);
	p = fma(r, p, 1.0 / 5040);
	p = fma(r, p, 1.0 / 720);
	p = fma(r, p, 1.0 / 120);
	p = fma(r, p, 1.0 / 24);
	p = fma(r, p, 1.0 / 6);
	p = fma(r, p, 0.5);
	p = fma(r, p, 1);
	p = fma(r, p, 1);
	return p * LAVA_DOUBLE((unsigned long long)(n + 1023) << 52);
}

/* Adds the force of particle b of charge q on a. v is half the square of the distance from the origin. */
LAVA void lava_act(struct four *f, const struct four *a, const struct four *b, double q)
{
	double r2 = a->v + b->v - fma(a->x, b->x, fma(a->y, b->y, a->z * b->z));
	double vij = lava_exp(-LAVA_A2 * r2), s = q * (2 * vij);

	f->v = fma(q, vij, f->v);
	f->x = fma(s, a->x - b->x, f->x);
	f->y = fma(s, a->y - b->y, f->y);
	f->z = fma(s, a->z - b->z, f->z);
}

#ifdef GPUEMU_DEVICE

/* around: of each box 27 numbers of boxes, itself first; those past the end are none. */
KERNEL lavamd(const struct four *particles, const double *charges, const uint32_t *around,
	      struct four *forces, uint32_t n)
{
	__shared__ struct four mine[LAVA_BOX], other[LAVA_BOX];
	__shared__ double charge[LAVA_BOX];
	uint32_t t = threadIdx.x, first = blockIdx.x * n;
	struct four f = { 0, 0, 0, 0 };

	if (t < n)
		mine[t] = particles[first + t];
	for (uint32_t i = 0; i < 27; i++) {
		uint32_t box = around[blockIdx.x * 27 + i];

		if (box == ~0u)
			break;
		__syncthreads();
		if (t < n) {
			other[t] = particles[box * n + t];
			charge[t] = charges[box * n + t];
		}
		__syncthreads();
		if (t < n)
			for (uint32_t k = 0; k < n; k++)
				lava_act(&f, &mine[t], &other[k], charge[k]);
	}
	if (t < n)
		forces[first + t] = f;
}

#else

enum { BOXES, PARTICLES };

struct lavamd {
	struct four *particles, *forces;
	double *charges;
	uint32_t *around;
};

static uint64_t boxes(const struct workload *w)
{
	return w->option[BOXES] * w->option[BOXES] * w->option[BOXES];
}

/* Coordinates from 0.1 to 1, v as if a particle's were half their squares' sum: so r2 >= 0. */
static void make(struct workload *w, struct four *particles, double *charges)
{
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < boxes(w) * w->option[PARTICLES]; i++) {
		double c[4];

		for (unsigned int k = 0; k < 4; k++)
			c[k] = (double)(1 + rng_below(&rng, 10)) / 10;
		particles[i] = (struct four){ (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) / 2,
					      c[0], c[1], c[2] };
		charges[i] = c[3];
	}
}

static void make_around(const struct workload *w, uint32_t *around)
{
	int edge = (int)w->option[BOXES];

	for (int box = 0; box < edge * edge * edge; box++) {
		int x = box % edge, y = box / edge % edge, z = box / edge / edge, n = 0;
		uint32_t *to = around + box * 27;

		to[n++] = (uint32_t)box;
		for (int d = 0; d < 27; d++) {
			int nx = x + d % 3 - 1, ny = y + d / 3 % 3 - 1, nz = z + d / 9 - 1;

			if (d != 13 && nx >= 0 && ny >= 0 && nz >= 0 && nx < edge && ny < edge &&
			    nz < edge)
				to[n++] = (uint32_t)((nz * edge + ny) * edge + nx);
		}
		while (n < 27)
			to[n++] = ~0u;
	}
}

static int lavamd_setup(struct workload *w)
{
	struct lavamd *l = w->state;
	uint64_t n = boxes(w) * w->option[PARTICLES];
	int ret;

	ret = workload_alloc(w, (void **)&l->particles, n * sizeof(*l->particles), WORKLOAD_IN,
			     "particles");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->charges, n * sizeof(*l->charges), WORKLOAD_IN,
				     "charges");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->around, boxes(w) * 27 * sizeof(*l->around),
				     WORKLOAD_IN, "boxes around");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->forces, n * sizeof(*l->forces), WORKLOAD_OUT,
				     "forces");
	if (ret)
		return ret;
	make(w, l->particles, l->charges);
	make_around(w, l->around);
	return 0;
}

static int lavamd_run(struct workload *w)
{
	struct lavamd *l = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "lavamd", (uint32_t)boxes(w), LAVA_BLOCK,
			      gpuemu_arg_ptr(l->particles), gpuemu_arg_ptr(l->charges),
			      gpuemu_arg_ptr(l->around), gpuemu_arg_ptr(l->forces),
			      gpuemu_arg_u32((uint32_t)w->option[PARTICLES]));
	return ret ? ret : workload_synchronize(w);
}

static int check_inputs(struct workload *w, struct four *particles, double *charges)
{
	struct lavamd *l = w->state;
	uint64_t n = boxes(w) * w->option[PARTICLES];
	uint32_t *around = check_memory(w, boxes(w) * 27, sizeof(*around));
	int ret;

	if (!around)
		return -ENOMEM;
	make(w, particles, charges);
	make_around(w, around);
	ret = check_words(w, "boxes around", 0, l->around, around, boxes(w) * 27);
	free(around);
	if (ret)
		return ret;
	ret = check_words(w, "words of particles", 0, (uint32_t *)l->particles,
			  (uint32_t *)particles, n * 8);
	return ret ? ret : check_words(w, "words of charges", 0, (uint32_t *)l->charges,
				       (uint32_t *)charges, n * 2);
}

/* Adds the forces of one box on another; each particle's boxes come in the kernel's order. */
static void act_boxes(struct four *f, const struct four *a, const struct four *b, const double *q,
		      uint64_t n)
{
	for (uint64_t k = 0; k < n; k++)
		for (uint64_t i = 0; i < n; i++)
			lava_act(&f[i], &a[i], &b[k], q[k]);
}

static int lavamd_verify(struct workload *w)
{
	struct lavamd *l = w->state;
	uint64_t per = w->option[PARTICLES], n = boxes(w) * per;
	struct four *particles = check_memory(w, 2 * n, sizeof(*particles)), *want = particles + n;
	double *charges = check_memory(w, n, sizeof(*charges));
	int ret = particles && charges ? 0 : -ENOMEM;

	if (!ret)
		ret = check_inputs(w, particles, charges);
	for (double x = -30; x <= 0 && !ret; x += 0.7)
		if (fabs(lava_exp(x) / exp(x) - 1) > 1e-7)
			ret = err_set(&w->err, -EBADMSG, "e to %g is %g, not %g", x, exp(x),
				      lava_exp(x));
	for (uint64_t box = 0; box < boxes(w) && !ret; box++)
		for (unsigned int i = 0; i < 27 && l->around[box * 27 + i] != ~0u; i++) {
			uint64_t other = l->around[box * 27 + i] * per;

			act_boxes(want + box * per, particles + box * per, particles + other,
				  charges + other, per);
		}
	if (!ret)
		ret = check_words(w, "words of forces", 0, (uint32_t *)l->forces, (uint32_t *)want,
				  n * 8);
	free(particles);
	free(charges);
	return ret;
}

const struct workload_ops workload_lavamd = {
	.name = "lavamd",
	.help = "forces between particles in boxes (lavaMD of Rodinia)",
	.exercises = "double precision, shared memory that all threads read at one place, reuse",
	.options = {
		[BOXES] = { "boxes", 6, 1, 64, "of a side of the cube; 7.4 KB each box",
			    .quick = 3, .tiny = 2 },
		[PARTICLES] = { "particles", LAVA_BOX, 1, LAVA_BOX, "of a box", .tiny = 57 },
	},
	.state_bytes = sizeof(struct lavamd),
	.setup = lavamd_setup,
	.run = lavamd_run,
	.verify = lavamd_verify,
};
#endif
