// SPDX-License-Identifier: GPL-2.0
/*
 * The mirror's aperture: slots through which the engine reaches ordinary pages of
 * clients' processes. A page is mapped without a reference, as a page of the process'
 * own page table is: mm tells the mirror (mirror.c) before the page goes, and the mirror
 * takes the engine's mapping away. A slot stays bound to its address of the process, so an
 * access of an engine that has not heard yet finds what is at that address now. That may be a
 * frame, if the page has moved to the device.
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
#include "mirror_range.h"
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

/*
 * How long this access may wait. The engine gives its acknowledgement only when it is through
 * with all accesses before it, so they share that time. Each takes half of what is left, and no
 * more than late_ns(): so a client whose pages come slowly leaves some to the others. A client
 * whose works fail by now takes nothing.
 */
static u64 patience_locked(struct gpuemu_engine *e, const struct gpuemu_mirror *mirror)
{
	u32 acked = READ_ONCE(e->inval_acked);
	u64 all = 3 * late_ns();

	if (acked != e->slow_acked || acked == READ_ONCE(e->inval_put)) {
		e->slow_acked = acked;
		e->slow_ns = 0;
	}
	if (READ_ONCE(mirror->late) || e->slow_ns >= all)
		return 0;
	return min(late_ns(), (all - e->slow_ns) / 2);
}

