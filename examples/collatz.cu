// SPDX-License-Identifier: GPL-2.0
/*
 * steps[i]: how many steps of "n / 2 if even, else 3n + 1" lead from from[i] to 1. The threads
 * of a warp leave the loop one by one. Built to build/ptx/collatz.ptx; README.md launches it.
 */
#include "device.h"

KERNEL collatz(const uint32_t *from, uint32_t *steps, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t count = 0;

	if (i >= n)
		return;
	for (uint32_t v = from[i]; v > 1; count++)
		v = v % 2 ? 3 * v + 1 : v / 2;
	steps[i] = count;
}
