// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs and their owners. A job is QUEUED (its client's queue), TAKEN (the
 * engine's list) or DONE (only the client's list). It is on its client's list
 * in all three; if the client goes first, a TAKEN job stays with the engine as
 * CANCELLED until the engine says it is done with it.
 *
 * Each client has a queue of its own. Users take turns, and so do the clients of a user,
 * so that the jobs of one never wait for more than one job of each other user and of
 * each other client of its own.
 */
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "batch.h"
#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"
#include "mirror.h"
#include "objects.h"
#include "uring.h"
#include "user.h"
#include "job.h"

/* Jobs that fail under one hold of their lock, when an engine is lost. */
#define LOST_AT_A_TIME 64

enum job_state {
	JOB_QUEUED,
	JOB_TAKEN,
	JOB_CANCELLED,
	JOB_DONE,
};

/*
 * One job. All but the payload is under the lock of jobs until it is DONE;
 * from then on nobody writes it.
 */
struct job {
	struct kref ref;		/* one for each list, one for each ioctl */
	enum job_state state;
	struct gpuemu_client *client;	/* NULL when cancelled */
	struct list_head of_client;	/* the client's list */
	struct list_head of_owner;	/* the client's queue, the engine's, orphans */
	struct hlist_node by_id;	/* the engine's, while it has the job */
	u64 id;
	u32 kind;
	u32 stream;
	u32 payload_bytes;
	u32 report_bytes;
	void *payload;
	void *report;
	s32 status;
	u64 fault_addr;
	u8 message[GPUEMU_MESSAGE_MAX];
	wait_queue_head_t done;		/* tasks that wait for this job */
};

static void job_free(struct kref *ref)
{
	struct job *job = container_of(ref, struct job, ref);

	kvfree(job->payload);
	kvfree(job->report);
	kfree(job);
	gpuemu_destroyed(jobs);
}

static void job_put(struct job *job)
{
	kref_put(&job->ref, job_free);
}

static bool is_done(const struct job *job)
{
	/* Final: from then on nobody writes the job. Pairs with done_locked(). */
	return smp_load_acquire(&job->state) == JOB_DONE;
}

/* Jobs that left their owner: tasks hear of those that are done, without the lock of all. */
static void free_orphans(struct list_head *orphans)
{
	struct job *job, *next;

	list_for_each_entry_safe(job, next, orphans, of_owner) {
		list_del(&job->of_owner);
		if (is_done(job))
			wake_up_all(&job->done);
		job_put(job);
	}
}

static struct job *find_of_client(struct gpuemu_client *client, u64 id)
{
	struct job *job;

	list_for_each_entry(job, &client->jobs, of_client)
		if (job->id == id)
			return job;
	return NULL;
}

static struct job *find_taken(struct gpuemu_engine *e, u64 id)
{
	struct job *job;

	hash_for_each_possible(e->taken_by_id, job, by_id, id)
		if (job->id == id)
			return job;
	return NULL;
}

/* The owner's reference to the job goes to the orphans, to be put unlocked. */
static void orphan_locked(struct job *job, struct list_head *orphans)
{
	list_move_tail(&job->of_owner, orphans);
	hash_del(&job->by_id);
}

/* Tells the engine of the first taken job that nobody waits for any more. */
static void publish_cancelled_locked(struct gpuemu_engine *e)
{
	struct job *job = list_first_entry_or_null(&e->cancelled, struct job,
						   of_owner);
	u64 id = job ? job->id : 0;

	if (READ_ONCE(e->control->cancelled) == id)
		return;
	WRITE_ONCE(e->control->cancelled, id);
	gpuemu_engine_event_locked(e);
}

/* Nobody waits any more for a job that the engine has. */
static void cancel_locked(struct gpuemu_engine *e, struct job *job)
{
	job->state = JOB_CANCELLED;
	list_move_tail(&job->of_owner, &e->cancelled);
}

/* The caller makes it an orphan before it lets the lock go: free_orphans() wakes who waits. */
static void done_locked(struct job *job, s32 status, u64 fault_addr)
{
	job->status = status;
	job->fault_addr = fault_addr;
	/* DONE says that the rest is written. */
	smp_store_release(&job->state, JOB_DONE);
}

/* The job leaves the engine that had it. */
static void left_engine_locked(struct job *job)
{
	if (job->state == JOB_TAKEN)
		job->client->ntaken--;
}

/* --- turns --- */

