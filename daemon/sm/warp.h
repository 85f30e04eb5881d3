/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Warps by number. Private to the sm room.
 */
#ifndef GPUEMU_SM_WARP_H
#define GPUEMU_SM_WARP_H

#include "sm/kernel.h"
#include "sm/warpset.h"

struct sm_warp {
	struct exec_warp ex;
	const struct sm_kernel *kernel;
	const struct sm_op *op;		/* the i-buffer's head, when it has one */
	uint8_t unit;			/* of the head, as in sm_heads.wants */
	uint32_t ib_pc;			/* of the head */
	uint32_t next_pc;		/* fetched next */
	uint32_t line;			/* of L1I, where the last fetch found its own */
	uint8_t ib_count;
	uint8_t cta;			/* its number */
	uint8_t barrier;		/* waits there, while in wait_barrier */
	bool reduces;			/* and wants its result (bar.red) */
	bool granted;			/* may pass the point it is at */
	uint8_t cold;			/* instructions whose registers the host's caches have not */
	uint32_t inflight;		/* issued instructions that are not done */
	uint32_t away;			/* of them, out of the pipelines: in memory */
	uint32_t pending;		/* of them, with results that are not there */
	uint32_t stores;		/* not acknowledged */
	uint32_t atomics;		/* lanes not answered */
	uint8_t *arena;
	size_t arena_size;
	uint64_t *rows, *rows_long;	/* scoreboard: pending, pending on memory; in one of these: */
	uint64_t row_word[2];
	uint64_t *row_memory;
	size_t row_words;
};

struct warps {
	struct sm_warp *at;
	unsigned int n;			/* numbers there are */
	unsigned int slots;		/* there are */
	warpset resident;
	warpset fresh;		/* launched, and cta_begin() has not come to them */
};

#endif
