// SPDX-License-Identifier: GPL-2.0
/*
 * The timeline as a trace: the trace event format that ui.perfetto.dev and
 * chrome://tracing load. A process each for the GPU (kernels, counters), the fault
 * handlers, the link and every SM (CTAs by number, its far faults, when it stands for
 * them); on a track slices nest or follow each other, what overlaps gets tracks of its own.
 * A far fault is a flow: raised at its SM, in a batch, in a transfer, replayed at its SM.
 *
 * Events go into the statistics' text as that is written: as objects of JSON they would be ten
 * times as large.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/session.h"

enum { PID_GPU = 1, PID_HANDLERS = 2, PID_LINK = 3, PID_SM = 10 };
enum { TID_KERNELS = 1, TID_HANDLERS = 1, TID_H2D = 1, TID_D2H = 1001 };
enum { TID_STALLED = 1, TID_CTAS = 10, TID_FAULTS = 100, TID_MORE_CTAS = 10000 };

#define WINDOWS		256u	/* of the link's use, as a counter */

struct text {
	struct printbuf *to;		/* the statistics' */
	bool failed, any;
	uint64_t mhz;
};

/* --- text --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *fmt, ...)
{
	char piece[1024];	/* longer than any event is */
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(piece) || printbuf_memappend(t->to, piece, n) < 0)
		t->failed = true;
}

