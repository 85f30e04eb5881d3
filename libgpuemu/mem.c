// SPDX-License-Identifier: GPL-2.0
/*
 * Managed memory: addresses that CPU and GPU share. Addresses are chosen here,
 * the same for the same calls whatever the process's layout, so that a run can
 * be repeated to the cycle; who backs them is the backend's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

/* An occupied place of the arena is stepped over. */
#define STEP_OVER	(1ull << 30)
#define SMALL_ALIGN	(64ull << 10)
#define BLOCK_BYTES	(1ull << BLOCK_SHIFT)

static uintptr_t align_up(uintptr_t addr, uintptr_t align)
{
	return (addr + align - 1) & ~(align - 1);
}

/*
 * The first gap from `from` on that fits, with an unmapped page behind each
 * allocation so that running off the end faults. 0: none. A large range starts
 * a VA block, so that it has as few of them as it can.
 */
static uintptr_t find_gap(const struct gpuemu_ctx *ctx, uintptr_t from, size_t bytes)
{
	uintptr_t align = bytes >= BLOCK_BYTES ? BLOCK_BYTES : SMALL_ALIGN;
	uintptr_t addr = align_up(from, align);

	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		if (a->addr + a->bytes + PAGE_BYTES > addr && a->addr < addr + bytes + PAGE_BYTES)
			addr = align_up(a->addr + a->bytes + PAGE_BYTES, align);
	return addr <= ARENA_END && ARENA_END - addr >= bytes ? addr : 0;
}

/* Reserves without touching: no page, no access, no commit charge. */
static void *reserve_at(uintptr_t addr, size_t bytes)
{
	void *p = mmap((void *)addr, bytes, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != MAP_FAILED && p != (void *)addr) {
		munmap(p, bytes);	/* a kernel before 4.17 took it for a hint */
		return NULL;
	}
	return p == MAP_FAILED ? NULL : p;
}

