// SPDX-License-Identifier: GPL-2.0
/*
 * nqueens: how many ways n queens stand on a board and none attacks another. The CPU sets the
 * first rows; each thread goes through what is left of its boards with a stack in shared
 * memory (the backtracking of Somers' bit sets; nqu in GPGPU-Sim's suite).
 */
#define NQUEENS_LEVELS	10	/* rows that a thread can set */

#ifdef GPUEMU_DEVICE
#include "device.h"

extern __shared__ uint32_t stacks[];

/*
 * Of each level: which columns and diagonals are attacked, and which places are still to try. A
 * warp's words are beside one another, so they are in different banks.
 */
KERNEL nqueens(const uint32_t *boards, uint32_t count, uint32_t rows, uint32_t all,
	       uint32_t *found)
{
	uint32_t t = threadIdx.x, block = blockDim.x, stack = NQUEENS_LEVELS * block;
	uint32_t *columns = stacks + t, *left = columns + stack, *right = left + stack;
	uint32_t *open = right + stack, i = blockIdx.x * block + t, solutions = 0;
	uint32_t at = 0;
	int level = 0;

	if (i >= count)
		return;
	columns[0] = boards[i];
	left[0] = boards[count + i];
	right[0] = boards[2 * count + i];
	open[0] = all & ~(columns[0] | left[0] | right[0]);
	while (level >= 0) {
		uint32_t free = open[at], queen = free & -free;

		if (!queen) {
			level--;
			at -= block;
			continue;
		}
		open[at] = free & ~queen;
		if (level == (int)rows - 1) {
			solutions++;
			continue;
		}
		columns[at + block] = columns[at] | queen;
		left[at + block] = (left[at] | queen) << 1;
		right[at + block] = (right[at] | queen) >> 1;
		level++;
		at += block;
		open[at] = all & ~(columns[at] | left[at] | right[at]);
	}
	found[i] = solutions;
}

#else
#include <errno.h>
#include <inttypes.h>

#include "fill.h"

enum { N, ROWS, BLOCK };

struct nqueens {
	uint32_t *boards, *found;	/* columns, left and right diagonals of all boards */
	uint64_t count;
};

/* Rows that the CPU sets, so that a thread's fit its stack. */
static uint32_t set_rows(const struct workload *w)
{
	uint32_t n = (uint32_t)w->option[N], rows = (uint32_t)MIN(w->option[ROWS], (uint64_t)n);

	return n - rows;
}

/* All ways to set the first rows: counted, or written where boards is not NULL. */
static uint64_t set(const struct workload *w, uint32_t row, uint32_t columns, uint32_t left,
		    uint32_t right, uint32_t *boards, uint64_t count, uint64_t at)
{
	uint32_t all = (1u << w->option[N]) - 1;

	if (row == set_rows(w)) {
		if (boards) {
			boards[at] = columns;
			boards[count + at] = left & all;
			boards[2 * count + at] = right;
		}
		return at + 1;
	}
	for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
		uint32_t queen = free & -free;

		at = set(w, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1,
			 boards, count, at);
	}
	return at;
}

static int nqueens_setup(struct workload *w)
{
	struct nqueens *q = w->state;
	int ret;

	q->count = set(w, 0, 0, 0, 0, NULL, 0, 0);
	/* Two queens and three have no way at all. */
	ret = workload_alloc(w, (void **)&q->boards, MAX(q->count, 1ull) * 3 * sizeof(uint32_t),
			     WORKLOAD_IN, "boards");
	if (!ret)
		ret = workload_alloc(w, (void **)&q->found, MAX(q->count, 1ull) * sizeof(uint32_t),
				     WORKLOAD_OUT, "found");
	if (!ret)
		set(w, 0, 0, 0, 0, q->boards, q->count, 0);
	return ret;
}

static int nqueens_run(struct workload *w)
{
	struct nqueens *q = w->state;
	uint32_t n = (uint32_t)w->option[N], block = (uint32_t)w->option[BLOCK];
	int ret;

	w->shared = 4 * NQUEENS_LEVELS * block * (uint32_t)sizeof(uint32_t);
	ret = WORKLOAD_LAUNCH(w, "nqueens",
			      (uint32_t)DIV_ROUND_UP(MAX(q->count, 1ull), block), block,
			      gpuemu_arg_ptr(q->boards),
			      gpuemu_arg_u32((uint32_t)q->count), gpuemu_arg_u32(n - set_rows(w)),
			      gpuemu_arg_u32((1u << n) - 1), gpuemu_arg_ptr(q->found));
	return ret ? ret : workload_synchronize(w);
}

static uint32_t solutions(uint32_t all, uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t n = columns == all;

	for (uint32_t free = all & ~(columns | left | right); free; free &= free - 1) {
		uint32_t queen = free & -free;

		n += solutions(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
	}
	return n;
}

/* By recursion, and the whole number from the literature (OEIS A000170). */
static int nqueens_verify(struct workload *w)
{
	static const uint32_t known[] = { 0, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200,
					  73712, 365596, 2279184, 14772512 };
	struct nqueens *q = w->state;
	uint32_t all = (1u << w->option[N]) - 1;
	uint32_t *want = check_memory(w, 4 * q->count + 1, sizeof(uint32_t));
	uint64_t sum = 0;
	int ret;

	if (!want)
		return -ENOMEM;
	set(w, 0, 0, 0, 0, want, q->count, 0);
	for (uint64_t i = 0; i < q->count; i++) {
		want[3 * q->count + i] = solutions(all, want[i], want[q->count + i],
						   want[2 * q->count + i]);
		sum += q->found[i];
	}
	ret = check_words(w, "boards", 0, q->boards, want, 3 * q->count);
	if (!ret)
		ret = check_words(w, "found", 0, q->found, want + 3 * q->count, q->count);
	if (!ret && sum != known[w->option[N]])
		ret = err_set(&w->err, -EBADMSG, "%" PRIu64 " ways, there are %u", sum,
			      known[w->option[N]]);
	free(want);
	return ret;
}

const struct workload_ops workload_nqueens = {
	.name = "nqueens",
	.help = "ways to set n queens on a board (nqu of GPGPU-Sim)",
	.exercises = "divergence without end, a stack in shared memory, bit logic",
	.options = {
		[N] = { "n", 12, 1, 16, "queens", .quick = 11, .tiny = 10, .large = 14 },
		[ROWS] = { "rows", 9, 1, NQUEENS_LEVELS, "that a thread sets; the CPU sets those before",
			   .quick = 7, .tiny = 5, .large = 10 },
		[BLOCK] = { "block", 96, 32, 288, "threads of a CTA; 160 bytes of shared memory each" },
	},
	.state_bytes = sizeof(struct nqueens),
	.setup = nqueens_setup,
	.run = nqueens_run,
	.verify = nqueens_verify,
};
#endif
