// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch of the ioctls in cmd.def: bounds, sizes, the copy in and out. Knows
 * nothing of what they do.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "client.h"
#include "cmd.h"

union gpuemu_args {
#define X(NAME, fn, type, last, end) struct type fn;
#include "cmd.def"
#undef X
};

struct gpuemu_cmd {
	unsigned int ioctl;
	u32 size;
	u32 min_size;
	int (*fn)(struct gpuemu_client *client, void *arg);
	int (*told)(struct gpuemu_client *client, const void *arg, bool heard);
};

#define TOLD_told(fn, client, arg, heard)	gpuemu_told_##fn(client, arg, heard)
#define TOLD_plain(fn, client, arg, heard)	0

/* Two thunks a row: the table is typed, its rows are not. */
#define X(NAME, fn, type, last, end) \
static int cmd_##fn(struct gpuemu_client *client, void *arg) \
{ \
	static_assert(offsetof(struct type, size) == 0); \
	static_assert(_IOC_SIZE(GPUEMU_IOCTL_##NAME) == sizeof(struct type)); \
	return gpuemu_cmd_##fn(client, arg); \
} \
static int told_##fn(struct gpuemu_client *client, const void *arg, bool heard) \
{ \
	return TOLD_##end(fn, client, arg, heard); \
}
#include "cmd.def"
#undef X

#define CMD_FIRST _IOC_NR(GPUEMU_IOCTL_INFO)

static const struct gpuemu_cmd cmds[] = {
#define X(NAME, _fn, type, last, end) \
	[_IOC_NR(GPUEMU_IOCTL_##NAME) - CMD_FIRST] = { \
		.ioctl = GPUEMU_IOCTL_##NAME, \
		.size = sizeof(struct type), \
		.min_size = offsetofend(struct type, last), \
		.fn = cmd_##_fn, \
		.told = told_##_fn, \
	},
#include "cmd.def"
#undef X
};

/* The size in the number is the caller's header's; the struct says its own. */
static unsigned int without_size(unsigned int cmd)
{
	return cmd & ~IOCSIZE_MASK;
}

long gpuemu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct gpuemu_client *client = file->private_data;
	void __user *user = (void __user *)arg;
	unsigned int nr = _IOC_NR(cmd) - CMD_FIRST;
	const struct gpuemu_cmd *row;
	union gpuemu_args args;
	bool heard;
	u32 size;
	int ret;

	if (nr >= ARRAY_SIZE(cmds))
		return -ENOTTY;
	row = &cmds[array_index_nospec(nr, ARRAY_SIZE(cmds))];
	if (!row->fn || without_size(cmd) != without_size(row->ioctl))
		return -ENOTTY;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < row->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	/* The copy fills all of the row's struct, and the row's functions look at nothing else. */
	ret = copy_struct_from_user(&args, row->size, user, size);
	if (ret)
		return ret;
	ret = row->fn(client, &args);
	/* Also on an error: -ENOSPC says in the struct how much it needs. */
	heard = !copy_to_user(user, &args, min(size, row->size));
	if (ret)
		return ret;
	/* A failure of the last step is one of the command. */
	ret = row->told(client, &args, heard);
	return ret || heard ? ret : -EFAULT;
}
