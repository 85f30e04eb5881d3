// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu study: does the runs of a paper's figures and prints the tables, with the paper's
 * numbers beside. What a study is comes from its own file; runner.c runs,
 * study_table.c prints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli.h"
#include "memory.h"
#include "output.h"
#include "study.h"
#include "target.h"
#include "workload.h"

enum {
	OPT_QUICK = CLI_OWN, OPT_OUT, OPT_BACKEND, OPT_WORKLOADS, OPT_ONLY, OPT_JOBS, OPT_LIMIT,
	OPT_CONFIG, OPT_SET, OPT_JSON, OPT_DRY,
};

#define X(name) extern const struct study study_##name;
#include "study.def"
#undef X

static const struct study *const studies[] = {
#define X(name) &study_##name,
#include "study.def"
#undef X
};

const struct study *study_row(unsigned int n)
{
	return n < ARRAY_SIZE(studies) ? studies[n] : NULL;
}

/* --- the whole of a study ------------------------------------------------------------- */

static int begin(struct study_ctx *c)
{
	const struct study_options *o = &c->options;
	char *records = text_of("%s/records", o->dir);
	int ret;

	c->runner.who = "gpuemu study";
	c->runner.dir = o->dir;
	c->runner.program = o->program;
	c->runner.jobs = o->jobs;
	c->runner.limit = o->limit;
	ret = runner_begin(&c->runner, &c->err);
	if (!ret && mkdir(records, 0777) && errno != EEXIST)
		ret = err_set(&c->err, -errno, "cannot make %s: %s", records, strerror(errno));
	free(records);
	return ret;
}

/* Checks the configuration that all runs share before anything runs. */
static int read_spec(struct study_ctx *c)
{
	struct target t;
	int ret = 0;

	target_init(&t);
	t.config = c->options.config;
	for (unsigned int i = 0; !ret && i < c->options.nsettings; i++)
		ret = target_option(&t, TARGET_SET, c->options.settings[i], &c->err);
	if (!ret)
		ret = target_check(&t, &c->err);
	if (!ret)
		ret = target_spec(&t, &c->spec, &c->err);
	return ret ? -EINVAL : 0;
}

static bool selected(const struct study_ctx *c, const struct study_part *p)
{
	const struct study_options *o = &c->options;

	for (unsigned int i = 0; i < o->nonly; i++)
		if (!strcmp(o->only[i], p->name))
			return true;
	return !o->nonly;
}

/* A part that configures service times is not possible where they are measured. */
static bool possible(const struct study_ctx *c, const struct study_part *p)
{
	return !p->configured || !strcmp(c->options.backend, "sim");
}

static bool does(const struct study_ctx *c, const struct study_part *p)
{
	return selected(c, p) && possible(c, p);
}

static void want_all(struct study_ctx *c)
{
	for (const struct study_part *p = c->study->parts; p->name; p++)
		if (does(c, p) && p->want)
			p->want(c);
}

int study_plan(struct study_ctx *c)
{
	int ret = read_spec(c);

	if (ret)
		return ret;
	c->runner.dir = c->options.dir;
	want_all(c);
	for (size_t i = 0; i < c->runner.nruns; i++) {
		char *words = runner_expand(&c->runner, c->runner.runs[i]->args);

		printf("gpuemu %s\n", words);
		free(words);
	}
	for (const struct study_part *p = c->study->parts; p->name; p++)
		if (does(c, p) && p->want_more)
			printf("# %s: more runs, which need the results of these\n", p->name);
	return 0;
}

int study_run_all(struct study_ctx *c)
{
	const struct study_part *p;
	int ret = read_spec(c);

	if (!ret)
		ret = begin(c);
	if (ret)
		return ret;
	want_all(c);
	runner_execute(&c->runner);
	for (p = c->study->parts; p->name; p++)
		if (does(c, p) && p->want_more)
			p->want_more(c);
	runner_execute(&c->runner);
	for (p = c->study->parts; p->name; p++) {
		size_t first = c->ntables;

		if (!does(c, p)) {
			if (selected(c, p) && c->options.text)
				printf("\n%s: left out, backend %s has no configured times\n",
				       p->name, c->options.backend);
			continue;
		}
		p->show(c);
		for (size_t i = first; c->options.text && i < c->ntables; i++)
			study_table_print(c, c->tables[i]);
		fflush(stdout);
	}
	return 0;
}

unsigned int study_failures(const struct study_ctx *c)
{
	return c->failures + c->runner.failures;
}

struct json_object *study_json(const struct study_ctx *c)
{
	struct json_object *o = json_object_new_object(), *tables = json_object_new_array();
	struct json_object *figures = json_object_new_array(), *failures = json_object_new_array();

