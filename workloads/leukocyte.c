// SPDX-License-Identifier: GPL-2.0
/*
 * leukocyte: finds white blood cells in a microscope's image and the fields that pull their
 * outlines (Ray and Acton, IEEE Trans. Medical Imaging 23, 2004; Boyer et al., IPDPS 2009; in
 * Rodinia). Launches: the inverse coefficient of variation of the gradient along circles (GICOV),
 * its dilation, and a CTA a cell that iterates the motion gradient vector flow in shared memory.
 */
#define LEUKO_CIRCLES	7	/* radii that are tried */
#define LEUKO_SMALLEST	6	/* the first radius; they grow by one */
#define LEUKO_MARGIN	13	/* pixels from the edge where no circle is tried */
#define LEUKO_GICOV	192	/* threads of a CTA */
#define LEUKO_DILATE	176
#define LEUKO_FLOW	320	/* of a cell's CTA */
#define LEUKO_ROWS	41	/* pixels around a cell */
#define LEUKO_COLS	81
#define LEUKO_CELL	(LEUKO_ROWS * LEUKO_COLS)
#define LEUKO_EACH	((LEUKO_CELL + LEUKO_FLOW - 1) / LEUKO_FLOW)	/* pixels of a thread */
#define LEUKO_MU	0.5f
#define LEUKO_LAMBDA	(8 * LEUKO_MU + 1)

#include "both.h"

/* A step from 0 to 1 around 0. */
BOTH float step(float x)
{
	float y = fmaf(x, 5000.0f, 0.5f), low = y > 0 ? y : 0;

	return low < 1 ? low : 1;
}

/* The squared mean over the variance of n numbers, from their sum and their squares'. */
BOTH float gicov(float sum, float squares, int n)
{
	float mean = sum / (float)n, variance = fmaf(-sum, mean, squares) / (float)(n - 1);

	return variance > 1e-6f ? mean * mean / variance : 0;
}

/*
 * The new field at a pixel: edge is its image's, v[0] its old field, v[1..8] that of those around,
 * from the upper left by rows. (x, y) is the direction in which the cell moves.
 */
BOTH float flow(const float v[9], float edge, float x, float y)
{
	const float way[8] = { -x - y, -y, x - y, -x, x, y - x, y, x + y };
	float sum = 0, moved;

#ifdef GPUEMU_DEVICE
#pragma unroll
#endif
	for (int i = 0; i < 8; i++) {
		float d = v[i + 1] - v[0];

		sum = fmaf(step(d * way[i]), d, sum);
	}
	moved = fmaf(LEUKO_MU / LEUKO_LAMBDA, sum, v[0]);
	return fmaf(-edge / LEUKO_LAMBDA, moved - edge, moved);
}

#ifdef GPUEMU_DEVICE

/* dx, dy: offsets of each circle's points; cosine and sine: the points' directions. */
KERNEL leukocyte_gicov(const float *gx, const float *gy, int rows, int cols, const int *dx,
		       const int *dy, const float *cosine, const float *sine, int points,
		       float *out)
{
	int width = cols - 2 * LEUKO_MARGIN, i = (int)(blockIdx.x * LEUKO_GICOV + threadIdx.x);
	int x = LEUKO_MARGIN + i % width, y = LEUKO_MARGIN + i / width;
	float most = 0;

	if (y >= rows - LEUKO_MARGIN)
		return;
	for (int circle = 0; circle < LEUKO_CIRCLES; circle++) {
		float sum = 0, squares = 0, g;

		for (int p = 0; p < points; p++) {
			int at = (y + dy[circle * points + p]) * cols + x + dx[circle * points + p];
			float along = fmaf(gx[at], cosine[p], gy[at] * sine[p]);

			sum += along;
			squares = fmaf(along, along, squares);
		}
		g = gicov(sum, squares, points);
		most = g > most ? g : most;
	}
	out[y * cols + x] = most;
}

