/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moving pages between system and device memory. A page that cannot be moved
 * stays where it is, content intact.
 */
#ifndef _GPUEMU_MIGRATE_H
#define _GPUEMU_MIGRATE_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

#include "copy.h"

struct gpuemu_block;
struct gpuemu_client;
struct gpuemu_engine;
struct gpuemu_migrate_ops;
struct gpuemu_space;

/**
 * struct gpuemu_flight - a migration between its two halves
 * @copy: with the block, which is locked, and the pages that move
 * @first: first page that was asked for
 * @n: how many
 * @members: of a commit: how many descriptors it stands for, or 0: one
 * @want: the pages of several
 * @begun: there is a second half
 * @op: of a commit: what it is
 * @copied: to the device: when the first half ended
 * @leaving: to system memory: the pages that move; duplicates are not copied
 * @ret: of the migration
 * @moved: pages, at the end
 * @reason: why to system memory
 * @cause: why to device memory, for the trace
 * @client: of a commit: referenced; the block is referenced too
 * @m: of a commit: gets the result
 * @pass: of a commit: for the order of eviction
 */
struct gpuemu_flight {
	struct gpuemu_copy copy;
	u32 first;
	u32 n;
	u32 members;
	DECLARE_BITMAP(want, GPUEMU_BLOCK_PAGES);
	bool begun;
	const struct gpuemu_migrate_ops *op;
	u64 copied;
	DECLARE_BITMAP(leaving, GPUEMU_BLOCK_PAGES);
	int ret;
	u32 moved;
	enum gpuemu_inval_reason reason;
	const char *cause;
	struct gpuemu_client *client;
	struct gpuemu_migration *m;
	u64 pass;
};

/* So many copies one way are in the air at most: one that is done, one that waits. */
#define GPUEMU_FLIGHTS 2

/**
 * struct gpuemu_flights - a commit's, one way
 * @flight: a ring; there is a place for one that lands at once
 * @first: the oldest
 * @count: how many, from there on
 * @many: the commit has at least GPUEMU_COPY_PAGES_MIN pages, in whatever runs
 */
struct gpuemu_flights {
	struct gpuemu_flight flight[GPUEMU_FLIGHTS + 1];
	unsigned int first, count;
	bool many;
};

/* What demanded pages migrate for, in the trace. Compared as a pointer. */
extern const char *const gpuemu_cause_fault;

void gpuemu_flight_begin(struct gpuemu_flight *f, u32 first, u32 n);
void gpuemu_h2d_begin(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
		      u32 *lacking);
void gpuemu_h2d_end(struct gpuemu_flight *f, struct gpuemu_stamps *cost);
void gpuemu_d2h_begin(struct gpuemu_flight *f, enum gpuemu_inval_reason reason);
void gpuemu_d2h_end(struct gpuemu_flight *f);
int gpuemu_migrate_d2h(struct gpuemu_block *block, u32 first, u32 n,
		       enum gpuemu_inval_reason reason, u32 *moved);
u32 gpuemu_migrate_frames(struct gpuemu_space *space, u32 *frames,
			  unsigned long *mask);
void gpuemu_migrate_no_frames(struct gpuemu_space *space, const u32 *frames,
			      const unsigned long *mask);
u32 gpuemu_migrate_commit(struct gpuemu_engine *e, u32 count, bool make_room,
			  struct gpuemu_stamps *cost);

#endif
