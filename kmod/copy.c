// SPDX-License-Identifier: GPL-2.0
/*
 * Copies, and the threads (copy engines) that do the large ones while their committer goes
 * on. A copy is done in pieces of a few pages. A task that would wait for a copy engine does
 * the pieces itself that the engine has not begun. It does not if the link is paced: there
 * each thread stands for a way of the link.
 *
 * The task that starts a copy ends it, with its block locked all the time. A copy engine takes
 * no lock but the queues'. A copy that was begun is never given up. So it ends after the time
 * that copying 2 MiB takes, and the paced link; a task that is being killed does not wait for
 * the link.
 */
#include <linux/highmem.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/string.h>

#include "copy.h"
#include "dev.h"
#include "va_block.h"
#include "va_space.h"

/* What is begun at a time: for the last one somebody waits. */
#define PIECE_PAGES 16

/* For a copy, or its end, one spins, for a few times what it takes: waking up takes longer. */
#define SPIN_NS (100 * NSEC_PER_USEC)

/* How many pages of the copy from i on, before end, are contiguous on both sides. */
static u32 run_length(const struct gpuemu_copy *copy, u32 i, u32 end)
{
	const struct gpuemu_block *block = copy->block;
	struct page *page = block->pages[i];
	u32 frame = block->frames[i], n;

	/* There, a page is mapped alone. */
	if (IS_ENABLED(CONFIG_HIGHMEM) || test_bit(i, copy->fresh))
		return 1;
	for (n = 1; i + n < end; n++)
		if (!test_bit(i + n, copy->mask) || test_bit(i + n, copy->fresh) ||
		    page_to_pfn(block->pages[i + n]) != page_to_pfn(page) + n ||
		    block->frames[i + n] != frame + n)
			break;
	return n;
}

/*
 * What is large goes past the CPU's caches, as a device's own copies do: there is more of
 * it than they hold, and it is soon not the CPU's any more. Of a few pages each is at once
 * used by the task that waits for it.
 */
static void copy_run(void *to, void *from, u32 n, bool large)
{
	if (large) {
		memcpy_flushcache(to, from, n * PAGE_SIZE);
		return;
	}
	for (; n; n--) {
		copy_page(to, from);
		to += PAGE_SIZE;
		from += PAGE_SIZE;
	}
}

/* The mask's pages first .. end - 1, in runs. Returns how many were copied. */
static u32 copy_pages(const struct gpuemu_copy *copy, u32 first, u32 end)
{
	struct gpuemu_block *block = copy->block;
	struct gpuemu_vram *vram = &block->space->dev->vram;
	void *device, *system;
	u32 copied = 0, n, i;

	for (i = find_next_bit(copy->mask, end, first); i < end;
	     i = find_next_bit(copy->mask, end, i + n)) {
		n = run_length(copy, i, end);
		device = gpuemu_vram_addr(vram, block->frames[i]);
		if (test_bit(i, copy->fresh)) {
			clear_page(device);
			continue;
		}
		system = kmap_local_page(block->pages[i]);
		if (copy->way == GPUEMU_LINK_H2D)
			copy_run(device, system, n, copy->large);
		else
			copy_run(system, device, n, copy->large);
		kunmap_local(system);
		copied += n;
	}
	if (!copy->large)
		return copied;
	/* Such stores may be seen late; a task that hears of the end sees them. */
	wmb();
	return copied;
}

/* Copies the pieces that no other thread has begun. */
static void copy_rest(struct gpuemu_copy *copy)
{
	u32 first, copied = 0;

	for (;;) {
		first = (atomic_inc_return(&copy->next) - 1) * PIECE_PAGES;
		if (first >= GPUEMU_BLOCK_PAGES)
			break;
		copied += copy_pages(copy, first, first + PIECE_PAGES);
	}
	atomic_add(copied, &copy->copied);
}

/* alone: nobody helps, so it needs no pieces. */
static void copy_now(struct gpuemu_copy *copy, bool alone)
{
	if (alone)
		atomic_set(&copy->copied,
			   copy_pages(copy, 0, GPUEMU_BLOCK_PAGES));
	else
		copy_rest(copy);
}

static void copy_paced(struct gpuemu_copy *copy, bool alone)
{
	u64 begin;

	if (!gpuemu_link_paced()) {
		copy_now(copy, alone);
		return;
	}
	begin = ktime_get_ns();

	copy_now(copy, alone);
	gpuemu_link_pace(copy->block->space, copy->way, begin,
			 (u64)atomic_read(&copy->copied) << PAGE_SHIFT,
			 &copy->hurry);
}

/* For as long as nobody else wants this CPU. */
static void spin_for(struct gpuemu_copy *copy)
{
	u64 until = ktime_get_ns() + SPIN_NS;

	while (!completion_done(&copy->done) && !need_resched() &&
	       ktime_get_ns() < until)
		cpu_relax();
}

/* The oldest copy that goes the engine's way. */
static struct gpuemu_copy *take(struct gpuemu_copy_engine *engine)
{
	struct gpuemu_copies *copies = engine->copies;
	struct gpuemu_copy *copy = NULL;
	int way;

	spin_lock(&copies->lock);
	for (way = 0; way < GPUEMU_LINK_WAYS && !copy; way++)
		if (engine->ways & BIT(way))
			copy = list_first_entry_or_null(&copies->queue[way],
							struct gpuemu_copy,
							queued);
	if (copy) {
		list_del_init(&copy->queued);
		copy->by = engine->task;
	}
	engine->busy = copy;
	spin_unlock(&copies->lock);
	return copy;
}