	json_object_object_add(o, "version", json_object_new_int(1));
	json_object_object_add(o, "study", json_object_new_string(c->study->name));
	json_object_object_add(o, "quick", json_object_new_boolean(c->options.quick));
	json_object_object_add(o, "backend", json_object_new_string(c->options.backend));
	json_object_object_add(o, "config", json_object_new_string(c->options.config));
	json_object_object_add(o, "runs", json_object_new_uint64(c->runner.nruns));
	for (size_t i = 0; i < c->ntables; i++)
		json_object_array_add(tables, study_table_json(c, c->tables[i]));
	for (size_t i = 0; i < c->nfigures; i++)
		json_object_array_add(figures, json_object_new_string(c->figures[i]));
	for (size_t i = 0; i < c->runner.nruns; i++) {
		const struct run *run = c->runner.runs[i];
		struct json_object *failure;

		if (!run->failed)
			continue;
		failure = json_object_new_object();
		json_object_object_add(failure, "run", json_object_new_string(run->args));
		json_object_object_add(failure, "error", json_object_new_string(run->why));
		json_object_array_add(failures, failure);
	}
	json_object_object_add(o, "tables", tables);
	json_object_object_add(o, "figures", figures);
	json_object_object_add(o, "failures", failures);
	if (c->runner.stopped)
		json_object_object_add(o, "missing", json_object_new_uint64(runner_missing(&c->runner)));
	return o;
}

void study_free(struct study_ctx *c)
{
	runner_end(&c->runner);
	for (size_t i = 0; i < c->ntables; i++)
		study_table_free(c->tables[i]);
	for (size_t i = 0; i < c->nfigures; i++)
		free(c->figures[i]);
	free(c->tables);
	free(c->figures);
	c->tables = NULL;
	c->figures = NULL;
	c->ntables = c->nfigures = 0;
}

static void keep_figure(struct study_ctx *c, const char *file)
{
	char **figures = realloc(c->figures, (c->nfigures + 1) * sizeof(*figures));

	if (!figures)
		return;
	c->figures = figures;
	figures[c->nfigures] = strdup(file);
	c->nfigures += figures[c->nfigures] != NULL;
}

void study_figure(struct study_ctx *c, const char *name, struct figure *f)
{
	static const char *const endings[] = { ".gp", ".svg" };
	char file[4096];
	struct err err;
	/*
	 * A figure without a value has only failed runs, which were reported. A study that was
	 * stopped keeps its old figures.
	 */
	bool draws = figure_has_data(f) && !c->runner.stopped;

	for (size_t i = 0; draws && i < ARRAY_SIZE(endings); i++) {
		int ret;

		if (i && c->no_gnuplot)
			break;
		snprintf(file, sizeof(file), "%s/%s%s", c->options.dir, name, endings[i]);
		ret = figure_write(f, file, &err);
		if (!ret)
			keep_figure(c, file);
		else
			fprintf(stderr, "gpuemu study: %s\n", err.text);
		/* The script stays for users who have gnuplot elsewhere. */
		c->no_gnuplot |= ret == -ENOENT;
		c->failures += ret && ret != -ENOENT;
	}
	figure_free(f);
}

/* --- the command line ---------------------------------------------------------------------- */

/* A misspelt name is answered with the nearest one, any other with all of them. */
static int misused_study(const struct verb *verb, const char *name)
{
	struct nearest near;
	char known[256] = "";
	size_t used = 0;

	nearest_begin(&near, name ? name : "");
	for (size_t i = 0; i < ARRAY_SIZE(studies) && used < sizeof(known); i++) {
		nearest_try(&near, studies[i]->name);
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 studies[i]->name);
	}
	if (!name)
		return cli_misused(verb, "which study? one of: %s", known);
	if (near.name)
		return cli_misused(verb, "unknown study '%s'; did you mean '%s'? gpuemu study --help lists them",
				   name, near.name);
	return cli_misused(verb, "unknown study '%s'; there are: %s", name, known);
}

static const struct study *find_study(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(studies); i++)
		if (!strcmp(studies[i]->name, name))
			return studies[i];
	return NULL;
}

/* The study's own row, or any other workload at its sizes of that name. */
static int add_workload(const struct verb *verb, struct study_ctx *c, const char *name)
{
	struct study_options *o = &c->options;
	const struct study_workload *w = c->study->workloads;
	const struct workload_row *row;

	if (o->nworkloads == STUDY_WORKLOADS)
		return cli_misused(verb, "--workloads: more than %d", STUDY_WORKLOADS);
	for (; w->name; w++) {
		if (strcmp(w->name, name))
			continue;
		o->workloads[o->nworkloads++] = *w;
		return 0;
	}
	row = workload_find(name);
	if (!row) {
		workload_unknown(name, &c->err);
		return cli_misused(verb, "--workloads: %s", c->err.text);
	}
	o->workloads[o->nworkloads++] =
		(struct study_workload){ row->ops->name, "", "size=quick" };
	return 0;
}

