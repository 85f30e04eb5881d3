// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua (Vijaykumar et al., MICRO 2016): warps acquire registers and scratchpad phase by phase, by
 * what the compiler says they need, and what does not fit may be in swap. The coordinator decides
 * (coordinator/), virtual.c connects it to the SM.
 */
#include <errno.h>
#include <string.h>

#include "sm/cta/virtual.h"

static enum ptx_phases zorua_phases(const struct gpu_spec *spec)
{
	return strcmp(spec->zorua_specifier, "free") ? PTX_PHASES_INSERT : PTX_PHASES_MARK;
}

static int zorua_check(const struct gpu_spec *spec, struct err *err)
{
	if (strcmp(spec->zorua_specifier, "insn") && strcmp(spec->zorua_specifier, "free"))
		return err_set(err, -EINVAL, "zorua.specifier: '%s'; there are: insn, free",
			       spec->zorua_specifier);
	return 0;
}

const struct sm_mechanism mechanism_zorua = {
	.name = "zorua",
	.help = "Zorua: warps get slots, registers and scratchpad phase by phase, and some of it is in swap",
	.warps = 64,
	.ctas = 16,
	.by_warp = true,
	.every = true,
	.phases = zorua_phases,
	.check = zorua_check,
	.create = virtual_zorua_create,
	.destroy = virtual_destroy,
	.reset = virtual_reset,
	.has_room = virtual_zorua_has_room,
	.cta_admitted = virtual_admitted,
	.cta_ended = virtual_cta_ended,
	.warp_retired = virtual_retired,
	.acquire = virtual_acquire,
	.finished = virtual_finished,
	.warp_waits = virtual_waits,
	.warp_passed = virtual_passed,
	.timer = virtual_timer,
};
