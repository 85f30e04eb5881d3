/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the passes that run after linking share: control flow, liveness,
 * allocation, spills, frames. finish.c calls them in order; nothing outside
 * them includes this but their tests.
 *
 * An instruction reads, then writes. "Before i" is the set of values that are live
 * before instruction i reads; an instruction that writes is never a block's last but for
 * falling through, so what is live after it is what is live before i + 1.
 */
#ifndef GPUEMU_PTX_BACK_H
#define GPUEMU_PTX_BACK_H

#include "ptx/limits.h"
#include "ptx/ptx.h"
#include "ptx/slab.h"

/*
 * finish.c. All that is done to a linked kernel, once: control flow, post-dominators,
 * liveness, allocation with spills, frames. It comes with: insns (malloc), regs (malloc),
 * nregs, functions (name, first, end, formals, results, line, and frame_bytes: what the local
 * variables take, not rounded), calls, tables, max_nreg. Memory that it adds is the slab's; insns
 * and regs it may
 * reallocate. On an error err is set.
 */
int kernel_finish(struct ptx_kernel *kernel, struct slab *slab,
		  const struct ptx_options *options, struct err *err);

/* --- cfg.c ------------------------------------------------------------------- */

/*
 * Basic blocks and the edges between them, of all functions of a kernel; no edge
 * leaves a function. Block b is [first[b], first[b + 1]).
 */
struct cfg {
	uint32_t nblocks;
	uint32_t *first;	/* nblocks + 1 */
	uint32_t *block_of;	/* by instruction */
	uint32_t *function_of;	/* by block */
	uint32_t *succ_start, *succ; /* successors of b: succ[succ_start[b] .. succ_start[b + 1]) */
	uint32_t *pred_start, *pred;
	bool *reachable;	/* by block, from its function's first */
	uint8_t *depth;		/* by block: loops around it, by the text's order */
};

int cfg_build(const struct ptx_kernel *kernel, struct cfg *cfg);
void cfg_free(struct cfg *cfg);

/* postdom.c: fills `reconv` of every branch. */
int postdom_solve(struct ptx_kernel *kernel, const struct cfg *cfg);

/* --- refs.c: the registers that an instruction names ---------------------------- */

struct ref {
	uint32_t *reg;		/* where it is named */
	bool write;
	bool shared;		/* the place belongs to several instructions: results at ret */
};

uint32_t refs_max(const struct ptx_kernel *kernel);
/* Fills refs, which has room for refs_max(). */
uint32_t insn_refs(const struct ptx_kernel *kernel, const struct cfg *cfg, uint32_t insn,
		   struct ref *refs);
/* The function that a call enters, NULL: none, or no call. */
const struct ptx_function *insn_callee(const struct ptx_kernel *kernel,
				       const struct ptx_insn *insn);
/*
 * Whether reg is among a call's results. When the call is guarded it is live across, but
 * only in lanes that do not call: the callee may write it.
 */
bool call_returns(const struct ptx_kernel *kernel, const struct ptx_insn *insn, uint32_t reg);
/* 32-bit registers it takes; 0: a predicate. */
uint32_t reg_words(const struct ptx_kernel *kernel, uint32_t reg);

/* --- liveness.c ---------------------------------------------------------------- */

/* Live before instructions [from, to). */
struct span {
	uint32_t from, to;
};

/* Spans of register r: at[start[r] .. start[r + 1]), ascending, disjoint, not touching. */
struct ranges {
	uint32_t *start;
	struct span *at;
};

/* One mention of a register. */
struct mention {
	uint32_t insn;
	uint16_t ref;		/* of insn_refs() */
	/* A guarded write leaves the other lanes' value in place: it does not kill. */
	bool use, kill;
};

struct liveness {
	const struct ptx_kernel *kernel;
	const struct cfg *cfg;
	struct ref *refs;
	uint32_t *start;	/* by register: its mentions, in the order of the text */
	struct mention *mentions;
	uint32_t *formal_of;	/* by register: 1 + the function, 0: not a formal */
	/* By block; equal to tag when it holds for the register at hand. */
	uint32_t *live_in, *live_out, *reached, *kills;
	uint32_t *mention_at;	/* by block: 1 + its first mention, while spans are made; else 0 */
	uint64_t *set;		/* a bit a block; none is set between two registers */
	uint32_t *stack;
	uint32_t *list, nlist;	/* blocks at whose end it is live */
	uint64_t steps;
	/* The register at hand: its mentions [lo, hi). */
	uint32_t tag, lo, hi;
};

int liveness_init(struct liveness *s, const struct ptx_kernel *kernel, const struct cfg *cfg);
void liveness_free(struct liveness *s);
/* Solves one register: live_in, live_out, list. -E2BIG: more work than any real kernel. */
int liveness_flood(struct liveness *s, uint32_t reg);
/* One past the mentions of the block that mention m is in. */
uint32_t liveness_block_end(const struct liveness *s, uint32_t m);
/* All registers. */
int liveness_ranges(const struct ptx_kernel *kernel, const struct cfg *cfg, struct ranges *ranges);
void ranges_free(struct ranges *ranges);
bool ranges_live(const struct ranges *ranges, uint32_t reg, uint32_t insn);

