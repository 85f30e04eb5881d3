// SPDX-License-Identifier: GPL-2.0
/*
 * The batch of far faults on its way between the engine's threads:
 *
 *   engine thread        service thread         batch_state
 *                        FETCH: pending         IDLE
 *   RAISE: pending                              BUILDING, RAISED
 *                        FETCH completes        DELIVERING, FETCHED
 *                        COMMIT: migrations     COMMITTING
 *   RAISE completes                             REPLAYING, IDLE
 *
 * With replay policy once a COMMIT makes the next batch, RAISED, as long as there
 * are records, and only the last one replays.
 *
 * COMMIT does its migrations in the thread that brings it by ioctl: it is what that thread
 * is for, and handing it to a worker costs two wake-ups in the path that is measured.
 */
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include "batch.h"
#include "dev.h"
#include "fault_queue.h"
#include "migrate.h"
#include "tlb.h"
#include "trace.h"
#include "uring.h"

/* Whether a thread waits for it, by a command or in an ioctl. */
static bool is_pending_locked(const struct gpuemu_engine *e,
			      enum gpuemu_pending where)
{
	lockdep_assert_held(&e->dev->lock);
	return e->pending[where] || e->calls[where].pending;
}

static void pend_locked(struct gpuemu_engine *e, enum gpuemu_pending where,
			struct io_uring_cmd *cmd)
{
	lockdep_assert_held(&e->dev->lock);
	e->pending[where] = cmd;
	if (cmd)
		return;
	e->calls[where].pending = true;
	e->calls[where].owner = current;
	e->calls[where].task = current;
}

/*
 * Takes out what is pending there. Returns the command, which the caller completes. A task
 * that waits in an ioctl is woken here and ends it itself.
 */
struct io_uring_cmd *gpuemu_batch_take_locked(struct gpuemu_engine *e,
					      enum gpuemu_pending where)
{
	struct io_uring_cmd *cmd = e->pending[where];
	struct gpuemu_call *call = &e->calls[where];

	lockdep_assert_held(&e->dev->lock);
	e->pending[where] = NULL;
	if (call->pending) {
		call->pending = false;
		/* The task may go on at once, and then sees what was written before. */
		smp_store_release(&call->taken, true);
		if (call->task)
			wake_up_process(call->task);
	}
	return cmd;
}

/* The batch is the service thread's, which runs this. Returns FETCH's result. */
s32 gpuemu_batch_fetched(struct gpuemu_engine *e)
{
	s32 result = -ENODEV;

	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e)) {
		e->batch_state = GPUEMU_BATCH_FETCHED;
		e->fetched = ktime_get_ns();
		if (!e->stamps.fetched)
			e->stamps.fetched = e->fetched;
		result = e->nfaults;
	}
	spin_unlock(&e->dev->lock);
	return result;
}

/* The engine thread, which runs this, goes on. Returns RAISE's result. */
s32 gpuemu_batch_replayed(struct gpuemu_engine *e)
{
	s32 result = -ENODEV;

	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e)) {
		e->stamps.replayed = ktime_get_ns();
		e->control->stamps = e->stamps;
		gpuemu_count_dev(e->dev, REPLAYS, 1);
		trace_gpuemu_replay(&e->stamps);
		e->batch_state = GPUEMU_BATCH_IDLE;
		gpuemu_tlb_unpark_locked(e);
		result = 0;
	}
	spin_unlock(&e->dev->lock);
	return result;
}

/* The FETCH that gets the batch, if both are there; for deliver(). */
static struct io_uring_cmd *deliver_locked(struct gpuemu_engine *e)
{
	lockdep_assert_held(&e->dev->lock);
	if (e->batch_state != GPUEMU_BATCH_RAISED ||
	    !is_pending_locked(e, GPUEMU_PENDING_FETCH))
		return NULL;
	e->batch_state = GPUEMU_BATCH_DELIVERING;
	return gpuemu_batch_take_locked(e, GPUEMU_PENDING_FETCH);
}

static void deliver(struct io_uring_cmd *fetch)
{
	if (fetch)
		gpuemu_uring_fetched(fetch);
}

