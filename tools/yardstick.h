/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The yardsticks of a far fault, measured on this machine in this run: what the kernel and
 * userfaultfd take for the same kind of work. Each fills samples[n] with nanoseconds, one per
 * event, and returns 0, or -errno with err saying why it cannot be measured here.
 */
#ifndef GPUEMU_TOOLS_YARDSTICK_H
#define GPUEMU_TOOLS_YARDSTICK_H

#include "base/base.h"

/* First write to a page of anonymous memory: fault, zeroed page, mapping. */
int yardstick_minor_fault(uint64_t *samples, size_t n, struct err *err);
/*
 * First write to a page registered with userfaultfd, from the touch to its
 * continuation; another thread does poll, read and UFFDIO_COPY of 4 KiB.
 */
int yardstick_uffd(uint64_t *samples, size_t n, struct err *err);
/* Sends one byte to another thread and one back, through two pipes. */
int yardstick_pipe(uint64_t *samples, size_t n, struct err *err);
/*
 * memcpy of `bytes` between mapped pages that are cold: sources and targets
 * lie in rings larger than a last-level cache where memory allows.
 */
int yardstick_memcpy(uint64_t *samples, size_t n, size_t bytes, struct err *err);

/* Sorts; the smallest value with at least permille/1000 at or below. 0 when empty. */
uint64_t yardstick_permille(uint64_t *samples, size_t n, unsigned int permille);

#endif
