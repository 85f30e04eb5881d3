// SPDX-License-Identifier: GPL-2.0
/* The timeline of run and ptx. A key asks for it, and it comes with the statistics. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

#include "memory.h"
#include "output.h"
#include "trace.h"

/*
 * The module's reports have room for 4 MiB. More than a million events are too many to look at.
 */
#define EVENTS_MODULE	"12288"
#define EVENTS		"1000000"

int trace_ask(struct target *t, struct err *err)
{
	struct gpu_spec spec;
	struct err why = { "" };
	int ret = target_spec(t, &spec, err);

	if (ret)
		return ret;
	if (spec.functional)
		return err_set(err, -EINVAL,
			       "--trace: without time (--functional) there is no timeline");
	/* A smaller number that the user set stays. */
	if (spec.trace_spans)
		return 0;
	ret = target_set(t, "gpu.trace", target_through_module(t) ? EVENTS_MODULE : EVENTS, &why);
	return ret ? err_set(err, ret, "--trace: %s", why.text) : 0;
}

/* --- the timeline and the rest ----------------------------------------------------------- */

/*
 * The statistics' text is read once, event by event (yajl), and written twice: the timeline to
 * its file, which may be a hundred megabytes, and the rest to a text that becomes objects.
 */
struct splitter {
	struct trace *trace;
	yajl_gen rest, timeline;
	unsigned int depth;		/* of maps and arrays */
	unsigned int inside;		/* the depth at which the timeline lies; 0: outside of it */
	bool next;			/* the next value is the timeline */
	bool counts;			/* the next value counts left-out events */
};

static yajl_gen to(const struct splitter *s)
{
	return s->inside || s->next ? s->timeline : s->rest;
}

static int value(struct splitter *s, yajl_gen_status status)
{
	s->next = s->counts = false;
	return status == yajl_gen_status_ok;
}

static int on_null(void *ctx)
{
	return value(ctx, yajl_gen_null(to(ctx)));
}

static int on_boolean(void *ctx, int v)
{
	return value(ctx, yajl_gen_bool(to(ctx), v));
}

/* Writes the number as it was written, so that no digit changes. */
static int on_number(void *ctx, const char *text, size_t n)
{
	struct splitter *s = ctx;

	/* yajl guarantees that the digits end before the text does. */
	if (s->counts)
		s->trace->dropped = strtoull(text, NULL, 10);
	return value(s, yajl_gen_number(to(s), text, n));
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
	return value(ctx, yajl_gen_string(to(ctx), text, n));
}

static bool is(const unsigned char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
	struct splitter *s = ctx;

	s->next = s->depth == 1 && is(text, n, "trace");
	s->counts = s->inside && s->depth == s->inside && is(text, n, "dropped");
	s->trace->written |= s->next;
	return s->next || yajl_gen_string(to(s), text, n) == yajl_gen_status_ok;
}

static int open_one(struct splitter *s, yajl_gen_status status)
{
	s->depth++;
	if (s->next)
		s->inside = s->depth;
	return value(s, status);
}

static int close_one(struct splitter *s, yajl_gen_status status)
{
	if (s->depth-- == s->inside)
		s->inside = 0;
	return status == yajl_gen_status_ok;
}

static int on_start_map(void *ctx)
{
	return open_one(ctx, yajl_gen_map_open(to(ctx)));
}

static int on_end_map(void *ctx)
{
	return close_one(ctx, yajl_gen_map_close(to(ctx)));
}

static int on_start_array(void *ctx)
{
	return open_one(ctx, yajl_gen_array_open(to(ctx)));
}

static int on_end_array(void *ctx)
{
	return close_one(ctx, yajl_gen_array_close(to(ctx)));
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number,
	.yajl_string = on_string, .yajl_start_map = on_start_map, .yajl_map_key = on_key,
	.yajl_end_map = on_end_map, .yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

static void write_piece(void *ctx, const char *text, size_t n)
{
	struct trace *trace = ctx;

	if (trace->error)
		return;
	if (!trace->out)
		trace->out = strcmp(trace->file, "-") ? fopen(trace->file, "we") : stdout;
	errno = 0;
	if (!trace->out || fwrite(text, 1, n, trace->out) != n)
		trace->error = errno ? errno : EIO;
}

static struct json_object *rest_of(struct splitter *s)
{
	const unsigned char *text;
	struct json_object *o;
	struct json_tokener *t;
	size_t n;

	if (yajl_gen_get_buf(s->rest, &text, &n) != yajl_gen_status_ok || n > INT_MAX)
		return NULL;
	t = json_tokener_new();
	o = t ? json_tokener_parse_ex(t, (const char *)text, (int)n) : NULL;
	json_tokener_free(t);
	return o;
}

struct json_object *trace_split(struct trace *trace, const char *statistics)
{
	struct splitter s = { .trace = trace };
	struct json_object *o = NULL;
	yajl_handle parser;

	if (!trace)
		return json_tokener_parse(statistics);
	trace->read = true;
	s.rest = must(yajl_gen_alloc(NULL));
	s.timeline = must(yajl_gen_alloc(NULL));
	parser = must(yajl_alloc(&callbacks, NULL, &s));
	yajl_gen_config(s.timeline, yajl_gen_print_callback, write_piece, trace);
	if (yajl_parse(parser, (const unsigned char *)statistics, strlen(statistics)) ==
	    yajl_status_ok && yajl_complete_parse(parser) == yajl_status_ok)
		o = rest_of(&s);
	if (trace->written)
		write_piece(trace, "\n", 1);
	yajl_free(parser);
	yajl_gen_free(s.rest);
	yajl_gen_free(s.timeline);
	return o;
}

/* --- the file -------------------------------------------------------------------------------- */

int trace_open(struct trace *trace, const char *file, struct err *err)
{
	*trace = (struct trace){ .file = file };
	return output_check(file, err);
}

int trace_close(struct trace *trace, struct err *err)
{
	const char *file = trace->file;
	int ret = 0;

	trace->file = NULL;
	if (!file || !trace->read)
		return 0;
	if (trace->out)
		ret = output_close(trace->out, file, err);
	trace->out = NULL;
	if (trace->error)
		return output_cannot(file, trace->error, err);
	if (ret)
		return ret;
	if (!trace->written)
		return err_set(err, -EPROTO, "--trace: the library's statistics have no timeline");
	if (trace->dropped)
		fprintf(stderr, "gpuemu: --trace: the last %llu events are left out (gpu.trace)\n",
			(unsigned long long)trace->dropped);
	return 0;
}
