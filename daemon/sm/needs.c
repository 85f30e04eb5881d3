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

static unsigned int of_set(const struct ptx_kernel *ptx, unsigned int set, const uint16_t *regs,
			   unsigned int n)
{
	unsigned int all = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t phys = ptx->phys[regs[i]], words;

		if (phys == PTX_NO_REG || ptx->regs[regs[i]].type == PTX_PRED)
			continue;
		words = ptx_type_bytes(ptx->regs[regs[i]].type) > 4 ? 2 : 1;
		for (; words; words--, phys++)
			if (phys / PTX_SET_REGS == set)
				all |= 1u << phys % PTX_SET_REGS;
	}
	return all;
}

void sm_kernel_set_registers(const struct sm_kernel *k, uint32_t pc, unsigned int set,
			     unsigned int *read, unsigned int *write)
{
	const struct exec_info *info = exec_program_info(k->launch->program, pc);
	const struct ptx_kernel *ptx = exec_program_kernel(k->launch->program);

	*read = of_set(ptx, set, info->read, info->nread);
	*write = of_set(ptx, set, info->write, info->nwrite);
}
