// SPDX-License-Identifier: GPL-2.0
/*
 * Managed mappings and the lookup of VA blocks. Managed memory is the module's
 * own VMA with offset == address, so a page is named by its address on both
 * sides. Called by the file operations, by the fault path, and by COMMIT.
 */
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/mman.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "client.h"
#include "dev.h"
#include "device_memory.h"
#include "inject.h"
#include "migrate.h"
#include "migrate_steps.h"
#include "mirror.h"
#include "objects.h"
#include "reclaim.h"
#include "remote_map.h"
#include "sysmem.h"
#include "thrash.h"
#include "tlb.h"
#include "trace.h"
#include "user.h"
#include "va_block.h"
#include "va_space.h"

#define BLOCK_PAGE_SHIFT (GPUEMU_BLOCK_SHIFT - GPUEMU_PAGE_SHIFT)

/* What gpuemu_space.managed says of a page. */
#define MANAGED		xa_mk_value(1)

int gpuemu_space_init(struct gpuemu_space *space, struct gpuemu_dev *dev,
		      struct address_space *mapping)
{
	const bool limited = !ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	struct gpuemu_user *user;
	int slot, ret;

	user = gpuemu_user_get(&dev->users, limited);
	if (IS_ERR(user))
		return PTR_ERR(user);
	ret = gpuemu_stats_init(&space->stats);
	if (ret)
		goto out_user;
	slot = ida_alloc_max(&dev->slots, GPUEMU_SPACES_MAX -
			     GPUEMU_SPACES_RESERVED - 1, GFP_KERNEL_ACCOUNT);
	/* Users that take all others leave a place for the engine. */
	if (slot == -ENOSPC && capable(CAP_SYS_RESOURCE))
		slot = ida_alloc_max(&dev->slots, GPUEMU_SPACES_MAX - 1,
				     GFP_KERNEL_ACCOUNT);
	if (slot < 0) {
		ret = slot;
		goto out_stats;
	}
	space->user = user;
	space->limited = limited;
	space->dev = dev;
	space->mapping = mapping;
	space->slot = slot;
	atomic_set(&space->frames, 0);
	atomic_set(&space->tables, 0);
	space->opened_memcg = get_mem_cgroup_from_mm(current->mm);
	space->memcg = space->opened_memcg;
	mutex_init(&space->pt_lock);
	mt_init(&space->managed);
	gpuemu_protect_init(&space->protect);
	gpuemu_sysmem_init(&space->sysmem);
	xa_init_flags(&space->blocks, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&space->lru);
	gpuemu_created(spaces);
	return 0;

out_stats:
	gpuemu_stats_destroy(&space->stats);
out_user:
	gpuemu_user_put(user);
	return ret;
}

/*
 * The process of this mm pays for the space's memory from now on. The one that opened the file
 * may have handed it on. It pays no more than what the file itself takes.
 */
void gpuemu_space_charge_to(struct gpuemu_space *space, struct mm_struct *mm)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);

	/* A task that has read it before uses the first one a little longer. */
	if (memcg == space->opened_memcg)
		mem_cgroup_put(memcg);
	else
		WRITE_ONCE(space->memcg, memcg);
}

/*
 * Takes the space away from the engine. Its mappings are closed, so there are
 * no blocks with pages or tables any more, and nobody can make one.
 */
void gpuemu_space_close(struct gpuemu_space *space)
{
	struct gpuemu_block *block;
	unsigned long index;

	gpuemu_reclaim_unmark(space);
	gpuemu_sysmem_close(space);
	gpuemu_mirror_close(space);
	/* A task that was killed before it had the lock of a block that it made leaves it. */
	for (index = 0; (block = gpuemu_space_next_block(space, &index,
							 ULONG_MAX)); index++) {
		mutex_lock(&block->lock);
		gpuemu_block_retire_unmanaged(block);
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
	}
	if (!space->root)
		return;
	gpuemu_pt_space_clear(space);
	gpuemu_tlb_invalidate(space, 0, 1ull << GPUEMU_VA_BITS,
			      GPUEMU_INVAL_UNMAP, false);
	gpuemu_pt_space_free(space);
}

