/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module's parameters, from params.def. A LIVE one may change at any time:
 * gpuemu_param() reads it once.
 */
#ifndef _GPUEMU_PARAMS_H
#define _GPUEMU_PARAMS_H

#include <linux/compiler.h>
#include <linux/types.h>

struct gpuemu_params {
#define X(name, def, min, max, when, doc) unsigned int name;
#include "params.def"
#undef X
};

extern struct gpuemu_params gpuemu_params;

#define gpuemu_param(name) READ_ONCE(gpuemu_params.name)

/* A row of params.def. */
struct gpuemu_param_row {
	const char *name;
	const char *doc;
	unsigned int *value;
	unsigned int def, min, max;
	bool live;
};

const struct gpuemu_param_row *gpuemu_param_row(unsigned int n);
const struct gpuemu_param_row *gpuemu_param_find(const char *name);

#endif
