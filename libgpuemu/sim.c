// SPDX-License-Identifier: GPL-2.0
/*
 * The sim backend: the engine in this process, on the caller's thread, and
 * pages that move by bookkeeping. A launch in the default stream runs to its
 * end before it returns; launches in other streams when something waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine.h"
#include "service/sim.h"

static bool sim_present(const char *device)
{
	return true;
}

static void finish(struct gpuemu_ctx *ctx)
{
	engine_finish(ctx->state);
	engine_reap(ctx, ctx->state);
}

static void sim_close(struct gpuemu_ctx *ctx)
{
	struct engine *e = ctx->state;

	if (!e)
		return;
	if (e->session)
		finish(ctx);
	engine_close(e);
	free(e);
	ctx->state = NULL;
}

static int sim_open(struct gpuemu_ctx *ctx, const char *device, struct err *err)
{
	struct gpu_spec *spec = &ctx->spec;
	struct engine *e = calloc(1, sizeof(*e));
	struct service *service;
	int ret;

	if (!e)
		return -ENOMEM;
	ctx->state = e;
	engine_default_vram(spec);
	ret = service_sim_create(spec->vram_bytes, spec->service_ns, spec->service_page_ns,
				 &service);
	if (ret)
		err_set(err, ret, "paging.vram=%llu: no such device memory can be simulated",
			(unsigned long long)spec->vram_bytes);
	else
		ret = engine_open(e, service, spec, &ctx->recorded, err);
	if (!ret && ctx->pageable)
		engine_give_system(e);
	if (ret)
		sim_close(ctx);
	return ret;
}

static int sim_configure(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	const struct gpu_spec *spec = &ctx->spec;
	struct engine *e = ctx->state;
	int ret;

	finish(ctx);
	ret = service_sim_configure(e->service, spec->vram_bytes, spec->service_ns,
				    spec->service_page_ns);
	if (ret == -EBUSY)
		return err_set(err, ret,
			       "paging.vram=%llu: more is in device memory now; free some first",
			       (unsigned long long)spec->vram_bytes);
	return ret ? ret : gpu_session_configure(e->session, spec, err);
}

/* Where addresses were reserved. */
static bool host_memory(void *addr, size_t bytes)
{
	return mmap(addr, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static int sim_adopt(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct engine *e = ctx->state;
	int ret;

	ret = service_sim_map(e->service, VA_SPACE, (uintptr_t)addr, bytes);
	return ret ? err_set(err, ret, "%zu bytes of managed memory: %s", bytes,
			     gpuemu_strerror(ret)) : 0;
}

static int sim_manage(struct gpuemu_ctx *ctx, uintptr_t addr, size_t bytes)
{
	return engine_adopt(ctx->state, addr, bytes);
}

static int sim_map(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	if (!host_memory(addr, bytes))
		return err_set(err, -ENOMEM, "no memory for %zu bytes of managed memory", bytes);
	return sim_adopt(ctx, addr, bytes, err);
}

static void sim_release(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct engine *e = ctx->state;

	finish(ctx);
	service_sim_unmap(e->service, VA_SPACE, (uintptr_t)addr, bytes);
	gpu_poll(e->gpu);
}

static void sim_drop(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	sim_release(ctx, addr, bytes);
	munmap(addr, bytes);
}

/* Managed memory goes home, one allocation after the other, until there is room. */
static int make_room(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct engine *e = ctx->state;
	int ret = -EBUSY;

	for (const struct allocation *a = ctx->allocations; a && ret == -EBUSY; a = a->next) {
		if (a->kind == MEM_DEVICE)
			continue;
		ret = gpu_session_prefetch_host(e->session, a->addr, a->bytes, err);
		if (!ret)
			ret = service_sim_map_device(e->service, VA_SPACE, (uintptr_t)addr, bytes);
	}
	return ret;
}

static int sim_map_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct engine *e = ctx->state;
	int ret;

	finish(ctx);
	ret = service_sim_map_device(e->service, VA_SPACE, (uintptr_t)addr, bytes);
	if (ret == -EBUSY)
		ret = make_room(ctx, addr, bytes, err);
	if (ret == -ENOSPC)
		return err_set(err, -ENOMEM, "no %zu bytes of device memory are left", bytes);
	if (!ret && !host_memory(addr, bytes)) {
		service_sim_unmap_device(e->service, VA_SPACE, (uintptr_t)addr);
		ret = -ENOMEM;
	}
	return ret ? err_set(err, ret, "%zu bytes of device memory: %s", bytes,
			     gpuemu_strerror(ret)) : 0;
}

static void sim_drop_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct engine *e = ctx->state;

	finish(ctx);
	service_sim_unmap_device(e->service, VA_SPACE, (uintptr_t)addr);
	gpu_poll(e->gpu);
	munmap(addr, bytes);
}

