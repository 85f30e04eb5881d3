// SPDX-License-Identifier: GPL-2.0
/* A prefetch policy that names nothing and takes 3 ms for it: the policy of a busy machine. */
#include <time.h>

#include <gpuemu_policy.h>

static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	const struct timespec wait = { 0, 3000000 };

	(void)state, (void)view, (void)faults, (void)n, (void)pages, (void)max;
	nanosleep(&wait, NULL);
	return 0;
}

const struct gpuemu_prefetch_ops gpuemu_prefetch = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "slow",
	.help = "nothing, after 3 ms",
	.on_batch = on_batch,
};
