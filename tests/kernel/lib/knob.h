/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of the module and its counters, one at a time. */
#ifndef _GPUEMU_TESTS_KERNEL_KNOB_H
#define _GPUEMU_TESTS_KERNEL_KNOB_H

#include <stdint.h>

/* 0 or -errno. */
int knob_set(const char *name, uint32_t value);
/* A counter of the device, GPUEMU_A_STATS_*; UINT64_MAX: it cannot be had. */
uint64_t knob_stat(int attr);

#endif
