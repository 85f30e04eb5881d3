// SPDX-License-Identifier: GPL-2.0
/*
 * Detecting thrashing, and what follows from it. Called where pages change sides on
 * demand: the CPU's faults and the H2D migrations of far faults. Evictions and
 * prefetches say nothing of what the other side wants, and are not seen here.
 *
 * A page thrashes when it changed sides thrash_threshold times, each time within
 * thrash_lapse_us of the last. From then on a side that got it keeps it for
 * thrash_nap_us: far faults say GPUEMU_FAULT_THROTTLE and are served after a later
 * replay, the CPU's faults sleep. Both ends by themselves, so each side gets its
 * turn. After thrash_pin_threshold changes far faults say GPUEMU_FAULT_PIN, for
 * thrash_pin_ms; then all begins anew.
 *
 * A block has 8 bytes for each of its pages once both sides wanted pages of it within a
 * lapse. They go with the block. Times are in units of 2^14 ns. A time older than 19 hours may
 * look young, and then a page is detected early.
 */
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "client.h"
#include "dev.h"
#include "migrate_steps.h"
#include "params.h"
#include "remote_map.h"
#include "thrash.h"
#include "trace.h"
#include "va_block.h"

#define UNIT_SHIFT 14

/* Between two looks for pins that are over, in ms. */
#define UNPIN_MIN_MS 10
#define UNPIN_MAX_MS 1000

enum { SIDE_NONE, SIDE_CPU, SIDE_DEVICE };

#define THRASH_DETECTED	1
#define THRASH_PINNED	2

static u32 time_now(void)
{
	return ktime_get_ns() >> UNIT_SHIFT;
}

static u32 time_of_us(u32 us)
{
	return ((u64)us * NSEC_PER_USEC) >> UNIT_SHIFT;
}

/* A nap keeps sides apart for longer than they would be; it must not hide them. */
static u32 lapse(void)
{
	return time_of_us(gpuemu_param(thrash_lapse_us)) +
	       time_of_us(gpuemu_param(thrash_nap_us));
}

/* --- the state of pages --- */

/*
 * The block's state; made when the two sides want pages of it within a lapse, which
 * most blocks never see. NULL: there is none, nor need be.
 */
static struct gpuemu_thrash_page *state_of(struct gpuemu_block *block, u8 side,
					   u32 now)
{
	struct gpuemu_thrash_page *state = block->thrash;
	struct mem_cgroup *old;

	lockdep_assert_held(&block->lock);
	if (!state && block->thrash_side && block->thrash_side != side &&
	    now - block->thrash_when <= lapse()) {
		old = set_active_memcg(block->space->memcg);
		state = kcalloc(GPUEMU_BLOCK_PAGES, sizeof(*state),
				GPUEMU_ENGINE_GFP);
		set_active_memcg(old);
		/* A task that looks without the lock sees zeroes, not what was there. */
		smp_store_release(&block->thrash, state);
	}
	block->thrash_side = side;
	block->thrash_when = now;
	return state;
}

static void pin(struct gpuemu_block *block, struct gpuemu_thrash_page *p,
		u32 i, u32 now)
{
	struct gpuemu_thrash *thrash = &block->space->dev->thrash;

	WRITE_ONCE(p->state, p->state | THRASH_PINNED);
	p->when = now;
	gpuemu_count(block->space, THRASHING_PINS, 1);
	trace_gpuemu_thrash(block->space->id, gpuemu_block_addr(block, i),
			    GPUEMU_THRASH_PIN, p->events);
	spin_lock(&thrash->lock);
	if (list_empty(&block->pinned)) {
		list_add_tail(&block->pinned, &thrash->pinned);
		if (!thrash->npinned++)
			schedule_delayed_work(&thrash->unpin,
					      msecs_to_jiffies(UNPIN_MIN_MS));
	}
	spin_unlock(&thrash->lock);
}

/* The page went to this side, which wanted it. within: the lapse. */
static void changed_sides(struct gpuemu_block *block, u32 i, u8 side, u32 now,
			  u32 within)
{
	struct gpuemu_thrash_page *p = &block->thrash[i];
	u32 most = gpuemu_param(thrash_pin_threshold);

	if (p->state & THRASH_PINNED)
		return;
	if (p->side && p->side != side && now - p->when <= within) {
		if (p->events < U8_MAX)
			p->events++;
	} else if (p->side != side) {
		p->events = 0;
		WRITE_ONCE(p->state, 0);
	}
	WRITE_ONCE(p->when, now);
	WRITE_ONCE(p->side, side);
	if (p->events < gpuemu_param(thrash_threshold))
		return;
	if (!(p->state & THRASH_DETECTED)) {
		WRITE_ONCE(p->state, THRASH_DETECTED);
		gpuemu_count(block->space, THRASHING_DETECTED, 1);
		trace_gpuemu_thrash(block->space->id, gpuemu_block_addr(block, i),
				    GPUEMU_THRASH_DETECTED, p->events);
	}
	if (most && p->events >= most)
		pin(block, p, i, now);
}

