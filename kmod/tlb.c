// SPDX-License-Identifier: GPL-2.0
/*
 * The TLB invalidate protocol, the module's side.
 *
 *   module					engine
 *   clear page-table entries (release)
 *   lock; write ring[put]; put++ (release)	reads put (acquire) at its leisure
 *   engine parked? then done			drops its translations
 *   unlock; sleep till acked >= put		ENGINE_ACK(put): acked = put; wake
 *   use the frames for something else
 *
 * Parked means that a RAISE or WAIT is pending. The engine touches no frame
 * meanwhile and catches up with put before it goes on, so everything posted
 * before or while it is parked counts as acknowledged. parked is cleared under
 * the device's lock before the completion can be seen: an invalidate posted
 * after that waits for an acknowledgement again, and one posted before is in
 * the put that the engine sees. acked is moved to put at both edges, so that a
 * waiter which misses a short parking does not wait for an acknowledgement that
 * nobody owes.
 *
 * An engine that has just attached counts as parked too, until one of these
 * commands completes or it touches the page table or a frame: it has no work and knows
 * no translation, and it may be long until it runs.
 *
 * No engine, no wait. An engine that does not answer in time is lost; the wait
 * ends when its mappings are revoked, which is as good as an acknowledgement.
 */
#include <linux/ktime.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"
#include "params.h"
#include "tlb.h"
#include "trace.h"

/* The parts that the time for an acknowledgement is waited for in. */
#define ACK_SLICES	8

static bool acked(const struct gpuemu_engine *e, u32 seq)
{
	/* The task that copies a frame sees what the engine did to it before. */
	enum gpuemu_engine_state state = smp_load_acquire(&e->state);

	if (state == GPUEMU_ENGINE_REVOKED)
		return true;
	/* The same, of an engine that lives. */
	return (s32)(smp_load_acquire(&e->inval_acked) - seq) >= 0;
}

static void set_acked_locked(struct gpuemu_engine *e, u32 seq)
{
	lockdep_assert_held(&e->dev->lock);
	if ((s32)(seq - e->inval_acked) <= 0)
		return;
	e->late = 0;
	e->late_for = 0;
	/* Pairs with acked(), which looks without the lock. */
	smp_store_release(&e->inval_acked, seq);
	wake_up_all(&e->wait);
}

void gpuemu_tlb_park_locked(struct gpuemu_engine *e)
{
	set_acked_locked(e, e->inval_put);
	e->parked = true;
}

void gpuemu_tlb_unpark_locked(struct gpuemu_engine *e)
{
	set_acked_locked(e, e->inval_put);
	e->parked = false;
	e->fresh = false;
}

/**
 * gpuemu_tlb_touch() - the engine is about to have the page table mapped, or a frame
 * @e: the engine
 *
 * It can have read no entry before. One that it reads now it may use at any time, and
 * its first use of a frame would be too late to ask: the page may have moved in between.
 */
void gpuemu_tlb_touch(struct gpuemu_engine *e)
{
	spin_lock(&e->dev->lock);
	if (e->fresh) {
		set_acked_locked(e, e->inval_put);
		e->fresh = false;
	}
	spin_unlock(&e->dev->lock);
}

static void post_locked(struct gpuemu_engine *e, u32 va_space, u64 start,
			u64 end, enum gpuemu_inval_reason reason)
{
	struct gpuemu_invalidate *entry;

	entry = &e->control->inval[e->inval_put % GPUEMU_INVAL_RING];
	entry->start = start;
	entry->end = end;
	entry->va_space = va_space;
	entry->reason = reason;
	e->inval_put++;
	/* An engine that sees put sees the entry, and the page table as it is cleared. */
	smp_store_release(&e->control->inval_put, e->inval_put);
}

static unsigned long ack_timeout(void)
{
	return msecs_to_jiffies(gpuemu_param(invalidate_timeout_ms));
}

/*
 * A host may stop a virtual machine for seconds. Its clock runs on meanwhile, and the
 * engine does not. Such a stop counts for one slice, and the engine has the others.
 */
static unsigned long ack_slice(void)
{
	return DIV_ROUND_UP(ack_timeout(), ACK_SLICES);
}

static int wait_acked(struct gpuemu_engine *e, u32 seq, bool killable)
{
	unsigned long slice = ack_slice();
	long left = 0;
	u32 i;

	for (i = 0; i < ACK_SLICES && !left; i++) {
		if (killable)
			left = wait_event_killable_timeout(e->wait, acked(e, seq),
							   slice);
		else
			left = wait_event_timeout(e->wait, acked(e, seq), slice);
	}
	if (left < 0)
		return -EINTR;
	if (!left)
		gpuemu_engine_kill(e, "it did not acknowledge an invalidate");
	return 0;
}

/*
 * Whether it may still use a translation that it was told to forget. A dying engine is
 * not parked: one waits until it is revoked.
 */
static bool owes_locked(const struct gpuemu_engine *e)
{
	return e->state != GPUEMU_ENGINE_LIVE || !(e->parked || e->fresh);
}

/**
 * gpuemu_tlb_invalidate() - makes the engine forget translations
 * @space: of the range
 * @start: first page's address
 * @end: one past the last byte
 * @reason: for the engine's statistics
 * @killable: give up when the caller is killed
 *
 * The page-table entries are cleared already. Returns 0: no engine uses a
 * translation of the range any more; or -EINTR, if killable. Sleeps at most
 * invalidate_timeout_ms and the time that a revocation takes.
 */
