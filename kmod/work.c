// SPDX-License-Identifier: GPL-2.0
/*
 * Works and their owners. A work is QUEUED (its client's queue), TAKEN (the
 * engine's list) or DONE (only the client's list). It is on its client's list
 * in all three; if the client goes first, a TAKEN work stays with the engine as
 * CANCELLED until the engine says it is done with it.
 *
 * Each client has a queue of its own. Users take turns, and so do the clients of a user,
 * so that the works of one never wait for more than one work of each other user and of
 * each other client of its own.
 */
#include <linux/hashtable.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"
#include "mirror.h"
#include "objects.h"
#include "uring.h"
#include "user.h"
#include "work.h"

/* Works that fail under one hold of their lock, when an engine is lost. */
#define LOST_AT_A_TIME 64

enum work_state {
	WORK_QUEUED,
	WORK_TAKEN,
	WORK_CANCELLED,
	WORK_DONE,
};

/*
 * One work. All but the payload is under the lock of works until it is DONE;
 * from then on nobody writes it.
 */
struct work {
	struct kref ref;		/* one for each list, one for each ioctl */
	enum work_state state;
	struct gpuemu_client *client;	/* NULL when cancelled */
	struct list_head of_client;	/* the client's list */
	struct list_head of_owner;	/* the client's queue, the engine's, orphans */
	struct hlist_node by_id;	/* the engine's, while it has the work */
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
};

static void work_free(struct kref *ref)
{
	struct work *work = container_of(ref, struct work, ref);

	kvfree(work->payload);
	kvfree(work->report);
	kfree(work);
	gpuemu_destroyed(works);
}

static void work_put(struct work *work)
{
	kref_put(&work->ref, work_free);
}

static void free_orphans(struct list_head *orphans)
{
	struct work *work, *next;

	list_for_each_entry_safe(work, next, orphans, of_owner) {
		list_del(&work->of_owner);
		work_put(work);
	}
}

static struct work *find_of_client(struct gpuemu_client *client, u64 id)
{
	struct work *work;

	list_for_each_entry(work, &client->works, of_client)
		if (work->id == id)
			return work;
	return NULL;
}

static struct work *find_taken(struct gpuemu_engine *e, u64 id)
{
	struct work *work;

	hash_for_each_possible(e->taken_by_id, work, by_id, id)
		if (work->id == id)
			return work;
	return NULL;
}

/* The owner's reference to the work goes to the orphans, to be put unlocked. */
static void orphan_locked(struct work *work, struct list_head *orphans)
{
	list_move_tail(&work->of_owner, orphans);
	hash_del(&work->by_id);
}

/* Tells the engine of the first taken work that nobody waits for any more. */
static void publish_cancelled_locked(struct gpuemu_engine *e)
{
	struct work *work = list_first_entry_or_null(&e->cancelled, struct work,
						     of_owner);
	u64 id = work ? work->id : 0;

	if (READ_ONCE(e->control->cancelled) == id)
		return;
	WRITE_ONCE(e->control->cancelled, id);
	gpuemu_engine_event_locked(e);
}

/* Nobody waits any more for a work that the engine has. */
static void cancel_locked(struct gpuemu_engine *e, struct work *work)
{
	work->state = WORK_CANCELLED;
	list_move_tail(&work->of_owner, &e->cancelled);
}

static void done_locked(struct work *work, s32 status, u64 fault_addr)
{
	work->status = status;
	work->fault_addr = fault_addr;
	/* DONE says that the rest is written. */
	smp_store_release(&work->state, WORK_DONE);
	wake_up_all(&work->client->done);
}

/* The work leaves the engine that had it. */
static void left_engine_locked(struct work *work)
{
	if (work->state == WORK_TAKEN)
		work->client->ntaken--;
}

/* --- turns --- */

/* The client has a work queued: its turn comes last, its user's too. */
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

/* The client whose turn it is, or NULL. idle: one of which the engine has no work. */
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

/* --- works --- */

/* The engine is lost: nothing does the work. */
static void lose_locked(struct work *work, struct list_head *orphans)
{
	left_engine_locked(work);
	if (work->client) {
		strscpy(work->message, "device lost", sizeof(work->message));
		gpuemu_count(&work->client->space, WORKS_LOST, 1);
		done_locked(work, -EIO, 0);
	}
	orphan_locked(work, orphans);
}

/* The next work that the engine has, or that waits for one; NULL: there is none. */
static struct work *next_lost_locked(struct gpuemu_engine *e)
{
	struct gpuemu_client *client;
	struct work *work;

