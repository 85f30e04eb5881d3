/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program's advice on its managed memory (gpuemu_mem_advise()), as it travels from
 * libgpuemu to the fault handler. The message belongs to no room, so that the
 * room that keeps it and the room that acts on it need not know each other.
 */
#ifndef GPUEMU_BASE_ADVICE_H
#define GPUEMU_BASE_ADVICE_H

#include <stdint.h>

#define ADVICE_READ_MOSTLY	1u	/* duplicated, read-only, where it is read */
#define ADVICE_PREFER_DEVICE	2u
#define ADVICE_PREFER_HOST	4u	/* not both */
#define ADVICE_ACCESSED_BY	8u	/* the device uses it where it is */
#define ADVICE_ALL		15u

#define ADVICE_MAX		4096u	/* pieces that one VA space may have */

/* A piece of managed memory, whole pages. Pieces are told by address and do not overlap. */
struct advice_range {
	uint64_t addr, bytes;
	uint32_t flags;			/* ADVICE_*, not 0 */
	uint32_t reserved;
};

#endif
