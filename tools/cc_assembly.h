/* SPDX-License-Identifier: GPL-2.0 */
/* What gpuemu cc mends in the assembly of a .cu file's host half, before it is an object. */
#ifndef GPUEMU_CC_ASSEMBLY_H
#define GPUEMU_CC_ASSEMBLY_H

#include <stdbool.h>

struct err;

int cc_mend_assembly(const char *file, bool per_thread, struct err *err);

#endif
