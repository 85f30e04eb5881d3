// SPDX-License-Identifier: GPL-2.0
/*
 * heartwall: follows points of a heart's wall through the frames of an ultrasound film by
 * matching templates (Szafaryn, Skadron and Saucerman, EAMA 2009; heart wall in Rodinia): a launch
 * a frame, a CTA a point. It correlates the point's template with every place near where the
 * point was (Lewis, Vision Interface 1995), with local sums by running sums, and takes the best.
 */
#define HEART_BLOCK	256u	/* threads of a CTA; a power of two */
#define HEART_EDGE	25	/* pixels of a template's edge */
#define HEART_REACH	10	/* pixels that a point moves in a frame at most, each way */
#define HEART_PLACES	(2 * HEART_REACH + 1)
#define HEART_AREA	(HEART_EDGE + 2 * HEART_REACH)	/* pixels of the edge of what is searched */
#define HEART_SUM	(HEART_AREA + 1)

#include "both.h"

/*
 * The match of a place, squared, with its sign: the correlation without the means. Pixels are
 * below 64, so all sums are exact in a float, whatever their order.
 */
BOTH float match(float cross, float sum, float squares, float t_sum, float t_squares)
{
	const float n = 1.0f / (HEART_EDGE * HEART_EDGE);
	float covariance = fmaf(-sum * n, t_sum, cross);
	float variance = fmaf(-sum * n, sum, squares);
	float t_variance = fmaf(-t_sum * n, t_sum, t_squares);
	float size = covariance < 0 ? -covariance : covariance;

	if (variance < 0.5f || t_variance < 0.5f)
		return 0;
	return covariance * size / (variance * t_variance);
}

#ifdef GPUEMU_DEVICE

/* sums and squares of a point: HEART_SUM x HEART_SUM running sums each, in global memory. */
KERNEL heartwall(const float *frame, int width, const float *templates, int *points, float *sums,
		 float *squares, float *best)
{
	__shared__ float value[HEART_BLOCK];
	__shared__ int place[HEART_BLOCK];
	int t = (int)threadIdx.x, left = points[2 * blockIdx.x] - HEART_EDGE / 2 - HEART_REACH;
	int top = points[2 * blockIdx.x + 1] - HEART_EDGE / 2 - HEART_REACH;
	const float *tile = templates + blockIdx.x * HEART_EDGE * HEART_EDGE;
	float *sum = sums + blockIdx.x * HEART_SUM * HEART_SUM;
	float *square = squares + blockIdx.x * HEART_SUM * HEART_SUM;
	float t_sum = 0, t_squares = 0, most = -2;
	int at = HEART_PLACES * HEART_PLACES;

	/* Down the columns, a thread each; then along the rows. */
	if (t < HEART_AREA) {
		float s = 0, q = 0;

		sum[t + 1] = 0;
		square[t + 1] = 0;
		for (int y = 0; y < HEART_AREA; y++) {
			float p = frame[(top + y) * width + left + t];

			s += p;
			q = fmaf(p, p, q);
			sum[(y + 1) * HEART_SUM + t + 1] = s;
			square[(y + 1) * HEART_SUM + t + 1] = q;
		}
	}
	__syncthreads();
	if (t < HEART_SUM) {
		float s = 0, q = 0;

		sum[t * HEART_SUM] = 0;
		square[t * HEART_SUM] = 0;
		for (int x = 1; x < HEART_SUM; x++) {
			s += sum[t * HEART_SUM + x];
			q += square[t * HEART_SUM + x];
			sum[t * HEART_SUM + x] = s;
			square[t * HEART_SUM + x] = q;
		}
	}
	__syncthreads();
	for (int i = 0; i < HEART_EDGE * HEART_EDGE; i++) {
		t_sum += tile[i];
		t_squares = fmaf(tile[i], tile[i], t_squares);
	}
	for (int i = t; i < HEART_PLACES * HEART_PLACES; i += HEART_BLOCK) {
		int x = i % HEART_PLACES, y = i / HEART_PLACES, a = y * HEART_SUM + x;
		const float *from = frame + (top + y) * width + left + x;
		int b = a + HEART_EDGE * HEART_SUM;
		float cross = 0, m;

		for (int row = 0; row < HEART_EDGE; row++)
			for (int col = 0; col < HEART_EDGE; col++)
				cross = fmaf(tile[row * HEART_EDGE + col],
					     from[row * width + col], cross);
		m = match(cross, sum[b + HEART_EDGE] - sum[b] - sum[a + HEART_EDGE] + sum[a],
			  square[b + HEART_EDGE] - square[b] - square[a + HEART_EDGE] + square[a],
			  t_sum, t_squares);
		if (m > most) {
			most = m;
			at = i;
		}
	}
	value[t] = most;
	place[t] = at;
	for (int half = HEART_BLOCK / 2; half; half /= 2) {
		__syncthreads();
		/* The first place wins among equal ones. */
		if (t < half && (value[t + half] > value[t] ||
				 (value[t + half] == value[t] && place[t + half] < place[t]))) {
			value[t] = value[t + half];
			place[t] = place[t + half];
		}
	}
	if (t == 0) {
		best[blockIdx.x] = value[0];
		points[2 * blockIdx.x] += place[0] % HEART_PLACES - HEART_REACH;
		points[2 * blockIdx.x + 1] += place[0] / HEART_PLACES - HEART_REACH;
	}
}

