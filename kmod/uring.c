// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's io_uring commands and the batch that travels through them:
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
 * A pending command's pointer is in e->pending; the task that takes it out, under the
 * device's lock, completes it, and nobody else does. Every completion of a
 * command that was pending goes through task work in the task that issued it:
 * from elsewhere it would need that ring's lock. A command that fails at once is
 * answered by its return value, except with -EAGAIN, which io_uring takes as a
 * request to try again from a worker thread.
 *
 * COMMIT does its migrations right here, in the issue context of the service
 * thread, even if io_uring asks not to block: it is what that thread is for,
 * and handing it to a worker costs two wake-ups in the path that is measured.
 *
 * For the same reason a RAISE or COMMIT_AND_FETCH may stay (GPUEMU_STAY): its task
 * sleeps in the issue context, and the task that takes the command out wakes it instead of
 * completing anything. A signal, or the monitor after a while, ends that; then the
 * command is pending like any other.
 */
#include <linux/io_uring/cmd.h>
#include <linux/ktime.h>
#include <linux/uaccess.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "fault_queue.h"
#include "migrate.h"
#include "objects.h"
#include "tlb.h"
#include "trace.h"
#include "uring.h"

/**
 * struct uring_pdu - in the command's own storage
 * @result: for the completion callback
 * @task: the task that stays in the command, or NULL; under the device's lock like the rest
 * @taken: it is no longer pending, and the task ends it
 * @old: the monitor has seen it stay
 * @leave: it has stayed for long enough
 */
struct uring_pdu {
	s32 result;
	bool taken;
	bool old;
	bool leave;
	struct task_struct *task;
};

/* The payload, copied once: the user may change its own any time. */
struct uring_args {
	u64 addr;
	u32 arg;
};

static struct gpuemu_engine *engine_of(struct io_uring_cmd *cmd)
{
	return gpuemu_client_engine(cmd->file->private_data);
}

static struct uring_pdu *pdu_of(struct io_uring_cmd *cmd)
{
	return io_uring_cmd_to_pdu(cmd, struct uring_pdu);
}

/*
 * Makes the command one that ends later, before anyone can see it. From here on
 * the issue function returns -EIOCBQUEUED, whatever happens.
 */
static void uring_hold(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	pdu_of(cmd)->task = NULL;
	gpuemu_created(cmds);
	io_uring_cmd_mark_cancelable(cmd, issue_flags);
}

static void uring_end(struct io_uring_cmd *cmd, s32 result,
		      unsigned int issue_flags)
{
	gpuemu_destroyed(cmds);
	compat_uring_done(cmd, result, issue_flags);
}

/* Completions: each runs in the submitting task, or in a worker if it died. */

static void on_result(struct io_uring_cmd *cmd, unsigned int issue_flags,
		      bool dead)
{
	uring_end(cmd, pdu_of(cmd)->result, issue_flags);
}

COMPAT_URING_TW(on_result)

static void on_job(struct io_uring_cmd *cmd, unsigned int issue_flags,
		    bool dead)
{
	struct gpuemu_engine *e = engine_of(cmd);
	s32 result = -ENODEV;

	if (dead)
		gpuemu_engine_kill(e, "its thread died waiting for work");
	spin_lock(&e->dev->lock);
	if (!gpuemu_engine_lost(e)) {
		gpuemu_tlb_unpark_locked(e);
		result = 0;
	}
	spin_unlock(&e->dev->lock);
	uring_end(cmd, result, issue_flags);
}

COMPAT_URING_TW(on_job)

/* The batch is the service thread's, which runs this. Returns FETCH's result. */
static s32 batch_fetched(struct gpuemu_engine *e)
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

static void on_batch(struct io_uring_cmd *cmd, unsigned int issue_flags,
		     bool dead)
{
	struct gpuemu_engine *e = engine_of(cmd);

	if (dead)
		gpuemu_engine_kill(e, "its service thread died");
	uring_end(cmd, batch_fetched(e), issue_flags);
}

COMPAT_URING_TW(on_batch)

