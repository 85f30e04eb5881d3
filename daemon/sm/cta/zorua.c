// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua (Vijaykumar et al., MICRO 2016): warps acquire registers and scratchpad phase by phase, by
 * what the compiler says they need, and what does not fit may be in swap. The coordinator decides
 * (coordinator/), virtual.c connects it to the SM.
 */
#include <errno.h>
#include <string.h>

#include "sm/cta/virtual.h"
#include "sm/cta/vt.h"

static enum ptx_phases zorua_phases(const struct gpu_spec *spec)
{
	return strcmp(spec->zorua_specifier, "free") ? PTX_PHASES_INSERT : PTX_PHASES_MARK;
}

static int one_of(const char *key, const char *value, const char *a, const char *b, struct err *err)
{
	if (strcmp(value, a) && strcmp(value, b))
		return err_set(err, -EINVAL, "%s: '%s'; there are: %s, %s", key, value, a, b);
	return 0;
}

static int check_specifier(const char *value, struct err *err)
{
	if (strcmp(value, "decode") && strcmp(value, "insn") && strcmp(value, "free"))
		return err_set(err, -EINVAL, "zorua.specifier: '%s'; there are: decode, insn, free",
			       value);
	return 0;
}

static int zorua_check(const struct gpu_spec *spec, struct err *err)
{
	int ret = check_specifier(spec->zorua_specifier, err);

	if (!ret)
		ret = one_of("zorua.phases", spec->zorua_phases, "scarce", "all", err);
	if (!ret)
		ret = one_of("zorua.o_compare", spec->zorua_compare, "cycles", "changes", err);
	if (!ret)
		ret = one_of("zorua.c_idle", spec->zorua_c_idle, "apart", "all", err);
	if (!ret)
		ret = one_of("zorua.admit", spec->zorua_admit, "peak", "phase", err);
	if (!ret)
		ret = one_of("zorua.faults", spec->zorua_faults, "mem", "neither", err);
	if (!ret)
		ret = one_of("zorua.ctas", spec->zorua_ctas, "lack", "fits", err);
	if (!ret)
		ret = one_of("zorua.slots", spec->zorua_slots, "barrier", "vt", err);
	return ret ? ret : vt_check(spec, err);
}

static unsigned int zorua_stall_on(const struct gpu_spec *spec)
{
	return strcmp(spec->zorua_slots, "vt") ? 0 : vt_stall_on(spec);
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
	.stall_on = zorua_stall_on,
	.create = virtual_zorua_create,
	.destroy = virtual_destroy,
	.reset = virtual_reset,
	.has_room = virtual_zorua_has_room,
	.cta_admitted = virtual_admitted,
	.cta_ended = virtual_cta_ended,
	.warp_exited = virtual_exited,
	.warp_retired = virtual_retired,
	.cta_stalled = virtual_stalled,
	.cta_resumed = virtual_resumed,
	.warp_ready = virtual_ready,
	.acquire = virtual_acquire,
	.shared_set = virtual_scratchpad_set,
	.shared_access = virtual_shared_access,
	.shared_done = virtual_shared_done,
	.finished = virtual_finished,
	.warp_waits = virtual_waits,
	.warp_passed = virtual_passed,
	.timer = virtual_timer,
};