/* A tenth of what is there now goes into each template, in steps of a pixel's one. */
KERNEL heartwall_learn(const float *frame, int width, const int *points, float *templates)
{
	const float *from = frame + (points[2 * blockIdx.x + 1] - HEART_EDGE / 2) * width +
			    points[2 * blockIdx.x] - HEART_EDGE / 2;
	float *tile = templates + blockIdx.x * HEART_EDGE * HEART_EDGE;

	for (int i = (int)threadIdx.x; i < HEART_EDGE * HEART_EDGE; i += HEART_BLOCK)
		tile[i] = (float)(((int)tile[i] * 9 + (int)from[i / HEART_EDGE * width +
								i % HEART_EDGE]) / 10);
}

#else

enum { POINTS, FRAMES, SIZE };

struct heartwall {
	float *film, *templates, *sums, *squares, *best;
	int32_t *points;
};

/* The film: a picture with noise, whose pixels move by up to 3 a frame, each way. */
static void make(struct workload *w, float *film)
{
	uint64_t n = w->option[SIZE];
	struct rng rng;
	int dx = 0, dy = 0;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < n * n; i++)
		film[i] = (float)rng_below(&rng, 48);
	for (uint64_t f = 1; f < w->option[FRAMES]; f++) {
		float *to = film + f * n * n;

		dx += (int)rng_below(&rng, 7) - 3;
		dy += (int)rng_below(&rng, 7) - 3;
		for (uint64_t y = 0; y < n; y++) {
			uint64_t from = (y + 100 * n + (uint64_t)dy) % n;

			for (uint64_t x = 0; x < n; x++)
				to[y * n + x] = film[from * n + (x + 100 * n + (uint64_t)dx) % n] +
						(float)rng_below(&rng, 16);
		}
	}
}

/* On a circle, so far from the edges that no search leaves the frame. */
static void first_points(const struct workload *w, int32_t *to)
{
	double middle = (double)w->option[SIZE] / 2;
	double radius = middle - HEART_AREA / 2 - (double)(w->option[FRAMES] * HEART_REACH);

	for (uint64_t i = 0; i < w->option[POINTS]; i++) {
		double a = 2 * M_PI * (double)i / (double)w->option[POINTS];

		to[2 * i] = (int32_t)(middle + MAX(radius, 0.0) * cos(a));
		to[2 * i + 1] = (int32_t)(middle + MAX(radius, 0.0) * sin(a));
	}
}

static void first_templates(const struct workload *w, const float *film, const int32_t *points,
			    float *to)
{
	for (uint64_t i = 0; i < w->option[POINTS]; i++)
		for (int k = 0; k < HEART_EDGE * HEART_EDGE; k++) {
			int x = points[2 * i] + k % HEART_EDGE - HEART_EDGE / 2;
			int y = points[2 * i + 1] + k / HEART_EDGE - HEART_EDGE / 2;

			*to++ = film[y * (int)w->option[SIZE] + x];
		}
}

static int heartwall_setup(struct workload *w)
{
	struct heartwall *h = w->state;
	uint64_t n = w->option[POINTS], pixels = w->option[SIZE] * w->option[SIZE];
	int ret;

	/* The points' reach, and the area around them that is looked at. */
	if (w->option[SIZE] < HEART_AREA + 2 * HEART_REACH * w->option[FRAMES] + 2)
		return err_set(&w->err, -EINVAL, "edge: %d frames need %d pixels",
			       (int)w->option[FRAMES],
			       (int)(HEART_AREA + 2 * HEART_REACH * w->option[FRAMES] + 2));
	ret = workload_alloc(w, (void **)&h->film, w->option[FRAMES] * pixels * sizeof(float),
			     WORKLOAD_IN, "film");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->templates,
				     n * HEART_EDGE * HEART_EDGE * sizeof(float), WORKLOAD_INOUT,
				     "templates");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->points, 2 * n * sizeof(int32_t),
				     WORKLOAD_INOUT, "points");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->sums,
				     n * HEART_SUM * HEART_SUM * sizeof(float), WORKLOAD_SCRATCH,
				     "sums");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->squares,
				     n * HEART_SUM * HEART_SUM * sizeof(float), WORKLOAD_SCRATCH,
				     "squares");
	if (!ret)
		ret = workload_alloc(w, (void **)&h->best, n * sizeof(float), WORKLOAD_OUT, "best");
	if (ret)
		return ret;
	make(w, h->film);
	first_points(w, h->points);
	first_templates(w, h->film, h->points, h->templates);
	return 0;
}