static int sim_copy(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct copy *copy)
{
	int ret = engine_copy(ctx->state, stream, copy, engine_copy_cycles(&ctx->spec, copy));

	engine_reap(ctx, ctx->state);
	return ret;
}

static int sim_load(struct gpuemu_ctx *ctx, struct gpuemu_module *module, const char *text,
		    size_t bytes, struct err *err)
{
	return engine_load(ctx->state, module, text, bytes, err);
}

static void sim_unload(struct gpuemu_ctx *ctx, struct gpuemu_module *module)
{
	struct engine *e = ctx->state;

	finish(ctx);
	gpu_session_unload(e->session, module->id);
}

static int sim_constants(struct gpuemu_ctx *ctx, struct gpuemu_module *module, struct err *err)
{
	return engine_constants(ctx->state, module, err);
}

static int sim_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
		      const struct work *work, struct err *err)
{
	struct err late = { "" };
	int ret = 0;

	switch (work->kind) {
	case LAUNCH:
		ret = engine_launch(ctx->state, stream, &work->launch);
		break;
	case DELAY:
		ret = engine_delay(ctx->state, stream, work->cycle);
		break;
	case RECORD:
	case AWAIT:
		ret = engine_event(ctx->state, stream, work);
		break;
	case PREFETCH:
		ret = engine_prefetch(ctx->state, stream, work, &late);
		if (ret)
			stream_fail(stream, ret, &late);
		ret = 0;
		break;
	}
	engine_reap(ctx, ctx->state);
	return ret;
}

static void sim_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n)
{
	uint32_t *ids = engine_streams(streams, n);

	/* Without memory it waits for more. */
	if (ids)
		engine_wait(ctx->state, ids, n);
	else
		engine_finish(ctx->state);
	free(ids);
	engine_reap(ctx, ctx->state);
}

static void sim_wait_mark(struct gpuemu_ctx *ctx, uint64_t mark)
{
	engine_wait_mark(ctx->state, mark);
	engine_reap(ctx, ctx->state);
}

static void sim_pass(struct gpuemu_ctx *ctx, uint64_t cycles)
{
	engine_pass(ctx->state, cycles);
	engine_reap(ctx, ctx->state);
}

static int sim_halt_after(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
			  uint64_t instructions, struct err *err)
{
	struct engine *e = ctx->state;

	return gpu_session_halt_after(e->session, stream->id, instructions);
}

static int sim_halt_at(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
		       uint64_t cycle, struct err *err)
{
	struct engine *e = ctx->state;

	return gpu_session_halt_at(e->session, stream->id, cycle);
}

static bool sim_idle(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream)
{
	return engine_idle(ctx->state, stream->id);
}

static int sim_advise(struct gpuemu_ctx *ctx, struct err *err)
{
	struct engine *e = ctx->state;

	finish(ctx);
	return gpu_session_set_advice(e->session, ctx->advice, ctx->nadvice, err);
}

static int sim_statistics(struct gpuemu_ctx *ctx, char **json, struct err *err)
{
	finish(ctx);
	return engine_statistics(ctx->state, json);
}

static int sim_touches(struct gpuemu_ctx *ctx, struct record *record, struct err *err)
{
	finish(ctx);
	return engine_touches(ctx->state, record, err);
}

static int sim_touch(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		     struct err *err)
{
	finish(ctx);
	return engine_touch(ctx->state, touch, json, err);
}

static struct gpu_progress sim_progress(const struct gpuemu_ctx *ctx)
{
	const struct engine *e = ctx->state;

	return gpu_session_progress(e->session);
}

const struct backend_ops backend_sim = {
	.name = "sim",
	.pageable = true,
	.present = sim_present,
	.open = sim_open,
	.close = sim_close,
	.configure = sim_configure,
	.map = sim_map,
	.adopt = sim_adopt,
	.release = sim_release,
	.drop = sim_drop,
	.manage = sim_manage,
	.map_device = sim_map_device,
	.drop_device = sim_drop_device,
	.copy = sim_copy,
	.load = sim_load,
	.unload = sim_unload,
	.constants = sim_constants,
	.submit = sim_submit,
	.wait = sim_wait,
	.idle = sim_idle,
	.wait_mark = sim_wait_mark,
	.progress = sim_progress,
	.pass = sim_pass,
	.halt_after = sim_halt_after,
	.halt_at = sim_halt_at,
	.advise = sim_advise,
	.statistics = sim_statistics,
	.touches = sim_touches,
	.touch = sim_touch,
};
