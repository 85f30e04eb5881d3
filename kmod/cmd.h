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

#define X(NAME, fn, type, last) \
	int gpuemu_cmd_##fn(struct gpuemu_client *client, struct type *arg);
#include "cmd.def"
#undef X

long gpuemu_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
