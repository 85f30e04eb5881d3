// SPDX-License-Identifier: GPL-2.0
/* The engine in this process: the session of a context, for sim.c and uffd.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* Works that wait, at most: what they keep is memory. */
#define QUEUE_MAX	256u

/* One launch or prefetch: queued, then ended, then reaped. */
struct told {
	struct told *next;
	struct engine *engine;
	struct gpuemu_stream *stream;
	uint64_t mark, cycle;		/* of an event's record; else 0 */
	int status;
	struct err err;
	char *output;
	size_t bytes;
	struct copy copy;		/* of a copy; else all zero */
};

/* The program may have unmapped or protected memory since the last work. */
static void look(struct engine *e)
{
	if (!e->service->ops->look)
		return;
	e->service->ops->look(e->service);
	gpu_poll(e->gpu);
}

void engine_default_vram(struct gpu_spec *spec)
{
	struct gpu_spec defaults;

	spec_defaults(&defaults);
	if (!spec->vram_bytes)
		spec->vram_bytes = defaults.vram_bytes;
}

/*
 * The session as it is without the policies, then told of the recorded run that they
 * may need, then as it shall be.
 */
static int open_knowing(struct engine *e, const struct gpu_spec *spec,
			const struct record *recorded, struct err *err)
{
	struct gpu_spec plain = *spec, defaults;
	int ret;

	spec_defaults(&defaults);
	memcpy(plain.prefetch, defaults.prefetch, sizeof(plain.prefetch));
	memcpy(plain.evict, defaults.evict, sizeof(plain.evict));
	ret = gpu_session_create(e->gpu, VA_SPACE, &plain, &e->session, err);
	if (!ret)
		ret = gpu_session_add_record(e->session, recorded->pages, recorded->count);
	return ret ? ret : gpu_session_configure(e->session, spec, err);
}

int engine_open(struct engine *e, struct service *service, const struct gpu_spec *spec,
		const struct record *recorded, struct err *err)
{
	int ret;

	*e = (struct engine){ .service = service };
	e->told_end = &e->told;
	ret = gpu_create(service, &e->gpu, err);
	if (!ret)
		ret = recorded->pages ? open_knowing(e, spec, recorded, err) :
		      gpu_session_create(e->gpu, VA_SPACE, spec, &e->session, err);
	return ret;
}

void engine_give_system(struct engine *e)
{
	const struct system_memory memory = { system_find, system_refresh, &e->system };

	if (e->service->ops->give)
		e->service->ops->give(e->service, &memory);
}

int engine_adopt(struct engine *e, uint64_t addr, uint64_t bytes)
{
	uint64_t at = addr, end = addr + bytes;
	struct system_range range;
	struct addr_ranges have = { 0 };
	int ret = 0;

	look(e);
	while (!ret && at < end) {
		/* Managed memory is found in the books, other memory in the process. */
		have.count = 0;
		service_reachable(e->service, VA_SPACE, &have);
		range = (struct system_range){ 0 };
		for (size_t i = 0; i < have.count; i++)
			if (at >= have.at[i].start && at < have.at[i].end)
				range = (struct system_range){ have.at[i].start, have.at[i].end };
		if (have.failed)
			ret = -ENOMEM;
		else if (!range.end && (!service_adopt(e->service, VA_SPACE, at, &range) ||
					range.read_only))
			ret = -EINVAL;
		at = range.end;
	}
	free(have.at);
	return ret;
}

static struct told *told_make(struct engine *e, struct gpuemu_stream *stream)
{
	struct told *told = calloc(1, sizeof(*told));

	if (!told)
		return NULL;
	told->engine = e;
	told->stream = stream;
	return told;
}

static struct told *take_told(struct engine *e)
{
	struct told *told = e->told;

	e->told = told->next;
	if (!e->told)
		e->told_end = &e->told;
	return told;
}

