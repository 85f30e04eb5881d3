/* SPDX-License-Identifier: GPL-2.0 */
/* The device's malloc() and free(): heap.c. Private to the room. */
#ifndef GPUEMU_PTX_HEAP_H
#define GPUEMU_PTX_HEAP_H

/* PTX: the functions, and the variable PTX_HEAP. */
extern const char heap_text[];

#endif
