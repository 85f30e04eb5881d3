// SPDX-License-Identifier: GPL-2.0
/*
 * Which registers an instruction reads and writes, in one list whatever the
 * instruction: guard, operands, a call's arguments and results, the results
 * that a function's ret leaves behind. Called by every pass of back.h.
 */
#include "ptx/back.h"

const struct ptx_function *insn_callee(const struct ptx_kernel *kernel,
				       const struct ptx_insn *insn)
{
	const struct ptx_call *call;

	if (insn->opcode != PTX_OP_call)
		return NULL;
	call = &kernel->calls[insn->target];
	return call->builtin ? NULL : &kernel->functions[call->function];
}

bool call_returns(const struct ptx_kernel *kernel, const struct ptx_insn *insn, uint32_t reg)
{
	const struct ptx_call *call;
	uint32_t i;

	if (insn->opcode != PTX_OP_call)
		return false;
	call = &kernel->calls[insn->target];
	for (i = 0; i < call->nresults; i++) {
		if (call->results[i] == reg)
			return true;
	}
	return false;
}

uint32_t reg_words(const struct ptx_kernel *kernel, uint32_t reg)
{
	uint8_t type = kernel->regs[reg].type;

	return type == PTX_PRED ? 0 : ptx_type_bytes(type) > 4 ? 2 : 1;
}

uint32_t refs_max(const struct ptx_kernel *kernel)
{
	uint32_t most = 0, i;

	for (i = 0; i < kernel->ncalls; i++)
		most = MAX(most, kernel->calls[i].nargs + kernel->calls[i].nresults);
	for (i = 0; i < kernel->nfunctions; i++)
		most = MAX(most, kernel->functions[i].nresults);
	return most + 1 + PTX_MAX_SRC + PTX_MAX_DST;
}

static uint32_t add(struct ref *refs, uint32_t n, uint32_t *reg, bool write, bool shared)
{
	if (*reg == PTX_NO_REG)
		return n;
	refs[n] = (struct ref){ reg, write, shared };
	return n + 1;
}

static uint32_t call_refs(const struct ptx_call *call, struct ref *refs, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < call->nargs; i++)
		n = add(refs, n, &call->args[i].reg, false, false);
	for (i = 0; i < call->nresults; i++)
		n = add(refs, n, &call->results[i], true, false);
	return n;
}

uint32_t insn_refs(const struct ptx_kernel *kernel, const struct cfg *cfg, uint32_t at,
		   struct ref *refs)
{
	struct ptx_insn *insn = &kernel->insns[at];
	uint32_t n = add(refs, 0, &insn->guard, false, false), i;

	for (i = 0; i < insn->nsrc; i++)
		n = add(refs, n, &insn->src[i].reg, false, false);
	for (i = 0; i < insn->ndst; i++)
		n = add(refs, n, &insn->dst[i].reg, true, false);
	if (insn->opcode == PTX_OP_call)
		return call_refs(&kernel->calls[insn->target], refs, n);
	if (insn->opcode == PTX_OP_ret) {
		const struct ptx_function *f =
			&kernel->functions[cfg->function_of[cfg->block_of[at]]];

		for (i = 0; i < f->nresults; i++)
			n = add(refs, n, &f->results[i], false, true);
	}
	return n;
}
