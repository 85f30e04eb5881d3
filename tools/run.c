// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu run: runs workloads, verifies every result, reports. Each workload
 * gets a GPU of its own (a VA space, statistics from zero), so that a report
 * does not depend on what ran before it; or, with + between them, all share one (corun.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advise.h"
#include "again.h"
#include "cli.h"
#include "corun.h"
#include "faults.h"
#include "memory.h"
#include "oracle.h"
#include "output.h"
#include "phases.h"
#include "progress.h"
#include "report.h"
#include "run.h"
#include "samples.h"
#include "speedup.h"
#include "stop.h"
#include "target.h"
#include "trace.h"
#include "trouble.h"
#include "workload.h"

#define RUNS_MAX	64

enum { OPT_JSON = CLI_OWN, OPT_TRACE, OPT_SAMPLES, OPT_FAULTS, OPT_DETAILS, OPT_COPY, OPT_ADVISE,
       OPT_SIZE, OPT_TARGET, OPT_FROM };

struct request {
	struct target target;
	const char *json;		/* NULL: text alone */
	const char *trace, *samples, *faults;	/* NULL: none */
	enum workload_copies copies;
	enum workload_size size;	/* for workloads whose words give no size */
	unsigned int count;
	const struct workload_row *rows[RUNS_MAX];
	struct workload workloads[RUNS_MAX];
	uint64_t arrivals[RUNS_MAX], halts[RUNS_MAX], untils[RUNS_MAX], repeats[RUNS_MAX];
	uint64_t cycles;		/* --target: cycles that each runs alone first; 0: none */
	bool arrives, halts_one;	/* a workload comes at its own cycle, or is halted */
	bool details;			/* the long report */
	unsigned int joined;		/* the number of + between them */
};

/* "@CYCLE" of the workload before it. */
static int parse_arrival(struct request *r, const char *text, const struct verb *verb)
{
	if (!r->count || number_parse(text + 1, &r->arrivals[r->count - 1]))
		return cli_misused(verb, "%s: @CYCLE stands behind a workload and says when it arrives, "
				   "as in: gpuemu run sgemm + lbm @20000", text);
	r->arrives = true;
	return 0;
}

/* "halt=INSTRUCTIONS" of the workload before it. */
static int parse_halt(struct request *r, const char *text, const struct verb *verb)
{
	uint64_t *halt = &r->halts[r->count ? r->count - 1 : 0];

	if (!r->count || number_parse(strchr(text, '=') + 1, halt) || !*halt)
		return cli_misused(verb, "%s: halt=N stands behind a workload and halts it after N thread "
				   "instructions, as in: gpuemu run sgemm + lbm halt=2M", text);
	r->halts_one = true;
	return 0;
}

/* "until=CYCLE" of the workload before it. */
static int parse_until(struct request *r, const char *text, const struct verb *verb)
{
	uint64_t *until = &r->untils[r->count ? r->count - 1 : 0];

	if (!r->count || number_parse(strchr(text, '=') + 1, until) || !*until)
		return cli_misused(verb, "%s: until=CYCLE stands behind a workload and halts it at that cycle, "
				   "as in: gpuemu run sgemm until=2M", text);
	r->halts_one = true;
	return 0;
}

/* "repeat=N" of the workload before it. */
static int parse_repeat(struct request *r, const char *text, const struct verb *verb)
{
	uint64_t *repeat = &r->repeats[r->count ? r->count - 1 : 0];

	if (!r->count || number_parse(strchr(text, '=') + 1, repeat) || !*repeat)
		return cli_misused(verb, "%s: repeat=N stands behind a workload and says how often it runs "
				   "until it is halted, as in: gpuemu run knn until=2M repeat=100", text);
	return 0;
}

/*
 * A workload that runs again does not have the result of a single run, so nothing can verify
 * it.
 */
static bool repeats_unhalted(const struct request *r)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (r->repeats[i] && !r->halts[i] && !r->untils[i] && !r->cycles)
			return true;
	return false;
}

extern const struct verb verb_run;