void engine_close(struct engine *e)
{
	engine_finish(e);
	while (e->told) {
		struct told *told = take_told(e);

		free(told->output);
		free(told);
	}
	if (e->session)
		gpu_session_destroy(e->session);
	if (e->gpu)
		gpu_destroy(e->gpu);
	if (e->service)
		e->service->ops->destroy(e->service);
	system_free(&e->system);
	*e = (struct engine){ NULL };
}

int engine_load(struct engine *e, struct gpuemu_module *module, const char *text, size_t bytes,
		struct err *err)
{
	module->id = ++e->next_module;
	return gpu_session_load(e->session, module->id, module->name, text, bytes,
				(uintptr_t)module->segment, err);
}

int engine_constants(struct engine *e, struct gpuemu_module *module, struct err *err)
{
	uint32_t bytes;
	const void *bank = ptx_module_constants(module->ptx, &bytes);
	int ret;

	engine_finish(e);
	ret = gpu_session_set_constants(e->session, module->id, bank, bytes);
	return ret ? err_set(err, ret, "%s: its .const variables cannot be written", module->name) : 0;
}

void engine_finish(struct engine *e)
{
	if (e->session)
		gpu_session_finish(e->session);
}

void engine_wait(struct engine *e, const uint32_t *streams, unsigned int n)
{
	const struct gpu_until until = { .streams = streams, .nstreams = n };

	for (unsigned int i = 0; i < n; i++) {
		if (!streams[i]) {
			engine_finish(e);
			return;
		}
	}
	if (e->session)
		gpu_session_go_until(e->session, &until, NULL, NULL);
}

void engine_wait_mark(struct engine *e, uint64_t mark)
{
	const struct gpu_until until = { .mark = mark };

	gpu_session_go_until(e->session, &until, NULL, NULL);
}

void engine_pass(struct engine *e, uint64_t cycles)
{
	const struct gpu_until until = { .cycles = cycles };

	if (cycles)
		gpu_session_go_until(e->session, &until, NULL, NULL);
}

bool engine_idle(const struct engine *e, uint32_t stream)
{
	return gpu_session_idle(e->session, stream);
}

uint32_t *engine_streams(struct gpuemu_stream *const *streams, unsigned int n)
{
	uint32_t *ids = malloc(n * sizeof(*ids));

	for (unsigned int i = 0; ids && i < n; i++)
		ids[i] = streams[i]->id;
	return ids;
}

static void add_told(struct told *told)
{
	struct engine *e = told->engine;

	*e->told_end = told;
	e->told_end = &told->next;
}

static void tell_recorded(void *arg, int status, uint64_t cycle)
{
	struct told *told = arg;

	told->status = status;
	told->cycle = cycle;
	add_told(told);
}

static void tell(void *arg, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct told *told = arg;

	told->status = status;
	told->err = *err;
	told->output = output;
	told->bytes = bytes;
	add_told(told);
}

/*
 * The default stream's is behind all others, and all others behind it: it may run now. Of
 * another stream too many wait: who submits does so, too.
 */
static void submitted(struct engine *e, uint32_t stream)
{
	if (!stream || gpu_session_queued(e->session) >= QUEUE_MAX)
		engine_wait(e, &stream, 1);
}

int engine_launch(struct engine *e, struct gpuemu_stream *stream,
		  const struct gpu_launch *launch)
{
	struct told *told = told_make(e, stream);
	int ret;

	if (!told)
		return -ENOMEM;
	look(e);
	ret = gpu_session_submit(e->session, stream->id, launch, tell, told);
	if (ret) {
		free(told);
		return ret;
	}
	submitted(e, stream->id);
	return 0;
}

int engine_delay(struct engine *e, const struct gpuemu_stream *stream, uint64_t cycle)
{
	int ret = gpu_session_delay(e->session, stream->id, cycle);

	if (!ret)
		submitted(e, stream->id);
	return ret;
}

