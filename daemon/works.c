// SPDX-License-Identifier: GPL-2.0
/*
 * Works of clients, dispatched to their sessions. A session knows what its
 * client told this engine; what a client told an earlier one (its PTX images)
 * is read from the module when a launch needs it.
 *
 * Clients take turns: a work that may take long, a launch or a touch, is set aside
 * when its slice is over and another client has something to do. Of a client one
 * work at a time is here; the module keeps the others. Works of streams (streams.c) are kept here
 * from one of a client's works to its next; they go on within those alone.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/account.h"
#include "base/array.h"
#include "loads.h"
#include "service/kmod.h"
#include "shown.h"
#include "streams.h"
#include "works.h"

#define VA_END	(1ull << 47)	/* managed memory lies below (GPUEMU_VA_BITS) */

/* A module that is loaded; image: what it was made of. */
struct loaded_module {
	uint32_t id;
	struct image *image;
};

struct session {
	struct session *next;
	struct account *account;	/* of what this process holds for the client */
	uint32_t va_space;
	struct gpu_spec spec;
	struct gpu_session *gpu;
	struct streams streams;
	struct shown shown;
	struct loaded_module *modules;
	unsigned int nmodules, module_room;
	bool busy;			/* a work of it was set aside */
};

struct works {
	struct gpu *gpu;
	struct service *service;
	const struct log *log;
	struct gpu_spec spec;
	struct works_limits limits;
	struct account *account;	/* of all clients together */
	char too_much[160];		/* what is said where an account refused memory */
	struct loads *loads;
	struct session *sessions;
	struct session *turn;		/* whose works run now; NULL: none do */
	struct job *loading;		/* whose PTX is being parsed */
	struct job *jobs, **jobs_end;	/* set aside or not begun, whose turn is next first */
	uint64_t slice_ns;		/* of a turn; 0: it has no end */
	uint64_t until;			/* of the turn, CLOCK_MONOTONIC */
};

struct result {
	uint64_t fault_addr;
	char *report;			/* freed with the job */
	size_t report_bytes;
	struct err err;
};

#define NOT_YET	1	/* status of a work that was set aside */

/* A work that was taken. */
struct job {
	struct job *next;
	struct service_work work;	/* the payload until it has begun, or all of it is taken */
	void *payload;			/* the same, if it is the job's own */
	struct session *session;	/* NULL: it has not begun */
	struct result r;
	struct load *load;		/* its PTX, while that is being parsed, for module: */
	uint32_t module;
	int (*loaded)(struct works *works, struct job *job); /* goes on with it then */
	/* Goes on with it; NULL: it is done at once. */
	int (*go_on)(struct works *works, struct job *job);
	struct gpu_touch *touch;
	struct streams_run run;
	int status;			/* a launch's */
};

/* --- sessions ----------------------------------------------------------------- */

static void session_free(struct works *works, struct session **at)
{
	struct session *s = *at;

	*at = s->next;
	log_line(works->log, LOG_DEBUG, "VA space %u: session ends", s->va_space);
	streams_fini(&s->streams);
	gpu_session_destroy(s->gpu);
	for (unsigned int i = 0; i < s->nmodules; i++)
		image_put(works->loads, s->modules[i].image);
	free(s->modules);
	account_close(s->account);
	free(s);
}

/*
 * No message tells of a client's end. The daemon looks when the next client comes, and while it
 * keeps works.
 */
void works_forget_dead(struct works *works)
{
	struct session **at = &works->sessions;
	bool freed = false;

	while (*at) {
		/* A session that was set aside hears of it in its turn. */
		if ((*at)->busy || service_kmod_alive(works->service, (*at)->va_space))
			at = &(*at)->next;
		else {
			session_free(works, at);
			freed = true;
		}
	}
	/* Give free memory in the middle of the heap back too. */
	if (freed)
		malloc_trim(0);
}

/* Why there is no memory, where an account refused it. */
static void describe_limits(struct works *works)
{
	snprintf(works->too_much, sizeof(works->too_much),
		 "gpuemud holds at most %llu MiB for a client (--client-memory), and %llu for all",
		 (unsigned long long)works->limits.client_bytes >> 20,
		 (unsigned long long)works->limits.all_bytes >> 20);
}

