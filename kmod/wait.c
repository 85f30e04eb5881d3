// SPDX-License-Identifier: GPL-2.0
/*
 * RAISE, COMMIT and FETCH for threads that have nothing else to wait for: an ioctl sleeps until
 * the command would complete. That is one wake-up less than io_uring's, no timer and no
 * completion, and it holds no lock.
 *
 * A signal ends the sleep and not what the task waits for. The task comes again, by itself
 * (SA_RESTART) or after EINTR, and goes on with that. What the batch does is batch.c's.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "batch.h"
#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"

/* 1: goes on with what a signal had interrupted; 0: there is nothing; -EBUSY: another's. */
static int call_again(struct gpuemu_engine *e, enum gpuemu_pending where)
{
	struct gpuemu_call *call = &e->calls[where];
	int ret = 0;

	spin_lock(&e->dev->lock);
	if (call->pending || call->taken) {
		ret = call->owner == current && !call->task ? 1 : -EBUSY;
		if (ret > 0)
			call->task = current;
	}
	spin_unlock(&e->dev->lock);
	return ret;
}

/* Sleeps until the call is taken. The caller has made it pending. */
static int call_wait(struct gpuemu_engine *e, enum gpuemu_pending where)
{
	struct gpuemu_call *call = &e->calls[where];
	bool taken;

	for (;;) {
		/* Before the look: a task that takes the call wakes us. */
		set_current_state(TASK_INTERRUPTIBLE);
		/* Pairs with gpuemu_batch_take_locked(). */
		if (smp_load_acquire(&call->taken) || signal_pending(current))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	spin_lock(&e->dev->lock);
	taken = call->taken;
	call->taken = false;
	call->task = NULL;
	spin_unlock(&e->dev->lock);
	return taken ? 0 : -ERESTARTSYS;
}

int gpuemu_cmd_engine_raise(struct gpuemu_client *client,
			    struct gpuemu_engine_raise *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	u64 raised = ktime_get_ns();
	int ret;

	if (!e)
		return -EPERM;
	if (arg->flags & ~GPUEMU_RAISE_EMPTY_OK)
		return -EOPNOTSUPP;
	gpuemu_engine_track(e, GPUEMU_ROLE_ENGINE);
	ret = call_again(e, GPUEMU_PENDING_RAISE);
	if (ret < 0)
		return ret;
	if (!ret) {
		ret = gpuemu_batch_raise_begin(e);
		if (ret)
			return ret;
		ret = gpuemu_batch_raise(e, raised, arg->flags, true);
		ret = gpuemu_batch_raise_end(e, ret, NULL);
		if (ret)
			return ret;
	}
	ret = call_wait(e, GPUEMU_PENDING_RAISE);
	return ret ?: gpuemu_batch_replayed(e);
}

int gpuemu_cmd_engine_serve(struct gpuemu_client *client,
			    struct gpuemu_engine_serve *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	const bool fetch = arg->flags & GPUEMU_SERVE_FETCH;
	int ret = 0;

	if (!e)
		return -EPERM;
	if (arg->flags & ~GPUEMU_SERVE_FETCH)
		return -EOPNOTSUPP;
	if (!arg->commit && !fetch)
		return -EINVAL;
	gpuemu_engine_track(e, GPUEMU_ROLE_SERVICE);
	if (fetch)
		ret = call_again(e, GPUEMU_PENDING_FETCH);
	if (ret < 0)
		return ret;
	if (!ret && arg->commit) {
		ret = gpuemu_batch_commit(e, arg->commit, fetch);
		if (ret < 0)
			return ret;
		arg->committed = ret;
		ret = 0;
	}
	if (!fetch)
		return 0;
	if (!ret) {
		ret = gpuemu_batch_fetch(e, NULL);
		if (ret)
			return ret;
	}
	ret = call_wait(e, GPUEMU_PENDING_FETCH);
	if (ret)
		return ret;
	ret = gpuemu_batch_fetched(e);
	if (ret < 0)
		return ret;
	arg->faults = ret;
	return 0;
}
