/* SPDX-License-Identifier: GPL-2.0 */
/* What gpuemu cc mends in the assembly of a .cu file's two halves, before it is an object. */
#ifndef GPUEMU_CC_ASSEMBLY_H
#define GPUEMU_CC_ASSEMBLY_H

struct err;

int cc_mend_assembly(const char *file, struct err *err);
/*
 * The device half's PTX: with -fgpu-rdc clang lists the kernels and variables that the host names
 * in a variable, for a linker that would drop them. Nobody reads it, and it has kernels' addresses.
 */
void cc_mend_ptx(char *text);

#endif
