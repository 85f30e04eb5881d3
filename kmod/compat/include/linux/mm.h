/* SPDX-License-Identifier: GPL-2.0 */
/* vm_flags_set() and vm_flags_clear(): from 6.3. */
#ifndef _GPUEMU_COMPAT_MM_H
#define _GPUEMU_COMPAT_MM_H

#include_next <linux/mm.h>
#include <linux/version.h>

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

#endif
