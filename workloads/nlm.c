// SPDX-License-Identifier: GPL-2.0
/*
 * nlm: takes the noise out of an image by non-local means (Buades, Coll and Morel, CVPR 2005;
 * "imageDenoising" of the CUDA SDK): each pixel becomes a mean of those around it, and counts
 * how like the pixels around these are. Long arithmetic on loads that L1 catches.
 */
#define NLM_EDGE	8u	/* threads of a CTA's edges, as the SDK has them */

#include "both.h"

struct rgb {
	float r, g, b;
};

BOTH struct rgb rgb_of(uint32_t pixel)
{
	return (struct rgb){ (float)(pixel & 0xff) / 255, (float)(pixel >> 8 & 0xff) / 255,
			     (float)(pixel >> 16 & 0xff) / 255 };
}

BOTH float distance(struct rgb a, struct rgb b)
{
	float x = a.r - b.r, y = a.g - b.g, z = a.b - b.b;

	return fmaf(x, x, fmaf(y, y, z * z));
}

/* How much a pixel counts whose surroundings are this far away in colour, dx and dy in place. */
BOTH float weight(float difference, int dx, int dy, float noise)
{
	float place = (float)(dx * dx + dy * dy);
	float all = fmaf(difference, noise, place * 0.02f);

	return both_exp(all < 60 ? -all : -60);
}

BOTH uint32_t byte_of(float x)
{
	return (uint32_t)fmaf(x, 255, 0.5f);
}

#ifdef GPUEMU_DEVICE

INLINE uint32_t at(const uint32_t *image, int width, int height, int x, int y)
{
	return image[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)];
}

/* window and block: pixels each way. */
KERNEL nlm(const uint32_t *image, uint32_t *out, int width, int height, int window, int block,
	   float noise)
{
	int x = (int)(blockIdx.x * NLM_EDGE + threadIdx.x);
	int y = (int)(blockIdx.y * NLM_EDGE + threadIdx.y);
	struct rgb sum = { 0, 0, 0 };
	float all = 0;

	if (x >= width || y >= height)
		return;
	for (int i = -window; i <= window; i++) {
		for (int j = -window; j <= window; j++) {
			struct rgb here = rgb_of(at(image, width, height, x + j, y + i));
			float d = 0, share;

			for (int n = -block; n <= block; n++)
				for (int m = -block; m <= block; m++)
					d += distance(rgb_of(at(image, width, height, x + j + m,
								y + i + n)),
						      rgb_of(at(image, width, height, x + m,
								y + n)));
			share = weight(d, j, i, noise);
			all += share;
			sum.r = fmaf(share, here.r, sum.r);
			sum.g = fmaf(share, here.g, sum.g);
			sum.b = fmaf(share, here.b, sum.b);
		}
	}
	out[y * width + x] = byte_of(sum.r / all) | byte_of(sum.g / all) << 8 |
			     byte_of(sum.b / all) << 16;
}

#else

enum { WIDTH, HEIGHT, WINDOW, BLOCK };

#define NLM_NOISE	8.0f

struct nlm {
	uint32_t *image, *out;
};

/* Flat squares of colour with noise. */
static void make(struct workload *w, uint32_t *image)
{
	uint64_t width = w->option[WIDTH];
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < width * w->option[HEIGHT]; i++) {
		uint32_t square = (uint32_t)(i % width / 16 * 7 + i / width / 16 * 5);
		uint32_t r = 20 + square * 11 % 180 + (uint32_t)rng_below(&rng, 50);
		uint32_t g = 20 + square * 23 % 180 + (uint32_t)rng_below(&rng, 50);
		uint32_t b = 20 + square * 37 % 180 + (uint32_t)rng_below(&rng, 50);

		image[i] = r | g << 8 | b << 16;
	}
}

static int nlm_setup(struct workload *w)
{
	struct nlm *n = w->state;
	uint64_t bytes = w->option[WIDTH] * w->option[HEIGHT] * sizeof(uint32_t);
	int ret;

	ret = workload_alloc(w, (void **)&n->image, bytes, WORKLOAD_IN, "image");
	if (!ret)
		ret = workload_alloc(w, (void **)&n->out, bytes, WORKLOAD_OUT, "out");
	if (!ret)
		make(w, n->image);
	return ret;
}

