// SPDX-License-Identifier: GPL-2.0
/*
 * The remote aperture's slots and the engine's faults on it. Knows no VA block
 * and no page-table entry. A caller that hides a page has made the engine forget the slot
 * before. Called by remote_map.c, and by the engine's death.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include <uapi/linux/gpuemu.h>

#include "dev.h"
#include "engine.h"
#include "limit.h"
#include "objects.h"
#include "remote.h"
#include "user.h"
#include "va_space.h"

int gpuemu_remote_init(struct gpuemu_remote *remote, u32 slots)
{
	u32 i;

	gpuemu_aperture_init(&remote->aperture, GPUEMU_MMAP_REMOTE);
	remote->pages = kvcalloc(slots, sizeof(*remote->pages), GFP_KERNEL);
	remote->free = kvmalloc_array(slots, sizeof(*remote->free), GFP_KERNEL);
	if (!remote->pages || !remote->free) {
		gpuemu_remote_destroy(remote);
		return -ENOMEM;
	}
	for (i = 0; i < slots; i++)
		remote->free[i] = slots - 1 - i;
	remote->slots = slots;
	remote->nfree = slots;
	return 0;
}

void gpuemu_remote_destroy(struct gpuemu_remote *remote)
{
	kvfree(remote->free);
	kvfree(remote->pages);
	remote->free = NULL;
	remote->pages = NULL;
}

/* Slots that the space can get now: nobody takes one back, so a user has a share. */
static u32 may_have(const struct gpuemu_remote *remote,
		    const struct gpuemu_space *space)
{
	u32 share = gpuemu_limit_of_user(remote->slots);
	u32 have = space->user->slots;

	if (!space->limited)
		return remote->nfree;
	return have < share ? min(remote->nfree, share - have) : 0;
}

/*
 * Gives each page of the mask a slot, in which there is nothing to see yet; those
 * for which there is none leave the mask. Returns how many got one.
 */
u32 gpuemu_remote_alloc(struct gpuemu_space *space, u32 *slots,
			unsigned long *mask, u32 pages)
{
	struct gpuemu_remote *remote = &space->dev->remote;
	u32 n = 0, may, i;

	spin_lock(&remote->aperture.lock);
	may = may_have(remote, space);
	for_each_set_bit(i, mask, pages) {
		if (n < may) {
			slots[i] = remote->free[--remote->nfree];
			n++;
		} else {
			__clear_bit(i, mask);
		}
	}
	space->user->slots += n;
	spin_unlock(&remote->aperture.lock);
	atomic_add(n, &gpuemu_live[GPUEMU_OBJ_slots]);
	return n;
}

/* The slots are hidden, or never were shown. */
void gpuemu_remote_free(struct gpuemu_space *space, const u32 *slots,
			const unsigned long *mask, u32 pages)
{
	struct gpuemu_remote *remote = &space->dev->remote;
	u32 n = 0, i;

	spin_lock(&remote->aperture.lock);
	for (i = pages; i-- > 0;) {
		if (!test_bit(i, mask))
			continue;
		remote->free[remote->nfree++] = slots[i];
		n++;
	}
	space->user->slots -= n;
	spin_unlock(&remote->aperture.lock);
	atomic_sub(n, &gpuemu_live[GPUEMU_OBJ_slots]);
}

/* The engine may find the pages in their slots. They live until they are hidden. */
void gpuemu_remote_show(struct gpuemu_remote *remote, const u32 *slots,
			struct page *const *page, const unsigned long *mask,
			u32 pages)
{
	u32 i;

	spin_lock(&remote->aperture.lock);
	for_each_set_bit(i, mask, pages)
		remote->pages[slots[i]] = page[i];
	spin_unlock(&remote->aperture.lock);
}

/*
 * Takes the pages away from the engine, whatever it still believes: after this it
 * has none of them mapped, and none of the references is its mapping's.
 */
void gpuemu_remote_hide(struct gpuemu_dev *dev, const u32 *slots,
			const unsigned long *mask, u32 pages)
{
	struct gpuemu_remote *remote = &dev->remote;
	u32 i;

	spin_lock(&remote->aperture.lock);
	for_each_set_bit(i, mask, pages)
		remote->pages[slots[i]] = NULL;
	spin_unlock(&remote->aperture.lock);
	gpuemu_aperture_unmap(dev, &remote->aperture, slots, mask, pages);
}

/* The engine touched a slot that it has not mapped, or that is nobody's. */
static vm_fault_t remote_vm_fault(struct vm_fault *vmf)
{
	struct gpuemu_engine *e = vmf->vma->vm_private_data;
	struct gpuemu_remote *remote = &e->dev->remote;
	u64 slot = vmf->pgoff - (GPUEMU_MMAP_REMOTE >> PAGE_SHIFT);
	struct gpuemu_aperture_insert insert;
	struct page *page = NULL;
	int ret;

	spin_lock(&remote->aperture.lock);
	if (slot < remote->slots && !gpuemu_engine_lost(e))
		page = remote->pages[slot];
	if (page)
		gpuemu_aperture_insert_locked(&remote->aperture, &insert, slot);
	spin_unlock(&remote->aperture.lock);
	if (!page)
		return VM_FAULT_SIGBUS;
	ret = vm_insert_page(vmf->vma, vmf->address & PAGE_MASK, page);
	gpuemu_aperture_inserted(&remote->aperture, &insert);
	if (ret == -ENOMEM)
		return VM_FAULT_OOM;
	/* -EBUSY: another thread's fault was first. */
	return ret && ret != -EBUSY ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

/* A page is named by its slot. */
static int remote_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

const struct vm_operations_struct gpuemu_remote_vm_ops = {
	.fault = remote_vm_fault,
	.mremap = remote_vm_mremap,
};
