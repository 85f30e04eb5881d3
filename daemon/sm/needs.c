// SPDX-License-Identifier: GPL-2.0
/*
 * What others see of a kernel that kernel.c has decoded: what a CTA of it takes of an SM, and its
 * phases. Compiled once.
 */
#include "sm/kernel.h"

unsigned int sm_kernel_ctas(const struct sm_kernel *k)
{
	return k->ctas;
}

unsigned int sm_kernel_places(const struct sm_kernel *k)
{
	return k->places;
}

const char *sm_kernel_name(const struct sm_kernel *k)
{
	return exec_program_kernel(k->launch->program)->name;
}

uint64_t sm_kernel_grid(const struct sm_kernel *k)
{
	return k->launch->grid_id;
}

void sm_kernel_set_waiting(struct sm_kernel *k, uint64_t ctas)
{
	k->waiting = ctas;
}

uint64_t sm_kernel_waiting(const struct sm_kernel *k)
{
	return k->waiting;
}

struct sm_needs sm_kernel_needs(const struct sm_kernel *k)
{
	return (struct sm_needs){
		.warps = k->warps_per_cta, .registers = k->registers,
		.shared_bytes = k->shared_taken,
	};
}

uint32_t sm_kernel_phase(const struct sm_kernel *k, uint32_t pc)
{
	return k->phase_of[pc];
}

const struct ptx_phase *sm_kernel_phases(const struct sm_kernel *k)
{
	return k->phase_of ? exec_program_kernel(k->launch->program)->phases : NULL;
}

void sm_kernel_sets(const struct sm_kernel *k, uint32_t pc, uint64_t *read, uint64_t *write)
{
	*read = k->sets_read[pc];
	*write = k->sets_written[pc];
}
