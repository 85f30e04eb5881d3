// SPDX-License-Identifier: GPL-2.0
/*
 * Names of errors, for programs. The sentence with the details is the
 * context's (gpuemu_last_error()).
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static const struct {
	int error;
	const char *text;
} names[] = {
	{ 0, "success" },
	{ EIO, "device lost" },
	{ ENODEV, "no engine attached" },
	{ EFAULT, "access outside managed memory" },
	{ EDEADLK, "no warp of the kernel can go on" },
	{ EINVAL, "invalid value" },
	{ ENOENT, "not found" },
	{ EACCES, "permission denied" },
	{ ENOMEM, "out of memory" },
	{ EOPNOTSUPP, "not supported" },
	{ ERANGE, "value out of range" },
	{ EBUSY, "in use" },
	{ EAGAIN, "too many works in flight" },
	{ ECANCELED, "the kernel ended itself" },
	{ ETIMEDOUT, "ended by the watchdog" },
	{ ENOTRECOVERABLE, "accesses to ordinary memory were lost" },
	{ ENOSPC, "no room in device memory" },
	{ E2BIG, "too large" },
};

PUBLIC unsigned int gpuemu_version(void)
{
	return GPUEMU_VERSION_MAJOR << 16 | GPUEMU_VERSION_MINOR;
}

PUBLIC const char *gpuemu_strerror(int error)
{
	const char *name;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].error == -error)
			return names[i].text;
	name = error < 0 ? strerrordesc_np(-error) : NULL;
	return name ? name : "unknown error";
}
