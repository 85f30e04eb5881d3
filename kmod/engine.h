/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine: the GPU behind the device, a process that attached. One at a
 * time; it may die at any moment.
 */
#ifndef _GPUEMU_ENGINE_H
#define _GPUEMU_ENGINE_H

#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/gpuemu.h>

#include "fault_queue.h"
#include "migrate.h"
#include "patience.h"

struct gpuemu_client;
struct gpuemu_dev;
struct io_uring_cmd;

/* The engine's life. It only goes down this list. */
enum gpuemu_engine_state {
	GPUEMU_ENGINE_LIVE,
	GPUEMU_ENGINE_DYING,	/* lost; its mappings may still be there */
	GPUEMU_ENGINE_REVOKED,	/* it can reach nothing any more */
};

/*
 * The states of a batch, and its owner in each:
 *   IDLE        nobody: there is no batch
 *   BUILDING    the RAISE being issued
 *   RAISED      the module: waits for a FETCH
 *   DELIVERING  the task work that hands it to the service thread
 *   FETCHED     the service thread
 *   COMMITTING  the COMMIT being issued
 *   REPLAYING   the task work that completes RAISE
 */
enum gpuemu_batch_state {
	GPUEMU_BATCH_IDLE,
	GPUEMU_BATCH_BUILDING,
	GPUEMU_BATCH_RAISED,
	GPUEMU_BATCH_DELIVERING,
	GPUEMU_BATCH_FETCHED,
	GPUEMU_BATCH_COMMITTING,
	GPUEMU_BATCH_REPLAYING,
};

/*
 * Where a pending command waits, or a task in an ioctl. FETCH and COMMIT_AND_FETCH share one
 * place.
 */
enum gpuemu_pending {
	GPUEMU_PENDING_RAISE,
	GPUEMU_PENDING_WAIT,
	GPUEMU_PENDING_FETCH,
	GPUEMU_PENDING_KINDS,
};

/**
 * struct gpuemu_call - a wait in an ioctl
 * @owner: whose wait it is; only compared
 * @task: the same while it sleeps there; NULL: a signal took it away, and it comes again
 * @pending: what it waits for has not come
 * @taken: it has, and the task goes on with it
 */
struct gpuemu_call {
	const struct task_struct *owner;
	struct task_struct *task;
	bool pending;
	bool taken;
};

/* The two threads of an engine whose death the monitor looks for. */
enum gpuemu_role {
	GPUEMU_ROLE_ENGINE,	/* RAISE, WAIT */
	GPUEMU_ROLE_SERVICE,	/* FETCH, COMMIT */
	GPUEMU_ROLES,
};

/**
 * struct gpuemu_pass - from a RAISE to its replay
 * @policy: replay_policy when it began
 * @most: batches that it may have
 * @batches: those that it had
 * @raw: records taken for them
 * @duplicates: of these, merged into others
 */
struct gpuemu_pass {
	enum gpuemu_replay_policy policy;
	u32 most;
	u32 batches;
	u32 raw;
	u32 duplicates;
};

