/* SPDX-License-Identifier: GPL-2.0 */
/* What whole.c and its libgpuemu on a real GPU (whole_cuda.c) share. */
#ifndef TESTS_SILICON_WHOLE_H
#define TESTS_SILICON_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuemu.h"

#define WHOLE_LAUNCHES 4096
#define WHOLE_FLUSH    ((uint64_t)256 << 20) /* bytes: more than any L2 */

struct whole_launch {
	char kernel[64];
	struct gpuemu_dim3 grid, block;
	double us;
};
extern struct whole_launch whole_launches[WHOLE_LAUNCHES];
extern unsigned int whole_nlaunches;

/* A kernel that reads WHOLE_FLUSH bytes, 16 of them a thread's turn. */
void whole_begin(void *flush_function, void *delay_function, uint64_t flush_memory);
/*
 * Keeps the GPU busy for a while, so that what is launched next and the events around it are all
 * queued when it begins: the host's launching is then in no time.
 */
void whole_delay(void);
/* Frees the buffers, forgets the launches. */
void whole_reset(void);

#endif