/* The client has a job queued: its turn comes last, its user's too. */
static void turn_begin_locked(struct gpuemu_client *client)
{
	struct gpuemu_user *user = client->space.user;

	if (list_empty(&client->turn))
		list_add_tail(&client->turn, &user->turns);
	if (list_empty(&user->turn))
		list_add_tail(&user->turn, &client->dev->turns);
}

/* Nothing of it is queued any more. */
static void turn_end_locked(struct gpuemu_client *client)
{
	struct gpuemu_user *user = client->space.user;

	list_del_init(&client->turn);
	if (list_empty(&user->turns))
		list_del_init(&user->turn);
}

/* It had its turn, or has nothing queued: then it has none. */
static void turn_over_locked(struct gpuemu_client *client)
{
	struct gpuemu_user *user = client->space.user;

	if (list_empty(&client->queued))
		turn_end_locked(client);
	else
		list_move_tail(&client->turn, &user->turns);
	if (!list_empty(&user->turn))
		list_move_tail(&user->turn, &client->dev->turns);
}

/* Its turn is the next one again. */
static void turn_again_locked(struct gpuemu_client *client)
{
	struct gpuemu_user *user = client->space.user;

	list_move(&client->turn, &user->turns);
	list_move(&user->turn, &client->dev->turns);
}

/* The client whose turn it is, or NULL. idle: one of which the engine has no job. */
static struct gpuemu_client *turn_locked(struct gpuemu_dev *dev, bool idle)
{
	struct gpuemu_client *client;
	struct gpuemu_user *user;

	list_for_each_entry(user, &dev->turns, turn)
		list_for_each_entry(client, &user->turns, turn)
			if (!idle || !client->ntaken)
				return client;
	return NULL;
}

/* --- jobs --- */

/* The engine is lost: nobody does the job. */
static void lose_locked(struct job *job, struct list_head *orphans)
{
	left_engine_locked(job);
	if (job->client) {
		strscpy(job->message, "device lost", sizeof(job->message));
		gpuemu_count(&job->client->space, WORKS_LOST, 1);
		done_locked(job, -EIO, 0);
	}
	orphan_locked(job, orphans);
}

/* The next job that the engine has, or that waits for one; NULL: there is none. */
static struct job *next_lost_locked(struct gpuemu_engine *e)
{
	struct gpuemu_client *client;
	struct job *job;

	job = list_first_entry_or_null(&e->taken, struct job, of_owner);
	if (!job)
		job = list_first_entry_or_null(&e->cancelled, struct job,
					       of_owner);
	if (job)
		return job;
	while ((client = turn_locked(e->dev, false))) {
		job = list_first_entry_or_null(&client->queued, struct job,
					       of_owner);
		if (job)
			return job;
		turn_end_locked(client);
	}
	return NULL;
}

/*
 * Every queued and taken job fails, and its client is woken; some at a time, as there
 * may be many of many clients. None is queued or taken meanwhile: the engine is lost,
 * and there is no other before this has returned.
 */
void gpuemu_job_engine_lost(struct gpuemu_engine *e)
{
	struct gpuemu_dev *dev = e->dev;
	struct job *job;
	u32 n;

	do {
		LIST_HEAD(orphans);

		spin_lock(&dev->jobs_lock);
		for (n = 0; n < LOST_AT_A_TIME; n++) {
			job = next_lost_locked(e);
			if (!job)
				break;
			lose_locked(job, &orphans);
		}
		spin_unlock(&dev->jobs_lock);
		free_orphans(&orphans);
		cond_resched();
	} while (job);
}

/* The client's file is released: nobody waits, submits or finds it. */
void gpuemu_job_client_gone(struct gpuemu_client *client)
{
	struct gpuemu_dev *dev = client->dev;
	struct job *job, *next;
	LIST_HEAD(orphans);
	LIST_HEAD(all);

	spin_lock(&dev->jobs_lock);
	list_splice_init(&client->jobs, &all);
	turn_end_locked(client);
	client->space.user->jobs -= client->njobs;
	client->njobs = 0;
	client->ntaken = 0;
	list_for_each_entry(job, &all, of_client) {
		if (job->state != JOB_DONE)
			gpuemu_count(&client->space, WORKS_CANCELLED, 1);
		if (job->state == JOB_QUEUED) {
			orphan_locked(job, &orphans);
			if (dev->engine)
				gpuemu_engine_event_locked(dev->engine);
		} else if (job->state == JOB_TAKEN) {
			cancel_locked(dev->engine, job);
		}
		job->client = NULL;
	}
	if (dev->engine)
		publish_cancelled_locked(dev->engine);
	spin_unlock(&dev->jobs_lock);

	list_for_each_entry_safe(job, next, &all, of_client) {
		list_del(&job->of_client);
		job_put(job);
	}
	free_orphans(&orphans);
}

