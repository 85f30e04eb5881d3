/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One thread of a linked kernel, run in one of two ways: as the text says, with a
 * register for each name and activation of a function, or as allocated, with one file of
 * physical registers for all. Operations are not those of PTX but a mix of what an
 * instruction reads, so that a value out of place shows, but for the few that spilled code and
 * the tests count on: mov, selp, setp.ne, sub and local memory. What the thread stores to
 * global memory is the result. For test_ptx_regalloc.c.
 */
#ifndef TESTS_UNIT_PTX_MACHINE_H
#define TESTS_UNIT_PTX_MACHINE_H

#include "ptx_sets.h"

enum { MAX_TRACE = 4000, MAX_STEPS = 20000, MAX_DEPTH = 24, MACHINE_LOCAL = 65536 };

struct machine {
	const struct ptx_kernel *k;
	bool physical;
	uint64_t salt;			/* another mix, so other branches are taken */
	uint32_t *name;			/* by register: the first one of its name and type */
	uint64_t *regs;			/* activation x register, or 512 physical rows */
	uint8_t local[MACHINE_LOCAL];
	uint32_t base, depth, pc;
	uint32_t calls[MAX_DEPTH];	/* instructions */
	uint64_t trace[MAX_TRACE];
	uint32_t ntrace;
	bool cut;			/* it would have gone on */
};

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static inline uint64_t *machine_reg(struct machine *m, uint32_t r)
{
	uint32_t words = words_of(m->k, r), p;

	if (!m->physical)
		return &m->regs[(uint64_t)m->depth * m->k->nregs + m->name[r]];
	p = m->k->phys[r];
	if (p == PTX_NO_REG)
		p = 1023;
	/* Three files, as in exec: 4 bytes, 8 bytes, predicates. */
	return &m->regs[1024 * words + p];
}

static inline uint64_t machine_source(struct machine *m, const struct ptx_operand *op)
{
	uint64_t v = op->kind * 77 + op->space;

	if (op->kind == PTX_OPND_REG)
		return *machine_reg(m, op->reg) ^ (op->negate ? 1 : 0);
	if (op->kind == PTX_OPND_IMM)
		return op->value;
	if (op->reg != PTX_NO_REG)
		v = mix(v, *machine_reg(m, op->reg));
	return mix(v, op->value);
}

static inline void machine_write(struct machine *m, uint32_t r, uint64_t v)
{
	uint32_t bytes = ptx_type_bytes(m->k->regs[r].type);

	if (m->k->regs[r].type == PTX_PRED)
		v &= 1;
	else if (bytes < 8)
		v &= (1ull << 8 * bytes) - 1;
	*machine_reg(m, r) = v;
}

static inline void machine_call(struct machine *m, const struct ptx_insn *insn)
{
	const struct ptx_call *call = &m->k->calls[insn->target];
	const struct ptx_function *f = &m->k->functions[call->function];
	uint64_t args[64];
	uint32_t i;

	assert_true(call->nargs <= 64 && call->nargs == f->nformals);
	for (i = 0; i < call->nargs; i++)
		args[i] = machine_source(m, &call->args[i]);
	m->base += function_at(m->k, m->pc)->frame_bytes;
	m->calls[m->depth++] = m->pc;
	for (i = 0; i < call->nargs; i++) {
		if (f->formals[i] != PTX_NO_REG)
			machine_write(m, f->formals[i], args[i]);
	}
	m->pc = f->first;
}

static inline bool machine_return(struct machine *m)
{
	const struct ptx_function *f = function_at(m->k, m->pc);
	const struct ptx_call *call;
	uint64_t results[64];
	uint32_t i;

	if (!m->depth)
		return false;
	for (i = 0; i < f->nresults; i++)
		results[i] = f->results[i] == PTX_NO_REG ? 0 : *machine_reg(m, f->results[i]);
	m->pc = m->calls[--m->depth];
	m->base -= function_at(m->k, m->pc)->frame_bytes;
	call = &m->k->calls[m->k->insns[m->pc].target];
	for (i = 0; i < call->nresults; i++) {
		if (call->results[i] != PTX_NO_REG)
			machine_write(m, call->results[i], results[i]);
	}
	m->pc++;
	return true;
}

static inline uint8_t *machine_local(struct machine *m, const struct ptx_insn *insn)
{
	uint64_t at = m->base + insn->src[0].value;

	assert_int_equal(insn->src[0].reg, PTX_NO_REG);
	if (insn->src[0].callee)
		at += function_at(m->k, m->pc)->frame_bytes;
	else
		assert_true(insn->src[0].value + ptx_type_bytes(insn->type) <=
			    function_at(m->k, m->pc)->frame_bytes);
	assert_true(at + 8 <= MACHINE_LOCAL);
	assert_int_equal(at % ptx_type_bytes(insn->type), 0);
	return m->local + at;
}