/* finish.c: by instruction, 32-bit registers live before it. -ENOMEM. */
int count_live(const struct ptx_kernel *kernel, const struct ranges *ranges, uint32_t *live);

/* --- webs.c ---------------------------------------------------------------------- */

/*
 * Gives every def-use web a register of its own, so that two values that only share
 * a name can be in different places. A write that nobody reads becomes a web alone.
 */
int webs_split(struct ptx_kernel *kernel, const struct cfg *cfg);

/* --- callgraph.c ------------------------------------------------------------------ */

struct callgraph {
	uint32_t *order;	/* functions, callees first; those of one cycle stand together */
	uint32_t *cycle;	/* by function: number of its strongly connected component */
};

int callgraph_build(const struct ptx_kernel *kernel, struct callgraph *graph);
void callgraph_free(struct callgraph *graph);
/* A call whose callee can come back to the caller. */
bool call_recurs(const struct callgraph *graph, const struct ptx_kernel *kernel, uint32_t caller,
		 const struct ptx_insn *insn);

/* Fills `recursive` of the functions. */
void callgraph_mark(const struct callgraph *graph, struct ptx_kernel *kernel);

/* --- frame.c ------------------------------------------------------------------------ */

/* Rounds the frames, fills local_bytes and max_calls. */
int frames_lay_out(struct ptx_kernel *kernel, const struct callgraph *graph,
		   uint32_t stack_bytes);

/* --- alloc.c --------------------------------------------------------------------------- */

/* What the allocation works on: the kernel as it is between two rounds of spilling. */
struct alloc {
	struct ptx_kernel *kernel;
	const struct cfg *cfg;
	const struct callgraph *graph;
	const struct ranges *ranges;	/* where values are live */
	struct ranges taken;		/* where they take their register: also during wide writes */
	uint32_t *regs;			/* registers that are ever live, by function */
	uint32_t *regs_start;		/* by function, nfunctions + 1 */
	uint32_t *floor;		/* by register: what calls it is live across leave alone */
	bool *returned;			/* by register: by a guarded call */
	uint32_t *phys;			/* by register, out */
	uint32_t *best;			/* by register, for color.c */
	uint64_t work;			/* rows that color.c may yet look at to save a register */
	uint32_t *preds;		/* by function: predicates that it and its callees write */
	uint32_t maxregs;
	struct liveness mentions;	/* for those who spill: alloc_mentions() */
};

/* An instruction that may write one destination before it has read all sources. */
bool insn_is_wide(const struct ptx_insn *insn);
int alloc_init(struct alloc *a, struct ptx_kernel *kernel, const struct cfg *cfg,
	       const struct callgraph *graph, const struct ranges *ranges, uint32_t maxregs);
void alloc_free(struct alloc *a);
int alloc_mentions(struct alloc *a);
/* Fills floor of function f's registers, its callees being done. */
int alloc_floors(struct alloc *a, uint32_t f);
/* 32-bit registers of a guarded call's results that are live before it and after. */
uint32_t alloc_results_across(const struct alloc *a, uint32_t insn);

/* --- color.c -------------------------------------------------------------------------- */

/*
 * Gives the registers of function f their places below maxregs, and sets the
 * function's regs. *failed: a list (malloc) of registers for which there is no place;
 * predicates among them mean that there are more than 255.
 */
int color_function(struct alloc *a, uint32_t f, uint32_t **failed, uint32_t *nfailed);

/*
 * The same function again, in as many places as it has: registers with a larger weight take lower
 * ones. Leaves it as it was where that does not come out.
 */
int color_again(struct alloc *a, uint32_t f, const uint32_t *weight);

/* --- uniform.c, scratchpad.c, phases.c: Zorua's phases ------------------------------------- */

/*
 * together[i]: all lanes of a warp that have not exited execute instruction i of the entry at a
 * time. After postdom_solve(). Conservative. -ENOMEM.
 */
int uniform_solve(struct ptx_kernel *kernel, const struct cfg *cfg, bool *together);

struct spills;

/* scratchpad.c. Cells of scratchpad, and which of them are live where. */
#define PTX_SCRATCHPAD_CELLS	64
struct scratchpad {
	uint32_t ncells;
	uint32_t cells[PTX_SCRATCHPAD_CELLS + 1]; /* cell c is [cells[c], cells[c + 1]) */
	uint64_t *live;		/* by instruction: cells live before it or accessed by it */
	struct ptx_extent *extents; /* by instruction: what it accesses itself */
};
/* any: the kernel may have shared memory. -ENOMEM. */
int scratchpad_find(struct scratchpad *s, struct ptx_kernel *kernel, const struct cfg *cfg,
		    const struct spills *spills, bool any);