static int session_make(struct works *works, const struct service_work *work, struct err *err)
{
	struct session *s;
	int ret;

	works_forget_dead(works);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "no memory for one more client");
	s->va_space = work->va_space;
	s->shown.va_space = work->va_space;
	s->spec = works->spec;
	s->account = account_open(works->limits.client_bytes, works->account);
	if (!s->account) {
		free(s);
		return err_set(err, -ENOMEM, "no memory for one more client");
	}
	account_enter(s->account);
	service_kmod_away(works->service);
	ret = gpu_session_create(works->gpu, work->va_space, &s->spec, &s->gpu, err);
	if (!ret) {
		ret = gpu_session_set_user(s->gpu, work->user);
		if (ret)
			gpu_session_destroy(s->gpu);
	}
	service_kmod_back(works->service);
	if (ret == -ENOMEM && s->account->refused)
		err_set(err, ret, "no memory for one more client: %s", works->too_much);
	account_enter(NULL);
	if (ret) {
		account_close(s->account);
		free(s);
		return ret;
	}
	streams_init(&s->streams, s->gpu);
	s->streams.limit = works->too_much;
	s->next = works->sessions;
	works->sessions = s;
	log_line(works->log, LOG_DEBUG, "VA space %u: session starts", work->va_space);
	return 0;
}

static int session_get(struct works *works, const struct service_work *work,
		       struct session **session, struct err *err)
{
	int ret;

	for (struct session *s = works->sessions; s; s = s->next) {
		if (s->va_space == work->va_space) {
			*session = s;
			return 0;
		}
	}
	ret = session_make(works, work, err);
	*session = ret ? NULL : works->sessions;
	return ret;
}

/* --- turns ------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static bool turn_over(void *ctx)
{
	struct works *works = ctx;
	uint64_t now = now_ns();

	shown_go_on(&works->turn->shown, works->service, works->turn->gpu, now);
	return works->slice_ns && now >= works->until &&
	       (works->jobs || service_kmod_news(works->service));
}

static void job_append(struct works *works, struct job *job)
{
	job->next = NULL;
	*works->jobs_end = job;
	works->jobs_end = &job->next;
}

static struct job *job_first(struct works *works)
{
	struct job *job = works->jobs;

	works->jobs = job->next;
	if (!works->jobs)
		works->jobs_end = &works->jobs;
	return job;
}

static void job_free(struct works *works, struct job *job)
{
	if (job->load)
		loads_abandon(works->loads, job->load);
	if (job->touch)
		gpu_touch_end(job->touch, &job->r.report, NULL);
	streams_run_free(&job->run);
	free(job->r.report);
	free(job->payload);
	free(job);
}

/* --- modules ------------------------------------------------------------------- */

/*
 * Clients unload at the module, which does not tell: forget what it no longer has. Not while
 * kernels of it may wait.
 */
static void forget_unloaded(struct works *works, struct session *s)
{
	unsigned int kept = 0;

	if (streams_keep(&s->streams))
		return;
	for (unsigned int i = 0; i < s->nmodules; i++) {
		if (service_kmod_has_image(works->service, s->va_space, s->modules[i].id)) {
			s->modules[kept++] = s->modules[i];
			continue;
		}
		gpu_session_unload(s->gpu, s->modules[i].id);
		image_put(works->loads, s->modules[i].image);
	}
	s->nmodules = kept;
}

/* The rest of the payload outlives this turn. */
static int keep_payload(struct job *job)
{
	if (job->payload)
		return 0;
	job->payload = malloc(MAX(job->work.payload_bytes, 1u));
	if (!job->payload)
		return err_set(&job->r.err, -ENOMEM, "no memory for one more work");
	memcpy(job->payload, job->work.payload, job->work.payload_bytes);
	job->work.payload = job->payload;
	return 0;
}

/* Its process has ended. */
static int go_on_loading(struct works *works, struct job *job)
{
	struct session *s = job->session;
	struct load *load = job->load;
	struct image *image;
	int ret;

	job->load = NULL;
	service_kmod_away(works->service);
	ret = loads_finish(works->loads, load, &image, &job->r.err);
	service_kmod_back(works->service);
	if (ret)
		return ret;
	s->modules[s->nmodules++] = (struct loaded_module){ job->module, image };
	job->go_on = NULL;
	return job->loaded(works, job);
}