int study_own_workloads(struct study_ctx *c)
{
	struct study_options *o = &c->options;

	o->nworkloads = 0;
	for (const struct study_workload *w = c->study->workloads; w->name; w++) {
		if (!workload_find(w->name))
			return err_set(&c->err, -ENOENT, "study %s: its row '%s' is no workload "
				       "(gpuemu list workloads)", c->study->name, w->name);
		if (o->nworkloads == STUDY_WORKLOADS)
			return err_set(&c->err, -E2BIG, "study %s: more than %d rows", c->study->name,
				       STUDY_WORKLOADS);
		o->workloads[o->nworkloads++] = *w;
	}
	return 0;
}

static int choose_workloads(const struct verb *verb, struct study_ctx *c, char *list)
{
	struct study_options *o = &c->options;
	char *save;
	int ret = 0;

	if (!list)
		return study_own_workloads(c) ? cli_failed(verb, "%s", c->err.text) : 0;
	for (char *name = strtok_r(list, ",", &save); !ret && name;
	     name = strtok_r(NULL, ",", &save))
		ret = add_workload(verb, c, name);
	if (!ret && !o->nworkloads)
		return cli_misused(verb, "--workloads: none");
	return ret;
}

static int choose_parts(const struct verb *verb, struct study_ctx *c, char *list)
{
	struct study_options *o = &c->options;
	char *save;

	for (char *name = list ? strtok_r(list, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save)) {
		const struct study_part *p = c->study->parts;
		struct nearest near;
		char known[256] = "";
		size_t used = 0;

		while (p->name && strcmp(p->name, name))
			p++;
		if (p->name && o->nonly < STUDY_LIST) {
			o->only[o->nonly++] = name;
			continue;
		}
		nearest_begin(&near, name);
		for (p = c->study->parts; p->name && used < sizeof(known); p++) {
			nearest_try(&near, p->name);
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 used ? ", " : "", p->name);
		}
		if (near.name)
			return cli_misused(verb, "--only: no part '%s'; did you mean '%s'? gpuemu study --help lists them",
					   name, near.name);
		return cli_misused(verb, "--only: no part '%s'; there are: %s", name, known);
	}
	return 0;
}

/* The backend that a run without --backend would have is not asked: a study says what it is. */
static int check_backend(const struct verb *verb, const char *name)
{
	struct target t;
	struct err err;

	target_init(&t);
	return target_option(&t, TARGET_BACKEND, name, &err) ? cli_misused(verb, "%s", err.text) : 0;
}

struct request {
	struct study_ctx ctx;
	char *workloads, *parts;
	const char *json;
	bool dry;
	char dir[256];
};

static int take_option(const struct verb *verb, int id, void *arg)
{
	struct request *r = arg;
	struct study_options *o = &r->ctx.options;
	uint64_t n;

	switch (id) {
	case OPT_QUICK:
		o->quick = true;
		return 0;
	case OPT_OUT:
		o->dir = optarg;
		return 0;
	case OPT_BACKEND:
		o->backend = optarg;
		return check_backend(verb, optarg);
	case OPT_WORKLOADS:
		r->workloads = optarg;
		return 0;
	case OPT_ONLY:
		r->parts = optarg;
		return 0;
	case OPT_CONFIG:
		o->config = optarg;
		return 0;
	case OPT_JSON:
		r->json = optarg ? optarg : "-";
		return 0;
	case OPT_DRY:
		r->dry = true;
		return 0;
	case OPT_SET:
		if (o->nsettings == STUDY_LIST)
			return cli_misused(verb, "--set: more than %d", STUDY_LIST);
		if (strpbrk(optarg, " \t"))
			return cli_misused(verb, "--set %s: a blank in it", optarg);
		o->settings[o->nsettings++] = optarg;
		return 0;
	case OPT_JOBS:
		if (number_parse(optarg, &n) || n < 1 || n > 256)
			return cli_misused(verb, "--jobs %s: not a number from 1 to 256", optarg);
		o->jobs = (unsigned int)n;
		return 0;
	default:
		if (number_parse(optarg, &n) || n < 1 || n > 1u << 20)
			return cli_misused(verb, "--limit %s: not a number of seconds from 1", optarg);
		o->limit = (unsigned int)n;
		return 0;
	}
}

