/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The order in which a run touches its pages, kept for another run's policies
 * (paging.record). Grows; what finds no memory makes it worthless, and it says so.
 * Private to paging/.
 */
#ifndef GPUEMU_PAGING_TOUCHES_H
#define GPUEMU_PAGING_TOUCHES_H

#include "base/base.h"

/* All zero is empty. */
struct touches {
	uint64_t *pages;
	uint64_t count, room;
	bool lost;		/* there was no memory for some */
};

void touches_add(struct touches *touches, uint64_t addr);
void touches_clear(struct touches *touches);

#endif
