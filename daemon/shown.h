/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tells the module how far a client's kernels are, so that the client can show it. The works are
 * in works.h; gpu_session_progress() says how far they are.
 */
#ifndef GPUEMU_SHOWN_H
#define GPUEMU_SHOWN_H

#include "gpu/gpu.h"

struct service;

struct shown {
	uint32_t va_space;
	uint64_t next;			/* not told again before, CLOCK_MONOTONIC */
	struct gpu_progress told;
};

/* While kernels run, as often as one likes: tells it four times a second at most. */
void shown_go_on(struct shown *shown, struct service *service, const struct gpu_session *gpu,
		 uint64_t now_ns);
/* A work has ended: nothing runs any more, if something was said to run. */
void shown_end(struct shown *shown, struct service *service, const struct gpu_session *gpu);

#endif
