// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu stat: the module's counters, once or repeatedly; its parameters; the reset of the
 * counters. stat_look.c knows what is shown and how.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "output.h"
#include "stat.h"
#include "workload.h"

#define WATCH_HEAD_EVERY 20

enum {
	OPT_JSON = CLI_OWN, OPT_WATCH, OPT_COUNT, OPT_PARAMS, OPT_SET, OPT_RESET, OPT_BLOCKS,
};

struct request {
	const char *json;		/* NULL: text */
	double watch;			/* seconds, 0: once */
	uint64_t count;			/* lines of --watch, 0: no end */
	bool params, reset;
	const char *set;		/* "NAME=VALUE" */
	uint64_t blocks;		/* a VA space, 0: no */
};

static int failed(const struct verb *verb, struct ctl *ctl, const struct err *err)
{
	ctl_close(ctl);
	return cli_failed(verb, "%s", err->text);
}

/* Prints and frees it. */
static int print(const struct verb *verb, const struct request *r, struct json_object *o,
		 void (*text)(FILE *out, struct json_object *o))
{
	struct err err = { "" };
	int ret = CLI_DONE;

	if (!r->json)
		text(stdout, o);
	else if (output_json(o, r->json, &err))
		ret = cli_failed(verb, "%s", err.text);
	json_object_put(o);
	return ret;
}

static int show_once(const struct verb *verb, const struct request *r, struct ctl *ctl)
{
	struct err err = { "" };
	struct stat_look look;
	int ret = stat_look(ctl, &look, &err);

	if (ret)
		ret = cli_failed(verb, "%s", err.text);
	else if (r->json)
		ret = print(verb, r, stat_json(&look), NULL);
	else
		stat_text(stdout, &look);
	stat_look_free(&look);
	return ret;
}

/* An absolute time, so that the lines do not drift. */
static void sleep_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* In JSON a line is a whole look; in text it is the difference to the look before. */
static int watch(const struct verb *verb, const struct request *r, struct ctl *ctl)
{
	uint64_t step = (uint64_t)(r->watch * 1e9), due = now_ns();
	struct stat_look before, now = { 0 };
	struct err err = { "" };
	int ret = stat_look(ctl, &before, &err);

	for (uint64_t n = 0; !ret && (!r->count || n < r->count); n++) {
		due += step;
		sleep_until(due);
		ret = stat_look(ctl, &now, &err);
		if (ret)
			break;
		if (r->json) {
			struct json_object *o = stat_json(&now);

			puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
			json_object_put(o);
		} else {
			if (n % WATCH_HEAD_EVERY == 0)
				stat_watch_head(stdout);
			stat_watch_line(stdout, &before, &now);
		}
		stat_look_free(&before);
		before = now;
		memset(&now, 0, sizeof(now));
		/* This verb ends when its reader goes away. */
		if (fflush(stdout))
			break;
	}
	stat_look_free(&before);
	stat_look_free(&now);
	return ret ? cli_failed(verb, "%s", err.text) : CLI_DONE;
}

/* --set: checks the form ("NAME=VALUE") before it looks for a device. */
static int set_parse(const struct verb *verb, const char *text, char name[32], uint32_t *value)
{
	const char *equals = strchr(text, '=');
	uint64_t n;

	if (!equals || equals == text || equals - text >= 32)
		return cli_misused(verb, "--set %s: not NAME=VALUE", text);
	if (number_parse(equals + 1, &n) || n > UINT32_MAX)
		return cli_misused(verb, "--set %s: '%s' is not a number", text, equals + 1);
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	*value = (uint32_t)n;
	return 0;
}

