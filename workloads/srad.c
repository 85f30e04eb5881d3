// SPDX-License-Identifier: GPL-2.0
/*
 * srad: speckle reducing anisotropic diffusion of an ultrasound image (Yu and
 * Acton, IEEE Trans. Image Processing 11, 2002; in Rodinia, Che et al., IISWC
 * 2009). Each iteration reduces the image to its mean and variance, then one
 * kernel makes each pixel's diffusion coefficient, and a second lets it diffuse.
 */
#define SRAD_TILE	16	/* pixels of a CTA's edge */
#define SRAD_BLOCK	256	/* threads of a CTA that reduces; a power of two */
#define SRAD_CTAS	60	/* that reduce the image */
#define SRAD_QUIET	1e-6f	/* least noise: an even image has none to divide by */

#ifdef GPUEMU_DEVICE
#include "device.h"

/* Adds up both values over the CTA; the sums are in [0], for every thread. */
static __device__ inline void tree_sums(float *sum, float *square, float a, float b)
{
	uint32_t t = threadIdx.x;

	sum[t] = a;
	square[t] = b;
	__syncthreads();
	for (uint32_t half = SRAD_BLOCK / 2; half > 0; half /= 2) {
		if (t < half) {
			sum[t] += sum[t + half];
			square[t] += square[t + half];
		}
		__syncthreads();
	}
}

/* partial: each CTA's sum, then each CTA's sum of squares. */
KERNEL srad_sums(const float *image, float *partial, uint32_t pixels)
{
	__shared__ float sum[SRAD_BLOCK], square[SRAD_BLOCK];
	float a = 0, b = 0;

	for (uint32_t i = blockIdx.x * SRAD_BLOCK + threadIdx.x; i < pixels;
	     i += SRAD_CTAS * SRAD_BLOCK) {
		a += image[i];
		b = fmaf(image[i], image[i], b);
	}
	tree_sums(sum, square, a, b);
	if (threadIdx.x == 0) {
		partial[blockIdx.x] = sum[0];
		partial[SRAD_CTAS + blockIdx.x] = square[0];
	}
}

/* noise: the square of the speckle's coefficient of variation, q0 in the paper. */
KERNEL srad_noise(const float *partial, float *noise, float pixels)
{
	__shared__ float sum[SRAD_BLOCK], square[SRAD_BLOCK];
	uint32_t t = threadIdx.x;
	bool has = t < SRAD_CTAS;

	tree_sums(sum, square, has ? partial[t] : 0, has ? partial[SRAD_CTAS + t] : 0);
	if (t == 0) {
		float mean = sum[0] / pixels;
		float q0 = fmaf(-mean, mean, square[0] / pixels) / (mean * mean);

		*noise = q0 > SRAD_QUIET ? q0 : SRAD_QUIET;
	}
}

/* The image's edge is mirrored: what lies beyond equals what is there. */
KERNEL srad_coefficients(const float *image, const float *noise, float *c, float *north,
			 float *south, float *west, float *east, int n)
{
	__shared__ float tile[SRAD_TILE + 2][SRAD_TILE + 2];
	int tx = threadIdx.x, ty = threadIdx.y;
	int x = (int)blockIdx.x * SRAD_TILE + tx, y = (int)blockIdx.y * SRAD_TILE + ty;
	int cx = min(x, n - 1), cy = min(y, n - 1);
	uint64_t at = (uint64_t)y * n + x;
	float q0 = *noise, here, dn, ds, dw, de, g, l, q;

	tile[ty + 1][tx + 1] = image[(uint64_t)cy * n + cx];
	if (ty == 0)
		tile[0][tx + 1] = image[(uint64_t)max(cy - 1, 0) * n + cx];
	if (ty == SRAD_TILE - 1)
		tile[SRAD_TILE + 1][tx + 1] = image[(uint64_t)min(y + 1, n - 1) * n + cx];
	if (tx == 0)
		tile[ty + 1][0] = image[(uint64_t)cy * n + max(cx - 1, 0)];
	if (tx == SRAD_TILE - 1)
		tile[ty + 1][SRAD_TILE + 1] = image[(uint64_t)cy * n + min(x + 1, n - 1)];
	__syncthreads();
	if (x >= n || y >= n)
		return;

	here = tile[ty + 1][tx + 1];
	dn = tile[ty][tx + 1] - here;
	ds = tile[ty + 2][tx + 1] - here;
	dw = tile[ty + 1][tx] - here;
	de = tile[ty + 1][tx + 2] - here;
	/* Squared gradient and Laplacian, normalised; their coefficient of variation. */
	g = fmaf(de, de, fmaf(dw, dw, fmaf(ds, ds, dn * dn))) / (here * here);
	l = (dn + ds + dw + de) / here;
	q = fmaf(0.25f, l, 1);
	q = fmaf(-0.0625f * l, l, 0.5f * g) / (q * q);
	q = 1 / (1 + (q - q0) / fmaf(q0, q0, q0));
	c[at] = q < 0 ? 0 : q > 1 ? 1 : q;
	north[at] = dn;
	south[at] = ds;
	west[at] = dw;
	east[at] = de;
}

