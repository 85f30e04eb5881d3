// SPDX-License-Identifier: GPL-2.0
/*
 * A function's parameters, and those of its calls, to registers and local
 * memory: ld.param and st.param become moves, or loads and stores of the frame
 * of the function called. Called by link.c for the functions that a kernel reaches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/lower.h"

int emit(struct lowering *l, const struct ptx_insn *like, uint16_t opcode,
		enum ptx_type type, struct ptx_insn **out)
{
	struct ptx_insn *insn;

	if (l->p->total_insns++ >= PTX_MAX_INSNS)
		return unsupported(l->p, "a module of more than %u instructions", PTX_MAX_INSNS);
	if (array_grow(l->out, l->out_cap, l->nout))
		return no_memory(l->p);
	insn = &l->out[l->nout++];
	*insn = (struct ptx_insn){
		.opcode = opcode, .type = type, .vec = 1, .cls = PTX_CLASS_MOVE,
		.guard = like->guard, .guard_negate = like->guard_negate, .line = like->line,
	};
	*out = insn;
	return 0;
}

/* Memory of a function that is called lasts from the call before to the one after. */
static int check_order(struct lowering *l, const struct param *param, uint32_t insn)
{
	struct function *f = l->f;
	uint32_t n = f->body.insns[param->site->insn].target;
	bool before = n && insn <= f->calls[n - 1]->insn;
	bool after = n + 1 < f->ncalls && insn >= f->calls[n + 1]->insn;

	if (param->is_result ? insn > param->site->insn && !after :
	    insn < param->site->insn && !before)
		return 0;
	return unsupported(l->p, "the parameter '%s' is in memory, and used far from its call",
			   param->name);
}

/*
 * The variables of source `operand` are those of source `to` of the instruction
 * emitted last. A parameter that is memory gets its place in the frame.
 */
static int move_uses(struct lowering *l, const struct var_use *use, uint32_t n, uint32_t operand,
		     uint32_t to)
{
	struct ptx_operand *op = &l->out[l->nout - 1].src[to];
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		struct param *param = use[i].sym->param;

		if (use[i].operand != operand)
			continue;
		if (param) {
			if (param->site)
				ret = check_order(l, param, use[i].insn);
			op->space = PTX_SPACE_LOCAL;
			op->value += param->frame_offset;
			op->callee = param->site != NULL;
			continue;
		}
		if (array_grow(l->uses, l->uses_cap, l->nuses))
			return no_memory(l->p);
		l->uses[l->nuses] = use[i];
		l->uses[l->nuses].insn = l->nout - 1;
		l->uses[l->nuses++].operand = to;
	}
	return ret;
}

static enum ptx_type bits_type(uint32_t bytes)
{
	return bytes == 8 ? PTX_B64 : bytes == 4 ? PTX_B32 : bytes == 2 ? PTX_B16 : PTX_B8;
}

enum ptx_type integer(uint32_t bytes, bool is_signed)
{
	return bits_type(bytes) - PTX_B8 + (is_signed ? PTX_S8 : PTX_U8);
}

uint32_t reg_bytes(const struct lowering *l, uint32_t reg)
{
	return ptx_type_bytes(l->f->body.regs[reg].type);
}

int new_piece(struct lowering *l, struct param *param, struct piece *piece)
{
	int ret = 0;

	if (l->p->total_names++ >= PTX_MAX_NAMES)
		return unsupported(l->p, "a module of more than %u names", PTX_MAX_NAMES);
	piece->reg = new_register(l->p, &l->f->body, &l->regs_cap, param->name,
				  piece->bytes == 8 ? PTX_B64 : PTX_B32, &ret);
	return ret;
}

struct piece *piece_at(struct param *param, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < param->npieces; i++) {
		if (param->pieces[i].offset == offset)
			return &param->pieces[i];
	}
	return NULL;
}

int read_piece(struct lowering *l, const struct ptx_insn *like, uint32_t reg,
		      enum ptx_type type, const struct piece *piece)
{
	uint32_t bytes = ptx_type_bytes(type), wide = reg_bytes(l, reg);
	bool is_signed = type >= PTX_S8 && type <= PTX_S64;
	struct ptx_insn *insn;
	int ret;

