/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moving pages between system and device memory. A page that cannot be moved
 * stays where it is, content intact.
 */
#ifndef _GPUEMU_MIGRATE_H
#define _GPUEMU_MIGRATE_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_block;
struct gpuemu_client;
struct gpuemu_engine;

int gpuemu_migrate_h2d(struct gpuemu_block *block, u32 first, u32 n,
		       enum gpuemu_migration_op op, const char *cause,
		       struct gpuemu_stamps *cost, u32 *moved, u32 *lacking);
int gpuemu_migrate_d2h(struct gpuemu_block *block, u32 first, u32 n,
		       enum gpuemu_inval_reason reason, u32 *moved);
u32 gpuemu_migrate_commit(struct gpuemu_engine *e, u32 count, bool make_room,
			  struct gpuemu_stamps *cost);

#endif
