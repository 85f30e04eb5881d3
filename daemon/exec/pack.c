// SPDX-License-Identifier: GPL-2.0
/*
 * The instructions of a CTA's turn. Warps of a CTA that are at the same pc run
 * as a pack: each operation is done for all of them before the next one is
 * looked at, so that finding it is paid once and the warps' chains of dependent
 * operations overlap. Called by grid.c.
 *
 * A CTA's warps are teams of TEAM, whose registers stay in the first-level
 * cache. Of a team the warps with the lowest pc run, and stop where the next ones wait:
 * whose branches went different ways are together again where the ways meet. No warp
 * runs more than a quantum while others could.
 */
#include <errno.h>
#include <string.h>

#include "exec/grid.h"

#define TEAM	8u
/* Rounds until a warp whose lanes are apart goes alone, so that spin.c sees whether some wait. */
#define STUCK	32u

struct pack {
	struct grid_cta *cta;
	struct grid_warp *warps[TEAM];
	uint8_t *arena[TEAM];
	/* Copies of what the warps' stacks say, as long as the pack is together. */
	uint32_t mask[TEAM], reconv[TEAM];
	uint32_t n, lanes;	/* warps; all their lanes */
	uint32_t pc;		/* of all of them; the warps' own are written when the pack ends */
	uint32_t meet;		/* the lowest pc where others of the team wait */
	uint64_t issued, threads; /* instructions, of warps and of threads */
	struct err *err;
};

/* No address of an access: traps that have none leave it as it is. */
static uint32_t active(const struct pack *pack, const struct exec_op *op, uint32_t i)
{
	if (!op->guard)
		return pack->mask[i];
	return pack->mask[i] & (*pred_at(pack->arena[i], op->guard) ^ op->guard_flip);
}

/* An instruction of a run that is not plain: guarded, a special register's, memory. */
static int do_one(struct pack *pack, const struct exec_op *op)
{
	uint32_t i, mask;
	int ret;

	for (i = 0; i < pack->n; i++) {
		struct exec_warp *warp = &pack->warps[i]->ex;

		mask = active(pack, op, i);
		pack->threads -= pack->mask[i] == mask ? 0 :
				 count_lanes(pack->mask[i] & ~mask);
		if (!mask)
			continue;
		if (op->fresh) {
			warp->clock = pack->cta->instructions + pack->issued;
			sregs_refresh(warp);
		}
		switch (op->kind) {
		case OP_LANES:
			op->fn(pack->arena[i], op, mask);
			break;
		case OP_NOP:
			break;
		case OP_TEXEL:
		case OP_QUERY:
		case OP_SURFACE:
			ret = grid_texture(pack->cta, warp, op, mask, pack->err);
			if (ret)
				return ret;
			break;
		default:
			ret = grid_memory(pack->cta, warp, op, mask, pack->err);
			if (ret)
				return ret;
			break;
		}
	}
	return 0;
}

static int do_run(struct pack *pack, const struct exec_op *op, uint32_t run)
{
	uint32_t n = pack->n, i;
	int ret;

	pack->threads += (uint64_t)pack->lanes * run;
	for (; run; run--, op++, pack->issued += n) {
		if (op->plain) {
			const lane_fn fn = op->fn;

			for (i = 0; i < n; i++)
				fn(pack->arena[i], op, pack->mask[i]);
			continue;
		}
		if (op->skip)
			continue;
		ret = do_one(pack, op);
		if (ret)
			return ret;
	}
	return 0;
}

/* How a run of the pack ends. Errors are negative. */
enum { GO_ON, PART };

/* All warps go to pc: true when no lanes meet others there. */
static bool go_to(struct pack *pack, uint32_t pc)
{
	uint32_t i;

	for (i = 0; i < pack->n; i++) {
		if (pack->reconv[i] == pc)
			return false;
	}
	pack->pc = pc;
	return true;
}

/* A branch that every warp takes with all its lanes, or none with any. */
static bool branch_together(struct pack *pack, const struct exec_op *op)
{
	uint32_t taken = 0, not_taken = 0, i, mask;

	for (i = 0; i < pack->n; i++) {
		mask = active(pack, op, i);
		taken += mask == pack->mask[i];
		not_taken += !mask;
	}
	if (taken == pack->n && go_to(pack, op->target)) {
		pack->threads += pack->lanes;
		return true;
	}
	return not_taken == pack->n && go_to(pack, pack->pc + 1);
}

