// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels from functions: every .entry and the functions that it can reach
 * become one kernel, with one numbering of instructions, registers, calls and
 * tables, and with places for the .shared variables that they use. Called when
 * the text has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ptx/back.h"
#include "ptx/parser.h"

/* The functions of the kernel being linked. */
struct linking {
	struct function **list;
	uint32_t n, cap;
};

/* Where a function's numbers begin in the kernel. */
struct bases {
	uint32_t insn, reg, call, table;
};

static int add_function(struct parser *p, struct linking *ln, struct function *f)
{
	int ret;

	if (f->epoch == p->epoch)
		return 0;
	if (array_grow(ln->list, ln->cap, ln->n))
		return no_memory(p);
	f->epoch = p->epoch;
	f->index = ln->n;
	ln->list[ln->n++] = f;
	ret = lower_function(p, f);
	if (ret || f->entry)
		return ret;
	/* Every kernel has a copy. */
	p->total_insns += f->body.ninsns + f->extra;
	if (p->total_insns > PTX_MAX_INSNS)
		return err_set(p->err, -EOPNOTSUPP,
			       "%s:%u: not supported: kernel '%s' (the module's kernels are more than %u instructions with the functions they call)",
			       p->module->name, ln->list[0]->body.line, ln->list[0]->body.name,
			       PTX_MAX_INSNS);
	return 0;
}

static int collect(struct parser *p, struct linking *ln, struct function *entry)
{
	uint32_t i, j;
	int ret = add_function(p, ln, entry);

	for (i = 0; !ret && i < ln->n; i++) {
		for (j = 0; !ret && j < ln->list[i]->ncalls; j++) {
			struct function *callee = ln->list[i]->calls[j]->callee;

			if (!callee->builtin)
				ret = add_function(p, ln, callee);
		}
	}
	return ret;
}

/* --- shared variables ---------------------------------------------------------------- */

static int place_shared(struct parser *p, struct ptx_kernel *kernel, struct symbol *sym)
{
	uint64_t offset = (kernel->shared_bytes + sym->align - 1) & ~(uint64_t)(sym->align - 1);

	if (sym->epoch == p->epoch)
		return 0;
	if (offset + sym->bytes > PTX_MAX_SHARED)
		return err_set(p->err, -EINVAL,
			       "%s:%u: .shared variables take more than %u bytes in kernel '%s'",
			       kernel->module, kernel->line, PTX_MAX_SHARED, kernel->name);
	sym->epoch = p->epoch;
	sym->offset = offset;
	kernel->shared_bytes = offset + sym->bytes;
	return 0;
}

/* Programs cast it to what they like, whatever its variable says. */
#define DYNAMIC_ALIGN	16u

/*
 * The functions' own variables, then the module's that they use; the dynamic
 * memory begins where these end.
 */
static int lay_out_shared(struct parser *p, struct linking *ln, struct ptx_kernel *kernel)
{
	uint32_t i, j, align = DYNAMIC_ALIGN;
	struct symbol *sym;
	bool dynamic = false;
	int ret = 0;

	kernel->shared_bytes = 0;
	for (i = 0; i < ln->n; i++) {
		for (sym = ln->list[i]->shared; !ret && sym; sym = sym->next)
			ret = place_shared(p, kernel, sym);
		for (j = 0; !ret && j < ln->list[i]->nuses; j++) {
			sym = ln->list[i]->uses[j].sym;
			if (sym->space != PTX_SPACE_SHARED)
				continue;
			if (!sym->dynamic) {
				ret = place_shared(p, kernel, sym);
				continue;
			}
			dynamic = true;
			align = MAX(align, sym->align);
		}
	}
	if (ret)
		return ret;
	if (dynamic)
		kernel->shared_bytes = (kernel->shared_bytes + align - 1) & ~(align - 1);
	return 0;
}

static int add_addresses(struct parser *p, const struct function *f, struct ptx_kernel *kernel,
			 uint32_t base)
{
	uint32_t i;

	for (i = 0; i < f->nuses; i++) {
		const struct var_use *use = &f->uses[i];
		struct ptx_insn *insn = &kernel->insns[base + use->insn];

		if (use->sym->param)
			continue;
		if (use->sym->undefined) {
			p->stmt = use->stmt;
			p->stmt_line = insn->line;
			return unsupported(p, "'%.*s' is a variable of another module",
					   (int)MIN(use->sym->name_len, 80u), use->sym->name);
		}
		insn->src[use->operand].value += use->sym->dynamic ? kernel->shared_bytes :
			use->sym->offset;
	}
	return 0;
}

/* --- code ------------------------------------------------------------------------------ */

static void renumber(uint32_t *reg, uint32_t base)
{
	if (*reg != PTX_NO_REG)
		*reg += base;
}

