// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's io_uring commands. What becomes of the batch is batch.c's; a thread that has
 * nothing else to wait for does the same by ioctls (wait.c).
 *
 * A pending command's pointer is in e->pending; the task that takes it out, under the
 * device's lock, completes it, and nobody else does. Every completion of a
 * command that was pending goes through task work in the task that issued it:
 * from elsewhere it would need that ring's lock. A command that fails at once is
 * answered by its return value, except with -EAGAIN, which io_uring takes as a
 * request to try again from a worker thread.
 *
 * A command that may sleep does so without the ring's lock: where io_uring asks not to
 * block, it is answered with -EAGAIN, and a worker thread of io_uring issues it anew. A
 * COMMIT always may; a RAISE may where the engine is still writing its first record.
 */
#include <linux/io_uring/cmd.h>
#include <linux/ktime.h>

#include "batch.h"
#include "client.h"
#include "dev.h"
#include "engine.h"
#include "fault_queue.h"
#include "objects.h"
#include "tlb.h"
#include "uring.h"

/* In the command's own storage: for the completion callback. */
struct uring_pdu {
	s32 result;
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

static void on_batch(struct io_uring_cmd *cmd, unsigned int issue_flags,
		     bool dead)
{
	struct gpuemu_engine *e = engine_of(cmd);

	if (dead)
		gpuemu_engine_kill(e, "its service thread died");
	uring_end(cmd, gpuemu_batch_fetched(e), issue_flags);
}

COMPAT_URING_TW(on_batch)

static void on_replay(struct io_uring_cmd *cmd, unsigned int issue_flags,
		      bool dead)
{
	struct gpuemu_engine *e = engine_of(cmd);

	if (dead)
		gpuemu_engine_kill(e, "its thread died waiting for a replay");
	uring_end(cmd, gpuemu_batch_replayed(e), issue_flags);
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

/* The batch is the command's; the caller took the FETCH out of e->pending. */
void gpuemu_uring_fetched(struct io_uring_cmd *fetch)
{
	io_uring_cmd_complete_in_task(fetch, on_batch_tw);
}

/* The batch is served; the caller took the RAISE out of e->pending. */
void gpuemu_uring_replayed(struct io_uring_cmd *raise)
{
	io_uring_cmd_complete_in_task(raise, on_replay_tw);
}

/* A job is queued; the caller took the WAIT out of e->pending. */
void gpuemu_uring_job_queued(struct io_uring_cmd *wait)
{
	io_uring_cmd_complete_in_task(wait, on_job_tw);
}

/* Whether io_uring's lock of the ring is held, and a worker may do what has to sleep. */
static bool uring_nonblock(unsigned int issue_flags)
{
	return issue_flags & IO_URING_F_NONBLOCK;
}

static int uring_raise(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		       const struct uring_args *args, unsigned int issue_flags)
{
	bool nonblock = uring_nonblock(issue_flags);
	u64 raised = ktime_get_ns();
	int ret;

	if (args->addr)
		return -EINVAL;
	if (args->arg & ~GPUEMU_RAISE_EMPTY_OK)
		return -EOPNOTSUPP;
	ret = gpuemu_batch_raise_begin(e);
	if (ret)
		return ret;
	if (nonblock && gpuemu_fault_queue_would_wait(e))
		return gpuemu_batch_raise_end(e, -EAGAIN, NULL);
	ret = gpuemu_batch_raise(e, raised, args->arg & GPUEMU_RAISE_EMPTY_OK,
				 !nonblock);
	uring_hold(cmd, issue_flags);
	ret = gpuemu_batch_raise_end(e, ret, cmd);
	return ret ? uring_end_later(cmd, ret) : -EIOCBQUEUED;
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
	ret = gpuemu_batch_can_park_locked(e);
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
		      unsigned int issue_flags)
{
	int ret;

	uring_hold(cmd, issue_flags);
	ret = gpuemu_batch_fetch(e, cmd);
	return ret ? uring_end_later(cmd, ret) : -EIOCBQUEUED;
}

static int uring_fetch(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		       const struct uring_args *args, unsigned int issue_flags)
{
	if (args->addr || args->arg)
		return -EINVAL;
	return fetch_pend(e, cmd, issue_flags);
}

static int uring_commit(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
			const struct uring_args *args, unsigned int issue_flags)
{
	int ret;

	if (args->arg)
		return -EINVAL;
	if (uring_nonblock(issue_flags))
		return -EAGAIN;
	ret = gpuemu_batch_commit(e, args->addr, false);
	if (ret <= 0)
		return ret;
	/* Linux 6.1 forgets a worker's command that returns more than 0. */
	compat_uring_done(cmd, ret, issue_flags);
	return -EIOCBQUEUED;
}

static int uring_commit_and_fetch(struct gpuemu_engine *e,
				  struct io_uring_cmd *cmd,
				  const struct uring_args *args,
				  unsigned int issue_flags)
{
	int ret;

	if (args->arg)
		return -EINVAL;
	if (uring_nonblock(issue_flags))
		return -EAGAIN;
	ret = gpuemu_batch_commit(e, args->addr, true);
	return ret < 0 ? ret : fetch_pend(e, cmd, issue_flags);
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

/* @sleeps: a worker may issue it, for a thread that may not block */
static const struct uring_op {
	u32 op;
	enum gpuemu_role role;
	bool sleeps;
	int (*fn)(struct gpuemu_engine *e, struct io_uring_cmd *cmd,
		  const struct uring_args *args, unsigned int issue_flags);
} uring_ops[] = {
	{ GPUEMU_URING_RAISE, GPUEMU_ROLE_ENGINE, true, uring_raise },
	{ GPUEMU_URING_WAIT, GPUEMU_ROLE_ENGINE, false, uring_wait },
	{ GPUEMU_URING_FETCH, GPUEMU_ROLE_SERVICE, false, uring_fetch },
	{ GPUEMU_URING_COMMIT, GPUEMU_ROLE_SERVICE, true, uring_commit },
	{ GPUEMU_URING_COMMIT_AND_FETCH, GPUEMU_ROLE_SERVICE, true,
	  uring_commit_and_fetch },
};

static const struct uring_op *op_of(u32 nr)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(uring_ops); i++)
		if (uring_ops[i].op == nr)
			return &uring_ops[i];
	return NULL;
}

/*
 * Whether this thread may issue it. Workers and SQPOLL threads come and go, so their exit
 * says nothing about the engine. A worker does only what its engine's thread left to it,
 * and an SQPOLL thread, which may not block either, does nothing.
 */
static bool may_issue(struct gpuemu_engine *e, const struct uring_op *op,
		      unsigned int issue_flags)
{
	if (!(current->flags & PF_IO_WORKER)) {
		gpuemu_engine_track(e, op->role);
		return true;
	}
	return op->sleeps && !uring_nonblock(issue_flags) &&
	       READ_ONCE(e->tasks[op->role]);
}

int gpuemu_uring_cmd(struct io_uring_cmd *cmd, unsigned int issue_flags)
{
	const struct gpuemu_uring_cmd *user = compat_uring_payload(cmd);
	struct gpuemu_engine *e = engine_of(cmd);
	const struct uring_op *op;
	struct uring_args args;

	if (!e)
		return -EPERM;
	if (issue_flags & IO_URING_F_CANCEL)
		return uring_cancel(e, cmd, issue_flags);
	/* No command takes a registered buffer, none completes more than once. */
	if (cmd->flags & IORING_URING_CMD_MASK)
		return -EOPNOTSUPP;
	args.addr = READ_ONCE(user->addr);
	args.arg = READ_ONCE(user->arg);
	if (READ_ONCE(user->reserved))
		return -EINVAL;
	op = op_of(cmd->cmd_op);
	if (!op || !may_issue(e, op, issue_flags))
		return -EOPNOTSUPP;
	return op->fn(e, cmd, &args, issue_flags);
}
