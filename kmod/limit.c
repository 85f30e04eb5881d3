// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of one client, and of one user, which are live parameters: a lower one takes nothing
 * away, it only gives no more. Frames are counted as they are asked for, before
 * there is one, so that two askers cannot both get the last. Decides nothing
 * else; called by the migrations and where page tables are made.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/math64.h>

#include "dev.h"
#include "limit.h"
#include "params.h"
#include "user.h"
#include "va_space.h"

/* Frames that one client may have now; at least one, or it could do nothing. */
u32 gpuemu_limit_frames(const struct gpuemu_dev *dev)
{
	u32 percent = gpuemu_param(client_vram_pct);

	if (!percent)
		return dev->vram.frames;
	return max_t(u32, div_u64((u64)dev->vram.frames * percent, 100), 1);
}

/* The same of what can be paged: the rest clients have for themselves. */
u32 gpuemu_limit_paged(const struct gpuemu_dev *dev)
{
	u32 taken = READ_ONCE(dev->device_frames);

	return min(gpuemu_limit_frames(dev), dev->vram.frames - taken);
}

/* It has as many as it may: what it lacks is nobody else's to give. */
bool gpuemu_limit_reached(struct gpuemu_space *space)
{
	return gpuemu_param(client_vram_pct) &&
	       atomic_read(&space->frames) >= gpuemu_limit_frames(space->dev);
}

/*
 * Counts a frame for each of the want pages of the mask that the client may have one
 * for; the others, the last ones, leave the mask. Returns how many are counted.
 */
u32 gpuemu_limit_take_frames(struct gpuemu_space *space, unsigned long *mask,
			     u32 want, u32 pages)
{
	u32 limit = gpuemu_limit_frames(space->dev), have, n, i;
	int old = atomic_read(&space->frames);

	do {
		have = old;
		n = have < limit ? min(want, limit - have) : 0;
	} while (!atomic_try_cmpxchg(&space->frames, &old, old + n));
	for (i = n; i < want; i++)
		__clear_bit(find_last_bit(mask, pages), mask);
	return n;
}

void gpuemu_limit_give_frames(struct gpuemu_space *space, u32 n)
{
	atomic_sub(n, &space->frames);
}

/* How many of all one user may have, however often it opened the device. */
u32 gpuemu_limit_of_user(u32 all)
{
	u32 percent = gpuemu_param(user_pct);

	return percent ? max_t(u32, div_u64((u64)all * percent, 100), 1) : all;
}

/*
 * May the client have so many frames more for itself? Nobody takes them back. A user may have
 * the percentage of those that no other user has for itself. So some are always left for
 * the next user, and for managed pages, which keep at least one.
 */
bool gpuemu_limit_may_device(const struct gpuemu_space *space, u64 pages)
{
	const struct gpuemu_dev *dev = space->dev;
	u32 percent = gpuemu_param(user_device_pct);
	u64 have = space->user->device_frames;
	u64 left = dev->vram.frames - dev->device_frames;

	lockdep_assert_held(&dev->users.lock);
	if (pages >= left ||
	    space->device_frames + pages > gpuemu_limit_frames(dev))
		return false;
	return !percent || !space->limited ||
	       (have + pages) * 100 <= (have + left) * percent;
}

/*
 * A client may have the percentage of the tables that no other client has. So some are
 * always left for the next client.
 */
bool gpuemu_limit_may_table(const struct gpuemu_pt *pt,
			    const struct gpuemu_space *space)
{
	u32 percent = gpuemu_param(client_tables_pct);
	u64 have = atomic_read(&space->tables);

	lockdep_assert_held(&pt->lock);
	if (space->limited &&
	    space->user->tables >= gpuemu_limit_of_user(pt->tables - 1))
		return false;
	return !percent || (have + 1) * 100 <= (have + pt->nfree) * percent;
}
