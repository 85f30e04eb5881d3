/* SPDX-License-Identifier: GPL-2.0 */
/* The memory's cycles on a bench with one thread, where the SMs' part of the quantum is done. */
#ifndef GPUEMU_TESTS_MEM_RUN_H
#define GPUEMU_TESTS_MEM_RUN_H

#include "mem/mem.h"

static inline void mem_run(struct mem *mem, uint64_t upto)
{
	mem_advance(mem, upto);
	mem_meet(mem, upto);
}

#endif