	if (bytes == wide && bytes == piece->bytes && bytes >= 4) {
		ret = emit(l, like, PTX_OP_mov, bits_type(bytes), &insn);
	} else {
		ret = emit(l, like, PTX_OP_cvt, integer(wide, is_signed), &insn);
		if (!ret)
			insn->stype = integer(bytes, is_signed);
	}
	if (ret)
		return ret;
	insn->dst[insn->ndst++] = (struct ptx_operand){ .kind = PTX_OPND_REG, .reg = reg };
	insn->src[insn->nsrc++] = (struct ptx_operand){ .kind = PTX_OPND_REG, .reg = piece->reg };
	return 0;
}

int write_piece(struct lowering *l, const struct ptx_insn *like, const struct piece *piece,
		       const struct ptx_operand *op)
{
	struct ptx_insn *insn;
	int ret;

	if (op->kind == PTX_OPND_REG &&
	    (piece->bytes < 4 || reg_bytes(l, op->reg) != piece->bytes)) {
		ret = emit(l, like, PTX_OP_cvt, PTX_U32, &insn);
		if (!ret)
			insn->stype = integer(piece->bytes, false);
	} else {
		ret = emit(l, like, PTX_OP_mov, piece->bytes == 8 ? PTX_B64 : PTX_B32, &insn);
	}
	if (ret)
		return ret;
	insn->dst[insn->ndst++] = (struct ptx_operand){ .kind = PTX_OPND_REG, .reg = piece->reg };
	insn->src[insn->nsrc++] = *op;
	if (op->kind == PTX_OPND_IMM && piece->bytes < 8)
		insn->src[0].value &= (1ull << 8 * piece->bytes) - 1;
	return 0;
}

int frame_access(struct lowering *l, const struct ptx_insn *like, const struct param *param,
			bool is_store, bool callee, const struct ptx_operand *value)
{
	struct ptx_operand addr = {
		.kind = PTX_OPND_ADDR, .space = PTX_SPACE_LOCAL, .callee = callee,
		.reg = PTX_NO_REG, .value = param->frame_offset,
	};
	struct ptx_insn *insn;
	int ret = emit(l, like, is_store ? PTX_OP_st : PTX_OP_ld, bits_type(param->bytes), &insn);

	if (ret)
		return ret;
	insn->cls = PTX_CLASS_MEMORY;
	insn->space = PTX_SPACE_LOCAL;
	insn->src[insn->nsrc++] = addr;
	if (is_store)
		insn->src[insn->nsrc++] = *value;
	else
		insn->dst[insn->ndst++] = *value;
	return 0;
}

static int lower_access(struct lowering *l, uint32_t i, const struct var_use *use, uint32_t nuses)
{
	const struct ptx_insn insn = l->f->body.insns[i];
	uint32_t bytes = ptx_type_bytes(insn.type), e;
	struct param *param = use->sym->param;
	struct piece *piece;
	int ret = 0;

	for (e = 0; !ret && e < insn.vec; e++) {
		piece = piece_at(param, insn.src[0].value + e * bytes);
		if (insn.opcode == PTX_OP_st) {
			ret = write_piece(l, &insn, piece, &insn.src[1 + e]);
			if (!ret)
				ret = move_uses(l, use, nuses, 1 + e, 0);
		} else if (insn.dst[e].kind == PTX_OPND_REG) {
			ret = read_piece(l, &insn, insn.dst[e].reg, insn.type, piece);
		}
	}
	return ret;
}

/* Parameters that are registers of the text, but memory for their number. */
static int lower_registers(struct lowering *l, const struct ptx_insn *insn,
			   struct param *const *params, uint32_t n, bool is_store)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		struct ptx_operand reg = { .kind = PTX_OPND_REG, .reg = params[i]->reg };

		if (params[i]->memory && params[i]->reg != PTX_NO_REG)
			ret = frame_access(l, insn, params[i], is_store, false, &reg);
	}
	return ret;
}

/* Registers for the pieces of the function's own parameters. */
static int prepare_params(struct lowering *l, struct param *const *params, uint32_t n)
{
	uint32_t i, j;
	int ret = 0;

	for (i = 0; !ret && i < n; i++) {
		for (j = 0; !ret && j < params[i]->npieces; j++) {
			if (params[i]->reg != PTX_NO_REG)
				params[i]->pieces[j].reg = params[i]->reg;
			else
				ret = new_piece(l, params[i], &params[i]->pieces[j]);
		}
	}
	return ret;
}

/*
 * Parameters that are memory are in local memory, whether a variable or a register
 * has the address; those of a kernel are apart.
 */
