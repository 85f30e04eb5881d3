/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes one warp instruction, 32 lanes at a time. There is no time in here: the caller decides
 * when. Results are those of the PTX specification.
 *
 * A warp's registers live in one arena: every physical register, and every pair,
 * is a row of 32 lanes (4 or 8 bytes each; predicates are one 32-bit mask),
 * followed by rows for the special registers, parameters and constants that the
 * kernel reads, so that every operand is arena + offset; then the SIMT stack and the frames.
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
#include "base/texture.h"
#include "ptx/ptx.h"

#define EXEC_MAX_REGS	32	/* registers that one instruction reads, or writes */
/* Short for the windows of ptx.h. */
#define EXEC_SHARED_WINDOW	PTX_SHARED_WINDOW
#define EXEC_LOCAL_WINDOW	PTX_LOCAL_WINDOW
#define EXEC_WINDOW_BYTES	PTX_WINDOW_BYTES

/* An instruction's properties for the timing model, decided once. */
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
/* The build of the lanes that this processor gets: "avx512", "avx2", "portable". */
const char *exec_lanes_name(void);

/*
 * A %s whose string is in global memory. Only the caller knows where that memory is, and when the
 * stores before this are there; so it reads and pads the string.
 */
struct exec_string {
	uint64_t addr;
	uint64_t most;		/* bytes, at most: the precision */
	uint64_t width;		/* at least, with spaces */
	bool left;		/* the spaces are behind it */
	/* Stores that are not performed yet, and come before it: their bytes are the string's. */
	const struct exec_stored *stored;
	uint32_t nstored;
};

/* What one lane of a store writes. */
struct exec_stored {
	uint64_t addr;
	uint8_t bytes;
	uint8_t data[32];
};

/* One grid. params holds kernel->param_bytes bytes. */
struct exec_launch {
	const struct exec_program *program;
	uint32_t grid[3], block[3];	/* x, y, z; every one >= 1 */
	uint32_t dynamic_shared;	/* bytes */
	uint64_t grid_id;
	uint64_t clock_mhz;		/* of %clock; %globaltimer is in ns. 0: a cycle is one */
	const void *params;
	/* The textures and surfaces, indexed by handle. */
	const struct texture *textures;
	uint32_t ntextures;
	/* Takes what printf writes, whole lines or not, no NUL at its end. NULL: it is dropped. */
	void (*print)(void *ctx, const char *text, size_t bytes);
	/* In its place among the texts. NULL: strings are the module's initial values. */
	void (*print_string)(void *ctx, const struct exec_string *string);
	void *print_ctx;
};

/* Its CTAs wait for each other, and must all be there at once. */
bool exec_launch_cooperative(const struct exec_launch *launch);

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

/* A call in progress: the lanes that have not returned, and where they came from. */
struct exec_frame {
	uint32_t call;		/* instruction */
	uint32_t base;		/* entry of the SIMT stack that called */
	uint32_t lanes;
	uint32_t local;		/* offset of the caller's frame in local memory */
};

/* A loop that the running lanes go round and others do not (spin.c). */
struct exec_spin {
	uint32_t branch, mask, rounds, look;
	uint32_t others, patience; /* other ways back since this one was met; at most */
	bool changes;		/* at the last look its registers had changed */
	uint64_t hash;		/* of the registers, at the last look */
};

/*
 * One warp: SIMT stack with immediate post-dominator reconvergence. The caller
 * owns struct and arena (64-byte aligned, exec_program_arena_bytes()); stack and
 * frames are in the arena. clock, smid, nsmid, slot and nslots are what %clock, %smid, %nsmid,
 * %warpid and %nwarpid read, set by the caller.
 */
struct exec_warp {
	struct exec_cta *cta;
	const struct exec_program *program; /* the launch's */
	uint8_t *arena;
	uint32_t pc;		/* next instruction; top of the stack */
	uint32_t mask;		/* active lanes of it; 0 = the warp has exited */
	uint32_t exited;	/* lanes that ran ret or exit (and lanes beyond the CTA) */
	uint32_t depth;
	uint32_t calls;		/* frames in use */
	struct exec_stack_entry *stack;
	struct exec_frame *frames;
	uint32_t local;		/* the running function's frame in local memory */
	struct exec_spin spin;
	uint8_t split;		/* lanes went on that would have waited for others */
	uint32_t met;		/* lanes that stand where an instruction is done for them already */
	uint32_t waiting, waiting_lanes; /* the bar.red that is not released: instruction, lanes */
	uint64_t clock;		/* core cycles */
	uint32_t smid, nsmid, slot, nslots;
	uint32_t index;		/* warp of the CTA: threads 32*index .. */
};

void exec_warp_init(struct exec_warp *warp, struct exec_cta *cta,
		    uint32_t index, uint8_t *arena);

/* Asks the host's caches for the registers of the next instruction. */
void exec_prefetch(const struct exec_warp *warp);

enum exec_outcome {
	EXEC_NEXT,	/* done; pc moved */
	EXEC_ACCESS,	/* done but for the global lanes of *access; pc moved */
	EXEC_BARRIER,	/* the warp arrived at barrier access->barrier, pc moved past it: barrier_kind */
	EXEC_EXITED,	/* the warp has no lanes left */
	EXEC_TRAP,	/* the kernel must end: err says kernel, line, thread, address */
};

