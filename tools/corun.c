// SPDX-License-Identifier: GPL-2.0
/*
 * Workloads side by side. The host side of a workload launches, waits, reads the results and
 * launches again. Several host sides take turns, in the order of virtual time. Each has a
 * stream and a thread, and one thread runs at a time. A host side that waits hands the turn
 * back. Then the GPU goes on until some waiting stream has nothing left to do, and its host
 * side gets the turn in that cycle. If there are several, the first on the command line gets
 * it. An arrival is a delay in the stream. So no clock of the host takes part.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "corun.h"
#include "output.h"
#include "report.h"

#define NOBODY	UINT_MAX

struct host {
	struct corun *all;
	struct corun_member *member;
	struct gpuemu_stream *stream;
	pthread_t thread;
	bool started, over;
	int status;			/* of its host side */
};

struct corun {
	struct gpuemu_ctx *ctx;
	struct host hosts[CORUN_MAX];
	unsigned int n;
	bool paged;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int turn;		/* the program in turn; NOBODY: the GPU */
};

/* --- turns ----------------------------------------------------------------------- */

static void take_turn(struct corun *all, unsigned int who)
{
	pthread_mutex_lock(&all->lock);
	while (all->turn != who)
		pthread_cond_wait(&all->changed, &all->lock);
	pthread_mutex_unlock(&all->lock);
}

static void give_turn(struct corun *all, unsigned int who)
{
	pthread_mutex_lock(&all->lock);
	all->turn = who;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

static unsigned int number_of(const struct host *h)
{
	return (unsigned int)(h - h->all->hosts);
}

/* struct workload's wait. */
static void wait_for_stream(struct workload *w)
{
	struct host *h = w->waiter;

	give_turn(h->all, NOBODY);
	take_turn(h->all, number_of(h));
}

static bool is_result(const struct workload_buffer *b)
{
	return b->direction == WORKLOAD_OUT || b->direction == WORKLOAD_INOUT;
}

/* The CPU reads the results, as after every run. */
static int results_home(struct workload *w)
{
	for (unsigned int i = 0; i < w->nbuffers; i++) {
		const struct workload_buffer *b = &w->buffers[i];
		int ret = is_result(b) ? gpuemu_mem_prefetch_host(w->ctx, b->memory, b->bytes,
								  w->stream) : 0;

		if (ret)
			return workload_failed(w, ret, "taking the results back");
	}
	return workload_synchronize(w);
}

static void *host_side(void *arg)
{
	struct host *h = arg;
	struct workload *w = h->member->w;
	uint64_t runs = 0;

	take_turn(h->all, number_of(h));
	do
		h->status = w->ops->run(w);
	while (!h->status && ++runs < h->member->repeat);
	if (!h->status && h->all->paged)
		h->status = results_home(w);
	h->over = true;
	give_turn(h->all, NOBODY);
	return NULL;
}

/* Lets the GPU go on until one of the waiting host sides has its turn. False: nobody waits. */
static bool next_host(struct corun *all, unsigned int *who, int *status)
{
	struct gpuemu_stream *streams[CORUN_MAX];
	unsigned int hosts[CORUN_MAX], n = 0, which = 0;

	for (unsigned int i = 0; i < all->n; i++) {
		if (!all->hosts[i].started || all->hosts[i].over)
			continue;
		hosts[n] = i;
		streams[n++] = all->hosts[i].stream;
	}
	if (!n)
		return false;
	*status = gpuemu_stream_wait_any(all->ctx, streams, n, &which);
	/* Without memory for this, all host sides still come to their end. */
	*who = hosts[which];
	return true;
}

static int run_hosts(struct corun *all)
{
	int ret = 0, status = 0;
	unsigned int who;

	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->changed, NULL);
	all->turn = NOBODY;
	for (unsigned int i = 0; !ret && i < all->n; i++) {
		struct host *h = &all->hosts[i];

		ret = -pthread_create(&h->thread, NULL, host_side, h);
		h->started = !ret;
		if (ret)
			h->status = err_set(&h->member->w->err, ret, "no thread for its host side");
	}
	while (next_host(all, &who, &status)) {
		ret = ret ? ret : status;
		give_turn(all, who);
		take_turn(all, NOBODY);
	}
	for (unsigned int i = 0; i < all->n; i++)
		if (all->hosts[i].started)
			pthread_join(all->hosts[i].thread, NULL);
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
	return ret;
}

/* --- before and behind them --------------------------------------------------------- */

static int open_stream(struct host *h)
{
	struct workload *w = h->member->w;
	int ret = gpuemu_stream_create(w->ctx, &h->stream);

	if (!ret && h->member->arrival)
		ret = gpuemu_stream_delay(w->ctx, h->stream, h->member->arrival);
	if (!ret && h->member->halt)
		ret = gpuemu_stream_halt_after(w->ctx, h->stream, h->member->halt);
	if (!ret && h->member->until)
		ret = gpuemu_stream_halt_at(w->ctx, h->stream, h->member->until);
	if (ret)
		return workload_failed(w, ret, "its stream");
	w->stream = h->stream;
	w->wait = wait_for_stream;
	w->waiter = h;
	return 0;
}