static int heartwall_run(struct workload *w)
{
	struct heartwall *h = w->state;
	uint32_t n = (uint32_t)w->option[POINTS];
	int32_t width = (int32_t)w->option[SIZE];
	int ret = 0;

	for (uint64_t f = 1; f < w->option[FRAMES] && !ret; f++) {
		const float *frame = h->film + f * w->option[SIZE] * w->option[SIZE];

		ret = WORKLOAD_LAUNCH(w, "heartwall", n, HEART_BLOCK, gpuemu_arg_ptr(frame),
				      gpuemu_arg_s32(width), gpuemu_arg_ptr(h->templates),
				      gpuemu_arg_ptr(h->points), gpuemu_arg_ptr(h->sums),
				      gpuemu_arg_ptr(h->squares), gpuemu_arg_ptr(h->best));
		if (!ret)
			ret = WORKLOAD_LAUNCH(w, "heartwall_learn", n, HEART_BLOCK,
					      gpuemu_arg_ptr(frame), gpuemu_arg_s32(width),
					      gpuemu_arg_ptr(h->points),
					      gpuemu_arg_ptr(h->templates));
	}
	return ret ? ret : workload_synchronize(w);
}

/* Place by place with integers, without running sums; what is found is the new point. */
static float search(const float *frame, int width, const float *tile, int32_t point[2])
{
	int left = point[0] - HEART_EDGE / 2 - HEART_REACH;
	int top = point[1] - HEART_EDGE / 2 - HEART_REACH, found = 0;
	float most = -2;

	for (int i = 0; i < HEART_PLACES * HEART_PLACES; i++) {
		int y = top + i / HEART_PLACES, x = left + i % HEART_PLACES;
		int cross = 0, sum = 0, squares = 0, t_sum = 0, t_squares = 0;
		float m;

		for (int k = 0; k < HEART_EDGE * HEART_EDGE; k++) {
			int p = (int)frame[(y + k / HEART_EDGE) * width + x + k % HEART_EDGE];
			int q = (int)tile[k];

			cross += p * q;
			sum += p;
			squares += p * p;
			t_sum += q;
			t_squares += q * q;
		}
		m = match((float)cross, (float)sum, (float)squares, (float)t_sum, (float)t_squares);
		if (m > most) {
			most = m;
			found = i;
		}
	}
	point[0] += found % HEART_PLACES - HEART_REACH;
	point[1] += found / HEART_PLACES - HEART_REACH;
	return most;
}

static void learn(const float *frame, int width, const int32_t point[2], float *tile)
{
	for (int k = 0; k < HEART_EDGE * HEART_EDGE; k++) {
		int y = point[1] - HEART_EDGE / 2 + k / HEART_EDGE;
		int x = point[0] - HEART_EDGE / 2 + k % HEART_EDGE;

		tile[k] = (float)(((int)tile[k] * 9 + (int)frame[y * width + x]) / 10);
	}
}

static int heartwall_verify(struct workload *w)
{
	struct heartwall *h = w->state;
	uint64_t n = w->option[POINTS], pixels = w->option[SIZE] * w->option[SIZE];
	uint64_t all = w->option[FRAMES] * pixels, pixel = HEART_EDGE * HEART_EDGE;
	float *film = check_memory(w, all, sizeof(float));
	float *tiles = check_memory(w, n * pixel + n, sizeof(float)), *best = tiles + n * pixel;
	int32_t *points = check_memory(w, 2 * n, sizeof(int32_t));
	int ret = film && tiles && points ? 0 : -ENOMEM;

	if (!ret) {
		make(w, film);
		first_points(w, points);
		first_templates(w, film, points, tiles);
		ret = check_floats(w, "film", 0, h->film, film, all);
	}
	for (uint64_t f = 1; f < w->option[FRAMES] && !ret; f++) {
		for (uint64_t i = 0; i < n; i++) {
			best[i] = search(film + f * pixels, (int)w->option[SIZE], tiles + i * pixel,
					 points + 2 * i);
			learn(film + f * pixels, (int)w->option[SIZE], points + 2 * i,
			      tiles + i * pixel);
		}
	}
	if (!ret)
		ret = check_ints(w, "points", 0, h->points, points, 2 * n);
	if (!ret)
		ret = check_floats(w, "best", 0, h->best, best, n);
	if (!ret)
		ret = check_floats(w, "templates", 0, h->templates, tiles, n * pixel);
	free(film);
	free(tiles);
	free(points);
	return ret;
}

const struct workload_ops workload_heartwall = {
	.name = "heartwall",
	.help = "points of a heart's wall followed through a film (Rodinia)",
	.exercises = "L1D reuse of neighbouring pixels, phases that few threads have, a tree at the end",
	.options = {
		[POINTS] = { "points", 51, 1, 1u << 12, "to follow, a CTA each", .tiny = 2 },
		[FRAMES] = { "frames", 5, 2, 64, "of the film; the first is where templates are from",
			     .quick = 3, .tiny = 2 },
		[SIZE] = { "edge", 640, 87, 1u << 12, "pixels of a frame's edge; 4 bytes a pixel",
			   .quick = 256, .tiny = 89 },
	},
	.state_bytes = sizeof(struct heartwall),
	.setup = heartwall_setup,
	.run = heartwall_run,
	.verify = heartwall_verify,
};
#endif