/* The engine thread, which runs this, goes on. Returns RAISE's result. */
static s32 batch_replayed(struct gpuemu_engine *e)
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

static void on_replay(struct io_uring_cmd *cmd, unsigned int issue_flags,
		      bool dead)
{
	struct gpuemu_engine *e = engine_of(cmd);

	if (dead)
		gpuemu_engine_kill(e, "its thread died waiting for a replay");
	uring_end(cmd, batch_replayed(e), issue_flags);
}

COMPAT_URING_TW(on_replay)

/* Ends a held command with this result. */
static int uring_end_later(struct io_uring_cmd *cmd, s32 result)
{
	pdu_of(cmd)->result = result;
	io_uring_cmd_complete_in_task(cmd, on_result_tw);
	return -EIOCBQUEUED;
}

/* The engine is lost; the caller took the command out of e->pending. */
void gpuemu_uring_fail(struct io_uring_cmd *cmd)
{
	uring_end_later(cmd, -ENODEV);
}

/* A job is queued; the caller took the WAIT out of e->pending. */
void gpuemu_uring_job_queued(struct io_uring_cmd *wait)
{
	io_uring_cmd_complete_in_task(wait, on_job_tw);
}

/*
 * Takes out what is pending there. Returns what the caller has to complete: not a
 * command whose task stays in it, which is woken here and ends it.
 */
struct io_uring_cmd *gpuemu_uring_take_locked(struct gpuemu_engine *e,
					      enum gpuemu_pending where)
{
	struct io_uring_cmd *cmd = e->pending[where];

	lockdep_assert_held(&e->dev->lock);
	e->pending[where] = NULL;
	if (!cmd || !pdu_of(cmd)->task)
		return cmd;
	WRITE_ONCE(pdu_of(cmd)->taken, true);
	wake_up_process(pdu_of(cmd)->task);
	return NULL;
}

/*
 * The monitor's: a command that stays since before its last look leaves, as its thread may
 * be wanted for what it does not see there.
 */
void gpuemu_uring_stayed_locked(struct gpuemu_engine *e)
{
	struct uring_pdu *pdu;
	int i;

	lockdep_assert_held(&e->dev->lock);
	for (i = 0; i < GPUEMU_PENDING_KINDS; i++) {
		pdu = e->pending[i] ? pdu_of(e->pending[i]) : NULL;
		if (!pdu || !pdu->task)
			continue;
		WRITE_ONCE(pdu->leave, pdu->old);
		pdu->old = true;
		if (pdu->leave)
			wake_up_process(pdu->task);
	}
}

/* From before others can see the command, which is then not one to be held. */
static void uring_stays(struct io_uring_cmd *cmd)
{
	*pdu_of(cmd) = (struct uring_pdu){ .task = current };
}

/*
 * Sleeps in the command that stays until it is taken out, which returns true, or
 * until it becomes one that ends later. That holds uring_lock, which nobody else
 * needs for long: a task from outside waits for two looks of the monitor.
 */