/* The greatest within a disc. */
KERNEL leukocyte_dilate(const float *in, int rows, int cols, int disc, float *out)
{
	int i = (int)(blockIdx.x * LEUKO_DILATE + threadIdx.x), x = i % cols, y = i / cols;
	float most = 0;

	if (y >= rows)
		return;
	for (int dy = -disc; dy <= disc; dy++) {
		for (int dx = -disc; dx <= disc; dx++) {
			bool is = dx * dx + dy * dy <= disc * disc && x + dx >= 0 && y + dy >= 0 &&
				  x + dx < cols && y + dy < rows;

			if (is && in[(y + dy) * cols + x + dx] > most)
				most = in[(y + dy) * cols + x + dx];
		}
	}
	out[y * cols + x] = most;
}

/* Until a pixel changes by less than `cutoff` on average, at most `most` times. */
KERNEL leukocyte_flow(const float *edges, float *fields, float *rounds, float x, float y,
		      int most, float cutoff)
{
	__shared__ float field[LEUKO_CELL], change[LEUKO_FLOW];
	const float *edge = edges + blockIdx.x * LEUKO_CELL;
	int t = (int)threadIdx.x, round;

	for (int i = t; i < LEUKO_CELL; i += LEUKO_FLOW)
		field[i] = edge[i];
	__syncthreads();
	for (round = 0; round < most; round++) {
		float next = 0, before, sum = 0;

		/*
		 * A turn's results are stored behind the next turn's barrier: pixels beside
		 * it, at most 82 away, have been read by then, and no later turn reads them.
		 */
#pragma nounroll
		for (int i = t; i < LEUKO_EACH * LEUKO_FLOW + t; i += LEUKO_FLOW) {
			int r = i / LEUKO_COLS, c = i % LEUKO_COLS;
			int up = r ? i - LEUKO_COLS : i, left = c ? -1 : 0;
			int down = r + 1 < LEUKO_ROWS ? i + LEUKO_COLS : i;
			int right = c + 1 < LEUKO_COLS ? 1 : 0;

			before = next;
			if (i < LEUKO_CELL) {
				const float v[9] = {
					field[i], field[up + left], field[up], field[up + right],
					field[i + left], field[i + right], field[down + left],
					field[down], field[down + right],
				};

				next = flow(v, edge[i], x, y);
				sum += next > v[0] ? next - v[0] : v[0] - next;
			}
			__syncthreads();
			if (i >= LEUKO_FLOW)
				field[i - LEUKO_FLOW] = before;
		}
		if (t + (LEUKO_EACH - 1) * LEUKO_FLOW < LEUKO_CELL)
			field[t + (LEUKO_EACH - 1) * LEUKO_FLOW] = next;
		change[t] = sum;
		__syncthreads();
		for (int half = LEUKO_FLOW / 2; half >= 5; half /= 2) {
			if (t < half)
				change[t] += change[t + half];
			__syncthreads();
		}
		sum = change[0] + change[1] + change[2] + change[3] + change[4];
		__syncthreads();
		if (sum < cutoff * LEUKO_CELL)
			break;
	}
	for (int i = t; i < LEUKO_CELL; i += LEUKO_FLOW)
		fields[blockIdx.x * LEUKO_CELL + i] = field[i];
	if (t == 0)
		rounds[blockIdx.x] = (float)round;
}

#else

enum { ROWS, COLS, POINTS, DISC, CELLS, ITERATIONS };
enum { GX, GY, COSINE, SINE, EDGES, INPUTS };
enum { GICOV, DILATED, FIELDS, ROUNDS, OUTPUTS };

#define LEUKO_X		1.0f
#define LEUKO_Y		0.25f
#define LEUKO_CUTOFF	1e-4f

struct leukocyte {
	float *in[INPUTS], *out[OUTPUTS];
	int32_t *dx, *dy;
};

static uint64_t in_count(const struct workload *w, unsigned int i)
{
	return i == GX || i == GY ? w->option[ROWS] * w->option[COLS] :
	       i == EDGES ? w->option[CELLS] * LEUKO_CELL : w->option[POINTS];
}