/* Pages of the mask went to the device, because of a far fault. */
void gpuemu_thrash_device(struct gpuemu_block *block, const unsigned long *mask)
{
	u32 now, within, i, end;

	if (!gpuemu_param(thrash_enable))
		return;
	now = time_now();
	if (!state_of(block, SIDE_DEVICE, now))
		return;
	within = lapse();
	for_each_set_bitrange(i, end, mask, GPUEMU_BLOCK_PAGES)
		for (; i < end; i++)
			changed_sides(block, i, SIDE_DEVICE, now, within);
}

/* The page came home, because the CPU touched it. */
void gpuemu_thrash_cpu(struct gpuemu_block *block, u32 i)
{
	u32 now;

	if (!gpuemu_param(thrash_enable))
		return;
	now = time_now();
	if (state_of(block, SIDE_CPU, now))
		changed_sides(block, i, SIDE_CPU, now, lapse());
}

/* The page's mapping is closed: another's page may be here next. */
void gpuemu_thrash_forget(struct gpuemu_block *block, u32 i)
{
	lockdep_assert_held(&block->lock);
	if (block->thrash)
		memset(&block->thrash[i], 0, sizeof(block->thrash[i]));
}

static void leave_list(struct gpuemu_block *block)
{
	struct gpuemu_thrash *thrash = &block->space->dev->thrash;

	spin_lock(&thrash->lock);
	if (!list_empty(&block->pinned)) {
		list_del_init(&block->pinned);
		thrash->npinned--;
	}
	spin_unlock(&thrash->lock);
}

/* The block is taken out of its space. */
void gpuemu_thrash_dead(struct gpuemu_block *block)
{
	lockdep_assert_held(&block->lock);
	leave_list(block);
}

/* --- what follows --- */

/* Whether the side that has the page may keep it yet, and for how long, in ns. */
static u64 nap_left(const struct gpuemu_thrash_page *p, u8 side)
{
	u32 nap = time_of_us(gpuemu_param(thrash_nap_us)), had;

	if (READ_ONCE(p->state) != THRASH_DETECTED || READ_ONCE(p->side) != side)
		return 0;
	had = time_now() - READ_ONCE(p->when);
	return had < nap ? (u64)(nap - had) << UNIT_SHIFT : 0;
}

/* What a far fault on the page, which is not there, gets to know. No lock is held. */
u8 gpuemu_thrash_flags(const struct gpuemu_block *block, u32 i)
{
	/* Pairs with state_of(). */
	const struct gpuemu_thrash_page *state = smp_load_acquire(&block->thrash);

	if (!state || !gpuemu_param(thrash_enable))
		return 0;
	if (READ_ONCE(state[i].state) & THRASH_PINNED)
		return GPUEMU_FAULT_PIN;
	return nap_left(&state[i], SIDE_CPU) ? GPUEMU_FAULT_THROTTLE : 0;
}

/**
 * gpuemu_thrash_nap() - how long a CPU's fault has to wait, in ns
 * @block: locked
 * @vmf: of a page of it
 *
 * 0: not at all; also when it waited before, or its caller does not want it to let
 * go of mmap_lock (get_user_pages() of some). A caller that gets something
 * else calls gpuemu_thrash_sleep(), without the block, and returns VM_FAULT_RETRY.
 */