/* Texels that a fetch reads, at most 8 a lane: the corners of a filter. */
#define EXEC_CORNERS	8
struct exec_texels {
	const struct texture *of[WARP_LANES];
	uint64_t at[EXEC_CORNERS][WARP_LANES];
	uint8_t raw[EXEC_CORNERS][WARP_LANES][16]; /* what is there */
	float part[3][WARP_LANES];	/* of a filter: how far the lane is behind the lower texel */
	uint8_t corners[WARP_LANES];
	uint8_t inside[WARP_LANES];	/* a bit each; the others have the border's colour */
	uint8_t left[WARP_LANES];	/* of those inside, what is not read yet */
};

/* A memory instruction's addresses, and what it takes to perform it later. */
struct exec_access {
	uint8_t space;		/* GLOBAL, TEXTURE when lanes != 0; SHARED, LOCAL, PARAM, CONST: already performed */
	uint8_t bytes;		/* a lane: element bytes * vector elements, a power of two, naturally aligned */
	bool is_store, is_atomic;
	uint32_t lanes;		/* lanes that still have to be performed (global) */
	uint32_t touched;	/* all lanes that accessed `space` with addr[] valid (for bank conflicts) */
	uint32_t barrier, barrier_threads; /* barrier number; thread count or 0 = all of the CTA */
	uint8_t barrier_kind;	/* PTX_BAR_*: a warp that arrives (PTX_BAR_ARRIVE) does not wait */
	uint32_t barrier_true, barrier_lanes; /* RED: how many lanes have a true predicate, of how many */
	uint64_t addr[WARP_LANES]; /* global: virtual address; else offset in its space */
	const struct ptx_insn *insn;
	/* Stores and atomics: operands as they were at issue, by lane. Loads: not used. */
	uint64_t data[4][WARP_LANES];
	/* TEXTURE: addr[] is a lane's first texel. The caller's; kernels with has_textures need it. */
	struct exec_texels *texels;
};

/* All zero; free() it. NULL: no memory. */
struct exec_texels *exec_texels_create(void);
/*
 * The pages that the lanes of a fetch read, ascending, and who of them reads there; room for
 * EXEC_CORNERS * WARP_LANES of both. Returns how many.
 */
uint32_t exec_texel_pages(const struct exec_access *access, uint64_t *pages, uint32_t *lanes);

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
 * at `page_addr`, which is at `host` now, and takes them off access->lanes. Of a fetch those
 * texels that are there, and lanes that have all of theirs then.
 */
void exec_perform(struct exec_warp *warp, struct exec_access *access,
		  uint32_t lanes, uint64_t page_addr, void *host);

/* What a lane of a store will write, when it is not performed yet. */
void exec_stored(const struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
		 struct exec_stored *stored);

/*
 * One phase of a named barrier (PTX ISA, bar and barrier); all zero: nobody has come. Which
 * warps have arrived is the caller's to know. A warp counts whole, however many of its lanes
 * are active.
 */
struct exec_barrier {
	uint32_t threads;		/* that have arrived */
	uint32_t expected;
	bool whole;			/* the whole CTA, less warps that have exited */
	uint32_t votes, voters;		/* bar.red: lanes with a true predicate, of how many */
};

#define EXEC_BARRIERS	16u		/* of a CTA */

/*
 * A warp arrives, with what exec_step() said of it; cta_threads: what a barrier of the whole CTA
 * waits for. False: it names another number of threads than the warps before it, and has not
 * arrived.
 */
bool exec_barrier_arrive(struct exec_barrier *barrier, const struct exec_access *access,
			 uint32_t cta_threads);
/* all_here: each warp of the CTA that has not exited has arrived in this phase. */
bool exec_barrier_complete(const struct exec_barrier *barrier, bool all_here);

/*
 * The barrier at which the warp waited with PTX_BAR_RED_* is complete: writes
 * the result for its lanes.
 * Called before the warp's next step.
 */
void exec_barrier_release(struct exec_warp *warp, const struct exec_barrier *barrier);

/* "thread (x,y,z) of CTA (x,y,z)" of the lowest of `lanes`, for messages. */
void exec_lane_name(const struct exec_warp *warp, uint32_t lanes, char *buf,
		    size_t bytes);

/* --- whole grids without time --------------------------------------------- */

/* Global memory that a grid may touch: base is at host. Sorted by base, disjoint. */
struct exec_range {
	uint64_t base, bytes;
	uint8_t *host;
};

struct exec_grid {
	const struct exec_launch *launch;
	const struct exec_range *ranges;
	uint32_t nranges;
	/*
	 * Asked for the range that holds an address which none of `ranges` does, before that is
	 * an error. The range stays where it is until the grid has ended. NULL: there is none;
	 * with *read_only set, loads alone may use it. May be NULL.
	 */
	const struct exec_range *(*find)(void *ctx, uint64_t addr, bool *read_only);
	void *find_ctx;
	/* Asked now and then; true ends the grid with -ECANCELED. May be NULL. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
	/* out */
	uint64_t warp_instructions, thread_instructions;
	uint64_t ctas;			/* that are done, also while it runs: for stop() */
	uint64_t fault_addr;
};

/*
 * Runs a grid to its end: CTAs in order, the warps of a CTA in turns that end at a
 * barrier or after a fixed number of instructions, so that warps and CTAs may wait for
 * each other's stores as far as a GPU lets them. %clock counts the CTA's warp instructions, and
 * smid is 0. Deterministic. -EFAULT: an access that is misaligned or outside; -EDEADLK: no
 * warp can go on; -EINVAL: a trap; -ENOMEM. err says kernel, line, thread.
 */
int exec_grid_run(struct exec_grid *grid, struct err *err);

#endif
