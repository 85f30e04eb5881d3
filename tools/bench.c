// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu bench: the wall-clock cost of the kernel path, with its yardsticks
 * measured in the same run. Each measurement is a row of bench.def.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "cli.h"
#include "faults.h"
#include "host.h"
#include "output.h"
#include "progress.h"
#include "stop.h"
#include "workload.h"

#define BATCH_MAX	256	/* the module takes no more at once */
#define COUNT_MAX	(1u << 20)

enum { OPT_JSON = CLI_OWN, OPT_COUNT, OPT_BATCH, OPT_FAULTS, OPT_MEMORY };

#define X(name) extern const struct bench bench_##name;
#include "bench.def"
#undef X

static const struct bench *const benches[] = {
#define X(name) &bench_##name,
#include "bench.def"
#undef X
};

const struct bench *bench_row(unsigned int n)
{
	return n < ARRAY_SIZE(benches) ? benches[n] : NULL;
}

static int number(const struct verb *verb, const char *option, const char *text,
		  uint64_t max, uint64_t *value)
{
	if (number_parse(text, value) || *value < 1 || *value > max)
		return cli_misused(verb, "%s %s: not a number from 1 to %llu", option, text,
				   (unsigned long long)max);
	return 0;
}

int bench_failed(struct gpuemu_ctx *ctx, int code, struct err *err)
{
	const char *reason = gpuemu_last_error(ctx);

	return err_set(err, code, "%s", reason && *reason ? reason : gpuemu_strerror(code));
}

/* Whatever the backend is called: sim alone has configured times, and it moves no bytes. */
static void add_backend(struct bench_request *request, struct json_object *report)
{
	const char *backend = gpuemu_backend(request->ctx);

	request->measured = strcmp(backend, "sim") != 0;
	json_object_object_add(report, "backend", json_object_new_string(backend));
	json_object_object_add(report, "clock", json_object_new_string(
		request->measured ? "measured" : "virtual"));
}

/* The context's statistics have these far faults; the warm-up's come first. */
static int write_faults(struct gpuemu_ctx *ctx, const char *file, struct err *err)
{
	struct json_object *statistics;
	char *text = NULL;
	int ret = gpuemu_statistics(ctx, &text);

	if (ret)
		return bench_failed(ctx, ret, err);
	statistics = json_tokener_parse(text);
	gpuemu_free(text);
	ret = faults_write(statistics, file, err);
	json_object_put(statistics);
	return ret;
}

/* The bench reports figures of all its samples, and none of a part of them. */
static void stopped(void *ctx, int sig)
{
	cli_failed(ctx, "stopped (%s): no figure is written, for each is of all samples", strsignal(sig));
}

static int measure(const struct verb *verb, const struct bench *bench,
		   const struct target *target, struct bench_request *request,
		   const char *json, const char *faults)
{
	struct json_object *report = json_object_new_object();
	struct err err = { "" };
	struct progress *progress;
	char what[64];
	int ret;

	request->target = target;
	if (!request->batch)
		request->batch = bench->batch;
	ret = target_open(target, &request->ctx, &err);
	if (ret) {
		json_object_put(report);
		cli_failed(verb, "%s", err.text);
		return ret == -EINVAL ? CLI_MISUSED : CLI_FAILED;
	}
	snprintf(what, sizeof(what), "bench %s", bench->name);
	json_object_object_add(report, "bench", json_object_new_string(bench->name));
	json_object_object_add(report, "host", host_json());
	add_backend(request, report);
	progress = progress_start(what, NULL);
	stop_begin(stopped, (void *)verb);
	ret = bench->measure(request, report, &err);
	stop_end();
	progress_stop(progress);
	if (!ret && faults)
		ret = write_faults(request->ctx, faults, &err);
	gpuemu_close(request->ctx);
	if (ret)
		ret = cli_failed(verb, "%s: %s", bench->name, err.text);
	else if (json && output_json(report, json, &err))
		ret = cli_failed(verb, "%s", err.text);
	if (!ret && (!json || strcmp(json, "-"))) {
		const char *virt = output_string(report, "host.virt");

		bench->text(stdout, report);
		printf("where: Linux %s, %s; %s\n", output_string(report, "host.kernel"),
		       virt, host_meaning(virt));
	}
	json_object_put(report);
	return ret;
}

