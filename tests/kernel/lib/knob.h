/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of the module, its counters and the failures it injects, one at a time. */
#ifndef _GPUEMU_TESTS_KERNEL_KNOB_H
#define _GPUEMU_TESTS_KERNEL_KNOB_H

#include <stdint.h>

/* 0 or -errno. */
int knob_set(const char *name, uint32_t value);
/* GPUEMU_INJECT_WHAT_*, so many times or, for a pause, so many ms; 0 or -errno. */
int knob_inject(uint32_t what, uint32_t count);
/* A counter of the device, GPUEMU_A_STATS_*; UINT64_MAX: it cannot be had. */
uint64_t knob_stat(int attr);

#endif