void gpuemu_space_destroy(struct gpuemu_space *space)
{
	gpuemu_mirror_free(space);
	WARN_ON_ONCE(!xa_empty(&space->blocks));
	WARN_ON_ONCE(atomic_read(&space->frames) ||
		     atomic_read(&space->tables));
	xa_destroy(&space->blocks);
	mtree_destroy(&space->managed);
	gpuemu_protect_destroy(&space->protect);
	if (space->memcg != space->opened_memcg)
		mem_cgroup_put(space->memcg);
	mem_cgroup_put(space->opened_memcg);
	ida_free(&space->dev->slots, space->slot);
	gpuemu_stats_destroy(&space->stats);
	gpuemu_user_put(space->user);
	gpuemu_destroyed(spaces);
}

/* Sets mask bits bit.. for the managed ones of the n pages from first. */
void gpuemu_space_managed_mask(struct gpuemu_space *space, u64 first, u32 n,
			       unsigned long *mask, u32 bit)
{
	MA_STATE(mas, &space->managed, first, first);
	unsigned long last = first + n - 1, from, to;
	void *entry;

	mas_lock(&mas);
	mas_for_each(&mas, entry, last) {
		from = max_t(unsigned long, mas.index, first);
		to = min(mas.last, last);
		bitmap_set(mask, bit + from - first, to - from + 1);
		/* Most often one range has them all. */
		if (to == last)
			break;
	}
	mas_unlock(&mas);
}

/* The same for those that the device may have; they are in one block. */
void gpuemu_space_device_mask(struct gpuemu_space *space, u64 first, u32 n,
			      unsigned long *mask, u32 bit)
{
	gpuemu_space_managed_mask(space, first, n, mask, bit);
	gpuemu_protect_mask(&space->protect, first, n, mask, bit);
}

/* There are at most as many ranges as mappings: parts of one do not merge. */
static int range_set(struct gpuemu_space *space, u64 first, u64 last,
		     void *range, gfp_t extra)
{
	return mtree_store_range(&space->managed, first, last, range,
				 GFP_KERNEL_ACCOUNT | extra);
}

bool gpuemu_space_managed(struct gpuemu_space *space, u64 page_nr)
{
	MA_STATE(mas, &space->managed, page_nr, page_nr);
	bool managed;

	mas_lock(&mas);
	managed = mas_walk(&mas);
	mas_unlock(&mas);
	return managed;
}

/* The block, referenced, or NULL if there is none. It may be dead. */
struct gpuemu_block *gpuemu_space_block(struct gpuemu_space *space, u64 index)
{
	struct gpuemu_block *block;

	xa_lock(&space->blocks);
	block = space->last_block;
	if (!block || block->index != index)
		block = xa_load(&space->blocks, index);
	if (block) {
		kref_get(&block->ref);
		space->last_block = block;
	}
	xa_unlock(&space->blocks);
	return block;
}

/* It is dead: the next user makes a new one. */
void gpuemu_space_forget_block(struct gpuemu_space *space,
			       struct gpuemu_block *block)
{
	lockdep_assert_held(&block->lock);
	xa_lock(&space->blocks);
	__xa_erase(&space->blocks, block->index);
	if (space->last_block == block)
		space->last_block = NULL;
	xa_unlock(&space->blocks);
}

/*
 * The block, referenced, made if need be; or ERR_PTR(-ENOMEM). A caller
 * that then finds the block not managed retires it: the closer of the mapping
 * may have been there already.
 */
struct gpuemu_block *gpuemu_space_block_create(struct gpuemu_space *space,
					       u64 index, gfp_t gfp)
{
	struct gpuemu_block *block, *other;
	int ret;

	for (;;) {
		block = gpuemu_space_block(space, index);
		if (block)
			return block;
		other = gpuemu_block_alloc(space, index, gfp);
		if (!other)
			return ERR_PTR(-ENOMEM);
		/* The caller's reference; alloc's goes to the xarray. */
		kref_get(&other->ref);
		ret = xa_insert(&space->blocks, index, other, gfp);
		if (!ret)
			return other;
		gpuemu_block_put(other);
		gpuemu_block_put(other);
		if (ret != -EBUSY)
			return ERR_PTR(ret);
	}
}