KERNEL srad_diffuse(float *image, const float *c, const float *north, const float *south,
		    const float *west, const float *east, int n, float rate)
{
	__shared__ float tile[SRAD_TILE + 1][SRAD_TILE + 1];
	int tx = threadIdx.x, ty = threadIdx.y;
	int x = (int)blockIdx.x * SRAD_TILE + tx, y = (int)blockIdx.y * SRAD_TILE + ty;
	int cx = min(x, n - 1), cy = min(y, n - 1);
	uint64_t at = (uint64_t)y * n + x;
	float here, flow;

	tile[ty][tx] = c[(uint64_t)cy * n + cx];
	if (ty == SRAD_TILE - 1)
		tile[SRAD_TILE][tx] = c[(uint64_t)min(y + 1, n - 1) * n + cx];
	if (tx == SRAD_TILE - 1)
		tile[ty][SRAD_TILE] = c[(uint64_t)cy * n + min(x + 1, n - 1)];
	__syncthreads();
	if (x >= n || y >= n)
		return;

	here = tile[ty][tx];
	flow = fmaf(tile[ty + 1][tx], south[at], here * north[at]);
	flow = fmaf(here, west[at], flow);
	flow = fmaf(tile[ty][tx + 1], east[at], flow);
	image[at] = fmaf(rate, flow, image[at]);
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { N, ITERATIONS };

#define SRAD_RATE	0.125f	/* a quarter of lambda, 0.5 */
#define SRAD_GRADIENTS	4	/* to the north, south, west, east */

struct srad {
	float *image, *c, *gradient[SRAD_GRADIENTS], *partial, *noise;
};

/* Patches of different brightness under multiplicative speckle, never 0. */
static float random_pixel(const struct workload *w, struct rng *rng, uint64_t i)
{
	uint64_t n = w->option[N], patch = (i / n / 32 + i % n / 32) % 3;

	return (float)(1 + patch) * (0.75f + (float)rng_below(rng, 1 << 16) / (1 << 17));
}

static int srad_setup(struct workload *w)
{
	static const char *const names[SRAD_GRADIENTS] = { "north", "south", "west", "east" };
	struct srad *s = w->state;
	uint64_t pixels = w->option[N] * w->option[N], bytes = pixels * sizeof(float);
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&s->image, bytes, WORKLOAD_INOUT, "image");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->c, bytes, WORKLOAD_SCRATCH, "coefficients");
	for (unsigned int i = 0; i < SRAD_GRADIENTS && !ret; i++)
		ret = workload_alloc(w, (void **)&s->gradient[i], bytes, WORKLOAD_SCRATCH,
				     names[i]);
	if (!ret)
		ret = workload_alloc(w, (void **)&s->partial, 2 * SRAD_CTAS * sizeof(float),
				     WORKLOAD_SCRATCH, "partial sums");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->noise, sizeof(float), WORKLOAD_SCRATCH,
				     "noise");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < pixels; i++)
		s->image[i] = random_pixel(w, &rng, i);
	return 0;
}