static int parse(const struct verb *verb, struct request *r, int argc, char **argv)
{
	struct study_options *o = &r->ctx.options;
	int ret;

	o->jobs = runner_cpus();
	o->backend = "sim";
	ret = cli_options(verb, argc, argv, take_option, r);
	if (ret)
		return ret;
	if (argc - optind != 1)
		return misused_study(verb, NULL);
	r->ctx.study = find_study(argv[optind]);
	if (!r->ctx.study)
		return misused_study(verb, argv[optind]);
	if (!o->config)
		o->config = r->ctx.study->config;
	if (!o->dir) {
		snprintf(r->dir, sizeof(r->dir), "study-%s%s", r->ctx.study->name,
			 o->quick ? "-quick" : "");
		o->dir = r->dir;
	}
	/* Arguments of runs are separated by blanks. */
	if (strpbrk(o->dir, " \t") || strpbrk(o->config, " \t"))
		return cli_misused(verb, "a blank in '%s'", strpbrk(o->dir, " \t") ? o->dir : o->config);
	o->text = !r->json || strcmp(r->json, "-");
	ret = choose_parts(verb, &r->ctx, r->parts);
	return ret ? ret : choose_workloads(verb, &r->ctx, r->workloads);
}

static void tell_end(const struct study_ctx *c)
{
	if (!c->options.text)
		return;
	printf("\n%zu runs, %u failed", c->runner.nruns, study_failures(c));
	if (c->runner.stopped)
		printf(", %zu not done: the tables have what is there, figures are not drawn",
		       runner_missing(&c->runner));
	if (c->runner.nruns || c->nfigures)
		printf("; reports and figures are in %s", c->options.dir);
	putchar('\n');
	if (c->no_gnuplot)
		printf("no gnuplot: the figures are scripts (.gp) alone\n");
}

/* The folder of a study whose parts take no runs. */
static void remove_empty(const char *dir)
{
	char *records = text_of("%s/records", dir), *runs = text_of("%s/runs", dir);

	rmdir(records);
	rmdir(runs);
	rmdir(dir);
	free(records);
	free(runs);
}

static int study(const struct verb *verb, int argc, char **argv)
{
	struct request *r = calloc(1, sizeof(*r));
	struct err err;
	bool there;
	int result;

	if (!r)
		return cli_failed(verb, "no memory");
	result = parse(verb, r, argc, argv);
	if (result) {
		free(r);
		return result < 0 ? CLI_DONE : result;
	}
	if (!r->dry && output_check(r->json, &err)) {
		free(r);
		return cli_failed(verb, "%s", err.text);
	}
	there = !access(r->ctx.options.dir, F_OK);
	result = r->dry ? study_plan(&r->ctx) : study_run_all(&r->ctx);
	if (result) {
		result = result == -EINVAL ? cli_misused(verb, "%s", r->ctx.err.text) :
					     cli_failed(verb, "%s", r->ctx.err.text);
	} else if (!r->dry) {
		struct json_object *report = study_json(&r->ctx);

		tell_end(&r->ctx);
		if (r->json && output_json(report, r->json, &err))
			result = cli_failed(verb, "%s", err.text);
		json_object_put(report);
		if (study_failures(&r->ctx))
			result = CLI_FAILED;
		if (r->ctx.runner.stopped)
			result = CLI_STOPPED + r->ctx.runner.stopped;
	}
	study_free(&r->ctx);
	if (!there)
		remove_empty(r->ctx.options.dir);
	free(r);
	return result;
}

static void more(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(studies); i++) {
		fprintf(out, "\n%s: %s\n", studies[i]->name, studies[i]->help);
		for (const struct study_part *p = studies[i]->parts; p->name; p++)
			fprintf(out, "  %-16s %s\n", p->name, p->help);
	}
	fprintf(out, "\nexample: gpuemu study paged-memory --quick --workloads vecadd,gather\n");
}

static const struct cli_option options[] = {
	{ "quick", NULL, "small inputs: minutes instead of hours", OPT_QUICK },
	{ "out", "DIR", "where reports and figures are kept, study-NAME if not given; a study goes on there",
	  OPT_OUT },
	{ "backend", "B", "who moves the pages, sim if not given", OPT_BACKEND },
	{ "workloads", "A,B,...", "these instead of the study's", OPT_WORKLOADS },
	{ "only", "PART,...", "these parts alone", OPT_ONLY },
	{ "jobs", "N", "runs at a time, as many as there are CPUs if not given; what is measured runs alone", OPT_JOBS },
	{ "limit", "S", "seconds after which a run is ended, and failed", OPT_LIMIT },
	{ "config", "GPU", "instead of the study's GPU", OPT_CONFIG },
	{ "set", "KEY=VALUE", "one key for every run; may be repeated", OPT_SET },
	{ "json", "[FILE]", "the tables as JSON, to FILE or, alone, to stdout without the text", OPT_JSON },
	{ "dry-run", NULL, "say what would be run, and run nothing", OPT_DRY },
	{ NULL }
};

const struct verb verb_study = {
	.name = "study",
	.usage = "NAME [OPTION]...",
	.help = "a paper's figures: runs, tables with its numbers beside, pictures",
	.options = options,
	.more = more,
	.run = study,
};