static void lower_space(const struct lowering *l, struct ptx_insn *insn, bool has_param)
{
	if (insn->space != PTX_SPACE_PARAM || insn->opcode == PTX_OP_isspacep)
		return;
	if (has_param || insn->opcode == PTX_OP_st || !l->f->entry)
		insn->space = PTX_SPACE_LOCAL;
}

/* The parameter among the variables, the first source's before others. */
static struct param *param_among(const struct var_use *use, uint32_t n)
{
	struct param *param = NULL;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (use[i].sym->param && (!param || !use[i].operand))
			param = use[i].sym->param;
	}
	return param;
}

static int lower_insn(struct lowering *l, uint32_t i, const struct var_use *use, uint32_t nuses)
{
	const struct ptx_insn *old = &l->f->body.insns[i];
	struct param *param = param_among(use, nuses);
	struct ptx_insn *insn;
	uint32_t k;
	int ret = 0;

	if (param) {
		l->p->stmt = use->stmt;
		l->p->stmt_line = old->line;
		if (!param->formal && !param->site)
			return bad(l->p, "no call uses the parameter '%s'", param->name);
		if (!param->memory)
			return lower_access(l, i, use, nuses);
	}
	if (old->opcode == PTX_OP_call)
		return lower_call(l, i);
	if (old->opcode == PTX_OP_ret)
		ret = lower_registers(l, old, l->f->results, l->f->nresults, true);
	if (!ret)
		ret = emit(l, old, 0, 0, &insn);
	if (ret)
		return ret;
	*insn = *old;
	lower_space(l, insn, param);
	for (k = 0; !ret && k < insn->nsrc; k++)
		ret = move_uses(l, use, nuses, k, k);
	return ret;
}

static int lower_body(struct lowering *l)
{
	struct function *f = l->f;
	struct ptx_kernel *body = &f->body;
	const struct ptx_insn start = { .guard = PTX_NO_REG, .line = body->line };
	uint32_t i, u = 0, n;
	int ret;

	ret = lower_registers(l, &start, f->formals, f->nformals, false);
	for (i = 0; !ret && i < body->ninsns; i++) {
		l->map[i] = l->nout;
		for (n = 0; u + n < f->nuses && f->uses[u + n].insn == i; n++)
			;
		ret = lower_insn(l, i, &f->uses[u], n);
		u += n;
	}
	l->map[body->ninsns] = l->nout;
	return ret;
}

/* The old instructions are given up for the new ones. */
static void replace(struct lowering *l)
{
	struct function *f = l->f;
	uint32_t i, j;

	for (i = 0; i < l->nout; i++) {
		if (l->out[i].opcode == PTX_OP_bra)
			l->out[i].target = l->map[l->out[i].target];
	}
	for (i = 0; i < f->ntables; i++) {
		for (j = 0; j < f->tables[i].count; j++)
			f->tables[i].targets[j] = l->map[f->tables[i].targets[j]];
	}
	free(f->body.insns);
	free(f->uses);
	f->body.insns = l->out;
	f->body.ninsns = l->nout;
	f->uses = l->uses;
	f->nuses = l->nuses;
	l->out = NULL;
	l->uses = NULL;
}

/* Most kernels call nothing: there is nothing to do then. */
static bool has_params(const struct function *f)
{
	uint32_t i;

	if (!f->entry || f->ncalls)
		return true;
	for (i = 0; i < f->nuses; i++) {
		if (f->uses[i].sym->param)
			return true;
	}
	return false;
}

int lower_function(struct parser *p, struct function *f)
{
	struct lowering l = { .p = p, .f = f, .regs_cap = f->body.nregs };
	uint32_t i;
	int ret = 0;

	if (f->lowered)
		return 0;
	f->lowered = true;
	if (!has_params(f))
		return 0;
	l.map = calloc(f->body.ninsns + 1, sizeof(*l.map));
	f->lowered_calls = slab_alloc(&p->scratch, f->ncalls * sizeof(*f->lowered_calls));
	if (!l.map || !f->lowered_calls)
		ret = no_memory(p);
	for (i = 0; !ret && i < f->ncalls; i++)
		ret = lower_prepare(&l, f->calls[i]);
	if (!ret)
		ret = prepare_params(&l, f->formals, f->nformals);
	if (!ret)
		ret = prepare_params(&l, f->results, f->nresults);
	p->total_insns -= f->body.ninsns;
	if (!ret)
		ret = lower_body(&l);
	if (!ret)
		replace(&l);
	free(l.out);
	free(l.uses);
	free(l.map);
	return ret;
}