static void relocate(struct ptx_insn *insn, const struct bases *base)
{
	uint32_t i;

	renumber(&insn->guard, base->reg);
	for (i = 0; i < insn->ndst; i++)
		renumber(&insn->dst[i].reg, base->reg);
	for (i = 0; i < insn->nsrc; i++) {
		if (insn->src[i].kind == PTX_OPND_REG || insn->src[i].kind == PTX_OPND_ADDR)
			renumber(&insn->src[i].reg, base->reg);
	}
	switch (insn->opcode) {
	case PTX_OP_bra:
		insn->target += base->insn;
		break;
	case PTX_OP_brx:
		insn->target += base->table;
		break;
	case PTX_OP_call:
		insn->target += base->call;
		break;
	case PTX_OP_ret:
		insn->cls = PTX_CLASS_CALL;
		break;
	default:
		break;
	}
}

static uint32_t *piece_registers(struct slab *slab, struct param *const *params, uint32_t n,
				 uint32_t base, uint32_t *count)
{
	uint32_t i, j, *regs;

	for (*count = 0, i = 0; i < n; i++)
		*count += params[i]->npieces;
	regs = slab_alloc(slab, *count * sizeof(*regs));
	for (*count = 0, i = 0; regs && i < n; i++) {
		for (j = 0; j < params[i]->npieces; j++)
			regs[(*count)++] = params[i]->pieces[j].reg + base;
	}
	return regs;
}

static int copy_calls(struct slab *slab, const struct function *f, struct ptx_kernel *kernel,
		      const struct bases *base)
{
	uint32_t i, j;

	for (i = 0; i < f->ncalls; i++) {
		const struct ptx_call *from = &f->lowered_calls[i];
		struct ptx_call *call = &kernel->calls[base->call + i];

		*call = *from;
		call->function = from->builtin ? 0 : f->calls[i]->callee->index;
		call->args = slab_alloc(slab, from->nargs * sizeof(*call->args));
		call->results = slab_alloc(slab, from->nresults * sizeof(*call->results));
		if (!call->args || !call->results)
			return -ENOMEM;
		for (j = 0; j < from->nargs; j++) {
			call->args[j] = from->args[j];
			renumber(&call->args[j].reg, base->reg);
		}
		for (j = 0; j < from->nresults; j++) {
			call->results[j] = from->results[j];
			renumber(&call->results[j], base->reg);
		}
	}
	return 0;
}

static int copy_tables(struct slab *slab, const struct function *f, struct ptx_kernel *kernel,
		       const struct bases *base)
{
	uint32_t i, j;

	for (i = 0; i < f->ntables; i++) {
		struct ptx_table *table = &kernel->tables[base->table + i];

		table->count = f->tables[i].count;
		table->targets = slab_alloc(slab, table->count * sizeof(*table->targets));
		if (!table->targets)
			return -ENOMEM;
		for (j = 0; j < table->count; j++)
			table->targets[j] = f->tables[i].targets[j] + base->insn;
	}
	return 0;
}

/* The instructions and registers of the entry are in place already. */
static int copy_function(struct parser *p, struct function *f, struct ptx_kernel *kernel,
			 const struct bases *base)
{
	struct ptx_function *to = &kernel->functions[f->index];
	struct slab *slab = &p->module->slab;
	uint32_t i;

	if (!f->entry) {
		memcpy(kernel->insns + base->insn, f->body.insns,
		       f->body.ninsns * sizeof(*kernel->insns));
		if (f->body.nregs)
			memcpy(kernel->regs + base->reg, f->body.regs,
			       f->body.nregs * sizeof(*kernel->regs));
		for (i = base->insn; i < base->insn + f->body.ninsns; i++)
			relocate(&kernel->insns[i], base);
	}
	to->name = f->body.name;
	to->line = f->body.line;
	to->first = base->insn;
	to->end = base->insn + f->body.ninsns;
	to->frame_bytes = f->body.local_bytes;
	to->formals = piece_registers(slab, f->formals, f->nformals, base->reg, &to->nformals);
	to->results = piece_registers(slab, f->results, f->nresults, base->reg, &to->nresults);
	if (!to->formals || !to->results || copy_calls(slab, f, kernel, base) ||
	    copy_tables(slab, f, kernel, base))
		return no_memory(p);
	return add_addresses(p, f, kernel, base->insn);
}

