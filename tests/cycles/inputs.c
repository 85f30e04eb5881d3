// SPDX-License-Identifier: GPL-2.0
/*
 * What the reference's kernels work on and what they must leave: inputs by the
 * reference's hash (reference/README.md), results from plain C.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

#define GATHER_TABLE	(1u << 18)

static uint32_t hash(uint32_t i, uint32_t s)
{
	uint32_t x = i * 2654435761u + s * 0x9E3779B9u;

	x ^= x >> 15;
	x *= 0x2C1B3C6Du;
	x ^= x >> 12;
	return x;
}

static float between(uint32_t i, uint32_t s, float low, float high)
{
	float unit = (hash(i, s) >> 8) * 0x1p-24f, scaled = (high - low) * unit;

	return low + scaled;
}

static void floats(float *memory, uint32_t n, uint32_t s, float low, float high)
{
	for (uint32_t i = 0; i < n; i++)
		memory[i] = between(i, s, low, high);
}

static void masked(uint32_t *memory, uint32_t n, uint32_t s, uint32_t mask)
{
	for (uint32_t i = 0; i < n; i++)
		memory[i] = hash(i, s) & mask;
}

/* --- what is in a buffer at the start ---------------------------------------------- */
#define FILL(kernel, buffer) \
	static void fill_##kernel##_##buffer(const struct run *run __attribute__((unused)),	\
					     void *memory)

FILL(vecadd, a) { floats(memory, run->n, 1, 0, 1); }
FILL(vecadd, b) { floats(memory, run->n, 2, 0, 1); }
FILL(sfu, in) { floats(memory, run->n, 1, 0.25f, 2); }
FILL(sgemm16, A) { floats(memory, run->n * run->n, 1, -1, 1); }
FILL(sgemm16, B) { floats(memory, run->n * run->n, 2, -1, 1); }
FILL(scan, in) { masked(memory, run->n, 1, 1023); }
FILL(transpose_tiled, in) { floats(memory, run->n * run->p, 1, 0, 1); }
FILL(histo_shared, in) { masked(memory, run->n, 1, 255); }
FILL(histo_shared, bins) { memset(memory, 0, 256 * 4); }
FILL(gather, idx) { masked(memory, run->n * run->p, 2, GATHER_TABLE - 1); }
FILL(gather, tab) { floats(memory, GATHER_TABLE, 1, 0, 1); }
FILL(chase, next)
{
	uint32_t *next = memory;

	for (uint32_t i = 0; i < run->n; i++)
		next[32 * i] = 32 * ((i + 1) % run->n);
}

static const struct {
	const char *kernel, *buffer;
	void (*fill)(const struct run *run, void *memory);
} inputs[] = {
#define INPUT(kernel, buffer) { #kernel, #buffer, fill_##kernel##_##buffer }
	INPUT(vecadd, a), INPUT(vecadd, b), INPUT(sfu, in), INPUT(sgemm16, A), INPUT(sgemm16, B),
	INPUT(scan, in), INPUT(transpose_tiled, in), INPUT(histo_shared, in),
	INPUT(histo_shared, bins),
	INPUT(gather, idx), INPUT(gather, tab), INPUT(chase, next),
};

bool input_uploaded(const char *kernel, const char *buffer)
{
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (!strcmp(inputs[i].kernel, kernel) && !strcmp(inputs[i].buffer, buffer))
			return true;
	}
	return false;
}

void input_fill(const struct run *run, unsigned int buffer, void *memory)
{
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (!strcmp(inputs[i].kernel, run->kernel) &&
		    !strcmp(inputs[i].buffer, run->buffer[buffer].name))
			inputs[i].fill(run, memory);
	}
}

/* --- what has to be there at the end -------------------------------------------------- */
struct verdict {
	char *why;
	size_t bytes;
	bool ok;
};

static void expect(struct verdict *v, uint32_t i, double got, double want, double tolerance)
{
	if (!v->ok || fabs(got - want) <= tolerance * fmax(1, fabs(want)))
		return;
	v->ok = false;
	snprintf(v->why, v->bytes, "element %u is %.9g, not %.9g", i, got, want);
}

#define JUDGE(kernel) \
	static void judge_##kernel(struct verdict *v, void *const *m,			\
				   uint32_t n __attribute__((unused)),			\
				   uint32_t p __attribute__((unused)))

