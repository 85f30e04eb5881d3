// SPDX-License-Identifier: GPL-2.0
/* How a warp that cannot go on says so: the kernel, the line, the thread. */
#include <stdarg.h>
#include <stdio.h>

#include "exec/private.h"

void exec_lane_name(const struct exec_warp *warp, uint32_t lanes, char *buf, size_t bytes)
{
	const uint32_t *block = warp->cta->launch->block, *ctaid = warp->cta->ctaid;
	uint32_t thread = warp->index * WARP_LANES + (lanes ? __builtin_ctz(lanes) : 0);

	snprintf(buf, bytes, "thread (%u,%u,%u) of CTA (%u,%u,%u)", thread % block[0],
		 thread / block[0] % block[1], thread / block[0] / block[1], ctaid[0], ctaid[1],
		 ctaid[2]);
}

enum exec_outcome trap(const struct exec_warp *warp, const struct ptx_insn *insn, uint32_t lanes,
		       struct err *err, const char *fmt, ...)
{
	const struct ptx_kernel *kernel = program_of(warp)->kernel;
	char what[200], lane[120];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	exec_lane_name(warp, lanes, lane, sizeof(lane));
	err_set(err, 0, "kernel '%s': %s (%s line %u, %s)", kernel->name, what, kernel->module,
		insn->line, lane);
	return EXEC_TRAP;
}
