// SPDX-License-Identifier: GPL-2.0
/*
 * Schedulers, scoreboard and execution units: which warp issues in a cycle,
 * what it occupies, and when its results are there. Instructions execute
 * functionally at issue (exec_step()); time is what happens here.
 *
 * The scoreboard is a row of bits a warp, one a physical register: RAW and WAW.
 * There is no WAR: exec captured operands, addresses and data at issue.
 */
#include <errno.h>

#include "sm/internal.h"

/* No access has this one: it is no lane's, and misaligned for most. */
#define NO_ADDRESS	UINT64_MAX

static inline void row_set(uint64_t *row, unsigned int reg)
{
	row[reg / 64] |= 1ull << (reg % 64);
}

static inline void row_clear(uint64_t *row, unsigned int reg)
{
	row[reg / 64] &= ~(1ull << (reg % 64));
}

static inline bool row_test(const uint64_t *row, unsigned int reg)
{
	return row[reg / 64] >> (reg % 64) & 1;
}

static void check_operands(struct sm *sm, unsigned int w)
{
	const struct sm_op *op = sm->warps[w].op;
	const uint16_t *check = sm->kernel->slots + op->slots;
	const uint64_t *pending = sm->pending + (size_t)w * sm->kernel->words;
	const uint64_t *pending_long = sm->pending_long + (size_t)w * sm->kernel->words;
	uint64_t bit = warp_bit(w);
	bool blocked = false, on_load = false;

	for (unsigned int i = 0; i < op->ncheck; i++) {
		if (!row_test(pending, check[i]))
			continue;
		blocked = true;
		on_load |= row_test(pending_long, check[i]);
	}
	sm->wait_operand = blocked ? sm->wait_operand | bit : sm->wait_operand & ~bit;
	sm->wait_long = on_load ? sm->wait_long | bit : sm->wait_long & ~bit;
}

void warp_check_order(struct sm *sm, unsigned int w)
{
	uint64_t bit = warp_bit(w);

	if ((sm->untranslated & bit) && (sm->running & bit) &&
	    sm->warps[w].op->ordered)
		sm->wait_order |= bit;
	else
		sm->wait_order &= ~bit;
}

void warp_decode(struct sm *sm, unsigned int w)
{
	struct sm_warp *warp = &sm->warps[w];
	uint64_t bit = warp_bit(w);

	warp->op = &sm->kernel->ops[warp->ex.pc];
	for (unsigned int u = 0; u < UNITS; u++)
		sm->wants[u] &= ~bit;
	sm->wants[warp->op->unit] |= bit;
	check_operands(sm, w);
	warp_check_order(sm, w);
}

void warp_writeback(struct sm *sm, unsigned int w, const struct sm_op *op)
{
	struct sm_warp *warp = &sm->warps[w];
	const uint16_t *write = sm->kernel->slots + op->slots;
	uint64_t *pending = sm->pending + (size_t)w * sm->kernel->words;
	uint64_t *pending_long = sm->pending_long + (size_t)w * sm->kernel->words;

	for (unsigned int i = 0; i < op->nwrite; i++) {
		row_clear(pending, write[i]);
		row_clear(pending_long, write[i]);
	}
	warp->inflight--;
	if (sm->wait_operand & warp_bit(w))
		check_operands(sm, w);
	if (!(sm->running & warp_bit(w)) && !warp->inflight)
		cta_warp_finished(sm, w);
}

/* Results of op come later: by the wheel at `cycle`, or (0) when the load is answered. */
static void reserve(struct sm *sm, unsigned int w, const struct sm_op *op,
		    uint64_t cycle, bool is_long)
{
	const uint16_t *write = sm->kernel->slots + op->slots;
	uint64_t *pending = sm->pending + (size_t)w * sm->kernel->words;
	uint64_t *pending_long = sm->pending_long + (size_t)w * sm->kernel->words;

	for (unsigned int i = 0; i < op->nwrite; i++) {
		row_set(pending, write[i]);
		if (is_long)
			row_set(pending_long, write[i]);
	}
	if (!cycle || !op->results)
		return;
	sm->warps[w].inflight++;
	if (wheel_add(&sm->wheel, cycle, w, op))
		sm_fail(sm, -ENOMEM);
}

static bool sp_available(const struct sm *sm, uint64_t now)
{
	return sm->sp_free[0] <= now || sm->sp_free[1] <= now;
}

/* Warps whose next instruction finds its unit free. */
static uint64_t units_available(const struct sm *sm, uint64_t now, bool mem_taken)
{
	uint64_t can = 0;

	if (sp_available(sm, now))
		can |= sm->wants[UNIT_SP];
	if (sm->sfu_free[0] <= now)
		can |= sm->wants[UNIT_SFU];
	if (!mem_taken && sm->wants[UNIT_MEM] && ldst_accepts(sm))
		can |= sm->wants[UNIT_MEM];
	return can;
}

