// SPDX-License-Identifier: GPL-2.0
/*
 * nw: the scores of the best global alignment of two sequences (Needleman and
 * Wunsch, J. Mol. Biol. 48, 1970), as Che et al. lay it out ("Rodinia", IISWC
 * 2009): the matrix is cut into tiles, a launch computes the tiles of one
 * anti-diagonal, and so does a CTA with the cells of its tile.
 */
#define NW_TILE	32u	/* cells of a tile's edge, and threads of a CTA */
#define NW_SMALL 16u	/* the same with tile=16 */

#ifdef GPUEMU_DEVICE
#include "device.h"

#define NAME nw
#define TILE NW_TILE
#include "nw_tile.h"

#define NAME nw_small
#define TILE NW_SMALL
#include "nw_tile.h"

#else
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define NW_SYMBOLS	24	/* of the alphabet: amino acids and their ambiguities */

enum { ROWS, COLS, PENALTY, TILE, DIAGONALS };

struct nw {
	int32_t *score, *similarity;
};

/* Two random sequences, and what each pair of symbols is worth. */
struct nw_input {
	int32_t worth[NW_SYMBOLS][NW_SYMBOLS];
	uint8_t *down, *across;
};

static int make_input(struct workload *w, struct nw_input *in)
{
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	struct rng rng;

	in->down = check_memory(w, rows + cols, 1);
	if (!in->down)
		return -ENOMEM;
	in->across = in->down + rows;
	rng_seed(&rng, w->seed);
	/* Symmetric, and best on the diagonal, as substitution matrices are. */
	for (unsigned int a = 0; a < NW_SYMBOLS; a++) {
		in->worth[a][a] = 4 + (int32_t)rng_below(&rng, 8);
		for (unsigned int b = 0; b < a; b++)
			in->worth[a][b] = in->worth[b][a] = (int32_t)rng_below(&rng, 8) - 4;
	}
	for (uint64_t i = 0; i < rows + cols; i++)
		in->down[i] = (uint8_t)rng_below(&rng, NW_SYMBOLS);
	return 0;
}

/* Tiles along the two edges, and the anti-diagonals that are launched: from `first`, before `end`. */
struct launches {
	uint32_t down, across, first, end;
};

static struct launches launches(const struct workload *w)
{
	uint64_t tile = w->option[TILE], n = w->option[DIAGONALS];
	struct launches l = {
		.down = (uint32_t)DIV_ROUND_UP(w->option[ROWS], tile),
		.across = (uint32_t)DIV_ROUND_UP(w->option[COLS], tile),
	};

	l.end = l.down + l.across - 1;
	if (n && n < l.end) {
		l.first = (l.end - (uint32_t)n) / 2;
		l.end = l.first + (uint32_t)n;
	}
	return l;
}

/* How many cells of row y lie in tiles before anti-diagonal d. */
static uint64_t cells_before(const struct workload *w, uint64_t y, uint32_t d)
{
	uint64_t tile = w->option[TILE], down = y / tile;

	return d > down ? MIN((d - down) * tile, w->option[COLS]) : 0;
}

/* The CPU's way: row y of the scores from the one above, and of the similarities. */
static void align_row(const struct workload *w, const struct nw_input *in, uint64_t y,
		      const int32_t *above, int32_t *row, int32_t *similarity)
{
	int32_t penalty = (int32_t)w->option[PENALTY];

	row[0] = above[0] - penalty;
	for (uint64_t x = 0; x < w->option[COLS]; x++) {
		int32_t best = above[x], gap = MAX(above[x + 1], row[x]) - penalty;

		similarity[x] = in->worth[in->across[x]][in->down[y]];
		best += similarity[x];
		row[x + 1] = MAX(best, gap);
	}
}

/* The scores that the first launch finds: what comes before it is the CPU's. */
static int align_before(struct workload *w, const struct nw_input *in)
{
	struct nw *s = w->state;
	uint64_t pitch = w->option[COLS] + 1;
	uint32_t first = launches(w).first;
	int32_t *lines = first ? check_memory(w, 3 * pitch, sizeof(int32_t)) : NULL;
	int32_t *above = lines, *row = lines ? lines + pitch : NULL;

	if (!first)
		return 0;
	if (!lines)
		return -ENOMEM;
	memcpy(above, s->score, pitch * sizeof(*above));
	for (uint64_t y = 0; y < w->option[ROWS] && cells_before(w, y, first); y++) {
		int32_t *swap = above;

		align_row(w, in, y, above, row, lines + 2 * pitch);
		memcpy(s->score + (y + 1) * pitch + 1, row + 1,
		       cells_before(w, y, first) * sizeof(*row));
		above = row;
		row = swap;
	}
	free(lines);
	return 0;
}