/* The two kernels over all pixels. */
static int srad_step(struct workload *w)
{
	struct srad *s = w->state;
	uint32_t n = (uint32_t)w->option[N], tiles = DIV_ROUND_UP(n, SRAD_TILE);
	struct gpuemu_dim3 grid = { tiles, tiles, 1 }, block = { SRAD_TILE, SRAD_TILE, 1 };
	struct gpuemu_arg gradients[SRAD_GRADIENTS];
	int ret;

	for (unsigned int i = 0; i < SRAD_GRADIENTS; i++)
		gradients[i] = gpuemu_arg_ptr(s->gradient[i]);
	ret = WORKLOAD_LAUNCH_GRID(w, "srad_coefficients", grid, block,
				   gpuemu_arg_ptr(s->image), gpuemu_arg_ptr(s->noise),
				   gpuemu_arg_ptr(s->c), gradients[0], gradients[1],
				   gradients[2], gradients[3], gpuemu_arg_s32((int32_t)n));
	if (ret)
		return ret;
	return WORKLOAD_LAUNCH_GRID(w, "srad_diffuse", grid, block,
				    gpuemu_arg_ptr(s->image), gpuemu_arg_ptr(s->c),
				    gradients[0], gradients[1], gradients[2], gradients[3],
				    gpuemu_arg_s32((int32_t)n), gpuemu_arg_f32(SRAD_RATE));
}

static int srad_run(struct workload *w)
{
	struct srad *s = w->state;
	uint32_t n = (uint32_t)w->option[N];
	int ret = 0;

	for (uint64_t i = 0; i < w->option[ITERATIONS] && !ret; i++) {
		ret = WORKLOAD_LAUNCH(w, "srad_sums", SRAD_CTAS, SRAD_BLOCK,
				      gpuemu_arg_ptr(s->image), gpuemu_arg_ptr(s->partial),
				      gpuemu_arg_u32(n * n));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "srad_noise", 1, SRAD_BLOCK,
					      gpuemu_arg_ptr(s->partial), gpuemu_arg_ptr(s->noise),
					      gpuemu_arg_f32((float)n * (float)n));
		if (!ret)
			ret = srad_step(w);
	}
	return ret ? ret : workload_synchronize(w);
}

/*
 * The CPU's way: whole image after whole image, no tiles. Each operation is IEEE single and
 * no product is added but by fmaf(), so the GPU's bits are the CPU's; the sums, too, are
 * taken in the order of the GPU's trees.
 */
struct srad_reference {
	float *image, *c, *gradient[SRAD_GRADIENTS], *thread;
	float partial[2 * SRAD_CTAS], noise;
};

static float halves(float *v, uint64_t n)
{
	for (n /= 2; n > 0; n /= 2)
		for (uint64_t i = 0; i < n; i++)
			v[i] += v[i + n];
	return v[0];
}

static void measure(struct srad_reference *r, uint64_t pixels)
{
	uint64_t threads = SRAD_CTAS * SRAD_BLOCK;
	float last[2 * SRAD_BLOCK] = { 0 }, mean, squares;

	for (uint64_t i = 0; i < 2 * threads; i++)
		r->thread[i] = 0;
	for (uint64_t i = 0; i < pixels; i++) {
		float *a = &r->thread[i % threads], *b = a + threads;

		*a += r->image[i];
		*b = fmaf(r->image[i], r->image[i], *b);
	}
	for (uint64_t i = 0; i < 2 * SRAD_CTAS; i++) {
		r->partial[i] = halves(r->thread + i * SRAD_BLOCK, SRAD_BLOCK);
		last[i / SRAD_CTAS * SRAD_BLOCK + i % SRAD_CTAS] = r->partial[i];
	}
	mean = halves(last, SRAD_BLOCK) / (float)pixels;
	squares = halves(last + SRAD_BLOCK, SRAD_BLOCK) / (float)pixels;
	r->noise = fmaf(-mean, mean, squares) / (mean * mean);
	r->noise = MAX(r->noise, SRAD_QUIET);
}