/* Goes on with loaded() when the module is there, now or later. */
static int with_image(struct works *works, struct job *job, uint32_t id, const char *name,
		      uint64_t global_base, int (*loaded)(struct works *works, struct job *job))
{
	struct session *s = job->session;
	struct err *err = &job->r.err;
	struct load_wish wish = {
		.gpu = s->gpu, .account = s->account, .va_space = s->va_space, .id = id,
		.global_base = global_base, .name = name,
	};
	char *image;
	int ret;

	if (gpu_session_loaded(s->gpu, id))
		return loaded(works, job);
	forget_unloaded(works, s);
	if (array_grow(s->modules, s->module_room, s->nmodules))
		return err_set(err, -ENOMEM, "no memory for module %u", id);
	ret = keep_payload(job);
	if (!ret)
		ret = service_kmod_image(works->service, s->va_space, id, &image, &wish.bytes);
	if (ret == -ENODEV || ret == -ENOMEM)
		return ret;
	if (ret)
		return err_set(err, ret, "module %u is not loaded", id);
	wish.text = image;
	service_kmod_away(works->service);
	ret = loads_begin(works->loads, &wish, &job->load, err);
	service_kmod_back(works->service);
	free(image);
	if (ret)
		return ret;
	job->module = id;
	job->loaded = loaded;
	job->go_on = go_on_loading;
	return NOT_YET;
}

/* --- one function a kind of work --------------------------------------------------- */

static int malformed(const char *kind, struct result *r)
{
	return err_set(&r->err, -EINVAL,
		       "malformed %s: the client's library does not fit this daemon", kind);
}

static int no_such_range(const char *kind, uint64_t addr, uint64_t bytes, struct result *r)
{
	return err_set(&r->err, -EFAULT, "%s of %llu bytes at 0x%llx: no managed memory is there",
		       kind, (unsigned long long)bytes, (unsigned long long)addr);
}

static int set_constants(struct works *works, struct job *job)
{
	const struct gpu_work_load *load = job->work.payload;
	int ret = 0;

	if (job->work.payload_bytes > sizeof(*load))
		ret = gpu_session_set_constants(job->session->gpu, load->module, load + 1,
						job->work.payload_bytes - sizeof(*load));
	return ret ? malformed("constants", &job->r) : 0;
}

static int do_load(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	struct result *r = &job->r;
	const struct gpu_work_load *load = work->payload;

	if (work->payload_bytes < sizeof(*load) || load->size != sizeof(*load) ||
	    !memchr(load->name, '\0', sizeof(load->name)))
		return malformed("module load", r);
	/* Where it lies is checked by each access; that it is an address at all, here. */
	if (load->global_base % PAGE_BYTES || load->global_base >= VA_END)
		return malformed("module load", r);
	return with_image(works, job, load->module, load->name, load->global_base, set_constants);
}

static void launched(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		     char *output, size_t bytes)
{
	struct job *job = ctx;

	job->status = status;
	job->r.fault_addr = fault_addr;
	if (status)
		job->r.err = *err;
	job->r.report = output;
	job->r.report_bytes = bytes;
}

static int go_on_launch(struct works *works, struct job *job)
{
	return gpu_session_go_on(job->session->gpu, turn_over, works) ? job->status : NOT_YET;
}

static int launch_now(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	struct gpu_launch launch;
	int ret = gpu_work_decode_launch(work->payload, work->payload_bytes, &launch);

	if (!ret)
		ret = gpu_session_submit(job->session->gpu, work->stream, &launch, launched, job);
	if (ret)
		return err_set(&job->r.err, ret, "out of memory");
	job->go_on = go_on_launch;
	return go_on_launch(works, job);
}

static int do_launch(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	struct gpu_launch launch;
	char name[32];

	if (gpu_work_decode_launch(work->payload, work->payload_bytes, &launch))
		return malformed("launch", &job->r);
	/* Loaded by a client that an earlier engine served: only the id is known. */
	snprintf(name, sizeof(name), "module %u", launch.module);
	return with_image(works, job, launch.module, name, 0, launch_now);
}

static int do_prefetch(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	const struct gpu_work_prefetch *p = work->payload;
	struct session *s = job->session;
	struct result *r = &job->r;

	if (work->payload_bytes < sizeof(*p) || p->size != sizeof(*p))
		return malformed("prefetch", r);
	if (streams_out_of_reach(p->addr, p->bytes))
		return no_such_range("prefetch", p->addr, p->bytes, r);
	if (p->to_host > 1)
		return malformed("prefetch", r);
	return p->to_host ? gpu_session_prefetch_host(s->gpu, p->addr, p->bytes, &r->err) :
			    gpu_session_prefetch(s->gpu, p->addr, p->bytes, &r->err);
}

static int has_text(struct result *r, int ret)
{
	r->report_bytes = r->report ? strlen(r->report) : 0;
	return ret;
}