JUDGE(vecadd)
{
	const float *a = m[0], *b = m[1], *c = m[2];

	for (uint32_t i = 0; i < n; i++)
		expect(v, i, c[i], a[i] + b[i], 0);
}

JUDGE(fmachain)
{
	const float *out = m[0];

	for (uint32_t i = 0; i < n; i++) {
		float c[4];

		for (int j = 0; j < 4; j++)
			c[j] = (float)i + j;
		for (uint32_t k = 0; k < p; k++) {
			for (int j = 0; j < 4; j++)
				c[j] = fmaf(c[j], 0.5f, 1.0f);
		}
		expect(v, i, out[i], (c[0] + c[1]) + (c[2] + c[3]), 1e-5);
	}
}

JUDGE(fmadep)
{
	const float *out = m[0];

	for (uint32_t i = 0; i < n; i++) {
		float c = (float)i;

		for (uint32_t k = 0; k < p; k++)
			c = fmaf(c, 0.5f, 1.0f);
		expect(v, i, out[i], c, 1e-5);
	}
}

JUDGE(sfu)
{
	const float *in = m[0], *out = m[1];

	for (uint32_t i = 0; i < n; i++) {
		double x = in[i], sum = 0;

		for (uint32_t k = 0; k < p; k++) {
			double e = exp2(-x);

			sum += e / sqrt(x + 1) + sin(x) * log2(x + 2);
			x = x * 0.5 + e;
		}
		expect(v, i, out[i], sum, 1e-4);
	}
}

JUDGE(sgemm16)
{
	const float *a = m[0], *b = m[1], *c = m[2];

	for (uint32_t y = 0; y < n; y++) {
		for (uint32_t x = 0; x < n; x++) {
			double sum = 0;

			for (uint32_t k = 0; k < n; k++)
				sum += (double)a[y * n + k] * b[k * n + x];
			expect(v, y * n + x, c[y * n + x], sum, 1e-4);
		}
	}
}

JUDGE(scan)
{
	const int32_t *in = m[0], *out = m[1];
	int32_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum = in[i] + (i % 256 ? sum : 0);
		expect(v, i, out[i], sum, 0);
	}
}

JUDGE(transpose_tiled)
{
	const float *in = m[0], *out = m[1];

	for (uint32_t y = 0; y < p; y++) {
		for (uint32_t x = 0; x < n; x++)
			expect(v, x * p + y, out[x * p + y], in[y * n + x], 0);
	}
}

JUDGE(histo_shared)
{
	const uint32_t *in = m[0], *bins = m[1];
	uint32_t count[256] = { 0 };

	for (uint32_t i = 0; i < n; i++)
		count[in[i]]++;
	for (uint32_t i = 0; i < 256; i++)
		expect(v, i, bins[i], count[i], 0);
}

JUDGE(gather)
{
	const uint32_t *idx = m[0];
	const float *tab = m[1], *out = m[2];

	for (uint32_t i = 0; i < n; i++) {
		float sum = 0;

		for (uint32_t k = 0; k < p; k++)
			sum += tab[idx[k * n + i]];
		expect(v, i, out[i], sum, 0);
	}
}

/* The reference computes fma.rn.f32 as a product and a sum, each rounded (its README, fact 7). */
static float fma_of(float a, float b, float c, bool twice)
{
	volatile float product = a * b;

	return twice ? product + c : fmaf(a, b, c);
}

struct point {
	float cx, cy, zx, zy;
	uint32_t it;
};

static void point_begin(struct point *z, uint32_t x, uint32_t y, uint32_t n, bool twice)
{
	float step = 2.5f / (float)n;

	*z = (struct point){ .cx = fma_of((float)x, step, -2.0f, twice),
			     .cy = fma_of((float)y, step, -1.25f, twice) };
}

/* false: it has escaped. */
static bool point_step(struct point *z, bool twice)
{
	float b = z->zy * z->zy, t = z->zy * z->zx;

	if (fma_of(z->zx, z->zx, b, twice) > 4.0f)
		return false;
	z->zy = z->cy + fma_of(z->zy, z->zx, t, twice);
	z->zx = z->cx + fma_of(z->zx, z->zx, -b, twice);
	z->it++;
	return true;
}

