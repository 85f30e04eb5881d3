// SPDX-License-Identifier: GPL-2.0
/* The instruction that is being read: a new one at the end of its body, and its operands. */
#include <string.h>

#include "base/array.h"
#include "ptx/parser.h"

int new_insn(struct parser *p, struct ptx_insn **out)
{
	struct ptx_kernel *kernel = p->kernel;
	struct ptx_insn *insn;

	if (p->total_insns++ >= PTX_MAX_INSNS)
		return unsupported(p, "a module of more than %u instructions", PTX_MAX_INSNS);
	if (array_grow(kernel->insns, p->insns_cap, kernel->ninsns))
		return no_memory(p);
	insn = &kernel->insns[kernel->ninsns++];
	memset(insn, 0, sizeof(*insn));
	insn->guard = PTX_NO_REG;
	insn->vec = 1;
	insn->line = p->stmt_line;
	*out = insn;
	return 0;
}

struct ptx_operand *new_dst(struct ptx_insn *insn)
{
	return &insn->dst[insn->ndst++];
}

struct ptx_operand *new_src(struct ptx_insn *insn)
{
	return &insn->src[insn->nsrc++];
}