/* Whether the engine thread may issue a command that parks it. */
int gpuemu_batch_can_park_locked(const struct gpuemu_engine *e)
{
	if (gpuemu_engine_lost(e))
		return -ENODEV;
	if (e->parked || e->batch_state != GPUEMU_BATCH_IDLE)
		return -EBUSY;
	return 0;
}

/* The batch is the caller's, to be built. */
int gpuemu_batch_raise_begin(struct gpuemu_engine *e)
{
	int ret;

	spin_lock(&e->dev->lock);
	ret = gpuemu_batch_can_park_locked(e);
	if (!ret)
		e->batch_state = GPUEMU_BATCH_BUILDING;
	spin_unlock(&e->dev->lock);
	return ret;
}

/* Builds it. raised: when RAISE entered the module. may_wait: a millisecond at most. */
int gpuemu_batch_raise(struct gpuemu_engine *e, u64 raised, bool empty_ok,
		       bool may_wait)
{
	int ret = gpuemu_fault_queue_fetch(e, empty_ok, may_wait);

	if (ret)
		return ret;
	memset(&e->stamps, 0, sizeof(e->stamps));
	e->stamps.gen = e->batch_gen;
	e->stamps.faults = e->nfaults;
	e->stamps.raised = raised;
	e->decide_ns = 0;
	return 0;
}

/* Hands it over, if it was built (0). */
int gpuemu_batch_raise_end(struct gpuemu_engine *e, int ret,
			   struct io_uring_cmd *cmd)
{
	struct io_uring_cmd *fetch = NULL;

	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (ret) {
		e->batch_state = GPUEMU_BATCH_IDLE;
	} else {
		e->batch_state = GPUEMU_BATCH_RAISED;
		pend_locked(e, GPUEMU_PENDING_RAISE, cmd);
		gpuemu_tlb_park_locked(e);
		fetch = deliver_locked(e);
	}
	spin_unlock(&e->dev->lock);
	deliver(fetch);
	return ret;
}

int gpuemu_batch_fetch(struct gpuemu_engine *e, struct io_uring_cmd *cmd)
{
	struct io_uring_cmd *fetch = NULL;
	int ret = 0;

	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (is_pending_locked(e, GPUEMU_PENDING_FETCH) ||
		   (!cmd && e->calls[GPUEMU_PENDING_FETCH].taken)) {
		/* Taken: a signal has its thread away, which comes back for its batch. */
		ret = -EBUSY;
	} else {
		pend_locked(e, GPUEMU_PENDING_FETCH, cmd);
		fetch = deliver_locked(e);
	}
	spin_unlock(&e->dev->lock);
	deliver(fetch);
	return ret;
}

/* The descriptor, checked; nothing of ours is locked: copying may fault. */
static int commit_copy_in(struct gpuemu_commit *commit, u64 addr)
{
	struct gpuemu_commit __user *user = u64_to_user_ptr(addr);
	u32 size;
	int ret;

	if (get_user(size, &user->size))
		return -EFAULT;
	if (size < offsetofend(struct gpuemu_commit, migrations))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(commit, sizeof(*commit), user, size);
	if (ret)
		return ret;
	if (commit->flags & ~GPUEMU_COMMIT_EVICT)
		return -EOPNOTSUPP;
	if (commit->count > GPUEMU_COMMIT_MAX)
		return -E2BIG;
	return 0;
}

/*
 * A few words each, most often of one or two: what copy_from_user() looks at before
 * it copies is more than they are.
 */
static int migrations_copy_in(struct gpuemu_engine *e, u64 addr, u32 count)
{
	struct gpuemu_migration __user *from = u64_to_user_ptr(addr);
	struct gpuemu_migration *to = e->migrations;
	u32 i;

	if (!count)
		return 0;
	if (!user_read_access_begin(from, count * sizeof(*from)))
		return -EFAULT;
	for (i = 0; i < count; i++, from++, to++) {
		unsafe_get_user(to->addr, &from->addr, failed);
		unsafe_get_user(to->va_space, &from->va_space, failed);
		unsafe_get_user(to->pages, &from->pages, failed);
		unsafe_get_user(to->op, &from->op, failed);
		unsafe_get_user(to->reserved, &from->reserved, failed);
	}
	user_read_access_end();
	return 0;
failed:
	user_read_access_end();
	return -EFAULT;
}

