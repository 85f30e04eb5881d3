// SPDX-License-Identifier: GPL-2.0
/*
 * The mirror's aperture: slots through which the engine reaches ordinary pages of
 * clients' processes. A page is mapped without a reference, as a page of the process'
 * own page table is: mm tells the mirror (mirror.c) before the page goes, and the mirror
 * takes the engine's mapping away. A slot stays bound to its address of the process, so an
 * access of an engine that has not heard yet finds what is at that address now.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/hmm.h>

#include "client.h"
#include "dev.h"
#include "engine.h"
#include "limit.h"
#include "mirror.h"
#include "objects.h"
#include "params.h"
#include "user.h"
#include "va_space.h"

/*
 * How long an access of the engine waits for a page that left between its look-up and
 * now: a quarter of what an engine has for an acknowledgement, which this thread may owe.
 */
static u64 late_ns(void)
{
	return (u64)gpuemu_param(invalidate_timeout_ms) * (NSEC_PER_MSEC / 4);
}

int gpuemu_mirror_slots_init(struct gpuemu_mirror_slots *slots, u32 n)
{
	u32 i;

	mutex_init(&slots->lock);
	slots->slot = kvcalloc(n, sizeof(*slots->slot), GFP_KERNEL);
	slots->free = kvmalloc_array(n, sizeof(*slots->free), GFP_KERNEL);
	/* A client's worker may wait for good; each client has one, and they wait for no other. */
	slots->workers = alloc_workqueue("gpuemu_mirror", WQ_UNBOUND, GPUEMU_SPACES_MAX);
	if (!slots->slot || !slots->free || !slots->workers) {
		gpuemu_mirror_slots_destroy(slots);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		slots->free[i] = n - 1 - i;
	slots->slots = n;
	slots->nfree = n;
	return 0;
}

/* Waits for workers that a client's memory keeps; all clients are gone. */
void gpuemu_mirror_flush(struct gpuemu_mirror_slots *slots)
{
	drain_workqueue(slots->workers);
}

void gpuemu_mirror_slots_destroy(struct gpuemu_mirror_slots *slots)
{
	if (slots->workers)
		destroy_workqueue(slots->workers);
	kvfree(slots->free);
	kvfree(slots->slot);
	slots->workers = NULL;
	slots->free = NULL;
	slots->slot = NULL;
}

u32 gpuemu_mirror_slots_count(const struct gpuemu_dev *dev)
{
	return dev->mirror.slots;
}

/*
 * To take away mappings of the engine, one slot's or all. What mm tells the zapper of
 * meanwhile is the aperture itself: the engine's process may be a client, too.
 */
void gpuemu_mirror_zap_begin(struct gpuemu_dev *dev)
{
	mutex_lock(&dev->mirror.lock);
	WRITE_ONCE(dev->mirror.zapper, current);
}

void gpuemu_mirror_zap_end(struct gpuemu_dev *dev)
{
	WRITE_ONCE(dev->mirror.zapper, NULL);
	mutex_unlock(&dev->mirror.lock);
}

/*
 * The engine's process loses what it has mapped there. The caller is the zapper.
 *
 * mm calls this while it changes a client's page table, and this changes the engine's. To
 * lockdep both are one thing, which must not happen inside itself: i_mmap_rwsem, which could
 * have a class of its own, and the map of mm's notifiers (invalidate_range_start), which is
 * one for all and which any way to unmap takes. It may here: no other
 * task holds i_mmap_rwsem of an engine's file and waits for the lock of the slots. mm tells the
 * zapper itself of this change, and the zapper takes no lock for it.
 */
void gpuemu_mirror_zap_mapping(struct address_space *mapping, loff_t start,
			       loff_t bytes)
{
	lockdep_off();
	unmap_mapping_range(mapping, start, bytes, 1);
	lockdep_on();
}

/* After this the engine has nothing mapped in the slot. */
void gpuemu_mirror_zap_locked(struct gpuemu_dev *dev, u32 slot)
{
	struct address_space *mapping = NULL;

	lockdep_assert_held(&dev->mirror.lock);
	/* An engine that is not there any more was revoked under this lock. */
	spin_lock(&dev->lock);
	if (dev->engine)
		mapping = dev->engine->mapping;
	spin_unlock(&dev->lock);
	if (mapping)
		gpuemu_mirror_zap_mapping(mapping, GPUEMU_MMAP_MIRROR +
					  ((loff_t)slot << PAGE_SHIFT), PAGE_SIZE);
}

/* False: there is none, or none for this user. */
bool gpuemu_mirror_slot_get_locked(struct gpuemu_space *space, u32 *slot)
{
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;

	lockdep_assert_held(&slots->lock);
	if (!slots->nfree || (space->limited && space->user->mirror_slots >=
			      gpuemu_limit_of_user(slots->slots)))
		return false;
	*slot = slots->free[--slots->nfree];
	space->user->mirror_slots++;
	gpuemu_created(slots);
	return true;
}

/* The engine has forgotten it. */
void gpuemu_mirror_slot_put_locked(struct gpuemu_space *space, u32 slot)
{
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;

	lockdep_assert_held(&slots->lock);
	if (slots->slot[slot].pfn || slots->slot[slot].lost)
		gpuemu_mirror_zap_locked(space->dev, slot);
	slots->slot[slot] = (struct gpuemu_mirror_slot){ };
	slots->free[slots->nfree++] = slot;
	space->user->mirror_slots--;
	gpuemu_destroyed(slots);
}

/*
 * Without reclaim: it would tell the mirror of pages that go, which takes the lock
 * that the caller has.
 */
static vm_fault_t insert(struct vm_fault *vmf, unsigned long pfn, bool write)
{
	const pgprot_t prot = vm_get_page_prot(VM_SHARED | VM_READ |
					       (write ? VM_WRITE : 0));
	unsigned int flags = memalloc_noreclaim_save();
	vm_fault_t ret;

	ret = vmf_insert_pfn_prot(vmf->vma, vmf->address & PAGE_MASK, pfn, prot);
	memalloc_noreclaim_restore(flags);
	return ret;
}

/* The engine has nothing mapped in the slot. The caller has the lock, and is no zapper yet. */
static void slot_zap(struct gpuemu_dev *dev, u64 nr)
{
	WRITE_ONCE(dev->mirror.zapper, current);
	gpuemu_mirror_zap_locked(dev, nr);
	WRITE_ONCE(dev->mirror.zapper, NULL);
}

static vm_fault_t slot_insert(struct gpuemu_dev *dev, struct vm_fault *vmf,
			      u64 nr, bool write)
{
	struct gpuemu_mirror_slot *slot = &dev->mirror.slot[nr];
	bool writable = slot->pfn & HMM_PFN_WRITE;
	struct page *page = hmm_pfn_to_page(slot->pfn);
	vm_fault_t ret;

	/* It may be mapped, to be read. */
	if (write)
		slot_zap(dev, nr);
	ret = insert(vmf, page_to_pfn(page), writable);
	/* It is still the process' page, or the mirror would have been told. */
	if (writable && ret == VM_FAULT_NOPAGE)
		set_page_dirty(page);
	return ret;
}

/*
 * The access goes to a page that no process has. That harms nobody where the process has
 * nothing at the address any more, or does not allow the access. late: nobody could tell in
 * time, so the client's works fail from now on.
 */
static vm_fault_t lost_insert(struct gpuemu_dev *dev, struct vm_fault *vmf,
			      u64 nr, bool late)
{
	struct gpuemu_mirror_slot *slot = &dev->mirror.slot[nr];

	slot_zap(dev, nr);
	slot->lost = true;
	if (late)
		WRITE_ONCE(slot->range->mirror->late, true);
	return insert(vmf, page_to_pfn(slot->range->mirror->lost), true);
}

static vm_fault_t mirror_fault(struct vm_fault *vmf, bool write)
{
	struct gpuemu_engine *e = vmf->vma->vm_private_data;
	struct gpuemu_mirror_slots *slots = &e->dev->mirror;
	u64 nr = vmf->pgoff - (GPUEMU_MMAP_MIRROR >> PAGE_SHIFT), addr;
	struct gpuemu_mirror_range *range;
	struct gpuemu_mirror_slot *slot;
	struct gpuemu_client *client;
	u64 begin = ktime_get_ns(), patience_ns = late_ns(), spent;
	vm_fault_t ret = VM_FAULT_SIGBUS;
	int found = -EAGAIN;

	if (nr >= slots->slots)
		return ret;
	slot = &slots->slot[nr];
	for (;;) {
		mutex_lock(&slots->lock);
		range = slot->range;
		if (gpuemu_engine_lost(e) || !range)
			break;
		if (slot->pfn && (!write || (slot->pfn & HMM_PFN_WRITE))) {
			ret = slot_insert(e->dev, vmf, nr, write);
			break;
		}
		spent = ktime_get_ns() - begin;
		if (found == -EFAULT || found == -ENXIO || spent >= patience_ns) {
			ret = lost_insert(e->dev, vmf, nr,
					  found != -EFAULT && found != -ENXIO);
			break;
		}
		/* The slot keeps the range, and so the client, until the lock is free. */
		client = container_of(range->mirror->space, struct gpuemu_client,
				      space);
		kref_get(&client->ref);
		addr = (range->index << GPUEMU_BLOCK_SHIFT) +
		       ((u64)slot->index << PAGE_SHIFT);
		mutex_unlock(&slots->lock);
		/* It may have gone to the device. */
		found = gpuemu_mirror_fault(client->space.mirror,
					    &(struct gpuemu_mirror_want){
						.addr = addr,
						.n = 1,
						.write = write,
						.where = GPUEMU_MIRROR_HOME,
					    }, patience_ns - spent);
		gpuemu_client_put(client);
		if (fatal_signal_pending(current))
			return VM_FAULT_SIGBUS;
		/* Memory or slots may come; and a page that was found may have left again. */
		if (found && found != -EFAULT && found != -ENXIO && found != -EAGAIN)
			fsleep(USEC_PER_MSEC);
	}
	mutex_unlock(&slots->lock);
	return ret;
}

static vm_fault_t mirror_vm_fault(struct vm_fault *vmf)
{
	return mirror_fault(vmf, vmf->flags & FAULT_FLAG_WRITE);
}

static vm_fault_t mirror_vm_mkwrite(struct vm_fault *vmf)
{
	return mirror_fault(vmf, true);
}

/* A page is named by its slot. */
static int mirror_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

const struct vm_operations_struct gpuemu_mirror_vm_ops = {
	.fault = mirror_vm_fault,
	/* Else the kernel would make an entry writable by itself. */
	.pfn_mkwrite = mirror_vm_mkwrite,
	.mremap = mirror_vm_mremap,
};
