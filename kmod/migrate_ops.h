/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations that a COMMIT's migrations may be: a row each here, and the
 * operation itself in the file of its noun. A new one needs its number in the ABI
 * header besides, and nothing else of the module.
 */
#ifndef _GPUEMU_MIGRATE_OPS_H
#define _GPUEMU_MIGRATE_OPS_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

#include "link.h"

struct gpuemu_block;
struct gpuemu_flight;
struct gpuemu_space;

/* X(NUMBER, name), with commas between them: GPUEMU_MIGRATE_NUMBER, gpuemu_op_name. */
#define GPUEMU_MIGRATION_OPS(X) \
	X(H2D, h2d), \
	X(D2H, d2h), \
	X(REMOTE, remote), \
	X(DUPLICATE, duplicate)

/**
 * struct gpuemu_migrate_ops - what a kind of migration is
 * @nr: GPUEMU_MIGRATE_*
 * @way: the way of the link whose places for copies in flight it takes
 * @takes_frames: it brings pages to device memory; the block is used by that
 * @frees_frames: it makes room in device memory, so others may be done before it
 * @joins: several small ones of a block may be done as one, and one may pass those
 *	that free frames
 * @prepare: before a block is locked, with none held; NULL: nothing. -EBUSY: the client's
 *	mappings were not to be had in so long
 * @begin: first half, with the block locked. lacking: pages that found no frame
 * @end: second half, if the first has set flight.begun
 * @mirrored: the same of ordinary memory, which has no block, all at once. access: see
 *	access_of(). -EAGAIN, -EBUSY: a worker of the module is at it, after so long
 * @present: for pages that are on the device already: their rights change. -EINTR: the
 *	task is being killed. For operations that begin with gpuemu_h2d_begin(),
 *	like the next two
 * @provided: the pages of copy.fresh have got system pages that were never
 *	touched; NULL: they stay as they are
 * @arrived: the frames have the content: maps them for the engine
 */
struct gpuemu_migrate_ops {
	u8 nr;
	enum gpuemu_link_way way;
	bool takes_frames;
	bool frees_frames;
	bool joins;
	int (*prepare)(struct gpuemu_space *space, u64 patience_ns);
	void (*begin)(struct gpuemu_flight *f, struct gpuemu_stamps *cost,
		      u32 *lacking);
	void (*end)(struct gpuemu_flight *f, struct gpuemu_stamps *cost);
	int (*mirrored)(struct gpuemu_space *space, struct gpuemu_migration *m,
			enum gpuemu_access access, u64 patience_ns);
	int (*present)(struct gpuemu_flight *f, struct gpuemu_stamps *cost);
	void (*provided)(struct gpuemu_flight *f);
	void (*arrived)(struct gpuemu_flight *f);
};

#define GPUEMU_OP_OBJECT(NUMBER, name)	gpuemu_op_##name
extern const struct gpuemu_migrate_ops GPUEMU_MIGRATION_OPS(GPUEMU_OP_OBJECT);

#endif
