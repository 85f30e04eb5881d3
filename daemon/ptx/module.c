// SPDX-License-Identifier: GPL-2.0
/*
 * What a parsed module shows: its kernels by name and in order. The parser
 * (parse.c) makes it; every room that runs kernels reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/private.h"

void ptx_module_free(struct ptx_module *module)
{
	uint32_t i;

	if (!module)
		return;
	for (i = 0; i < module->nkernels; i++) {
		free(module->kernels[i]->insns);
		free(module->kernels[i]->regs);
		free(module->kernels[i]->params);
	}
	free(module->kernels);
	pool_free(&module->pool);
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
