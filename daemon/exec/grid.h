/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What grid.c (CTAs, turns, barriers) and pack.c (the instructions of a turn)
 * share. Nobody else includes it.
 */
#ifndef GPUEMU_EXEC_GRID_H
#define GPUEMU_EXEC_GRID_H

#include "exec/private.h"

enum warp_state { WARP_READY, WARP_WAITING, WARP_EXITED };

struct grid_warp {
	struct exec_warp ex;
	uint8_t state;		/* enum warp_state */
	uint8_t barrier;	/* where it waits */
	uint16_t arrived;	/* bit b: at barrier b, in the phase that is not complete */
	uint32_t used;		/* instructions of this round */
	uint32_t stuck;		/* rounds in a row that ended while some of its lanes waited */
};

struct grid_barrier {
	struct exec_barrier phase;
	uint32_t arrived;		/* warps that have not exited since */
	const struct ptx_insn *insn;	/* the last that arrived */
};

struct grid_cta {
	struct exec_cta ex;
	struct exec_grid *grid;
	struct grid_warp *warps;
	uint32_t nwarps, live;
	uint8_t *arenas;
	struct grid_barrier barriers[EXEC_BARRIERS];
	uint64_t instructions;	/* of its warps: what %clock counts */
	bool used;		/* its memory has held a CTA before */
	const struct exec_range *last;	/* of global memory, where the last access went */
};

struct grid {
	struct exec_grid *out;
	uint64_t next, total;		/* CTAs */
	uint32_t nwarps;		/* of a CTA */
	struct grid_cta **resident;
	uint32_t nresident, max_resident;
	uint32_t rounds;		/* that a CTA has before the others have theirs */
};

/*
 * pack.c: every warp that is ready runs to a barrier, to its end, or until it has
 * used `quantum` instructions. 0, or -errno when the kernel must end.
 */
int pack_round(struct grid_cta *cta, uint32_t quantum, struct err *err);

#define NO_ADDR	UINT64_MAX

/* grid_memory.c: where an access went wrong, NO_ADDR: nowhere, a trap; the error of it. */
int grid_fail(struct exec_grid *grid, uint64_t addr);

/* grid_memory.c: a load, store or atomic of the lanes in `mask`. */
int grid_memory(struct grid_cta *cta, struct exec_warp *warp, const struct exec_op *op,
		uint32_t mask, struct err *err);

/* grid_memory.c: a fetch of a texture, a query, a surface's address. */
int grid_texture(struct grid_cta *cta, struct exec_warp *warp, const struct exec_op *op,
		 uint32_t mask, struct err *err);

/* grid.c: the warp arrived at the barrier that access names; it has no lanes left. */
int grid_arrive(struct grid_cta *cta, struct grid_warp *warp, const struct exec_access *access,
		struct err *err);
void grid_exited(struct grid_cta *cta, struct grid_warp *warp);

#endif