/* The kernel takes the entry's own arrays and has those of the functions copied behind them. */
static int join(struct parser *p, struct linking *ln, struct ptx_kernel *kernel)
{
	struct slab *slab = &p->module->slab;
	struct bases base = { 0 }, total = { 0 };
	uint32_t i;
	int ret;

	for (i = 0; i < ln->n; i++) {
		const struct function *f = ln->list[i];

		total.insn += f->body.ninsns;
		total.reg += f->body.nregs;
		total.call += f->ncalls;
		total.table += f->ntables;
	}
	kernel->functions = slab_alloc(slab, ln->n * sizeof(*kernel->functions));
	kernel->calls = slab_alloc(slab, total.call * sizeof(*kernel->calls));
	kernel->tables = slab_alloc(slab, total.table * sizeof(*kernel->tables));
	if (!kernel->functions || !kernel->calls || !kernel->tables ||
	    array_resize(kernel->insns, total.insn) || array_resize(kernel->regs, total.reg))
		return no_memory(p);
	kernel->nfunctions = ln->n;
	kernel->ncalls = total.call;
	kernel->ntables = total.table;
	kernel->ninsns = total.insn;
	kernel->nregs = total.reg;
	for (i = 0; i < ln->n; i++) {
		struct function *f = ln->list[i];

		ret = copy_function(p, f, kernel, &base);
		if (ret)
			return ret;
		base.insn += f->body.ninsns;
		base.reg += f->body.nregs;
		base.call += f->ncalls;
		base.table += f->ntables;
	}
	return 0;
}

/* Behind the parameters of the text there is one that the launch fills. */
static void add_workspace(const struct linking *ln, struct ptx_kernel *kernel)
{
	uint32_t i;

	for (i = 0; i < ln->n; i++)
		kernel->has_workspace |= ln->list[i]->workspace;
	if (!kernel->has_workspace)
		return;
	kernel->workspace_at = (kernel->param_bytes + 7) & ~7u;
	kernel->param_bytes = kernel->workspace_at + 8;
}

static void look_for_textures(struct ptx_kernel *kernel)
{
	uint32_t i;

	for (i = 0; i < kernel->ninsns; i++) {
		uint16_t op = kernel->insns[i].opcode;

		kernel->has_textures |= op == PTX_OP__texel || op == PTX_OP__texquery ||
					op == PTX_OP__surface;
	}
}

static int link_entry(struct parser *p, struct linking *ln, struct function *entry)
{
	struct ptx_module *module = p->module;
	struct ptx_kernel *kernel;
	int ret;

	p->epoch++;
	ln->n = 0;
	ret = collect(p, ln, entry);
	if (ret)
		return ret;
	kernel = slab_alloc(&module->slab, sizeof(*kernel));
	if (!kernel || array_grow(module->kernels, module->kernels_cap, module->nkernels))
		return no_memory(p);
	/* Whatever happens, the arrays are the module's to free now. */
	*kernel = entry->body;
	module->kernels[module->nkernels++] = kernel;
	entry->body.insns = NULL;
	entry->body.regs = NULL;
	entry->body.params = NULL;
	kernel->const_data = module->const_data;
	kernel->const_bytes = module->const_bytes;
	add_workspace(ln, kernel);
	look_for_textures(kernel);
	ret = lay_out_shared(p, ln, kernel);
	if (!ret)
		ret = join(p, ln, kernel);
	if (!ret)
		ret = kernel_finish(kernel, &module->slab, &module->options, p->err);
	return ret;
}

/* The module goes on without the kernel; what was begun of it goes. */
static int leave_out(struct parser *p, const struct function *entry, uint32_t nkernels,
		     const char *why)
{
	struct ptx_module *module = p->module;
	struct refused *r;

	if (module->nkernels > nkernels) {
		struct ptx_kernel *kernel = module->kernels[--module->nkernels];

		free(kernel->insns);
		free(kernel->regs);
		free(kernel->params);
	}
	if (array_grow(module->refused, module->refused_cap, module->nrefused))
		return no_memory(p);
	r = &module->refused[module->nrefused++];
	r->name = entry->body.name;
	r->why = slab_strndup(&module->slab, why, strlen(why));
	p->err->text[0] = '\0';
	return r->why ? 0 : no_memory(p);
}

int link_module(struct parser *p)
{
	struct ptx_module *module = p->module;
	struct linking ln = { 0 };
	uint32_t i, n;
	int ret = place_params(p);

	for (i = 0; !ret && i < p->nfunctions; i++) {
		struct function *f = p->functions[i];

		if (!f->entry || !f->defined)
			continue;
		n = module->nkernels;
		if (f->refusal) {
			ret = leave_out(p, f, n, f->refusal);
			continue;
		}
		ret = link_entry(p, &ln, f);
		if (ret == -EOPNOTSUPP && module->options.leave_out)
			ret = leave_out(p, f, n, p->err->text);
	}
	free(ln.list);
	if (!ret && !module->nkernels && module->nrefused)
		ret = err_set(p->err, -EOPNOTSUPP, "%s", module->refused[0].why);
	return ret;
}