static inline uint64_t machine_mix(struct machine *m, const struct ptx_insn *insn)
{
	uint64_t h = mix(m->salt ^ insn->opcode, insn->type);
	uint32_t i;

	h = mix(mix(mix(h, insn->stype), insn->mods), insn->atom);
	for (i = 0; i < insn->nsrc; i++)
		h = mix(h, machine_source(m, &insn->src[i]));
	return h;
}

static inline void machine_compute(struct machine *m, const struct ptx_insn *insn)
{
	uint64_t v, h = machine_mix(m, insn);
	uint32_t i;

	switch (insn->opcode) {
	case PTX_OP_st:
		if (insn->space == PTX_SPACE_LOCAL) {
			v = machine_source(m, &insn->src[1]);
			memcpy(machine_local(m, insn), &v, ptx_type_bytes(insn->type));
		} else {
			m->trace[m->ntrace++] = h;
		}
		return;
	case PTX_OP_ld:
		if (insn->space != PTX_SPACE_LOCAL)
			break;
		v = 0;
		memcpy(&v, machine_local(m, insn), ptx_type_bytes(insn->type));
		machine_write(m, insn->dst[0].reg, v);
		return;
	case PTX_OP_mov:
		if (insn->ndst != 1 || insn->nsrc != 1 || insn->src[0].kind > PTX_OPND_IMM)
			break;
		machine_write(m, insn->dst[0].reg, machine_source(m, &insn->src[0]));
		return;
	case PTX_OP_sub:
		v = machine_source(m, &insn->src[0]) - machine_source(m, &insn->src[1]);
		machine_write(m, insn->dst[0].reg, v);
		return;
	case PTX_OP_selp:
		v = machine_source(m, &insn->src[machine_source(m, &insn->src[2]) & 1 ? 0 : 1]);
		machine_write(m, insn->dst[0].reg, v);
		return;
	case PTX_OP_setp:
		if (insn->cmp != PTX_CMP_NE)
			break;
		v = machine_source(m, &insn->src[0]) != machine_source(m, &insn->src[1]);
		machine_write(m, insn->dst[0].reg, v);
		return;
	default:
		break;
	}
	for (i = 0; i < insn->ndst; i++) {
		if (insn->dst[i].reg != PTX_NO_REG)
			machine_write(m, insn->dst[i].reg, mix(h, i));
	}
}

/* Whether there is a next instruction. */
static inline bool machine_step(struct machine *m)
{
	const struct ptx_insn *insn = &m->k->insns[m->pc];
	const struct ptx_table *table;

	if (insn->guard != PTX_NO_REG && (*machine_reg(m, insn->guard) & 1) == insn->guard_negate) {
		m->pc++;
		return true;
	}
	switch (insn->opcode) {
	case PTX_OP_bra:
		m->pc = insn->target;
		return true;
	case PTX_OP_brx:
		table = &m->k->tables[insn->target];
		m->pc = table->targets[machine_source(m, &insn->src[0]) % table->count];
		return true;
	case PTX_OP_ret:
		return machine_return(m);
	case PTX_OP_exit:
	case PTX_OP_trap:
		return false;
	case PTX_OP_call:
		if (m->depth + 1 == MAX_DEPTH) {
			m->cut = true;
			return false;
		}
		machine_call(m, insn);
		return true;
	default:
		machine_compute(m, insn);
		m->pc++;
		return true;
	}
}

static inline void machine_run(struct machine *m, const struct ptx_kernel *k, bool physical,
			       uint64_t salt)
{
	uint32_t r, s, steps;

	memset(m, 0, sizeof(*m));
	m->k = k;
	m->physical = physical;
	m->salt = salt;
	m->name = calloc(k->nregs + 1, sizeof(*m->name));
	for (r = 0; r < k->nregs; r++) {
		for (s = 0; strcmp(k->regs[s].name, k->regs[r].name) ||
		     k->regs[s].type != k->regs[r].type; s++)
			;
		m->name[r] = s;
	}
	m->regs = calloc(physical ? 3 * 1024 : (size_t)MAX_DEPTH * (k->nregs + 1),
			 sizeof(*m->regs));
	for (steps = 0; machine_step(m); steps++) {
		if (steps == MAX_STEPS || m->ntrace == MAX_TRACE) {
			m->cut = true;
			break;
		}
	}
	free(m->name);
	free(m->regs);
}

#endif
