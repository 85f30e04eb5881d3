/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mappings of device memory that is not paged (GPUEMU_MMAP_DEVICE).
 */
#ifndef _GPUEMU_DEVICE_MEMORY_H
#define _GPUEMU_DEVICE_MEMORY_H

#include <linux/mm_types.h>

struct gpuemu_space;

/* Does this offset ask for device memory at addr, of whole VA blocks? */
bool gpuemu_device_offset(unsigned long pgoff, unsigned long addr,
			  unsigned long len);
int gpuemu_device_may_map(struct gpuemu_space *space, unsigned long bytes);
int gpuemu_device_mmap(struct gpuemu_space *space, struct vm_area_struct *vma);

#endif
