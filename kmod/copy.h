/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copying the pages of a run, by hand or by a copy engine: a kernel thread. What
 * moves, and what it means when it has moved, is migrate.c's.
 */
#ifndef _GPUEMU_COPY_H
#define _GPUEMU_COPY_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

#include "link.h"

#define GPUEMU_COPY_ENGINES_MAX 16

/*
 * Fewer pages are copied faster than a thread on another CPU is woken: about
 * 50 us on an emulated machine, 5 us on silicon, where 4 KiB take 2.3 and 0.3 us.
 */
#define GPUEMU_COPY_PAGES_MIN 64

/*
 * From so many on they are given to an engine all the same where others follow: the first
 * wakes it, and it stays awake from one to the next, while their committer unmaps.
 */
#define GPUEMU_COPY_PAGES_FEW 8

struct gpuemu_block;
struct gpuemu_dev;
struct task_struct;

/**
 * struct gpuemu_copy - the copy of a run, from its start to its end
 * @queued: while it waits for an engine
 * @block: locked by the task that starts it until it has ended it; so its pages, frames
 *	and what of them is in @mask stay as they are
 * @mask: pages
 * @fresh: of these, to the device, those that nobody ever touched: zeroed, not copied
 * @way: which way they go
 * @pages: how many are in @mask, when it begins
 * @many: it is one of several that are GPUEMU_COPY_PAGES_MIN together; for the task that begins
 * @large: at least GPUEMU_COPY_PAGES_MIN
 * @pending: it was given to the engines
 * @by: the engine that took it; under the engines' lock, like @queued
 * @hurry: the task that waits is being killed: no pacing
 * @next: pieces that were begun, by whomever
 * @copied: pages copied, without the fresh ones
 * @done: the engine lets go of it
 */
struct gpuemu_copy {
	struct list_head queued;
	struct gpuemu_block *block;
	DECLARE_BITMAP(mask, GPUEMU_BLOCK_PAGES);
	DECLARE_BITMAP(fresh, GPUEMU_BLOCK_PAGES);
	enum gpuemu_link_way way;
	u32 pages;
	bool many;
	bool large;
	bool pending;
	bool hurry;
	struct task_struct *by;
	atomic_t next;
	atomic_t copied;
	struct completion done;
};

/**
 * struct gpuemu_copy_engine - one thread
 * @copies: its fellows
 * @task: itself
 * @ways: bits of the ways that it goes
 * @busy: it will look at the queues again before it sleeps
 */
struct gpuemu_copy_engine {
	struct gpuemu_copies *copies;
	struct task_struct *task;
	unsigned int ways;
	bool busy;
};

/**
 * struct gpuemu_copies - the device's copy engines
 * @lock: see locks.h; protects the queues, and which engines are busy
 * @queue: copies that no engine has taken, for each way, the oldest first
 * @count: of engines; 0: the task that starts a copy does it
 * @engine: the engines
 */
struct gpuemu_copies {
	spinlock_t lock;
	struct list_head queue[GPUEMU_LINK_WAYS];
	unsigned int count;
	struct gpuemu_copy_engine engine[GPUEMU_COPY_ENGINES_MAX];
};

int gpuemu_copies_start(struct gpuemu_copies *copies, unsigned int count);
void gpuemu_copies_stop(struct gpuemu_copies *copies);

void gpuemu_copy_begin(struct gpuemu_copy *copy);
u64 gpuemu_copy_end(struct gpuemu_copy *copy);

/* Whether its end would wait for nothing. */
static inline bool gpuemu_copy_done(struct gpuemu_copy *copy)
{
	return !copy->pending || completion_done(&copy->done);
}

#endif