/* Is the page managed, and so those up to *last? */
static bool managed_to(struct gpuemu_space *space, u64 page_nr, u64 *last)
{
	MA_STATE(mas, &space->managed, page_nr, page_nr);
	bool managed;

	mas_lock(&mas);
	managed = mas_walk(&mas);
	*last = managed ? mas.last : page_nr;
	mas_unlock(&mas);
	return managed;
}

/*
 * What fault records get to know of their pages. A hint: no lock is held. In the
 * order of their addresses they share the looks at what is managed, and at blocks.
 */
void gpuemu_space_mark_faults(struct gpuemu_space *space,
			      struct gpuemu_fault *faults, u32 n)
{
	struct gpuemu_block *block = NULL;
	u64 page_nr, from = 1, last = 0, index = U64_MAX;
	bool managed = false, protected;
	struct gpuemu_fault *f;
	u32 i;

	for (f = faults; f < faults + n; f++) {
		page_nr = f->addr >> GPUEMU_PAGE_SHIFT;
		if (page_nr < from || page_nr > last) {
			managed = managed_to(space, page_nr, &last);
			from = page_nr;
		}
		protected = managed &&
			    gpuemu_protect_test(&space->protect, page_nr);
		if (!managed) {
			f->flags = gpuemu_mirror_flags(space, f);
			continue;
		}
		if (protected) {
			f->flags = GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED;
			continue;
		}
		if (index != f->addr >> GPUEMU_BLOCK_SHIFT) {
			if (block)
				gpuemu_block_put(block);
			index = f->addr >> GPUEMU_BLOCK_SHIFT;
			block = gpuemu_space_block(space, index);
		}
		i = page_nr % GPUEMU_BLOCK_PAGES;
		if (!block)
			f->flags = 0;
		else if (gpuemu_block_allows(block, i, f->access))
			f->flags = GPUEMU_FAULT_RESIDENT;
		else
			f->flags = gpuemu_thrash_flags(block, i);
	}
	if (block)
		gpuemu_block_put(block);
}

/* Has the fault what it needs? It may take a page that is to be had at once. */
static bool fault_has_page(struct gpuemu_block *block, u32 i,
			   struct page **page)
{
	if (!*page && gpuemu_block_needs_page(block, i)) {
		*page = gpuemu_sysmem_get(block->space,
					  GFP_NOWAIT | __GFP_NOWARN);
		return *page;
	}
	return true;
}

/*
 * The block of the fault, locked and referenced, or what the fault ends with. *page: a
 * page for it if it needs one. Nobody waits for memory with the block locked, because an
 * engine may want the block, and other clients wait for the engine.
 */
static vm_fault_t fault_begin(struct gpuemu_space *space, struct vm_fault *vmf,
			      struct gpuemu_block **found, struct page **page)
{
	u64 index = vmf->address >> GPUEMU_BLOCK_SHIFT;
	u32 i = (vmf->address >> PAGE_SHIFT) % GPUEMU_BLOCK_PAGES;
	struct gpuemu_block *block;
	bool dead;

	for (;;) {
		/* What was never touched is a hole in a core, not new pages. */
		if (current->flags & PF_DUMPCORE) {
			block = gpuemu_space_block(space, index);
			if (!block)
				return VM_FAULT_SIGBUS;
		} else {
			block = gpuemu_space_block_create(space, index,
							  GFP_KERNEL_ACCOUNT);
		}
		if (IS_ERR(block))
			return VM_FAULT_OOM;
		/* A task that is killed meanwhile never sees the signal. */
		if (mutex_lock_killable(&block->lock)) {
			gpuemu_block_put(block);
			return VM_FAULT_SIGBUS;
		}
		dead = block->dead;
		if (!dead && fault_has_page(block, i, page)) {
			*found = block;
			return 0;
		}
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		if (dead)
			continue;
		gpuemu_inject_pause(space->dev, GPUEMU_INJECT_PAUSE_RECLAIM);
		*page = gpuemu_sysmem_get(space, GFP_USER);
		if (!*page)
			return VM_FAULT_OOM;
	}
}