/* Either all workloads are side by side, or none. */
static int check_joined(const struct request *r, bool open, const struct verb *verb)
{
	if (open || (r->joined && r->joined != r->count - 1))
		return cli_misused(verb, "+ stands between workloads that share a GPU, between all of "
				   "them or none, as in: gpuemu run sgemm + lbm");
	if (r->joined >= CORUN_MAX)
		return cli_misused(verb, "%u workloads side by side, at most %d", r->count, CORUN_MAX);
	if (r->arrives && !r->joined)
		return cli_misused(verb, "@CYCLE is for workloads side by side, as in: "
				   "gpuemu run sgemm + lbm @20000");
	if (r->halts_one && ((!r->joined && r->count > 1) || r->target.spec.functional))
		return cli_misused(verb, "halt= and until= are for one workload, or several side by side, "
				   "with time, as in: gpuemu run sgemm + lbm halt=2M");
	if (r->cycles && (!r->joined || r->halts_one || r->target.spec.functional))
		return cli_misused(verb, "--target is for workloads side by side, with time and without halt= and "
				   "until=, as in: gpuemu run sgemm + lbm --target 200000");
	if (repeats_unhalted(r))
		return cli_misused(verb, "repeat= needs halt=, until= or --target: what runs again is not verified");
	if (r->halts_one && r->copies)
		return cli_misused(verb, "--copy runs a workload to its end, without halt= and until=");
	if (r->joined && r->copies)
		return cli_misused(verb, "--copy takes workloads one at a time, without +");
	return 0;
}

/*
 * Operands: a workload's name; key=value, halt=N, until=N, repeat=N or @CYCLE for the workload
 * before it; + between two that share a GPU.
 */
static int parse_operands(struct request *r, int argc, char **argv,
			  const struct verb *verb)
{
	bool open = false;	/* a + waits for its workload */
	struct err err;

	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "+")) {
			if (open || !r->count)
				return check_joined(r, true, verb);
			open = true;
			r->joined++;
			continue;
		}
		if (!strncmp(argv[i], "halt=", 5)) {
			if (parse_halt(r, argv[i], verb))
				return CLI_MISUSED;
			continue;
		}
		if (!strncmp(argv[i], "repeat=", 7)) {
			if (parse_repeat(r, argv[i], verb))
				return CLI_MISUSED;
			continue;
		}
		if (!strncmp(argv[i], "until=", 6)) {
			if (parse_until(r, argv[i], verb))
				return CLI_MISUSED;
			continue;
		}
		if (*argv[i] == '@') {
			if (parse_arrival(r, argv[i], verb))
				return CLI_MISUSED;
			continue;
		}
		if (strchr(argv[i], '=')) {
			if (!r->count)
				return cli_misused(verb, "%s: a workload's options stand behind "
						   "its name, as in: gpuemu run vecadd n=64K",
						   argv[i]);
			if (workload_set(&r->workloads[r->count - 1], argv[i], &err))
				return cli_misused(verb, "%s", err.text);
			continue;
		}
		if (r->count == RUNS_MAX)
			return cli_misused(verb, "more than %d workloads", RUNS_MAX);
		r->rows[r->count] = workload_find(argv[i]);
		if (!r->rows[r->count]) {
			workload_unknown(argv[i], &err);
			return cli_misused(verb, "%s", err.text);
		}
		workload_init(&r->workloads[r->count], r->rows[r->count]->ops, r->target.seed);
		workload_resize(&r->workloads[r->count], r->size);
		r->workloads[r->count].copies = r->copies;
		r->count++;
		open = false;
	}
	if (!r->count)
		return cli_misused(verb, "no workload, as in: gpuemu run vecadd; gpuemu list workloads "
				   "has all of them");
	return check_joined(r, open, verb);
}

/* Every file that the run writes, each of its own. */
static int check_apart(const struct request *r, struct err *err)
{
	const struct output_option rows[] = {
		{ "--json", r->json }, { "--trace", r->trace }, { "--samples", r->samples },
		{ "--faults", r->faults }, { "--record", r->target.record },
	};

	return output_apart(rows, ARRAY_SIZE(rows), err);
}