static void coefficient(struct srad_reference *r, uint64_t n, uint64_t y, uint64_t x)
{
	uint64_t at = y * n + x;
	const float *j = r->image;
	float here = j[at];
	float dn = (y ? j[at - n] : here) - here;
	float ds = (y < n - 1 ? j[at + n] : here) - here;
	float dw = (x ? j[at - 1] : here) - here;
	float de = (x < n - 1 ? j[at + 1] : here) - here;
	float g = fmaf(de, de, fmaf(dw, dw, fmaf(ds, ds, dn * dn))) / (here * here);
	float l = (dn + ds + dw + de) / here, q = fmaf(0.25f, l, 1);

	q = fmaf(-0.0625f * l, l, 0.5f * g) / (q * q);
	q = 1 / (1 + (q - r->noise) / fmaf(r->noise, r->noise, r->noise));
	r->c[at] = MIN(MAX(q, 0), 1);
	r->gradient[0][at] = dn;
	r->gradient[1][at] = ds;
	r->gradient[2][at] = dw;
	r->gradient[3][at] = de;
}

static void diffuse(struct srad_reference *r, uint64_t n, uint64_t y, uint64_t x)
{
	uint64_t at = y * n + x;
	float c = r->c[at], flow = c * r->gradient[0][at];

	flow = fmaf(y < n - 1 ? r->c[at + n] : c, r->gradient[1][at], flow);
	flow = fmaf(c, r->gradient[2][at], flow);
	flow = fmaf(x < n - 1 ? r->c[at + 1] : c, r->gradient[3][at], flow);
	r->image[at] = fmaf(SRAD_RATE, flow, r->image[at]);
}

static int compare(struct workload *w, const struct srad_reference *r)
{
	struct srad *s = w->state;
	uint64_t pixels = w->option[N] * w->option[N];
	int ret;

	ret = check_floats(w, "partial", 0, s->partial, r->partial, 2 * SRAD_CTAS);
	if (!ret)
		ret = check_floats(w, "noise", 0, s->noise, &r->noise, 1);
	for (unsigned int i = 0; i < SRAD_GRADIENTS && !ret; i++)
		ret = check_floats(w, "gradient", i * pixels, s->gradient[i], r->gradient[i],
				   pixels);
	if (!ret)
		ret = check_floats(w, "coefficient", 0, s->c, r->c, pixels);
	return ret ? ret : check_floats(w, "image", 0, s->image, r->image, pixels);
}

static int srad_verify(struct workload *w)
{
	uint64_t n = w->option[N], pixels = n * n;
	float *m = check_memory(w, (2 + SRAD_GRADIENTS) * pixels + 2 * SRAD_CTAS * SRAD_BLOCK,
				sizeof(float));
	struct srad_reference r = { .image = m, .c = m + pixels };
	struct rng rng;
	int ret;

	if (!m)
		return -ENOMEM;
	for (unsigned int i = 0; i < SRAD_GRADIENTS; i++)
		r.gradient[i] = m + (2 + i) * pixels;
	r.thread = m + (2 + SRAD_GRADIENTS) * pixels;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < pixels; i++)
		r.image[i] = random_pixel(w, &rng, i);
	for (uint64_t iteration = 0; iteration < w->option[ITERATIONS]; iteration++) {
		measure(&r, pixels);
		for (uint64_t i = 0; i < pixels; i++)
			coefficient(&r, n, i / n, i % n);
		for (uint64_t i = 0; i < pixels; i++)
			diffuse(&r, n, i / n, i % n);
	}
	ret = compare(w, &r);
	free(m);
	return ret;
}

const struct workload_ops workload_srad = {
	.name = "srad",
	.help = "speckle reducing anisotropic diffusion of an image (Rodinia)",
	.exercises = "reductions, shared-memory tiles, divisions, many arrays at once",
	.options = {
		[N] = { "n", 1024, 1, 1u << 15, "pixels of the image's edge; 24 bytes a pixel",
			.quick = 400, .tiny = 75 },
		[ITERATIONS] = { "iterations", 2, 1, 1u << 20, "of the diffusion" },
	},
	.state_bytes = sizeof(struct srad),
	.setup = srad_setup,
	.run = srad_run,
	.verify = srad_verify,
};
#endif
