// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu sweep: every combination that a file names, as runs, in one table. sweep_file.c reads
 * the file, sweep_plan.c makes the runs, runner.c does them, sweep_table.c writes the table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "memory.h"
#include "output.h"
#include "sweep.h"
#include "workload.h"

enum { OPT_OUT = CLI_OWN, OPT_CSV, OPT_JOBS, OPT_LIMIT, OPT_SHARD, OPT_SLURM, OPT_DRY, OPT_SIZE };

struct request {
	struct sweep sweep;
	struct sweep_plan plan;
	struct runner runner;
	const char *file, *csv;		/* csv NULL: sweep.csv in the folder */
	const char *size;		/* for workloads whose words give no size; NULL: medium */
	char *dir;
	bool dry;
	unsigned int slurm;		/* write a job array of so many tasks; 0: run */
};

/* --- the command line -------------------------------------------------------------------------- */

/* "3/8" */
static int parse_shard(const struct verb *verb, struct runner *r, const char *text)
{
	unsigned int shard, shards;
	char *end;

	shard = (unsigned int)strtoul(text, &end, 10);
	shards = end != text && *end == '/' ? (unsigned int)strtoul(end + 1, &end, 10) : 0;
	if (*end || shard < 1 || shards < shard || shards > 1u << 20)
		return cli_misused(verb, "--shard %s: not I/N, the I-th of N parts, as 1/8", text);
	r->shard = shard;
	r->shards = shards;
	return 0;
}

static int take_option(const struct verb *verb, int id, void *arg)
{
	struct request *r = arg;
	enum workload_size size;
	struct err err;
	uint64_t n;

	switch (id) {
	case OPT_SIZE:
		r->size = optarg;
		return workload_size_parse(optarg, &size, &err) ? cli_misused(verb, "%s", err.text) : 0;
	case OPT_OUT:
		free(r->dir);
		r->dir = text_of("%s", optarg);
		return 0;
	case OPT_CSV:
		r->csv = optarg;
		return 0;
	case OPT_SHARD:
		return parse_shard(verb, &r->runner, optarg);
	case OPT_DRY:
		r->dry = true;
		return 0;
	case OPT_SLURM:
		if (number_parse(optarg, &n) || n < 1 || n > 1u << 20)
			return cli_misused(verb, "--slurm %s: not a number of tasks from 1", optarg);
		r->slurm = (unsigned int)n;
		return 0;
	case OPT_JOBS:
		if (number_parse(optarg, &n) || n < 1 || n > 256)
			return cli_misused(verb, "--jobs %s: not a number from 1 to 256", optarg);
		r->runner.jobs = (unsigned int)n;
		return 0;
	default:
		if (number_parse(optarg, &n) || n < 1 || n > 1u << 20)
			return cli_misused(verb, "--limit %s: not a number of seconds from 1", optarg);
		r->runner.limit = (unsigned int)n;
		return 0;
	}
}

/* "runs/vram.conf": "sweep-vram" here. */
static char *folder_for(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	return text_of("sweep-%.*s", (int)(dot && dot != name ? dot - name : (long)strlen(name)), name);
}

static int parse(const struct verb *verb, struct request *r, int argc, char **argv)
{
	struct err err;
	int ret;

	r->runner.jobs = runner_cpus();
	ret = cli_options(verb, argc, argv, take_option, r);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return cli_misused(verb, "which sweep? one file, gpuemu-sweep(1)");
	r->file = argv[optind];
	if (!r->dir)
		r->dir = folder_for(r->file);
	if (strpbrk(r->dir, " \t"))
		return cli_misused(verb, "a blank in '%s'", r->dir);
	ret = sweep_read(&r->sweep, r->file, &err);
	if (ret)
		return ret == -EINVAL ? cli_misused(verb, "%s", err.text) :
					cli_failed(verb, "%s", err.text);
	if (r->size)
		sweep_resize(&r->sweep, r->size);
	if (sweep_plan(&r->plan, &r->sweep, &err))
		return cli_misused(verb, "%s: %s", r->file, err.text);
	return 0;
}

/* --- doing it ------------------------------------------------------------------------------------ */

static int show_plan(const struct request *r)
{
	if (sweep_shares(&r->sweep, &r->plan))
		puts("# a percentage of --vram stands for bytes: runs without time, which come first, tell "
		     "the footprints");
	for (size_t i = 0; i < r->plan.count; i++) {
		char *words = sweep_words(&r->sweep, &r->plan.runs[i]);

		printf("gpuemu %s\n", words);
		free(words);
	}
	return CLI_DONE;
}

/* In quotes for the shell. */
static void put_word(const char *word)
{
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	}
	putchar('\'');
}

/*
 * A job array whose tasks are shards of one folder that all machines see. Each task runs as
 * many jobs as Slurm gives it CPUs. The task that ends last writes the table with every run.
 */
static int show_slurm(const struct verb *verb, const struct request *r)
{
	char *program = realpath("/proc/self/exe", NULL), *file = realpath(r->file, NULL);
	char *here = getcwd(NULL, 0);

	if (!program || !file || !here) {
		free(program);
		free(file);
		free(here);
		return cli_failed(verb, "%s: %s", r->file, strerror(errno));
	}
	printf("#!/bin/sh\n#SBATCH --job-name=gpuemu-sweep\n#SBATCH --array=1-%u\n"
	       "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%u\n"
	       "# %zu runs in %u tasks. sbatch THIS-FILE; each task may be repeated: what is done is kept.\n"
	       "cd ", r->slurm, r->runner.jobs, r->plan.count, r->slurm);
	put_word(here);
	fputs(" || exit 1\nexec ", stdout);
	put_word(program);
	fputs(" sweep ", stdout);
	put_word(file);
	fputs(" --out ", stdout);
	put_word(r->dir);
	if (r->size)
		printf(" --size %s", r->size);
	if (r->runner.limit)
		printf(" --limit %u", r->runner.limit);
	printf(" --shard \"$SLURM_ARRAY_TASK_ID/%u\" --jobs \"${SLURM_CPUS_PER_TASK:-1}\"\n", r->slurm);
	free(program);
	free(file);
	free(here);
	return CLI_DONE;
}