static vm_fault_t space_vm_fault(struct vm_fault *vmf)
{
	struct gpuemu_client *client = vmf->vma->vm_private_data;
	struct gpuemu_space *space = &client->space;
	struct gpuemu_block *block;
	struct page *page = NULL;
	vm_fault_t ret;
	u64 nap = 0;

	ret = fault_begin(space, vmf, &block, &page);
	if (!ret) {
		gpuemu_inject_pause(space->dev, GPUEMU_INJECT_PAUSE_FAULT);
		nap = gpuemu_thrash_nap(block, vmf);
		ret = nap ? VM_FAULT_RETRY :
			    gpuemu_block_cpu_fault(block, vmf, &page);
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
	}
	if (page)
		gpuemu_sysmem_put(space, page);
	if (nap)
		gpuemu_thrash_sleep(vmf, nap);
	return ret;
}

/* The first block from *index on, referenced; NULL: none up to last. */
struct gpuemu_block *gpuemu_space_next_block(struct gpuemu_space *space,
					     unsigned long *index,
					     unsigned long last)
{
	struct gpuemu_block *block;

	xa_lock(&space->blocks);
	block = xa_find(&space->blocks, index, last, XA_PRESENT);
	if (block)
		kref_get(&block->ref);
	xa_unlock(&space->blocks);
	return block;
}

/* The part of pages first..last that is in the block, as page indexes. */
static void clip(const struct gpuemu_block *block, u64 first, u64 last, u32 *i,
		 u32 *j)
{
	u64 base = block->index << BLOCK_PAGE_SHIFT;

	*i = first > base ? first - base : 0;
	*j = min_t(u64, last - base, GPUEMU_BLOCK_PAGES - 1);
}

/*
 * The pages of a closed mapping, all at once: clear the page-table entries,
 * one invalidate, then free. Between the two passes the pages are not managed,
 * so neither COMMIT nor a fault touches them; a new mapping at this place has
 * to wait for mmap_lock.
 */
void gpuemu_space_close_pages(struct gpuemu_space *space, u64 first, u64 last)
{
	unsigned long index, last_block = last >> BLOCK_PAGE_SHIFT;
	struct gpuemu_block *block, *next;
	bool mapped = false;
	LIST_HEAD(dead);
	u64 start, end;
	u32 i, j;

	index = first >> BLOCK_PAGE_SHIFT;
	while ((block = gpuemu_space_next_block(space, &index, last_block))) {
		clip(block, first, last, &i, &j);
		mapped |= gpuemu_block_close_begin(block, i, j, &dead);
		gpuemu_block_put(block);
		index++;
		cond_resched();
	}

	if (mapped) {
		/* Whole blocks: a dead one's leaf table must be forgotten too. */
		start = round_down(first << PAGE_SHIFT, 1 << GPUEMU_BLOCK_SHIFT);
		end = round_up((last + 1) << PAGE_SHIFT, 1 << GPUEMU_BLOCK_SHIFT);
		gpuemu_tlb_invalidate(space, start, end, GPUEMU_INVAL_UNMAP,
				      false);
	}

	gpuemu_inject_pause(space->dev, GPUEMU_INJECT_PAUSE_CLOSE);
	list_for_each_entry_safe(block, next, &dead, closing) {
		list_del(&block->closing);
		gpuemu_block_close_end(block, 0, GPUEMU_BLOCK_PAGES - 1);
		gpuemu_block_put(block);
		cond_resched();
	}
	/* What is left in the space is the blocks that were closed in part. */
	index = first >> BLOCK_PAGE_SHIFT;
	while ((block = gpuemu_space_next_block(space, &index, last_block))) {
		clip(block, first, last, &i, &j);
		gpuemu_block_close_end(block, i, j);
		gpuemu_block_put(block);
		index++;
	}
}

static void space_unmanage(struct gpuemu_space *space, u64 first, u64 last)
{
	/* A close cannot fail; without __GFP_NOFAIL, erasing might. */
	range_set(space, first, last, NULL, __GFP_NOFAIL);
	/* Where this fails, the next mapping there does it, or fails. */
	gpuemu_protect_set(&space->protect, first, last, false);
	gpuemu_space_close_pages(space, first, last);
}

