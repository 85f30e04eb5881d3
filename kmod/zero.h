/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zeroing a frame: which instructions do it. What is zeroed when is migrate.c's.
 */
#ifndef _GPUEMU_ZERO_H
#define _GPUEMU_ZERO_H

#include <linux/init.h>

void __init gpuemu_zero_init(void *frame);
void gpuemu_zero(void *frame);

#endif