static int nw_setup(struct workload *w)
{
	struct nw *s = w->state;
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];
	int32_t penalty = (int32_t)w->option[PENALTY];
	struct nw_input in;
	int ret;

	if (w->option[TILE] != NW_TILE && w->option[TILE] != NW_SMALL)
		return err_set(&w->err, -EINVAL, "tile: %" PRIu64 "; there are: %u, %u",
			       w->option[TILE], NW_SMALL, NW_TILE);
	ret = workload_alloc(w, (void **)&s->score, (rows + 1) * (cols + 1) * sizeof(int32_t),
			     WORKLOAD_INOUT, "score");
	if (!ret)
		ret = workload_alloc(w, (void **)&s->similarity, rows * cols * sizeof(int32_t),
				     WORKLOAD_IN, "similarity");
	if (!ret)
		ret = make_input(w, &in);
	if (ret)
		return ret;
	for (uint64_t x = 0; x <= cols; x++)
		s->score[x] = -(int32_t)x * penalty;
	for (uint64_t y = 0; y < rows; y++) {
		s->score[(y + 1) * (cols + 1)] = -(int32_t)(y + 1) * penalty;
		for (uint64_t x = 0; x < cols; x++)
			s->similarity[y * cols + x] = in.worth[in.down[y]][in.across[x]];
	}
	ret = align_before(w, &in);
	free(in.down);
	return ret;
}

static int nw_run(struct workload *w)
{
	struct nw *s = w->state;
	uint32_t rows = (uint32_t)w->option[ROWS], cols = (uint32_t)w->option[COLS];
	uint32_t tile = (uint32_t)w->option[TILE];
	struct launches l = launches(w);
	int ret = 0;

	for (uint32_t d = l.first; d < l.end && !ret; d++) {
		uint32_t first = d < l.down ? 0 : d - (l.down - 1);
		uint32_t last = MIN(d, l.across - 1);

		ret = WORKLOAD_LAUNCH(w, tile == NW_TILE ? "nw" : "nw_small", last - first + 1, tile,
				      gpuemu_arg_ptr(s->score), gpuemu_arg_ptr(s->similarity),
				      gpuemu_arg_u32(rows), gpuemu_arg_u32(cols),
				      gpuemu_arg_u32(d), gpuemu_arg_u32(first),
				      gpuemu_arg_s32((int32_t)w->option[PENALTY]));
	}
	return ret ? ret : workload_synchronize(w);
}

/* Row after row, from the sequences themselves; cells that no launch reaches are 0 as they were. */
static int compare(struct workload *w, const struct nw_input *in, int32_t *above, int32_t *row,
		   int32_t *want, int32_t *similarity)
{
	struct nw *s = w->state;
	uint64_t cols = w->option[COLS], rows = w->option[ROWS];
	int32_t penalty = (int32_t)w->option[PENALTY];
	uint32_t end = launches(w).end;
	int ret;

	for (uint64_t x = 0; x <= cols; x++)
		above[x] = -(int32_t)x * penalty;
	ret = check_ints(w, "score", 0, s->score, above, cols + 1);
	for (uint64_t y = 0; y < rows && !ret; y++) {
		uint64_t there = cells_before(w, y, end) + 1;
		int32_t *swap = above;

		align_row(w, in, y, above, row, similarity);
		memcpy(want, row, there * sizeof(*want));
		memset(want + there, 0, (cols + 1 - there) * sizeof(*want));
		ret = check_ints(w, "score", (y + 1) * (cols + 1),
				 s->score + (y + 1) * (cols + 1), want, cols + 1);
		if (!ret)
			ret = check_ints(w, "similarity", y * cols, s->similarity + y * cols,
					 similarity, cols);
		above = row;
		row = swap;
	}
	return ret;
}

static int nw_verify(struct workload *w)
{
	uint64_t pitch = w->option[COLS] + 1;
	int32_t *lines = check_memory(w, 4 * pitch, sizeof(int32_t));
	struct nw_input in;
	int ret;

	if (!lines)
		return -ENOMEM;
	ret = make_input(w, &in);
	if (!ret) {
		ret = compare(w, &in, lines, lines + pitch, lines + 2 * pitch, lines + 3 * pitch);
		free(in.down);
	}
	free(lines);
	return ret;
}

const struct workload_ops workload_nw = {
	.name = "nw",
	.help = "alignment scores of two sequences, Needleman-Wunsch (Rodinia)",
	.exercises = "many short dependent launches, few warps, tiles along a diagonal",
	.options = {
		[ROWS] = { "rows", 2048, 1, 1u << 20, "length of one sequence; 8 bytes a cell",
			   .quick = 700, .tiny = 131 },
		[COLS] = { "cols", 2048, 1, 1u << 20, "length of the other",
			   .quick = 700, .tiny = 150 },
		[PENALTY] = { "penalty", 10, 0, 1000, "what a gap costs" },
		[TILE] = { "tile", NW_TILE, NW_SMALL, NW_TILE,
			   "cells of a tile's edge, threads of a CTA: 16 (Rodinia) or 32" },
		[DIAGONALS] = { "diagonals", 0, 0, 1u << 16,
				"launches, where the anti-diagonals are longest; 0: all" },
	},
	.state_bytes = sizeof(struct nw),
	.setup = nw_setup,
	.run = nw_run,
	.verify = nw_verify,
};
#endif
