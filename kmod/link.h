/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link between system and device memory, as slow as the one that is to be
 * emulated: link_gbps and link_latency_ns. Off, it costs two loads.
 */
#ifndef _GPUEMU_LINK_H
#define _GPUEMU_LINK_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct gpuemu_space;

enum gpuemu_link_way {
	GPUEMU_LINK_H2D,
	GPUEMU_LINK_D2H,
	GPUEMU_LINK_WAYS
};

/**
 * struct gpuemu_link - the device's link
 * @lock: see locks.h; protects @free_at
 * @free_at: when each way has carried all that was sent; the ways are independent
 */
struct gpuemu_link {
	spinlock_t lock;
	u64 free_at[GPUEMU_LINK_WAYS];
};

void gpuemu_link_init(struct gpuemu_link *link);
bool gpuemu_link_paced(void);
void gpuemu_link_pace(struct gpuemu_space *space, enum gpuemu_link_way way,
		      u64 begin, u64 bytes, const bool *hurry);

#endif
