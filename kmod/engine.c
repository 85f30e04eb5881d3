// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's attachment, its mappings, and its death. What it does while it
 * lives is uring.c's, job.c's and tlb.c's.
 *
 * Death has many witnesses and none is reliable alone: .flush sees a process
 * exit, or close its last descriptor; a dead task-work callback comes only
 * if something was completed; cancellation exists from Linux 6.7 and not for
 * a forked child's copy; .release waits for all commands; the monitor sees
 * threads that exit, a fraction of a second late; an invalidate that is not
 * acknowledged sees a stuck one. All end in gpuemu_engine_kill(), which runs
 * once.
 */
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "aperture.h"
#include "batch.h"
#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"
#include "inject.h"
#include "mirror.h"
#include "params.h"
#include "remote.h"
#include "tlb.h"
#include "uring.h"
#include "job.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

static unsigned long monitor_interval(void)
{
	return msecs_to_jiffies(gpuemu_param(monitor_ms));
}

/* Also right without the device's lock, for a look that may be outdated. */
bool gpuemu_engine_lost(const struct gpuemu_engine *e)
{
	return READ_ONCE(e->state) != GPUEMU_ENGINE_LIVE;
}

static void engine_free(struct kref *ref)
{
	struct gpuemu_engine *e = container_of(ref, struct gpuemu_engine, ref);
	int i;

	for (i = 0; i < GPUEMU_ROLES; i++)
		if (e->tasks[i])
			put_task_struct(e->tasks[i]);
	vfree(e->faults);
	vfree(e->control);
	kvfree(e);
}

void gpuemu_engine_put(struct gpuemu_engine *e)
{
	kref_put(&e->ref, engine_free);
}

/*
 * The file of the engine that is attached, referenced: what unmaps pages from the engine needs
 * its mapping. NULL: there is none, and the one before has nothing mapped any more.
 */
struct gpuemu_client *gpuemu_engine_file_get(struct gpuemu_dev *dev)
{
	struct gpuemu_client *client = NULL;

	spin_lock(&dev->lock);
	/* Its release waits until it is revoked, which makes this NULL. */
	if (dev->engine) {
		client = container_of(dev->engine->mapping, struct gpuemu_client, mapping);
		kref_get(&client->ref);
	}
	spin_unlock(&dev->lock);
	return client;
}

/* Tells the engine to look at control.cancelled and the queue of jobs. */
void gpuemu_engine_event_locked(struct gpuemu_engine *e)
{
	lockdep_assert_held(&e->dev->jobs_lock);
	/* An engine that sees the event sees what it is about. */
	smp_store_release(&e->control->events, e->control->events + 1);
}

/* Remembers the thread that issues commands, for the monitor. */
void gpuemu_engine_track(struct gpuemu_engine *e, enum gpuemu_role role)
{
	struct task_struct *old;

	/* Only this task can make it this task. */
	if (READ_ONCE(e->tasks[role]) == current)
		return;
	get_task_struct(current);
	spin_lock(&e->dev->lock);
	old = e->tasks[role];
	WRITE_ONCE(e->tasks[role], current);
	spin_unlock(&e->dev->lock);
	if (old)
		put_task_struct(old);
}

static bool task_gone(const struct task_struct *task)
{
	return task && ((READ_ONCE(task->flags) & PF_EXITING) ||
			compat_task_in_exec(task));
}

static void engine_monitor(struct work_struct *work)
{
	struct gpuemu_engine *e = container_of(to_delayed_work(work),
					       struct gpuemu_engine, monitor);
	bool lost, gone;

	spin_lock(&e->dev->lock);
	lost = gpuemu_engine_lost(e);
	gone = task_gone(e->tasks[GPUEMU_ROLE_ENGINE]) ||
	       task_gone(e->tasks[GPUEMU_ROLE_SERVICE]);
	spin_unlock(&e->dev->lock);
	if (lost)
		return;
	if (gone)
		gpuemu_engine_kill(e, "a thread of it died");
	else
		schedule_delayed_work(&e->monitor, monitor_interval());
}

/**
 * gpuemu_engine_kill() - the engine loses the device
 * @e: the engine; the caller holds a reference
 * @why: for the kernel log
 *
 * Idempotent, from any context that may sleep; holds no lock that an engine's
 * page fault or a client's wait needs. When it returns, the engine reaches no
 * frame, also if another task killed it. Memory stays where it is: the CPU's faults bring it
 * back, or the next engine goes on with it.
 */
