/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vm_flags_set() and vm_flags_clear(): from 6.3. mm_flags_test(): from 6.18.
 * compat_get_unmapped_area(): where the kernel would put a mapping.
 * compat_insert_page_mkwrite(): a page at the fault's address, writable from 6.15 on,
 * as the mapping says before.
 * compat_mmap_write_trylock(): 7.x has no mmap_write_trylock(); as mmap_write_lock() there.
 * FOLIO_MAPPING_FLAGS: from 6.17; PAGE_MAPPING_FLAGS before.
 * compat_mm_counter_add(): add_mm_counter() without its tracepoint, which no module may use.
 * compat_fault_of_vma_lock(): whether a fault holds its VMA and not mmap_lock.
 */
#ifndef _GPUEMU_COMPAT_MM_H
#define _GPUEMU_COMPAT_MM_H

#include_next <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/version.h>

#ifndef FOLIO_MAPPING_FLAGS
#define FOLIO_MAPPING_FLAGS PAGE_MAPPING_FLAGS
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
static inline bool mm_flags_test(int flag, const struct mm_struct *mm)
{
	return test_bit(flag, &mm->flags);
}
#endif

/* What mm has of a kind of page, as the OOM killer, ps and /proc/PID/status read it. */
static inline void compat_mm_counter_add(struct mm_struct *mm, int member,
					 long value)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	atomic_long_add(value, &mm->rss_stat.count[member]);
#else
	percpu_counter_add(&mm->rss_stat[member], value);
#endif
}

static inline unsigned long
compat_get_unmapped_area(struct file *file, unsigned long addr,
			 unsigned long len, unsigned long pgoff,
			 unsigned long flags)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	return mm_get_unmapped_area(file, addr, len, pgoff, flags);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
	return mm_get_unmapped_area(current->mm, file, addr, len, pgoff, flags);
#else
	return current->mm->get_unmapped_area(file, addr, len, pgoff, flags);
#endif
}

static inline int compat_insert_page_mkwrite(struct vm_fault *vmf,
					     struct page *page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	vm_fault_t ret = vmf_insert_page_mkwrite(vmf, page, true);

	return ret == VM_FAULT_NOPAGE ? 0 :
	       ret == VM_FAULT_OOM ? -ENOMEM : -EFAULT;
#else
	return vm_insert_page(vmf->vma, vmf->address & PAGE_MASK, page);
#endif
}

static inline bool compat_mmap_write_trylock(struct mm_struct *mm)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if (!down_write_trylock(&mm->mmap_lock))
		return false;
	mm_lock_seqcount_begin(mm);
	return true;
#else
	return mmap_write_trylock(mm);
#endif
}

/* VMA locks: from 6.4. */
static inline bool compat_fault_of_vma_lock(const struct vm_fault *vmf)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	return vmf->flags & FAULT_FLAG_VMA_LOCK;
#else
	return false;
#endif
}

#endif
