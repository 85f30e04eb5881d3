// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics over time: the counters' differences, interval by interval, and the
 * columns of samples.def made of them. gpu takes the samples; tools write CSV.
 */
#include "base/array.h"
#include "stats/json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	uint64_t end;			/* cycle before which it ends */
	struct gpu_counters c;
	struct gpu_state state;		/* at its end */
};

struct kernel_sample {
	struct sample own;		/* state: none */
	char name[sizeof(((struct kernel_stats *)0)->name)];
	uint32_t stream;
	uint64_t start;
};

void samples_reset(struct samples *s, uint64_t interval, uint64_t now)
{
	s->interval = interval;
	s->due = interval ? now + interval : UINT64_MAX;
	s->dropped = 0;
	s->last = (struct gpu_counters){ 0 };
	s->count = s->nkernels = 0;
}

void samples_free(struct samples *s)
{
	free(s->rows);
	free(s->kernels);
	*s = (struct samples){ .due = UINT64_MAX };
}

int samples_take(struct samples *s, uint64_t now, const struct gpu_counters *c,
		 const struct gpu_state *state)
{
	struct sample *row;

	if (!s->interval || c->cycles == s->last.cycles)
		return 0;
	if (s->due <= now)
		s->due += ((now - s->due) / s->interval + 1) * s->interval;
	if (s->count == SAMPLES_MAX) {
		s->dropped++;
		return 0;
	}
	if (array_grow(s->rows, s->room, s->count))
		return -ENOMEM;
	row = &s->rows[s->count++];
	row->end = now;
	row->state = *state;
	gpu_counters_since(c, &s->last, &row->c);
	s->last = *c;
	return 0;
}

int samples_take_kernel(struct samples *s, uint64_t now, const struct gpu_counters *interval,
			const struct kernel_stats *kernel)
{
	struct kernel_sample *row;

	if (s->nkernels == SAMPLES_MAX) {
		s->dropped++;
		return 0;
	}
	if (array_grow(s->kernels, s->kernel_room, s->nkernels))
		return -ENOMEM;
	row = &s->kernels[s->nkernels++];
	*row = (struct kernel_sample){
		.own = { .end = now, .c = *interval },
		.stream = kernel->stream, .start = kernel->start,
	};
	memcpy(row->name, kernel->name, sizeof(row->name));
	return 0;
}

static struct json_object *columns_json(bool kernels)
{
	static const char *const names[] = {
#define X(name, kind, value, help)	#name,
#define G	X
#include "stats/samples.def"
#undef G
#undef X
		"kernel", "stream", "start",
	};
	size_t n = kernels ? ARRAY_SIZE(names) : ARRAY_SIZE(names) - 3;
	struct json_object *a = json_object_new_array_ext((int)n);
	bool whole = a;

	for (size_t i = 0; i < n && whole; i++)
		whole = json_append(a, json_object_new_string(names[i]));
	return json_whole(a, whole);
}

#define COUNT(value)	json_object_new_uint64(value)
#define RATIO(value)	stats_json_ratio(value)

/* own: a kernel's row. Columns that only the GPU has are null in it. */
static struct json_object *row_json(const struct sample *row, const struct gpu_spec *spec,
				    bool own)
{
	const struct gpu_counters *c = &row->c;
	const struct gpu_state *state = &row->state;
	struct json_object *a = json_object_new_array();

	return json_whole(a, a
#define X(name, kind, value, help)	&& json_append(a, kind(value))
#define G(name, kind, value, help)	\
		&& (own ? !json_object_array_add(a, NULL) : json_append(a, kind(value)))
#include "stats/samples.def"
#undef G
#undef X
		);
}

static struct json_object *rows_json(const struct samples *s, const struct gpu_spec *spec)
{
	struct json_object *a = json_object_new_array_ext((int)MAX(s->count, 1u));
	bool whole = a;

	for (size_t i = 0; i < s->count && whole; i++)
		whole = json_append(a, row_json(&s->rows[i], spec, false));
	return json_whole(a, whole);
}

static struct json_object *kernel_row_json(const struct kernel_sample *row,
					   const struct gpu_spec *spec)
{
	struct json_object *a = row_json(&row->own, spec, true);

	return json_whole(a, a && json_append(a, json_object_new_string(row->name)) &&
			  json_append(a, COUNT(row->stream)) && json_append(a, COUNT(row->start)));
}

static struct json_object *kernels_json(const struct samples *s, const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();
	struct json_object *a = json_object_new_array_ext((int)MAX(s->nkernels, 1u));
	bool whole = o && a;

	for (size_t i = 0; i < s->nkernels && whole; i++)
		whole = json_append(a, kernel_row_json(&s->kernels[i], spec));
	a = json_whole(a, whole);
	return json_whole(o, whole && json_add(o, "rows", a) &&
			  json_add(o, "columns", columns_json(true)));
}

struct json_object *samples_json(const struct samples *s, const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, o && json_add_number(o, "interval", s->interval) &&
			  json_add_number(o, "dropped", s->dropped) &&
			  json_add(o, "columns", columns_json(false)) &&
			  json_add(o, "rows", rows_json(s, spec)) &&
			  (!s->nkernels || json_add(o, "kernels", kernels_json(s, spec))));
}