int gpuemu_mirror_slots_init(struct gpuemu_mirror_slots *slots, u32 n)
{
	u32 i;

	gpuemu_aperture_init(&slots->aperture, GPUEMU_MMAP_MIRROR);
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

/* See gpuemu_aperture_settle(). */
void gpuemu_mirror_settle(struct gpuemu_dev *dev)
{
	gpuemu_aperture_settle(&dev->mirror.aperture);
}

/* False: there is none, or none for this user. */
bool gpuemu_mirror_slot_get_locked(struct gpuemu_space *space, u32 *slot)
{
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;

	lockdep_assert_held(&slots->aperture.lock);
	if (!slots->nfree || (space->limited && space->user->mirror_slots >=
			      gpuemu_limit_of_user(slots->slots)))
		return false;
	*slot = slots->free[--slots->nfree];
	space->user->mirror_slots++;
	gpuemu_created(slots);
	return true;
}

/* The engine has forgotten it, and has nothing mapped there. */
void gpuemu_mirror_slot_put_locked(struct gpuemu_space *space, u32 slot)
{
	struct gpuemu_mirror_slots *slots = &space->dev->mirror;

	lockdep_assert_held(&slots->aperture.lock);
	slots->free[slots->nfree++] = slot;
	space->user->mirror_slots--;
	gpuemu_destroyed(slots);
}

/*
 * What a fault maps.
 * @pfn: the page
 * @write: to be written
 * @fresh: what is mapped there goes before
 * @dirty: the page gets dirty by this
 */
struct what {
	unsigned long pfn;
	bool write, fresh, dirty;
};

/*
 * The page is in the list of faults: who takes it away waits for this. Without reclaim, which
 * would tell the mirror of pages that go, and wait for this fault, too.
 */
static vm_fault_t insert(struct gpuemu_engine *e, struct vm_fault *vmf, u64 nr,
			 const struct what *what)
{
	const pgprot_t prot = vm_get_page_prot(VM_SHARED | VM_READ |
					       (what->write ? VM_WRITE : 0));
	unsigned int flags;
	vm_fault_t ret;

	if (what->fresh)
		gpuemu_aperture_zap(e->mapping,
				    GPUEMU_MMAP_MIRROR + ((loff_t)nr << PAGE_SHIFT),
				    PAGE_SIZE);
	flags = memalloc_noreclaim_save();
	ret = vmf_insert_pfn_prot(vmf->vma, vmf->address & PAGE_MASK, what->pfn, prot);
	memalloc_noreclaim_restore(flags);
	/* It is still the process' page, or the mirror would have been told. */
	if (what->dirty && ret == VM_FAULT_NOPAGE)
		set_page_dirty(pfn_to_page(what->pfn));
	return ret;
}

/*
 * The page of the slot has moved to a frame that is right for the access. It cannot come home
 * for the access, because it would wait for this engine.
 */
static bool framed_locked(struct gpuemu_mirror_slot *slot, bool write, struct what *what)
{
	const struct gpuemu_mirror_range *range = slot->range;
	struct gpuemu_vram *vram = &range->mirror->space->dev->vram;
	bool writable = test_bit(slot->index, range->writable);

	if (!test_bit(slot->index, range->device) || (write && !writable))
		return false;
	*what = (struct what){
		.pfn = vmalloc_to_pfn(gpuemu_vram_addr(vram, range->frames[slot->index])),
		.write = writable,
		.fresh = write,
	};
	slot->framed = true;
	return true;
}

/* The page of the slot is right for the access. */
static bool found_locked(struct gpuemu_mirror_slot *slot, bool write, struct what *what)
{
	bool writable = slot->pfn & HMM_PFN_WRITE;

	if (!slot->pfn)
		return framed_locked(slot, write, what);
	if (write && !writable)
		return false;
	*what = (struct what){
		.pfn = page_to_pfn(hmm_pfn_to_page(slot->pfn)),
		.write = writable,
		/* It may be mapped, to be read. */
		.fresh = write,
		.dirty = writable,
	};
	return true;
}

/*
 * The access goes to a page that no process has. That harms nobody where the process has
 * nothing at the address any more, or does not allow the access. late: nobody could tell in
 * time, so the client's works fail from now on.
 */
static void lose_locked(struct gpuemu_mirror_slot *slot, bool late, struct what *what)
{
	struct gpuemu_mirror *mirror = slot->range->mirror;

	slot->lost = true;
	if (late)
		WRITE_ONCE(mirror->late, true);
	*what = (struct what){
		.pfn = page_to_pfn(mirror->lost),
		.write = true,
		.fresh = true,
	};
}

/* Has the page of the slot found, at home or on the device. */
static int ask(struct gpuemu_client *client, u64 addr, bool write, u64 patience_ns)
{
	const struct gpuemu_mirror_want want = {
		.addr = addr,
		.n = 1,
		.write = write,
		.where = GPUEMU_MIRROR_ANYWHERE,
	};

	return gpuemu_mirror_fault(client->space.mirror, &want, patience_ns);
}

static bool hopeless(int found)
{
	return found == -EFAULT || found == -ENXIO;
}

static vm_fault_t mirror_fault(struct vm_fault *vmf, bool write)
{
	struct gpuemu_engine *e = vmf->vma->vm_private_data;
	struct gpuemu_mirror_slots *slots = &e->dev->mirror;
	u64 nr = vmf->pgoff - (GPUEMU_MMAP_MIRROR >> PAGE_SHIFT), addr;
	u64 begin = ktime_get_ns(), patience_ns = 0, spent = 0;
	struct gpuemu_aperture_insert entry;
	struct gpuemu_mirror_range *range;
	struct gpuemu_mirror_slot *slot;
	struct gpuemu_client *client;
	int found = -EAGAIN;
	bool asked = false;
	struct what what;
	vm_fault_t ret;

	if (nr >= slots->slots)
		return VM_FAULT_SIGBUS;
	slot = &slots->slot[nr];
	for (;;) {
		spin_lock(&slots->aperture.lock);
		range = slot->range;
		if (gpuemu_engine_lost(e) || !range) {
			spin_unlock(&slots->aperture.lock);
			return VM_FAULT_SIGBUS;
		}
		if (found_locked(slot, write, &what))
			break;
		if (asked)
			spent = ktime_get_ns() - begin;
		else
			patience_ns = patience_locked(e, range->mirror);
		if (hopeless(found) || spent >= patience_ns) {
			lose_locked(slot, !hopeless(found), &what);
			break;
		}
		/* The slot keeps the range, and so the client, until the lock is free. */
		client = container_of(range->mirror->space, struct gpuemu_client,
				      space);
		kref_get(&client->ref);
		addr = gpuemu_mirror_range_addr(range, slot->index);
		spin_unlock(&slots->aperture.lock);
		asked = true;
		found = ask(client, addr, write, patience_ns - spent);
		gpuemu_client_put(client);
		if (fatal_signal_pending(current))
			return VM_FAULT_SIGBUS;
		/* Memory or slots may come; and a page that was found may have left again. */
		if (found && !hopeless(found) && found != -EAGAIN)
			fsleep(USEC_PER_MSEC);
	}
	if (asked)
		e->slow_ns += ktime_get_ns() - begin;
	gpuemu_aperture_insert_locked(&slots->aperture, &entry, nr);
	spin_unlock(&slots->aperture.lock);
	ret = insert(e, vmf, nr, &what);
	gpuemu_aperture_inserted(&slots->aperture, &entry);
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