void gpuemu_engine_kill(struct gpuemu_engine *e, const char *why)
{
	struct io_uring_cmd *pending[GPUEMU_PENDING_KINDS];
	struct gpuemu_dev *dev = e->dev;
	int i;

	spin_lock(&dev->jobs_lock);
	spin_lock(&dev->lock);
	if (gpuemu_engine_lost(e)) {
		spin_unlock(&dev->lock);
		spin_unlock(&dev->jobs_lock);
		/* Short: the other killer is between here and its wake-up. */
		wait_event(e->wait, smp_load_acquire(&e->state) ==
			   GPUEMU_ENGINE_REVOKED);
		return;
	}
	WRITE_ONCE(e->state, GPUEMU_ENGINE_DYING);
	e->control->lost = 1;
	gpuemu_engine_event_locked(e);
	for (i = 0; i < GPUEMU_PENDING_KINDS; i++)
		pending[i] = gpuemu_batch_take_locked(e, i);
	gpuemu_vram_publish(&dev->vram, NULL);
	spin_unlock(&dev->lock);
	spin_unlock(&dev->jobs_lock);

	gpuemu_job_engine_lost(e);
	pr_info_ratelimited("engine %u lost: %s\n", e->generation, why);
	gpuemu_count_dev(dev, ENGINE_LOSSES, 1);
	gpuemu_inject_pause(dev, GPUEMU_INJECT_PAUSE_REVOKE);
	/* A fault that saw the engine live has populated its mapping by then. */
	mutex_lock(&e->map_lock);
	mutex_unlock(&e->map_lock);
	/* The same of the apertures. */
	gpuemu_aperture_settle(&dev->remote.aperture);
	gpuemu_mirror_settle(dev);
	gpuemu_aperture_zap(e->mapping, 0, 0);

	spin_lock(&dev->jobs_lock);
	spin_lock(&dev->lock);
	/* Pairs with acked(): then nobody sees a frame any more. */
	smp_store_release(&e->state, GPUEMU_ENGINE_REVOKED);
	dev->engine = NULL;
	/* Under the lock: the waiters may drop the last reference. */
	wake_up_all(&e->wait);
	spin_unlock(&dev->lock);
	spin_unlock(&dev->jobs_lock);

	for (i = 0; i < GPUEMU_PENDING_KINDS; i++)
		if (pending[i])
			gpuemu_uring_fail(pending[i]);
	gpuemu_event_engine(dev, GPUEMU_EVENT_TYPE_ENGINE_LOST, e->generation,
			    why);
}

/* The file is gone, and with it all commands and mappings. */
void gpuemu_engine_release(struct gpuemu_engine *e)
{
	gpuemu_engine_kill(e, "it closed the device");
	cancel_delayed_work_sync(&e->monitor);
	gpuemu_engine_put(e);
}

static struct gpuemu_engine *engine_alloc(struct gpuemu_client *client)
{
	/* Too little memory is the caller's to hear of, not the log's. */
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct gpuemu_dev *dev = client->dev;
	struct gpuemu_engine *e = kvzalloc(sizeof(*e), gfp);

	if (!e)
		return NULL;
	BUILD_BUG_ON(offsetof(struct gpuemu_fault_buffer, entries) !=
		     PAGE_SIZE);
	kref_init(&e->ref);
	e->dev = dev;
	e->mapping = &client->mapping;
	e->owner = current->files;
	e->fresh = true;
	mutex_init(&e->map_lock);
	INIT_DELAYED_WORK(&e->monitor, engine_monitor);
	init_waitqueue_head(&e->wait);
	INIT_LIST_HEAD(&e->taken);
	INIT_LIST_HEAD(&e->cancelled);
	hash_init(e->taken_by_id);
	e->control_bytes = PAGE_ALIGN(sizeof(*e->control));
	e->control = __vmalloc(e->control_bytes, gfp);
	e->faults_bytes = PAGE_ALIGN(struct_size(e->faults, entries,
						 dev->fault_entries));
	e->faults = __vmalloc(e->faults_bytes, gfp);
	if (!e->control || !e->faults) {
		gpuemu_engine_put(e);
		return NULL;
	}
	return e;
}

/* Makes the file the engine, if it is unused and there is no other. */
static int engine_install(struct gpuemu_client *client,
			  struct gpuemu_engine *e)
{
	struct gpuemu_dev *dev = client->dev;
	int ret = -EBUSY;

	mutex_lock(&client->lock);
	spin_lock(&dev->jobs_lock);
	spin_lock(&dev->lock);
	if (!dev->engine && !client->engine && !client->mm &&
	    !client->nimages && !client->njobs) {
		if (!++dev->generation)
			dev->generation = 1;
		e->generation = dev->generation;
		dev->engine = e;
		/* Pairs with gpuemu_client_engine(). */
		smp_store_release(&client->engine, e);
		gpuemu_vram_publish(&dev->vram, &e->control->vram_free);
		ret = 0;
	}
	spin_unlock(&dev->lock);
	spin_unlock(&dev->jobs_lock);
	mutex_unlock(&client->lock);
	return ret;
}

int gpuemu_cmd_engine_attach(struct gpuemu_client *client,
			     struct gpuemu_engine_attach *arg)
{
	struct gpuemu_dev *dev = client->dev;
	struct gpuemu_engine *e;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (arg->abi != GPUEMU_ABI_VERSION || arg->flags)
		return -EOPNOTSUPP;
	if (arg->mirror_slots)
		return -EINVAL;
	e = engine_alloc(client);
	if (!e)
		return -ENOMEM;
	ret = engine_install(client, e);
	if (ret) {
		gpuemu_engine_put(e);
		return ret;
	}
	schedule_delayed_work(&e->monitor, monitor_interval());
	gpuemu_count_dev(dev, ENGINE_ATTACHES, 1);
	gpuemu_event_engine(dev, GPUEMU_EVENT_TYPE_ENGINE_ATTACHED,
			    e->generation, NULL);