int engine_event(struct engine *e, struct gpuemu_stream *stream, const struct work *work)
{
	struct told *told;
	int ret;

	if (work->kind == AWAIT) {
		ret = gpu_session_await(e->session, stream->id, work->mark);
	} else {
		told = told_make(e, stream);
		if (!told)
			return -ENOMEM;
		told->mark = work->mark;
		ret = gpu_session_record(e->session, stream->id, work->mark, tell_recorded, told);
		if (ret)
			free(told);
	}
	if (!ret)
		submitted(e, stream->id);
	return ret;
}

void engine_reap(struct gpuemu_ctx *ctx, struct engine *e)
{
	while (e->told) {
		struct told *told = take_told(e);

		/* A failed launch's text is printed, too: it may say why. */
		if (told->output)
			print_text(ctx, told->output, told->bytes);
		if (told->mark)
			event_recorded(ctx, told->mark, told->status, told->cycle);
		else if (told->status)
			stream_fail(told->stream, told->status, &told->err);
		free(told->output);
		free(told);
	}
}

/* Prefetches now, after all other works have ended. */
static int prefetch_alone(struct engine *e, const struct work *work, struct err *err)
{
	engine_finish(e);
	if (work->prefetch.to_host)
		return gpu_session_prefetch_host(e->session, work->prefetch.addr,
						 work->prefetch.bytes, err);
	return gpu_session_prefetch(e->session, work->prefetch.addr, work->prefetch.bytes, err);
}

int engine_prefetch(struct engine *e, struct gpuemu_stream *stream, const struct work *work,
		    struct err *err)
{
	struct told *told;
	int ret;

	if (!stream->id)
		return prefetch_alone(e, work, err);
	told = told_make(e, stream);
	if (!told)
		return -ENOMEM;
	ret = gpu_session_move(e->session, stream->id, work->prefetch.addr, work->prefetch.bytes,
			       work->prefetch.to_host, tell, told);
	if (ret)
		free(told);
	else
		submitted(e, stream->id);
	return ret;
}

static void move(void *arg)
{
	const struct told *told = arg;

	if (told->copy.dst)
		memmove(told->copy.dst, told->copy.src, told->copy.bytes);
}

uint64_t engine_copy_cycles(const struct gpu_spec *spec, const struct copy *copy)
{
	uint64_t mbps = copy->flags & GPUEMU_COPY_PAGEABLE ?
			MIN(spec->pageable_mbps, spec->link_mbps) : spec->link_mbps;

	return copy->flags & GPUEMU_COPY_INSIDE ? 0 :
	       (uint64_t)((double)copy->bytes * (double)spec->clock_mhz / (double)mbps);
}

int engine_copy(struct engine *e, struct gpuemu_stream *stream, const struct copy *copy,
		uint64_t cycles)
{
	enum gpu_copy way = copy->flags & GPUEMU_COPY_INSIDE ? GPU_COPY_INSIDE :
			    copy->flags & GPUEMU_COPY_HOME ? GPU_COPY_HOME : GPU_COPY_HERE;
	struct told *told = told_make(e, stream);
	int ret;

	if (!told)
		return -ENOMEM;
	told->copy = *copy;
	ret = gpu_session_copy(e->session, stream->id, way, cycles, move, tell, told);
	if (ret)
		free(told);
	else
		submitted(e, stream->id);
	return ret;
}

int engine_touch(struct engine *e, const struct gpu_work_touch *touch, char **json,
		 struct err *err)
{
	engine_finish(e);
	return gpu_session_touch(e->session, touch->addr, touch->bytes, touch->stride,
				 touch->batch, touch->flags, json, err);
}

int engine_statistics(struct engine *e, char **json)
{
	engine_finish(e);
	*json = gpu_session_statistics(e->session);
	return *json ? 0 : -ENOMEM;
}

int engine_touches(struct engine *e, struct record *record, struct err *err)
{
	const uint64_t *pages;
	uint64_t n;
	int ret;

	engine_finish(e);
	ret = gpu_session_touches(e->session, &pages, &n, err);
	for (uint64_t i = 0; !ret && i < n; i++)
		ret = record_add(record, pages[i]);
	return ret;
}