/* Takes over the reference. The id is out before anyone can free the job. */
static int job_queue(struct gpuemu_client *client, struct job *job, u64 *id)
{
	struct gpuemu_dev *dev = client->dev;
	struct io_uring_cmd *wait = NULL;
	int ret = 0;

	spin_lock(&dev->jobs_lock);
	/* gpuemu_mirror_open() looks for jobs under the lock, so none slips in before it. */
	if (client->engine || gpuemu_mirror_denies(&client->space)) {
		ret = -EPERM;
	} else if (!dev->engine || gpuemu_engine_lost(dev->engine)) {
		ret = -ENODEV;
	} else if (client->njobs >= GPUEMU_WORK_MAX ||
		   (client->space.limited &&
		    client->space.user->jobs >= GPUEMU_USER_JOBS)) {
		ret = -EAGAIN;
	} else {
		job->id = dev->next_job++;
		*id = job->id;
		client->njobs++;
		client->space.user->jobs++;
		gpuemu_count(&client->space, WORKS_QUEUED, 1);
		list_add_tail(&job->of_client, &client->jobs);
		list_add_tail(&job->of_owner, &client->queued);
		turn_begin_locked(client);
		kref_get(&job->ref);
		gpuemu_engine_event_locked(dev->engine);
		spin_lock(&dev->lock);
		wait = gpuemu_batch_take_locked(dev->engine, GPUEMU_PENDING_WAIT);
		spin_unlock(&dev->lock);
	}
	spin_unlock(&dev->jobs_lock);
	if (wait)
		gpuemu_uring_job_queued(wait);
	return ret;
}

int gpuemu_cmd_submit(struct gpuemu_client *client, struct gpuemu_submit *arg)
{
	struct job *job;
	int ret;

	if (gpuemu_client_engine(client))
		return -EPERM;
	if (!arg->kind || arg->kind >= GPUEMU_WORK_KINDS ||
	    arg->payload_bytes > GPUEMU_PAYLOAD_MAX)
		return -EINVAL;
	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return -ENOMEM;
	gpuemu_created(jobs);
	kref_init(&job->ref);
	init_waitqueue_head(&job->done);
	job->client = client;
	job->kind = arg->kind;
	job->stream = arg->stream;
	job->payload_bytes = arg->payload_bytes;
	job->payload = gpuemu_client_copy_in(client, arg->payload,
					     arg->payload_bytes, false);
	if (IS_ERR(job->payload)) {
		ret = PTR_ERR(job->payload);
		job->payload = NULL;
		goto out_job;
	}
	ret = job_queue(client, job, &arg->id);
	if (ret)
		goto out_charge;
	return 0;

out_charge:
	gpuemu_client_uncharge(client, job->payload_bytes);
out_job:
	job_put(job);
	return ret;
}