/**
 * struct gpuemu_engine - one attachment
 * @ref: one for the file, one for each waiter
 * @dev: the device
 * @mapping: of the engine's file; see gpuemu_engine_file_get(). gpuemu_engine_kill() reads
 *	it, too, and the file's release waits for that
 * @owner: the file table that attached; .flush compares
 * @generation: of the attachment
 * @map_lock: see locks.h
 * @monitor: looks for death that nobody reports
 * @control, @faults: shared with the engine process; the module trusts nothing
 *	in @faults
 * @wait: woken by an acknowledgement, by parking, and by revocation
 * @state: under the device's lock, like everything below
 * @fresh: it has touched neither page table nor frame, and no RAISE or WAIT of it has
 *	completed
 * @parked: a RAISE or WAIT is pending: the engine touches no frame
 * @inval_put, @inval_acked: free running
 * @late: when it was last too slow for a task that waits in several goes, in jiffies; 0:
 *	it has acknowledged since
 * @late_for: how long such tasks have waited, a stop of the machine counted as one slice
 * @slow_ns: how long its accesses to the mirror's slots have waited since it last owed no
 *	acknowledgement, or gave one; under the aperture's lock, like the next
 * @slow_acked: @inval_acked then
 * @batch_state: says whose the batch is
 * @get: the module's own GET of the fault buffer
 * @batch_gen: the last batch's
 * @nfaults: unique faults in it
 * @put: PUT as the batch's RAISE, or COMMIT, read it
 * @pass: the parameters that hold until the replay, and what came so far
 * @served: the VA block that was served last by itself (replay policy block)
 * @nheld: faults that were taken and are in no batch yet
 * @held: these; like @batch the batch's owner's
 * @fetched: when the batch reached the service thread
 * @decide_ns: what the service thread took for this pass' batches
 * @stamps: the pass' time stamps, before they are published
 * @pending: pending commands; the task that takes a pointer completes it, once
 * @calls: the same in ioctls
 * @tasks: last submitters, referenced
 * @taken: jobs that the engine has and a client waits for; under the lock of jobs, like
 *	the next two
 * @cancelled: those that it has and nobody waits for, oldest first
 * @taken_by_id: both kinds
 * @batch: the batch, and scratch for building it
 * @migrations: the commit's that owns the batch, like the next four
 * @flights: what of it is being copied, each way
 * @patience_ns: what is left of the time that it waits for ordinary memory
 * @patience: of all commits: to wait for blocks
 * @ahead: those that were done before their turn
 */
struct gpuemu_engine {
	struct kref ref;
	struct gpuemu_dev *dev;
	struct address_space *mapping;
	fl_owner_t owner;
	u32 generation;
	struct mutex map_lock;
	struct delayed_work monitor;
	struct gpuemu_control *control;
	size_t control_bytes;
	struct gpuemu_fault_buffer *faults;
	size_t faults_bytes;
	wait_queue_head_t wait;

	enum gpuemu_engine_state state;
	bool fresh;
	bool parked;
	u32 inval_put;
	u32 inval_acked;
	unsigned long late;
	unsigned long late_for;
	u64 slow_ns;
	u32 slow_acked;
	enum gpuemu_batch_state batch_state;
	u32 get;
	u32 batch_gen;
	u32 nfaults;
	u32 put;
	struct gpuemu_pass pass;
	struct {
		u32 va_space;
		u64 index;
	} served;
	u32 nheld;
	u64 fetched;
	u64 decide_ns;
	struct gpuemu_stamps stamps;
	struct io_uring_cmd *pending[GPUEMU_PENDING_KINDS];
	struct gpuemu_call calls[GPUEMU_PENDING_KINDS];
	struct task_struct *tasks[GPUEMU_ROLES];
	struct list_head taken;
	struct list_head cancelled;
	DECLARE_HASHTABLE(taken_by_id, 8);
	struct gpuemu_fault held[GPUEMU_BATCH_MAX];
	struct gpuemu_fault batch[2 * GPUEMU_BATCH_MAX];
	struct gpuemu_migration migrations[GPUEMU_COMMIT_MAX];
	struct gpuemu_flights flights[GPUEMU_LINK_WAYS];
	u64 patience_ns;
	struct gpuemu_patience patience;
	DECLARE_BITMAP(ahead, GPUEMU_COMMIT_MAX);
};

void gpuemu_engine_put(struct gpuemu_engine *e);
void gpuemu_engine_kill(struct gpuemu_engine *e, const char *why);
void gpuemu_engine_release(struct gpuemu_engine *e);
struct gpuemu_client *gpuemu_engine_file_get(struct gpuemu_dev *dev);
bool gpuemu_engine_lost(const struct gpuemu_engine *e);
void gpuemu_engine_track(struct gpuemu_engine *e, enum gpuemu_role role);
void gpuemu_engine_event_locked(struct gpuemu_engine *e);
int gpuemu_engine_mmap(struct gpuemu_engine *e, struct vm_area_struct *vma);

#endif
