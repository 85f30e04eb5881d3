// SPDX-License-Identifier: GPL-2.0
/*
 * dxtc: compresses an image to DXT1, 8 bytes for 4 x 4 pixels (Brown's cluster fit; Castano, "High
 * quality DXT compression using CUDA", NVIDIA 2007): a CTA a block of pixels. Sixteen threads
 * order the colours along their longest axis; all 64 try the ways to cut that order in four.
 */
#define DXTC_THREADS	64u
#define DXTC_PIXELS	16u

#include "both.h"

struct colour {
	float r, g, b;
};

/* End points as 16 bits each, and how far the colours are from what they give. */
struct fit {
	float error;
	uint32_t start, end;
};

BOTH float colour_dot(struct colour a, struct colour b)
{
	return fmaf(a.r, b.r, fmaf(a.g, b.g, a.b * b.b));
}

/* 0 to 1, to 5 or 6 bits, and back. */
BOTH uint32_t quantize(float x, float most)
{
	float y = x > 0 ? x : 0, z = y < 1 ? y : 1;

	return (uint32_t)fmaf(z, most, 0.5f);
}

BOTH uint32_t pack(struct colour c)
{
	return quantize(c.r, 31) << 11 | quantize(c.g, 63) << 5 | quantize(c.b, 31);
}

BOTH struct colour unpack(uint32_t c)
{
	return (struct colour){ (float)(c >> 11) / 31, (float)(c >> 5 & 63) / 63,
				(float)(c & 31) / 31 };
}

/*
 * The best end points where pixel i is a - w[i] of the way from start to end, w from two bits of
 * `cut`: least squares, then 16 bits each.
 */
BOTH struct fit try_cut(const struct colour *ordered, uint32_t cut)
{
	float aa = 0, bb = 0, ab = 0, scale, error = 0;
	struct colour ax = { 0, 0, 0 }, bx = { 0, 0, 0 }, start, end;
	struct fit f;

	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		float b = (float)(cut >> 2 * i & 3) / 3, a = 1 - b;

		aa = fmaf(a, a, aa);
		bb = fmaf(b, b, bb);
		ab = fmaf(a, b, ab);
		ax.r = fmaf(a, ordered[i].r, ax.r);
		ax.g = fmaf(a, ordered[i].g, ax.g);
		ax.b = fmaf(a, ordered[i].b, ax.b);
		bx.r = fmaf(b, ordered[i].r, bx.r);
		bx.g = fmaf(b, ordered[i].g, bx.g);
		bx.b = fmaf(b, ordered[i].b, bx.b);
	}
	scale = fmaf(aa, bb, -(ab * ab));
	scale = scale > 1e-6f ? 1 / scale : 0;
	start.r = fmaf(ax.r, bb, -(bx.r * ab)) * scale;
	start.g = fmaf(ax.g, bb, -(bx.g * ab)) * scale;
	start.b = fmaf(ax.b, bb, -(bx.b * ab)) * scale;
	end.r = fmaf(bx.r, aa, -(ax.r * ab)) * scale;
	end.g = fmaf(bx.g, aa, -(ax.g * ab)) * scale;
	end.b = fmaf(bx.b, aa, -(ax.b * ab)) * scale;
	f.start = pack(start);
	f.end = pack(end);
	start = unpack(f.start);
	end = unpack(f.end);
	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		float b = (float)(cut >> 2 * i & 3) / 3;
		struct colour d = { fmaf(b, end.r - start.r, start.r) - ordered[i].r,
				    fmaf(b, end.g - start.g, start.g) - ordered[i].g,
				    fmaf(b, end.b - start.b, start.b) - ordered[i].b };

		error += colour_dot(d, d);
	}
	f.error = error;
	return f;
}