/* Only what came of them is news. */
static int results_copy_out(const struct gpuemu_engine *e, u64 addr, u32 count)
{
	struct gpuemu_migration __user *to = u64_to_user_ptr(addr);
	const struct gpuemu_migration *from = e->migrations;
	u32 i;

	if (!count)
		return 0;
	if (!user_write_access_begin(to, count * sizeof(*to)))
		return -EFAULT;
	for (i = 0; i < count; i++, from++, to++) {
		unsafe_put_user(from->status, &to->status, failed);
		unsafe_put_user(from->moved, &to->moved, failed);
	}
	user_write_access_end();
	return 0;
failed:
	user_write_access_end();
	return -EFAULT;
}

/* Takes the batch, and e->migrations with it, for this commit. */
static int commit_begin(struct gpuemu_engine *e, u32 gen, bool and_fetch)
{
	int ret = 0;

	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e))
		ret = -ENODEV;
	else if (and_fetch && is_pending_locked(e, GPUEMU_PENDING_FETCH))
		ret = -EBUSY;
	else if (e->batch_state != GPUEMU_BATCH_FETCHED || gen != e->batch_gen)
		ret = -ESTALE;
	if (!ret)
		e->batch_state = GPUEMU_BATCH_COMMITTING;
	spin_unlock(&e->dev->lock);
	return ret;
}

/* Gives the batch back unserved. */
static void commit_abort(struct gpuemu_engine *e)
{
	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e))
		e->batch_state = GPUEMU_BATCH_FETCHED;
	spin_unlock(&e->dev->lock);
}

/* The batch is served: lets the engine thread go on. */
static int commit_replay(struct gpuemu_engine *e)
{
	struct io_uring_cmd *raise = NULL;
	int ret = -ENODEV;

	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e) && is_pending_locked(e, GPUEMU_PENDING_RAISE)) {
		e->batch_state = GPUEMU_BATCH_REPLAYING;
		raise = gpuemu_batch_take_locked(e, GPUEMU_PENDING_RAISE);
		ret = 0;
	}
	spin_unlock(&e->dev->lock);
	if (raise)
		gpuemu_uring_replayed(raise);
	return ret;
}

/* The pass has another batch: it is handed over instead of a replay. */
static int commit_next(struct gpuemu_engine *e)
{
	struct io_uring_cmd *fetch = NULL;
	int ret = -ENODEV;

	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e)) {
		e->stamps.gen = e->batch_gen;
		e->stamps.faults += e->nfaults;
		e->batch_state = GPUEMU_BATCH_RAISED;
		fetch = deliver_locked(e);
		ret = 0;
	}
	spin_unlock(&e->dev->lock);
	deliver(fetch);
	return ret;
}

/* The batch is served. */
static int commit_end(struct gpuemu_engine *e)
{
	if (gpuemu_fault_queue_next(e))
		return commit_next(e);
	gpuemu_fault_queue_flush(e);
	return commit_replay(e);
}

/* The number of migrations that worked, or an error. */
int gpuemu_batch_commit(struct gpuemu_engine *e, u64 addr, bool and_fetch)
{
	u64 committed = ktime_get_ns();
	struct gpuemu_commit commit;
	int ret, done;

	ret = commit_copy_in(&commit, addr);
	if (ret)
		return ret;
	ret = commit_begin(e, commit.gen, and_fetch);
	if (ret)
		return ret;
	if (migrations_copy_in(e, commit.migrations, commit.count)) {
		commit_abort(e);
		return -EFAULT;
	}
	/* What was decided for earlier batches of the pass counts as if at once. */
	e->decide_ns += committed - e->fetched;
	e->stamps.committed = e->stamps.fetched + e->decide_ns;
	done = gpuemu_migrate_commit(e, commit.count,
				     commit.flags & GPUEMU_COMMIT_EVICT,
				     &e->stamps);
	e->stamps.done = ktime_get_ns();
	/*
	 * The results go out before the replay: the engine thread reads them as
	 * soon as its RAISE ends, while the service thread already waits for
	 * the next batch.
	 */
	if (results_copy_out(e, commit.migrations, commit.count))
		done = -EFAULT;
	ret = commit_end(e);
	return ret ? ret : done;
}
