/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of ioctls. Each row's function is in the file of its noun and gets
 * a kernel copy of its struct, which is copied back whatever it returns.
 */
#ifndef _GPUEMU_CMD_H
#define _GPUEMU_CMD_H

#include <linux/fs.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_client;

#define X(NAME, fn, type, last, end) \
	int gpuemu_cmd_##fn(struct gpuemu_client *client, struct type *arg);
#include "cmd.def"
#undef X

/*
 * The last step of a command that worked. What the caller cannot name, because it did
 * not hear its number, is undone; what is given once is given up only when the caller
 * has it.
 */
int gpuemu_told_image_load(struct gpuemu_client *client,
			   const struct gpuemu_module_load *arg, bool heard);
int gpuemu_told_submit(struct gpuemu_client *client,
		       const struct gpuemu_submit *arg, bool heard);
int gpuemu_told_wait(struct gpuemu_client *client, const struct gpuemu_wait *arg,
		     bool heard);
int gpuemu_told_work_take(struct gpuemu_client *client,
			  const struct gpuemu_work_take *arg, bool heard);

long gpuemu_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