/* Writes the file whole or not at all: shards of one folder may write it at the same time. */
static int write_table(const struct verb *verb, struct request *r)
{
	char *file = r->csv ? text_of("%s", r->csv) : text_of("%s/sweep.csv", r->dir);
	char *part = text_of("%s.%ld.part", file, (long)getpid());
	FILE *out = !strcmp(file, "-") ? stdout : fopen(part, "we");
	int result = CLI_DONE;

	if (!out) {
		result = cli_failed(verb, "cannot write %s: %s", part, strerror(errno));
	} else {
		struct err err;

		errno = 0;
		sweep_table(&r->sweep, &r->plan, out);
		if (output_close(out, file, &err))
			result = cli_failed(verb, "%s", err.text);
		else if (out != stdout && rename(part, file))
			result = cli_failed(verb, "cannot write %s: %s", file, strerror(errno));
		if (result)
			unlink(part);
	}
	free(part);
	free(file);
	return result;
}

static void tell_end(const struct request *r)
{
	const char *column = sweep_column_missing(&r->sweep, &r->plan);
	size_t done = 0;

	if (column)
		fprintf(stderr, "gpuemu sweep: %s: columns: no report has '%s', so this column is empty; "
			"gpuemu-json(7) has the paths\n", r->file, column);

	for (size_t i = 0; i < r->plan.count; i++)
		done += r->plan.runs[i].run && r->plan.runs[i].run->report;
	fprintf(r->csv && !strcmp(r->csv, "-") ? stderr : stdout,
		"%zu runs, %zu done, %u failed; the table is %s%s\n", r->plan.count, done,
		r->runner.failures, r->csv ? r->csv : r->dir, r->csv ? "" : "/sweep.csv");
}

static int do_runs(const struct verb *verb, struct request *r)
{
	struct runner *runner = &r->runner;
	struct err err;
	int result;

	runner->who = "gpuemu sweep";
	runner->dir = r->dir;
	if (runner_begin(runner, &err))
		return cli_failed(verb, "%s", err.text);
	sweep_want_footprints(&r->plan, &r->sweep, runner);
	runner->what = "runs without time, for the footprints,";
	runner_execute(runner);
	runner->what = NULL;
	sweep_want(&r->plan, &r->sweep, runner);
	runner_execute(runner);
	/* The table also has the runs that other shards have kept in the meantime. */
	runner_look_again(runner);
	result = write_table(verb, r);
	if (!result)
		tell_end(r);
	if (runner->failures)
		result = CLI_FAILED;
	return runner->stopped ? CLI_STOPPED + runner->stopped : result;
}

static int sweep(const struct verb *verb, int argc, char **argv)
{
	struct request *r = must(calloc(1, sizeof(*r)));
	int result = parse(verb, r, argc, argv);

	if (!result)
		result = r->slurm ? show_slurm(verb, r) : r->dry ? show_plan(r) : do_runs(verb, r);
	runner_end(&r->runner);
	sweep_plan_free(&r->plan);
	sweep_free(&r->sweep);
	free(r->dir);
	free(r);
	return result < 0 ? CLI_DONE : result;
}

static void more(FILE *out)
{
	fprintf(out, "\nA file, gpuemu-sweep(1):\n"
		"  workloads = [ \"vecadd size=quick\", \"sgemm size=quick\" ];\n"
		"  config = \"gtx480-hpca16\";\n"
		"  keys: { paging: { prefetch = [ \"none\", \"tree\" ]; }; gpu: { sms = [ 4, 15 ]; }; };\n"
		"  vram = [ \"50%%\", \"100%%\" ];\n"
		"\nexample: gpuemu sweep vram.conf --jobs 8\n");
}

static const struct cli_option options[] = {
	{ "out", "DIR", "where reports and the table are kept, sweep-FILE if not given; a sweep goes on there",
	  OPT_OUT },
	{ "csv", "FILE", "the table, sweep.csv in DIR if not given; - is stdout", OPT_CSV },
	{ "jobs", "N", "runs at a time, as many as there are CPUs if not given; what is measured runs alone",
	  OPT_JOBS },
	{ "limit", "S", "seconds after which a run is ended, and failed", OPT_LIMIT },
	{ "shard", "I/N", "only the I-th of N parts of the runs, for several machines on one DIR", OPT_SHARD },
	{ "size", "SIZE", "of workloads that do not say otherwise: tiny, small, medium, large", OPT_SIZE },
	{ "slurm", "N", "print a Slurm job array of N tasks that does it, for sbatch", OPT_SLURM },
	{ "dry-run", NULL, "say what would be run, and run nothing", OPT_DRY },
	{ NULL }
};

const struct verb verb_sweep = {
	.name = "sweep",
	.usage = "FILE.conf [OPTION]...",
	.help = "every combination of workloads, keys and values, in one table",
	.options = options,
	.more = more,
	.run = sweep,
};
