// SPDX-License-Identifier: GPL-2.0
/* Textures and surfaces: what their handles mean. Each launch that reads some takes it along. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "internal.h"

_Static_assert((int)GPUEMU_TEXEL_FLOAT == (int)TEXEL_FLOAT &&
	       (int)GPUEMU_TEXEL_SIGNED == (int)TEXEL_SIGNED, "the engine's numbers");
_Static_assert(GPUEMU_TEXTURE_LINEAR == TEXTURE_LINEAR &&
	       GPUEMU_TEXTURE_NORMALIZED == TEXTURE_NORMALIZED &&
	       GPUEMU_TEXTURE_AS_FLOAT == TEXTURE_AS_FLOAT &&
	       GPUEMU_TEXTURE_MEMORY == TEXTURE_MEMORY, "the engine's numbers");

/* The first whose handle is not below. */
static uint32_t find(const struct gpuemu_ctx *ctx, uint64_t handle)
{
	uint32_t i = 0;

	while (i < ctx->ntextures && ctx->textures[i].handle < handle)
		i++;
	return i;
}

static bool power(unsigned int n)
{
	return n == 1 || n == 2 || n == 4;
}

static int check(const struct gpuemu_texture *t, struct err *err)
{
	if (!power(t->channels) || !power(t->channel_bytes) ||
	    (unsigned int)t->kind >= TEXEL_KINDS ||
	    (t->kind == GPUEMU_TEXEL_FLOAT && t->channel_bytes == 1))
		return err_set(err, -EINVAL, "textures have no elements of %u channels of %u bytes",
			       t->channels, t->channel_bytes);
	if (!t->base || !t->width || t->pitch > UINT32_MAX)
		return err_set(err, -EINVAL, "a texture of %u elements at %p", t->width, t->base);
	return 0;
}

static int set(struct gpuemu_ctx *ctx, uint64_t handle, const struct gpuemu_texture *t,
	       struct err *err)
{
	uint32_t i = find(ctx, handle);
	bool known = i < ctx->ntextures && ctx->textures[i].handle == handle;
	int ret = check(t, err);

	if (ret)
		return ret;
	if (!known) {
		if (array_reserve(ctx->textures, ctx->texture_room, ctx->ntextures + 1))
			return -ENOMEM;
		memmove(&ctx->textures[i + 1], &ctx->textures[i],
			(ctx->ntextures++ - i) * sizeof(*ctx->textures));
	}
	ctx->textures[i] = (struct texture){
		.handle = handle, .base = (uintptr_t)t->base, .slice = t->slice,
		.width = t->width, .height = t->height, .depth = t->depth,
		.pitch = (uint32_t)t->pitch, .channels = t->channels,
		.channel_bytes = t->channel_bytes, .kind = (uint32_t)t->kind, .flags = t->flags,
		.border = { t->border[0], t->border[1], t->border[2], t->border[3] },
	};
	return 0;
}

static void forget(struct gpuemu_ctx *ctx, uint64_t handle)
{
	uint32_t i = find(ctx, handle);

	if (i == ctx->ntextures || ctx->textures[i].handle != handle)
		return;
	memmove(&ctx->textures[i], &ctx->textures[i + 1],
		(--ctx->ntextures - i) * sizeof(*ctx->textures));
}

PUBLIC int gpuemu_texture_set(struct gpuemu_ctx *ctx, uint64_t handle,
			      const struct gpuemu_texture *texture)
{
	struct err err = { "" };
	int ret = 0;

	ctx_enter(ctx);
	if (texture)
		ret = set(ctx, handle, texture, &err);
	else
		forget(ctx, handle);
	return ctx_leave(ctx, ret, &err);
}