/* An instruction that moves the pc. PART: a warp of the pack stopped at a barrier, or for good. */
static int do_control(struct pack *pack, const struct exec_op *op)
{
	struct exec_access access;
	int ret = GO_ON;
	uint32_t i, mask;

	for (i = 0; i < pack->n; i++) {
		struct grid_warp *warp = pack->warps[i];

		mask = active(pack, op, i);
		pack->threads += count_lanes(mask);
		warp->ex.pc = pack->pc;
		if (op->kind == OP_BRANCH) {
			stack_branch(&warp->ex, op, mask);
			continue;
		}
		if (!mask) {
			stack_advance(&warp->ex);
			continue;
		}
		switch (control_step(&warp->ex, op, mask, &access, pack->err)) {
		case EXEC_NEXT:
		case EXEC_ACCESS:
			break;
		case EXEC_BARRIER:
			ret = grid_arrive(pack->cta, warp, &access, pack->err);
			if (ret)
				return ret;
			ret = PART;
			break;
		case EXEC_EXITED:
			grid_exited(pack->cta, warp);
			ret = PART;
			break;
		case EXEC_TRAP:
			return grid_fail(pack->cta->grid, NO_ADDR);
		}
	}
	return ret;
}

/* Where straight instructions ended because a branch leads here, or lanes meet here. */
static int arrive_at(struct pack *pack, uint32_t pc)
{
	int ret = GO_ON;
	uint32_t i;

	for (i = 0; i < pack->n; i++) {
		struct exec_warp *warp = &pack->warps[i]->ex;

		warp->pc = pc;
		if (pc == warp->stack[warp->depth - 1].reconv)
			stack_reconverge(warp);
		if (!warp->mask) {
			grid_exited(pack->cta, pack->warps[i]);
			ret = PART;
		}
	}
	return ret;
}

/* Looks at the warps' stacks again; PART when they are no longer at one pc. */
static int look_again(struct pack *pack)
{
	uint32_t i;

	pack->lanes = 0;
	pack->pc = pack->warps[0]->ex.pc;
	for (i = 0; i < pack->n; i++) {
		const struct exec_warp *warp = &pack->warps[i]->ex;

		if (warp->pc != pack->pc)
			return PART;
		pack->mask[i] = warp->mask;
		pack->reconv[i] = warp->stack[warp->depth - 1].reconv;
		pack->lanes += count_lanes(warp->mask);
	}
	return GO_ON;
}

/* Warps whose lanes wait here for others of theirs go alone, until these are there. */
static bool misses_lanes(struct pack *pack)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < pack->n; i++) {
		struct exec_warp *warp = &pack->warps[i]->ex;

		if (warp->depth > 1 && sync_misses(warp, pack->pc)) {
			warp->split = 1;
			any = true;
		}
	}
	for (i = 0; any && i < pack->n; i++)
		pack->warps[i]->ex.pc = pack->pc;
	return any;
}

/* One basic block, or what is left of it, and what ends it. */
static int do_block(struct pack *pack, const struct exec_op *op)
{
	uint32_t run = op->run;
	int ret;

	if (op->sync >= SYNC_MEMBERS && misses_lanes(pack))
		return PART;
	if (run) {
		ret = do_run(pack, op, run);
		if (ret)
			return ret;
		op += run;
		if (op->leader) {
			if (go_to(pack, pack->pc + run))
				return GO_ON;
			ret = arrive_at(pack, pack->pc + run);
			return ret ? ret : look_again(pack);
		}
		pack->pc += run;
	}
	pack->issued += pack->n;
	if (op->kind == OP_BRANCH && branch_together(pack, op))
		return GO_ON;
	ret = do_control(pack, op);
	return ret ? ret : look_again(pack);
}

static int run_pack(struct pack *pack, uint32_t quantum)
{
	const struct exec_program *program = program_of(&pack->warps[0]->ex);
	uint32_t i, used = 0, start;
	int ret;

	for (i = 0; i < pack->n; i++)
		used = MAX(used, pack->warps[i]->used);
	start = used;
	ret = look_again(pack);
	while (ret == GO_ON && pack->pc < pack->meet && used < quantum) {
		used += program->ops[pack->pc].run + 1;
		ret = do_block(pack, &program->ops[pack->pc]);
	}
	for (i = 0; i < pack->n; i++) {
		/* Warps that parted have their own pc already. */
		if (ret == GO_ON)
			pack->warps[i]->ex.pc = pack->pc;
		pack->warps[i]->used += used - start;
	}
	pack->cta->instructions += pack->issued;
	pack->cta->grid->warp_instructions += pack->issued;
	pack->cta->grid->thread_instructions += pack->threads;
	return MIN(ret, 0);
}

