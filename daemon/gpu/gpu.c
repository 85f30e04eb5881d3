// SPDX-License-Identifier: GPL-2.0
/*
 * A GPU: the service with paging's pool of frames before it, and its sessions. Used by
 * the daemon and by libgpuemu in process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/session.h"

int gpu_create(struct service *service, struct gpu **out, struct err *err)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));
	int ret;

	if (!gpu)
		return err_set(err, -ENOMEM, "out of memory");
	gpu->service = service;
	ret = paging_pool_create(service, &gpu->pool);
	if (ret) {
		free(gpu);
		return err_set(err, ret, "the pool of frames cannot be made: %s",
			       strerror(-ret));
	}
	*out = gpu;
	return 0;
}

void gpu_destroy(struct gpu *gpu)
{
	if (!gpu)
		return;
	while (gpu->sessions)
		gpu_session_destroy(gpu->sessions);
	paging_pool_destroy(gpu->pool);
	free(gpu);
}

void gpu_policy_site(struct gpu *gpu, const struct plugin_site *site)
{
	paging_pool_site(gpu->pool, site);
}