static uint64_t out_count(const struct workload *w, unsigned int i)
{
	return i == FIELDS ? w->option[CELLS] * LEUKO_CELL :
	       i == ROUNDS ? w->option[CELLS] : w->option[ROWS] * w->option[COLS];
}

/* Gradients are random; a cell's edge image is a ring of its own radius in noise. */
static void make(struct workload *w, float *const in[INPUTS], int32_t *dx, int32_t *dy)
{
	uint64_t points = w->option[POINTS];

	fill_floats(w, GX, in[GX], in_count(w, GX), -1, 1);
	fill_floats(w, GY, in[GY], in_count(w, GY), -1, 1);
	fill_floats(w, EDGES, in[EDGES], in_count(w, EDGES), 0, 0.25f);
	for (uint64_t p = 0; p < points; p++) {
		double a = 2 * M_PI * (double)p / (double)points;

		in[COSINE][p] = (float)cos(a);
		in[SINE][p] = (float)sin(a);
		for (unsigned int circle = 0; circle < LEUKO_CIRCLES; circle++) {
			double radius = LEUKO_SMALLEST + circle;

			dx[circle * points + p] = (int32_t)lround(radius * cos(a));
			dy[circle * points + p] = (int32_t)lround(radius * sin(a));
		}
	}
	for (uint64_t cell = 0; cell < w->option[CELLS]; cell++)
		for (unsigned int i = 0; i < LEUKO_CELL; i++) {
			double y = (double)(i / LEUKO_COLS) - LEUKO_ROWS / 2;
			double x = (double)(i % LEUKO_COLS) - LEUKO_COLS / 2;

			if (fabs(sqrt(x * x + y * y) - (double)(8 + cell % 7)) < 1.5)
				in[EDGES][cell * LEUKO_CELL + i] += 0.75f;
		}
}

static int leukocyte_setup(struct workload *w)
{
	static const char *const in[] = { "gx", "gy", "cosine", "sine", "edges" };
	static const char *const out[] = { "gicov", "dilated", "fields", "rounds" };
	struct leukocyte *l = w->state;
	uint64_t offsets = LEUKO_CIRCLES * w->option[POINTS] * sizeof(int32_t);
	int ret = 0;

	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = workload_alloc(w, (void **)&l->in[i], in_count(w, i) * sizeof(float),
				     WORKLOAD_IN, in[i]);
	if (!ret)
		ret = workload_alloc(w, (void **)&l->dx, offsets, WORKLOAD_IN, "dx");
	if (!ret)
		ret = workload_alloc(w, (void **)&l->dy, offsets, WORKLOAD_IN, "dy");
	for (unsigned int i = 0; i < OUTPUTS && !ret; i++)
		ret = workload_alloc(w, (void **)&l->out[i], out_count(w, i) * sizeof(float),
				     WORKLOAD_OUT, out[i]);
	if (!ret)
		make(w, l->in, l->dx, l->dy);
	return ret;
}

