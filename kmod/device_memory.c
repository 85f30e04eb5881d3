// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory that a client has for itself, as cudaMalloc() has it: a mapping of
 * whole VA blocks whose pages have their frames from mmap() to munmap(). It is not
 * managed, so no migration, eviction or far fault finds it; the CPU's mapping is
 * of the frames themselves. Nobody can take references to them (VM_PFNMAP), so a
 * frame that is freed is nobody's.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "client.h"
#include "dev.h"
#include "device_memory.h"
#include "gpu_pt.h"
#include "limit.h"
#include "lru.h"
#include "migrate_steps.h"
#include "user.h"
#include "va_block.h"
#include "va_space.h"

#define BLOCK_BYTES	(1ul << GPUEMU_BLOCK_SHIFT)
/* Searches for victims until a block has its frames: others may take what came free. */
#define TRIES		8

static struct gpuemu_space *space_of(const struct vm_area_struct *vma)
{
	struct gpuemu_client *client = vma->vm_private_data;

	return &client->space;
}

/**
 * gpuemu_device_may_map() - whether so much may be mapped now
 * @space: the client's
 * @bytes: whole VA blocks
 *
 * For a look before the kernel unmaps what is at its place. -ENOMEM: it has its share, or
 * there is not as much. Others may take it until it is mapped.
 */
int gpuemu_device_may_map(struct gpuemu_space *space, unsigned long bytes)
{
	struct gpuemu_users *users = &space->dev->users;
	bool may;

	spin_lock(&users->lock);
	may = gpuemu_limit_may_device(space, bytes >> PAGE_SHIFT);
	spin_unlock(&users->lock);
	return may ? 0 : -ENOMEM;
}

static int reserve(struct gpuemu_space *space, u64 pages)
{
	struct gpuemu_users *users = &space->dev->users;
	bool may;

	spin_lock(&users->lock);
	may = gpuemu_limit_may_device(space, pages);
	if (may) {
		space->dev->device_frames += pages;
		space->device_frames += pages;
		space->user->device_frames += pages;
	}
	spin_unlock(&users->lock);
	return may ? 0 : -ENOMEM;
}

static void unreserve(struct gpuemu_space *space, u64 pages)
{
	struct gpuemu_users *users = &space->dev->users;

	spin_lock(&users->lock);
	space->dev->device_frames -= pages;
	space->device_frames -= pages;
	space->user->device_frames -= pages;
	spin_unlock(&users->lock);
}

/**
 * struct lack - why a block did not get its frames
 * @frames: that it got too few; 0: it got all, or the cause is another
 * @own: the client may not have as many, so its own pages have to go
 */
struct lack {
	u32 frames;
	bool own;
};

/* All of the block's frames, or none. */
static struct lack take_frames(struct gpuemu_block *block)
{
	struct gpuemu_space *space = block->space;
	DECLARE_BITMAP(mask, GPUEMU_BLOCK_PAGES);
	u32 may, got;

	gpuemu_mirror_pages_reap(space->dev);
	bitmap_fill(mask, GPUEMU_BLOCK_PAGES);
	may = gpuemu_limit_take_frames(space, mask, GPUEMU_BLOCK_PAGES,
				       GPUEMU_BLOCK_PAGES);
	got = gpuemu_vram_alloc(&space->dev->vram, block->frames, mask,
				GPUEMU_BLOCK_PAGES);
	if (got == GPUEMU_BLOCK_PAGES)
		return (struct lack){ 0 };
	gpuemu_vram_free(&space->dev->vram, block->frames, mask,
			 GPUEMU_BLOCK_PAGES);
	gpuemu_limit_give_frames(space, may);
	return (struct lack){
		.frames = GPUEMU_BLOCK_PAGES - got,
		.own = may < GPUEMU_BLOCK_PAGES,
	};
}

static int fill(struct gpuemu_block *block, struct lack *lack)
{
	struct gpuemu_space *space = block->space;
	u32 i;

	lockdep_assert_held(&block->lock);
	if (gpuemu_migrate_leaf(block))
		return -ENOMEM;
	*lack = take_frames(block);
	if (lack->frames)
		return -ENOMEM;
	for (i = 0; i < GPUEMU_BLOCK_PAGES; i++)
		clear_page(gpuemu_vram_addr(&space->dev->vram,
					    block->frames[i]));
	block->device_memory = true;
	bitmap_fill(block->resident, GPUEMU_BLOCK_PAGES);
	gpuemu_pt_set_device(&space->dev->pt, block->leaf, block->frames);
	gpuemu_count(space, RESIDENT_PAGES, GPUEMU_BLOCK_PAGES);
	return 0;
}

