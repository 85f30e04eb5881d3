// SPDX-License-Identifier: GPL-2.0
/*
 * pathfinder: the cheapest way from the bottom row of a grid of costs to its
 * top row, a row at a time, each step straight or diagonal: dynamic programming
 * (as in Che et al., "Rodinia", IISWC 2009). A CTA computes several rows between
 * launches in shared memory on a strip with a ghost zone at both ends.
 */
#define PATH_BLOCK	256	/* columns of a CTA's strip, ghost zones included */
#define PATH_NONE	0x7fffffff	/* beyond the grid's edge: never the cheapest */

#ifdef GPUEMU_DEVICE
#include "device.h"

/*
 * `from` are the cheapest ways to the row before `wall`; `to` to the last of
 * `rows` rows. The strip loses one column a row at each end.
 */
KERNEL pathfinder(const int *wall, const int *from, int *to, int cols, int rows)
{
	__shared__ int way[2][PATH_BLOCK];
	int strip = PATH_BLOCK - 2 * rows;
	int t = threadIdx.x;
	int x = (int)blockIdx.x * strip - rows + t;
	bool inside = x >= 0 && x < cols;
	int cheapest = inside ? from[x] : PATH_NONE;

	way[0][t] = cheapest;
	__syncthreads();
	for (int i = 0; i < rows; i++, wall += cols) {
		const int *before = way[i & 1];

		if (inside && t > i && t < PATH_BLOCK - 1 - i) {
			cheapest = min(before[t], min(before[t - 1], before[t + 1]));
			cheapest += wall[x];
		}
		way[~i & 1][t] = cheapest;
		__syncthreads();
	}
	if (inside && t >= rows && t < PATH_BLOCK - rows)
		to[x] = cheapest;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"

enum { COLS, ROWS, HEIGHT };

struct pathfinder {
	int32_t *wall;
	int32_t *result, *other;	/* launches write them in turn, the last one result */
};

/* Row 0 is where ways begin. */
static uint64_t launches(const struct workload *w)
{
	return DIV_ROUND_UP(w->option[ROWS] - 1, w->option[HEIGHT]);
}

static int32_t random_cost(struct rng *rng)
{
	return (int32_t)rng_below(rng, 10);
}

static int pathfinder_setup(struct workload *w)
{
	struct pathfinder *p = w->state;
	uint64_t cols = w->option[COLS], cells = cols * w->option[ROWS];
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&p->wall, cells * sizeof(int32_t),
			     WORKLOAD_IN, "wall");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->result, cols * sizeof(int32_t),
				     WORKLOAD_OUT, "result");
	if (!ret)
		ret = workload_alloc(w, (void **)&p->other, cols * sizeof(int32_t),
				     WORKLOAD_SCRATCH, "other");
	if (ret)
		return ret;
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < cells; i++)
		p->wall[i] = random_cost(&rng);
	return 0;
}

static int pathfinder_run(struct workload *w)
{
	struct pathfinder *p = w->state;
	uint64_t cols = w->option[COLS], rows = w->option[ROWS];
	uint64_t height = w->option[HEIGHT], left = launches(w), n;
	const int32_t *from = p->wall;
	int ret = 0;

	for (uint64_t row = 1; row < rows && !ret; row += n) {
		int32_t *to = --left % 2 ? p->other : p->result;

		n = MIN(height, rows - row);
		ret = WORKLOAD_LAUNCH(w, "pathfinder",
				      (uint32_t)DIV_ROUND_UP(cols, PATH_BLOCK - 2 * n), PATH_BLOCK,
				      gpuemu_arg_ptr(p->wall + row * cols),
				      gpuemu_arg_ptr(from), gpuemu_arg_ptr(to),
				      gpuemu_arg_s32((int32_t)cols), gpuemu_arg_s32((int32_t)n));
		from = to;
	}
	return ret ? ret : workload_synchronize(w);
}

/*
 * The CPU's way: each cell offers its cost to the three cells that follow it.
 * `before` is the row that the launch before the last one ended with.
 */
static void walk(struct workload *w, int32_t *row, int32_t *best, int32_t *offer, int32_t *before)
{
	uint64_t cols = w->option[COLS], rows = w->option[ROWS];
	uint64_t n = launches(w), last = 1 + (n - 1) * w->option[HEIGHT];
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t x = 0; x < cols; x++)
		best[x] = random_cost(&rng);
	for (uint64_t y = 1; y < rows; y++) {
		for (uint64_t x = 0; x < cols; x++) {
			if (y == last && n > 1)
				before[x] = best[x];
			offer[x] = PATH_NONE;
			row[x] = random_cost(&rng);
		}
		for (uint64_t x = 0; x < cols; x++)
			for (uint64_t to = x ? x - 1 : 0; to <= x + 1 && to < cols; to++)
				offer[to] = MIN(offer[to], best[x]);
		for (uint64_t x = 0; x < cols; x++)
			best[x] = offer[x] + row[x];
	}
}

static int pathfinder_verify(struct workload *w)
{
	struct pathfinder *p = w->state;
	uint64_t cols = w->option[COLS];
	int32_t *lines = check_memory(w, 4 * cols, sizeof(int32_t));
	struct rng rng;
	int ret = 0;

	if (!lines)
		return -ENOMEM;
	rng_seed(&rng, w->seed);
	for (uint64_t y = 0; y < w->option[ROWS] && !ret; y++) {
		for (uint64_t x = 0; x < cols; x++)
			lines[x] = random_cost(&rng);
		ret = check_ints(w, "wall", y * cols, p->wall + y * cols, lines, cols);
	}
	for (uint64_t x = 0; x < cols; x++)
		lines[3 * cols + x] = 0;
	walk(w, lines, lines + cols, lines + 2 * cols, lines + 3 * cols);
	if (!ret)
		ret = check_ints(w, "result", 0, p->result, lines + cols, cols);
	if (!ret)
		ret = check_ints(w, "other", 0, p->other, lines + 3 * cols, cols);
	free(lines);
	return ret;
}

const struct workload_ops workload_pathfinder = {
	.name = "pathfinder",
	.help = "cheapest way through a grid, row by row (Rodinia)",
	.exercises = "shared memory, ghost zones, one stream through a large input",
	.options = {
		[COLS] = { "cols", 100 << 10, 1, 1u << 26, "columns of the grid",
			   .quick = 20000, .tiny = 997 },
		[ROWS] = { "rows", 100, 2, 1u << 20, "rows of it; a cell is 4 bytes",
			   .quick = 60, .tiny = 43 },
		[HEIGHT] = { "height", 20, 1, 96, "rows that a launch computes", .tiny = 9 },
	},
	.state_bytes = sizeof(struct pathfinder),
	.setup = pathfinder_setup,
	.run = pathfinder_run,
	.verify = pathfinder_verify,
};
#endif