/* Sleeps until the job is done. 0, -ETIMEDOUT, or a signal. */
static int wait_done(struct job *job, u32 timeout_ms)
{
	long left;

	if (timeout_ms == ~0u)
		return wait_event_interruptible(job->done, is_done(job));
	left = wait_event_interruptible_timeout(job->done, is_done(job),
						msecs_to_jiffies(timeout_ms));
	/* A restarted call would start the time anew. */
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/* Takes a job from its client, once; the caller gets the list's reference. */
static struct job *job_claim(struct gpuemu_client *client, u64 id,
			     struct list_head *orphans)
{
	struct gpuemu_dev *dev = client->dev;
	struct job *job;

	spin_lock(&dev->jobs_lock);
	job = find_of_client(client, id);
	if (job) {
		list_del_init(&job->of_client);
		client->njobs--;
		client->space.user->jobs--;
		if (job->state != JOB_DONE) {
			gpuemu_count(&client->space, WORKS_CANCELLED, 1);
			job->client = NULL;
		}
		if (job->state == JOB_QUEUED) {
			orphan_locked(job, orphans);
			if (list_empty(&client->queued))
				turn_end_locked(client);
		} else if (job->state == JOB_TAKEN) {
			client->ntaken--;
			cancel_locked(dev->engine, job);
			publish_cancelled_locked(dev->engine);
		}
	}
	spin_unlock(&dev->jobs_lock);
	return job;
}

/* Nobody waits for it any more. -ENOENT: another task was first. */
static int job_forget(struct gpuemu_client *client, u64 id)
{
	LIST_HEAD(orphans);
	struct job *job = job_claim(client, id, &orphans);

	if (!job)
		return -ENOENT;
	gpuemu_client_uncharge(client, (u64)job->payload_bytes +
			       job->report_bytes);
	job_put(job);
	free_orphans(&orphans);
	return 0;
}

/* The client has not heard the job's number, so nobody could ever wait for it. */
int gpuemu_told_submit(struct gpuemu_client *client,
		       const struct gpuemu_submit *arg, bool heard)
{
	return heard ? 0 : job_forget(client, arg->id);
}

/* The client has the whole result. */
int gpuemu_told_wait(struct gpuemu_client *client, const struct gpuemu_wait *arg,
		     bool heard)
{
	return heard ? job_forget(client, arg->id) : 0;
}

int gpuemu_cmd_wait(struct gpuemu_client *client, struct gpuemu_wait *arg)
{
	u32 room = arg->report_bytes;
	struct job *job;
	bool full;
	int ret;

	if (gpuemu_client_engine(client))
		return -EPERM;
	spin_lock(&client->dev->jobs_lock);
	job = find_of_client(client, arg->id);
	/* The engine's thread wakes all of them, so there is a limit. */
	full = client->nwaiters == GPUEMU_WORK_MAX;
	if (job && !full) {
		kref_get(&job->ref);
		client->nwaiters++;
	}
	spin_unlock(&client->dev->jobs_lock);
	if (!job || full)
		return job ? -EAGAIN : -ENOENT;

	ret = wait_done(job, arg->timeout_ms);
	if (ret)
		goto out;
	arg->status = job->status;
	arg->fault_addr = job->fault_addr;
	memcpy(arg->message, job->message, sizeof(arg->message));
	arg->report_bytes = job->report_bytes;
	if (job->report_bytes > room) {
		ret = -ENOSPC;
		goto out;
	}
	if (copy_to_user(u64_to_user_ptr(arg->report), job->report,
			 job->report_bytes))
		ret = -EFAULT;
out:
	spin_lock(&client->dev->jobs_lock);
	client->nwaiters--;
	spin_unlock(&client->dev->jobs_lock);
	/* It is the client's until it has heard of the end. */
	job_put(job);
	return ret;
}

/* The job did not reach the engine: it is the next one again. */
static void job_untake(struct gpuemu_engine *e, struct job *job)
{
	struct gpuemu_dev *dev = e->dev;
	LIST_HEAD(orphans);

	spin_lock(&dev->jobs_lock);
	if (job->state == JOB_TAKEN) {
		left_engine_locked(job);
		job->state = JOB_QUEUED;
		hash_del(&job->by_id);
		list_move(&job->of_owner, &job->client->queued);
		turn_again_locked(job->client);
	} else if (job->state == JOB_CANCELLED && !gpuemu_engine_lost(e)) {
		orphan_locked(job, &orphans);
		publish_cancelled_locked(e);
	}
	spin_unlock(&dev->jobs_lock);
	free_orphans(&orphans);
}

/* Nor did its number. */
int gpuemu_told_work_take(struct gpuemu_client *client,
			  const struct gpuemu_work_take *arg, bool heard)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct job *job;

	if (heard)
		return 0;
	spin_lock(&e->dev->jobs_lock);
	job = find_taken(e, arg->id);
	if (job)
		kref_get(&job->ref);
	spin_unlock(&e->dev->jobs_lock);
	if (job) {
		job_untake(e, job);
		job_put(job);
	}
	return 0;
}

/* The client's oldest job is the engine's; the others' turn comes first now. */
static void take_locked(struct gpuemu_engine *e, struct job *job)
{
	struct gpuemu_client *client = job->client;

	job->state = JOB_TAKEN;
	client->ntaken++;
	list_move_tail(&job->of_owner, &e->taken);
	hash_add(e->taken_by_id, &job->by_id, job->id);
	turn_over_locked(client);
}

