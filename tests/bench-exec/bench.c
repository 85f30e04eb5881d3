// SPDX-License-Identifier: GPL-2.0
/*
 * `make bench-exec`: how fast whole grids execute without time on one core,
 * against the same kernels compiled for the CPU. Both run in turns in this
 * process, the median of several runs counts, and what they leave in memory
 * must be the same bytes.
 *
 *   bench PTXFILE [-r RUNS] [KERNEL]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/exec.h"

#define X(name, ...) \
	void name(void *a, void *b, void *c, uint32_t n, uint32_t cx, uint32_t cy);
#include "kernels.def"
#undef X

struct buffer {
	char fill[2];
	size_t n;
};

static const struct kernel {
	const char *name, *kind;
	void (*cpu)(void *a, void *b, void *c, uint32_t n, uint32_t cx, uint32_t cy);
	uint32_t grid[2], block[2];
	struct buffer buffer[3];
	uint32_t n;
} kernels[] = {
#define X(name, kind, gx, gy, bx, by, fa, na, fb, nb, fc, nc, n) \
	{ #name, #kind, name, { gx, gy }, { bx, by }, \
	  { { #fa, na }, { #fb, nb }, { #fc, nc } }, n },
#include "kernels.def"
#undef X
};

#define MAX_RUNS 101

/* Of this thread on a processor: who else runs on the machine is not in it. */
static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t bytes_of(const struct buffer *b)
{
	return b->n * (b->fill[0] == 'd' || b->fill[0] == 'z' ? 8 : 4);
}

/* A fixed sequence (Steele et al., SplitMix64): every run has the same inputs. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void fill(void *memory, const struct buffer *b, uint32_t limit)
{
	uint64_t state = b->n * 256 + (unsigned char)b->fill[0];
	uint32_t *words = memory, sum = 0;
	size_t i;

	memset(memory, 0, bytes_of(b));
	for (i = 0; i < b->n; i++) {
		uint32_t random = next_random(&state) >> 32;

		switch (b->fill[0]) {
		case 'u':
			words[i] = random;
			break;
		case 'i':
			words[i] = random % limit;
			break;
		case 'k':
			words[i] = (uint32_t)(i * (UINT32_MAX / b->n)) + random % 1024;
			break;
		case 'r':
			words[i] = sum;
			sum += random % 32;
			break;
		case 'f':
			((float *)memory)[i] = (random >> 8) * 0x1p-24f;
			break;
		case 'd':
			((double *)memory)[i] = random * 0x1p-32;
			break;
		}
	}
}

static void run_cpu(const struct kernel *k, void *const buffers[3])
{
	uint32_t x, y;

	for (y = 0; y < k->grid[1]; y++) {
		for (x = 0; x < k->grid[0]; x++)
			k->cpu(buffers[0], buffers[1], buffers[2], k->n, x, y);
	}
}

static uint64_t run_grid(const struct kernel *k, const struct exec_program *program,
			 void *const buffers[3])
{
	struct { uint64_t p[3]; uint32_t n; } params = {
		{ (uintptr_t)buffers[0], (uintptr_t)buffers[1], (uintptr_t)buffers[2] }, k->n,
	};
	struct exec_launch launch = {
		.program = program, .grid = { k->grid[0], k->grid[1], 1 },
		.block = { k->block[0], k->block[1], 1 }, .params = &params,
	};
	struct exec_range ranges[3];
	struct exec_grid grid = { .launch = &launch, .ranges = ranges, .nranges = 3 };
	struct err err = { "" };
	int i, j;

	for (i = 0; i < 3; i++) {
		struct exec_range range = {
			params.p[i], bytes_of(&k->buffer[i]), buffers[i]
		};

		for (j = i; j > 0 && ranges[j - 1].base > range.base; j--)
			ranges[j] = ranges[j - 1];
		ranges[j] = range;
	}
	if (exec_grid_run(&grid, &err)) {
		fprintf(stderr, "%s: %s\n", k->name, err.text);
		exit(1);
	}
	return grid.warp_instructions;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* The ratio of gpuemu's time to the CPU's. */