static int parse(struct request *r, const struct verb *verb, int argc, char **argv)
{
	struct cli_parser p;
	struct err err = { "" };
	int c;

	memset(r, 0, sizeof(*r));
	r->size = WORKLOAD_MEDIUM;
	target_init(&r->target);
	cli_parse(&p, verb, argc, argv);
	while ((c = cli_next(&p)) != -1) {
		if (c == 0)
			return -1;
		if (c == -2)
			return CLI_MISUSED;
		if (c == OPT_FROM)
			return cli_misused(verb, "--from REPORT.json, once");
		if (c == OPT_JSON)
			r->json = optarg;
		else if (c == OPT_TRACE)
			r->trace = optarg;
		else if (c == OPT_SAMPLES)
			r->samples = optarg;
		else if (c == OPT_FAULTS)
			r->faults = optarg;
		else if (c == OPT_DETAILS)
			r->details = true;
		else if (c == OPT_SIZE) {
			if (workload_size_parse(optarg, &r->size, &err))
				return cli_misused(verb, "%s", err.text);
		} else if (c == OPT_ADVISE) {
			if (advise_parse(&r->target.advise, optarg, &err))
				return cli_misused(verb, "%s", err.text);
		} else if (c == OPT_COPY && optarg && strcmp(optarg, "inputs"))
			return cli_misused(verb, "--copy=%s: all buffers (--copy), or --copy=inputs",
					   optarg);
		else if (c == OPT_TARGET) {
			if (number_parse(optarg, &r->cycles) || !r->cycles)
				return cli_misused(verb, "--target %s: not a number of cycles (as 200000, 2M)",
						   optarg);
		} else if (c == OPT_COPY)
			r->copies = optarg ? WORKLOAD_COPIES_INPUTS : WORKLOAD_COPIES_ALL;
		else if (target_option(&r->target, c, optarg, &err))
			return cli_misused(verb, "%s", err.text);
	}
	if (target_check(&r->target, &err))
		return cli_misused(verb, "%s", err.text);
	if ((r->trace && trace_ask(&r->target, &err)) ||
	    (r->samples && samples_ask(&r->target, &err)) ||
	    (r->faults && faults_ask(&r->target, &err)))
		return cli_misused(verb, "%s", err.text);
	if (r->copies && (!r->target.spec.paging || r->target.spec.functional))
		return cli_misused(verb, "--copy needs time and paging: without them all pages are "
				   "in device memory from the start");
	if (check_apart(r, &err))
		return cli_misused(verb, "%s", err.text);
	c = parse_operands(r, argc - optind, argv + optind, verb);
	if (!c && r->count > 1 && !r->joined &&
	    (r->trace || r->samples || r->faults || r->target.record || r->target.recorded))
		return cli_misused(verb, "--%s takes one workload, here are %u",
				   r->trace ? "trace" : r->samples ? "samples" :
				   r->faults ? "faults" : r->target.record ? "record" : "recorded", r->count);
	return c;
}

struct json_object *run_workload(struct workload *w, const struct workload_row *row,
				 const struct target *target,
				 struct gpuemu_ctx *ctx, int *status)
{
	struct report_facts facts = {
		.target = target,
		.backend = gpuemu_backend(ctx),
		.ptx = row->ptx,
		.ptx_bytes = (size_t)(row->ptx_end - row->ptx),
	};
	struct json_object *report;
	char *statistics = NULL;
	uint64_t begin;
	bool ran = false;
	int ret, failed;

	failed = workload_begin(w, row, ctx);
	if (!failed)
		failed = advise_workload(&target->advise, w);
	if (!failed) {
		begin = now_ns();
		failed = phases_run(w);
		facts.host_seconds = (double)(now_ns() - begin) * 1e-9;
		/* Read before verification, which takes page faults of its own on the CPU. */
		ret = gpuemu_statistics(ctx, &statistics);
		if (ret && !failed)
			failed = workload_failed(w, ret, "statistics");
		ran = !failed;
		if (ran)
			failed = w->ops->verify(w);
	}
	facts.statistics = statistics;
	report = report_json(&facts, "workload", report_workload(w, failed), &w->err);
	if (report && !failed)
		phases_report(w, report);
	if (!report && !failed)
		failed = -EPROTO;
	/* A result that is right stays right when its record cannot be written. */
	ret = ran ? target_record(target, ctx, failed ? NULL : &w->err) : 0;
	failed = failed ? failed : ret;
	gpuemu_free(statistics);
	workload_end(w);
	*status = failed;
	return report;
}