static void *reserve(const struct gpuemu_ctx *ctx, size_t bytes)
{
	uintptr_t addr = find_gap(ctx, ARENA_START, bytes);
	void *p;

	while (addr) {
		p = reserve_at(addr, bytes);
		if (p)
			return p;
		if (errno != EEXIST)
			break;
		addr = find_gap(ctx, addr + STEP_OVER, bytes);
	}
	/* A layout that keeps the arena to itself: anywhere below 2^47 will do. */
	p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static int insert(struct gpuemu_ctx *ctx, void *ptr, size_t bytes, enum mem_kind kind)
{
	struct allocation **at = &ctx->allocations, *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	while (*at && (*at)->addr < (uintptr_t)ptr)
		at = &(*at)->next;
	*a = (struct allocation){
		.next = *at, .addr = (uintptr_t)ptr, .bytes = bytes, .kind = kind
	};
	*at = a;
	return 0;
}

static int no_space(size_t bytes, struct err *err)
{
	return err_set(err, -ENOMEM, "no address space for %zu bytes of managed memory", bytes);
}

int mem_alloc(struct gpuemu_ctx *ctx, void **ptr, size_t bytes, enum mem_kind kind,
	      struct err *err)
{
	size_t whole = align_up(bytes, PAGE_BYTES);
	void *p;
	int ret;

	if (bytes == 0)
		return err_set(err, -EINVAL, "managed memory of 0 bytes");
	if (whole < bytes || whole > ARENA_END - ARENA_START)
		return no_space(bytes, err);
	p = reserve(ctx, whole);
	if (!p)
		return no_space(bytes, err);
	ret = kind == MEM_DEVICE ? ctx->backend->map_device(ctx, p, whole, err) :
				   ctx->backend->map(ctx, p, whole, err);
	if (ret) {
		munmap(p, whole);
		return ret;
	}
	*ptr = p;
	return insert(ctx, p, whole, kind);
}

PUBLIC int gpuemu_mem_alloc_managed(struct gpuemu_ctx *ctx, void **ptr, size_t bytes)
{
	struct err err = { "" };

	*ptr = NULL;
	ctx_enter(ctx);
	return ctx_leave(ctx, mem_alloc(ctx, ptr, bytes, MEM_MANAGED, &err), &err);
}

static int alloc_device(struct gpuemu_ctx *ctx, void **ptr, size_t bytes, struct err *err)
{
	size_t whole = align_up(bytes, BLOCK_BYTES);

	if (!ctx->backend->map_device)
		return err_set(err, -EOPNOTSUPP, "backend %s has no memory that is not paged",
			       ctx->backend->name);
	return mem_alloc(ctx, ptr, whole < bytes ? bytes : whole, MEM_DEVICE, err);
}

PUBLIC int gpuemu_mem_alloc_device(struct gpuemu_ctx *ctx, void **ptr, size_t bytes)
{
	struct err err = { "" };

	*ptr = NULL;
	ctx_enter(ctx);
	return ctx_leave(ctx, alloc_device(ctx, ptr, bytes, &err), &err);
}

/*
 * --- memory of the program's own: an array that malloc() gave, a variable ------------------------
 *
 * It stays where it is and keeps what it holds; a backend that pages by other pages than the
 * program's (uffd, kmod) has them put in its place.
 */

static bool is_known(const struct gpuemu_ctx *ctx, uintptr_t addr, size_t bytes)
{
	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		if (a->addr < addr + bytes && addr < a->addr + a->bytes)
			return true;
	return false;
}

static int adopt(struct gpuemu_ctx *ctx, void *at, size_t bytes, struct err *err)
{
	void *kept;
	int ret;

	if (ctx->backend->adopt)
		return ctx->backend->adopt(ctx, at, bytes, err);
	kept = malloc(bytes);
	if (!kept)
		return err_set(err, -ENOMEM, "no memory to keep %zu bytes", bytes);
	memcpy(kept, at, bytes);
	ret = ctx->backend->map(ctx, at, bytes, err);
	if (!ret)
		memcpy(at, kept, bytes);
	free(kept);
	return ret;
}

static void release(struct gpuemu_ctx *ctx, const struct allocation *a)
{
	void *at = (void *)a->addr, *kept;

	if (ctx->backend->release) {
		ctx->backend->release(ctx, at, a->bytes);
		return;
	}
	/* Pages that cannot be kept stay what they are: managed by nobody, but there. */
	kept = malloc(a->bytes);
	if (!kept)
		return;
	memcpy(kept, at, a->bytes);
	ctx->backend->drop(ctx, at, a->bytes);
	if (mmap(at, a->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != MAP_FAILED)
		memcpy(at, kept, a->bytes);
	free(kept);
}

static void drop(struct gpuemu_ctx *ctx, const struct allocation *a)
{
	if (a->kind == MEM_REGISTERED)
		release(ctx, a);
	else if (a->kind == MEM_DEVICE)
		ctx->backend->drop_device(ctx, (void *)a->addr, a->bytes);
	else
		ctx->backend->drop(ctx, (void *)a->addr, a->bytes);
}

int mem_free(struct gpuemu_ctx *ctx, void *ptr, bool segment)
{
	struct allocation **at = &ctx->allocations, *a;
	uintptr_t page = (uintptr_t)ptr & ~(uintptr_t)(PAGE_BYTES - 1);

	while (*at && (*at)->addr != ((*at)->kind == MEM_REGISTERED ? page : (uintptr_t)ptr))
		at = &(*at)->next;
	a = *at;
	if (!a || (a->kind == MEM_SEGMENT) != segment)
		return -EINVAL;
	*at = a->next;
	advice_forget(ctx, a->addr, a->bytes);
	drop(ctx, a);
	free(a);
	return 0;
}

PUBLIC int gpuemu_mem_free(struct gpuemu_ctx *ctx, void *ptr)
{
	struct err err = { "" };
	int ret;

	ctx_enter(ctx);
	stream_wait_all(ctx);
	ret = mem_free(ctx, ptr, false);
	if (ret)
		err_set(&err, ret, "%p is no managed allocation", ptr);
	return ctx_leave(ctx, ret, &err);
}

static int mem_register(struct gpuemu_ctx *ctx, void *ptr, size_t bytes, struct err *err)
{
	const uintptr_t mask = PAGE_BYTES - 1, addr = (uintptr_t)ptr;
	const uintptr_t from = addr & ~mask, to = (addr + bytes + mask) & ~mask;
	int ret;

	if (!bytes || addr + bytes < addr || !to)
		return err_set(err, -EINVAL, "%zu bytes of memory to register", bytes);
	if (is_known(ctx, from, to - from))
		return err_set(err, -EEXIST, "a page of %zu bytes at %p is managed memory already",
			       bytes, ptr);
	ret = adopt(ctx, (void *)from, to - from, err);
	return ret ? ret : insert(ctx, (void *)from, to - from, MEM_REGISTERED);
}

PUBLIC int gpuemu_mem_register(struct gpuemu_ctx *ctx, void *ptr, size_t bytes)
{
	struct err err = { "" };

	ctx_enter(ctx);
	stream_wait_all(ctx);
	return ctx_leave(ctx, mem_register(ctx, ptr, bytes, &err), &err);
}

bool mem_is_managed(const struct gpuemu_ctx *ctx, const void *ptr, size_t bytes)
{
	uintptr_t addr = (uintptr_t)ptr;

	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		if (addr >= a->addr && addr - a->addr < a->bytes && a->kind != MEM_DEVICE)
			return bytes <= a->bytes - (addr - a->addr);
	return false;
}

bool mem_is_pageable(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes)
{
	if (mem_is_managed(ctx, ptr, bytes))
		return true;
	if (!ctx->pageable || !ctx->backend->manage || !ptr || !bytes)
		return false;
	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		if (a->addr < (uintptr_t)ptr + bytes && (uintptr_t)ptr < a->addr + a->bytes)
			return false;
	return !ctx->backend->manage(ctx, (uintptr_t)ptr, bytes);
}

static int prefetch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes, bool to_host,
		    struct gpuemu_stream *stream)
{
	struct work work = {
		.kind = PREFETCH,
		.prefetch = { (uintptr_t)ptr, bytes, to_host },
	};
	struct gpuemu_stream *s;
	struct err err = { "" };
	int ret;

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	if (!s)
		ret = err_set(&err, -EINVAL, "not a stream of this context");
	else if (!mem_is_pageable(ctx, ptr, bytes))
		ret = err_set(&err, -EINVAL,
			      "prefetch of %zu bytes at %p: not inside a managed allocation",
			      bytes, ptr);
	else
		ret = bytes ? ctx->backend->submit(ctx, s, &work, &err) : 0;
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_mem_prefetch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			       struct gpuemu_stream *stream)
{
	return prefetch(ctx, ptr, bytes, false, stream);
}

PUBLIC int gpuemu_mem_prefetch_host(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
				    struct gpuemu_stream *stream)
{
	return prefetch(ctx, ptr, bytes, true, stream);
}

PUBLIC int gpuemu_mem_copy(struct gpuemu_ctx *ctx, void *dst, const void *src, size_t bytes,
			   unsigned int flags, struct gpuemu_stream *stream)
{
	const unsigned int known = GPUEMU_COPY_HOME | GPUEMU_COPY_INSIDE | GPUEMU_COPY_PAGEABLE;
	const struct copy copy = { dst, src, bytes, flags };
	struct gpuemu_stream *s;
	struct err err = { "" };
	int ret = 0;

	ctx_enter(ctx);
	s = stream_of(ctx, stream);
	if (!s)
		ret = err_set(&err, -EINVAL, "not a stream of this context");
	else if (flags & ~known || !dst != !src)
		ret = err_set(&err, -EINVAL, "a copy from %p to %p with flags 0x%x", src, dst, flags);
	else if (!ctx->backend->copy)
		ret = err_set(&err, -EOPNOTSUPP, "backend %s has no copy engine", ctx->backend->name);
	else if (bytes)
		ret = ctx->backend->copy(ctx, s, &copy);
	return ctx_leave(ctx, ret, &err);
}

void mem_free_all(struct gpuemu_ctx *ctx)
{
	free(ctx->advice);
	ctx->advice = NULL;
	ctx->nadvice = 0;
	while (ctx->allocations) {
		struct allocation *a = ctx->allocations;

		ctx->allocations = a->next;
		drop(ctx, a);
		free(a);
	}
}
