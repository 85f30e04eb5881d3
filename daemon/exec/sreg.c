// SPDX-License-Identifier: GPL-2.0
/*
 * Special registers (PTX ISA, "Special Registers"): which row of the arena
 * holds what. Those that cannot change are written when the warp starts, the
 * others when an instruction reads one.
 */
#include <string.h>

#include "exec/private.h"

#define SHARED_UNIT	128u	/* %total_smem_size is a multiple of it (PTX ISA) */

unsigned int sreg_bytes(uint32_t sreg)
{
	return sreg == PTX_SREG_CLOCK64 || sreg == PTX_SREG_GLOBALTIMER ? 8 : 4;
}

bool sreg_changes(uint32_t sreg)
{
	switch (sreg) {
	case PTX_SREG_CLOCK:
	case PTX_SREG_CLOCK_HI:
	case PTX_SREG_CLOCK64:
	case PTX_SREG_GLOBALTIMER:
	case PTX_SREG_GLOBALTIMER_LO:
	case PTX_SREG_GLOBALTIMER_HI:
	case PTX_SREG_WARPID:
	case PTX_SREG_SMID:
	case PTX_SREG_NSMID:
	case PTX_SREG_NWARPID:
		return true;
	default:
		return false;
	}
}

/* A cooperative launch's workspace; else 0. */
static uint64_t workspace_of(const struct exec_launch *launch)
{
	const struct ptx_kernel *kernel = launch->program->kernel;
	uint64_t address = 0;

	if (kernel->has_workspace)
		memcpy(&address, (const uint8_t *)launch->params + kernel->workspace_at,
		       sizeof(address));
	return address;
}

bool exec_launch_cooperative(const struct exec_launch *launch)
{
	return workspace_of(launch) != 0;
}

/* No model time passes in a grid without time: there it is as coarse as %clock. */
static uint64_t nanoseconds(const struct exec_warp *warp)
{
	const uint64_t mhz = warp->cta->launch->clock_mhz;

	return mhz ? (uint64_t)((unsigned __int128)warp->clock * 1000 / mhz) : warp->clock;
}

static uint64_t value_of(const struct exec_warp *warp, uint32_t sreg, uint32_t lane)
{
	const struct exec_cta *cta = warp->cta;
	const struct exec_launch *launch = cta->launch;
	const uint32_t *block = launch->block;

	switch (sreg) {
	case PTX_SREG_NTID_X:
	case PTX_SREG_NTID_Y:
	case PTX_SREG_NTID_Z:
		return block[sreg - PTX_SREG_NTID_X];
	case PTX_SREG_CTAID_X:
	case PTX_SREG_CTAID_Y:
	case PTX_SREG_CTAID_Z:
		return cta->ctaid[sreg - PTX_SREG_CTAID_X];
	case PTX_SREG_NCTAID_X:
	case PTX_SREG_NCTAID_Y:
	case PTX_SREG_NCTAID_Z:
		return launch->grid[sreg - PTX_SREG_NCTAID_X];
	case PTX_SREG_LANEID:
		return lane;
	case PTX_SREG_WARPID:
		return warp->slot;
	case PTX_SREG_NWARPID:
		return warp->nslots;
	case PTX_SREG_SMID:
		return warp->smid;
	case PTX_SREG_NSMID:
		return warp->nsmid;
	case PTX_SREG_GRIDID:
		return launch->grid_id;
	case PTX_SREG_CLOCK:
	case PTX_SREG_CLOCK64:
		return warp->clock;
	case PTX_SREG_CLOCK_HI:
		return warp->clock >> 32;
	case PTX_SREG_GLOBALTIMER:
	case PTX_SREG_GLOBALTIMER_LO:
		return nanoseconds(warp);
	case PTX_SREG_GLOBALTIMER_HI:
		return nanoseconds(warp) >> 32;
	case PTX_SREG_LANEMASK_EQ:
		return 1u << lane;
	case PTX_SREG_LANEMASK_LT:
		return (1u << lane) - 1;
	case PTX_SREG_LANEMASK_LE:
		return (2u << lane) - 1;
	case PTX_SREG_LANEMASK_GT:
		return ~((2u << lane) - 1);
	case PTX_SREG_LANEMASK_GE:
		return ~((1u << lane) - 1);
	case PTX_SREG_DYNAMIC_SMEM_SIZE:
		return launch->dynamic_shared;
	case PTX_SREG_ENVREG1:
		return workspace_of(launch) >> 32;
	case PTX_SREG_ENVREG2:
		return (uint32_t)workspace_of(launch);
	case PTX_SREG_ENVREG:
		return 0;
	default: /* PTX_SREG_TOTAL_SMEM_SIZE */
		return DIV_ROUND_UP(cta->shared_bytes, SHARED_UNIT) * SHARED_UNIT;
	}
}

/* The indices of a CTA's threads in order, without a division a lane. */
static void fill_tid(struct exec_warp *warp, unsigned int of, uint32_t *row)
{
	const uint32_t *block = warp->cta->launch->block;
	uint32_t thread = warp->index * WARP_LANES, lane;
	uint32_t tid[3] = { thread % block[0], thread / block[0] % block[1],
			    thread / block[0] / block[1] };

	for (lane = 0; lane < WARP_LANES; lane++) {
		row[lane] = tid[of];
		if (++tid[0] < block[0])
			continue;
		tid[0] = 0;
		if (++tid[1] < block[1])
			continue;
		tid[1] = 0;
		tid[2]++;
	}
}

/* Is it another value in each lane? */
static bool of_lanes(uint32_t sreg)
{
	return sreg == PTX_SREG_LANEID ||
	       (sreg >= PTX_SREG_LANEMASK_EQ && sreg <= PTX_SREG_LANEMASK_GE);
}

static void fill(struct exec_warp *warp, uint32_t sreg, uint32_t row)
{
	uint64_t value;
	uint32_t lane;

	/* They are the first. */
	if (sreg <= PTX_SREG_TID_Z) {
		fill_tid(warp, sreg - PTX_SREG_TID_X, row32(warp->arena, row));
		return;
	}
	value = value_of(warp, sreg, 0);
	for (lane = 0; lane < WARP_LANES; lane++) {
		if (of_lanes(sreg))
			value = value_of(warp, sreg, lane);
		if (sreg_bytes(sreg) == 8)
			row64(warp->arena, row)[lane] = value;
		else
			row32(warp->arena, row)[lane] = (uint32_t)value;
	}
}

void sregs_init(struct exec_warp *warp)
{
	const struct exec_program *program = warp->cta->launch->program;
	uint32_t sreg;

	for (sreg = 0; sreg < PTX_SREGS; sreg++) {
		if (program->sreg_row[sreg] != NO_ROW)
			fill(warp, sreg, program->sreg_row[sreg]);
	}
}

void sregs_refresh(struct exec_warp *warp)
{
	const struct exec_program *program = warp->cta->launch->program;
	uint32_t sreg;

	for (sreg = 0; sreg < PTX_SREGS; sreg++) {
		if (program->sreg_row[sreg] != NO_ROW && sreg_changes(sreg))
			fill(warp, sreg, program->sreg_row[sreg]);
	}
}