static int run_all(struct request *r, const struct verb *verb,
		   struct json_object *reports)
{
	int result = CLI_DONE;

	for (unsigned int i = 0; i < r->count; i++) {
		struct workload *w = &r->workloads[i];
		struct json_object *report;
		struct progress *progress;
		struct gpuemu_ctx *ctx;
		struct err err = { "" };
		char what[64];
		int status;

		status = target_open(&r->target, &ctx, &err);
		if (status) {
			cli_failed(verb, "%s", err.text);
			return status == -EINVAL ? CLI_MISUSED : CLI_FAILED;
		}
		snprintf(what, sizeof(what), r->count > 1 ? "%s (%u of %u)" : "%s", w->ops->name, i + 1,
			 r->count);
		progress = progress_start(what, ctx);
		report = run_workload(w, r->rows[i], &r->target, ctx, &status);
		progress_stop(progress);
		gpuemu_close(ctx);
		stop_lock();
		if (report && (!r->json || strcmp(r->json, "-"))) {
			(r->details ? report_text : report_short)(stdout, report);
			fflush(stdout);
		}
		if (trouble_print(verb, &r->target, report))
			result = CLI_FAILED;
		if (report)
			json_object_array_add(reports, report);
		stop_unlock();
		if (status)
			result = cli_failed(verb, "%s: %s", w->ops->name, w->err.text);
	}
	return result;
}

static int run_joined(struct request *r, const struct verb *verb, struct json_object *reports)
{
	struct speedup_alone alone[CORUN_MAX];
	struct corun_member members[CORUN_MAX];
	struct progress *progress;
	struct json_object *report;
	struct gpuemu_ctx *ctx;
	struct err err = { "" };
	int status, result = CLI_DONE;

	for (unsigned int i = 0; i < r->count; i++)
		members[i] = (struct corun_member){
			.w = &r->workloads[i], .row = r->rows[i], .arrival = r->arrivals[i],
			.halt = r->halts[i], .until = r->untils[i],
			.repeat = r->repeats[i],
		};
	for (unsigned int i = 0; r->cycles && i < r->count; i++)
		if (speedup_alone(&members[i], &r->target, r->cycles, &alone[i], &err))
			return cli_failed(verb, "%s", err.text);
	status = target_open(&r->target, &ctx, &err);
	if (status) {
		cli_failed(verb, "%s", err.text);
		return status == -EINVAL ? CLI_MISUSED : CLI_FAILED;
	}
	progress = progress_start("side by side", ctx);
	report = corun(members, r->count, &r->target, ctx, &status, &err);
	progress_stop(progress);
	gpuemu_close(ctx);
	if (report && r->cycles && !status)
		speedup_add(report, alone, r->count);
	if (report && (!r->json || strcmp(r->json, "-")))
		(r->details ? report_text : report_short)(stdout, report);
	fflush(stdout);
	if (trouble_print(verb, &r->target, report))
		result = CLI_FAILED;
	stop_lock();
	if (report)
		json_object_array_add(reports, report);
	stop_unlock();
	if (!report)
		result = cli_failed(verb, "%s", err.text);
	for (unsigned int i = 0; i < r->count; i++)
		if (members[i].status && members[i].w->err.text[0])
			result = cli_failed(verb, "%s: %s", members[i].w->ops->name,
					    members[i].w->err.text);
	return status ? CLI_FAILED : result;
}

/*
 * Reads the words as those of one run, so that a mistake is found before the first of many
 * runs begins.
 */
