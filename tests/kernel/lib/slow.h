/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many times as long things take on this kernel: tests/vm/run.sh --slow. In a header
 * alone, as not every test program is built with lib.c.
 */
#ifndef _GPUEMU_TESTS_KERNEL_SLOW_H
#define _GPUEMU_TESTS_KERNEL_SLOW_H

#include <stdlib.h>

static inline unsigned int slowness(void)
{
	const char *text = getenv("GPUEMU_SLOW");
	int n = text ? atoi(text) : 1;

	return n > 1 ? n : 1;
}

#endif