int gpuemu_tlb_invalidate(struct gpuemu_space *space, u64 start, u64 end,
			  enum gpuemu_inval_reason reason, bool killable)
{
	struct gpuemu_dev *dev = space->dev;
	u64 begin = ktime_get_ns(), ns;
	struct gpuemu_engine *e;
	bool posted = false;
	int ret = 0;
	u32 seq;

	if (killable)
		gpuemu_inject_pause(dev, GPUEMU_INJECT_PAUSE_INVALIDATE);
	spin_lock(&dev->lock);
	e = dev->engine;
	if (e) {
		post_locked(e, space->id, start, end, reason);
		posted = true;
		seq = e->inval_put;
		if (owes_locked(e))
			kref_get(&e->ref);
		else
			e = NULL;
	}
	spin_unlock(&dev->lock);
	if (posted)
		gpuemu_count(space, INVALIDATES, 1);
	if (e) {
		ret = wait_acked(e, seq, killable);
		gpuemu_engine_put(e);
	}
	ns = ktime_get_ns() - begin;
	if (e) {
		gpuemu_count(space, INVALIDATE_WAITS, 1);
		gpuemu_count(space, INVALIDATE_WAIT_NS, ns);
	}
	trace_gpuemu_tlb_invalidate(space->id, start, end, reason, ns, ret);
	return ret;
}

/*
 * Tells the engine that translations of the range have more rights now, and does
 * not wait: one that it still uses is right, and makes it fault at worst.
 */
void gpuemu_tlb_post(struct gpuemu_space *space, u64 start, u64 end,
		     enum gpuemu_inval_reason reason)
{
	struct gpuemu_dev *dev = space->dev;
	bool posted = false;

	spin_lock(&dev->lock);
	if (dev->engine) {
		post_locked(dev->engine, space->id, start, end, reason);
		posted = true;
	}
	spin_unlock(&dev->lock);
	if (posted)
		gpuemu_count(space, INVALIDATES, 1);
	trace_gpuemu_tlb_invalidate(space->id, start, end, reason, 0, 0);
}

/* The engine, referenced, and the last that it was told; NULL: it owes nothing. */
static struct gpuemu_engine *debtor(struct gpuemu_dev *dev, u32 *seq)
{
	struct gpuemu_engine *e;

	spin_lock(&dev->lock);
	e = dev->engine;
	if (e && owes_locked(e)) {
		*seq = e->inval_put;
		kref_get(&e->ref);
	} else {
		e = NULL;
	}
	spin_unlock(&dev->lock);
	return e;
}

/*
 * Waits until the engine has forgotten all that it was told to forget, by whomever. As
 * gpuemu_tlb_invalidate(), of what mm made the module post without a wait.
 */
void gpuemu_tlb_flush(struct gpuemu_dev *dev)
{
	struct gpuemu_engine *e;
	u32 seq;

	e = debtor(dev, &seq);
	if (!e)
		return;
	wait_acked(e, seq, false);
	gpuemu_engine_put(e);
}

/*
 * The same for so long, for a task that has locks of mm: the engine itself may be waiting for
 * them, in a fault on ordinary memory. False: it has not forgotten all.
 */
bool gpuemu_tlb_flush_for(struct gpuemu_dev *dev, unsigned int ms)
{
	struct gpuemu_engine *e;
	bool done;
	u32 seq;

	e = debtor(dev, &seq);
	if (!e)
		return true;
	done = wait_event_timeout(e->wait, acked(e, seq), msecs_to_jiffies(ms));
	gpuemu_engine_put(e);
	return done;
}

/*
 * After some of these waits, where nothing was acknowledged in between, the engine loses
 * the device, as after one long wait.
 */
void gpuemu_tlb_late(struct gpuemu_dev *dev)
{
	struct gpuemu_engine *e;
	bool lost = false;

	spin_lock(&dev->lock);
	e = dev->engine;
	if (e) {
		kref_get(&e->ref);
		if (e->late)
			e->late_for += min(jiffies - e->late, ack_slice());
		e->late = jiffies ?: 1;
		lost = e->late_for > ack_timeout();
	}
	spin_unlock(&dev->lock);
	if (lost)
		gpuemu_engine_kill(e, "it did not acknowledge an invalidate");
	if (e)
		gpuemu_engine_put(e);
}

/* For gpuemu_tlb_passed(), by a task that may not wait. */
struct gpuemu_tlb_mark gpuemu_tlb_mark(struct gpuemu_dev *dev)
{
	struct gpuemu_tlb_mark mark = { };

	spin_lock(&dev->lock);
	if (dev->engine) {
		mark.generation = dev->engine->generation;
		mark.seq = dev->engine->inval_put;
	}
	spin_unlock(&dev->lock);
	return mark;
}

/* Whether no engine uses what was to be forgotten when the mark was made. */
bool gpuemu_tlb_passed(struct gpuemu_dev *dev, struct gpuemu_tlb_mark mark)
{
	const struct gpuemu_engine *e;
	bool passed;

	spin_lock(&dev->lock);
	e = dev->engine;
	passed = !e || e->generation != mark.generation || !owes_locked(e) ||
		 acked(e, mark.seq);
	spin_unlock(&dev->lock);
	return passed;
}

int gpuemu_cmd_engine_ack(struct gpuemu_client *client,
			  struct gpuemu_engine_ack *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	int ret = 0;

	if (!e)
		return -EPERM;
	spin_lock(&e->dev->lock);
	if (gpuemu_engine_lost(e))
		ret = -ENODEV;
	else if ((s32)(e->inval_put - arg->seq) < 0)
		ret = -EINVAL;
	else
		set_acked_locked(e, arg->seq);
	spin_unlock(&e->dev->lock);
	return ret;
}