static int make_block(struct gpuemu_space *space, u64 index, u64 pass)
{
	struct gpuemu_block *block;
	struct lack lack;
	int ret = -ENOMEM;
	u32 tries;

	for (tries = 0; tries < TRIES; tries++) {
		block = gpuemu_space_block_create(space, index,
						  GFP_KERNEL_ACCOUNT);
		if (IS_ERR(block))
			return PTR_ERR(block);
		ret = mutex_lock_killable(&block->lock);
		if (ret) {
			gpuemu_block_put(block);
			return ret;
		}
		lack = (struct lack){ 0 };
		ret = block->dead ? -EAGAIN : fill(block, &lack);
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		if (!ret || (ret != -EAGAIN && !lack.frames))
			break;
		if (lack.frames &&
		    !gpuemu_lru_evict(space->dev, pass, lack.frames,
				      lack.own ? space : NULL))
			break;
	}
	return ret == -EAGAIN ? -ENOMEM : ret;
}

static vm_fault_t device_vm_fault(struct vm_fault *vmf)
{
	struct gpuemu_space *space = space_of(vmf->vma);
	u32 i = (vmf->address >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_block *block;
	vm_fault_t ret;
	void *frame;

	/* As long as the mapping is there the block and its frames are. */
	block = gpuemu_space_block(space, vmf->address >> GPUEMU_BLOCK_SHIFT);
	if (!block)
		return VM_FAULT_SIGBUS;
	frame = gpuemu_vram_addr(&space->dev->vram, block->frames[i]);
	ret = vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK,
			     vmalloc_to_pfn(frame));
	gpuemu_block_put(block);
	return ret;
}

/* A VMA that is not where its offset says is a move that mremap() gives up. It owns nothing. */
static void device_vm_close(struct vm_area_struct *vma)
{
	struct gpuemu_space *space = space_of(vma);

	if (!gpuemu_device_offset(vma->vm_pgoff, vma->vm_start,
				  vma->vm_end - vma->vm_start))
		return;
	gpuemu_space_close_pages(space, vma->vm_start >> PAGE_SHIFT,
				 (vma->vm_end >> PAGE_SHIFT) - 1);
	unreserve(space, vma_pages(vma));
}

/* It is freed whole, or not at all. */
static int device_vm_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static int device_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static int device_vm_mprotect(struct vm_area_struct *vma, unsigned long start,
			      unsigned long end, unsigned long flags)
{
	return -EINVAL;
}

static const struct vm_operations_struct device_vm_ops = {
	.close = device_vm_close,
	.may_split = device_vm_may_split,
	.mremap = device_vm_mremap,
	.mprotect = device_vm_mprotect,
	.fault = device_vm_fault,
};

bool gpuemu_device_offset(unsigned long pgoff, unsigned long addr,
			  unsigned long len)
{
	return pgoff == (GPUEMU_MMAP_DEVICE | addr) >> PAGE_SHIFT &&
	       !((addr | len) & (BLOCK_BYTES - 1));
}

int gpuemu_device_mmap(struct gpuemu_space *space, struct vm_area_struct *vma)
{
	struct gpuemu_client *client = container_of(space, struct gpuemu_client,
						    space);
	u64 index, last = (vma->vm_end - 1) >> GPUEMU_BLOCK_SHIFT, pass;
	int ret;

	/* Rights are the CPU's alone. What was at this place is gone, so none is refused. */
	if (!(vma->vm_flags & VM_SHARED) ||
	    !gpuemu_device_offset(vma->vm_pgoff, vma->vm_start,
				  vma->vm_end - vma->vm_start) ||
	    vma->vm_end > 1ull << GPUEMU_VA_BITS)
		return -EINVAL;
	ret = gpuemu_client_bind_mm(client, vma->vm_mm);
	if (!ret)
		ret = reserve(space, vma_pages(vma));
	if (ret)
		return ret;
	pass = gpuemu_lru_pass(&space->dev->lru);
	for (index = vma->vm_start >> GPUEMU_BLOCK_SHIFT; !ret && index <= last;
	     index++) {
		ret = fatal_signal_pending(current) ? -EINTR :
		      make_block(space, index, pass);
		cond_resched();
	}
	if (ret) {
		gpuemu_space_close_pages(space, vma->vm_start >> PAGE_SHIFT,
					 (vma->vm_end >> PAGE_SHIFT) - 1);
		unreserve(space, vma_pages(vma));
		return ret;
	}
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTCOPY |
			  VM_DONTDUMP);
	vm_flags_clear(vma, VM_EXEC | VM_MAYEXEC);
	vma->vm_ops = &device_vm_ops;
	vma->vm_private_data = client;
	return 0;
}