static int go_on_touch(struct works *works, struct job *job)
{
	struct gpu_touch *touch = job->touch;

	if (!gpu_touch_go_on(touch, turn_over, works))
		return NOT_YET;
	job->touch = NULL;
	return has_text(&job->r, gpu_touch_end(touch, &job->r.report, &job->r.err));
}

static int do_touch(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	const struct gpu_work_touch *t = work->payload;
	struct result *r = &job->r;
	int ret;

	if (work->payload_bytes < sizeof(*t) || t->size != sizeof(*t) ||
	    t->flags & ~(uint32_t)GPU_TOUCH_FLAGS)
		return malformed("touch", r);
	if (streams_out_of_reach(t->addr, t->bytes))
		return no_such_range("touch", t->addr, t->bytes, r);
	job->touch = gpu_touch_begin(job->session->gpu, t->addr, t->bytes, t->stride, t->batch,
				     t->flags, &ret, &r->err);
	if (!job->touch)
		return ret;
	job->go_on = go_on_touch;
	return go_on_touch(works, job);
}

static int do_configure(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	struct session *s = job->session;
	struct result *r = &job->r;
	struct gpu_spec spec = s->spec;
	int ret;

	if (!work->payload_bytes || !memchr(work->payload, '\0', work->payload_bytes))
		return malformed("configuration", r);
	ret = spec_from_text(&spec, work->payload, &r->err);
	if (ret)
		return ret;
	ret = works_check_vram(&spec, works->service, &r->err);
	if (!ret)
		ret = gpu_spec_check(&spec, &r->err);
	service_kmod_away(works->service);
	if (!ret)
		ret = gpu_session_configure(s->gpu, &spec, &r->err);
	service_kmod_back(works->service);
	if (!ret)
		s->spec = spec;
	return ret;
}

static int do_statistics(struct works *works, struct job *job)
{
	struct result *r = &job->r;

	service_kmod_away(works->service);
	r->report = gpu_session_statistics(job->session->gpu);
	service_kmod_back(works->service);
	if (!r->report)
		return err_set(&r->err, -ENOMEM, "no memory for the statistics");
	return has_text(r, 0);
}

static int do_ranges(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	const struct gpu_work_ranges *p = work->payload;
	const struct gpu_range *ranges = (const struct gpu_range *)(p + 1);
	const struct advice_range *advice;
	uint64_t bytes;
	int ret;

	if (work->payload_bytes < sizeof(*p) || p->size != sizeof(*p) || p->reserved)
		return malformed("list of managed ranges", &job->r);
	bytes = (uint64_t)p->count * sizeof(struct gpu_range) +
		(uint64_t)p->count_advice * sizeof(*advice);
	if (work->payload_bytes - sizeof(*p) < bytes ||
	    gpu_session_set_ranges(job->session->gpu, ranges, p->count) == -EINVAL)
		return malformed("list of managed ranges", &job->r);
	advice = (const struct advice_range *)(ranges + p->count);
	if (streams_keep(&job->session->streams) &&
	    !gpu_session_advised(job->session->gpu, advice, p->count_advice))
		return err_set(&job->r.err, -EBUSY, "new advice while works of streams wait");
	ret = gpu_session_set_advice(job->session->gpu, advice, p->count_advice, &job->r.err);
	/* Without memory for it the advice is not followed. */
	return ret == -ENOMEM ? 0 : ret;
}

/* The touches of this run from p->from on. */
static int fetch_record(struct session *s, const struct gpu_work_record *p, struct result *r)
{
	const uint64_t *pages;
	uint64_t all, n;
	int ret = gpu_session_touches(s->gpu, &pages, &all, &r->err);

	if (ret)
		return ret;
	n = p->from < all ? MIN(all - p->from, GPU_TOUCHES_MAX) : 0;
	r->report = malloc((n + 1) * sizeof(all));
	if (!r->report)
		return err_set(&r->err, -ENOMEM, "no memory for a part of the record");
	r->report_bytes = (n + 1) * sizeof(all);
	memcpy(r->report, &all, sizeof(all));
	if (n)
		memcpy(r->report + sizeof(all), pages + p->from, n * sizeof(all));
	return 0;
}

