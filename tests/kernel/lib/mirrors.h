/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether this kernel must be able to mirror a process: Debian's 7.x has what it takes, and
 * so have the kernels that scripts/kernels.sh builds to look for mistakes. These are of 6.1,
 * where a huge page does not move whole.
 */
#ifndef _GPUEMU_TESTS_KERNEL_MIRRORS_H
#define _GPUEMU_TESTS_KERNEL_MIRRORS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static inline bool kernel_mirrors(void)
{
	struct utsname name;

	return !uname(&name) && (atoi(name.release) >= 7 ||
				 strstr(name.release, "-debug") || strstr(name.release, "-kcsan"));
}

static inline bool kernel_moves_huge(void)
{
	struct utsname name;

	return !uname(&name) && atoi(name.release) >= 7;
}

#endif