static double measure(const struct kernel *k, const struct ptx_module *module, int runs)
{
	double cpu[MAX_RUNS], gpu[MAX_RUNS], c, g;
	double threads = (double)k->grid[0] * k->grid[1] * k->block[0] * k->block[1];
	const struct ptx_kernel *kernel = ptx_module_kernel(module, k->name);
	struct exec_program *program;
	void *buffers[2][3];
	uint64_t start, insns = 0;
	struct err err = { "" };
	int r, i, s;

	if (!kernel || exec_program_create(kernel, &program, &err)) {
		fprintf(stderr, "%s: %s\n", k->name, kernel ? err.text : "is not in the PTX");
		exit(1);
	}
	for (s = 0; s < 2; s++) {
		for (i = 0; i < 3; i++)
			buffers[s][i] = aligned_alloc(4096, (bytes_of(&k->buffer[i]) + 4095) &
						      ~4095ul);
	}
	for (r = 0; r < runs; r++) {
		for (s = 0; s < 2; s++) {
			for (i = 0; i < 3; i++)
				fill(buffers[s][i], &k->buffer[i], k->n);
		}
		start = nanoseconds();
		run_cpu(k, buffers[0]);
		cpu[r] = (nanoseconds() - start) / threads;
		start = nanoseconds();
		insns = run_grid(k, program, buffers[1]);
		gpu[r] = (nanoseconds() - start) / threads;
		for (i = 0; i < 3; i++) {
			if (memcmp(buffers[0][i], buffers[1][i], bytes_of(&k->buffer[i]))) {
				fprintf(stderr, "%s: buffer %d is not what the CPU leaves\n", k->name, i);
				exit(1);
			}
		}
	}
	c = median(cpu, runs);
	g = median(gpu, runs);
	printf("%-11s %-10s %10.2f %10.2f %8.2f   %6.2f\n", k->name, k->kind, c, g, g / c,
	       g * threads / insns);
	for (s = 0; s < 2; s++) {
		for (i = 0; i < 3; i++)
			free(buffers[s][i]);
	}
	exec_program_free(program);
	return g / c;
}

static char *read_text(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t cap = 1u << 20;

	if (!file)
		return NULL;
	text = malloc(cap);
	*len = text ? fread(text, 1, cap, file) : 0;
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "", *only = NULL;
	double logs = 0, worst = 0, ratio;
	struct ptx_module *module;
	struct err err = { "" };
	int runs = 9, n = 0, i;
	size_t len = 0;
	char *text = read_text(path, &len);

	for (i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "-r") && i + 1 < argc)
			runs = atoi(argv[++i]);
		else
			only = argv[i];
	}
	runs = MAX(1, MIN(runs, MAX_RUNS));
	if (!text || ptx_module_parse(text, len, path, &module, &err)) {
		fprintf(stderr, "%s: %s\n", path, text ? err.text : "cannot be read");
		return 1;
	}
	printf("lanes: %s; median of %d runs\n", exec_lanes_name(), runs);
	printf("%-11s %-10s %10s %10s %8s   %6s\n", "kernel", "kind", "CPU ns/thr", "gpuemu ns",
	       "ratio", "ns/insn");
	for (i = 0; i < (int)ARRAY_SIZE(kernels); i++) {
		if (only && strcmp(only, kernels[i].name))
			continue;
		ratio = measure(&kernels[i], module, runs);
		logs += log(ratio);
		worst = MAX(worst, ratio);
		n++;
	}
	if (n)
		printf("geometric mean of %d: %.2f, worst %.2f\n", n, exp(logs / n), worst);
	ptx_module_free(module);
	free(text);
	return n ? 0 : 1;
}