static int run(const struct verb *verb, const struct request *r)
{
	struct json_object *o = NULL;
	struct err err = { "" };
	char name[32] = "";
	uint32_t value = 0;
	struct ctl *ctl;
	int ret;

	if (r->set) {
		ret = set_parse(verb, r->set, name, &value);
		if (ret)
			return ret;
	}
	ret = ctl_open(&ctl, &err);
	if (ret)
		return cli_failed(verb, "%s", err.text);
	if ((r->set && ctl_param_set(ctl, name, value, &err)) ||
	    (r->reset && ctl_reset(ctl, 0, &err)))
		return failed(verb, ctl, &err);

	if (r->params) {
		if (stat_params(ctl, &o, &err)) {
			json_object_put(o);
			return failed(verb, ctl, &err);
		}
		ret = print(verb, r, o, stat_params_text);
	} else if (r->blocks) {
		if (stat_blocks(ctl, (uint32_t)r->blocks, &o, &err)) {
			json_object_put(o);
			return failed(verb, ctl, &err);
		}
		ret = print(verb, r, o, stat_blocks_text);
	} else if (r->watch > 0) {
		ret = watch(verb, r, ctl);
	} else if (!r->set && !r->reset) {
		ret = show_once(verb, r, ctl);
	}
	ctl_close(ctl);
	return ret;
}

static int seconds_parse(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	/* Refuses "nan", and intervals so short that the verb would do nothing but look. */
	return *end || end == text || !(*seconds >= 0.01 && *seconds <= 86400) ? -EINVAL : 0;
}

static int count_parse(const char *text, uint64_t max, uint64_t *n)
{
	return number_parse(text, n) || !*n || *n > max ? -EINVAL : 0;
}

static int option(const struct verb *verb, int c, void *arg)
{
	struct request *r = arg;

	switch (c) {
	case OPT_JSON:
		r->json = optarg ? optarg : "-";
		return 0;
	case OPT_WATCH:
		if (seconds_parse(optarg, &r->watch))
			return cli_misused(verb, "--watch %s: not a time from 0.01 to 86400 seconds",
					   optarg);
		return 0;
	case OPT_COUNT:
		if (count_parse(optarg, UINT32_MAX, &r->count))
			return cli_misused(verb, "--count %s: not a number from 1 on", optarg);
		return 0;
	case OPT_PARAMS:
		r->params = true;
		return 0;
	case OPT_SET:
		r->set = optarg;
		return 0;
	case OPT_RESET:
		r->reset = true;
		return 0;
	case OPT_BLOCKS:
		if (count_parse(optarg, UINT32_MAX, &r->blocks))
			return cli_misused(verb, "--blocks %s: not the number of a VA space", optarg);
	}
	return 0;
}

static int stat_run(const struct verb *verb, int argc, char **argv)
{
	struct request r = { NULL };
	int ret = cli_options(verb, argc, argv, option, &r);

	if (ret)
		return ret < 0 ? CLI_DONE : ret;
	if (optind < argc)
		return cli_misused(verb, "it takes options only, not '%s'", argv[optind]);
	if (r.count && r.watch <= 0)
		return cli_misused(verb, "--count needs --watch");
	if (r.params + (r.blocks != 0) + (r.watch > 0) > 1)
		return cli_misused(verb, "one of --watch, --params and --blocks");
	if (r.watch > 0 && r.json && strcmp(r.json, "-"))
		return cli_misused(verb, "--watch writes its JSON to stdout, not to %s", r.json);
	return run(verb, &r);
}

static void more(FILE *out)
{
	fprintf(out, "\nCounters, of the device and (most) of each client:\n");
	for (unsigned int i = 0; ctl_stat_name(i); i++)
		fprintf(out, "  %-20s %s\n", ctl_stat_name(i), ctl_stat_help(i));
}

static const struct cli_option options[] = {
	{ "watch", "SECONDS", "every SECONDS a line of what happened in them", OPT_WATCH },
	{ "count", "N", "end after N lines of --watch", OPT_COUNT },
	{ "params", NULL, "the module's parameters instead", OPT_PARAMS },
	{ "blocks", "VA_SPACE", "that client's VA blocks instead (root)", OPT_BLOCKS },
	{ "set", "NAME=VALUE", "set a parameter first (root)", OPT_SET },
	{ "reset", NULL, "begin the counters anew first (root)", OPT_RESET },
	{ "json", "[FILE]", "as JSON, to FILE or stdout; with --watch a line each", OPT_JSON },
	{ NULL }
};

const struct verb verb_stat = {
	.name = "stat",
	.usage = "[OPTION]...",
	.help = "what the module counts, of the device and its clients",
	.options = options,
	.more = more,
	.run = stat_run,
};