static bool goes_alone(const struct grid_warp *warp)
{
	return warp->ex.split || warp->stuck >= STUCK;
}

/* An instruction of a warp that goes alone. */
static int step_alone(struct pack *pack, struct grid_warp *warp)
{
	struct exec_warp *ex = &warp->ex;
	const struct exec_op *op = &program_of(ex)->ops[ex->pc];
	uint32_t pc = ex->pc;
	enum sync_met met;
	int ret;

	warp->used++;
	met = op->sync && sync_asks(ex, op) ? sync_gather(ex) : SYNC_GO;
	if (met == SYNC_OTHERS)
		return 0;
	look_again(pack);
	pack->issued++;
	if (op->kind >= OP_BRANCH) {
		ret = do_control(pack, op);
		if (op->kind == OP_BRANCH && ex->depth > 1 && ex->pc <= pc)
			spin_watch(ex, pc);
		return MIN(ret, 0);
	}
	pack->threads += pack->lanes;
	ret = op->skip || met == SYNC_DONE ? 0 : do_one(pack, op);
	if (ret)
		return ret;
	stack_advance(ex);
	if (!ex->mask)
		grid_exited(pack->cta, warp);
	return 0;
}

/* A warp whose lanes may wait for each other, an instruction at a time. */
static int run_alone(struct pack *pack, struct grid_cta *cta, struct grid_warp *warp,
		     uint32_t quantum)
{
	int ret = 0;

	*pack = (struct pack){ .cta = cta, .n = 1, .err = pack->err };
	pack->warps[0] = warp;
	pack->arena[0] = warp->ex.arena;
	while (!ret && warp->state == WARP_READY && warp->used < quantum)
		ret = step_alone(pack, warp);
	warp->stuck = 0;
	cta->instructions += pack->issued;
	cta->grid->warp_instructions += pack->issued;
	cta->grid->thread_instructions += pack->threads;
	return ret;
}

/* The warps of the team with the lowest pc; false: none can run. */
static bool form_pack(struct pack *pack, struct grid_cta *cta, uint32_t first, uint32_t last,
		      uint32_t quantum)
{
	uint32_t w;

	pack->cta = cta;
	pack->n = 0;
	pack->issued = pack->threads = 0;
	pack->pc = pack->meet = UINT32_MAX;
	for (w = first; w < last; w++) {
		struct grid_warp *warp = &cta->warps[w];

		if (warp->state != WARP_READY || warp->used >= quantum || goes_alone(warp))
			continue;
		if (warp->ex.pc < pack->pc) {
			pack->meet = pack->pc;
			pack->pc = warp->ex.pc;
			pack->n = 0;
		}
		if (warp->ex.pc == pack->pc) {
			pack->arena[pack->n] = warp->ex.arena;
			pack->warps[pack->n++] = warp;
		} else if (warp->ex.pc < pack->meet) {
			pack->meet = warp->ex.pc;
		}
	}
	return pack->n;
}

int pack_round(struct grid_cta *cta, uint32_t quantum, struct err *err)
{
	struct pack pack = { .err = err };
	uint32_t first, w;
	bool again = true;
	int ret;

	/* A warp that stops may let one of a team before go on. */
	while (again) {
		again = false;
		for (w = 0; w < cta->nwarps; w++) {
			struct grid_warp *warp = &cta->warps[w];

			if (warp->state != WARP_READY || warp->used >= quantum || !goes_alone(warp))
				continue;
			again = true;
			ret = run_alone(&pack, cta, warp, quantum);
			if (ret)
				return ret;
		}
		for (first = 0; first < cta->nwarps; first += TEAM) {
			while (form_pack(&pack, cta, first, MIN(first + TEAM, cta->nwarps),
					 quantum)) {
				again = true;
				ret = run_pack(&pack, quantum);
				if (ret)
					return ret;
			}
		}
	}
	for (w = 0; w < cta->nwarps; w++) {
		struct grid_warp *warp = &cta->warps[w];

		warp->stuck = warp->state == WARP_READY && warp->ex.depth > 1 ? warp->stuck + 1 : 0;
	}
	return 0;
}
