/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Warp instructions under way: indices into an array of all. Private to the sm room.
 */
#ifndef GPUEMU_SM_INST_H
#define GPUEMU_SM_INST_H

#include "sm/kernel.h"

/*
 * A warp instruction under way, from issue until inst_done(). Pointers are good
 * until the next inst_new(), which only issue calls.
 */
struct sm_inst {
	const struct sm_op *op;
	uint32_t lanes;			/* whose guard was true */
	uint32_t order;			/* of issue; differences count */
	/* The load/store unit's: its access entry, what is not answered, whatever it links. */
	uint32_t entry, next;
	uint16_t left;
	uint8_t warp;
	uint8_t state;
};

struct insts {
	struct sm_inst *at;
	uint32_t n, unused, used;	/* unused: the first index, of a list */
	uint32_t issued;		/* sm_inst.order of the next */
};

int insts_init(struct insts *insts);	/* -ENOMEM */
void insts_fini(struct insts *insts);
void insts_cancel(struct insts *insts);
int inst_grow(struct insts *insts);	/* room for more of them; -ENOMEM */

/* An index for an instruction that issues; NO_INDEX: no memory. */
static inline uint32_t inst_new(struct insts *insts)
{
	uint32_t i = insts->unused;

	if (__builtin_expect(i == NO_INDEX, 0)) {
		if (inst_grow(insts))
			return NO_INDEX;
		i = insts->unused;
	}
	insts->unused = insts->at[i].next;
	insts->used++;
	return i;
}

#endif
