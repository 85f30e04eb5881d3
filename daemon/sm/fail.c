// SPDX-License-Identifier: GPL-2.0
/*
 * The first failure of an SM, which ends the kernel. What is told is what the earliest cycle did,
 * whichever was found first.
 */
#include "sm/state.h"

void sm_fail(struct sm *sm, int error, uint64_t fault_addr, const struct sm_kernel *kernel)
{
	/* Accesses are performed after later cycles have run. */
	if (sm->failure.error && sm->failure.cycle < sm->now)
		return;
	sm->failure = (struct sm_failure){
		.error = error, .cycle = sm->now, .fault_addr = fault_addr, .kernel = kernel,
	};
}

const struct sm_failure *sm_failure(const struct sm *sm)
{
	return sm->failure.error ? &sm->failure : NULL;
}
