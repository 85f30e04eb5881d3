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

static uint64_t textures_at(const struct gpu_work_launch *w)
{
	return (params_at(w) + w->param_bytes + 7) & ~7ull;
}

static uint64_t launch_bytes(const struct gpu_work_launch *w)
{
	return !w->ntextures ? params_at(w) + w->param_bytes :
	       textures_at(w) + w->ntextures * (uint64_t)sizeof(struct texture);
}

/* exec/texture.c divides by these numbers and uses them as indices: not every value will do. */
static bool textures_valid(const struct texture *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		bool channels = t[i].channels == 1 || t[i].channels == 2 || t[i].channels == 4;
		bool bytes = t[i].channel_bytes == 1 || t[i].channel_bytes == 2 ||
			     t[i].channel_bytes == 4;

		if (!channels || !bytes || t[i].kind >= TEXEL_KINDS ||
		    (i && t[i].handle <= t[i - 1].handle))
			return false;
	}
	return true;
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
	if (launch_bytes(&w) != bytes)
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
		.stack_bytes = w.stack_bytes,
		.ntextures = w.ntextures,
		.textures = w.ntextures ?
			(const void *)((const char *)payload + textures_at(&w)) : NULL,
	};
	memcpy(launch->grid, w.grid, sizeof(w.grid));
	memcpy(launch->block, w.block, sizeof(w.block));
	return textures_valid(launch->textures, w.ntextures) ? 0 : -EINVAL;
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
		.ntextures = launch->ntextures,
		.stack_bytes = launch->stack_bytes,
	};
	char *p;

	if (name_bytes < 2 || name_bytes > UINT32_MAX)
		return -EINVAL;
	w.name_bytes = (uint32_t)name_bytes;
	memcpy(w.grid, launch->grid, sizeof(w.grid));
	memcpy(w.block, launch->block, sizeof(w.block));
	*bytes = launch_bytes(&w);
	p = calloc(1, *bytes);
	if (!p)
		return -ENOMEM;
	memcpy(p, &w, sizeof(w));
	memcpy(p + sizeof(w), launch->kernel, name_bytes);
	if (w.param_bytes)
		memcpy(p + params_at(&w), launch->params, w.param_bytes);
	if (w.ntextures)
		memcpy(p + textures_at(&w), launch->textures,
		       w.ntextures * sizeof(struct texture));
	*payload = p;
	return 0;
}
