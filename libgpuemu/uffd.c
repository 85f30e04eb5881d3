// SPDX-License-Identifier: GPL-2.0
/*
 * The uffd backend: the engine in this process, on a thread of its own, and
 * pages that userfaultfd moves. The thread is why the program may touch managed
 * memory while a kernel runs, the thread that launched it and its signal
 * handlers included: a thread that touches a page waits until the engine polls.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"
#include "service/uffd.h"

/* Works in flight, at most: what they keep is memory. */
#define JOBS_MAX	1024u

/* A request to the engine's thread; the client frees it when it is done. */
struct job {
	struct job *next;
	enum {
		JOB_LAUNCH, JOB_PREFETCH, JOB_DELAY, JOB_EVENT, JOB_TOUCH, JOB_COPY,
		JOB_WAIT, JOB_WAIT_MARK, JOB_PASS, JOB_FINISH,
	} kind;
	struct gpuemu_stream *stream;	/* whose error it is; NULL: the caller takes it */
	void *payload;			/* launch, as the daemon would be sent it */
	size_t payload_bytes;
	struct work work;		/* what is no launch; of a wait its mark, or cycles */
	struct copy copy;
	uint32_t *streams;		/* wait */
	unsigned int nstreams;
	const struct gpu_work_touch *touch;
	char **json;
	int status;
	struct err err;
};

struct jobs {
	struct job *first, **end;
	unsigned int count;
};

struct uffd {
	struct engine engine;		/* the thread's while it is busy, else the client's */
	pid_t pid;
	bool ranges_told;		/* the engine knows what is managed, as it is */
	pthread_t thread;
	bool thread_runs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	struct jobs queue, done;
	bool busy, quit;
};

static void jobs_init(struct jobs *jobs)
{
	*jobs = (struct jobs){ .end = &jobs->first };
}

static void jobs_add(struct jobs *jobs, struct job *job)
{
	job->next = NULL;
	*jobs->end = job;
	jobs->end = &job->next;
	jobs->count++;
}

static struct job *jobs_take(struct jobs *jobs)
{
	struct job *job = jobs->first;

	if (!job)
		return NULL;
	jobs->first = job->next;
	jobs->count--;
	if (!jobs->first)
		jobs->end = &jobs->first;
	return job;
}

static void job_free(struct job *job)
{
	free(job->payload);
	free(job->streams);
	free(job);
}

/* --- the engine's thread -------------------------------------------------------- */

static void run(struct engine *e, struct job *job)
{
	struct gpu_launch launch;

	switch (job->kind) {
	case JOB_LAUNCH:
		job->status = gpu_work_decode_launch(job->payload, job->payload_bytes, &launch);
		if (!job->status)
			job->status = engine_launch(e, job->stream, &launch);
		break;
	case JOB_PREFETCH:
		job->status = engine_prefetch(e, job->stream, &job->work, &job->err);
		break;
	case JOB_TOUCH:
		job->status = engine_touch(e, job->touch, job->json, &job->err);
		break;
	case JOB_COPY:
		job->status = engine_copy(e, job->stream, &job->copy, job->work.cycle);
		break;
	case JOB_DELAY:
		job->status = engine_delay(e, job->stream, job->work.cycle);
		break;
	case JOB_EVENT:
		job->status = engine_event(e, job->stream, &job->work);
		break;
	case JOB_WAIT_MARK:
		engine_wait_mark(e, job->work.mark);
		break;
	case JOB_PASS:
		engine_pass(e, job->work.cycle);
		break;
	case JOB_WAIT:
		engine_wait(e, job->streams, job->nstreams);
		break;
	case JOB_FINISH:
		engine_finish(e);
		break;
	}
}

/* Until nothing is queued, with the lock at both ends. */
static void work(struct uffd *u)
{
	struct job *job;

	pthread_mutex_unlock(&u->lock);
	service_uffd_enter(u->engine.service);
	/* A lost pager shows again in what runs. */
	gpu_poll(u->engine.gpu);
	pthread_mutex_lock(&u->lock);
	while ((job = jobs_take(&u->queue))) {
		pthread_mutex_unlock(&u->lock);
		run(&u->engine, job);
		pthread_mutex_lock(&u->lock);
		jobs_add(&u->done, job);
	}
	pthread_mutex_unlock(&u->lock);
	service_uffd_leave(u->engine.service);
	pthread_mutex_lock(&u->lock);
}