static int leukocyte_run(struct workload *w)
{
	struct leukocyte *l = w->state;
	uint32_t rows = (uint32_t)w->option[ROWS], cols = (uint32_t)w->option[COLS];
	uint32_t inner = (rows - 2 * LEUKO_MARGIN) * (cols - 2 * LEUKO_MARGIN);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "leukocyte_gicov", DIV_ROUND_UP(inner, LEUKO_GICOV), LEUKO_GICOV,
			      gpuemu_arg_ptr(l->in[GX]), gpuemu_arg_ptr(l->in[GY]),
			      gpuemu_arg_s32((int32_t)rows), gpuemu_arg_s32((int32_t)cols),
			      gpuemu_arg_ptr(l->dx), gpuemu_arg_ptr(l->dy),
			      gpuemu_arg_ptr(l->in[COSINE]), gpuemu_arg_ptr(l->in[SINE]),
			      gpuemu_arg_s32((int32_t)w->option[POINTS]),
			      gpuemu_arg_ptr(l->out[GICOV]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "leukocyte_dilate", DIV_ROUND_UP(rows * cols, LEUKO_DILATE),
				      LEUKO_DILATE, gpuemu_arg_ptr(l->out[GICOV]),
				      gpuemu_arg_s32((int32_t)rows), gpuemu_arg_s32((int32_t)cols),
				      gpuemu_arg_s32((int32_t)w->option[DISC]),
				      gpuemu_arg_ptr(l->out[DILATED]));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "leukocyte_flow", (uint32_t)w->option[CELLS], LEUKO_FLOW,
				      gpuemu_arg_ptr(l->in[EDGES]), gpuemu_arg_ptr(l->out[FIELDS]),
				      gpuemu_arg_ptr(l->out[ROUNDS]), gpuemu_arg_f32(LEUKO_X),
				      gpuemu_arg_f32(LEUKO_Y),
				      gpuemu_arg_s32((int32_t)w->option[ITERATIONS]),
				      gpuemu_arg_f32(LEUKO_CUTOFF));
	return ret ? ret : workload_synchronize(w);
}

/* A circle at a time, over the whole image. */
static void find(const struct workload *w, float *const in[INPUTS], const int32_t *dx,
		 const int32_t *dy, float *out)
{
	int rows = (int)w->option[ROWS], cols = (int)w->option[COLS], n = (int)w->option[POINTS];

	for (int circle = 0; circle < LEUKO_CIRCLES; circle++)
		for (int y = LEUKO_MARGIN; y < rows - LEUKO_MARGIN; y++)
			for (int x = LEUKO_MARGIN; x < cols - LEUKO_MARGIN; x++) {
				float sum = 0, squares = 0, g;

				for (int p = 0; p < n; p++) {
					int at = (y + dy[circle * n + p]) * cols + x +
						 dx[circle * n + p];
					float along = fmaf(in[GX][at], in[COSINE][p],
							   in[GY][at] * in[SINE][p]);

					sum += along;
					squares = fmaf(along, along, squares);
				}
				g = gicov(sum, squares, n);
				out[y * cols + x] = MAX(out[y * cols + x], g);
			}
}

/* Each pixel spreads to those around it. */
static void dilate(const struct workload *w, const float *in, float *out)
{
	int rows = (int)w->option[ROWS], cols = (int)w->option[COLS], disc = (int)w->option[DISC];

	for (int i = 0; i < rows * cols; i++)
		for (int dy = -disc; dy <= disc; dy++)
			for (int dx = -disc; dx <= disc; dx++) {
				int x = i % cols + dx, y = i / cols + dy;

				if (dx * dx + dy * dy <= disc * disc && x >= 0 && x < cols &&
				    y >= 0 && y < rows)
					out[y * cols + x] = MAX(out[y * cols + x], in[i]);
			}
}

static float at(const float *field, int r, int c)
{
	r = MIN(MAX(r, 0), LEUKO_ROWS - 1);
	c = MIN(MAX(c, 0), LEUKO_COLS - 1);
	return field[r * LEUKO_COLS + c];
}

/* Returns how many rounds it took. */
static float pull(const struct workload *w, const float *edge, float *field)
{
	float next[LEUKO_CELL], change[LEUKO_FLOW];
	uint64_t round;

	memcpy(field, edge, LEUKO_CELL * sizeof(float));
	for (round = 0; round < w->option[ITERATIONS]; round++) {
		memset(change, 0, sizeof(change));
		for (int i = 0; i < LEUKO_CELL; i++) {
			int r = i / LEUKO_COLS, c = i % LEUKO_COLS, n = 0;
			float v[9] = { field[i] };

			for (int k = 0; k < 9; k++)
				if (k != 4)
					v[++n] = at(field, r + k / 3 - 1, c + k % 3 - 1);
			next[i] = flow(v, edge[i], LEUKO_X, LEUKO_Y);
			change[i % LEUKO_FLOW] += next[i] > v[0] ? next[i] - v[0] : v[0] - next[i];
		}
		memcpy(field, next, sizeof(next));
		for (int half = LEUKO_FLOW / 2; half >= 5; half /= 2)
			for (int t = 0; t < half; t++)
				change[t] += change[t + half];
		if (change[0] + change[1] + change[2] + change[3] + change[4] <
		    LEUKO_CUTOFF * LEUKO_CELL)
			break;
	}
	return (float)round;
}