static int nlm_run(struct workload *w)
{
	struct nlm *n = w->state;
	uint32_t width = (uint32_t)w->option[WIDTH], height = (uint32_t)w->option[HEIGHT];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "nlm", ((struct gpuemu_dim3){ DIV_ROUND_UP(width, NLM_EDGE),
							     DIV_ROUND_UP(height, NLM_EDGE), 1 }),
				   ((struct gpuemu_dim3){ NLM_EDGE, NLM_EDGE, 1 }),
				   gpuemu_arg_ptr(n->image), gpuemu_arg_ptr(n->out),
				   gpuemu_arg_s32((int32_t)width), gpuemu_arg_s32((int32_t)height),
				   gpuemu_arg_s32((int32_t)w->option[WINDOW] / 2),
				   gpuemu_arg_s32((int32_t)w->option[BLOCK] / 2),
				   gpuemu_arg_f32(NLM_NOISE));
	return ret ? ret : workload_synchronize(w);
}

struct picture {
	const uint32_t *pixels;
	int width, height;
};

static struct rgb pixel(const struct picture *p, int x, int y)
{
	x = MIN(MAX(x, 0), p->width - 1);
	y = MIN(MAX(y, 0), p->height - 1);
	return rgb_of(p->pixels[y * p->width + x]);
}

/* How far what is around one place is from what is around another. */
static float difference(const struct picture *p, int ax, int ay, int bx, int by, int block)
{
	int edge = 2 * block + 1;
	float d = 0;

	for (int k = 0; k < edge * edge; k++) {
		int m = k % edge - block, n = k / edge - block;

		d += distance(pixel(p, ax + m, ay + n), pixel(p, bx + m, by + n));
	}
	return d;
}

static uint32_t mean(const struct workload *w, const struct picture *p, int x, int y)
{
	int window = (int)w->option[WINDOW] / 2, edge = 2 * window + 1;
	float sum[3] = { 0 }, all = 0;

	for (int k = 0; k < edge * edge; k++) {
		int j = k % edge - window, i = k / edge - window;
		struct rgb c = pixel(p, x + j, y + i);
		float d = difference(p, x + j, y + i, x, y, (int)w->option[BLOCK] / 2);
		float share = weight(d, j, i, NLM_NOISE);

		all += share;
		sum[0] = fmaf(share, c.r, sum[0]);
		sum[1] = fmaf(share, c.g, sum[1]);
		sum[2] = fmaf(share, c.b, sum[2]);
	}
	return byte_of(sum[0] / all) | byte_of(sum[1] / all) << 8 | byte_of(sum[2] / all) << 16;
}

static int nlm_verify(struct workload *w)
{
	struct nlm *n = w->state;
	uint64_t all = w->option[WIDTH] * w->option[HEIGHT];
	uint32_t *image = check_memory(w, 2 * all, sizeof(*image)), *want = image + all;
	struct picture p = { image, (int)w->option[WIDTH], (int)w->option[HEIGHT] };
	int ret;

	if (!image)
		return -ENOMEM;
	make(w, image);
	ret = check_words(w, "image", 0, n->image, image, all);
	for (uint64_t i = 0; i < all && !ret; i++)
		want[i] = mean(w, &p, (int)i % p.width, (int)i / p.width);
	if (!ret)
		ret = check_words(w, "out", 0, n->out, want, all);
	free(image);
	return ret;
}

const struct workload_ops workload_nlm = {
	.name = "nlm",
	.help = "image denoising by non-local means (CUDA SDK's imageDenoising)",
	.exercises = "arithmetic and exponentials, loads that L1D catches, small CTAs",
	.options = {
		[WIDTH] = { "width", 128, 1, 1u << 14, "of the image; 8 bytes a pixel",
			    .quick = 64, .tiny = 67 },
		[HEIGHT] = { "height", 128, 1, 1u << 14, "of the image", .quick = 64, .tiny = 62 },
		[WINDOW] = { "window", 7, 1, 31, "pixels of the edge of what is looked at", .tiny = 3 },
		[BLOCK] = { "block", 7, 1, 31, "pixels of the edge of what is compared",
			    .quick = 5, .tiny = 1 },
	},
	.state_bytes = sizeof(struct nlm),
	.setup = nlm_setup,
	.run = nlm_run,
	.verify = nlm_verify,
};
#endif