static void *engine_thread(void *arg)
{
	struct uffd *u = arg;

	pthread_mutex_lock(&u->lock);
	while (!u->quit) {
		if (u->queue.first) {
			work(u);
			continue;
		}
		u->busy = false;
		pthread_cond_broadcast(&u->changed);
		pthread_cond_wait(&u->changed, &u->lock);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

static int start(struct uffd *u, struct err *err)
{
	sigset_t all, old;
	int ret;

	/* Signals are the program's: a handler may touch what the engine would have to give. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&u->thread, NULL, engine_thread, u);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	u->thread_runs = !ret;
	return ret ? err_set(err, ret, "no thread for the engine") : 0;
}

static void stop(struct uffd *u)
{
	if (!u->thread_runs)
		return;
	pthread_mutex_lock(&u->lock);
	u->quit = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
}

/* --- the client's side ----------------------------------------------------------- */

/* After fork() the child has neither the threads nor the memory. */
static bool is_child(const struct uffd *u)
{
	return u->pid != getpid();
}

static int of_parent(struct err *err)
{
	return err_set(err, -ENODEV, "device lost: this context is of the process before fork(); "
		       "open another");
}

/* Until the thread rests; what is done is told. */
static void rest(struct gpuemu_ctx *ctx)
{
	struct uffd *u = ctx->state;
	struct job *job;

	pthread_mutex_lock(&u->lock);
	while (u->busy)
		pthread_cond_wait(&u->changed, &u->lock);
	pthread_mutex_unlock(&u->lock);
	engine_reap(ctx, &u->engine);
	while ((job = jobs_take(&u->done))) {
		if (job->status && job->stream)
			stream_fail(job->stream, job->status, &job->err);
		job_free(job);
	}
}

static unsigned int count_jobs(struct uffd *u)
{
	unsigned int n;

	pthread_mutex_lock(&u->lock);
	n = u->queue.count + u->done.count;
	pthread_mutex_unlock(&u->lock);
	return n;
}

static void post(struct uffd *u, struct job *job)
{
	pthread_mutex_lock(&u->lock);
	jobs_add(&u->queue, job);
	u->busy = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
}

/* As rest(), and what waits for others of its kind is done too. */
static void drain(struct gpuemu_ctx *ctx)
{
	struct uffd *u = ctx->state;
	struct job *job;

	rest(ctx);
	if (!gpu_session_queued(u->engine.session))
		return;
	job = calloc(1, sizeof(*job));
	if (!job)
		return;		/* it stays queued: the next one to wait does it */
	job->kind = JOB_FINISH;
	post(u, job);
	rest(ctx);
}

/* Its pages are mapped on the engine's thread, as all that moves. */
static int tell_advice(struct gpuemu_ctx *ctx)
{
	struct uffd *u = ctx->state;
	struct err err = { "" };
	int ret;

	service_uffd_enter(u->engine.service);
	ret = gpu_session_set_advice(u->engine.session, ctx->advice, ctx->nadvice, &err);
	service_uffd_leave(u->engine.service);
	return ret;
}

/* Which memory is managed, for policies that look at it. */
static int tell_ranges(struct gpuemu_ctx *ctx)
{
	struct uffd *u = ctx->state;
	struct gpu_range *ranges;
	uint64_t n = 0;
	int ret;

	if (u->ranges_told)
		return 0;
	rest(ctx);
	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		n++;
	ranges = calloc(MAX(n, 1u), sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	n = 0;
	for (const struct allocation *a = ctx->allocations; a; a = a->next)
		if (a->kind != MEM_DEVICE)
			ranges[n++] = (struct gpu_range){ a->addr, a->bytes };
	ret = gpu_session_set_ranges(u->engine.session, ranges, n);
	free(ranges);
	if (!ret)
		ret = tell_advice(ctx);
	u->ranges_told = !ret;
	return ret;
}

static void uffd_close(struct gpuemu_ctx *ctx)
{
	struct uffd *u = ctx->state;

	if (!u)
		return;
	ctx->state = NULL;
	if (is_child(u))
		return;		/* the parent's: its threads are not here to be stopped */
	ctx->state = u;
	if (u->thread_runs)
		drain(ctx);
	stop(u);
	engine_close(&u->engine);
	pthread_cond_destroy(&u->changed);
	pthread_mutex_destroy(&u->lock);
	free(u);
	ctx->state = NULL;
}

/* Only if asked for by name: without privilege, system calls and managed memory do not mix. */
static bool uffd_present(const char *device)
{
	return false;
}

static int uffd_open(struct gpuemu_ctx *ctx, const char *device, struct err *err)
{
	struct gpu_spec *spec = &ctx->spec;
	struct uffd *u = calloc(1, sizeof(*u));
	struct service *service;
	int ret;

	if (!u)
		return -ENOMEM;
	ctx->state = u;
	u->pid = getpid();
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->changed, NULL);
	jobs_init(&u->queue);
	jobs_init(&u->done);
	engine_default_vram(spec);
	ret = service_uffd_create(spec->vram_bytes, VA_SPACE, &service, err);
	if (!ret)
		ret = engine_open(&u->engine, service, spec, &ctx->recorded, err);
	if (!ret && ctx->pageable)
		engine_give_system(&u->engine);
	if (!ret)
		ret = start(u, err);
	if (ret)
		uffd_close(ctx);
	return ret;
}

static int uffd_configure(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	const struct gpu_spec *spec = &ctx->spec;
	struct uffd *u = ctx->state;
	int ret;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	ret = service_uffd_configure(u->engine.service, spec->vram_bytes);
	if (ret == -EBUSY)
		return err_set(err, ret,
			       "paging.vram=%llu: more is in device memory now; free some first",
			       (unsigned long long)spec->vram_bytes);
	if (ret)
		return err_set(err, ret, "paging.vram=%llu: no such device memory can be had",
			       (unsigned long long)spec->vram_bytes);
	gpu_poll(u->engine.gpu);
	return gpu_session_configure(u->engine.session, spec, err);
}

static int uffd_map(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct uffd *u = ctx->state;
	int ret;

	if (is_child(u))
		return of_parent(err);
	if (mmap(addr, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return err_set(err, -ENOMEM, "no memory for %zu bytes of managed memory", bytes);
	u->ranges_told = false;
	ret = service_uffd_map(u->engine.service, (uintptr_t)addr, bytes);
	return ret ? err_set(err, ret, "%zu bytes of managed memory: %s", bytes,
			     gpuemu_strerror(ret)) : 0;
}

static void uffd_drop(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return;		/* the child has none of it */
	drain(ctx);
	u->ranges_told = false;
	service_uffd_unmap(u->engine.service, (uintptr_t)addr, bytes);
	gpu_poll(u->engine.gpu);
	munmap(addr, bytes);
}

/* --- device memory ----------------------------------------------------------------- */

/* Managed memory goes home, one allocation after the other, until there is room. */
static int make_room(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct uffd *u = ctx->state;
	int ret = -EBUSY;

	for (const struct allocation *a = ctx->allocations; a && ret == -EBUSY; a = a->next) {
		if (a->kind == MEM_DEVICE)
			continue;
		service_uffd_enter(u->engine.service);
		ret = gpu_session_prefetch_host(u->engine.session, a->addr, a->bytes, err);
		service_uffd_leave(u->engine.service);
		if (!ret)
			ret = service_uffd_map_device(u->engine.service, (uintptr_t)addr, bytes);
	}
	return ret;
}

static int uffd_map_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
	struct uffd *u = ctx->state;
	int ret;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	ret = service_uffd_map_device(u->engine.service, (uintptr_t)addr, bytes);
	if (ret == -EBUSY)
		ret = make_room(ctx, addr, bytes, err);
	if (ret == -ENOSPC)
		return err_set(err, -ENOMEM, "no %zu bytes of device memory are left", bytes);
	if (!ret && mmap(addr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
		service_uffd_unmap_device(u->engine.service, (uintptr_t)addr);
		ret = -ENOMEM;
	}
	/* A child has no GPU. */
	if (!ret)
		madvise(addr, bytes, MADV_DONTFORK);
	return ret ? err_set(err, ret, "%zu bytes of device memory: %s", bytes,
			     gpuemu_strerror(ret)) : 0;
}

static void uffd_drop_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return;
	drain(ctx);
	service_uffd_unmap_device(u->engine.service, (uintptr_t)addr);
	gpu_poll(u->engine.gpu);
	munmap(addr, bytes);
}

/*
 * The time of a copy alone: the engine's thread must not touch managed memory, which one side
 * may be, so the program copies itself.
 */
static int uffd_copy(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream, const struct copy *copy)
{
	struct uffd *u = ctx->state;
	struct job *job;

	if (is_child(u))
		return -ENODEV;
	if (copy->dst)
		return -EOPNOTSUPP;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->kind = JOB_COPY;
	job->stream = stream;
	job->copy = *copy;
	job->work.cycle = engine_copy_cycles(&ctx->spec, copy);
	if (count_jobs(u) >= JOBS_MAX)
		rest(ctx);
	post(u, job);
	return 0;
}

static int uffd_load(struct gpuemu_ctx *ctx, struct gpuemu_module *module, const char *text,
		     size_t bytes, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	rest(ctx);
	return engine_load(&u->engine, module, text, bytes, err);
}

static void uffd_unload(struct gpuemu_ctx *ctx, struct gpuemu_module *module)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return;
	drain(ctx);
	gpu_session_unload(u->engine.session, module->id);
}

static int uffd_submit(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream,
		       const struct work *work, struct err *err)
{
	struct uffd *u = ctx->state;
	struct job *job;
	int ret;

	if (is_child(u))
		return of_parent(err);
	ret = tell_ranges(ctx);
	job = ret ? NULL : calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->stream = stream;
	job->kind = work->kind == LAUNCH ? JOB_LAUNCH :
		    work->kind == DELAY ? JOB_DELAY :
		    work->kind == PREFETCH ? JOB_PREFETCH : JOB_EVENT;
	if (work->kind == LAUNCH)
		ret = gpu_work_encode_launch(&work->launch, &job->payload, &job->payload_bytes);
	else
		job->work = *work;
	if (ret) {
		job_free(job);
		return ret;
	}
	if (count_jobs(u) >= JOBS_MAX)
		rest(ctx);
	post(u, job);
	return 0;
}

static void uffd_wait(struct gpuemu_ctx *ctx, struct gpuemu_stream *const *streams, unsigned int n)
{
	struct uffd *u = ctx->state;
	struct job *job;

	if (is_child(u))
		return;
	job = calloc(1, sizeof(*job));
	if (job)
		job->streams = engine_streams(streams, n);
	/* Without memory it waits for more. */
	if (!job || !job->streams) {
		free(job);
		drain(ctx);
		return;
	}
	job->kind = JOB_WAIT;
	job->nstreams = n;
	post(u, job);
	rest(ctx);
}

static void do_and_rest(struct gpuemu_ctx *ctx, const struct job *what)
{
	struct uffd *u = ctx->state;
	struct job *job;

	if (is_child(u))
		return;
	job = malloc(sizeof(*job));
	/* Without memory it waits for more. */
	if (!job) {
		drain(ctx);
		return;
	}
	*job = *what;
	post(u, job);
	rest(ctx);
}

static void uffd_wait_mark(struct gpuemu_ctx *ctx, uint64_t mark)
{
	do_and_rest(ctx, &(struct job){ .kind = JOB_WAIT_MARK, .work.mark = mark });
}

static void uffd_pass(struct gpuemu_ctx *ctx, uint64_t cycles)
{
	do_and_rest(ctx, &(struct job){ .kind = JOB_PASS, .work.cycle = cycles });
}

static int uffd_halt_after(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
			   uint64_t instructions, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	rest(ctx);
	return gpu_session_halt_after(u->engine.session, stream->id, instructions);
}

static int uffd_halt_at(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream,
			uint64_t cycle, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	rest(ctx);
	return gpu_session_halt_at(u->engine.session, stream->id, cycle);
}

/* Its thread rests, right after a wait. */
static bool uffd_idle(struct gpuemu_ctx *ctx, const struct gpuemu_stream *stream)
{
	struct uffd *u = ctx->state;

	return is_child(u) || engine_idle(&u->engine, stream->id);
}

static int uffd_constants(struct gpuemu_ctx *ctx, struct gpuemu_module *module, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	return engine_constants(&u->engine, module, err);
}

static int uffd_advise(struct gpuemu_ctx *ctx, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	u->ranges_told = false;
	return tell_ranges(ctx);
}

static int uffd_statistics(struct gpuemu_ctx *ctx, char **json, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	return engine_statistics(&u->engine, json);
}

static int uffd_touches(struct gpuemu_ctx *ctx, struct record *record, struct err *err)
{
	struct uffd *u = ctx->state;

	if (is_child(u))
		return of_parent(err);
	drain(ctx);
	return engine_touches(&u->engine, record, err);
}

static int uffd_touch(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		      struct err *err)
{
	struct uffd *u = ctx->state;
	struct job *job;
	int ret;

	if (is_child(u))
		return of_parent(err);
	ret = tell_ranges(ctx);
	job = ret ? NULL : calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	drain(ctx);
	job->kind = JOB_TOUCH;
	job->touch = touch;
	job->json = json;
	post(u, job);
	pthread_mutex_lock(&u->lock);
	while (u->busy)
		pthread_cond_wait(&u->changed, &u->lock);
	ret = job->status;
	*err = job->err;
	pthread_mutex_unlock(&u->lock);
	rest(ctx);
	return ret;
}

static struct gpu_progress uffd_progress(const struct gpuemu_ctx *ctx)
{
	const struct uffd *u = ctx->state;

	return gpu_session_progress(u->engine.session);
}

const struct backend_ops backend_uffd = {
	.name = "uffd",
	.pageable = true,
	.present = uffd_present,
	.open = uffd_open,
	.close = uffd_close,
	.configure = uffd_configure,
	.map = uffd_map,
	.drop = uffd_drop,
	.map_device = uffd_map_device,
	.drop_device = uffd_drop_device,
	.copy = uffd_copy,
	.load = uffd_load,
	.unload = uffd_unload,
	.constants = uffd_constants,
	.submit = uffd_submit,
	.wait = uffd_wait,
	.idle = uffd_idle,
	.wait_mark = uffd_wait_mark,
	.progress = uffd_progress,
	.pass = uffd_pass,
	.halt_after = uffd_halt_after,
	.halt_at = uffd_halt_at,
	.advise = uffd_advise,
	.no_duplicates = true,
	.statistics = uffd_statistics,
	.touches = uffd_touches,
	.touch = uffd_touch,
};