static int find_oracle(struct request *r, const struct verb *verb, int argc, char **argv)
{
	/* Reading them changes their order. */
	char **words = malloc(((size_t)argc + 1) * sizeof(*words));
	struct gpu_spec spec;
	struct oracle o = {
		.verb = verb, .spec = &spec, .argc = argc, .argv = words, .dir = "run-oracle",
	};
	struct err err;
	int result;

	if (!words)
		return cli_failed(verb, "no memory");
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[argc] = NULL;
	result = parse(r, verb, argc, argv);
	o.n = r->joined ? r->count : 1;
	o.json = r->json;
	if (!result && (r->trace || r->samples || r->faults || r->target.record))
		result = cli_misused(verb, "--slice oracle is many runs: without --trace, --samples, "
				     "--faults and --record");
	if (!result && (output_check(r->json, &err) || target_spec(&r->target, &spec, &err)))
		result = cli_failed(verb, "%s", err.text);
	if (!result)
		result = oracle_run(&o);
	free(words);
	return result;
}

/* One workload, or several side by side, is one object; several are an array, in order. */
static int write_reports(const struct request *r, struct json_object *reports, struct err *err)
{
	if (!r->json || !json_object_array_length(reports))
		return 0;
	return output_json(r->count > 1 && !r->joined ? reports :
			   json_object_array_get_idx(reports, 0), r->json, err);
}

/* The parts of a run that a signal stops: reports of what is finished are written from it. */
struct unfinished {
	const struct verb *verb;
	const struct request *r;
	struct json_object *reports;
};

static void write_finished(void *ctx, int sig)
{
	const struct unfinished *u = ctx;
	size_t done = json_object_array_length(u->reports);
	struct err err;

	if (write_reports(u->r, u->reports, &err))
		cli_failed(u->verb, "%s", err.text);
	cli_failed(u->verb, "stopped (%s): %zu of %u workloads are done%s%s", strsignal(sig), done,
		   u->r->joined ? 1 : u->r->count, done && u->r->json ? ", their reports are in " : "",
		   done && u->r->json ? u->r->json : "");
}

int run_check(const char *words, struct err *err)
{
	char *copy = text_of("%s", words), *rest = copy, *word, **argv = NULL;
	struct request *r = must(malloc(sizeof(*r)));
	int argc = 0, result;

	while ((word = strsep(&rest, " "))) {
		argv = must(realloc(argv, ((size_t)argc + 2) * sizeof(*argv)));
		if (*word)
			argv[argc++] = word;
	}
	argv[argc] = NULL;
	oracle_asked(&argc, argv);
	cli_capture(err);
	result = parse(r, &verb_run, argc, argv);
	cli_capture(NULL);
	free(argv);
	free(copy);
	free(r);
	return result > 0 ? -EINVAL : 0;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	struct request *r = malloc(sizeof(*r));
	struct json_object *reports;
	struct unfinished unfinished;
	struct trace trace = { 0 };
	struct again line;
	struct err err;
	bool oracle;
	int result;

	if (!r)
		return cli_failed(verb, "no memory");
	if (again(argc, argv, &line, &err)) {
		free(r);
		return cli_misused(verb, "%s", err.text);
	}
	oracle = oracle_asked(&line.argc, line.argv);
	result = oracle ? find_oracle(r, verb, line.argc, line.argv) :
			  parse(r, verb, line.argc, line.argv);
	if (oracle || result) {
		again_free(&line);
		free(r);
		return result < 0 ? CLI_DONE : result;
	}
	r->target.argc = line.argc;
	r->target.argv = line.argv;
	if (output_check(r->json, &err) || output_check(r->samples, &err) ||
	    output_check(r->faults, &err) ||
	    target_record_check(&r->target, &err)) {
		again_free(&line);
		free(r);
		return cli_failed(verb, "%s", err.text);
	}
	if (r->trace) {
		if (trace_open(&trace, r->trace, &err)) {
			again_free(&line);
			free(r);
			return cli_failed(verb, "%s", err.text);
		}
		r->target.trace = &trace;
	}
	reports = json_object_new_array();
	unfinished = (struct unfinished){ verb, r, reports };
	stop_begin(write_finished, &unfinished);
	result = r->joined || r->halts_one ? run_joined(r, verb, reports) :
					      run_all(r, verb, reports);
	stop_end();
	if (trace_close(&trace, &err))
		result = cli_failed(verb, "%s", err.text);
	if (r->samples && json_object_array_length(reports) &&
	    samples_write(json_object_array_get_idx(reports, 0), r->samples, &err))
		result = cli_failed(verb, "%s", err.text);
	if (r->faults && json_object_array_length(reports) &&
	    faults_write(json_object_array_get_idx(reports, 0), r->faults, &err))
		result = cli_failed(verb, "%s", err.text);
	if (write_reports(r, reports, &err))
		result = cli_failed(verb, "%s", err.text);
	json_object_put(reports);
	again_free(&line);
	free(r);
	return result;
}

