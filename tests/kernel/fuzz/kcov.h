/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of the module was run: KCOV, where the kernel has it and the module was built
 * with it (scripts/debug-kernel.config). Elsewhere all of this does nothing.
 */
#ifndef _GPUEMU_TESTS_KERNEL_FUZZ_KCOV_H
#define _GPUEMU_TESTS_KERNEL_FUZZ_KCOV_H

#include <stdbool.h>
#include <stdint.h>

/* Once, before there are other processes. */
void kcov_open(void);
/* Each thread that calls the module, before it does; and the child of a fork. */
void kcov_begin(void);
/* Takes what this thread has reached since; what is not taken when it dies is lost. */
void kcov_take(void);

/* False: this kernel has no KCOV. */
bool kcov_reached(uint32_t *reached);

#endif