static int do_record(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	const struct gpu_work_record *p = work->payload;
	struct session *s = job->session;
	struct result *r = &job->r;
	int ret;

	if (work->payload_bytes < sizeof(*p) || p->size != sizeof(*p) || p->fetch > 1)
		return malformed("record", r);
	if (p->fetch)
		return fetch_record(s, p, r);
	ret = gpu_session_add_record(s->gpu, (const uint64_t *)(p + 1),
				     (work->payload_bytes - sizeof(*p)) / sizeof(uint64_t));
	if (ret == -E2BIG)
		return err_set(&r->err, ret, "the recorded run has more than %u touches",
			       GPU_RECORD_MAX);
	return ret == -EINVAL ? malformed("record", r) : ret;
}

static int go_on_run(struct works *works, struct job *job)
{
	struct streams *s = &job->session->streams;

	if (!streams_go_on(s, &job->run, turn_over, works))
		return NOT_YET;
	return streams_report(s, &job->r.report, &job->r.report_bytes, &job->r.err);
}

/* Each kernel's first launch decodes it, so this may take turns as well. */
static int go_on_taking(struct works *works, struct job *job)
{
	int ret;

	service_kmod_away(works->service);
	ret = streams_take(&job->session->streams, job->work.payload, &job->run, turn_over, works,
			   &job->r.err);
	service_kmod_back(works->service);
	if (!ret && job->run.left)
		ret = keep_payload(job);
	if (ret)
		return ret;
	if (job->run.left)
		return NOT_YET;
	job->go_on = go_on_run;
	return go_on_run(works, job);
}

static int do_run(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	int ret = streams_begin(&job->session->streams, work->payload, work->payload_bytes,
				service_kmod_generation(works->service), &job->run, &job->r.err);

	if (ret)
		return ret;
	job->go_on = go_on_taking;
	return go_on_taking(works, job);
}

static int (*const do_kind[])(struct works *works, struct job *job) = {
	[WORK_LOAD] = do_load,
	[WORK_LAUNCH] = do_launch,
	[WORK_PREFETCH] = do_prefetch,
	[WORK_TOUCH] = do_touch,
	[WORK_CONFIGURE] = do_configure,
	[WORK_STATISTICS] = do_statistics,
	[WORK_RANGES] = do_ranges,
	[WORK_RECORD] = do_record,
	[WORK_RUN] = do_run,
};

/* Works that would have to wait for all streams' works to end, in one go. */
static bool needs_all_done(uint32_t kind)
{
	return kind != WORK_RUN && kind != WORK_LOAD && kind != WORK_RANGES;
}

static int dispatch(struct works *works, struct job *job)
{
	const struct service_work *work = &job->work;
	int ret;

	if (work->kind >= ARRAY_SIZE(do_kind) || !do_kind[work->kind])
		return err_set(&job->r.err, -EOPNOTSUPP, "unknown kind of work %u", work->kind);
	ret = session_get(works, work, &job->session, &job->r.err);
	if (ret)
		return ret;
	works->turn = job->session;
	account_enter(job->session->account);
	if (needs_all_done(work->kind) && streams_keep(&job->session->streams))
		return err_set(&job->r.err, -EBUSY, "works of streams wait: they are to be run first");
	return do_kind[work->kind](works, job);
}

/* 0, or -ENODEV: the device is lost. */
static int report(struct works *works, struct job *job, int status)
{
	const struct service_work *work = &job->work;
	struct result *r = &job->r;
	int ret;

	log_line(works->log, LOG_DEBUG, "VA space %u: work %llu of kind %u: %s", work->va_space,
		 (unsigned long long)work->id, work->kind,
		 !status ? "done" : r->err.text[0] ? r->err.text : strerror(-status));
	if (status == -ENODEV)
		return status;
	if (status && !r->err.text[0])
		err_set(&r->err, 0, "%s", strerror(-status));
	ret = service_kmod_done(works->service, work->id, status, r->fault_addr, r->err.text,
				r->report, r->report_bytes);
	if (ret == -ENODEV)
		return ret;
	/* -ENOENT: the client did not live to read it. */
	if (ret && ret != -ENOENT)
		log_line(works->log, LOG_WARNING, "work %llu could not be reported: %s",
			 (unsigned long long)work->id, strerror(-ret));
	return 0;
}

/* The engine found no memory because the client has had its share: so the message says. */
static void say_too_much(const struct works *works, struct job *job)
{
	const struct err err = job->r.err;

	err_set(&job->r.err, 0, "%.300s: %s", err.text[0] ? err.text : "out of memory",
		works->too_much);
}