static bool has_work(const struct gpuemu_copy_engine *engine)
{
	int way;

	for (way = 0; way < GPUEMU_LINK_WAYS; way++)
		if (engine->ways & BIT(way) &&
		    !list_empty(&engine->copies->queue[way]))
			return true;
	return false;
}

/* Where there was a copy the next one may be near. The engine is still busy: nobody wakes it. */
static void linger(const struct gpuemu_copy_engine *engine)
{
	u64 until = ktime_get_ns() + SPIN_NS;

	while (!has_work(engine) && single_task_running() && !need_resched() &&
	       !kthread_should_stop() && ktime_get_ns() < until)
		cpu_relax();
}

static int copy_engine(void *arg)
{
	struct gpuemu_copy_engine *engine = arg;
	struct gpuemu_copy *copy;

	for (;;) {
		/* Before the look: a task that queues a copy after it wakes us. */
		set_current_state(TASK_IDLE);
		copy = take(engine);
		if (!copy) {
			if (kthread_should_stop())
				break;
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		copy_paced(copy, false);
		complete(&copy->done);
		cond_resched();
		linger(engine);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* One engine goes both ways; of several, each goes one. */
int gpuemu_copies_start(struct gpuemu_copies *copies, unsigned int count)
{
	struct gpuemu_copy_engine *engine;
	struct task_struct *task;
	int way;

	spin_lock_init(&copies->lock);
	for (way = 0; way < GPUEMU_LINK_WAYS; way++)
		INIT_LIST_HEAD(&copies->queue[way]);
	for (copies->count = 0; copies->count < count; copies->count++) {
		engine = &copies->engine[copies->count];
		engine->copies = copies;
		engine->ways = count == 1 ? GENMASK(GPUEMU_LINK_WAYS - 1, 0) :
			       BIT(copies->count % GPUEMU_LINK_WAYS);
		task = kthread_create(copy_engine, engine, "gpuemu-copy/%u",
				      copies->count);
		if (IS_ERR(task)) {
			gpuemu_copies_stop(copies);
			return PTR_ERR(task);
		}
		engine->task = task;
		wake_up_process(task);
	}
	return 0;
}

/* Nobody copies any more. */
void gpuemu_copies_stop(struct gpuemu_copies *copies)
{
	while (copies->count)
		kthread_stop(copies->engine[--copies->count].task);
}

static void enqueue(struct gpuemu_copies *copies, struct gpuemu_copy *copy)
{
	struct task_struct *task = NULL;
	unsigned int i;

	spin_lock(&copies->lock);
	list_add_tail(&copy->queued, &copies->queue[copy->way]);
	for (i = 0; i < copies->count && !task; i++) {
		if (copies->engine[i].busy ||
		    !(copies->engine[i].ways & BIT(copy->way)))
			continue;
		copies->engine[i].busy = true;
		task = copies->engine[i].task;
	}
	spin_unlock(&copies->lock);
	if (task)
		wake_up_process(task);
}

/**
 * gpuemu_copy_begin() - copies, or has it done
 * @copy: its block, mask, pages and way are set, and many; the block is locked
 *
 * A small one that is not one of many is done on return, and any where there is no
 * engine; then @copy->pending is false. The others are the engines' until gpuemu_copy_end().
 */
void gpuemu_copy_begin(struct gpuemu_copy *copy)
{
	struct gpuemu_copies *copies = &copy->block->space->dev->copies;
	const u32 pages = copy->pages;

	lockdep_assert_held(&copy->block->lock);
	atomic_set(&copy->next, 0);
	atomic_set(&copy->copied, 0);
	copy->hurry = false;
	copy->by = NULL;
	copy->large = pages >= GPUEMU_COPY_PAGES_MIN;
	copy->pending = copies->count &&
			(copy->large ||
			 (copy->many && pages >= GPUEMU_COPY_PAGES_FEW));
	if (!copy->pending) {
		copy_paced(copy, true);
		return;
	}
	init_completion(&copy->done);
	enqueue(copies, copy);
}

/**
 * gpuemu_copy_end() - waits until it is copied, or helps
 * @copy: was begun; the block is still locked
 *
 * Returns the bytes that were carried. Cannot fail; a task that is being killed waits for no
 * link.
 */
u64 gpuemu_copy_end(struct gpuemu_copy *copy)
{
	struct gpuemu_copies *copies = &copy->block->space->dev->copies;
	bool mine = false;

	lockdep_assert_held(&copy->block->lock);
	if (!copy->pending)
		goto out;
	copy->pending = false;
	if (gpuemu_link_paced() &&
	    !wait_for_completion_killable(&copy->done))
		goto count;
	spin_lock(&copies->lock);
	if (copy->by) {
		WRITE_ONCE(copy->hurry, true);
		/* It may sleep for the link. */
		if (gpuemu_link_paced())
			wake_up_process(copy->by);
	} else {
		list_del_init(&copy->queued);
		mine = true;
	}
	spin_unlock(&copies->lock);
	copy_rest(copy);
	if (mine)
		goto out;
	if (!gpuemu_link_paced())
		spin_for(copy);
	wait_for_completion(&copy->done);
count:
	gpuemu_count(copy->block->space, ENGINE_COPIES, 1);
out:
	return (u64)atomic_read(&copy->copied) << PAGE_SHIFT;
}