	work = list_first_entry_or_null(&e->taken, struct work, of_owner);
	if (!work)
		work = list_first_entry_or_null(&e->cancelled, struct work,
						of_owner);
	if (work)
		return work;
	while ((client = turn_locked(e->dev, false))) {
		work = list_first_entry_or_null(&client->queued, struct work,
						of_owner);
		if (work)
			return work;
		turn_end_locked(client);
	}
	return NULL;
}

/*
 * Every queued and taken work fails, and its client is woken; some at a time, as there
 * may be many of many clients. None is queued or taken meanwhile: the engine is lost,
 * and there is no other before this has returned.
 */
void gpuemu_work_engine_lost(struct gpuemu_engine *e)
{
	struct gpuemu_dev *dev = e->dev;
	struct work *work;
	u32 n;

	do {
		LIST_HEAD(orphans);

		spin_lock(&dev->works_lock);
		for (n = 0; n < LOST_AT_A_TIME; n++) {
			work = next_lost_locked(e);
			if (!work)
				break;
			lose_locked(work, &orphans);
		}
		spin_unlock(&dev->works_lock);
		free_orphans(&orphans);
		cond_resched();
	} while (work);
}

/* The client's file is released: nobody waits, submits or finds it. */
void gpuemu_work_client_gone(struct gpuemu_client *client)
{
	struct gpuemu_dev *dev = client->dev;
	struct work *work, *next;
	LIST_HEAD(orphans);
	LIST_HEAD(all);

	spin_lock(&dev->works_lock);
	list_splice_init(&client->works, &all);
	turn_end_locked(client);
	client->space.user->works -= client->nworks;
	client->nworks = 0;
	client->ntaken = 0;
	list_for_each_entry(work, &all, of_client) {
		if (work->state != WORK_DONE)
			gpuemu_count(&client->space, WORKS_CANCELLED, 1);
		if (work->state == WORK_QUEUED) {
			orphan_locked(work, &orphans);
			if (dev->engine)
				gpuemu_engine_event_locked(dev->engine);
		} else if (work->state == WORK_TAKEN) {
			cancel_locked(dev->engine, work);
		}
		work->client = NULL;
	}
	if (dev->engine)
		publish_cancelled_locked(dev->engine);
	spin_unlock(&dev->works_lock);

	list_for_each_entry_safe(work, next, &all, of_client) {
		list_del(&work->of_client);
		work_put(work);
	}
	free_orphans(&orphans);
}

/* Takes over the reference. The id is out before anyone can free the work. */
static int work_queue(struct gpuemu_client *client, struct work *work, u64 *id)
{
	struct gpuemu_dev *dev = client->dev;
	struct io_uring_cmd *wait = NULL;
	int ret = 0;

	spin_lock(&dev->works_lock);
	/* gpuemu_mirror_open() looks for works under the lock, so none slips in before it. */
	if (client->engine || gpuemu_mirror_denies(&client->space)) {
		ret = -EPERM;
	} else if (!dev->engine || gpuemu_engine_lost(dev->engine)) {
		ret = -ENODEV;
	} else if (client->nworks >= GPUEMU_WORK_MAX ||
		   (client->space.limited &&
		    client->space.user->works >= GPUEMU_USER_WORKS)) {
		ret = -EAGAIN;
	} else {
		work->id = dev->next_work++;
		*id = work->id;
		client->nworks++;
		client->space.user->works++;
		gpuemu_count(&client->space, WORKS_QUEUED, 1);
		list_add_tail(&work->of_client, &client->works);
		list_add_tail(&work->of_owner, &client->queued);
		turn_begin_locked(client);
		kref_get(&work->ref);
		gpuemu_engine_event_locked(dev->engine);
		spin_lock(&dev->lock);
		wait = gpuemu_uring_take_locked(dev->engine, GPUEMU_PENDING_WAIT);
		spin_unlock(&dev->lock);
	}
	spin_unlock(&dev->works_lock);
	if (wait)
		gpuemu_uring_work_queued(wait);
	return ret;
}

int gpuemu_cmd_submit(struct gpuemu_client *client, struct gpuemu_submit *arg)
{
	struct work *work;
	int ret;

	if (gpuemu_client_engine(client))
		return -EPERM;
	if (!arg->kind || arg->kind >= GPUEMU_WORK_KINDS ||
	    arg->payload_bytes > GPUEMU_PAYLOAD_MAX)
		return -EINVAL;
	work = kzalloc(sizeof(*work), GFP_KERNEL_ACCOUNT);
	if (!work)
		return -ENOMEM;
	gpuemu_created(works);
	kref_init(&work->ref);
	work->client = client;
	work->kind = arg->kind;
	work->stream = arg->stream;
	work->payload_bytes = arg->payload_bytes;
	work->payload = gpuemu_client_copy_in(client, arg->payload,
					      arg->payload_bytes, false);
	if (IS_ERR(work->payload)) {
		ret = PTR_ERR(work->payload);
		work->payload = NULL;
		goto out_work;
	}
	ret = work_queue(client, work, &arg->id);
	if (ret)
		goto out_charge;
	return 0;

out_charge:
	gpuemu_client_uncharge(client, work->payload_bytes);
out_work:
	work_put(work);
	return ret;
}

