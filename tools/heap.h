/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GPUEMU_TOOLS_HEAP_H
#define _GPUEMU_TOOLS_HEAP_H

/*
 * Has the kernel back the process' heap with huge pages, where it has them. A program
 * calls it first. It is a matter of speed alone: nothing tells when it had no effect.
 */
void heap_huge_pages(void);

#endif
