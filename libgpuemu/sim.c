// SPDX-License-Identifier: GPL-2.0
/*
 * The sim backend: the whole engine in this process. A launch in the default stream
 * runs to its end before it returns, and all that was queued before it. Launches in other
 * streams are queued until something waits, and then run side by side; waiting takes
 * no virtual time, so it is as if they had begun at once. Errors wait in their streams.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"
#include "service/service.h"

#define VA_SPACE	1u	/* the only one */

/* Launches that wait, at most: what they keep is memory. */
#define QUEUE_MAX	256u

struct sim {
	struct service *service;
	struct gpu *gpu;
	struct gpu_session *session;
	uint32_t next_module;
	unsigned int queued;
};

/* One queued launch. */
struct told {
	struct gpuemu_ctx *ctx;
	struct gpuemu_stream *stream;
};

static bool sim_present(const char *device)
{
	return true;
}

/* Does what is queued; what it prints is printed, its errors are in the streams. */
static void finish(struct sim *sim)
{
	if (sim->session)
		gpu_session_finish(sim->session);
	sim->queued = 0;
}

static void sim_close(struct gpuemu_ctx *ctx)
{
	struct sim *sim = ctx->state;

	if (!sim)
		return;
	finish(sim);
	if (sim->session)
		gpu_session_destroy(sim->session);
	if (sim->gpu)
		gpu_destroy(sim->gpu);
	if (sim->service)
		sim->service->ops->destroy(sim->service);
	free(sim);
	ctx->state = NULL;
}

/* Device memory nobody asked for by size has the default's. */
static void settle_vram(struct gpu_spec *spec)
{
	struct gpu_spec defaults;

	spec_defaults(&defaults);
	if (!spec->vram_bytes)
		spec->vram_bytes = defaults.vram_bytes;
}

static int sim_open(struct gpuemu_ctx *ctx, const char *device, struct err *err)
{
	struct gpu_spec *spec = &ctx->spec;
	struct sim *sim = calloc(1, sizeof(*sim));
	int ret;

	if (!sim)
		return -ENOMEM;
	ctx->state = sim;
	settle_vram(spec);
	ret = service_sim_create(spec->vram_bytes, spec->service_ns, spec->link_mbps,
				 &sim->service);
	if (ret)
		err_set(err, ret, "paging.vram=%llu: no such device memory can be simulated",
			(unsigned long long)spec->vram_bytes);
	else
		ret = gpu_create(sim->service, &sim->gpu, err);
	if (!ret)
		ret = gpu_session_create(sim->gpu, VA_SPACE, spec, &sim->session, err);
	if (ret)
		sim_close(ctx);
	return ret;
}

static int sim_configure(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	const struct gpu_spec *spec = &ctx->spec;
	struct sim *sim = ctx->state;
	int ret;

	finish(sim);
	ret = service_sim_configure(sim->service, spec->vram_bytes, spec->service_ns,
				    spec->link_mbps);
	if (ret == -EBUSY)
		return err_set(err, ret,
			       "paging.vram=%llu: more is in device memory now; free some first",
			       (unsigned long long)spec->vram_bytes);
	return ret ? ret : gpu_session_configure(sim->session, spec, err);
}

static int sim_map(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct sim *sim = ctx->state;
	int ret;

	if (mmap(addr, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return err_set(err, -ENOMEM, "no memory for %zu bytes of managed memory", bytes);
	ret = service_sim_map(sim->service, VA_SPACE, (uintptr_t)addr, bytes);
	return ret ? err_set(err, ret, "%zu bytes of managed memory: %s", bytes,
			     gpuemu_strerror(ret)) : 0;
}

static void sim_drop(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct sim *sim = ctx->state;

	finish(sim);
	service_sim_unmap(sim->service, VA_SPACE, (uintptr_t)addr, bytes);
	gpu_poll(sim->gpu);
	munmap(addr, bytes);
}

static int sim_load(struct gpuemu_ctx *ctx, struct gpuemu_module *module, const char *text,
		    size_t bytes, struct err *err)
{
	struct sim *sim = ctx->state;

	module->id = ++sim->next_module;
	return gpu_session_load(sim->session, module->id, module->name, text, bytes,
				(uintptr_t)module->segment, err);
}

static void sim_unload(struct gpuemu_ctx *ctx, struct gpuemu_module *module)
{
	struct sim *sim = ctx->state;

	finish(sim);
	gpu_session_unload(sim->session, module->id);
}

static void tell(void *arg, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct told *told = arg;

	/* Also of a launch that failed: what it said before may say why. */
	if (output)
		print_text(told->ctx, output, bytes);
	free(output);
	if (status)
		stream_fail(told->stream, status, err);
	free(told);
}

static int queue_launch(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
			const struct gpu_launch *launch)
{
	struct sim *sim = ctx->state;
	struct told *told = malloc(sizeof(*told));
	int ret;

	if (!told)
		return -ENOMEM;
	*told = (struct told){ ctx, stream };
	ret = gpu_session_submit(sim->session, stream->id, launch, tell, told);
	if (ret) {
		free(told);
		return ret;
	}
	/* The default stream's is behind all others, and all others behind it: it may run now. */
	if (!stream->id || ++sim->queued >= QUEUE_MAX)
		finish(sim);
	return 0;
}

static int sim_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
		      const struct work *work, struct err *err)
{
	struct sim *sim = ctx->state;
	struct err late = { "" };
	int ret;

	if (work->kind == LAUNCH)
		return queue_launch(ctx, stream, &work->launch);
	finish(sim);
	ret = gpu_session_prefetch(sim->session, work->prefetch.addr, work->prefetch.bytes,
				   &late);
	if (ret)
		stream_fail(stream, ret, &late);
	return 0;
}

static void sim_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	finish(ctx->state);
}

static int sim_statistics(struct gpuemu_ctx *ctx, char **json, struct err *err)
{
	struct sim *sim = ctx->state;

	finish(sim);
	*json = gpu_session_statistics(sim->session);
	return *json ? 0 : -ENOMEM;
}

static int sim_touch(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		     struct err *err)
{
	struct sim *sim = ctx->state;

	finish(sim);
	return gpu_session_touch(sim->session, touch->addr, touch->bytes, touch->stride,
				 touch->batch, touch->write, json, err);
}

const struct backend_ops backend_sim = {
	.name = "sim",
	.present = sim_present,
	.open = sim_open,
	.close = sim_close,
	.configure = sim_configure,
	.map = sim_map,
	.drop = sim_drop,
	.load = sim_load,
	.unload = sim_unload,
	.submit = sim_submit,
	.wait = sim_wait,
	.statistics = sim_statistics,
	.touch = sim_touch,
};
