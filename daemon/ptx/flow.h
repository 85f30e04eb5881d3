/* SPDX-License-Identifier: GPL-2.0 */
/* The state of values.c, on its way through a kernel. Private to flow.c and values*.c. */
#ifndef GPUEMU_PTX_FLOW_H
#define GPUEMU_PTX_FLOW_H

#include "ptx/interval.h"
#include "ptx/values.h"

struct flow {
	struct ptx_kernel *kernel;
	const struct cfg *cfg;
	const struct spills *spills;
	struct ref *refs;
	/* By register, then by slot: its place among the intervals plus 1; 0: it has none. */
	uint32_t *index;
	uint32_t n;
	struct interval *in;	/* by block, n each: at its beginning */
	struct interval *now;	/* n */
	bool *reached, *waits, *head; /* by block */
	uint8_t *visits;
	int64_t *marks;		/* ascending */
	uint32_t nmarks, cap;
	uint64_t steps;
};

/* Where the slot's interval is, if the instruction loads or stores a spill. NULL: it does not. */
uint32_t *flow_slot(const struct flow *f, uint32_t insn);
/* Whether the register has an interval: index[reg]. */
bool flow_taken(const struct flow *f, uint32_t reg);
/* Brings the values, f->n of them, to the block's beginning. */
void flow_to(struct flow *f, uint32_t to, const struct interval *values);

/* values_step.c */
unsigned int flow_bits(const struct flow *f, uint32_t reg);
/* What an operand may be; an immediate one stands in `type`. */
struct interval flow_value(const struct flow *f, const struct ptx_operand *op, uint8_t type);
/* Makes f->now what it is behind the instruction. */
void flow_step(struct flow *f, uint32_t at);
/* Brings a call's arguments to its function. -ENOMEM. */
int flow_to_callee(struct flow *f, const struct ptx_insn *insn);

/* values_branch.c: brings f->now from the end of block b to the blocks that follow. */
void flow_leave(struct flow *f, uint32_t b);

#endif
