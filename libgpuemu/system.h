/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process's mappings as /proc/self/maps tells them, for backends whose kernels may be given
 * any pointer. A snapshot, which system_refresh() takes.
 */
#ifndef LIBGPUEMU_SYSTEM_H
#define LIBGPUEMU_SYSTEM_H

#include "service/service.h"

/* All zero is an empty snapshot. */
struct system {
	struct system_range *at;	/* by address */
	size_t count, room;
};

/* system_memory's; ctx is a struct system. */
bool system_find(void *ctx, uint64_t addr, struct system_range *range);
void system_refresh(void *ctx);
void system_free(struct system *system);

#endif