static bool is_done(const struct work *work)
{
	/* Final: from then on nobody writes the work. Pairs with done_locked(). */
	return smp_load_acquire(&work->state) == WORK_DONE;
}

/* Sleeps until the work is done. 0, -ETIMEDOUT, or a signal. */
static int wait_done(struct gpuemu_client *client, struct work *work,
		     u32 timeout_ms)
{
	long left;

	if (timeout_ms == ~0u)
		return wait_event_interruptible(client->done, is_done(work));
	left = wait_event_interruptible_timeout(client->done, is_done(work),
						msecs_to_jiffies(timeout_ms));
	/* A restarted call would start the time anew. */
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

/* Takes a work from its client, once; the caller gets the list's reference. */
static struct work *work_claim(struct gpuemu_client *client, u64 id,
			       struct list_head *orphans)
{
	struct gpuemu_dev *dev = client->dev;
	struct work *work;

	spin_lock(&dev->works_lock);
	work = find_of_client(client, id);
	if (work) {
		list_del_init(&work->of_client);
		client->nworks--;
		client->space.user->works--;
		if (work->state != WORK_DONE) {
			gpuemu_count(&client->space, WORKS_CANCELLED, 1);
			work->client = NULL;
		}
		if (work->state == WORK_QUEUED) {
			orphan_locked(work, orphans);
			if (list_empty(&client->queued))
				turn_end_locked(client);
		} else if (work->state == WORK_TAKEN) {
			client->ntaken--;
			cancel_locked(dev->engine, work);
			publish_cancelled_locked(dev->engine);
		}
	}
	spin_unlock(&dev->works_lock);
	return work;
}

/* Nobody waits for it any more. -ENOENT: another task was first. */
static int work_forget(struct gpuemu_client *client, u64 id)
{
	LIST_HEAD(orphans);
	struct work *work = work_claim(client, id, &orphans);

	if (!work)
		return -ENOENT;
	gpuemu_client_uncharge(client, (u64)work->payload_bytes +
			       work->report_bytes);
	work_put(work);
	free_orphans(&orphans);
	return 0;
}

/* The client has not heard the work's number, so nobody could ever wait for it. */
int gpuemu_told_submit(struct gpuemu_client *client,
		       const struct gpuemu_submit *arg, bool heard)
{
	return heard ? 0 : work_forget(client, arg->id);
}

/* The client has the whole result. */
int gpuemu_told_wait(struct gpuemu_client *client, const struct gpuemu_wait *arg,
		     bool heard)
{
	return heard ? work_forget(client, arg->id) : 0;
}

int gpuemu_cmd_wait(struct gpuemu_client *client, struct gpuemu_wait *arg)
{
	u32 room = arg->report_bytes;
	struct work *work;
	int ret;

	if (gpuemu_client_engine(client))
		return -EPERM;
	spin_lock(&client->dev->works_lock);
	work = find_of_client(client, arg->id);
	if (work)
		kref_get(&work->ref);
	spin_unlock(&client->dev->works_lock);
	if (!work)
		return -ENOENT;

	ret = wait_done(client, work, arg->timeout_ms);
	if (ret)
		goto out;
	arg->status = work->status;
	arg->fault_addr = work->fault_addr;
	memcpy(arg->message, work->message, sizeof(arg->message));
	arg->report_bytes = work->report_bytes;
	if (work->report_bytes > room) {
		ret = -ENOSPC;
		goto out;
	}
	if (copy_to_user(u64_to_user_ptr(arg->report), work->report,
			 work->report_bytes))
		ret = -EFAULT;
out:
	/* It is the client's until it has heard of the end. */
	work_put(work);
	return ret;
}

/* The work did not reach the engine: it is the next one again. */
static void work_untake(struct gpuemu_engine *e, struct work *work)
{
	struct gpuemu_dev *dev = e->dev;
	LIST_HEAD(orphans);

	spin_lock(&dev->works_lock);
	if (work->state == WORK_TAKEN) {
		left_engine_locked(work);
		work->state = WORK_QUEUED;
		hash_del(&work->by_id);
		list_move(&work->of_owner, &work->client->queued);
		turn_again_locked(work->client);
	} else if (work->state == WORK_CANCELLED && !gpuemu_engine_lost(e)) {
		orphan_locked(work, &orphans);
		publish_cancelled_locked(e);
	}
	spin_unlock(&dev->works_lock);
	free_orphans(&orphans);
}

/* Nor did its number. */
int gpuemu_told_work_take(struct gpuemu_client *client,
			  const struct gpuemu_work_take *arg, bool heard)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct work *work;

	if (heard)
		return 0;
	spin_lock(&e->dev->works_lock);
	work = find_taken(e, arg->id);
	if (work)
		kref_get(&work->ref);
	spin_unlock(&e->dev->works_lock);
	if (work) {
		work_untake(e, work);
		work_put(work);
	}
	return 0;
}

