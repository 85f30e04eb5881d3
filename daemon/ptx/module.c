// SPDX-License-Identifier: GPL-2.0
/*
 * What a parsed module shows: its kernels by name and in order. The parser
 * (parse.c) makes it; every room that runs kernels reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/parser.h"

void ptx_module_free(struct ptx_module *module)
{
	uint32_t i;

	if (!module)
		return;
	if (module->memory) {
		packed_free(module);
		return;
	}
	for (i = 0; i < module->nkernels; i++) {
		free(module->kernels[i]->insns);
		free(module->kernels[i]->regs);
		free(module->kernels[i]->params);
	}
	free(module->kernels);
	free(module->refused);
	free(module->variables);
	free(module->constants);
	free(module->addresses);
	free(module->global_image);
	slab_free(&module->slab);
	free(module);
}

const char *ptx_module_name(const struct ptx_module *module)
{
	return module->name;
}

const struct ptx_kernel *ptx_module_kernel_at(const struct ptx_module *module, unsigned int n)
{
	return n < module->nkernels ? module->kernels[n] : NULL;
}

const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, const char *name)
{
	uint32_t i;

	for (i = 0; i < module->nkernels; i++) {
		if (!strcmp(module->kernels[i]->name, name))
			return module->kernels[i];
	}
	return NULL;
}

const char *ptx_module_refusal(const struct ptx_module *module, const char *name)
{
	uint32_t i;

	for (i = 0; i < module->nrefused; i++) {
		if (!strcmp(module->refused[i].name, name))
			return module->refused[i].why;
	}
	return NULL;
}

const struct ptx_variable *ptx_module_variable_at(const struct ptx_module *module, unsigned int n)
{
	return n < module->nvariables ? &module->variables[n] : NULL;
}

const struct ptx_variable *ptx_module_constant_at(const struct ptx_module *module, unsigned int n)
{
	return n < module->nconstants ? &module->constants[n] : NULL;
}

void *ptx_module_constants(struct ptx_module *module, uint32_t *bytes)
{
	*bytes = module->const_bytes;
	return module->const_data;
}

uint64_t ptx_module_global_bytes(const struct ptx_module *module, uint32_t *align)
{
	if (align)
		*align = MAX(module->global_align, 1u);
	return module->global_bytes;
}

const void *ptx_module_global_image(const struct ptx_module *module)
{
	return module->global_image;
}

uint64_t ptx_module_global_base(const struct ptx_module *module)
{
	return module->global_base;
}

static bool is_global(const struct ptx_operand *op)
{
	return (op->kind == PTX_OPND_SYMBOL || op->kind == PTX_OPND_ADDR) &&
		op->space == PTX_SPACE_GLOBAL;
}

/* An operand of .global names a variable: other addresses have no space of their own. */
void ptx_module_place(struct ptx_module *module, uint64_t base)
{
	uint64_t move = base - module->global_base;
	uint32_t i, j, k;

	module->global_base = base;
	for (i = 0; i < module->nkernels; i++) {
		struct ptx_kernel *kernel = module->kernels[i];

		for (j = 0; j < kernel->ninsns; j++) {
			struct ptx_insn *insn = &kernel->insns[j];

			for (k = 0; k < insn->nsrc; k++) {
				if (is_global(&insn->src[k]))
					insn->src[k].value += move;
			}
		}
	}
	place_addresses(module);
}
