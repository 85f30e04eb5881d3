/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read-only duplicates: pages of a VA block whose content is in system memory and
 * in a frame at once, so that both sides read it. A write of either side ends it.
 * All of it is called with the block locked.
 */
#ifndef _GPUEMU_DUPLICATE_H
#define _GPUEMU_DUPLICATE_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_block;

int gpuemu_duplicate_promote(struct gpuemu_block *block,
			     const unsigned long *mask);
void gpuemu_duplicate_ended(struct gpuemu_block *block,
			    const unsigned long *mask, bool collapsed);

#endif
