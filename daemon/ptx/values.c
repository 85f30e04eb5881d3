// SPDX-License-Identifier: GPL-2.0
/*
 * Which integers the registers hold that make addresses of shared memory: an interval for each
 * register at the beginning of each block, found by going through the blocks until nothing changes
 * (Cousot and Cousot, POPL 1977). A branch on a comparison narrows the intervals on both its
 * ways. Where text leads back, intervals grow in steps to the numbers that comparisons name, so
 * that a loop's counter stops at the loop's bound. Called by scratchpad.c.
 *
 * A spilled value keeps its interval in its slot. A function's parameters have what all of its
 * calls give; a call's results may be anything. At a function's beginning every other
 * register may hold anything, so one that is read without having been written does no harm.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/flow.h"

/* A kernel that takes more has addresses that are not known. */
#define MAX_STEPS	(1ull << 24)
#define MAX_ENTRIES	(1ull << 21)

/* --- which registers ------------------------------------------------------------------- */

static bool may_be_shared(const struct ptx_insn *insn)
{
	return insn->cls == PTX_CLASS_MEMORY &&
	       (insn->space == PTX_SPACE_SHARED || insn->space == PTX_SPACE_GENERIC);
}

static const struct ptx_operand *address_of(const struct ptx_insn *insn)
{
	for (uint32_t i = 0; i < insn->nsrc; i++) {
		if (insn->src[i].kind == PTX_OPND_ADDR)
			return &insn->src[i];
	}
	return NULL;
}

static bool take(struct flow *f, uint32_t *index)
{
	if (!index || *index)
		return false;
	*index = ++f->n;
	return true;
}

static bool take_register(struct flow *f, uint32_t reg)
{
	return reg != PTX_NO_REG && f->kernel->regs[reg].type != PTX_PRED &&
	       take(f, &f->index[reg]);
}

/* The formals of a function that are taken: so are what its calls give. */
static bool take_arguments(struct flow *f, const struct ptx_insn *insn)
{
	const struct ptx_function *callee = insn_callee(f->kernel, insn);
	const struct ptx_call *call = &f->kernel->calls[insn->target];
	bool more = false;

	for (uint32_t i = 0; callee && i < MIN(callee->nformals, call->nargs); i++) {
		if (flow_taken(f, callee->formals[i]) && call->args[i].kind == PTX_OPND_REG)
			more |= take_register(f, call->args[i].reg);
	}
	return more;
}

/* What the instruction makes of taken registers' values, or they of what it reads. */
static bool take_sources(struct flow *f, uint32_t at)
{
	const struct ptx_insn *insn = &f->kernel->insns[at];
	const struct ptx_operand *address = may_be_shared(insn) ? address_of(insn) : NULL;
	uint32_t *slot = flow_slot(f, at), i;
	bool wanted = false, more = address && take_register(f, address->reg);

	if (insn->opcode == PTX_OP_call)
		return take_arguments(f, insn);
	for (i = 0; i < insn->ndst; i++)
		wanted |= flow_taken(f, insn->dst[i].reg);
	if (slot && wanted && insn->opcode == PTX_OP_ld)
		more |= take(f, slot);
	wanted |= slot && *slot && insn->opcode == PTX_OP_st;
	for (i = 0; i < insn->nsrc && insn->opcode == PTX_OP_setp; i++)
		wanted |= insn->src[i].kind == PTX_OPND_REG && flow_taken(f, insn->src[i].reg);
	if (insn->cls == PTX_CLASS_MEMORY && !(slot && insn->opcode == PTX_OP_st))
		return more;
	for (i = 0; i < insn->nsrc && wanted; i++) {
		if (insn->src[i].kind == PTX_OPND_REG)
			more |= take_register(f, insn->src[i].reg);
	}
	return more;
}

static void take_all(struct flow *f)
{
	bool more = true;

	while (more && f->steps <= MAX_STEPS) {
		more = false;
		for (uint32_t i = f->kernel->ninsns; i--; f->steps++)
			more |= take_sources(f, i);
	}
}
/* --- all blocks ------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers that registers are compared with, and their neighbours. */
static int find_marks(struct flow *f)
{
	for (uint32_t i = 0; i < f->kernel->ninsns; i++) {
		const struct ptx_insn *insn = &f->kernel->insns[i];

		for (uint32_t j = 0; insn->opcode == PTX_OP_setp && j < insn->nsrc; j++) {
			struct interval v = flow_value(f, &insn->src[j], insn->type);

			if (insn->src[j].kind != PTX_OPND_IMM || v.lo > INT32_MAX ||
			    v.lo < INT32_MIN)
				continue;
			if (array_reserve(f->marks, f->cap, (uint64_t)f->nmarks + 3))
				return -ENOMEM;
			for (int64_t k = -1; k <= 1; k++)
				f->marks[f->nmarks++] = v.lo + k;
		}
	}
	if (f->nmarks)
		qsort(f->marks, f->nmarks, sizeof(*f->marks), by_number);
	return 0;
}

static bool leads_back(const struct flow *f, uint32_t from, uint32_t to)
{
	return to <= from || f->cfg->function_of[to] != f->cfg->function_of[from];
}

static void find_heads(struct flow *f)
{
	for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
		for (uint32_t e = f->cfg->succ_start[b]; e < f->cfg->succ_start[b + 1]; e++)
			f->head[f->cfg->succ[e]] |= leads_back(f, b, f->cfg->succ[e]);
	}
	for (uint32_t i = 0; i < f->kernel->nfunctions; i++)
		f->head[f->cfg->block_of[f->kernel->functions[i].first]] = true;
}

