/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of a VA block that the engine has mapped where they are, in system
 * memory. All of it is called with the block locked.
 */
#ifndef _GPUEMU_REMOTE_MAP_H
#define _GPUEMU_REMOTE_MAP_H

#include <linux/types.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_block;

int gpuemu_remote_unmap(struct gpuemu_block *block, u32 first, u32 n,
			enum gpuemu_inval_reason reason);

int gpuemu_remote_suspend(struct gpuemu_block *block,
			  const unsigned long *mask, unsigned long *suspended,
			  enum gpuemu_inval_reason reason);
void gpuemu_remote_resume(struct gpuemu_block *block,
			  const unsigned long *mask);
void gpuemu_remote_release(struct gpuemu_block *block,
			   const unsigned long *mask);

#endif
