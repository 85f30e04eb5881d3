// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: whether what is passed fits the function that is called, and the
 * arguments and results by piece. Called by lower.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

static int check_values(struct lowering *l, const struct call_value *values, uint32_t n,
			struct param *const *formals, uint32_t nformals, const char *what)
{
	uint32_t i;

	if (n != nformals)
		return bad(l->p, "the function has %u %ss, the call %u", nformals, what, n);
	for (i = 0; i < n; i++) {
		uint32_t bytes = values[i].param ? values[i].param->bytes :
			values[i].op.kind == PTX_OPND_REG ? reg_bytes(l, values[i].op.reg) :
			formals[i]->bytes;

		if (formals[i]->open)
			return unsupported(l->p, "a variable number of arguments");
		if (bytes != formals[i]->bytes)
			return bad(l->p, "%s %u has %u bytes, in the call %u", what, i + 1,
				   formals[i]->bytes, bytes);
	}
	return 0;
}

/* The variables of a call have the pieces that the function has; those the text uses get registers. */
static int prepare_values(struct lowering *l, struct call_value *values, uint32_t n,
			  struct param *const *formals)
{
	uint32_t i, j;
	int ret;

	for (i = 0; i < n; i++) {
		struct param *var = values[i].param, mine;

		if (!var)
			continue;
		mine = *var;
		var->memory = formals[i]->memory;
		var->frame_offset = formals[i]->frame_offset;
		var->npieces = formals[i]->npieces;
		memcpy(var->pieces, formals[i]->pieces, sizeof(var->pieces));
		for (j = 0; j < var->npieces; j++) {
			var->pieces[j].reg = PTX_NO_REG;
			if (!piece_at(&mine, var->pieces[j].offset))
				continue;
			ret = new_piece(l, var, &var->pieces[j]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

int lower_prepare(struct lowering *l, struct call_site *site)
{
	const struct function *callee = site->callee;
	int ret;

	l->p->stmt = site->stmt;
	l->p->stmt_line = site->line;
	if (callee->refusal)
		return err_set(l->p->err, -EOPNOTSUPP, "%s", callee->refusal);
	if (!callee->defined && !callee->builtin)
		return unsupported(l->p, "the function '%.100s' is not in the module",
				   callee->body.name);
	ret = check_values(l, site->args, site->nargs, callee->formals, callee->nformals,
			   "argument");
	if (!ret && (site->nresults || !callee->builtin))
		ret = check_values(l, site->results, site->nresults, callee->results,
				   site->nresults ? callee->nresults : 0, "result");
	if (!ret)
		ret = prepare_values(l, site->args, site->nargs, callee->formals);
	if (!ret)
		ret = prepare_values(l, site->results, site->nresults, callee->results);
	return ret;
}

static uint32_t count_pieces(struct param *const *params, uint32_t n)
{
	uint32_t pieces = 0, i;

	for (i = 0; i < n; i++)
		pieces += params[i]->npieces;
	return pieces;
}

/* Fills the arguments of a call. Registers of other sizes than the piece's are resized first. */
static int lower_args(struct lowering *l, const struct ptx_insn *insn, struct call_site *site,
		      struct ptx_call *call)
{
	uint32_t i, j;
	int ret = 0;

	for (i = 0; !ret && i < site->nargs; i++) {
		struct param *formal = site->callee->formals[i];
		struct call_value *value = &site->args[i];

		if (formal->memory && !value->param && value->op.kind) {
			ret = frame_access(l, insn, formal, true, true, &value->op);
			continue;
		}
		for (j = 0; !ret && j < formal->npieces; j++) {
			struct ptx_operand *arg = &call->args[call->nargs++];
			struct piece piece = formal->pieces[j];

			*arg = (struct ptx_operand){ .kind = PTX_OPND_IMM, .reg = PTX_NO_REG };
			if (value->param) {
				arg->reg = value->param->pieces[j].reg;
			} else if (value->op.kind == PTX_OPND_REG && piece.bytes >= 4) {
				arg->reg = value->op.reg;
			} else if (value->op.kind == PTX_OPND_REG) {
				ret = new_piece(l, formal, &piece);
				if (!ret)
					ret = write_piece(l, insn, &piece, &value->op);
				arg->reg = piece.reg;
			} else {
				arg->value = value->op.value;
				if (piece.bytes < 8)
					arg->value &= (1ull << 8 * piece.bytes) - 1;
			}
			if (arg->reg != PTX_NO_REG)
				arg->kind = PTX_OPND_REG;
		}
	}
	return ret;
}

static int lower_results(struct lowering *l, const struct ptx_insn *insn, struct call_site *site,
			 struct ptx_call *call)
{
	uint32_t i, j;
	int ret = 0;

	for (i = 0; !ret && i < site->nresults; i++) {
		struct param *formal = site->callee->results[i];
		struct call_value *value = &site->results[i];

		if (formal->memory && !value->param && value->op.kind) {
			ret = frame_access(l, insn, formal, false, true, &value->op);
			continue;
		}
		for (j = 0; !ret && j < formal->npieces; j++) {
			uint32_t *result = &call->results[call->nresults++];
			struct piece piece = formal->pieces[j];

			*result = PTX_NO_REG;
			if (value->param) {
				*result = value->param->pieces[j].reg;
			} else if (value->op.kind == PTX_OPND_REG && piece.bytes >= 4) {
				*result = value->op.reg;
			} else if (value->op.kind == PTX_OPND_REG) {
				ret = new_piece(l, formal, &piece);
				if (!ret)
					ret = read_piece(l, insn, value->op.reg,
							 integer(piece.bytes, false), &piece);
				*result = piece.reg;
			}
		}
	}
	call->nresults = count_pieces(site->callee->results, site->callee->nresults);
	for (i = 0; !site->nresults && i < call->nresults; i++)
		call->results[i] = PTX_NO_REG;
	return ret;
}

int lower_call(struct lowering *l, uint32_t i)
{
	const struct ptx_insn insn = l->f->body.insns[i];
	struct call_site *site = l->f->calls[insn.target];
	struct ptx_call *call = &l->f->lowered_calls[insn.target];
	struct slab *slab = &l->p->module->slab;
	struct ptx_insn *copy;
	int ret;

	call->builtin = site->callee->builtin;
	call->args = slab_alloc(slab, sizeof(*call->args) *
				count_pieces(site->callee->formals, site->callee->nformals));
	call->results = slab_alloc(slab, sizeof(*call->results) *
				   count_pieces(site->callee->results, site->callee->nresults));
	if (!call->args || !call->results)
		return no_memory(l->p);
	ret = lower_args(l, &insn, site, call);
	if (!ret)
		ret = emit(l, &insn, 0, 0, &copy);
	if (ret)
		return ret;
	*copy = insn;
	return lower_results(l, &insn, site, call);
}
