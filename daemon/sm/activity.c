// SPDX-License-Identifier: GPL-2.0
/*
 * What energy is taken for, counted at issue: operands of the register file, instructions of the
 * collectors and the units, look-ups of mapping tables. And which of the registers and the shared
 * memory that CTAs hold are accessed at all in an epoch of sm.activity cycles (Zorua, extended,
 * figure 6): physical registers of each warp, words of each CTA. An epoch ends with the first
 * instruction behind it. Called by issue.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sm/activity.h"
#include "sm/state.h"

#define REGISTER_WORDS	5u		/* of 64 bits: 256 registers and a pair's second half */
#define SHARED_WORD	4u		/* bytes */

struct activity {
	uint64_t end;			/* cycle in which the epoch ends; 0: none has begun */
	uint64_t held_registers, held_shared; /* sums over the cycles, at its begin */
	uint64_t used[MAX_WARPS][REGISTER_WORDS];
	uint64_t *shared;		/* a bit a word, by CTA */
	size_t shared_row;		/* 64-bit words of a CTA */
	uint32_t registers, words;	/* that were used in the epoch */
};

int activity_init(struct sm *sm)
{
	struct activity *a;

	if (!sm->spec->activity)
		return 0;
	a = calloc(1, sizeof(*a));
	sm->activity = a;
	if (!a)
		return -ENOMEM;
	a->shared_row = DIV_ROUND_UP(sm->spec->shared_bytes, 64 * SHARED_WORD);
	a->shared = calloc(sm->ctas.n * a->shared_row, sizeof(*a->shared));
	return a->shared ? 0 : -ENOMEM;
}

void activity_fini(struct sm *sm)
{
	if (sm->activity)
		free(sm->activity->shared);
	free(sm->activity);
	sm->activity = NULL;
}

/*
 * What was used of what was held, on average; what a CTA has left to the next one counts once. An
 * epoch that no instruction ended at its time was longer.
 */
static void count_use(struct sm *sm, unsigned int slot, uint64_t cycles)
{
	const struct activity *a = sm->activity;
	const struct sm_counters *c = sm_stats(sm);
	uint64_t registers = (c->registers - a->held_registers) / cycles;
	uint64_t shared = (c->shared_bytes - a->held_shared) / cycles;

	sm_count(sm, slot, activity.epochs, 1);
	sm_count(sm, slot, activity.registers_held, registers);
	sm_count(sm, slot, activity.registers_used,
		 MIN((uint64_t)a->registers * WARP_LANES, registers));
	sm_count(sm, slot, activity.shared_held, shared);
	sm_count(sm, slot, activity.shared_used, MIN((uint64_t)a->words * SHARED_WORD, shared));
}

/* Counts the epoch for the kernel that issues behind it. */
static void end_epoch(struct sm *sm, unsigned int slot, uint64_t now)
{
	struct activity *a = sm->activity;
	const struct sm_counters *c = sm_stats(sm);

	sm_integrate(sm, now);
	if (a->end)
		count_use(sm, slot, now - (a->end - sm->spec->activity));
	a->held_registers = c->registers;
	a->held_shared = c->shared_bytes;
	a->end = now + sm->spec->activity;
	a->registers = a->words = 0;
	memset(a->used, 0, sizeof(a->used));
	memset(a->shared, 0, sm->ctas.n * a->shared_row * sizeof(*a->shared));
}

static bool mark(uint64_t *bits, uint32_t at)
{
	uint64_t bit = 1ull << (at % 64);
	bool is_new = !(bits[at / 64] & bit);

	bits[at / 64] |= bit;
	return is_new;
}

/* Slots of the scoreboard are physical registers, then predicates. */
static void mark_registers(struct activity *a, const struct sm_warp *warp, unsigned int w)
{
	const uint16_t *slot = warp->kernel->slots + warp->op->slots;

	for (unsigned int i = 0; i < warp->op->ncheck; i++)
		if (slot[i] < MIN(warp->kernel->register_slots, REGISTER_WORDS * 64))
			a->registers += mark(a->used[w], slot[i]);
}

static void mark_shared(struct activity *a, unsigned int cta, const struct exec_access *access)
{
	uint64_t *row = a->shared + cta * a->shared_row;

	for (uint32_t lanes = access->touched; lanes; lanes &= lanes - 1) {
		uint64_t at = access->addr[__builtin_ctz(lanes)];

		for (unsigned int b = 0; b < access->bytes; b += SHARED_WORD)
			a->words += mark(row, (uint32_t)((at + b) / SHARED_WORD));
	}
}

void activity_issue(struct sm *sm, unsigned int w, const struct exec_access *access, uint64_t now)
{
	struct activity *a = sm->activity;
	const struct sm_warp *warp = &sm->warps.at[w];
	const struct sm_op *op = warp->op;
	unsigned int slot = warp->kernel->slot;
	bool tables = sm->mech.shared_set, shared = op->memory && access->touched &&
		      access->space == PTX_SPACE_SHARED;

	if (now >= a->end)
		end_epoch(sm, slot, now);
	sm_count(sm, slot, activity.register_reads, op->nread);
	sm_count(sm, slot, activity.register_writes, op->nresult);
	sm_count(sm, slot, activity.collected, 1);
	sm_count(sm, slot, activity.units[op->unit], 1);
	sm_count(sm, slot, activity.look_ups, tables * (op->nsource + op->nresult > 0) +
					      (unsigned int)(tables && shared));
	mark_registers(a, warp, w);
	if (shared)
		mark_shared(a, warp->cta, access);
}
