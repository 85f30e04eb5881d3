// SPDX-License-Identifier: GPL-2.0
/*
 * Launch payloads between libgpuemu and the daemon. The bytes come from a
 * client that is not trusted: nothing is used before it is known to be inside
 * the payload, and lengths are added in 64 bits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

static uint64_t params_at(const struct gpu_work_launch *w)
{
	return (sizeof(*w) + (uint64_t)w->name_bytes + 7) & ~7ull;
}

int gpu_work_decode_launch(const void *payload, size_t bytes,
			   struct gpu_launch *launch)
{
	struct gpu_work_launch w;
	const char *name;

	if (bytes < sizeof(w))
		return -EINVAL;
	memcpy(&w, payload, sizeof(w));
	if (w.size != sizeof(w) || w.reserved)
		return -EINVAL;
	/* The whole of it, and nothing behind it. */
	if (params_at(&w) + w.param_bytes != bytes)
		return -EINVAL;
	name = (const char *)payload + sizeof(w);
	/* A name, and one that ends where it says. */
	if (w.name_bytes < 2 || memchr(name, 0, w.name_bytes) != name + w.name_bytes - 1)
		return -EINVAL;
	*launch = (struct gpu_launch){
		.module = w.module,
		.kernel = name,
		.dynamic_shared = w.dynamic_shared,
		.params = (const char *)payload + params_at(&w),
		.param_bytes = w.param_bytes,
	};
	memcpy(launch->grid, w.grid, sizeof(w.grid));
	memcpy(launch->block, w.block, sizeof(w.block));
	return 0;
}

int gpu_work_encode_launch(const struct gpu_launch *launch, void **payload,
			   size_t *bytes)
{
	size_t name_bytes = strlen(launch->kernel) + 1;
	struct gpu_work_launch w = {
		.size = sizeof(w),
		.module = launch->module,
		.dynamic_shared = launch->dynamic_shared,
		.param_bytes = launch->param_bytes,
	};
	char *p;

	if (name_bytes < 2 || name_bytes > UINT32_MAX)
		return -EINVAL;
	w.name_bytes = (uint32_t)name_bytes;
	memcpy(w.grid, launch->grid, sizeof(w.grid));
	memcpy(w.block, launch->block, sizeof(w.block));
	*bytes = params_at(&w) + w.param_bytes;
	p = calloc(1, *bytes);
	if (!p)
		return -ENOMEM;
	memcpy(p, &w, sizeof(w));
	memcpy(p + sizeof(w), launch->kernel, name_bytes);
	if (w.param_bytes)
		memcpy(p + params_at(&w), launch->params, w.param_bytes);
	*payload = p;
	return 0;
}