/* In integers: exact to the nanosecond however long the run was. */
static void put_us(struct text *t, const char *key, uint64_t cycles)
{
	uint64_t ns = (uint64_t)((unsigned __int128)cycles * 1000 / t->mhz);

	put(t, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* Opens an event; what it has more follows, then a brace. */
static void begin_event(struct text *t, const char *ph, int pid, unsigned int tid)
{
	put(t, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u", t->any ? "," : "", ph, pid, tid);
	t->any = true;
}

static void begin_slice(struct text *t, int pid, unsigned int tid, uint64_t begin, uint64_t end)
{
	uint64_t from = (uint64_t)((unsigned __int128)begin * 1000 / t->mhz);
	uint64_t to = (uint64_t)((unsigned __int128)end * 1000 / t->mhz);

	begin_event(t, "X", pid, tid);
	put_us(t, "ts", begin);
	/* Rounded as its end is, so that what ends where another begins does not overlap it. */
	put(t, ",\"dur\":%" PRIu64 ".%03" PRIu64, (to - from) / 1000, (to - from) % 1000);
}

static void name_track(struct text *t, const char *what, int pid, unsigned int tid,
		       const char *name, unsigned int number, bool numbered)
{
	begin_event(t, "M", pid, tid);
	if (numbered)
		put(t, ",\"name\":\"%s\",\"args\":{\"name\":\"%s %u\"}}", what, name, number);
	else
		put(t, ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", what, name);
}

/* --- tracks ------------------------------------------------------------------- */

/* One kind's events in the order in which they begin, each with its lane. */
struct lanes {
	const struct trace_event **events;
	uint32_t *lane;
	size_t count;
	uint64_t *busy;			/* by lane: until when */
	unsigned int nlanes;
};

static uint64_t end_of(const struct timeline *t, const struct trace_event *e)
{
	uint64_t end = MAX(e->end, e->begin);

	if (e->kind != TRACE_FAULT)
		return end;
	/* One that never replayed was given up with its batch. */
	if (!e->b && !e->end && e->batch != TRACE_NONE)
		end = MAX(end, t->events[e->batch].end);
	return MAX(end, e->b);
}

static int by_begin(const void *a, const void *b)
{
	const struct trace_event *x = *(const struct trace_event *const *)a;
	const struct trace_event *y = *(const struct trace_event *const *)b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x > y) - (x < y);
}

static bool lanes_make(struct lanes *l, size_t most)
{
	*l = (struct lanes){ 0 };
	l->events = malloc(MAX(most, 1u) * sizeof(*l->events));
	l->lane = malloc(MAX(most, 1u) * sizeof(*l->lane));
	l->busy = malloc(MAX(most, 1u) * sizeof(*l->busy));
	return l->events && l->lane && l->busy;
}

static void lanes_free(struct lanes *l)
{
	free(l->events);
	free(l->lane);
	free(l->busy);
}

/* The first lane that is free; none waits for another. */
static void lanes_assign(const struct timeline *t, struct lanes *l)
{
	l->nlanes = 0;
	qsort(l->events, l->count, sizeof(*l->events), by_begin);
	for (size_t i = 0; i < l->count; i++) {
		const struct trace_event *e = l->events[i];
		unsigned int n = 0;

		while (n < l->nlanes && l->busy[n] > e->begin)
			n++;
		l->nlanes = MAX(l->nlanes, n + 1);
		/* One of no length takes its cycle, too. */
		l->busy[n] = MAX(end_of(t, e), e->begin + 1);
		l->lane[i] = n;
	}
}

/* The writer's state, with the lane of every event: flows end on lanes. */
struct writer {
	struct gpu_session *s;
	const struct timeline *t;
	struct text text;
	struct lanes lanes;
	uint32_t *lane_of;		/* by event */
};

static void collect(struct writer *w, enum trace_kind kind, int which, unsigned int sm)
{
	const struct timeline *t = w->t;

	w->lanes.count = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct trace_event *e = &t->events[i];

		if (e->kind == kind && (which < 0 || (e->flags & 1) == which) &&
		    (kind != TRACE_FAULT || e->sm == sm))
			w->lanes.events[w->lanes.count++] = e;
	}
	lanes_assign(t, &w->lanes);
	for (size_t i = 0; i < w->lanes.count; i++)
		w->lane_of[w->lanes.events[i] - t->events] = w->lanes.lane[i];
}

/* "H2D", and "H2D 2" where there are more. */
static void name_lanes(struct writer *w, int pid, unsigned int tid, const char *name)
{
	for (unsigned int n = 0; n < MAX(w->lanes.nlanes, 1u); n++)
		name_track(&w->text, "thread_name", pid, tid + n, name, n + 1, n > 0);
}

/* --- launches ------------------------------------------------------------------- */

static const struct trace_launch *launch_of(const struct writer *w, uint64_t grid_id)
{
	static const struct trace_launch unknown;

	return grid_id && grid_id <= w->t->nlaunches ? &w->t->launches[grid_id - 1] : &unknown;
}

static uint32_t stream_of(const struct writer *w, uint64_t grid_id)
{
	return launch_of(w, grid_id)->stream;
}

/* Names are PTX's; others would need JSON's escapes. */
static const char *kernel_name(const struct writer *w, uint64_t grid_id, char name[128])
{
	const char *c = launch_of(w, grid_id)->name;
	size_t n = 0;

	for (c = c ? c : "CTA"; *c && n < 127; c++)
		name[n++] = *c < ' ' || *c == '"' || *c == '\\' ? '_' : *c;
	name[n] = '\0';
	return name;
}

/* --- the parts ------------------------------------------------------------------ */

static void put_kernels(struct writer *w)
{
	struct text *t = &w->text;

	name_track(t, "process_name", PID_GPU, 0, "GPU", 0, false);
	collect(w, TRACE_KERNEL, -1, 0);
	name_lanes(w, PID_GPU, TID_KERNELS, "kernels");
	for (size_t i = 0; i < w->lanes.count; i++) {
		const struct trace_event *e = w->lanes.events[i];
		char name[128];

		begin_slice(t, PID_GPU, TID_KERNELS + w->lanes.lane[i], e->begin, e->end);
		put(t, ",\"name\":\"%s\",\"args\":{\"cycles\":%" PRIu64 ",\"stream\":%u}}",
		    kernel_name(w, e->a, name), e->end - e->begin, stream_of(w, e->a));
	}
}

/* A policy's name may be a file's; what JSON would have to escape becomes "_". */
static void put_name(struct text *t, const char *key, const char *name)
{
	put(t, ",\"%s\":\"", key);
	for (const char *c = name; *c; c++)
		put(t, "%c", *c < ' ' || *c == '"' || *c == '\\' ? '_' : *c);
	put(t, "\"");
}

/* Where the batch's time went, whose faults they were, and who decided. */
static void put_served(struct writer *w, const struct trace_served *b)
{
	const struct gpu_spec *spec = &w->s->machine->spec;
	const struct service_cost *c = &b->cost;
	struct text *t = &w->text;

	put(t, ",\"stages_ns\":{\"raised_to_fetched\":%" PRIu64 ",\"fetched_to_committed\":%" PRIu64
	    ",\"decide\":%" PRIu64 ",\"evict\":%" PRIu64 ",\"unmap\":%" PRIu64 ",\"copy\":%" PRIu64
	    ",\"map\":%" PRIu64 ",\"replay\":%" PRIu64 "},\"cause\":{", c->raised_to_fetched,
	    c->fetched_to_committed, c->decide, c->evict, c->unmap, c->copy, c->map, c->replay);
	for (unsigned int i = 0; i < FAULT_CAUSES; i++)
		put(t, "%s\"%s\":%u", i ? "," : "", fault_cause_names[i], b->causes[i]);
	put(t, "}");
	put_name(t, "prefetch", spec->prefetch);
	put_name(t, "evict", spec->evict);
}

static void put_batches(struct writer *w)
{
	struct text *t = &w->text;

	name_track(t, "process_name", PID_HANDLERS, 0, "far-fault handlers", 0, false);
	collect(w, TRACE_BATCH, -1, 0);
	name_lanes(w, PID_HANDLERS, TID_HANDLERS, "handler");
	for (size_t i = 0; i < w->lanes.count; i++) {
		const struct trace_event *e = w->lanes.events[i];

		begin_slice(t, PID_HANDLERS, TID_HANDLERS + w->lanes.lane[i], e->begin, e->end);
		put(t, ",\"name\":\"fault batch\",\"args\":{\"handler\":%" PRIu64
		    ",\"raw_faults\":%" PRIu64 ",\"far_faults\":%" PRIu64 ",\"fault_buffer\":%u",
		    e->a & UINT32_MAX, e->b & UINT32_MAX, e->b >> 32, e->transfer);
		put_served(w, &w->t->served[e->a >> 32]);
		put(t, "}}");
	}
}

static void put_way(struct writer *w, int d2h)
{
	unsigned int tid = d2h ? TID_D2H : TID_H2D;
	struct text *t = &w->text;

	collect(w, TRACE_TRANSFER, d2h, 0);
	name_lanes(w, PID_LINK, tid, d2h ? "copy engine D2H" : "copy engine H2D");
	for (size_t i = 0; i < w->lanes.count; i++) {
		const struct trace_event *e = w->lanes.events[i];

		begin_slice(t, PID_LINK, tid + w->lanes.lane[i], e->begin, e->end);
		put(t, ",\"name\":\"%s\",\"args\":{\"addr\":\"0x%" PRIx64 "\",\"pages\":%" PRIu64
		    ",\"bytes\":%" PRIu64 "}}",
		    d2h ? "eviction" : e->flags & 2 ? "prefetch" : "migration", e->a,
		    DIV_ROUND_UP(e->b, (uint64_t)PAGE_BYTES), e->b);
	}
}

static void put_faults(struct writer *w, unsigned int sm)
{
	static const char *const access[] = { "prefetch", "read", "write", "atomic" };
	int pid = PID_SM + (int)sm;
	struct text *t = &w->text;

	collect(w, TRACE_FAULT, -1, sm);
	name_lanes(w, pid, TID_FAULTS, "far faults");
	for (size_t i = 0; i < w->lanes.count; i++) {
		const struct trace_event *e = w->lanes.events[i];
		unsigned int tid = TID_FAULTS + w->lanes.lane[i];
		uint64_t end = end_of(w->t, e);

		begin_slice(t, pid, tid, e->begin, end);
		put(t, ",\"name\":\"far fault\",\"args\":{\"page\":\"0x%" PRIx64
		    "\",\"warp\":%u,\"access\":\"%s\"}}", e->a, e->warp, access[e->flags & 3]);
		if (!e->b)
			continue;
		begin_slice(t, pid, tid, e->b, end);
		put(t, ",\"name\":\"replay\",\"args\":{}}");
	}
}

static void put_stall(struct text *t, unsigned int sm, uint64_t begin, uint64_t end)
{
	begin_slice(t, PID_SM + (int)sm, TID_STALLED, begin, end);
	put(t, ",\"name\":\"stalled on far faults\",\"args\":{}}");
}

/* The track of a CTA's number. */
static unsigned int cta_tid(unsigned int number)
{
	return number < TID_FAULTS - TID_CTAS ? TID_CTAS + number : TID_MORE_CTAS + number;
}

/* "0-7,12": the bits that are set. */
static void put_slots(struct text *t, const uint64_t slots[4])
{
	const char *separator = "";

	put(t, "\"slots\":\"");
	for (unsigned int from = 0, to; from < 256; from = to + 1) {
		for (to = from; to < 256 && slots[to / 64] >> to % 64 & 1; to++)
			;
		if (to > from + 1)
			put(t, "%s%u-%u", separator, from, to - 1);
		else if (to > from)
			put(t, "%s%u", separator, from);
		separator = to > from ? "," : separator;
	}
	put(t, "\"");
}

/* Where the CTA lies, as far as it has a place. */
static void put_place(struct text *t, const struct sm_part *p)
{
	if (p->registers_to > p->registers_from)
		put(t, ",\"registers\":[%u,%u]", p->registers_from, p->registers_to);
	if (p->shared_to > p->shared_from)
		put(t, ",\"shared\":[%u,%u]", p->shared_from, p->shared_to);
}

/* When the CTA whose end is span `last` was parked: told before its end, drawn inside of it. */
static void put_parked(struct text *t, const struct trace_sm *own, size_t last, int pid,
		       unsigned int tid)
{
	const struct sm_cta_span *cta = &own->spans[last].cta;
	size_t first = last;

	/* In order of their ends, but stalls, which are told late. */
	while (first && (own->spans[first - 1].kind == TRACE_STALL ||
			 own->spans[first - 1].cta.end >= cta->begin))
		first--;
	for (size_t i = first; i < last; i++) {
		const struct sm_cta_span *e = &own->spans[i].cta;

		if (own->spans[i].kind != TRACE_PARKED || e->cta != cta->cta ||
		    e->begin < cta->begin)
			continue;
		begin_slice(t, pid, tid, e->begin, e->end);
		put(t, ",\"name\":\"parked\",\"args\":{");
		put_slots(t, e->slots);
		put(t, "}}");
	}
}

/* CTAs of one number follow each other; numbers are tracks already. */
static void put_cta(struct writer *w, unsigned int sm, const struct sm_cta_span *cta)
{
	struct text *t = &w->text;
	char name[128];

	begin_slice(t, PID_SM + (int)sm, cta_tid(cta->cta), cta->begin, cta->end);
	kernel_name(w, cta->grid_id, name);
	put(t, ",\"name\":\"%s %u,%u,%u\",\"args\":{\"kernel\":\"%s\",\"stream\":%u,",
	    name, cta->ctaid[0], cta->ctaid[1], cta->ctaid[2], name, stream_of(w, cta->grid_id));
	put_slots(t, cta->slots);
	put_place(t, &cta->part);
	put(t, "}}");
}

static void put_sm(struct writer *w, unsigned int sm)
{
	const struct trace_sm *own = &w->t->sms[sm];
	int pid = PID_SM + (int)sm;
	struct text *t = &w->text;
	bool named[256] = { false };	/* sm.virtual_ctas at most */

	name_track(t, "process_name", pid, 0, "SM", sm, true);
	name_track(t, "thread_name", pid, TID_STALLED, "stalled on far faults", 0, false);
	for (size_t i = 0; i < own->count; i++) {
		const struct sm_cta_span *span = &own->spans[i].cta;
		unsigned int cta = span->cta;

		if (own->spans[i].kind == TRACE_STALL)
			put_stall(t, sm, span->begin, span->end);
		if (own->spans[i].kind != TRACE_CTA)
			continue;
		if (!named[cta])
			name_track(t, "thread_name", pid, cta_tid(cta), "CTA number", cta, true);
		named[cta] = true;
		put_cta(w, sm, span);
		put_parked(t, own, i, pid, cta_tid(cta));
	}
	if (own->stalled != NEVER && own->stalled < w->t->looked)
		put_stall(t, sm, own->stalled, w->t->looked);
	put_faults(w, sm);
}

/* --- flows and counters ----------------------------------------------------------- */

static void put_flow(struct text *t, const char *ph, size_t id, int pid, unsigned int tid,
		     uint64_t cycle)
{
	begin_event(t, ph, pid, tid);
	put_us(t, "ts", cycle);
	put(t, ",\"cat\":\"far fault\",\"name\":\"far fault\",\"id\":%zu%s}", id,
	    *ph == 'f' ? ",\"bp\":\"e\"" : "");
}

/*
 * The transfer that a fault waited for, not one that carried its page before, or again. What was
 * measured is one transfer a batch. TRACE_NONE: the page was on its way, or there.
 */
static uint32_t transfer_of(const struct writer *w, const struct trace_event *fault)
{
	const struct trace_event *events = w->t->events, *batch = &events[fault->batch];
	uint32_t x = fault->transfer;

	if (x == TRACE_NONE && w->s->gpu->service->ops->measured)
		x = batch->batch;
	if (x == TRACE_NONE || events[x].begin < batch->begin || events[x].begin > fault->b)
		return TRACE_NONE;
	return x;
}

static void put_flows(struct writer *w)
{
	const struct timeline *tl = w->t;
	struct text *t = &w->text;

	for (size_t i = 0; i < tl->count; i++) {
		const struct trace_event *e = &tl->events[i];
		int pid = PID_SM + e->sm;
		unsigned int tid = TID_FAULTS + w->lane_of[i];
		uint32_t x;

		if (e->kind != TRACE_FAULT)
			continue;
		put_flow(t, "s", i, pid, tid, e->begin);
		/* Served by none that came to arrive: it ends in its batch. */
		put_flow(t, e->b ? "t" : "f", i, PID_HANDLERS, TID_HANDLERS + w->lane_of[e->batch],
			 tl->events[e->batch].begin);
		if (!e->b)
			continue;
		x = transfer_of(w, e);
		if (x != TRACE_NONE)
			put_flow(t, "t", i, PID_LINK, TID_H2D + w->lane_of[x],
				 tl->events[x].begin);
		put_flow(t, "f", i, pid, tid, e->b);
	}
}

static void put_counter(struct text *t, const char *name, uint64_t cycle, const char *key,
			uint64_t value)
{
	begin_event(t, "C", PID_GPU, 0);
	put_us(t, "ts", cycle);
	put(t, ",\"name\":\"%s\",\"args\":{\"%s\":%" PRIu64 "}}", name, key, value);
}

/* Percent of each window in which the way was busy. */
static void put_link_use(struct writer *w, int d2h)
{
	const struct timeline *tl = w->t;
	uint64_t busy[WINDOWS] = { 0 }, window = w->s->now / WINDOWS + 1;

	for (size_t i = 0; i < tl->count; i++) {
		const struct trace_event *e = &tl->events[i];

		if (e->kind != TRACE_TRANSFER || (e->flags & 1) != d2h)
			continue;
		for (uint64_t k = e->begin / window; k < WINDOWS && k * window < e->end; k++)
			busy[k] += MIN(e->end, (k + 1) * window) - MAX(e->begin, k * window);
	}
	for (unsigned int k = 0; k < WINDOWS; k++)
		put_counter(&w->text, d2h ? "link D2H" : "link H2D", k * window, "percent",
			    MIN(busy[k] * 100 / window, 100u));
}

static void put_counters(struct writer *w)
{
	const struct timeline *tl = w->t;

	for (size_t i = 0; i < tl->count; i++) {
		const struct trace_event *e = &tl->events[i];

		if (e->kind != TRACE_STATE)
			continue;
		put_counter(&w->text, "resident pages", e->begin, "pages", e->a);
		put_counter(&w->text, "fault buffer", e->begin, "records", e->b);
	}
	put_link_use(w, 0);
	put_link_use(w, 1);
}

/* --- the whole --------------------------------------------------------------------- */

static void write_all(struct writer *w)
{
	uint64_t dropped = w->t->dropped;

	for (unsigned int i = 0; i < w->t->nsms; i++)
		dropped += w->t->sms[i].dropped;
	put(&w->text, "{\"dropped\":%" PRIu64 ",\"traceEvents\":[", dropped);
	put_kernels(w);
	put_batches(w);
	name_track(&w->text, "process_name", PID_LINK, 0, "link", 0, false);
	put_way(w, 0);
	put_way(w, 1);
	for (unsigned int i = 0; i < w->t->nsms; i++)
		put_sm(w, i);
	put_counters(w);
	put_flows(w);
	put(&w->text, "]}");
}

/* Called when the statistics become text. */
static int write_events(struct json_object *o, struct printbuf *to, int level, int flags)
{
	struct writer *w = json_object_get_userdata(o);

	(void)level;
	(void)flags;
	w->text = (struct text){ .to = to, .mhz = w->s->machine->spec.clock_mhz };
	write_all(w);
	return w->text.failed ? -1 : 0;
}

static void writer_free(struct json_object *o, void *writer)
{
	struct writer *w = writer;

	(void)o;
	lanes_free(&w->lanes);
	free(w->lane_of);
	free(w);
}

struct json_object *timeline_json(struct gpu_session *s)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct json_object *o = w ? json_object_new_object() : NULL;

	if (!o) {
		free(w);
		return NULL;
	}
	json_object_set_serializer(o, write_events, w, writer_free);
	w->s = s;
	w->t = &s->timeline;
	trace_sms(s, s->now);
	w->lane_of = calloc(MAX(w->t->count, 1u), sizeof(*w->lane_of));
	if (lanes_make(&w->lanes, w->t->count) && w->lane_of)
		return o;
	json_object_put(o);
	return NULL;
}