/* The longest axis of the colours around their mean: eight steps of the power method. */
BOTH struct colour longest_axis(const struct colour *c)
{
	struct colour mean = { 0, 0, 0 }, axis = { 1, 1, 1 };
	float rr = 0, rg = 0, rb = 0, gg = 0, gb = 0, bb = 0;

	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		mean.r += c[i].r;
		mean.g += c[i].g;
		mean.b += c[i].b;
	}
	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		float r = fmaf(mean.r, -0.0625f, c[i].r), g = fmaf(mean.g, -0.0625f, c[i].g);
		float b = fmaf(mean.b, -0.0625f, c[i].b);

		rr = fmaf(r, r, rr);
		rg = fmaf(r, g, rg);
		rb = fmaf(r, b, rb);
		gg = fmaf(g, g, gg);
		gb = fmaf(g, b, gb);
		bb = fmaf(b, b, bb);
	}
	for (uint32_t i = 0; i < 8; i++) {
		struct colour n = { fmaf(rr, axis.r, fmaf(rg, axis.g, rb * axis.b)),
				    fmaf(rg, axis.r, fmaf(gg, axis.g, gb * axis.b)),
				    fmaf(rb, axis.r, fmaf(gb, axis.g, bb * axis.b)) };
		float most = n.r > -n.r ? n.r : -n.r, g = n.g > -n.g ? n.g : -n.g;
		float b = n.b > -n.b ? n.b : -n.b;

		most = most > g ? most : g;
		most = most > b ? most : b;
		if (most < 1e-9f)
			break;
		axis = (struct colour){ n.r / most, n.g / most, n.b / most };
	}
	return axis;
}

BOTH struct colour colour_of(uint32_t pixel)
{
	return (struct colour){ (float)(pixel & 0xff) / 255, (float)(pixel >> 8 & 0xff) / 255,
				(float)(pixel >> 16 & 0xff) / 255 };
}

/*
 * The eight bytes: end points, the greater one first, then two bits a pixel. Along the order, a
 * pixel is 0, 1, 2 or 3 thirds of the way; DXT1 calls these 0, 2, 3 and 1.
 */
BOTH uint64_t encode(struct fit f, uint32_t cut, const uint32_t *rank)
{
	uint32_t swap = f.start < f.end, bits = 0, code;

	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		uint32_t third = cut >> 2 * rank[i] & 3;

		third = swap ? 3 - third : third;
		code = third == 0 ? 0 : third == 3 ? 1 : third + 1;
		/* With one colour twice, DXT1 would take three: then all pixels are the first. */
		bits |= (f.start == f.end ? 0 : code) << 2 * i;
	}
	return (uint64_t)bits << 32 | (swap ? f.start : f.end) << 16 | (swap ? f.end : f.start);
}

#ifdef GPUEMU_DEVICE

KERNEL dxtc(const uint32_t *image, uint32_t width, const uint32_t *cuts, uint32_t count,
	    uint64_t *out)
{
	__shared__ struct colour colours[DXTC_PIXELS], ordered[DXTC_PIXELS];
	__shared__ float along[DXTC_PIXELS], errors[DXTC_THREADS];
	__shared__ uint32_t rank[DXTC_PIXELS], which[DXTC_THREADS];
	uint32_t t = threadIdx.x, row = width / 4, x = blockIdx.x % row * 4;
	uint32_t y = blockIdx.x / row * 4;
	struct fit best = { 1e20f, 0, 0 };
	uint32_t found = 0;

	if (t < DXTC_PIXELS)
		colours[t] = colour_of(image[(y + t / 4) * width + x + t % 4]);
	__syncthreads();
	if (t < DXTC_PIXELS)
		along[t] = colour_dot(colours[t], longest_axis(colours));
	__syncthreads();
	if (t < DXTC_PIXELS) {
		uint32_t r = 0;

		for (uint32_t i = 0; i < DXTC_PIXELS; i++)
			r += along[i] < along[t] || (along[i] == along[t] && i < t);
		rank[t] = r;
		ordered[r] = colours[t];
	}
	__syncthreads();
	for (uint32_t i = t; i < count; i += DXTC_THREADS) {
		struct fit f = try_cut(ordered, cuts[i]);

		if (f.error < best.error) {
			best = f;
			found = i;
		}
	}
	errors[t] = best.error;
	which[t] = found;
	for (uint32_t half = DXTC_THREADS / 2; half; half /= 2) {
		__syncthreads();
		if (t < half && (errors[t + half] < errors[t] ||
				 (errors[t + half] == errors[t] && which[t + half] < which[t]))) {
			errors[t] = errors[t + half];
			which[t] = which[t + half];
		}
	}
	__syncthreads();
	if (t == 0)
		out[blockIdx.x] = encode(try_cut(ordered, cuts[which[0]]), cuts[which[0]], rank);
}

