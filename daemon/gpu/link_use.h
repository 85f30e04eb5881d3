/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the link was used up to any cycle: transfers are told as a whole, often before
 * they end, and counted by the part that has passed. So statistics over time are exact
 * however long a transfer is. Private to the gpu room.
 */
#ifndef GPUEMU_GPU_LINK_USE_H
#define GPUEMU_GPU_LINK_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spec.h"

struct link_part {
	uint64_t begin, end, bytes;
};

struct link_use {
	struct link_way {
		uint64_t busy, bytes;		/* of transfers that have passed */
		uint64_t told_busy, told_bytes;	/* the last answer: it only grows */
		struct link_part *parts;	/* the others, by begin */
		size_t first, count, room;
	} ways[KERNEL_SLOTS + 1][2];	/* by kernel slot, the last nobody's; to device memory, back */
};

void link_use_reset(struct link_use *u);
/* Adds a kernel's transfer, [begin, end) in core cycles. Without memory it is counted at once. */
void link_use_add(struct link_use *u, unsigned int kernel, bool d2h, uint64_t begin, uint64_t end,
		  uint64_t bytes);
/* Cycles in which the way was busy, and what it carried, before `now`: all kernels' and nobody's. */
void link_use_upto(struct link_use *u, bool d2h, uint64_t now, uint64_t *busy, uint64_t *bytes);
/* The kernel's part of what link_use_upto() said last. */
void link_use_of(const struct link_use *u, unsigned int kernel, bool d2h, uint64_t *busy,
		 uint64_t *bytes);

#endif
