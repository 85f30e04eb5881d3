/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an SM's side of the coordinator knows: virtual.c, virtual_registers.c and
 * virtual_scratchpad.c for what is in swap, virtual_growth.c, virtual_count.c. Private to these.
 */
#ifndef GPUEMU_SM_CTA_VIRTUAL_STATE_H
#define GPUEMU_SM_CTA_VIRTUAL_STATE_H

#include "coordinator/coordinator.h"
#include "sm/cta/virtual.h"

#define MAX_WARPS	256u
#define MAX_CTAS	256u
#define SETS		64u
#define SET_REGISTERS	(PTX_SET_REGS * WARP_LANES)
#define LINE		(WARP_LANES * 4u)	/* bytes of a warp's register */
#define SET_BYTES	(SET_REGISTERS * 4u)
#define CONTEXT		128u		/* bytes of a warp's PC and SIMT stack */

/* Where they are in swap, from sm_background() on: sets of registers, contexts, scratchpad. */
#define SWAP_CONTEXTS	((uint64_t)(MAX_WARPS + 1) * SETS * SET_BYTES)
#define SWAP_SCRATCHPAD	(SWAP_CONTEXTS + MAX_WARPS * CONTEXT)

struct virt;

/* A set of a warp's registers or of a CTA's scratchpad, for the background jobs that fill it. */
struct vset {
	struct virt *v;
	uint8_t owner, number;
};

struct vwarp {
	struct virt *v;			/* it is also what background jobs are told to */
	uint8_t number;
	const struct sm_kernel *kernel;	/* of its CTA */
	bool present;
	bool slotted;			/* as the SM sees it, or about to */
	bool barrier;
	bool exited;			/* and is not given back yet */
	bool returns;			/* its context is being read, then it is scheduled */
	bool asked, told;		/* it is at a phase point; and the coordinator knows */
	bool held, stopped;		/* it may not go on; and has come to an instruction */
	uint32_t phase, next_phase;
	uint32_t pc;			/* of the instruction that asked last */
	unsigned int slot;
	uint64_t head;			/* sets that the next instruction names, when it has asked */
	unsigned int reads;		/* operands on their way */
	/* On their way, and nobody waits: an instruction was taken back, or the warp was halted. */
	unsigned int stale_reads, stale_contexts;
	uint64_t coming;		/* sets that have a place, and are being read into it */
	uint64_t awaited;		/* of them, those whose registers the next instruction reads */
};

/* Cycles of schedulers. */
struct idleness {
	uint64_t idle, mem, pipeline;
};

/* virtual_growth.c. CTAs are counted beyond virtual_specified(). */
struct growth {
	unsigned int lacked;		/* epochs, since there were too many warps */
	unsigned int extra, kept;	/* CTAs: that may run; those that were worth it */
	bool here;			/* the trial's CTAs were there at the last epoch's end */
	bool look_back;			/* the next trial is of fewer CTAs than are kept */
	bool relieved;			/* all go on, though some are too many */
	unsigned int turn;		/* epochs since that began or ended */
	unsigned int doubled;		/* how often: a turn of either is that much longer */
	unsigned int measured;		/* epochs of the trial, */
	uint64_t sum;			/* and what they issued */
	uint64_t rate;			/* instructions of an epoch with `kept` */
	struct verdict *verdict;	/* of the kernel */
};

/* What trials have shown of a kernel. */
struct verdict {
	char kernel[64];		/* its name, or how it begins; "": none */
	unsigned int hold, wait;	/* epochs to the next trial; those after the next that fails */
};