	arg->generation = e->generation;
	arg->vram_frames = dev->vram.frames;
	arg->pt_tables = dev->pt.tables;
	arg->fault_entries = dev->fault_entries;
	arg->control_bytes = e->control_bytes;
	arg->remote_slots = dev->remote.slots;
	arg->mirror_slots = gpuemu_mirror_slots_count(dev);
	return 0;
}

/* What an engine can map. */
struct region {
	void *base;
	size_t bytes;
	unsigned long first_page;
	bool writable;
	bool translates;	/* here an engine finds a page, or uses what it found */
	const struct vm_operations_struct *ops;	/* NULL: it is the engine's memory */
};

static int find_region(struct gpuemu_engine *e, unsigned long pgoff,
		       struct region *found)
{
	const struct gpuemu_dev *dev = e->dev;
	const struct region regions[] = {
		{ dev->vram.base, (size_t)dev->vram.frames << PAGE_SHIFT,
		  GPUEMU_MMAP_VRAM >> PAGE_SHIFT, true, true },
		{ dev->pt.base, (size_t)dev->pt.tables << PAGE_SHIFT,
		  GPUEMU_MMAP_PAGE_TABLE >> PAGE_SHIFT, false, true },
		{ e->faults, e->faults_bytes,
		  GPUEMU_MMAP_FAULTS >> PAGE_SHIFT, true },
		{ e->control, e->control_bytes,
		  GPUEMU_MMAP_CONTROL >> PAGE_SHIFT, false },
		/* Each slot has a page of its own, or none. */
		{ NULL, (size_t)dev->remote.slots << PAGE_SHIFT,
		  GPUEMU_MMAP_REMOTE >> PAGE_SHIFT, true, false,
		  &gpuemu_remote_vm_ops },
		{ NULL, (size_t)gpuemu_mirror_slots_count(dev) << PAGE_SHIFT,
		  GPUEMU_MMAP_MIRROR >> PAGE_SHIFT, true, false,
		  gpuemu_mirror_ops() },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(regions); i++) {
		if (pgoff < regions[i].first_page ||
		    pgoff - regions[i].first_page >=
		    regions[i].bytes >> PAGE_SHIFT)
			continue;
		*found = regions[i];
		return 0;
	}
	return -EINVAL;
}

/*
 * Populates the 2 MiB around the first touch. Not in mmap(): there the VMA is
 * not yet where unmap_mapping_range() finds it, and a kill in between would
 * leave a lost engine with access. After a kill, every touch is SIGBUS.
 *
 * Entries are of page frames, not of pages: nobody can take a reference through them
 * (vmsplice(), O_DIRECT, fixed buffers), which would be access to a frame long after
 * it was revoked and became another client's.
 */
static vm_fault_t engine_vm_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gpuemu_engine *e = vma->vm_private_data;
	vm_fault_t ret = VM_FAULT_NOPAGE;
	unsigned long addr, end;
	struct region region;
	void *from;

	if (find_region(e, vma->vm_pgoff, &region))
		return VM_FAULT_SIGBUS;
	addr = max(vmf->address & PMD_MASK, vma->vm_start);
	end = min((vmf->address & PMD_MASK) + PMD_SIZE, vma->vm_end);
	from = region.base + ((vma->vm_pgoff - region.first_page) << PAGE_SHIFT) +
	       (addr - vma->vm_start);
	mutex_lock(&e->map_lock);
	if (gpuemu_engine_lost(e)) {
		ret = VM_FAULT_SIGBUS;
		goto out;
	}
	if (region.translates)
		gpuemu_tlb_touch(e);
	for (; addr < end && ret == VM_FAULT_NOPAGE; addr += PAGE_SIZE) {
		ret = vmf_insert_pfn(vma, addr, vmalloc_to_pfn(from));
		from += PAGE_SIZE;
	}
out:
	mutex_unlock(&e->map_lock);
	return ret;
}

static int engine_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct engine_vm_ops = {
	.fault = engine_vm_fault,
	.mremap = engine_vm_mremap,
};

int gpuemu_engine_mmap(struct gpuemu_engine *e, struct vm_area_struct *vma)
{
	struct region region;

	if (gpuemu_engine_lost(e))
		return -ENODEV;
	if (find_region(e, vma->vm_pgoff, &region) ||
	    vma->vm_pgoff != region.first_page ||
	    vma->vm_end - vma->vm_start != region.bytes)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || (vma->vm_flags & VM_EXEC))
		return -EINVAL;
	if (!region.writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		/* Nor may mprotect() make it so. */
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	/* The client may pin the page in a slot of the remote aperture. */
	vm_flags_set(vma, (region.ops == &gpuemu_remote_vm_ops ? VM_MIXEDMAP :
								 VM_PFNMAP) |
			  VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP);
	vma->vm_ops = region.ops ? region.ops : &engine_vm_ops;
	vma->vm_private_data = e;
	return 0;
}