JUDGE(mandel)
{
	const int32_t *out = m[0];

	for (uint32_t i = 0; i < n * n; i++) {
		struct point z;

		point_begin(&z, i % n, i / n, n, false);
		while (z.it < p && point_step(&z, false))
			;
		expect(v, i, out[i], z.it, 0);
	}
}

/*
 * Instructions of mandel's loop, by block of the PTX and as lanes leave it:
 * LBB0_1 (2), the test (4), the step (8), LBB0_4 where both paths meet (2), and the
 * branch out of the lanes that escaped (1). A lane that a branch does not take is not counted.
 */
static void mandel_insns(uint32_t n, uint32_t p, bool twice, double *warps, double *threads)
{
	*warps = *threads = 0;
	/* A warp is two rows of 16. */
	for (uint32_t w = 0; w < n * n / 32; w++) {
		uint32_t x = w % (n / 16) * 16, y = w / (n / 16) * 2, all = 32, left;
		struct point z[32];
		bool in[32];

		for (uint32_t l = 0; l < 32; l++) {
			point_begin(&z[l], x + l % 16, y + l / 16, n, twice);
			in[l] = true;
		}
		for (; all; all = left) {
			uint32_t tested = 0;

			left = 0;
			for (uint32_t l = 0; l < 32; l++) {
				if (!in[l])
					continue;
				in[l] = z[l].it < p;
				tested += in[l];
				if (in[l])
					left += in[l] = point_step(&z[l], twice);
			}
			*warps += 2 + (tested ? 4 + 2 : 0) + (left ? 8 : 0) + (tested > left);
			*threads += all + (all - tested) + 3 * tested + (tested - left) + 8 * left +
				    tested + left + (tested - left);
		}
	}
}

void input_difference(const struct run *run, double *warps, double *threads)
{
	double w[2], t[2];

	*warps = *threads = 0;
	if (strcmp(run->kernel, "mandel"))
		return;
	for (int twice = 0; twice < 2; twice++)
		mandel_insns(run->n, run->p, twice, &w[twice], &t[twice]);
	*warps = w[0] - w[1];
	*threads = t[0] - t[1];
}

JUDGE(chase)
{
	const uint32_t *out = m[1];

	expect(v, 0, out[0], 32 * (p % n), 0);
}

JUDGE(imuldep)
{
	const uint32_t *out = m[0];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = i;

		for (uint32_t k = 0; k < p; k++)
			x = x * 1664525u + 1013904223u;
		expect(v, i, out[i], x, 0);
	}
}

JUDGE(sfudep)
{
	const float *out = m[0];

	for (uint32_t i = 0; i < n; i++) {
		double x = i * 0.015625;

		for (uint32_t k = 0; k < p; k++)
			x = exp2(-x);
		expect(v, i, out[i], x, 1e-4);
	}
}

JUDGE(smemchase)
{
	const uint32_t *out = m[0];

	for (uint32_t i = 0; i < 32; i++)
		expect(v, i, out[i], (p % 32) * 32 + i, 0);
}

JUDGE(barloop)
{
	const uint32_t *out = m[0];

	for (uint32_t i = 0; i < n; i++)
		expect(v, i, out[i], i, 0);
}

static const struct {
	const char *kernel;
	void (*judge)(struct verdict *v, void *const *m, uint32_t n, uint32_t p);
} judges[] = {
#define JUDGED(kernel) { #kernel, judge_##kernel }
	JUDGED(vecadd), JUDGED(fmachain), JUDGED(fmadep), JUDGED(sfu), JUDGED(sgemm16),
	JUDGED(scan), JUDGED(transpose_tiled), JUDGED(histo_shared), JUDGED(gather),
	JUDGED(mandel), JUDGED(chase), JUDGED(imuldep), JUDGED(sfudep), JUDGED(smemchase),
	JUDGED(barloop),
};

bool input_known(const char *kernel)
{
	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
		if (!strcmp(judges[i].kernel, kernel))
			return true;
	}
	return false;
}

bool input_judge(const struct run *run, void *const *memory, char *why, size_t bytes)
{
	struct verdict v = { why, bytes, true };

	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
		if (!strcmp(judges[i].kernel, run->kernel))
			judges[i].judge(&v, memory, run->n, run->p);
	}
	return v.ok;
}
