/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one client may have of what all share: frames of device memory and page
 * tables. A client that asks for more is refused, and may evict or unmap what
 * it has; nobody else notices.
 */
#ifndef _GPUEMU_LIMIT_H
#define _GPUEMU_LIMIT_H

#include <linux/types.h>

struct gpuemu_dev;
struct gpuemu_pt;
struct gpuemu_space;

u32 gpuemu_limit_frames(const struct gpuemu_dev *dev);
u32 gpuemu_limit_paged(const struct gpuemu_dev *dev);
bool gpuemu_limit_reached(struct gpuemu_space *space);
bool gpuemu_limit_may_device(const struct gpuemu_space *space, u64 pages);
u32 gpuemu_limit_take_frames(struct gpuemu_space *space, unsigned long *mask,
			     u32 want, u32 pages);
void gpuemu_limit_give_frames(struct gpuemu_space *space, u32 n);
u32 gpuemu_limit_of_user(u32 all);
bool gpuemu_limit_may_table(const struct gpuemu_pt *pt,
			    const struct gpuemu_space *space);

#endif
