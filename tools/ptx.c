// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu ptx: launches any kernel of a PTX file from the command line alone, or shows the
 * result of its compilation (--info). This file parses the module before it opens a GPU, so
 * that a wrong kernel name or argument is a misuse and not a failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "cli.h"
#include "file.h"
#include "global.h"
#include "info.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "faults.h"
#include "samples.h"
#include "target.h"
#include "trace.h"
#include "trouble.h"
#include "workload.h"

#define REPEAT_MAX	10000

enum {
	OPT_KERNEL = CLI_OWN, OPT_GRID, OPT_BLOCK, OPT_ARG, OPT_GLOBAL, OPT_SMEM, OPT_REPEAT,
	OPT_INFO, OPT_PHASES, OPT_JSON, OPT_TRACE, OPT_SAMPLES, OPT_FAULTS, OPT_DETAILS,
};

struct request {
	struct target target;
	const char *file, *kernel_name, *json, *trace, *samples, *faults;
	struct gpuemu_dim3 grid, block;	/* x 0: not given */
	uint64_t smem, repeat;
	struct arg_list args;
	struct global_list globals;
	bool info, listing, phases, details;
	bool prefill;			/* buffers are uploaded, for L2 to start with */
	char *text;			/* of the file */
	size_t bytes;
	struct ptx_module *module;
	const struct ptx_kernel *kernel; /* NULL: all, for --info */
};

/* --- the command line ------------------------------------------------------------- */

/* X[,Y[,Z]]. The library says how much of it a GPU takes. */
static int parse_dim(struct gpuemu_dim3 *dim, const char *option, const char *text,
		     struct err *err)
{
	uint32_t *const axes[] = { &dim->x, &dim->y, &dim->z };
	char copy[80], *rest = copy, *part;
	unsigned int n = 0;
	uint64_t value;

	*dim = (struct gpuemu_dim3){ 1, 1, 1 };
	if (strlen(text) >= sizeof(copy))
		return err_set(err, -EINVAL, "%s %s: not X[,Y[,Z]]", option, text);
	strcpy(copy, text);
	while ((part = strsep(&rest, ","))) {
		if (n == 3 || number_parse(part, &value) || !value || value > INT32_MAX)
			return err_set(err, -EINVAL, "%s %s: not X[,Y[,Z]], numbers from 1",
				       option, text);
		*axes[n++] = (uint32_t)value;
	}
	return 0;
}