u64 gpuemu_thrash_nap(struct gpuemu_block *block, const struct vm_fault *vmf)
{
	u32 i = (vmf->address >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	u64 ns;

	lockdep_assert_held(&block->lock);
	if (!block->thrash || !test_bit(i, block->resident) ||
	    !gpuemu_param(thrash_enable))
		return 0;
	if (!fault_flag_allow_retry_first(vmf->flags) ||
	    (vmf->flags & FAULT_FLAG_RETRY_NOWAIT) ||
	    compat_fault_of_vma_lock(vmf))
		return 0;
	ns = nap_left(&block->thrash[i], SIDE_DEVICE);
	if (ns) {
		gpuemu_count(block->space, THROTTLES_CPU, 1);
		trace_gpuemu_thrash(block->space->id, gpuemu_block_addr(block, i),
				    GPUEMU_THRASH_THROTTLE, block->thrash[i].events);
	}
	return ns;
}

/*
 * Lets go of mmap_lock, so that nobody waits for this one. The mapping may be gone
 * then, and its file with it; but not the module, as long as the file is held.
 */
void gpuemu_thrash_sleep(const struct vm_fault *vmf, u64 ns)
{
	struct file *file = get_file(vmf->vma->vm_file);
	ktime_t time = ns_to_ktime(ns);

	mmap_read_unlock(vmf->vma->vm_mm);
	set_current_state(TASK_KILLABLE);
	schedule_hrtimeout_range(&time, 0, HRTIMER_MODE_REL);
	fput(file);
}

/* --- the end of pins --- */

static bool pin_over(const struct gpuemu_thrash_page *p, u32 now)
{
	u32 ms = gpuemu_param(thrash_pin_ms);

	if (!(p->state & THRASH_PINNED))
		return false;
	if (!gpuemu_param(thrash_enable))
		return true;
	return ms && now - p->when >= time_of_us(1000) * (u64)ms;
}

/*
 * The page is as one that was never seen, whatever moved it meanwhile.
 */
static void unpin_page(struct gpuemu_block *block, u32 i)
{
	gpuemu_count(block->space, THRASHING_UNPINS, 1);
	trace_gpuemu_thrash(block->space->id, gpuemu_block_addr(block, i),
			    GPUEMU_THRASH_UNPIN, block->thrash[i].events);
	gpuemu_thrash_forget(block, i);
}

/*
 * Returns whether pages of the block are still pinned. Those that are no longer may
 * migrate at their next far fault, so they are not left mapped remotely.
 */
static bool unpin_pages(struct gpuemu_block *block)
{
	struct gpuemu_thrash_page *p = block->thrash;
	page_mask over = { }, unmapped;
	u32 now = time_now(), i;
	bool left = false;

	lockdep_assert_held(&block->lock);
	for (i = 0; i < GPUEMU_BLOCK_PAGES; i++, p++) {
		if (pin_over(p, now)) {
			unpin_page(block, i);
			__set_bit(i, over);
		} else {
			left |= p->state & THRASH_PINNED;
		}
	}
	/* Nobody kills a worker, so this waits for the engine and cannot fail. */
	if (!gpuemu_remote_suspend(block, over, unmapped, GPUEMU_INVAL_REMAP))
		gpuemu_remote_release(block, unmapped);
	return left;
}

/*
 * The next block, referenced, and its client with it, as of lru.c: a block that is
 * not dead has a mapping, which holds the client's file.
 */
static struct gpuemu_block *next_pinned(struct gpuemu_thrash *thrash,
					struct gpuemu_client **client)
{
	struct gpuemu_block *block;

	spin_lock(&thrash->lock);
	block = list_first_entry_or_null(&thrash->pinned, struct gpuemu_block,
					 pinned);
	if (block) {
		list_move_tail(&block->pinned, &thrash->pinned);
		kref_get(&block->ref);
		*client = container_of(block->space, struct gpuemu_client,
				       space);
		kref_get(&(*client)->ref);
	}
	spin_unlock(&thrash->lock);
	return block;
}

static void unpin_work(struct work_struct *work)
{
	struct gpuemu_thrash *thrash = container_of(to_delayed_work(work),
						    struct gpuemu_thrash,
						    unpin);
	u32 ms = gpuemu_param(thrash_pin_ms), n = READ_ONCE(thrash->npinned);
	struct gpuemu_client *client;
	struct gpuemu_block *block;

	for (; n; n--) {
		block = next_pinned(thrash, &client);
		if (!block)
			break;
		mutex_lock(&block->lock);
		if (!block->dead && !unpin_pages(block))
			leave_list(block);
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		gpuemu_client_put(client);
		cond_resched();
	}
	/* Not later than an eighth of the time. */
	ms = ms ? clamp(ms / 8, UNPIN_MIN_MS, UNPIN_MAX_MS) : UNPIN_MAX_MS;
	spin_lock(&thrash->lock);
	if (thrash->npinned)
		schedule_delayed_work(&thrash->unpin, msecs_to_jiffies(ms));
	spin_unlock(&thrash->lock);
}

void gpuemu_thrash_init(struct gpuemu_thrash *thrash)
{
	spin_lock_init(&thrash->lock);
	INIT_LIST_HEAD(&thrash->pinned);
	thrash->npinned = 0;
	INIT_DELAYED_WORK(&thrash->unpin, unpin_work);
}

void gpuemu_thrash_exit(struct gpuemu_thrash *thrash)
{
	WARN_ON_ONCE(thrash->npinned);
	cancel_delayed_work_sync(&thrash->unpin);
}
