// SPDX-License-Identifier: GPL-2.0
/*
 * The timeline of a session as trace events: one track for kernels, one for
 * the fault handler. Complete events (ph X) in the order in which they began.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/internal.h"

enum { TRACK_KERNELS = 1, TRACK_HANDLER = 2 };

int timeline_reset(struct timeline *t, size_t room)
{
	free(t->spans);
	*t = (struct timeline){ 0 };
	if (!room)
		return 0;
	t->spans = calloc(room, sizeof(*t->spans));
	if (!t->spans)
		return -ENOMEM;
	t->room = room;
	return 0;
}

void timeline_add(struct timeline *t, const struct timeline_span *span)
{
	if (t->count < t->room)
		t->spans[t->count++] = *span;
	else if (t->room)
		t->dropped++;
}

static void add_us(struct json_object *o, const char *key, uint64_t cycles, uint64_t mhz)
{
	uint64_t ns = (uint64_t)((unsigned __int128)cycles * 1000 / mhz);
	char text[32];

	/* In integers: exact to the nanosecond however long the run was. */
	snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(ns / 1000),
		 (unsigned long long)(ns % 1000));
	json_object_object_add(o, key, json_object_new_double_s((double)ns / 1000, text));
}

static struct json_object *track_name(int track, const char *name)
{
	struct json_object *o = json_object_new_object(), *args = json_object_new_object();

	json_object_object_add(o, "ph", json_object_new_string("M"));
	json_object_object_add(o, "name", json_object_new_string("thread_name"));
	json_object_object_add(o, "pid", json_object_new_int(1));
	json_object_object_add(o, "tid", json_object_new_int(track));
	json_object_object_add(args, "name", json_object_new_string(name));
	json_object_object_add(o, "args", args);
	return o;
}

static struct json_object *span_json(const struct gpu_session *s,
				     const struct timeline_span *span)
{
	struct json_object *o = json_object_new_object(), *args = json_object_new_object();
	bool batch = span->kernel == TIMELINE_BATCH;
	uint64_t mhz = s->machine->spec.clock_mhz;

	json_object_object_add(o, "ph", json_object_new_string("X"));
	json_object_object_add(o, "name", json_object_new_string(
		batch ? "fault batch" : s->kernels[span->kernel].name));
	json_object_object_add(o, "pid", json_object_new_int(1));
	json_object_object_add(o, "tid", json_object_new_int(batch ? TRACK_HANDLER :
							     TRACK_KERNELS));
	add_us(o, "ts", span->begin, mhz);
	add_us(o, "dur", span->end - span->begin, mhz);
	if (batch) {
		json_object_object_add(args, "far_faults", json_object_new_uint64(span->faults));
		json_object_object_add(args, "h2d_pages", json_object_new_uint64(span->h2d_pages));
		json_object_object_add(args, "d2h_pages", json_object_new_uint64(span->d2h_pages));
	} else {
		json_object_object_add(args, "cycles",
				       json_object_new_uint64(span->end - span->begin));
	}
	json_object_object_add(o, "args", args);
	return o;
}

struct json_object *timeline_json(const struct gpu_session *s)
{
	struct json_object *o = json_object_new_object(), *events = json_object_new_array();

	json_object_array_add(events, track_name(TRACK_KERNELS, "kernels"));
	json_object_array_add(events, track_name(TRACK_HANDLER, "fault handler"));
	for (size_t i = 0; i < s->timeline.count; i++)
		json_object_array_add(events, span_json(s, &s->timeline.spans[i]));
	json_object_object_add(o, "traceEvents", events);
	json_object_object_add(o, "dropped", json_object_new_uint64(s->timeline.dropped));
	return o;
}