static int check_all(struct workload *w, float *const in[INPUTS], float *const out[OUTPUTS],
		     int32_t *dx, int32_t *dy)
{
	struct leukocyte *l = w->state;
	uint64_t offsets = LEUKO_CIRCLES * w->option[POINTS];
	int ret;

	make(w, in, dx, dy);
	ret = check_ints(w, "dx", 0, l->dx, dx, offsets);
	if (!ret)
		ret = check_ints(w, "dy", 0, l->dy, dy, offsets);
	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = check_floats(w, "inputs", 0, l->in[i], in[i], in_count(w, i));
	if (ret)
		return ret;
	find(w, in, dx, dy, out[GICOV]);
	dilate(w, out[GICOV], out[DILATED]);
	for (uint64_t cell = 0; cell < w->option[CELLS]; cell++)
		out[ROUNDS][cell] = pull(w, in[EDGES] + cell * LEUKO_CELL,
					 out[FIELDS] + cell * LEUKO_CELL);
	for (unsigned int i = 0; i < OUTPUTS && !ret; i++)
		ret = check_floats(w, "results", 0, l->out[i], out[i], out_count(w, i));
	return ret;
}

static int leukocyte_verify(struct workload *w)
{
	uint64_t floats = 0, offsets = LEUKO_CIRCLES * w->option[POINTS];
	float *in[INPUTS], *out[OUTPUTS], *memory;
	int32_t *dx = check_memory(w, 2 * offsets, sizeof(*dx));
	int ret = -ENOMEM;

	for (unsigned int i = 0; i < INPUTS; i++)
		floats += in_count(w, i);
	for (unsigned int i = 0; i < OUTPUTS; i++)
		floats += out_count(w, i);
	memory = check_memory(w, floats, sizeof(*memory));
	if (memory && dx) {
		float *next = memory;

		for (unsigned int i = 0; i < INPUTS; next += in_count(w, i++))
			in[i] = next;
		for (unsigned int i = 0; i < OUTPUTS; next += out_count(w, i++))
			out[i] = next;
		ret = check_all(w, in, out, dx, dx + offsets);
	}
	free(memory);
	free(dx);
	return ret;
}

const struct workload_ops workload_leukocyte = {
	.name = "leukocyte",
	.help = "white blood cells in an image: GICOV, dilation, MGVF (Rodinia)",
	.exercises = "gathers along circles, then shared memory that bounds the CTAs, long kernels",
	.options = {
		[ROWS] = { "rows", 219, 28, 4096, "of the image; 16 bytes a pixel", .quick = 96,
			   .tiny = 51 },
		[COLS] = { "cols", 640, 28, 4096, "of the image", .quick = 160, .tiny = 45 },
		[POINTS] = { "points", 150, 2, 1000, "of a circle", .tiny = 5 },
		[DISC] = { "disc", 12, 0, 40, "pixels of the radius of the dilation", .tiny = 2 },
		[CELLS] = { "cells", 36, 1, 4096, "found before; 26 KB each", .quick = 15, .tiny = 1 },
		[ITERATIONS] = { "iterations", 40, 1, 10000, "of a cell's field at most",
				 .quick = 10, .tiny = 5 },
	},
	.state_bytes = sizeof(struct leukocyte),
	.setup = leukocyte_setup,
	.run = leukocyte_run,
	.verify = leukocyte_verify,
};
#endif