#else

enum { WIDTH, HEIGHT, BLOCKS };

/* The number of ways to cut 16 pixels in order into four parts; a part may be empty. */
#define DXTC_CUTS	969

struct dxtc {
	uint32_t *image, *cuts;
	uint64_t *out;
};

static uint32_t edge(uint64_t pixels)
{
	return (uint32_t)DIV_ROUND_UP(pixels, 4) * 4;
}

/* Two bits a pixel: pixels before i are 0, before j 1, before k 2, the rest 3. */
static void make_cuts(uint32_t *cuts)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i <= DXTC_PIXELS; i++)
		for (unsigned int j = i; j <= DXTC_PIXELS; j++)
			for (unsigned int k = j; k <= DXTC_PIXELS; k++) {
				uint32_t cut = 0;

				for (unsigned int p = 0; p < DXTC_PIXELS; p++)
					cut |= (uint32_t)((p >= i) + (p >= j) + (p >= k)) << 2 * p;
				cuts[n++] = cut;
			}
}

/* Slopes of colour with noise, so that blocks have an axis. */
static void make_image(struct workload *w, uint32_t *image)
{
	uint32_t width = edge(w->option[WIDTH]), height = edge(w->option[HEIGHT]);
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint32_t i = 0; i < width * height; i++) {
		uint32_t x = i % width, y = i / width, noise = (uint32_t)rng_below(&rng, 1 << 15);
		uint32_t r = (x * 5 + (noise & 31)) & 0xff, g = (y * 3 + (noise >> 5 & 31)) & 0xff;

		image[i] = r | g << 8 | (((x + y) * 2 + (noise >> 10)) & 0xff) << 16;
	}
}

static int dxtc_setup(struct workload *w)
{
	struct dxtc *d = w->state;
	uint64_t n = (uint64_t)edge(w->option[WIDTH]) * edge(w->option[HEIGHT]);
	int ret;

	ret = workload_alloc(w, (void **)&d->image, n * sizeof(uint32_t), WORKLOAD_IN, "image");
	if (!ret)
		ret = workload_alloc(w, (void **)&d->cuts, DXTC_CUTS * sizeof(uint32_t),
				     WORKLOAD_IN, "cuts");
	if (!ret)
		ret = workload_alloc(w, (void **)&d->out, n / DXTC_PIXELS * sizeof(uint64_t),
				     WORKLOAD_OUT, "out");
	if (ret)
		return ret;
	make_image(w, d->image);
	make_cuts(d->cuts);
	return 0;
}

/* That are compressed. */
static uint64_t blocks(const struct workload *w)
{
	uint64_t all = (uint64_t)edge(w->option[WIDTH]) * edge(w->option[HEIGHT]) / DXTC_PIXELS;

	return MIN(all, w->option[BLOCKS]);
}

static int dxtc_run(struct workload *w)
{
	struct dxtc *d = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "dxtc", (uint32_t)blocks(w), DXTC_THREADS,
			      gpuemu_arg_ptr(d->image), gpuemu_arg_u32(edge(w->option[WIDTH])),
			      gpuemu_arg_ptr(d->cuts), gpuemu_arg_u32(DXTC_CUTS),
			      gpuemu_arg_ptr(d->out));
	return ret ? ret : workload_synchronize(w);
}

/* The squared distance of the decoded eight bytes from these pixels. */
static float decoded_error(uint64_t block, const struct colour *pixels)
{
	struct colour a = unpack(block & 0xffff), b = unpack(block >> 16 & 0xffff);
	static const float way[4] = { 0, 1, 1.0f / 3, 2.0f / 3 };
	float sum = 0;

	for (unsigned int i = 0; i < DXTC_PIXELS; i++) {
		float t = way[block >> (32 + 2 * i) & 3];
		struct colour d = { fmaf(t, b.r - a.r, a.r) - pixels[i].r,
				    fmaf(t, b.g - a.g, a.g) - pixels[i].g,
				    fmaf(t, b.b - a.b, a.b) - pixels[i].b };

		sum += colour_dot(d, d);
	}
	return sum;
}