/*
 * Runs once for each VMA, also for the parts that split made; the CPU's page
 * tables are cleared already. A VMA that is not where its offset says is a
 * half-made one that the kernel gives up (a failed split or move): it owns
 * nothing. When the process has ended, gpuemu_space_end() came first.
 */
static void space_vm_close(struct vm_area_struct *vma)
{
	struct gpuemu_client *client = vma->vm_private_data;
	struct gpuemu_space *space = &client->space;
	u64 first = vma->vm_start >> PAGE_SHIFT;
	u64 last = (vma->vm_end >> PAGE_SHIFT) - 1;

	if (vma->vm_pgoff != first || vma->vm_start == vma->vm_end)
		return;
	gpuemu_count(space, MANAGED_BYTES, vma->vm_start - vma->vm_end);
	space_unmanage(space, first, last);
}

/*
 * The process has ended; its page table is not empty yet, and nobody uses it. All goes at
 * once, also device memory that is not paged: the engine is asked once, however many
 * mappings there are.
 */
void gpuemu_space_end(struct gpuemu_space *space)
{
	space_unmanage(space, 0, (1ull << (GPUEMU_VA_BITS - PAGE_SHIFT)) - 1);
}

/*
 * Pages that MADV_DONTNEED unmapped; Linux tells no driver so. The engine's mapping of a page in
 * the aperture counts as one, too, so such a page may be hidden. The caller has the block's lock.
 */
static void find_hidden(const struct gpuemu_block *block, unsigned long *mask)
{
	u32 i;

	bitmap_zero(mask, GPUEMU_BLOCK_PAGES);
	for_each_set_bit(i, block->cpu_mapped, GPUEMU_BLOCK_PAGES)
		if (block->pages[i] && (test_bit(i, block->remote) ||
					!folio_mapped(page_folio(block->pages[i]))))
			__set_bit(i, mask);
}

/*
 * Counts for the process what it has and Linux does not count: pages that it had mapped and
 * that are hidden now. Waits for no block.
 */
void gpuemu_space_count_hidden(struct gpuemu_space *space)
{
	struct gpuemu_block *block;
	unsigned long index;
	page_mask hidden;

	for (index = 0; (block = gpuemu_space_next_block(space, &index,
							 ULONG_MAX)); index++) {
		if (mutex_trylock(&block->lock)) {
			find_hidden(block, hidden);
			gpuemu_migrate_unmap_cpu(block, hidden);
			mutex_unlock(&block->lock);
		}
		gpuemu_block_put(block);
	}
}

/* Pages are named by address, so they cannot move. */
static int space_vm_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/*
 * Brings home what is on the device, where each page has its system page. -EINTR: not
 * all of it, the task is being killed.
 */
static int space_bring_home(struct gpuemu_space *space, u64 first, u64 last)
{
	unsigned long index, last_block = last >> BLOCK_PAGE_SHIFT;
	struct gpuemu_block *block;
	int ret = 0;
	u32 i, j, moved;

	index = first >> BLOCK_PAGE_SHIFT;
	while (!ret && (block = gpuemu_space_next_block(space, &index,
							last_block))) {
		clip(block, first, last, &i, &j);
		mutex_lock(&block->lock);
		if (!block->dead) {
			ret = gpuemu_migrate_d2h(block, i, j - i + 1,
						 GPUEMU_INVAL_CPU_FAULT, &moved);
			if (!ret)
				ret = gpuemu_remote_unmap(block, i, j - i + 1,
							  GPUEMU_INVAL_CPU_FAULT);
		}
		mutex_unlock(&block->lock);
		gpuemu_block_put(block);
		index++;
		cond_resched();
	}
	return ret;
}

/*
 * The engine's page table knows no rights: a kernel that has a page in device memory may
 * write it. So memory that the program makes read-only or inaccessible leaves
 * the device and stays away until it is writable again; a GPU access meanwhile
 * is fatal for the kernel that makes it, as one outside managed memory. A
 * migration looks at the range under the block's lock, so none slips through
 * between the mark and the way home.
 */
