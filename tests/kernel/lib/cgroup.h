/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory cgroup, for tests that look which cgroup pays for memory. Functions return 0 or -errno
 * unless they say otherwise.
 */
#ifndef _GPUEMU_TESTS_KERNEL_CGROUP_H
#define _GPUEMU_TESTS_KERNEL_CGROUP_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/text.h"

#define ROOT "/sys/fs/cgroup/"
#define GROUP ROOT "gpuemu-test/"

static inline int cgroup_make(void)
{
	int ret = put_text(ROOT "cgroup.subtree_control", "+memory");

	if (!ret && mkdir(GROUP, 0755) && errno != EEXIST)
		ret = -errno;
	return ret;
}

/* This process is in the group from now on: GROUP or ROOT. */
static inline int cgroup_enter(const char *group)
{
	char path[64], pid[16];

	snprintf(path, sizeof(path), "%scgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d", getpid());
	return put_text(path, pid);
}

/* Bytes charged to GROUP, or -1. Kernel memory is counted with a lag of some batches of 64 pages. */
static inline long cgroup_charged(void)
{
	char text[32] = "";
	int fd = open(GROUP "memory.current", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : atol(text);
}

#endif