struct virt {
	const struct gpu_spec *spec;
	struct sm *sm;
	bool zorua;
	struct coordinator *c;
	const struct sm_kernel *kernel;	/* of all that is here; `mixed`: of some */
	const struct sm_kernel *kernels[MAX_CTAS]; /* of each CTA; NULL: it is not here */
	bool mixed;			/* there are CTAs of several */
	unsigned int resident;		/* CTAs */
	uint32_t unit;			/* bytes of the coordinator's units of scratchpad */
	unsigned int nwarps, nctas;	/* that the SM knows by number */
	struct vwarp warps[MAX_WARPS];
	uint64_t filling;		/* sets of the warp that is asking */
	struct vset *registers;		/* 64 a warp; NULL: nothing is ever in swap */
	struct vset *sets;		/* of scratchpad, 64 a CTA; NULL: it has no table */
	uint64_t coming[MAX_CTAS];	/* those that have a place, and are read into it */
	uint64_t age[MAX_CTAS];		/* the older, the less */
	unsigned int runs;		/* warps that may run; UINT32_MAX: all */
	unsigned int held;		/* those that may not */
	uint64_t ages;
	uint64_t epoch;			/* the cycle in which it ends */
	struct idleness begin;		/* at its begin */
	bool launched;			/* there was a CTA, the last one of this launch: */
	uint64_t grid;
	bool faults_are_mem;		/* zorua.faults is `mem` */
	bool idle_has_mem;		/* zorua.c_idle is `all` */
	bool by_lack;			/* zorua.ctas is `lack` */
	bool by_stall;			/* zorua.slots is `vt` */
	bool again;			/* a warp without a slot may be ready: in the next cycle */
	struct growth growth;		/* then */
	struct verdict verdicts[8];
	unsigned int next_verdict;	/* of them, the place to be taken next */
	uint64_t issued;		/* instructions, at the epoch's begin */
	struct coord_counters counted;
	bool room;			/* wlm: there was room for another CTA; zorua: none waited */
	uint64_t now;
};

/* virtual_growth.c */
/*
 * CTAs of the kernel that come without a trial: those whose warps have slots, and whose registers
 * and scratchpad are there as they specify them. CTA slots are virtual, as many as there are
 * numbers, so that they bind only a plain SM.
 */
unsigned int virtual_specified(const struct virt *v, const struct sm_kernel *kernel);
bool virtual_lacking(const struct virt *v, const struct idleness *epoch);
/* A launch of v->kernel begins. */
void virtual_growth_begin(struct virt *v);
/* An epoch has ended, in which the SM issued so many instructions. */
void virtual_growth(struct virt *v, const struct idleness *epoch, uint64_t issued);

/*
 * CTAs of the kernel that the SM takes. Beyond virtual_specified() it takes no more than its share
 * of those that wait: a CTA that is held here could have begun on an SM that has none. Where
 * something is in swap o_thresh has decided, and there is no such limit.
 */
unsigned int virtual_growth_ctas(const struct virt *v, const struct sm_kernel *kernel);

/* Warps that may run until the next epoch ends. */
unsigned int virtual_growth_runs(struct virt *v);

/* virtual_hold.c */
/* The oldest v->runs warps go on, the others are held. True: some have stopped and go on. */
bool virtual_hold(struct virt *v);

/* virtual_count.c */
/* What the coordinator has counted since this was called last is the kernel's. */
void virtual_count(struct virt *v, const struct sm_kernel *kernel);
/* The same while there are CTAs of several kernels; else it can wait for the cycle's end. */
void virtual_count_for(struct virt *v, const struct sm_kernel *kernel);

/* virtual_registers.c */
/* -ENOMEM. */
int virtual_registers_create(struct virt *v);
void virtual_registers_destroy(struct virt *v);
/*
 * The instruction at the warp's head (w->pc) names its sets. May it issue now? Else
 * sm_resource_granted() follows when its operands have come.
 */
bool virtual_look_up(struct vwarp *w);
/* The warp loses its slot, and its head will ask again. It was let through, or it asked. */
void virtual_look_up_again(struct vwarp *w, bool let_through);
/* Sets of all warps that are being read into their places. */
unsigned int virtual_coming(const struct virt *v);
/* The coordinator's requests (struct coord_ops). */
void virtual_spill_registers(void *ctx, unsigned int warp, unsigned int set);
void virtual_fill_registers(void *ctx, unsigned int warp, unsigned int set);

/* virtual_scratchpad.c */
/* -ENOMEM. */
int virtual_scratchpad_create(struct virt *v);
void virtual_scratchpad_destroy(struct virt *v);
/* The coordinator's requests (struct coord_ops). */
void virtual_spill_scratchpad(void *ctx, unsigned int cta, unsigned int set);
void virtual_fill_scratchpad(void *ctx, unsigned int cta, unsigned int set);

#endif