static int parse_number(uint64_t *value, const char *option, const char *text, uint64_t min,
			uint64_t max, struct err *err)
{
	if (number_parse(text, value) || *value < min || *value > max)
		return err_set(err, -EINVAL, "%s %s: not a number from %llu to %llu", option, text,
			       (unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int parse_option(struct request *r, int id, const char *arg, struct err *err)
{
	switch (id) {
	case OPT_KERNEL:
		r->kernel_name = arg;
		return 0;
	case OPT_GRID:
		return parse_dim(&r->grid, "--grid", arg, err);
	case OPT_BLOCK:
		return parse_dim(&r->block, "--block", arg, err);
	case OPT_ARG:
		return arg_parse(&r->args, arg, err);
	case OPT_GLOBAL:
		return global_parse(&r->globals, arg, err);
	case OPT_SMEM:
		return parse_number(&r->smem, "--smem", arg, 0, UINT32_MAX, err);
	case OPT_REPEAT:
		return parse_number(&r->repeat, "--repeat", arg, 1, REPEAT_MAX, err);
	case OPT_INFO:
		r->info = true;
		r->listing = arg;
		if (arg && strcmp(arg, "live"))
			return err_set(err, -EINVAL, "--info=%s: there is --info and --info=live", arg);
		return 0;
	case OPT_PHASES:
		r->info = r->listing = r->phases = true;
		return 0;
	case OPT_JSON:
		r->json = arg;
		return 0;
	case OPT_TRACE:
		r->trace = arg;
		return 0;
	case OPT_SAMPLES:
		r->samples = arg;
		return 0;
	case OPT_FAULTS:
		r->faults = arg;
		return 0;
	case OPT_DETAILS:
		r->details = true;
		return 0;
	}
	return target_option(&r->target, id, arg, err);
}

static int parse(struct request *r, const struct verb *verb, int argc, char **argv)
{
	struct cli_parser p;
	struct err err = { "" };
	int c;

	target_init(&r->target);
	cli_parse(&p, verb, argc, argv);
	while ((c = cli_next(&p)) != -1) {
		if (c == 0)
			return -1;
		if (c == -2 || parse_option(r, c, optarg, &err))
			return c == -2 ? CLI_MISUSED : cli_misused(verb, "%s", err.text);
	}
	if (argc - optind != 1)
		return cli_misused(verb, "%s: one PTX file", argc == optind ? "no file" :
				   argv[optind + 1]);
	r->file = argv[optind];
	if (target_check(&r->target, &err) || (r->trace && trace_ask(&r->target, &err)) ||
	    (r->samples && samples_ask(&r->target, &err)) ||
	    (r->faults && faults_ask(&r->target, &err)))
		return cli_misused(verb, "%s", err.text);
	return 0;
}

/* Called after the file has been read, so that a bad file is reported first. */
static int check_shape(const struct request *r, const struct verb *verb)
{
	if (r->info)
		return 0;
	if (!r->grid.x)
		return cli_misused(verb, "no --grid X[,Y[,Z]], the CTAs to launch (--info needs none)");
	if (!r->block.x)
		return cli_misused(verb, "no --block X[,Y[,Z]], the threads of a CTA (--info needs none)");
	return 0;
}

/* --- the module -------------------------------------------------------------------- */

static const char *shown_file(const struct request *r)
{
	return strcmp(r->file, "-") ? r->file : "standard input";
}

static int choose_kernel(struct request *r, const struct verb *verb)
{
	const struct ptx_kernel *k;
	char known[360] = "";
	size_t used = 0;
	unsigned int n;

	for (n = 0; (k = ptx_module_kernel_at(r->module, n)); n++)
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 n ? ", " : "", k->name);
	if (!n)
		return cli_failed(verb, "%s has no kernel (.entry)", shown_file(r));
	if (!r->kernel_name) {
		if (n == 1 || r->info)
			r->kernel = n == 1 ? ptx_module_kernel_at(r->module, 0) : NULL;
		else
			return cli_misused(verb, "%s has %u kernels, --kernel NAME says which: %s",
					   shown_file(r), n, known);
		return 0;
	}
	r->kernel = ptx_module_kernel(r->module, r->kernel_name);
	if (!r->kernel)
		return cli_misused(verb, "%s has no kernel '%s'; there are: %s", shown_file(r),
				   r->kernel_name, known);
	return 0;
}

static int load(struct request *r, const struct verb *verb)
{
	struct ptx_options options;
	struct gpu_spec spec;
	struct err err = { "" };

	if (target_spec(&r->target, &spec, &err))
		return cli_misused(verb, "%s", err.text);
	/* With paging on gpuemu uploads nothing: pages come when they are touched. */
	r->prefill = spec.l2_prefill && !spec.paging;
	options = (struct ptx_options){
		.maxregs = (uint32_t)spec.maxregs,
		.stack_bytes = (uint32_t)spec.stack_bytes,
		.phases = r->phases ? PTX_PHASES_MARK : PTX_PHASES_NONE,
	};
	if (file_read(r->file, &r->text, &r->bytes, &err) ||
	    ptx_module_parse_with(r->text, r->bytes, shown_file(r), &options, &r->module, &err))
		return cli_failed(verb, "%s", err.text);
	return check_shape(r, verb) ? CLI_MISUSED : choose_kernel(r, verb);
}

/* --- info ---------------------------------------------------------------------------- */

static int info(const struct request *r, const struct verb *verb)
{
	struct json_object *report = json_object_new_object(), *ptx = json_object_new_object();
	struct json_object *kernels = json_object_new_array();
	const struct ptx_kernel *k;
	struct err err = { "" };
	int result = CLI_DONE;

	for (unsigned int n = 0; (k = ptx_module_kernel_at(r->module, n)); n++) {
		struct json_object *o;

		if (r->kernel && k != r->kernel)
			continue;
		o = info_kernel(k, r->listing ? r->text : NULL);
		if (!r->json || strcmp(r->json, "-"))
			info_text(stdout, o, shown_file(r));
		json_object_array_add(kernels, o);
	}
	json_object_object_add(report, "version", json_object_new_int(1));
	json_object_object_add(ptx, "file", json_object_new_string(shown_file(r)));
	json_object_object_add(report, "ptx", ptx);
	json_object_object_add(report, "kernels", kernels);
	if (r->json && output_json(report, r->json, &err))
		result = cli_failed(verb, "%s", err.text);
	json_object_put(report);
	return result;
}

/* --- a launch -------------------------------------------------------------------------- */

static void print_output(void *arg, const char *text, size_t bytes)
{
	fwrite(text, 1, bytes, arg);
}

/* err gets the library's sentence about what. Returns code. */
static int failed(struct gpuemu_ctx *ctx, int code, const char *what, struct err *err)
{
	const char *reason = gpuemu_last_error(ctx);

	return err_set(err, code, "%s%s%s", what, *what ? ": " : "",
		       reason && *reason ? reason : gpuemu_strerror(code));
}

struct outcome {
	int code;		/* 0, or -errno with err set */
	bool misused;		/* the launch was refused for its shape */
	struct err err;
	char *statistics;
	double host_seconds;
};

static int launch(const struct request *r, struct gpuemu_ctx *ctx,
		  struct gpuemu_function *function, struct outcome *o)
{
	void **params = calloc(r->args.count + 1, sizeof(*params));
	uint64_t begin = now_ns();
	int ret = params ? 0 : err_set(&o->err, -ENOMEM, "no memory");

	for (unsigned int i = 0; params && i < r->args.count; i++)
		params[i] = r->args.args[i].image;
	for (uint64_t i = 0; i < r->repeat && !ret; i++) {
		ret = gpuemu_launch_params(function, r->grid, r->block, r->smem, NULL, params);
		if (ret) {
			o->misused = ret == -EINVAL;
			failed(ctx, ret, "", &o->err);
		} else {
			/* One launch at a time, so that the failed launch is the last one. */
			ret = gpuemu_synchronize(ctx);
			if (ret)
				failed(ctx, ret, "", &o->err);
		}
	}
	o->host_seconds = (double)(now_ns() - begin) * 1e-9;
	free(params);
	return ret;
}

static void run_kernel(struct request *r, struct gpuemu_ctx *ctx, struct outcome *o)
{
	bool to_stderr = r->json && !strcmp(r->json, "-");
	struct gpuemu_function *function = NULL;
	struct gpuemu_module *module;
	int ret;

	ret = gpuemu_set_printf(ctx, print_output, to_stderr ? stderr : stdout);
	if (!ret)
		ret = gpuemu_module_load_data(ctx, &module, r->text, r->bytes, shown_file(r));
	if (!ret)
		ret = gpuemu_module_get_function(module, &function, r->kernel->name);
	if (ret) {
		o->code = failed(ctx, ret, "", &o->err);
		return;
	}
	o->code = global_fill(&r->globals, ctx, module, &o->err);
	if (!o->code)
		o->code = arg_place(&r->args, ctx, &o->err);
	if (!o->code && r->prefill)
		o->code = arg_upload(&r->args, ctx, &o->err);
	if (o->code)
		return;
	o->code = launch(r, ctx, function, o);
	/* Before the buffers are read, because the CPU's faults would then be counted. */
	ret = gpuemu_statistics(ctx, &o->statistics);
	if (ret && !o->code)
		o->code = failed(ctx, ret, "statistics", &o->err);
	if (!o->code)
		o->code = target_record(&r->target, ctx, &o->err);
	if (!o->code)
		o->code = arg_write(&r->args, &o->err);
	if (!o->code)
		o->code = global_write(&r->globals, &o->err);
}

static struct json_object *about_json(const struct request *r, const struct outcome *o)
{
	struct json_object *about = json_object_new_object(), *args = json_object_new_array();

	json_object_object_add(about, "file", json_object_new_string(shown_file(r)));
	json_object_object_add(about, "kernel", json_object_new_string(r->kernel->name));
	json_object_object_add(about, "done", json_object_new_boolean(!o->code));
	for (unsigned int i = 0; i < r->args.count; i++)
		json_object_array_add(args, json_object_new_string(r->args.args[i].spec));
	json_object_object_add(about, "args", args);
	json_object_object_add(about, "dynamic_smem", json_object_new_uint64(r->smem));
	json_object_object_add(about, "footprint_bytes",
			       json_object_new_uint64(arg_footprint(&r->args)));
	if (o->code)
		json_object_object_add(about, "error", json_object_new_string(o->err.text));
	return about;
}

static int report(const struct request *r, const struct verb *verb, const char *backend,
		  struct outcome *o)
{
	const struct report_facts facts = {
		.target = &r->target,
		.ptx = r->text,
		.ptx_bytes = r->bytes,
		.backend = backend,
		.statistics = o->statistics,
		.host_seconds = o->host_seconds,
	};
	struct json_object *json;
	struct err err = { "" };
	int result = CLI_DONE;

	json = report_json(&facts, "ptx", about_json(r, o), &err);
	if (!json)
		return cli_failed(verb, "%s", err.text);
	if (!r->json || strcmp(r->json, "-"))
		(r->details ? report_text : report_short)(stdout, json);
	if (trouble_print(verb, &r->target, json))
		result = CLI_FAILED;
	if ((r->samples && o->statistics && samples_write(json, r->samples, &err)) ||
	    (r->faults && o->statistics && faults_write(json, r->faults, &err)) ||
	    (r->json && output_json(json, r->json, &err)))
		result = cli_failed(verb, "%s", err.text);
	json_object_put(json);
	return result;
}

/* Every file that the launch writes, each of its own. */
static int check_apart(const struct request *r, struct err *err)
{
	const struct output_option fixed[] = {
		{ "--json", r->json }, { "--trace", r->trace }, { "--samples", r->samples },
		{ "--faults", r->faults }, { "--record", r->target.record },
	};
	size_t n = ARRAY_SIZE(fixed);
	struct output_option *rows = calloc(n + r->args.nbuffers + r->globals.count, sizeof(*rows));
	int ret;

	if (!rows)
		return err_set(err, -ENOMEM, "no memory");
	memcpy(rows, fixed, sizeof(fixed));
	for (unsigned int i = 0; i < r->args.nbuffers; i++)
		rows[n++] = (struct output_option){ "--arg", r->args.buffers[i].out };
	for (unsigned int i = 0; i < r->globals.count; i++)
		rows[n++] = (struct output_option){ "--global", r->globals.rows[i].out };
	ret = output_apart(rows, n, err);
	free(rows);
	return ret;
}

static int run_launch(struct request *r, const struct verb *verb)
{
	struct trace trace = { 0 };
	struct outcome o = { 0 };
	struct progress *progress;
	struct gpuemu_ctx *ctx;
	struct err err;
	int result = CLI_DONE;

	if (arg_check(&r->args, r->kernel, &o.err) || check_apart(r, &o.err))
		return cli_misused(verb, "%s", o.err.text);
	if (output_check(r->json, &o.err) || output_check(r->samples, &o.err) ||
	    output_check(r->faults, &o.err) || arg_check_files(&r->args, &o.err) ||
	    global_check_files(&r->globals, &o.err) || target_record_check(&r->target, &o.err))
		return cli_failed(verb, "%s", o.err.text);
	if (r->trace && trace_open(&trace, r->trace, &o.err))
		return cli_failed(verb, "%s", o.err.text);
	r->target.trace = r->trace ? &trace : NULL;
	o.code = target_open(&r->target, &ctx, &o.err);
	if (o.code) {
		trace_close(&trace, NULL);
		cli_failed(verb, "%s", o.err.text);
		return o.code == -EINVAL ? CLI_MISUSED : CLI_FAILED;
	}
	progress = progress_start(r->kernel->name, ctx);
	run_kernel(r, ctx, &o);
	progress_stop(progress);
	if (!o.misused)
		result = report(r, verb, gpuemu_backend(ctx), &o);
	gpuemu_free(o.statistics);
	gpuemu_close(ctx);
	if (trace_close(&trace, &err))
		result = cli_failed(verb, "%s", err.text);
	if (o.misused)
		return cli_misused(verb, "%s", o.err.text);
	return o.code ? cli_failed(verb, "%s", o.err.text) : result;
}

static int ptx(const struct verb *verb, int argc, char **argv)
{
	struct request *r = calloc(1, sizeof(*r));
	int result;

	if (!r)
		return cli_failed(verb, "no memory");
	r->repeat = 1;
	result = parse(r, verb, argc, argv);
	r->target.argc = argc;
	r->target.argv = argv;
	if (!result)
		result = load(r, verb);
	if (!result)
		result = r->info ? info(r, verb) : run_launch(r, verb);
	ptx_module_free(r->module);
	free(r->text);
	arg_free(&r->args);
	global_free(&r->globals);
	free(r);
	return result < 0 ? CLI_DONE : result;
}

static void more(FILE *out)
{
	const char *name, *form, *help;
	char left[64];

	fprintf(out, "\nAn argument SPEC for each parameter, in order:\n");
	for (unsigned int n = 0; arg_kind_row(n, &name, &form, &help); n++) {
		snprintf(left, sizeof(left), "%s:%s", name, form);
		fprintf(out, "  %-24s %s\n", left, help);
	}
	fprintf(out, "SIZE, N and integers may end in K, M or G (powers of 1024).\n"
		"\nexample: gpuemu ptx build/ptx/collatz.ptx --grid 4 --block 256 "
		"--arg iota32:1K --arg out:4K:steps.bin --arg u32:1K\n");
}

static const struct cli_option options[] = {
	{ "kernel", "NAME", "the kernel, if the file has several", OPT_KERNEL },
	{ "grid", "X[,Y[,Z]]", "CTAs", OPT_GRID },
	{ "block", "X[,Y[,Z]]", "threads of a CTA", OPT_BLOCK },
	{ "arg", "SPEC", "the next argument, below; one for each parameter", OPT_ARG },
	{ "global", "NAME=in:FILE", "fill a module variable; NAME=out:FILE writes it after the run", OPT_GLOBAL },
	{ "smem", "BYTES", "dynamic shared memory of a CTA", OPT_SMEM },
	{ "repeat", "N", "launch it N times, on the same buffers", OPT_REPEAT },
	{ "info", "[live]", "launch nothing: registers, spills, ..; live: at each instruction", OPT_INFO },
	{ "phases", NULL, "launch nothing: where the kernel's phases begin (Zorua), beside the text",
	  OPT_PHASES },
	TARGET_LAUNCH_OPTIONS,
	{ "details", NULL, "print all of the report, not the short one", OPT_DETAILS },
	{ "faults", "FILE", "write every far fault as a line of CSV: page, SM, warp, stages, batch, cause",
	  OPT_FAULTS },
	{ "samples", "FILE", "write statistics over time, CSV (or .json), every stats.interval cycles",
	  OPT_SAMPLES },
	{ "trace", "FILE", "write when kernels and fault batches ran, for ui.perfetto.dev", OPT_TRACE },
	{ "json", "FILE", "write the report as JSON; - is stdout, without the text", OPT_JSON },
	{ NULL }
};

const struct verb verb_ptx = {
	.name = "ptx",
	.usage = "FILE --grid X[,Y[,Z]] --block X[,Y[,Z]] [--arg SPEC]... [OPTION]...\n"
		 "       gpuemu ptx FILE --info[=live]|--phases [--kernel NAME] [--maxregs N]\n"
		 "                  [--json FILE]",
	.help = "launch any kernel of a PTX file, or show what it takes",
	.options = options,
	.shared = target_options,
	.more = more,
	.run = ptx,
};
