// SPDX-License-Identifier: GPL-2.0
/* gpuemu events: what happens to the device, as it happens. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ctl/ctl.h"
#include "output.h"
#include "workload.h"

enum { OPT_JSON = CLI_OWN, OPT_COUNT, OPT_TIMEOUT };

struct request {
	bool json;
	uint64_t count;			/* 0: no end */
	double timeout;			/* seconds; negative: no end */
};

static void print_json(const struct ctl_event *e)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "event", json_object_new_string(e->type));
	json_object_object_add(o, "seq", json_object_new_uint64(e->seq));
	json_object_object_add(o, "time_ns", json_object_new_uint64(e->time_ns));
	json_object_object_add(o, "dropped", json_object_new_uint64(e->dropped));
	json_object_object_add(o, "missed", json_object_new_uint64(e->missed));
	if (e->va_space)
		json_object_object_add(o, "va_space", json_object_new_uint64(e->va_space));
	if (e->generation)
		json_object_object_add(o, "engine_generation",
				       json_object_new_uint64(e->generation));
	if (e->reason[0])
		json_object_object_add(o, "reason", json_object_new_string(e->reason));
	if (e->name[0]) {
		json_object_object_add(o, "name", json_object_new_string(e->name));
		json_object_object_add(o, "value", json_object_new_uint64(e->value));
	}
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void print_text(const struct ctl_event *e)
{
	if (e->missed)
		printf("%25s missed %" PRIu64 " events: they came faster than they were read\n",
		       "", e->missed);
	printf("%5" PRIu64 ".%06" PRIu64 " %6" PRIu64 " %-16s", e->time_ns / 1000000000u,
	       e->time_ns / 1000 % 1000000u, e->seq, e->type);
	if (e->va_space)
		printf(" va_space %u", e->va_space);
	if (e->generation)
		printf(" engine %u", e->generation);
	if (e->name[0])
		printf(" %s=%u", e->name, e->value);
	if (e->reason[0])
		printf(": %s", e->reason);
	if (e->dropped)
		printf(" (%" PRIu64 " dropped so far)", e->dropped);
	putchar('\n');
}

/* The remaining time for poll(), rounded up; 0 when the time is over. */
static int left_ms(const struct request *r, uint64_t start)
{
	double left;

	if (r->timeout < 0)
		return -1;
	left = r->timeout * 1000 - (double)(now_ns() - start) / 1e6;
	return left > 0 ? (int)left + 1 : 0;
}

static int follow(const struct verb *verb, const struct request *r)
{
	uint64_t start = now_ns(), n = 0;
	struct err err = { "" };
	struct ctl_event event;
	struct ctl *ctl;
	int ret, left;

	ret = ctl_open(&ctl, &err);
	if (!ret)
		ret = ctl_listen(ctl, &err);
	while (!ret && (!r->count || n < r->count)) {
		left = left_ms(r, start);
		ret = ctl_event(ctl, left, &event, &err);
		if (ret < 0)
			break;
		if (!ret && !left)
			break;
		if (ret) {
			n++;
			if (r->json)
				print_json(&event);
			else
				print_text(&event);
			/* This verb ends when its reader goes away. */
			if (fflush(stdout))
				break;
		}
		ret = 0;
	}
	ctl_close(ctl);
	if (ret < 0)
		return cli_failed(verb, "%s", err.text);
	if (r->count && n < r->count)
		return cli_failed(verb, "%" PRIu64 " of %" PRIu64 " events in %g s", n, r->count,
				  r->timeout);
	return CLI_DONE;
}

static int option(const struct verb *verb, int c, void *arg)
{
	struct request *r = arg;
	char *end;

	switch (c) {
	case OPT_JSON:
		r->json = true;
		return 0;
	case OPT_COUNT:
		if (number_parse(optarg, &r->count) || !r->count)
			return cli_misused(verb, "--count %s: not a number from 1 on", optarg);
		return 0;
	case OPT_TIMEOUT:
		r->timeout = strtod(optarg, &end);
		if (*end || end == optarg || !(r->timeout >= 0 && r->timeout <= 86400))
			return cli_misused(verb, "--timeout %s: not a time from 0 to 86400 seconds",
					   optarg);
	}
	return 0;
}

static int events(const struct verb *verb, int argc, char **argv)
{
	struct request r = { .timeout = -1 };
	int ret = cli_options(verb, argc, argv, option, &r);

	if (ret)
		return ret < 0 ? CLI_DONE : ret;
	if (optind < argc)
		return cli_misused(verb, "it takes options only, not '%s'", argv[optind]);
	return follow(verb, &r);
}

static void more(FILE *out)
{
	fprintf(out, "\nA line is: time (seconds of CLOCK_MONOTONIC), number, event, what it is about.\n"
		     "It ends with --count (status 1 if --timeout came first), with --timeout\n"
		     "(status 0), or when it is interrupted.\n");
}

static const struct cli_option options[] = {
	{ "count", "N", "end after N events", OPT_COUNT },
	{ "timeout", "SECONDS", "end after SECONDS", OPT_TIMEOUT },
	{ "json", NULL, "a JSON object each, one a line", OPT_JSON },
	{ NULL }
};

const struct verb verb_events = {
	.name = "events",
	.usage = "[OPTION]...",
	.help = "follow what happens to the device",
	.options = options,
	.more = more,
	.run = events,
};
