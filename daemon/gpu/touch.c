// SPDX-License-Identifier: GPL-2.0
/*
 * Wall time: far faults without an SM model, as fast as they can be raised and
 * served, for the latency of the path alone (gpuemu bench). Percentiles are
 * exact: every batch's cost is kept.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/session.h"

#define STAGES(X) X(raised_to_fetched) X(fetched_to_committed) X(evict) X(unmap) \
	X(copy) X(map) X(replay)

#define MOST_TOUCHES	(1u << 22)
/* With GPU_TOUCH_SAMPLES so few far faults are reported one by one. */
#define MOST_SAMPLES	4096u

struct touches {
	uint64_t *total;	/* one a far fault: raised to replayed */
	uint64_t *end_to_end;	/* the same, as the engine thread waited */
	size_t faults;
	struct service_cost *costs; /* one a batch */
	size_t batches;
	size_t most;		/* room in each */
};

static struct json_object *percentiles(uint64_t *values, size_t n)
{
	static const struct {
		const char *key;
		unsigned int permille;
	} rows[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "max", 1000 } };
	struct json_object *o = json_object_new_object();

	if (!o)
		return NULL;
	json_object_object_add(o, "count", json_object_new_uint64(n));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_object_add(o, rows[i].key, json_object_new_uint64(
				       samples_permille(values, n, rows[i].permille)));
	return o;
}

static struct json_object *list(const uint64_t *values, size_t n)
{
	struct json_object *o = json_object_new_array_ext((int)MAX(n, 1u));

	for (size_t i = 0; o && i < n; i++)
		json_object_array_add(o, json_object_new_uint64(values[i]));
	return o;
}

/* For a caller that takes turns with other work, and adds up several calls. NULL: no memory. */
static struct json_object *samples_of(const struct touches *s, uint64_t *room)
{
	struct json_object *o = json_object_new_object(), *stages = json_object_new_object();

	if (!o || !stages) {
		json_object_put(o);
		json_object_put(stages);
		return NULL;
	}
	json_object_object_add(o, "far_fault_ns", list(s->total, s->faults));
	json_object_object_add(o, "end_to_end_ns", list(s->end_to_end, s->faults));
#define X(stage)							\
	for (size_t i = 0; i < s->batches; i++)				\
		room[i] = s->costs[i].stage;				\
	json_object_object_add(stages, #stage, list(room, s->batches));
	STAGES(X)
#undef X
	json_object_object_add(o, "stages_ns", stages);
	return o;
}

static int report(struct touches *s, bool samples, char **json)
{
	struct json_object *top = json_object_new_object();
	struct json_object *latency = percentiles(s->total, s->faults);
	struct json_object *end_to_end = percentiles(s->end_to_end, s->faults);
	struct json_object *stages = json_object_new_object();
	uint64_t *v = calloc(MAX(s->batches, 1u), sizeof(*v));
	int ret = -ENOMEM;

	if (!top || !latency || !end_to_end || !stages || !v)
		goto out;
#define ADD(object, key, value) json_object_object_add(object, key, json_object_new_uint64(value))
#define X(stage)							\
	for (size_t i = 0; i < s->batches; i++)				\
		v[i] = s->costs[i].stage;				\
	ADD(stages, #stage, samples_permille(v, s->batches, 500));
	STAGES(X)
#undef X
	json_object_object_add(top, "far_fault_ns", latency);
	json_object_object_add(top, "stages_ns", stages);
	json_object_object_add(top, "end_to_end_ns", end_to_end);
	latency = NULL;
	end_to_end = NULL;
	stages = NULL;
	ADD(top, "faults", s->faults);
	if (samples && s->faults <= MOST_SAMPLES && s->batches <= MOST_SAMPLES)
		json_object_object_add(top, "samples", samples_of(s, v));
#undef ADD
	*json = strdup(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PLAIN));
	ret = *json ? 0 : -ENOMEM;
out:
	json_object_put(top);
	json_object_put(latency);
	json_object_put(end_to_end);
	json_object_put(stages);
	free(v);
	return ret;
}

/* Adds the cost of a batch that was raised again because its pages were being worked on. */
static void add_cost(struct service_cost *sum, const struct service_cost *cost)
{
	sum->total += cost->total;
	sum->end_to_end += cost->end_to_end;
#define X(stage) sum->stage += cost->stage;
	STAGES(X)
#undef X
}

/* One batch: raised, served, its invalidations applied. Tries again while a page is stuck. */
static int touch_batch(struct gpu_session *s, const struct fault *faults, unsigned int n,
		       struct service_cost *cost, struct err *err)
{
	struct paging_outcome outcome = { 0 };
	int ret;

