/* SPDX-License-Identifier: GPL-2.0 */
/* Files of the kernel that take a text: cgroups, /proc/sys, tracefs. */
#ifndef _GPUEMU_TESTS_KERNEL_TEXT_H
#define _GPUEMU_TESTS_KERNEL_TEXT_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* 0 or -errno. */
static inline int put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

#endif