static int begin(struct corun *all, const struct target *target)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < all->n; i++) {
		struct host *h = &all->hosts[i];
		struct workload *w = h->member->w;

		ret = workload_begin(w, h->member->row, all->ctx);
		if (!ret)
			ret = advise_workload(&target->advise, w);
		h->member->status = ret;
	}
	for (unsigned int i = 0; !ret && i < all->n; i++)
		ret = all->hosts[i].member->status = open_stream(&all->hosts[i]);
	return ret;
}

/* --- the report ------------------------------------------------------------------------ */

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static void add(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static struct json_object *entry_of(const struct host *h)
{
	struct json_object *o = report_workload(h->member->w, h->member->status);

	add(o, "stream", gpuemu_stream_id(h->stream));
	add(o, "arrival", h->member->arrival);
	if (h->member->halt)
		add(o, "target_instructions", h->member->halt);
	if (h->member->until)
		add(o, "target_cycle", h->member->until);
	if (h->member->halted) {
		json_object_object_add(o, "verified", json_object_new_boolean(false));
		json_object_object_add(o, "halted", json_object_new_boolean(true));
	}
	return o;
}

static struct json_object *report_of(struct corun *all, const struct report_facts *facts,
				     struct err *err)
{
	struct json_object *entries = json_object_new_array(), *report;

	for (unsigned int i = 0; i < all->n; i++)
		json_object_array_add(entries, entry_of(&all->hosts[i]));
	report = report_json(facts, "workloads", entries, err);
	for (unsigned int i = 0; report && i < all->n; i++)
		corun_kernels(json_object_array_get_idx(entries, i), output_at(report, "kernels"),
			      gpuemu_stream_id(all->hosts[i].stream));
	/* Each has its own. */
	if (report)
		json_object_object_del(report, "kernels");
	return report;
}

/* --- all of it --------------------------------------------------------------------------- */

static bool has_paging(const char *statistics)
{
	struct json_object *o = json_tokener_parse(statistics);
	bool paged = output_has(o, "paging");

	json_object_put(o);
	return paged;
}

/* True if a kernel of the host's stream has reached the target. */
static bool was_halted(struct json_object *statistics, uint32_t stream)
{
	struct json_object *kernels = output_at(statistics, "kernels");

	for (size_t i = 0; kernels && i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		if (count(k, "stream") == stream && output_has(k, "halted"))
			return true;
	}
	return false;
}

/* Compares each host's result with the CPU's; a halted one has no result. */
static int verify(struct corun *all, const char *statistics)
{
	struct json_object *o = json_tokener_parse(statistics);
	int ret = 0;

	for (unsigned int i = 0; i < all->n; i++) {
		struct host *h = &all->hosts[i];
		struct corun_member *m = h->member;

		m->halted = h->status == -ECANCELED && was_halted(o, gpuemu_stream_id(h->stream));
		m->status = m->halted ? 0 : h->status ? h->status : m->w->ops->verify(m->w);
		ret = ret ? ret : m->status;
	}
	json_object_put(o);
	return ret;
}

/* The statistics are still short, because no kernel has run. */
static int ask_paged(struct corun *all)
{
	char *text;
	int ret = gpuemu_statistics(all->ctx, &text);

	if (ret)
		return workload_failed(all->hosts[0].member->w, ret, "statistics");
	all->paged = has_paging(text);
	gpuemu_free(text);
	return 0;
}

static int run_all(struct corun *all, const struct target *target, struct report_facts *facts,
		   char **statistics)
{
	struct corun_member *first = all->hosts[0].member;
	uint64_t begun;
	int ret = ask_paged(all);

	if (!ret)
		ret = begin(all, target);
	if (ret)
		return ret;
	begun = now_ns();
	ret = run_hosts(all);
	facts->host_seconds = (double)(now_ns() - begun) * 1e-9;
	if (ret)
		return first->status = workload_failed(first->w, ret, "running side by side");
	/* Read before verification, which takes page faults of its own on the CPU. */
	ret = gpuemu_statistics(all->ctx, statistics);
	if (ret)
		return first->status = workload_failed(first->w, ret, "statistics");
	return verify(all, *statistics);
}

struct json_object *corun(struct corun_member *members, unsigned int n,
			  const struct target *target, struct gpuemu_ctx *ctx, int *status,
			  struct err *err)
{
	struct report_facts facts = { .target = target, .backend = gpuemu_backend(ctx) };
	struct corun all = { .ctx = ctx, .n = n };
	struct json_object *report;
	struct err why = { "" };
	char *statistics = NULL;

	for (unsigned int i = 0; i < n; i++) {
		members[i].status = -ECANCELED;		/* it did not get that far */
		members[i].w->ctx = ctx;
		all.hosts[i].all = &all;
		all.hosts[i].member = &members[i];
	}
	*status = run_all(&all, target, &facts, &statistics);
	facts.statistics = statistics;
	report = report_of(&all, &facts, err);
	/* Results that are right stay right when their record cannot be written. */
	if (statistics && target_record(target, ctx, &why) && !*status) {
		*status = members[0].status = -EIO;
		members[0].w->err = why;
	}
	gpuemu_free(statistics);
	for (unsigned int i = 0; i < n; i++)
		workload_end(members[i].w);
	if (!report && !*status)
		*status = -EPROTO;
	return report;
}