static int through_block(struct flow *f, uint32_t b)
{
	int ret = 0;

	memcpy(f->now, &f->in[(size_t)b * f->n], f->n * sizeof(*f->now));
	for (uint32_t i = f->cfg->first[b]; i < f->cfg->first[b + 1] && !ret; i++) {
		const struct ptx_insn *insn = &f->kernel->insns[i];

		if (insn->opcode == PTX_OP_call)
			ret = flow_to_callee(f, insn);
		flow_step(f, i);
	}
	if (!ret)
		flow_leave(f, b);
	return ret;
}

static int solve(struct flow *f)
{
	uint32_t entry = f->cfg->block_of[f->kernel->functions[0].first], b, i;
	bool more = true;
	int ret = find_marks(f);

	find_heads(f);
	for (i = 0; i < f->n; i++)
		f->now[i] = INTERVAL_ANY;
	flow_to(f, entry, f->now);
	while (more && !ret && f->steps <= MAX_STEPS) {
		more = false;
		for (b = 0; b < f->cfg->nblocks && !ret && f->steps <= MAX_STEPS; b++) {
			if (!f->waits[b])
				continue;
			f->waits[b] = false;
			more = true;
			ret = through_block(f, b);
		}
	}
	return ret;
}

/* --- addresses -------------------------------------------------------------------------- */

static struct ptx_extent extent_of(const struct flow *f, const struct ptx_insn *insn)
{
	const struct ptx_extent all = { 0, PTX_EXTENT_END };
	const struct ptx_operand *op = address_of(insn);
	int64_t offset = op ? (int64_t)op->value : 0, end, fixed = f->kernel->shared_bytes;
	struct interval v = { 0, 0 };

	if (!op || (op->reg != PTX_NO_REG && !flow_taken(f, op->reg)))
		return all;
	if (op->reg != PTX_NO_REG)
		v = f->now[f->index[op->reg] - 1];
	if (insn->space == PTX_SPACE_GENERIC) {
		if (op->reg == PTX_NO_REG || op->space == PTX_SPACE_SHARED)
			return all;
		offset -= (int64_t)PTX_SHARED_WINDOW;
	}
	v = interval_add(v, (struct interval){ offset, offset });
	/* An address below 0 is in no CTA's allocation, and traps. */
	if (v.lo <= INT32_MIN || v.hi >= INT32_MAX)
		return all;
	end = v.hi + (int64_t)ptx_type_bytes(insn->type) * MAX(insn->vec, 1);
	if (end <= 0)
		return (struct ptx_extent){ 0, 0 };
	/* How much a launch adds is not known. */
	return (struct ptx_extent){
		(uint32_t)MIN(MAX(v.lo, 0), fixed),
		end > fixed ? PTX_EXTENT_END : (uint32_t)end,
	};
}

static void tell(struct flow *f, bool known, struct ptx_extent *extents)
{
	for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
		bool here = known && f->reached[b];

		if (here)
			memcpy(f->now, &f->in[(size_t)b * f->n], f->n * sizeof(*f->now));
		for (uint32_t i = f->cfg->first[b]; i < f->cfg->first[b + 1]; i++) {
			const struct ptx_insn *insn = &f->kernel->insns[i];

			extents[i] = (struct ptx_extent){ 0, 0 };
			if (may_be_shared(insn))
				extents[i] = here ? extent_of(f, insn) :
					     (struct ptx_extent){ 0, PTX_EXTENT_END };
			if (here)
				flow_step(f, i);
		}
	}
}

static int prepare(struct flow *f)
{
	size_t blocks = (size_t)f->cfg->nblocks + 1;

	f->refs = calloc(refs_max(f->kernel), sizeof(*f->refs));
	f->index = calloc((size_t)f->kernel->nregs + f->spills->nslots + 1, sizeof(*f->index));
	f->reached = calloc(blocks, sizeof(*f->reached));
	f->waits = calloc(blocks, sizeof(*f->waits));
	f->head = calloc(blocks, sizeof(*f->head));
	f->visits = calloc(blocks, sizeof(*f->visits));
	if (!f->refs || !f->index || !f->reached || !f->waits || !f->head || !f->visits)
		return -ENOMEM;
	take_all(f);
	if (f->n * (uint64_t)blocks > MAX_ENTRIES)
		return -E2BIG;
	f->now = calloc((size_t)f->n + 1, sizeof(*f->now));
	f->in = calloc(f->n * blocks + 1, sizeof(*f->in));
	return f->now && f->in ? 0 : -ENOMEM;
}

int values_solve(struct ptx_kernel *kernel, const struct cfg *cfg, const struct spills *spills,
		 struct ptx_extent *extents)
{
	struct flow f = { .kernel = kernel, .cfg = cfg, .spills = spills };
	int ret = prepare(&f);

	if (!ret)
		ret = solve(&f);
	if (!ret || ret == -E2BIG) {
		tell(&f, !ret && f.steps <= MAX_STEPS, extents);
		ret = 0;
	}
	free(f.refs);
	free(f.index);
	free(f.in);
	free(f.now);
	free(f.reached);
	free(f.waits);
	free(f.head);
	free(f.visits);
	free(f.marks);
	return ret;
}
