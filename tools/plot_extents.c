// SPDX-License-Identifier: GPL-2.0
/*
 * Where CTAs lie in an SM over time, from the file of --trace. Each CTA is a box: in time
 * from its launch to its end, in space from the begin to the end of its extent. Holes
 * between boxes belong to nobody. One SM is drawn: the first of those with CTAs of most
 * kernels. For plot_figures.c.
 */
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "plot.h"

#define PID_SM	10		/* the trace's track of SM 0; the next ones are SM 1, 2, ... */
#define SMS	1024u
#define MOST	32u		/* kernels that get a colour of their own */

/* Kernels of streams, by name, in the order in which they come. */
struct kernels {
	char names[MOST][160];
	unsigned int count;
};

/* A CTA's time on an SM; false: the event is another. */
static bool is_cta(struct json_object *event)
{
	int64_t pid = json_object_get_int64(output_at(event, "pid"));

	return output_has(event, "args.kernel") && pid >= PID_SM && pid < PID_SM + (int64_t)SMS;
}

/* The kernel's number; kernels without a colour of their own share the last one. */
static unsigned int kernel_of(struct kernels *k, struct json_object *event)
{
	char name[160];
	unsigned int n = 0;

	snprintf(name, sizeof(name), "%s (stream %.0f)", output_string(event, "args.kernel"),
		 output_number(event, "args.stream"));
	while (n < k->count && strcmp(k->names[n], name))
		n++;
	if (n == MOST)
		return MOST - 1;
	if (n == k->count)
		strcpy(k->names[k->count++], name);
	return n;
}

/* The SM with CTAs of most kernels. */
static unsigned int choose(struct json_object *events, struct kernels *k)
{
	static uint32_t seen[SMS];
	unsigned int best = 0;

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i < json_object_array_length(events); i++) {
		struct json_object *event = json_object_array_get_idx(events, i);

		if (is_cta(event))
			seen[(unsigned int)output_number(event, "pid") - PID_SM] |=
				1u << kernel_of(k, event);
	}
	for (unsigned int i = 0; i < SMS; i++)
		if (__builtin_popcount(seen[i]) > __builtin_popcount(seen[best]))
			best = i;
	return best;
}

static double of_pair(struct json_object *pair, size_t i)
{
	return json_object_get_double(json_object_array_get_idx(pair, i));
}

static void draw(struct figure *f, struct json_object *events, const char *what, double kib)
{
	struct kernels kernels = { .count = 0 };
	unsigned int sm = choose(events, &kernels);

	for (unsigned int k = 0; k < kernels.count; k++) {
		size_t series = SIZE_MAX;

		for (size_t i = 0; i < json_object_array_length(events); i++) {
			struct json_object *event = json_object_array_get_idx(events, i), *extent;
			double begin = output_number(event, "ts");

			if (!is_cta(event) || output_number(event, "pid") != PID_SM + sm ||
			    kernel_of(&kernels, event) != k)
				continue;
			extent = output_at(output_at(event, "args"), what);
			if (!extent)
				continue;
			if (series == SIZE_MAX)
				series = figure_series(f, kernels.names[k]);
			figure_point(f, series, begin, kib * of_pair(extent, 0));
			figure_point(f, series, begin + output_number(event, "dur"),
				     kib * of_pair(extent, 1));
		}
	}
}

void plot_extents(struct figure *f, const struct plot_run *runs, size_t n, const char *what,
		  double kib)
{
	struct json_object *events = NULL;

	/* Only the first of several traces: boxes of two GPUs in one plane say nothing. */
	for (size_t i = 0; i < n && !events; i++)
		events = output_at(runs[i].report, "traceEvents");
	if (events)
		draw(f, events, what, kib);
}