	*cost = (struct service_cost){ 0 };
	for (unsigned int i = 0; i < HANDLER_PATIENCE; i++) {
		ret = paging_serve(s->paging, faults, n, s->now, &outcome);
		if (!ret)
			ret = paging_land_all(s->paging, &outcome);
		if (!ret)
			ret = gpu_apply_invalidations(s->gpu);
		if (ret)
			return err_set(err, ret, ret == -ECANCELED ?
				       "the client is gone" : "the device is lost");
		s->now += cycles_of(&s->machine->spec, outcome.service_ns);
		add_cost(cost, &outcome.cost);
		if (outcome.unmanaged)
			return err_set(err, -EFAULT, outcome.is_protected ?
				       "the memory at 0x%llx is not readable and writable" :
				       "no managed memory at 0x%llx",
				       (unsigned long long)outcome.unmanaged_addr);
		if (!outcome.stuck)
			return 0;
	}
	return err_set(err, outcome.stuck_status,
		       "page 0x%llx cannot be moved to device memory (%s)",
		       (unsigned long long)outcome.stuck_addr,
		       strerror(-outcome.stuck_status));
}

/* Would the access not fault? */
static bool usable(struct gpu_session *s, uint64_t addr, bool write)
{
	unsigned int flags;

	return service_entry(s->gpu->service, s->va_space, addr, &flags) &&
	       !(write && flags & SERVICE_ENTRY_READ_ONLY);
}

/*
 * Raises n faults and goes on with those that had to wait for a frame until all
 * are served. What one waited is the sum of the batches it was raised in.
 */
static int touch_round(struct gpu_session *s, struct fault *faults, unsigned int n,
		       bool write, struct touches *out, struct err *err)
{
	uint64_t total = 0, end_to_end = 0;
	unsigned int left;
	int ret;

	for (unsigned int i = 0; n && i < HANDLER_PATIENCE; i++, n = left) {
		struct service_cost cost;

		ret = touch_batch(s, faults, n, &cost, err);
		if (ret)
			return ret;
		total += cost.total;
		end_to_end += cost.end_to_end;
		if (out->batches < out->most)
			out->costs[out->batches++] = cost;
		left = 0;
		for (unsigned int k = 0; k < n; k++) {
			if (!usable(s, faults[k].addr, write)) {
				faults[left++] = faults[k];
				continue;
			}
			paging_touch(s->paging, faults[k].addr, write);
			out->total[out->faults] = total;
			out->end_to_end[out->faults++] = end_to_end;
		}
	}
	return n ? err_set(err, -ENOSPC, "page 0x%llx found no room in device memory",
			   (unsigned long long)faults[0].addr) : 0;
}

/* --- the whole of it, in parts -------------------------------------------------------- */

struct gpu_touch {
	struct gpu_session *s;
	uint64_t addr, stride;
	uint64_t next, last;	/* accesses */
	unsigned int batch, flags;
	struct touches out;
	int status;
	struct err err;
};

/* The next batch that has something to raise. False: there is none. */
static bool touch_some(struct gpu_touch *t)
{
	const bool write = t->flags & GPU_TOUCH_WRITE;
	struct gpu_session *s = t->s;
	struct fault faults[256];
	unsigned int n = 0;

	for (; n < t->batch && t->next <= t->last; t->next++) {
		uint64_t page = (t->addr + t->next * t->stride) & ~(PAGE_BYTES - 1);

		/* A usable page does not fault. A page faults once in a batch. */
		if (!usable(s, page, write) &&
		    !(n && faults[n - 1].addr == page))
			faults[n++] = (struct fault){
				.addr = page, .cycle = s->now, .va_space = s->va_space,
				.access = write ? ACCESS_WRITE : ACCESS_READ, .merged = 1,
			};
	}
	if (!n)
		return false;
	t->status = touch_round(s, faults, n, write, &t->out, &t->err);
	return !t->status;
}

bool gpu_touch_go_on(struct gpu_touch *t, gpu_over *over, void *ctx)
{
	while (!t->status && touch_some(t))
		if (over && over(ctx))
			return false;
	return true;
}

/* Pages that a kernel left on their way come first. Their latency is not counted. */
static int quiet(struct gpu_session *s)
{
	struct paging_outcome rest = { 0 };
	int ret = paging_advance(s->paging, s->now);

	if (!ret)
		ret = paging_land_all(s->paging, &rest);
	s->now += cycles_of(&s->machine->spec, rest.service_ns);
	return ret;
}

/* A client asks; it gets no more of the daemon's time and memory than this. */
static int make_room(struct touches *out, uint64_t most, struct err *err)
{
	if (most > MOST_TOUCHES)
		return err_set(err, -EINVAL, "touch: %llu accesses, at most %u",
			       (unsigned long long)most, MOST_TOUCHES);
	out->most = most;
	out->total = calloc(most, sizeof(*out->total));
	out->end_to_end = calloc(most, sizeof(*out->end_to_end));
	out->costs = calloc(most, sizeof(*out->costs));
	if (out->total && out->end_to_end && out->costs)
		return 0;
	return err_set(err, -ENOMEM, "touch: no memory for %llu samples",
		       (unsigned long long)most);
}

static void touch_free(struct gpu_touch *t)
{
	free(t->out.total);
	free(t->out.end_to_end);
	free(t->out.costs);
	free(t);
}

static int touch_check(struct gpu_session *s, uint64_t addr, uint64_t bytes, uint64_t stride,
		       unsigned int batch, struct err *err)
{
	int ret;

	if (!stride || !bytes || addr + bytes < addr)
		return err_set(err, -EINVAL, "touch: %llu bytes at 0x%llx every %llu",
			       (unsigned long long)bytes, (unsigned long long)addr,
			       (unsigned long long)stride);
	if (!batch || batch > s->machine->spec.batch)
		return err_set(err, -EINVAL,
			       "touch: batches of %u, paging.batch allows 1 to %llu", batch,
			       (unsigned long long)s->machine->spec.batch);
	if (!s->paging)
		return err_set(err, -ENOMEM, "the session has no fault handler: configure it");
	ret = quiet(s);
	return ret ? err_set(err, ret, "out of memory") : 0;
}

struct gpu_touch *gpu_touch_begin(struct gpu_session *s, uint64_t addr, uint64_t bytes,
				  uint64_t stride, unsigned int batch, unsigned int flags,
				  int *status, struct err *err)
{
	struct gpu_touch *t;

	*status = touch_check(s, addr, bytes, stride, batch, err);
	if (*status)
		return NULL;
	session_finish(s);
	t = calloc(1, sizeof(*t));
	if (!t) {
		*status = err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	t->s = s;
	t->addr = addr;
	t->stride = stride;
	t->last = (bytes - 1) / stride;
	t->batch = batch;
	t->flags = flags;
	*status = make_room(&t->out, t->last + 1, err);
	if (!*status)
		return t;
	touch_free(t);
	return NULL;
}

int gpu_touch_end(struct gpu_touch *t, char **json, struct err *err)
{
	int ret = t->status;

	if (ret && err)
		*err = t->err;
	if (!ret && !(t->flags & GPU_TOUCH_SILENT))
		ret = report(&t->out, t->flags & GPU_TOUCH_SAMPLES, json);
	touch_free(t);
	return ret;
}

int gpu_session_touch(struct gpu_session *s, uint64_t addr, uint64_t bytes,
		      uint64_t stride, unsigned int batch, unsigned int flags,
		      char **json, struct err *err)
{
	struct gpu_touch *t;
	int ret;

	t = gpu_touch_begin(s, addr, bytes, stride, batch, flags, &ret, err);
	if (!t)
		return ret;
	gpu_touch_go_on(t, NULL, NULL);
	return gpu_touch_end(t, json, err);
}