/* The client's oldest work is the engine's; the others' turn comes first now. */
static void take_locked(struct gpuemu_engine *e, struct work *work)
{
	struct gpuemu_client *client = work->client;

	work->state = WORK_TAKEN;
	client->ntaken++;
	list_move_tail(&work->of_owner, &e->taken);
	hash_add(e->taken_by_id, &work->by_id, work->id);
	turn_over_locked(client);
}

int gpuemu_cmd_work_take(struct gpuemu_client *client,
			 struct gpuemu_work_take *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct gpuemu_dev *dev = client->dev;
	u32 room = arg->payload_bytes;
	struct gpuemu_client *owner;
	struct work *work = NULL;
	int ret = 0;

	if (!e)
		return -EPERM;
	if (arg->user || arg->reserved2)
		return -EINVAL;
	if (arg->flags & ~GPUEMU_TAKE_IDLE)
		return -EOPNOTSUPP;
	spin_lock(&dev->works_lock);
	owner = turn_locked(dev, arg->flags & GPUEMU_TAKE_IDLE);
	if (gpuemu_engine_lost(e)) {
		ret = -ENODEV;
	} else if (!owner) {
		ret = -EAGAIN;
	} else {
		work = list_first_entry(&owner->queued, struct work, of_owner);
		arg->payload_bytes = work->payload_bytes;
		arg->id = work->id;
		arg->va_space = owner->space.id;
		arg->kind = work->kind;
		arg->stream = work->stream;
		arg->user = from_kuid(&init_user_ns, owner->uid);
		if (work->payload_bytes > room) {
			ret = -ENOSPC;
		} else {
			take_locked(e, work);
			kref_get(&work->ref);
		}
	}
	spin_unlock(&dev->works_lock);
	if (ret)
		return ret;

	if (copy_to_user(u64_to_user_ptr(arg->payload), work->payload,
			 work->payload_bytes)) {
		work_untake(e, work);
		ret = -EFAULT;
	}
	work_put(work);
	return ret;
}

/*
 * The client that waits for a taken work, referenced; or an error. A cancelled
 * work ends here: the engine has heard of it.
 */
static struct gpuemu_client *client_of_taken(struct gpuemu_engine *e, u64 id)
{
	struct gpuemu_client *client = NULL;
	LIST_HEAD(orphans);
	struct work *work;

	spin_lock(&e->dev->works_lock);
	work = find_taken(e, id);
	if (gpuemu_engine_lost(e)) {
		client = ERR_PTR(-ENODEV);
	} else if (!work) {
		client = ERR_PTR(-ENOENT);
	} else if (work->state == WORK_CANCELLED) {
		orphan_locked(work, &orphans);
		publish_cancelled_locked(e);
		client = ERR_PTR(-ENOENT);
	} else {
		client = work->client;
		kref_get(&client->ref);
	}
	spin_unlock(&e->dev->works_lock);
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
	struct work *work;
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

	spin_lock(&e->dev->works_lock);
	work = find_taken(e, arg->id);
	if (work && work->state == WORK_TAKEN) {
		swap(work->report, report);
		work->report_bytes = bytes;
		memcpy(work->message, arg->message, sizeof(work->message));
		gpuemu_count(&work->client->space, WORKS_DONE, 1);
		left_engine_locked(work);
		done_locked(work, status, arg->fault_addr);
		orphan_locked(work, &orphans);
	} else {
		/* Lost or cancelled meanwhile. */
		ret = -ENOENT;
		if (work) {
			orphan_locked(work, &orphans);
			publish_cancelled_locked(e);
		}
	}
	spin_unlock(&e->dev->works_lock);
	free_orphans(&orphans);
	if (ret)
		gpuemu_client_uncharge(owner, bytes);
	kvfree(report);
out:
	gpuemu_client_put(owner);
	return ret;
}
