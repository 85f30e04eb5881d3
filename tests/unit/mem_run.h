/* SPDX-License-Identifier: GPL-2.0 */
/* The memory's cycles on a bench with one thread, where the SMs' part of the quantum is done. */
#ifndef GPUEMU_TESTS_MEM_RUN_H
#define GPUEMU_TESTS_MEM_RUN_H

#include "mem/mem.h"

/* The quantum up to `upto` is over: all ports and the memory hear of each other. */
static inline void mem_cross(struct mem *mem, uint64_t upto)
{
	mem_meet(mem, upto);
	for (unsigned int sm = 0; sm < mem_ports(mem); sm++) {
		mem_tell(mem, sm, upto);
		mem_hear(mem, sm, upto + 1);
	}
}

static inline void mem_run(struct mem *mem, uint64_t upto)
{
	mem_advance(mem, upto);
	mem_cross(mem, upto);
}

#endif
