/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Module variables of gpuemu ptx (--global NAME=...): what cudaMemcpyToSymbol() and
 * cudaMemcpyFromSymbol() are to a host program, with files.
 */
#ifndef GPUEMU_TOOLS_GLOBAL_H
#define GPUEMU_TOOLS_GLOBAL_H

#include "base/base.h"
#include "gpuemu.h"

struct global {
	char *name, *in, *out;	/* files, or NULL */
	void *memory;		/* the module's, once filled */
	size_t bytes;
};

struct global_list {
	struct global *rows;
	unsigned int count;
};

/* Appends one: "NAME=in:FILE", "NAME=out:FILE", "NAME=inout:FILE:FILE". -EINVAL with err. */
int global_parse(struct global_list *list, const char *spec, struct err *err);
/* Finds the variables of a loaded module and reads the files into them. */
int global_fill(struct global_list *list, struct gpuemu_ctx *ctx,
		struct gpuemu_module *module, struct err *err);
/* Tells before a launch whether the output files can be written. */
int global_check_files(const struct global_list *list, struct err *err);
int global_write(const struct global_list *list, struct err *err);
void global_free(struct global_list *list);

#endif
