/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gpuemu-policy-host: the process of one loaded policy. main.c answers the engine's
 * calls, load.c opens the object, confine.c gives up what a policy does not need.
 */
#ifndef GPUEMU_POLICY_HOST_H
#define GPUEMU_POLICY_HOST_H

#include "base/rng.h"
#include "plugin/channel.h"
#include "plugin/pages.h"

struct host {
	struct channel *channel;
	const struct gpuemu_prefetch_ops *prefetch;	/* one of the two */
	const struct gpuemu_evict_ops *evict;
	struct gpuemu_policy_view view;
	void *state;
	bool created;
	struct pages here;
	struct gpuemu_policy_range ranges[CHANNEL_RANGES];
	unsigned int nranges, ncounters;
	uint64_t options[CHANNEL_OPTIONS];
	uint64_t picks;			/* numbers kept[] of here */
	struct rng rng;
};

/* Opens channel->path and describes it in the channel. 0, or -errno with channel->message. */
int host_load(struct host *host);
/* Only the engine's descriptors, less memory; ends with the engine. Before anything else. */
void confine_process(void);
/* As user and group uid (0: stay). -errno. */
int confine_user(uint32_t uid);
/* No programs, processes, signals to others or network from here on. -errno: nothing holds that. */
int confine_calls(void);

#endif