void scratchpad_free(struct scratchpad *s);
/* Where the last of these cells ends; 0: there is none. */
uint32_t scratchpad_end(const struct scratchpad *s, uint64_t cells);
/* The bytes of these cells. The last cell of all ends at `fixed`, the kernel's static bytes. */
uint32_t scratchpad_bytes(const struct scratchpad *s, uint64_t cells, uint32_t fixed);

/* Where phases begin, before registers are renumbered for them. */
struct phases {
	uint32_t n, cap;
	uint32_t *at;		/* ascending instructions; the first is 0 */
	struct scratchpad scratchpad;
	uint32_t *live;		/* by instruction: 32-bit registers live before it */
	bool *quiet;		/* by point: it needs no specifier (phases_compare()) */
	uint8_t plenty;		/* of options */
};
/* After postdom_solve(). -ENOMEM. */
int phases_find(struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		const struct ranges *ranges, const struct spills *spills);
void phases_free(struct phases *p);
/* weight[register]: at how many of the points it is live. */
void phases_weigh(const struct phases *p, const struct ranges *ranges, uint32_t nregs,
		  uint32_t *weight);
/*
 * Finds the points that need no specifier, by the allocation in kernel->phys: needs do not change
 * there, whichever phase a warp comes from; or it is the first point, and no branch leads back to
 * it. -ENOMEM.
 */
int phases_compare(struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		   const struct ranges *ranges);
/* Makes room for the specifiers: an instruction before each point that has one, which p->at then is. */
int phases_insert(struct phases *p, struct spills *s);
/*
 * Fills kernel->phases: what is in use from each point to the next ones, by the allocation in
 * kernel->phys. cfg and ranges are of the instructions as they are now.
 */
int phases_tell(const struct phases *p, struct ptx_kernel *kernel, const struct cfg *cfg,
		const struct ranges *ranges, struct slab *slab);

/* --- spills: slots.c, spill.c, rewrite.c, save.c ------------------------------------------ */

#define NO_SLOT	UINT32_MAX

/* A place in a function's frame, while values are in it: from its first write to its last read. */
struct slot {
	uint32_t function, bytes; /* 4 or 8 */
	uint32_t from, to;	/* instructions; never empty */
	uint32_t offset;	/* in the frame, in the end */
};

/* The kernel's spills; kept from one round to the next. */
struct spills {
	struct ptx_kernel *kernel;
	struct slot *slots;
	uint32_t nslots, slots_cap;
	uint32_t regs_cap;
	/* note[instruction]: the slot that an inserted load reads or store writes, else NO_SLOT. */
	uint32_t *note;
	/* Indexed by register; regs_cap entries. */
	uint32_t *slot_of;	/* where its value also is, NO_SLOT */
	bool *pinned;		/* as short as can be: spilling it again helps nobody */
	bool *victim;		/* to be spilled in this round */
	uint32_t nvictims;
	uint32_t round;
	/* room[instruction], this round's: 32-bit registers left when the victims are gone. */
	int32_t *room;
};

int spills_init(struct spills *s, struct ptx_kernel *kernel);
void spills_free(struct spills *s);
/* After registers were renamed; nothing has been spilled by then but around calls. */
int spills_sync(struct spills *s);
/* A register like another one, made by spilling. */
int spills_new_reg(struct spills *s, uint32_t like, uint32_t *reg);
int spills_new_slot(struct spills *s, uint32_t function, uint32_t bytes, uint32_t from,
		    uint32_t to, uint32_t *slot);
/* Offsets in the frames, and what the kernel says about spills. */
int slots_place(struct spills *s);

/*
 * spill.c: marks what function f has to spill so that no more than `most` 32-bit
 * registers are taken at once; how many, in *chosen. -ENOSPC: it cannot be done below
 * maxregs, *line says where.
 */
int spill_choose(struct spills *s, struct alloc *a, uint32_t f, uint32_t most,
		 uint32_t *chosen, uint32_t *line);

/* The instructions that a rewrite makes. */
struct writer {
	struct spills *spills;
	struct ptx_insn *insns;
	uint32_t *note, n, insns_cap, note_cap;
	uint32_t *start;	/* by old instruction, ninsns + 1: where a branch to it goes */
};

int writer_init(struct writer *w, struct spills *s);
int writer_add(struct writer *w, const struct ptx_insn *insn, uint32_t slot);
/* ld or st of a register at a slot. */
int writer_add_access(struct writer *w, enum ptx_opcode op, uint32_t reg, uint32_t slot,
		      const struct ptx_insn *served);
/* Moves what was written into the kernel; branches and functions follow. Frees the writer. */
void writer_commit(struct writer *w);
void writer_free(struct writer *w);

/* repeat.c: the only instruction that writes reg and may stand at its uses instead, or NO_INSN. */
#define NO_INSN	UINT32_MAX
uint32_t repeatable_definition(const struct spills *s, const struct liveness *l, uint32_t reg);

/* rewrite.c: spills the victims. */
int spill_rewrite(struct spills *s, struct alloc *a);
/* save.c: saves what is live across recursive calls. */
int save_around_calls(struct spills *s, const struct cfg *cfg, const struct callgraph *graph,
		      const struct ranges *ranges);

#endif