static int space_vm_mprotect(struct vm_area_struct *vma, unsigned long start,
			     unsigned long end, unsigned long flags)
{
	const unsigned long need = VM_READ | VM_WRITE;
	struct gpuemu_client *client = vma->vm_private_data;
	struct gpuemu_space *space = &client->space;
	u64 first = start >> PAGE_SHIFT, last = (end >> PAGE_SHIFT) - 1;
	bool both = (flags & need) == need;
	int ret;

	/*
	 * Not the VMA's own rights: the kernel may still fail after this, where it
	 * splits the VMA, and leaves a mark that the next call has to put right.
	 */
	if (gpuemu_protect_all(&space->protect, first, last, !both))
		return 0;
	ret = gpuemu_protect_set(&space->protect, first, last, !both);
	if (ret || both)
		return ret;
	ret = space_bring_home(space, first, last);
	/* Not all is home: until the next call, what is not is the device's, too. */
	if (ret)
		gpuemu_protect_set(&space->protect, first, last, false);
	return ret;
}

/*
 * A VMA with a .name is in every core dump. A program's core needs what it
 * keeps in managed memory as it needs its heap, but to the kernel this is a
 * file's mapping and would be left out. So it has a name as long as the process
 * dumps anonymous memory and did not ask to leave this out (MADV_DONTDUMP).
 */
static const char *space_vm_name(struct vm_area_struct *vma)
{
	if ((vma->vm_flags & VM_DONTDUMP) ||
	    !mm_flags_test(MMF_DUMP_ANON_SHARED, vma->vm_mm))
		return NULL;
	return "/dev/gpuemu";
}

