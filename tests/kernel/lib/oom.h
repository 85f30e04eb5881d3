/* SPDX-License-Identifier: GPL-2.0 */
/* What the OOM killer counts, whom it chose, and whether it sees processes that are exiting. */
#ifndef _GPUEMU_TESTS_KERNEL_OOM_H
#define _GPUEMU_TESTS_KERNEL_OOM_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Pages that a process has resident, as the OOM killer counts them; -1: unknown. */
static inline long oom_resident(pid_t pid)
{
	char path[32];
	long size, pages = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%ld %ld", &size, &pages) != 2)
		pages = -1;
	if (file)
		fclose(file);
	return pages;
}

/* The OOM killer's first victim, as the kernel's log (/dev/kmsg) says from here on; 0: nobody. */
static inline pid_t oom_first_killed(int log)
{
	static const char said[] = "Killed process ";
	char line[2048], *at;
	ssize_t n;

	/* A line for each read; -EPIPE: some were overwritten. */
	while ((n = read(log, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = 0;
		at = strstr(line, said);
		if (at)
			return atoi(at + strlen(said));
	}
	return 0;
}

/* From Linux 7 on a memory cgroup's OOM killer does not see processes that are exiting. */
static inline int oom_sees_exiting(void)
{
	struct utsname name;

	return !uname(&name) && atoi(name.release) < 7;
}

#endif