static void occupy(struct sm *sm, const struct sm_op *op, uint64_t now)
{
	if (op->unit == UNIT_SP)
		sm->sp_free[sm->sp_free[0] <= now ? 0 : 1] = now + op->initiation;
	else if (op->unit == UNIT_SFU)
		sm->sfu_free[0] = now + op->initiation;
}

static void issue_memory(struct sm *sm, unsigned int w, const struct sm_op *op,
			 enum exec_outcome outcome,
			 const struct exec_access *access, uint64_t now)
{
	bool waits = outcome == EXEC_ACCESS;

	/* Guarded off in every lane: nothing goes to the unit's queue. */
	if (!waits && !access->touched) {
		reserve(sm, w, op, now + 1, false);
		return;
	}
	reserve(sm, w, op, 0, waits || access->space == PTX_SPACE_LOCAL);
	ldst_issue(sm, w, op, waits, now);
}

static void issue_warp(struct sm *sm, unsigned int w, uint64_t now)
{
	struct sm_warp *warp = &sm->warps[w];
	const struct sm_op *op = warp->op;
	struct exec_access *access = op->memory ? ldst_access(sm) : &sm->scratch;
	enum exec_outcome outcome;
	uint32_t active = 0;

	warp->ex.clock = now;
	access->touched = 0;
	sm->fault_addr = NO_ADDRESS;
	outcome = exec_step(&warp->ex, access, &active, &sm->fault_addr, sm->env.err);
	sm->stats.warp_instructions++;
	sm->stats.thread_instructions += (unsigned int)__builtin_popcount(active);
	occupy(sm, op, now);
	switch (outcome) {
	case EXEC_NEXT:
	case EXEC_ACCESS:
		if (op->memory)
			issue_memory(sm, w, op, outcome, access, now);
		else
			reserve(sm, w, op, now + op->latency, false);
		break;
	case EXEC_BARRIER:
		barrier_arrive(sm, w, access);
		break;
	case EXEC_EXITED:
		cta_warp_exited(sm, w);
		return;
	case EXEC_TRAP:
		/* A bad address is the memory's error; all else the kernel brought on itself. */
		sm_fail(sm, sm->fault_addr == NO_ADDRESS ? -ECANCELED : -EFAULT);
		return;
	}
	warp_decode(sm, w);
}

/* Where the cycle of a scheduler that issues nothing goes (stats.h). */
static enum stall classify(const struct sm *sm, uint64_t mine)
{
	uint64_t warps = sm->running & mine;

	if (!warps)
		return STALL_NO_WARP;
	if (sm_ready(sm) & warps)
		return STALL_PIPELINE;
	if (sm->wait_fault & warps)
		return STALL_FAR_FAULT;
	if ((sm->wait_long | sm->wait_order) & warps)
		return STALL_LONG;
	if (!(warps & ~sm->wait_barrier))
		return STALL_BARRIER;
	return STALL_SHORT;
}

void sm_account(struct sm *sm, uint64_t upto)
{
	if (sm->accounted >= upto)
		return;
	/* Nothing changed since the last step, or it would have been stepped. */
	for (unsigned int s = 0; s < sm->spec->schedulers; s++)
		sm->stats.stalls[classify(sm, sm->mine[s])] += upto - sm->accounted;
	sm->accounted = upto;
}

void sm_issue(struct sm *sm, uint64_t now)
{
	unsigned int n = (unsigned int)sm->spec->schedulers;
	/* The first to choose changes every cycle, as in GPGPU-Sim. */
	unsigned int s = (unsigned int)(now % n);
	bool mem_taken = false;

	for (unsigned int k = 0; k < n; k++, s = s + 1 == n ? 0 : s + 1) {
		uint64_t can = sm_ready(sm) & sm->mine[s];
		unsigned int w;

		if (can)
			can &= units_available(sm, now, mem_taken);
		if (!can) {
			sm->stats.stalls[classify(sm, sm->mine[s])]++;
			continue;
		}
		w = sm->policy->pick(&sm->sched[s], can);
		mem_taken |= sm->warps[w].op->unit == UNIT_MEM;
		sm->stats.stalls[STALL_ISSUED]++;
		issue_warp(sm, w, now);
		/* The first failure is the one that is told. */
		if (sm->error)
			return;
		sm->sched[s].last = w;
		sm->sched[s].any = true;
	}
	sm->accounted = now + 1;
}