int gpuemu_cmd_work_take(struct gpuemu_client *client,
			 struct gpuemu_work_take *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct gpuemu_dev *dev = client->dev;
	u32 room = arg->payload_bytes;
	struct gpuemu_client *owner;
	struct job *job = NULL;
	int ret = 0;

	if (!e)
		return -EPERM;
	if (arg->user || arg->reserved2)
		return -EINVAL;
	if (arg->flags & ~GPUEMU_TAKE_IDLE)
		return -EOPNOTSUPP;
	spin_lock(&dev->jobs_lock);
	owner = turn_locked(dev, arg->flags & GPUEMU_TAKE_IDLE);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (!owner) {
		ret = -EAGAIN;
	} else {
		job = list_first_entry(&owner->queued, struct job, of_owner);
		arg->payload_bytes = job->payload_bytes;
		arg->id = job->id;
		arg->va_space = owner->space.id;
		arg->kind = job->kind;
		arg->stream = job->stream;
		arg->user = from_kuid(&init_user_ns, owner->space.user->uid);
		if (job->payload_bytes > room) {
			ret = -ENOSPC;
		} else {
			take_locked(e, job);
			kref_get(&job->ref);
		}
	}
	spin_unlock(&dev->jobs_lock);
	if (ret)
		return ret;

	if (copy_to_user(u64_to_user_ptr(arg->payload), job->payload,
			 job->payload_bytes)) {
		job_untake(e, job);
		ret = -EFAULT;
	}
	job_put(job);
	return ret;
}

/*
 * The client that waits for a taken job, referenced; or an error. A cancelled
 * job ends here: the engine has heard of it.
 */
static struct gpuemu_client *client_of_taken(struct gpuemu_engine *e, u64 id)
{
	struct gpuemu_client *client = NULL;
	LIST_HEAD(orphans);
	struct job *job;

	spin_lock(&e->dev->jobs_lock);
	job = find_taken(e, id);
	if (gpuemu_engine_lost(e)) {
		client = ERR_PTR(-ENODEV);
	} else if (!job) {
		client = ERR_PTR(-ENOENT);
	} else if (job->state == JOB_CANCELLED) {
		orphan_locked(job, &orphans);
		publish_cancelled_locked(e);
		client = ERR_PTR(-ENOENT);
	} else {
		client = job->client;
		kref_get(&client->ref);
	}
	spin_unlock(&e->dev->jobs_lock);
	free_orphans(&orphans);
	return client;
}

int gpuemu_cmd_work_done(struct gpuemu_client *client,
			 struct gpuemu_work_done *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct gpuemu_client *owner;
	s32 status = arg->status;
	LIST_HEAD(orphans);
	struct job *job;
	void *report;
	u32 bytes = arg->report_bytes;
	int ret = 0;

	if (!e)
		return -EPERM;
	if (arg->reserved || status > 0 || status < -MAX_ERRNO ||
	    arg->report_bytes > GPUEMU_REPORT_MAX)
		return -EINVAL;
	arg->message[GPUEMU_MESSAGE_MAX - 1] = 0;

	owner = client_of_taken(e, arg->id);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (!status && gpuemu_mirror_late(&owner->space)) {
		status = -ENOTRECOVERABLE;
		strscpy(arg->message, "an access to ordinary memory came too late and was lost",
			sizeof(arg->message));
	}
	report = gpuemu_client_copy_in(owner, arg->report, bytes, true);
	if (IS_ERR(report)) {
		ret = PTR_ERR(report);
		report = NULL;
		bytes = 0;
		if (ret == -EFAULT)
			goto out;
		/* The client gets no report, but does not wait for ever. */
		ret = 0;
		status = -ENOMEM;
		strscpy(arg->message, "no memory for the report",
			sizeof(arg->message));
	}

	spin_lock(&e->dev->jobs_lock);
	job = find_taken(e, arg->id);
	if (job && job->state == JOB_TAKEN) {
		swap(job->report, report);
		job->report_bytes = bytes;
		memcpy(job->message, arg->message, sizeof(job->message));
		gpuemu_count(&job->client->space, WORKS_DONE, 1);
		left_engine_locked(job);
		done_locked(job, status, arg->fault_addr);
		orphan_locked(job, &orphans);
	} else {
		/* Lost or cancelled meanwhile. */
		ret = -ENOENT;
		if (job) {
			orphan_locked(job, &orphans);
			publish_cancelled_locked(e);
		}
	}
	spin_unlock(&e->dev->jobs_lock);
	free_orphans(&orphans);
	if (ret)
		gpuemu_client_uncharge(owner, bytes);
	kvfree(report);
out:
	gpuemu_client_put(owner);
	return ret;
}
