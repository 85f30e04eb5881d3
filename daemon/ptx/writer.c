// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel's instructions written anew, with some inserted and some left out:
 * branches, tables, functions and slots follow. Called by rewrite.c and save.c,
 * which say for each old instruction where it now begins.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"

int writer_init(struct writer *w, struct spills *s)
{
	*w = (struct writer){ .spills = s };
	w->start = calloc((size_t)s->kernel->ninsns + 1, sizeof(*w->start));
	return w->start ? 0 : -ENOMEM;
}

void writer_free(struct writer *w)
{
	free(w->insns);
	free(w->note);
	free(w->start);
	memset(w, 0, sizeof(*w));
}

int writer_add(struct writer *w, const struct ptx_insn *insn, uint32_t slot)
{
	if (w->n >= 8 * PTX_MAX_INSNS)
		return -E2BIG;
	if (array_grow(w->insns, w->insns_cap, w->n) ||
	    array_grow(w->note, w->note_cap, w->n))
		return -ENOMEM;
	w->insns[w->n] = *insn;
	w->note[w->n++] = slot;
	return 0;
}

int writer_add_access(struct writer *w, enum ptx_opcode op, uint32_t reg, uint32_t slot,
		      const struct ptx_insn *served)
{
	/*
	 * All of a register's 4 or 8 bytes, whatever its type: what a narrow one holds in the
	 * bits above its type comes back too.
	 */
	struct ptx_insn insn = {
		.opcode = op, .cls = PTX_CLASS_MEMORY, .space = PTX_SPACE_LOCAL, .vec = 1,
		.type = w->spills->slots[slot].bytes == 8 ? PTX_B64 : PTX_B32,
		.nsrc = 1, .guard = PTX_NO_REG, .line = served->line,
		.src[0] = { .kind = PTX_OPND_ADDR, .space = PTX_SPACE_LOCAL, .reg = PTX_NO_REG },
	};
	struct ptx_operand value = { .kind = PTX_OPND_REG, .reg = reg };

	if (op == PTX_OP_st) {
		insn.src[insn.nsrc++] = value;
		insn.guard = served->guard;
		insn.guard_negate = served->guard_negate;
	} else {
		insn.dst[insn.ndst++] = value;
	}
	return writer_add(w, &insn, slot);
}

void writer_commit(struct writer *w)
{
	struct ptx_kernel *kernel = w->spills->kernel;
	uint32_t i, t;

	for (i = 0; i < w->n; i++) {
		if (w->insns[i].opcode == PTX_OP_bra)
			w->insns[i].target = w->start[w->insns[i].target];
	}
	for (i = 0; i < kernel->ntables; i++) {
		for (t = 0; t < kernel->tables[i].count; t++)
			kernel->tables[i].targets[t] = w->start[kernel->tables[i].targets[t]];
	}
	for (i = 0; i < w->spills->nslots; i++) {
		w->spills->slots[i].from = w->start[w->spills->slots[i].from];
		w->spills->slots[i].to = w->start[w->spills->slots[i].to];
	}
	free(kernel->insns);
	free(w->spills->note);
	kernel->insns = w->insns;
	kernel->ninsns = w->n;
	w->spills->note = w->note;
	w->insns = NULL;
	w->note = NULL;
	writer_free(w);
}