/* The job's turn. After it the job is done, or waits as the last one. */
static int job_turn(struct works *works, struct job *job)
{
	int status;

	service_kmod_current(works->service, job->work.id);
	works->until = works->slice_ns ? now_ns() + works->slice_ns : 0;
	works->turn = job->session;
	if (job->session)
		account_enter(job->session->account);
	status = job->go_on ? job->go_on(works, job) : dispatch(works, job);
	if (status == -ENOMEM && job->session && job->session->account->refused)
		say_too_much(works, job);
	account_enter(NULL);
	if (!job->run.left && !job->load) {
		job->work.payload = NULL;
		free(job->payload);
		job->payload = NULL;
	}
	if (job->session)
		job->session->busy = status == NOT_YET;
	if (status == NOT_YET && job->load) {
		job->next = works->loading;
		works->loading = job;
		return 0;
	}
	if (status == NOT_YET) {
		job_append(works, job);
		return 0;
	}
	if (job->session)
		shown_end(&job->session->shown, works->service, job->session->gpu);
	status = report(works, job, status);
	job_free(works, job);
	return status;
}

bool works_load(const struct works *works)
{
	return works->loading;
}

int works_look_at_loads(struct works *works)
{
	struct job **at = &works->loading, *job;
	int ret = 0;

	while (!ret && (job = *at)) {
		bool alive = service_kmod_alive(works->service, job->work.va_space);

		if (alive && !loads_ready(works->loads, job->load)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		if (alive) {
			job_append(works, job);
			continue;
		}
		job->session->busy = false;
		ret = report(works, job, -ECANCELED);
		job_free(works, job);
	}
	return ret;
}

static struct job *job_make(struct works *works, const struct service_work *work)
{
	struct job *job = calloc(1, sizeof(*job));

	if (job)
		job->work = *work;
	else
		service_kmod_done(works->service, work->id, -ENOMEM, 0,
				  "no memory for one more work", NULL, 0);
	return job;
}

int works_do(struct works *works, const struct service_work *work)
{
	struct job *job = job_make(works, work);

	return job ? job_turn(works, job) : 0;
}

void works_add(struct works *works, const struct service_work *work)
{
	struct job *job = job_make(works, work);

	if (!job)
		return;
	job->payload = malloc(MAX(work->payload_bytes, 1u));
	if (!job->payload) {
		err_set(&job->r.err, 0, "no memory for one more work");
		report(works, job, -ENOMEM);
		job_free(works, job);
		return;
	}
	memcpy(job->payload, work->payload, work->payload_bytes);
	job->work.payload = job->payload;
	job_append(works, job);
}

bool works_kept(const struct works *works)
{
	for (const struct session *s = works->sessions; s; s = s->next)
		if (streams_keep(&s->streams))
			return true;
	return false;
}

bool works_wait(const struct works *works)
{
	return works->jobs;
}

int works_next(struct works *works)
{
	return job_turn(works, job_first(works));
}

/* --- all of it ---------------------------------------------------------------------- */

int works_check_vram(struct gpu_spec *spec, struct service *service, struct err *err)
{
	uint64_t device = service->ops->frames(service) * PAGE_BYTES;

	if (!spec->vram_bytes)
		spec->vram_bytes = device;
	if (spec->vram_bytes <= device)
		return 0;
	return err_set(err, -ERANGE,
		       "paging.vram=%llu is more than the device has (%llu): "
		       "load the module with a larger vram_mb",
		       (unsigned long long)spec->vram_bytes, (unsigned long long)device);
}

int works_create(struct gpu *gpu, struct service *service, const struct gpu_spec *spec,
		 const struct log *log, const struct works_limits *limits, struct works **works)
{
	struct works *w = calloc(1, sizeof(*w));

	*works = w;
	if (!w)
		return -ENOMEM;
	w->gpu = gpu;
	w->service = service;
	w->log = log;
	w->spec = *spec;
	w->limits = *limits;
	describe_limits(w);
	w->slice_ns = limits->slice_ms * 1000000ull;
	w->jobs_end = &w->jobs;
	w->account = account_open(limits->all_bytes, NULL);
	if (w->account && !loads_create(limits->load_seconds, &w->loads))
		return 0;
	account_close(w->account);
	free(w);
	*works = NULL;
	return -ENOMEM;
}

void works_destroy(struct works *works)
{
	if (!works)
		return;
	/* What was set aside ends with its session, and tells its job so. Loads end before. */
	while (works->loading) {
		struct job *job = works->loading;

		works->loading = job->next;
		job_free(works, job);
	}
	while (works->sessions)
		session_free(works, &works->sessions);
	while (works->jobs)
		job_free(works, job_first(works));
	loads_destroy(works->loads);
	account_close(works->account);
	free(works);
}