static bool uring_stay(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		       unsigned int issue_flags)
{
	struct uring_pdu *pdu = pdu_of(cmd);
	bool taken;

	for (;;) {
		/* Before the looks: a task that changes something wakes us. */
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(pdu->taken) || READ_ONCE(pdu->leave) ||
		    signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	/* The task that took it still has the lock, and the caller waits for that. */
	if (READ_ONCE(pdu->taken))
		return true;
	spin_lock(&e->dev->lock);
	taken = pdu->taken;
	if (!taken)
		uring_hold(cmd, issue_flags);
	spin_unlock(&e->dev->lock);
	return taken;
}

/* The FETCH that gets the batch, if both are there; for on_batch(). */
static struct io_uring_cmd *deliver_locked(struct gpuemu_engine *e)
{
	lockdep_assert_held(&e->dev->lock);
	if (e->batch_state != GPUEMU_BATCH_RAISED ||
	    !e->pending[GPUEMU_PENDING_FETCH])
		return NULL;
	e->batch_state = GPUEMU_BATCH_DELIVERING;
	return gpuemu_uring_take_locked(e, GPUEMU_PENDING_FETCH);
}

static void deliver(struct io_uring_cmd *fetch)
{
	if (fetch)
		io_uring_cmd_complete_in_task(fetch, on_batch_tw);
}

/* Whether the engine thread may issue a command that parks it. */
static int can_park_locked(struct gpuemu_engine *e)
{
	if (gpuemu_engine_lost(e))
		return -ENODEV;
	if (e->parked || e->batch_state != GPUEMU_BATCH_IDLE)
		return -EBUSY;
	return 0;
}

static int uring_raise(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		       const struct uring_args *args, unsigned int issue_flags)
{
	bool stays = args->arg & GPUEMU_STAY;
	u64 raised = ktime_get_ns();
	struct io_uring_cmd *fetch = NULL;
	int ret;

	if (args->addr)
		return -EINVAL;
	if (args->arg & ~(GPUEMU_RAISE_EMPTY_OK | GPUEMU_STAY))
		return -EOPNOTSUPP;

	spin_lock(&e->dev->lock);
	ret = can_park_locked(e);
	if (!ret)
		e->batch_state = GPUEMU_BATCH_BUILDING;
	spin_unlock(&e->dev->lock);
	if (ret)
		return ret;

	ret = gpuemu_fault_queue_fetch(e, args->arg & GPUEMU_RAISE_EMPTY_OK);
	stays = stays && !ret;
	if (stays)
		uring_stays(cmd);
	else
		uring_hold(cmd, issue_flags);

	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (ret) {
		e->batch_state = GPUEMU_BATCH_IDLE;
	} else {
		memset(&e->stamps, 0, sizeof(e->stamps));
		e->stamps.gen = e->batch_gen;
		e->stamps.faults = e->nfaults;
		e->stamps.raised = raised;
		e->decide_ns = 0;
		e->batch_state = GPUEMU_BATCH_RAISED;
		e->pending[GPUEMU_PENDING_RAISE] = cmd;
		gpuemu_tlb_park_locked(e);
		fetch = deliver_locked(e);
	}
	spin_unlock(&e->dev->lock);
	if (ret)
		return stays ? ret : uring_end_later(cmd, ret);
	deliver(fetch);
	if (stays && uring_stay(e, cmd, issue_flags))
		return batch_replayed(e);
	return -EIOCBQUEUED;
}

static int uring_wait(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		      const struct uring_args *args, unsigned int issue_flags)
{
	bool queued = false;
	int ret;

	if (args->addr || args->arg)
		return -EINVAL;

	uring_hold(cmd, issue_flags);
	/* job_queue() looks for this command under both locks, too. */
	spin_lock(&e->dev->jobs_lock);
	spin_lock(&e->dev->lock);
	ret = can_park_locked(e);
	queued = !list_empty(&e->dev->turns);
	if (!ret && !queued) {
		e->pending[GPUEMU_PENDING_WAIT] = cmd;
		gpuemu_tlb_park_locked(e);
	}
	spin_unlock(&e->dev->lock);
	spin_unlock(&e->dev->jobs_lock);
	if (ret || queued)
		return uring_end_later(cmd, ret);
	return -EIOCBQUEUED;
}

static int fetch_pend(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		      bool stays, unsigned int issue_flags)
{
	struct io_uring_cmd *fetch = NULL;
	int ret = 0;

	if (stays)
		uring_stays(cmd);
	else
		uring_hold(cmd, issue_flags);
	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (e->pending[GPUEMU_PENDING_FETCH]) {
		ret = -EBUSY;
	} else {
		e->pending[GPUEMU_PENDING_FETCH] = cmd;
		fetch = deliver_locked(e);
	}
	spin_unlock(&e->dev->lock);
	if (ret)
		return stays ? ret : uring_end_later(cmd, ret);
	deliver(fetch);
	if (stays && uring_stay(e, cmd, issue_flags))
		return batch_fetched(e);
	return -EIOCBQUEUED;
}

static int uring_fetch(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		       const struct uring_args *args, unsigned int issue_flags)
{
	if (args->addr || args->arg)
		return -EINVAL;
	return fetch_pend(e, cmd, false, issue_flags);
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
	else if (and_fetch && e->pending[GPUEMU_PENDING_FETCH])
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
	if (!gpuemu_engine_lost(e) && e->pending[GPUEMU_PENDING_RAISE]) {
		e->batch_state = GPUEMU_BATCH_REPLAYING;
		raise = gpuemu_uring_take_locked(e, GPUEMU_PENDING_RAISE);
		ret = 0;
	}
	spin_unlock(&e->dev->lock);
	if (raise)
		io_uring_cmd_complete_in_task(raise, on_replay_tw);
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
static int commit_run(struct gpuemu_engine *e, const struct uring_args *args,
		      bool and_fetch)
{
	u64 committed = ktime_get_ns();
	struct gpuemu_commit commit;
	int ret, done;

	if (args->arg & ~(and_fetch ? GPUEMU_STAY : 0))
		return -EINVAL;
	ret = commit_copy_in(&commit, args->addr);
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

static int uring_commit(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
			const struct uring_args *args, unsigned int issue_flags)
{
	return commit_run(e, args, false);
}

static int uring_commit_and_fetch(struct gpuemu_engine *e,
				  struct io_uring_cmd *cmd,
				  const struct uring_args *args,
				  unsigned int issue_flags)
{
	int ret = commit_run(e, args, true);

	if (ret < 0)
		return ret;
	return fetch_pend(e, cmd, args->arg & GPUEMU_STAY, issue_flags);
}

/*
 * The ring goes away with this command pending (from Linux 6.7). If it is not
 * pending any more, its completion is on its way.
 */
static int uring_cancel(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
			unsigned int issue_flags)
{
	bool mine = false;
	int i;

	spin_lock(&e->dev->lock);
	for (i = 0; i < GPUEMU_PENDING_KINDS; i++) {
		if (e->pending[i] != cmd)
			continue;
		e->pending[i] = NULL;
		mine = true;
	}
	spin_unlock(&e->dev->lock);
	gpuemu_engine_kill(e, "its ring went away");
	if (mine)
		uring_end(cmd, -ENODEV, issue_flags);
	return 0;
}

static const struct {
	u32 op;
	enum gpuemu_role role;
	int (*fn)(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		  const struct uring_args *args, unsigned int issue_flags);
} uring_cmds[] = {
	{ GPUEMU_URING_RAISE, GPUEMU_ROLE_ENGINE, uring_raise },
	{ GPUEMU_URING_WAIT, GPUEMU_ROLE_ENGINE, uring_wait },
	{ GPUEMU_URING_FETCH, GPUEMU_ROLE_SERVICE, uring_fetch },
	{ GPUEMU_URING_COMMIT, GPUEMU_ROLE_SERVICE, uring_commit },
	{ GPUEMU_URING_COMMIT_AND_FETCH, GPUEMU_ROLE_SERVICE,
	  uring_commit_and_fetch },
};

int gpuemu_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct gpuemu_uring_cmd *user = compat_uring_payload(cmd);
	struct gpuemu_engine *e = engine_of(cmd);
	struct uring_args args;
	int i;

	if (!e)
		return -EPERM;
	if (issue_flags & IO_URING_F_CANCEL)
		return uring_cancel(e, cmd, issue_flags);
	/*
	 * Not from a worker or SQPOLL thread: these come and go, so their exit
	 * would say nothing about the engine.
	 */
	if (current->flags & PF_IO_WORKER)
		return -EOPNOTSUPP;
	/* No command takes a registered buffer, none completes more than once. */
	if (cmd->flags & IORING_URING_CMD_MASK)
		return -EOPNOTSUPP;
	args.addr = READ_ONCE(user->addr);
	args.arg = READ_ONCE(user->arg);
	if (READ_ONCE(user->reserved))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(uring_cmds); i++) {
		if (uring_cmds[i].op != cmd->cmd_op)
			continue;
		gpuemu_engine_track(e, uring_cmds[i].role);
		return uring_cmds[i].fn(e, cmd, &args, issue_flags);
	}
	return -EOPNOTSUPP;
}
