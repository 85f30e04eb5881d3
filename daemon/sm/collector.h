/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operand collectors and register banks: collector.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_COLLECTOR_H
#define GPUEMU_SM_COLLECTOR_H

#include "sm/inst.h"
#include "sm/warp.h"

/* A collector unit: an instruction whose operands are being read. */
struct collector {
	uint32_t inst;
	uint64_t need;			/* banks that it still reads */
	uint64_t more;			/* of them, more than once: collectors.times */
};

struct collectors {
	struct collector at[MAX_COLLECTORS];
	uint64_t of[UNITS];		/* masks of collectors by kind */
	uint64_t used, ready;		/* ready: used, and nothing left to read */
	bool stuck;			/* nothing moves until another instruction comes or a unit takes one */
	uint8_t first[UNITS];
	uint8_t kind[MAX_COLLECTORS];	/* the kind of each; they are in the order of the units */
	uint8_t last[UNITS][MAX_WIDTH];	/* of each out port: dispatched last */
	uint8_t in_ports[UNITS], out_ports[UNITS];
	uint64_t written;		/* banks that a result takes this cycle */
	uint64_t all_banks;
	uint64_t tile;			/* times a mask of banks: that mask in all 64 bits; 0: they do not fit */
	uint8_t banks;
	uint8_t shift[MAX_WARPS];	/* warp modulo banks */
	/* Collectors that read, in the order in which they began: a bank serves the first. */
	uint8_t reading[MAX_COLLECTORS], nreading;
	uint8_t (*times)[MAX_BANKS];	/* by collector */
};

int collector_init(struct sm *sm);
void collector_fini(struct sm *sm);
void collector_cancel(struct sm *sm);
/*
 * Takes the banks of the instruction's results for this cycle. False: another's result has
 * one of them (those before it stay taken, as in GPGPU-Sim); try again next cycle.
 */
bool collector_write(struct sm *sm, uint32_t inst);
bool collector_write_more(struct collectors *oc, const struct warps *warps,
			  const struct sm_inst *in);
void collector_cycle(struct sm *sm);

/* Bank b of warp 0 is bank (b + warp) modulo the banks of the warp. */
static inline uint64_t banks_of(const struct collectors *oc, uint64_t banks, unsigned int warp)
{
	unsigned int n = oc->shift[warp];

	/* Tiled, a turn of the whole word is a turn of the banks. */
	if (__builtin_expect(oc->tile != 0, 1)) {
		banks *= oc->tile;
		return (banks << n | banks >> (-n & 63)) & oc->all_banks;
	}
	return n ? (banks << n | banks >> (oc->banks - n)) & oc->all_banks : banks;
}

/* collector_write(), in the place of the call. */
static inline bool collector_take_banks(struct collectors *oc, const struct warps *warps,
					const struct sm_inst *in)
{
	uint64_t banks;

	if (in->op->nresult > 1)
		return collector_write_more(oc, warps, in);
	banks = banks_of(oc, in->op->bank_results, in->warp);
	if (banks & oc->written)
		return false;
	oc->written |= banks;
	return true;
}

#endif
