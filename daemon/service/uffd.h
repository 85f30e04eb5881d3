/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Backend uffd, for the owner of one: pages move inside this process, by userfaultfd.
 */
#ifndef GPUEMU_SERVICE_UFFD_H
#define GPUEMU_SERVICE_UFFD_H

#include "service/service.h"

/*
 * Pages move inside this process, which is the VA space. -EPERM, -ENOSYS,
 * -EOPNOTSUPP: no userfaultfd here, err says what is missing; -ENOMEM.
 */
int service_uffd_create(uint64_t vram_bytes, uint32_t va_space, struct service **service,
			struct err *err);
/*
 * A range of private anonymous memory becomes managed: its content is the program's, as it
 * is. Unmapping, before the memory itself is unmapped, forgets what is in device memory.
 * destroy brings it all back instead. -EEXIST overlaps; -ENOENT.
 */
int service_uffd_map(struct service *s, uint64_t addr, uint64_t bytes);
int service_uffd_unmap(struct service *s, uint64_t addr, uint64_t bytes);
/*
 * The same of device memory that the program has for itself: always there, never paged, and its
 * frames are not the managed pages'. It is ordinary memory, which the program must not touch while
 * kernels run. -ENOSPC: there are not as many; one frame stays theirs. -EBUSY: managed pages have
 * them now.
 */
int service_uffd_map_device(struct service *s, uint64_t addr, uint64_t bytes);
int service_uffd_unmap_device(struct service *s, uint64_t addr);
/* Device memory for the next batches; resident pages stay (-EBUSY if they do not fit, -ENOMEM). */
int service_uffd_configure(struct service *s, uint64_t vram_bytes);
/*
 * Around all that walks or serves. In between, what the CPU touches comes back
 * when the engine polls, and the engine's own thread must not touch managed
 * memory; outside, it comes back at once, and poll() tells before the next frame is read.
 */
void service_uffd_enter(struct service *s);
void service_uffd_leave(struct service *s);
/* May system calls touch what is in device memory, or do they fail with EFAULT? */
bool service_uffd_kernel_faults(const struct service *s);

#endif
