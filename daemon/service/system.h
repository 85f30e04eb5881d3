/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program's own memory (heap, stack, variables, files), which a kernel may be given a
 * pointer to. A service in the program's process uses it; the owner of the service says what is
 * mapped where.
 */
#ifndef GPUEMU_SERVICE_SYSTEM_H
#define GPUEMU_SERVICE_SYSTEM_H

#include "base/base.h"

/* A mapping of the process, or a piece of one; whole pages. */
struct system_range {
	uint64_t start, end;
	bool read_only;
};

struct system_memory {
	/* The readable mapping that holds addr; false: there is none. NULL: no such memory. */
	bool (*find)(void *ctx, uint64_t addr, struct system_range *range);
	/* Called before find(): the program may have mapped and unmapped since. May be NULL. */
	void (*refresh)(void *ctx);
	void *ctx;
};

#endif