static void more(FILE *out)
{
	const struct workload_row *row;

	fprintf(out, "\nWorkloads, and their options with what they are if not given:\n");
	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		const struct workload_ops *ops = row->ops;

		fprintf(out, "  %-10s %s\n", ops->name, ops->help);
		for (unsigned int i = 0; i < WORKLOAD_OPTIONS && ops->options[i].key; i++)
			fprintf(out, "      %s=%llu  %s\n", ops->options[i].key,
				(unsigned long long)ops->options[i].def, ops->options[i].doc);
	}
	fprintf(out, "\n--size is for all of them, size=SIZE for the one before it: tiny, small (or quick; "
		"some\nmegabytes, seconds), medium (or default), large. Options win over --size, and over "
		"the\nsize= that they stand behind.\n");
	fprintf(out, "\n+ between workloads: side by side on one GPU, in streams of their own; @CYCLE "
		"behind one:\nwhen it arrives, in core cycles, 0 if not given; halt=N: it is halted after N thread "
		"instructions\nand not verified; until=CYCLE: at that cycle (also one workload alone); "
		"repeat=N: until\nthen it runs up to N times.\n");
	fprintf(out, "\n--slice oracle, side by side: every combination of CTAs that fits an SM is tried; reports "
		"are\nkept in run-oracle.\n");
	fprintf(out, "\nexamples: gpuemu run vecadd n=1M gather pages=4K --vram 8M\n"
		"          gpuemu run sgemm m=256 + lbm steps=1 @20000\n");
}

static const struct cli_option options[] = {
	TARGET_LAUNCH_OPTIONS,
	{ "advise", "ADVICE[=BUFFERS]", "of all buffers, inputs or results: read-mostly, accessed-by, "
	  "preferred-host, preferred-device; may be repeated", OPT_ADVISE },
	{ "copy", "[inputs]", "copy all buffers, or the inputs, to the device, run, copy results back",
	  OPT_COPY },
	{ "target", "CYCLES", "side by side: each runs alone for as long first, and is halted beside the "
	  "others when it has executed as much", OPT_TARGET },
	{ "from", "REPORT.json", "as in the run that made this report; what stands beside it wins",
	  OPT_FROM },
	{ "details", NULL, "print all of the report, not the short one", OPT_DETAILS },
	{ "faults", "FILE", "write every far fault as a line of CSV: page, SM, warp, stages, batch, cause",
	  OPT_FAULTS },
	{ "samples", "FILE", "write statistics over time, CSV (or .json), every stats.interval cycles",
	  OPT_SAMPLES },
	{ "trace", "FILE", "write when kernels and fault batches ran, for ui.perfetto.dev", OPT_TRACE },
	{ "size", "SIZE", "of workloads that do not say otherwise: tiny, small, medium, large", OPT_SIZE },
	{ "json", "FILE", "write the report as JSON; - is stdout, without the text", OPT_JSON },
	{ NULL }
};

const struct verb verb_run = {
	.name = "run",
	.usage = "WORKLOAD [KEY=VALUE]... [[+] WORKLOAD ... [@CYCLE]] [OPTION]...",
	.help = "run workloads on the GPU, verify every result, report",
	.options = options,
	.shared = target_options,
	.more = more,
	.run = run,
};
