/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timing wheel of an SM's writebacks: O(1) to add and to take, and the next
 * cycle with one is found in a bitmap. An event further away than the wheel
 * comes by early and stays. Private to the sm room.
 */
#ifndef GPUEMU_SM_WHEEL_H
#define GPUEMU_SM_WHEEL_H

#include "base/base.h"

#define WHEEL_SLOTS	512u

struct wheel_event {
	uint64_t cycle;
	const void *what;
	uint32_t next;
	uint32_t who;
};

struct wheel {
	struct wheel_event *events;
	uint32_t nevents, free, count;
	uint32_t slots[WHEEL_SLOTS];		/* newest event of the slot */
	uint64_t map[WHEEL_SLOTS / 64];		/* slots that are not empty */
};

void wheel_init(struct wheel *w);
void wheel_fini(struct wheel *w);
void wheel_clear(struct wheel *w);
int wheel_add(struct wheel *w, uint64_t cycle, uint32_t who, const void *what);
/* Takes one event of cycle now; false: none left. */
bool wheel_take(struct wheel *w, uint64_t now, uint32_t *who, const void **what);
/* First cycle after now that may have an event; UINT64_MAX: there is none. */
uint64_t wheel_next(const struct wheel *w, uint64_t now);

#endif
