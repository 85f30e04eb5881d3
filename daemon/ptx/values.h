/* SPDX-License-Identifier: GPL-2.0 */
/* Where in shared memory each access of a kernel may be. values.c finds it for scratchpad.c. */
#ifndef GPUEMU_PTX_VALUES_H
#define GPUEMU_PTX_VALUES_H

#include "ptx/back.h"

/*
 * extents[instruction]: which bytes the instruction itself may access, whatever the launch. A call
 * has none. -ENOMEM.
 */
int values_solve(struct ptx_kernel *kernel, const struct cfg *cfg, const struct spills *spills,
		 struct ptx_extent *extents);

#endif
