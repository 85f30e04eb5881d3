/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one warp instruction does, 32 lanes at a time. There is no time in
 * here: who calls decides when. Results are those of the PTX specification.
 *
 * A warp's registers live in one arena: every virtual register is a row of 32
 * lanes (4 or 8 bytes each; predicates are one 32-bit mask), followed by rows
 * for the special registers and constants that the kernel reads, so that every
 * operand is arena + offset.
 *
 * Global memory is not touched by exec_step(): it returns the addresses, and
 * the caller performs the access lane by lane when the page is there
 * (exec_perform()). So a warp whose lanes touch more pages than device memory
 * holds still makes progress, one page at a time. Shared, local, parameter and
 * constant memory are performed at once.
 */
#ifndef GPUEMU_EXEC_EXEC_H
#define GPUEMU_EXEC_EXEC_H

#include "base/base.h"
#include "ptx/ptx.h"

#define EXEC_MAX_REGS	12	/* registers that one instruction reads, or writes */
#define EXEC_STACK	64	/* divergence depth; deeper is -E2BIG with a message */

/*
 * Generic addresses in these windows are shared and local memory; everything
 * else is global. Non-canonical on purpose: no managed address is in them.
 */
#define EXEC_SHARED_WINDOW	0xffff100000000000ull
#define EXEC_LOCAL_WINDOW	0xffff200000000000ull
#define EXEC_WINDOW_BYTES	0x0000000100000000ull

/* What the timing model needs of an instruction, decided once. */
struct exec_info {
	uint8_t cls;		/* enum ptx_class */
	uint8_t space;		/* enum ptx_space, for PTX_CLASS_MEMORY */
	bool is_store, is_atomic, is_branch;
	uint8_t nread, nwrite;
	uint16_t read[EXEC_MAX_REGS], write[EXEC_MAX_REGS]; /* virtual registers, guard and addresses included */
};

struct exec_program;	/* a kernel, bound to functions; immutable, shared by warps and threads */

int exec_program_create(const struct ptx_kernel *kernel,
			struct exec_program **program, struct err *err);
void exec_program_free(struct exec_program *program);
const struct ptx_kernel *exec_program_kernel(const struct exec_program *program);
const struct exec_info *exec_program_info(const struct exec_program *program,
					  uint32_t pc);
uint32_t exec_program_nregs(const struct exec_program *program); /* for scoreboards */
size_t exec_program_arena_bytes(const struct exec_program *program); /* multiple of 64 */

/* One grid. params holds kernel->param_bytes bytes. */
struct exec_launch {
	const struct exec_program *program;
	uint32_t grid[3], block[3];	/* x, y, z; every one >= 1 */
	uint32_t dynamic_shared;	/* bytes */
	uint64_t grid_id;
	const void *params;
};

/* One CTA in flight. The caller owns the memory. */
struct exec_cta {
	const struct exec_launch *launch;
	uint32_t ctaid[3];
	uint8_t *shared;		/* static + dynamic bytes, zeroed by the caller */
	uint32_t shared_bytes;
	uint8_t *local;			/* local_bytes * threads of the CTA, or NULL */
};

struct exec_stack_entry {
	uint32_t pc, reconv, mask;
};

/*
 * One warp: SIMT stack with immediate post-dominator reconvergence. The caller
 * owns struct and arena (64-byte aligned); clock, smid and warp slot are what
 * %clock, %smid and %warpid read, set by the caller.
 */
struct exec_warp {
	struct exec_cta *cta;
	uint8_t *arena;
	uint32_t pc;		/* next instruction; top of the stack */
	uint32_t mask;		/* active lanes of it; 0 = the warp has exited */
	uint32_t exited;	/* lanes that ran ret or exit (and lanes beyond the CTA) */
	uint32_t depth;
	struct exec_stack_entry stack[EXEC_STACK];
	uint64_t clock;		/* core cycles */
	uint32_t smid, nsmid, slot;
	uint32_t index;		/* warp of the CTA: threads 32*index .. */
};

void exec_warp_init(struct exec_warp *warp, struct exec_cta *cta,
		    uint32_t index, uint8_t *arena);

enum exec_outcome {
	EXEC_NEXT,	/* done; pc moved */
	EXEC_ACCESS,	/* done but for the global lanes of *access; pc moved */
	EXEC_BARRIER,	/* the warp arrived at barrier access->barrier; pc moved past it */
	EXEC_EXITED,	/* the warp has no lanes left */
	EXEC_TRAP,	/* the kernel must end: err says kernel, line, thread, address */
};

/* A memory instruction's addresses, and what it takes to perform it later. */
struct exec_access {
	uint8_t space;		/* GLOBAL when lanes != 0; SHARED, LOCAL, PARAM, CONST: already performed */
	uint8_t bytes;		/* a lane: element bytes * vector elements, a power of two, naturally aligned */
	bool is_store, is_atomic;
	uint32_t lanes;		/* lanes that still have to be performed (global) */
	uint32_t touched;	/* all lanes that accessed `space` with addr[] valid (for bank conflicts) */
	uint32_t barrier, barrier_threads; /* barrier number; thread count or 0 = all of the CTA */
	uint64_t addr[WARP_LANES]; /* global: virtual address; else offset in its space */
	const struct ptx_insn *insn;
	/* Stores and atomics: operands as they were at issue, by lane. Loads: not used. */
	uint64_t data[4][WARP_LANES];
};

/*
 * Executes the instruction at warp->pc. access is the caller's scratch, filled
 * for EXEC_ACCESS, EXEC_BARRIER and for memory instructions that were
 * performed at once (outcome EXEC_NEXT, touched != 0). active (may be NULL) := the lanes
 * whose guard was true. fault_addr (may be NULL) is set with EXEC_TRAP for bad addresses.
 */
enum exec_outcome exec_step(struct exec_warp *warp, struct exec_access *access,
			    uint32_t *active, uint64_t *fault_addr,
			    struct err *err);

/*
 * Performs `lanes` (a subset of access->lanes) whose bytes all lie in the page
 * at `page_addr`, which is at `host` now, and takes them off access->lanes.
 */
void exec_perform(struct exec_warp *warp, struct exec_access *access,
		  uint32_t lanes, uint64_t page_addr, void *host);

/* "thread (x,y,z) of CTA (x,y,z)" of the lowest of `lanes`, for messages. */
void exec_lane_name(const struct exec_warp *warp, uint32_t lanes, char *buf,
		    size_t bytes);

#endif