/* Cuts one after the other; sorts by insertion. A decoder finds the error that the fit has. */
static int compress(struct workload *w, const struct colour *pixels, const uint32_t *cuts,
		    uint64_t *block)
{
	struct colour axis = longest_axis(pixels), ordered[DXTC_PIXELS];
	uint32_t order[DXTC_PIXELS], rank[DXTC_PIXELS], found = 0;
	float along[DXTC_PIXELS], error;
	struct fit best = { 1e20f, 0, 0 };

	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		uint32_t at = i;

		along[i] = colour_dot(pixels[i], axis);
		for (; at && along[order[at - 1]] > along[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (uint32_t i = 0; i < DXTC_PIXELS; i++) {
		ordered[i] = pixels[order[i]];
		rank[order[i]] = i;
	}
	for (uint32_t i = 0; i < DXTC_CUTS; i++) {
		struct fit f = try_cut(ordered, cuts[i]);

		if (f.error < best.error) {
			best = f;
			found = i;
		}
	}
	*block = encode(best, cuts[found], rank);
	error = decoded_error(*block, pixels);
	if (fabsf(error - best.error) > 1e-4f)
		return err_set(&w->err, -EBADMSG, "a decoder is %g away from the pixels, the fit %g",
			       (double)error, (double)best.error);
	return 0;
}

static int dxtc_verify(struct workload *w)
{
	struct dxtc *d = w->state;
	uint32_t width = edge(w->option[WIDTH]), height = edge(w->option[HEIGHT]);
	uint64_t n = (uint64_t)width * height, all = n / DXTC_PIXELS;
	uint32_t *image = check_memory(w, n + DXTC_CUTS, sizeof(*image)), *cuts = image + n;
	uint64_t *want = check_memory(w, all, sizeof(*want));
	int ret = image && want ? 0 : -ENOMEM;

	if (!ret) {
		make_image(w, image);
		make_cuts(cuts);
		ret = check_words(w, "image", 0, d->image, image, n);
	}
	if (!ret)
		ret = check_words(w, "cuts", 0, d->cuts, cuts, DXTC_CUTS);
	for (uint64_t b = 0; b < blocks(w) && !ret; b++) {
		uint64_t x = b % (width / 4) * 4, y = b / (width / 4) * 4;
		struct colour pixels[DXTC_PIXELS];

		for (unsigned int i = 0; i < DXTC_PIXELS; i++)
			pixels[i] = colour_of(image[(y + i / 4) * width + x + i % 4]);
		ret = compress(w, pixels, cuts, &want[b]);
	}
	if (!ret)
		ret = check_words(w, "words of out", 0, (uint32_t *)d->out, (uint32_t *)want,
				  2 * all);
	free(image);
	free(want);
	return ret;
}

const struct workload_ops workload_dxtc = {
	.name = "dxtc",
	.help = "compresses an image to DXT1 (CUDA SDK)",
	.exercises = "arithmetic in long unrolled code, small CTAs, hardly any memory",
	.options = {
		[WIDTH] = { "width", 256, 1, 1u << 14,
			    "of the image, rounded up to 4; 4.5 bytes a pixel", .quick = 128, .tiny = 102 },
		[HEIGHT] = { "height", 128, 1, 1u << 14, "of the image, rounded up to 4",
			     .quick = 128, .tiny = 74 },
		[BLOCKS] = { "blocks", 1 << 24, 1, 1 << 24, "of 4 x 4 pixels at most, a CTA each",
			     .quick = 200, .tiny = 4 },
	},
	.state_bytes = sizeof(struct dxtc),
	.setup = dxtc_setup,
	.run = dxtc_run,
	.verify = dxtc_verify,
};
#endif
