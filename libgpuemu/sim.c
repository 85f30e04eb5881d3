// SPDX-License-Identifier: GPL-2.0
/*
 * The sim backend: the whole engine in this process. A launch runs to its end
 * before it returns; its error waits in the stream, as it would on a GPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"
#include "service/service.h"

#define VA_SPACE	1u	/* the only one */

struct sim {
	struct service *service;
	struct gpu *gpu;
	struct gpu_session *session;
	uint32_t next_module;
};

static bool sim_present(const char *device)
{
	return true;
}

static void sim_close(struct gpuemu_ctx *ctx)
{
	struct sim *sim = ctx->state;

	if (!sim)
		return;
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

	gpu_session_unload(sim->session, module->id);
}

/* Also of a launch that failed: what it said before may say why. */
static void print_output(struct gpuemu_ctx *ctx)
{
	struct sim *sim = ctx->state;
	size_t bytes;
	char *text = gpu_session_take_output(sim->session, &bytes);

	if (text)
		print_text(ctx, text, bytes);
	free(text);
}

static int sim_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
		      const struct work *work, struct err *err)
{
	struct sim *sim = ctx->state;
	struct err late = { "" };
	uint64_t fault_addr;
	int ret = 0;

	switch (work->kind) {
	case LAUNCH:
		ret = gpu_session_launch(sim->session, &work->launch, &fault_addr, &late);
		print_output(ctx);
		break;
	case PREFETCH:
		ret = gpu_session_prefetch(sim->session, work->prefetch.addr,
					   work->prefetch.bytes, &late);
		break;
	}
	if (ret)
		stream_fail(stream, ret, &late);
	return 0;
}

static void sim_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	/* Nothing is ever in flight. */
}

static int sim_statistics(struct gpuemu_ctx *ctx, char **json, struct err *err)
{
	struct sim *sim = ctx->state;

	*json = gpu_session_statistics(sim->session);
	return *json ? 0 : -ENOMEM;
}

static int sim_touch(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		     struct err *err)
{
	struct sim *sim = ctx->state;

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
