/* SPDX-License-Identifier: GPL-2.0 */
/* What gpuemu cc mends in the PTX of a .cu file's device half. */
#ifndef GPUEMU_CC_PTX_H
#define GPUEMU_CC_PTX_H

/*
 * The text as it shall be, the caller's; NULL: no memory. Two things change.
 *
 * clang up to 16 makes `bfe.u64 d, a, start, bits` of (x >> start) & mask with a signed x of 64
 * bits, also where start + bits is over 64. There the shift brings copies of the sign, and bfe
 * zeros. It becomes a shift and a mask. What the program itself wrote in asm stays.
 *
 * With -fgpu-rdc clang lists the kernels and variables that the host names in a variable, for a
 * linker that would drop them. Nobody reads it, and it has kernels' addresses.
 */
char *cc_mended_ptx(const char *text);

#endif