/* What a mapping is in an mm that must not have it: nothing. */
static vm_fault_t stray_vm_fault(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct stray_vm_ops = {
	.mremap = space_vm_mremap,
	.fault = stray_vm_fault,
};

/*
 * A split changes nothing: each part's .close erases its own range. A fork
 * copies the mapping only if MADV_DOFORK took VM_DONTCOPY away; the child's
 * copy must neither work nor, when it is closed, free the parent's pages. Kernels
 * differ in whether the entries are copied before or after this; taking them
 * from both sides is right either way, since the parent cannot fault while it
 * forks.
 */
static void space_vm_open(struct vm_area_struct *vma)
{
	struct gpuemu_client *client = vma->vm_private_data;

	if (vma->vm_mm == client->mm)
		return;
	vma->vm_ops = &stray_vm_ops;
	unmap_mapping_range(&client->mapping, vma->vm_start,
			    vma->vm_end - vma->vm_start, 1);
}

static const struct vm_operations_struct space_vm_ops = {
	.open = space_vm_open,
	.close = space_vm_close,
	.mremap = space_vm_mremap,
	.mprotect = space_vm_mprotect,
	.name = space_vm_name,
	.fault = space_vm_fault,
};

/*
 * The same, of a space that may have duplicates. It is not for all, because
 * Linux from 6.5 on pins no page for long (fixed buffers, RDMA) for writing
 * where somebody wants to hear of writes.
 */
static const struct vm_operations_struct space_notifying_vm_ops = {
	.open = space_vm_open,
	.close = space_vm_close,
	.mremap = space_vm_mremap,
	.mprotect = space_vm_mprotect,
	.name = space_vm_name,
	.fault = space_vm_fault,
	.page_mkwrite = space_vm_fault,
};

/* A task that has it may sleep without end: so not for long. */
static int mmap_write_lock_soon(struct mm_struct *mm, u64 patience_ns)
{
	u64 begin = ktime_get_ns();

	while (!compat_mmap_write_trylock(mm)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (ktime_get_ns() - begin >= patience_ns)
			return -EBUSY;
		usleep_range(10, 20);
	}
	return 0;
}

/**
 * gpuemu_space_notify_writes() - makes duplicates possible in a space
 * @space: the caller holds its client, and none of its locks
 * @patience_ns: to wait at most for tasks that use the client's mappings
 *
 * From then on a read-only entry of the CPU stays read-only until a fault says
 * that it is written. -EBUSY: the mappings were in use all that time;
 * -EFAULT: it has none, or is ending.
 *
 * Nothing uses the mappings meanwhile: no fault runs that has a VMA of them.
 */
int gpuemu_space_notify_writes(struct gpuemu_space *space, u64 patience_ns)
{
	struct gpuemu_client *client = container_of(space, struct gpuemu_client,
						    space);
	struct mm_struct *mm = READ_ONCE(client->mm);
	struct vm_area_struct *vma;
	int ret;

	if (READ_ONCE(space->notify_writes))
		return 0;
	if (!mm || !mmget_not_zero(mm))
		return -EFAULT;
	ret = mmap_write_lock_soon(mm, patience_ns);
	if (ret)
		goto out;
	for (vma = find_vma(mm, 0); vma; vma = find_vma(mm, vma->vm_end)) {
		if (vma->vm_ops != &space_vm_ops ||
		    vma->vm_private_data != client)
			continue;
		/* It has the flag. This keeps off faults that have locked the VMA alone. */
		vm_flags_set(vma, VM_MIXEDMAP);
		vma->vm_ops = &space_notifying_vm_ops;
		/* As the kernel has it for mappings whose writes are told of. */
		vma->vm_page_prot = vm_get_page_prot(vma->vm_flags & ~VM_SHARED);
	}
	WRITE_ONCE(space->notify_writes, true);
	mmap_write_unlock(mm);
out:
	/* If this is the last one, the client's end is not the engine's to run. */
	mmput_async(mm);
	return ret;
}

/* What can be said of a mapping before it replaces what is at its place. */
int gpuemu_space_may_map(struct gpuemu_space *space, unsigned long addr,
			 unsigned long len, unsigned long pgoff,
			 unsigned long flags)
{
	struct gpuemu_client *client = container_of(space, struct gpuemu_client,
						    space);
	struct mm_struct *owner = READ_ONCE(client->mm);

	const bool device = gpuemu_device_offset(pgoff, addr, len);

	if ((flags & MAP_TYPE) == MAP_PRIVATE ||
	    (pgoff != addr >> PAGE_SHIFT && !device))
		return -EINVAL;
	if (addr > (1ull << GPUEMU_VA_BITS) ||
	    len > (1ull << GPUEMU_VA_BITS) - addr)
		return -EINVAL;
	if (owner && owner != current->mm)
		return -EPERM;
	return device ? gpuemu_device_may_map(space, len) : 0;
}

int gpuemu_space_mmap(struct gpuemu_space *space, struct vm_area_struct *vma)
{
	struct gpuemu_client *client = container_of(space, struct gpuemu_client,
						    space);
	const unsigned long rights = VM_READ | VM_WRITE;
	u64 first = vma->vm_start >> PAGE_SHIFT;
	u64 last = (vma->vm_end >> PAGE_SHIFT) - 1;
	int ret;

	/* The file is open for reading alone, or the mapping is private. */
	if (!(vma->vm_flags & VM_SHARED))
		return vma->vm_flags & VM_MAYSHARE ? -EACCES : -EINVAL;
	if (vma->vm_pgoff != first || vma->vm_end > 1ull << GPUEMU_VA_BITS)
		return -EINVAL;
	ret = gpuemu_client_bind_mm(client, vma->vm_mm);
	if (ret)
		return ret;
	/*
	 * Which rights are asked for is known only here, where what was at this place
	 * is gone already. So none is refused: as after mprotect().
	 */
	ret = gpuemu_protect_set(&space->protect, first, last,
				 (vma->vm_flags & rights) != rights);
	if (ret)
		return ret;
	/* The last step that can fail: .close undoes it, and only it. */
	ret = range_set(space, first, last, MANAGED, 0);
	if (ret) {
		gpuemu_protect_set(&space->protect, first, last, false);
		return ret;
	}
	gpuemu_count(space, MANAGED_BYTES, vma->vm_end - vma->vm_start);
	vm_flags_set(vma, VM_MIXEDMAP | VM_DONTEXPAND | VM_DONTCOPY);
	vm_flags_clear(vma, VM_EXEC | VM_MAYEXEC);
	vma->vm_ops = space->notify_writes ? &space_notifying_vm_ops :
					     &space_vm_ops;
	vma->vm_private_data = client;
	return 0;
}
