/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GPUEMU_TOOLS_HEAP_H
#define _GPUEMU_TOOLS_HEAP_H

/*
 * Asks the kernel to back the process' heap with huge pages. A program calls it first. It
 * changes speed alone, so it does not report whether it had an effect.
 */
void heap_huge_pages(void);

#endif