static int bench(const struct verb *verb, int argc, char **argv)
{
	struct target target;
	struct bench_request request = { .ctx = NULL };
	struct cli_parser p;
	const char *json = NULL, *faults = NULL;
	struct err err = { "" };
	char known[256] = "";
	size_t used = 0;
	uint64_t value;
	int c, ret = 0;

	target_init(&target);
	cli_parse(&p, verb, argc, argv);
	while (!ret && (c = cli_next(&p)) != -1) {
		switch (c) {
		case 0:
			return CLI_DONE;
		case -2:
			return CLI_MISUSED;
		case OPT_JSON:
			json = optarg ? optarg : "-";
			break;
		case OPT_COUNT:
			ret = number(verb, "--count", optarg, COUNT_MAX, &request.count);
			break;
		case OPT_BATCH:
			ret = number(verb, "--batch", optarg, BATCH_MAX, &value);
			request.batch = (unsigned int)value;
			break;
		case OPT_FAULTS:
			faults = optarg;
			break;
		case OPT_MEMORY:
			request.heap = !strcmp(optarg, "heap");
			if (!request.heap && strcmp(optarg, "managed"))
				ret = cli_misused(verb, "--memory %s: it is managed or heap",
						  optarg);
			break;
		default:
			if (target_option(&target, c, optarg, &err))
				ret = cli_misused(verb, "%s", err.text);
		}
	}
	if (!ret && (target_check(&target, &err) || (faults && faults_ask(&target, &err)) ||
		     output_apart((struct output_option[]){ { "--json", json },
				  { "--faults", faults } }, 2, &err)))
		ret = cli_misused(verb, "%s", err.text);
	if (ret)
		return ret;
	if (argc - optind == 1 && request.heap && strcmp(argv[optind], "fault"))
		return cli_misused(verb, "--memory heap is of bench fault");
	if (argc - optind == 1)
		for (size_t i = 0; i < ARRAY_SIZE(benches); i++)
			if (!strcmp(argv[optind], benches[i]->name))
				return output_check(json, &err) || output_check(faults, &err) ?
				       cli_failed(verb, "%s", err.text) :
				       measure(verb, benches[i], &target, &request, json, faults);
	for (size_t i = 0; i < ARRAY_SIZE(benches) && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 i ? ", " : "", benches[i]->name);
	if (argc - optind != 1)
		return cli_misused(verb, "what shall be measured? one of: %s", known);
	return cli_misused(verb, "cannot measure '%s'; there are: %s", argv[optind], known);
}

static void more(FILE *out)
{
	fprintf(out, "\nMeasurements:\n");
	for (size_t i = 0; i < ARRAY_SIZE(benches); i++)
		fprintf(out, "  %-10s %s\n", benches[i]->name, benches[i]->help);
}

static const struct cli_option options[] = {
	{ "count", "N", "pages: fault, cpufault 2000, throughput 8192, clients 1024; migrate: pieces of 2 MiB, 28", OPT_COUNT },
	{ "batch", "N", "far faults raised at a time; fault: 1 if not given, throughput, clients: 256", OPT_BATCH },
	{ "memory", "KIND", "fault: managed, or heap, memory of malloc() (managed)", OPT_MEMORY },
	{ "faults", "FILE", "write every far fault as a line of CSV: page, stages, batch, cause", OPT_FAULTS },
	{ "json", "[FILE]", "as JSON, to FILE or, alone, to stdout without the text", OPT_JSON },
	{ NULL }
};

const struct verb verb_bench = {
	.name = "bench",
	.usage = "fault|throughput|migrate|cpufault|clients|bars [OPTION]...",
	.help = "measure the kernel path beside its yardsticks",
	.options = options,
	.shared = target_options,
	.more = more,
	.run = bench,
};
