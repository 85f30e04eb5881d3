// SPDX-License-Identifier: GPL-2.0
/*
 * The program's advice on its managed memory. It is kept here, so that an engine that comes later
 * learns it. The engine follows it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Pieces being made anew: one more on each side of a range than there are. */
struct pieces {
	struct advice_range *at;
	uint32_t count;
};

/* Joins the piece before where it goes on with the same advice. */
static void add(struct pieces *p, uint64_t addr, uint64_t end, uint32_t flags)
{
	struct advice_range *last = p->count ? &p->at[p->count - 1] : NULL;

	if (addr >= end || !flags)
		return;
	if (last && last->flags == flags && last->addr + last->bytes == addr)
		last->bytes += end - addr;
	else
		p->at[p->count++] = (struct advice_range){ addr, end - addr, flags, 0 };
}

/* In [start, end), what is in `clear` is advised no more, what is in `set` is. -ENOMEM. */
static int change(const struct gpuemu_ctx *ctx, struct pieces *p, uint64_t start, uint64_t end,
		  uint32_t clear, uint32_t set)
{
	uint64_t at = start;

	/* Every piece may be cut in two, with a gap of the range's behind it. */
	p->count = 0;
	p->at = calloc(3 * (size_t)ctx->nadvice + 3, sizeof(*p->at));
	if (!p->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < ctx->nadvice; i++) {
		const struct advice_range *a = &ctx->advice[i];
		uint64_t a_end = a->addr + a->bytes;
		uint64_t from = MAX(a->addr, start), to = MIN(a_end, end);

		add(p, a->addr, MIN(a_end, start), a->flags);
		if (from < to) {
			add(p, at, from, set);
			add(p, from, to, (a->flags & ~clear) | set);
			at = to;
		} else if (a->addr >= end) {
			add(p, at, end, set);
			at = end;
		}
		add(p, MAX(a->addr, end), a_end, a->flags);
	}
	add(p, at, end, set);
	return 0;
}

void advice_forget(struct gpuemu_ctx *ctx, uint64_t addr, uint64_t bytes)
{
	uint32_t kept = 0;
	struct err err;

	/* An allocation is freed whole, and no piece is of two. */
	for (uint32_t i = 0; i < ctx->nadvice; i++)
		if (ctx->advice[i].addr < addr || ctx->advice[i].addr >= addr + bytes)
			ctx->advice[kept++] = ctx->advice[i];
	if (kept == ctx->nadvice)
		return;
	ctx->nadvice = kept;
	/* If the engine cannot be told now, the next work tells it. */
	ctx->backend->advise(ctx, &err);
}

/* The flags that an advice clears and sets. -EINVAL. */
static int flags_of(enum gpuemu_advice advice, int location, uint32_t *clear, uint32_t *set)
{
	const uint32_t preferred = ADVICE_PREFER_DEVICE | ADVICE_PREFER_HOST;
	bool known = location == GPUEMU_LOCATION_HOST || location == GPUEMU_LOCATION_DEVICE;
	bool device = location == GPUEMU_LOCATION_DEVICE;

	*clear = 0;
	*set = 0;
	switch (advice) {
	case GPUEMU_ADVISE_SET_READ_MOSTLY:
		*set = ADVICE_READ_MOSTLY;
		return 0;
	case GPUEMU_ADVISE_UNSET_READ_MOSTLY:
		*clear = ADVICE_READ_MOSTLY;
		return 0;
	case GPUEMU_ADVISE_SET_PREFERRED_LOCATION:
		*clear = preferred;
		*set = device ? ADVICE_PREFER_DEVICE : ADVICE_PREFER_HOST;
		return known ? 0 : -EINVAL;
	case GPUEMU_ADVISE_UNSET_PREFERRED_LOCATION:
		*clear = preferred;
		return 0;
	case GPUEMU_ADVISE_SET_ACCESSED_BY:
		*set = device ? ADVICE_ACCESSED_BY : 0;
		return known ? 0 : -EINVAL;
	case GPUEMU_ADVISE_UNSET_ACCESSED_BY:
		*clear = device ? ADVICE_ACCESSED_BY : 0;
		return known ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static bool same(const struct gpuemu_ctx *ctx, const struct pieces *p)
{
	return p->count == ctx->nadvice &&
	       (!p->count || !memcmp(p->at, ctx->advice, p->count * sizeof(*p->at)));
}

static int advise(struct gpuemu_ctx *ctx, uint64_t start, uint64_t end, uint32_t clear,
		  uint32_t set, struct err *err)
{
	struct pieces p;
	int ret = change(ctx, &p, start, end, clear, set);

	if (ret)
		return ret;
	if (p.count > ADVICE_MAX)
		ret = err_set(err, -ENOSPC, "advice on more than %u pieces of managed memory",
			      ADVICE_MAX);
	if (ret || same(ctx, &p)) {
		free(p.at);
		return ret;
	}
	free(ctx->advice);
	ctx->advice = p.at;
	ctx->nadvice = p.count;
	return ctx->backend->advise(ctx, err);
}

PUBLIC int gpuemu_mem_advise(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			     enum gpuemu_advice advice, int location)
{
	uint64_t start = (uintptr_t)ptr & ~(PAGE_BYTES - 1), end;
	struct err err = { "" };
	uint32_t clear, set;
	int ret;

	ctx_enter(ctx);
	ret = flags_of(advice, location, &clear, &set);
	if (ret)
		err_set(&err, ret, "no advice %d with location %d", (int)advice, location);
	else if (!bytes || !mem_is_pageable(ctx, ptr, bytes))
		ret = err_set(&err, -EINVAL,
			      "advice on %zu bytes at %p: not inside a managed allocation", bytes,
			      ptr);
	else if (set & ADVICE_READ_MOSTLY && ctx->backend->no_duplicates)
		ret = err_set(&err, -EOPNOTSUPP, "backend %s cannot duplicate pages",
			      ctx->backend->name);
	if (ret)
		return ctx_leave(ctx, ret, &err);
	end = ((uintptr_t)ptr + bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	return ctx_leave(ctx, advise(ctx, start, end, clear, set, &err), &err);
}
