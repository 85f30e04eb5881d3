// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu plot: the standard figures of one run, or of several for comparison. It reads the
 * reports of `gpuemu run --json` and `gpuemu bench --json`, and run's --samples and --trace.
 * gnuplot draws the figures.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"
#include "plot.h"
#include "plot_table.h"

#define RUNS_MAX	64

enum { OPT_FIGURE = CLI_OWN, OPT_OUT, OPT_X, OPT_Y, OPT_BY, OPT_NORMALIZE };

struct request {
	const struct plot_row *row;	/* NULL: every figure that has data */
	const char *out;		/* NULL: as text */
	struct plot_table table;	/* x NULL: reports, no table */
	struct json_object *files[RUNS_MAX];
	unsigned int nfiles;
	struct plot_run runs[RUNS_MAX];
	char names[RUNS_MAX][128];
	size_t count;
};

static const struct plot_row *find(const char *name)
{
	const struct plot_row *row;

	for (unsigned int n = 0; (row = plot_row(n)); n++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

static int misused_figure(const struct verb *verb, const char *name)
{
	const struct plot_row *row;
	char known[256] = "";
	size_t used = 0;

	for (unsigned int n = 0; (row = plot_row(n)) && used < sizeof(known); n++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 n ? ", " : "", row->name);
	return cli_misused(verb, "unknown figure '%s'; there are: %s", name, known);
}

/* "runs/a.json" is "a". */
static void base_name(char *name, size_t size, const char *file)
{
	const char *slash = strrchr(file, '/');
	size_t n;

	snprintf(name, size, "%s", slash ? slash + 1 : file);
	n = strlen(name);
	if (n > 5 && !strcmp(name + n - 5, ".json"))
		name[n - 5] = '\0';
}

static int add_run(const struct verb *verb, struct request *r, struct json_object *report,
		   const char *file)
{
	const char *workload = output_string(report, "workload.name");

	if (r->count == RUNS_MAX)
		return cli_failed(verb, "%s: more than %d runs", file, RUNS_MAX);
	if (!json_object_is_type(report, json_type_object) ||
	    (!output_has(report, "totals") && !output_has(report, "columns") &&
	     !output_has(report, "traceEvents") && !output_has(report, "bench")))
		return cli_failed(verb, "%s: not a report of gpuemu run --json, --samples or --trace, "
				  "nor of gpuemu bench --json", file);
	if (!*workload)
		workload = output_string(report, "ptx.kernel");
	base_name(r->names[r->count], sizeof(r->names[0]), file);
	if (*workload && strcmp(workload, r->names[r->count])) {
		size_t n = strlen(r->names[r->count]);

		snprintf(r->names[r->count] + n, sizeof(r->names[0]) - n, " (%s)", workload);
	}
	r->runs[r->count].name = r->names[r->count];
	r->runs[r->count++].report = report;
	return 0;
}

static int read_file(const struct verb *verb, struct request *r, const char *file)
{
	struct json_object *o;
	struct err err;
	int ret = 0;

	if (r->nfiles == RUNS_MAX)
		return cli_failed(verb, "%s: more than %d files", file, RUNS_MAX);
	o = output_read(file, &err);
	if (!o)
		return cli_failed(verb, "%s", err.text);
	r->files[r->nfiles++] = o;
	if (!json_object_is_type(o, json_type_array))
		return add_run(verb, r, o, file);
	for (size_t i = 0; !ret && i < json_object_array_length(o); i++)
		ret = add_run(verb, r, json_object_array_get_idx(o, i), file);
	return ret;
}

/* "x.svg" with a name put in: "x-link.svg". */
static void name_out(char *file, size_t size, const char *out, const char *name)
{
	const char *dot = strrchr(out, '.');

	snprintf(file, size, "%.*s-%s%s", (int)(dot - out), out, name, dot);
}

static int draw(const struct verb *verb, struct request *r)
{
	const struct plot_row *row;
	unsigned int drawn = 0;
	int result = CLI_DONE;

	for (unsigned int n = 0; (row = plot_row(n)) && !result; n++) {
		struct figure f;
		struct err err;
		char file[4096];

		if (r->row && row != r->row)
			continue;
		row->make(&f, r->runs, r->count);
		if (f.nseries || f.failed || r->row) {
			if (r->out && r->row)
				snprintf(file, sizeof(file), "%s", r->out);
			else if (r->out)
				name_out(file, sizeof(file), r->out, row->name);
			if (!f.nseries && !f.failed)
				result = cli_failed(verb, "%s: the reports have nothing of it (%s)",
						    row->name, row->help);
			else if (figure_write(&f, r->out ? file : NULL, &err))
				result = cli_failed(verb, "%s", err.text);
			drawn++;
		}
		figure_free(&f);
	}
	if (!result && !drawn)
		return cli_failed(verb, "the reports have nothing of any figure");
	return result;
}

static int parse(const struct verb *verb, struct request *r, int argc, char **argv)
{
	struct cli_parser p;
	struct err err;
	int c;

	cli_parse(&p, verb, argc, argv);
	while ((c = cli_next(&p)) != -1) {
		if (c == 0)
			return -1;
		if (c == -2)
			return CLI_MISUSED;
		if (c == OPT_FIGURE) {
			r->row = find(optarg);
			if (!r->row)
				return misused_figure(verb, optarg);
		} else if (c == OPT_X) {
			r->table.x = optarg;
		} else if (c == OPT_Y) {
			r->table.y = optarg;
		} else if (c == OPT_BY) {
			r->table.by = optarg;
		} else if (c == OPT_NORMALIZE) {
			r->table.normalize = optarg;
		} else {
			r->out = optarg;
			if (figure_check(r->out, &err))
				return cli_misused(verb, "%s", err.text);
		}
	}
	for (int i = optind; i < argc && !r->table.x; i++)
		if (strlen(argv[i]) > 4 && !strcmp(argv[i] + strlen(argv[i]) - 4, ".csv"))
			return cli_misused(verb, "%s: of a table, --x COLUMN and --y COLUMN say what to draw",
					   argv[i]);
	if (optind == argc)
		return cli_misused(verb, "which reports? gpuemu run WORKLOAD --json FILE writes one");
	if ((r->table.x || r->table.y || r->table.by || r->table.normalize) &&
	    (!r->table.x || !r->table.y || r->row || argc - optind != 1))
		return cli_misused(verb, "of a table: one file of gpuemu sweep, --x COLUMN and --y COLUMN");
	return 0;
}

static int draw_table(const struct verb *verb, const struct request *r, const char *file)
{
	struct figure f;
	struct err err;
	int ret = plot_table(&f, file, &r->table, &err);

	if (!ret && !figure_has_data(&f))
		ret = err_set(&err, -EINVAL, "%s: no numbers in '%s'", file, r->table.y);
	if (!ret)
		ret = figure_write(&f, r->out, &err);
	figure_free(&f);
	return ret ? cli_failed(verb, "%s", err.text) : CLI_DONE;
}

static int plot(const struct verb *verb, int argc, char **argv)
{
	struct request *r = calloc(1, sizeof(*r));
	int result;

	if (!r)
		return cli_failed(verb, "no memory");
	result = parse(verb, r, argc, argv);
	if (result) {
		free(r);
		return result < 0 ? CLI_DONE : result;
	}
	if (r->table.x) {
		result = draw_table(verb, r, argv[optind]);
		free(r);
		return result;
	}
	for (int i = optind; !result && i < argc; i++)
		result = read_file(verb, r, argv[i]);
	if (!result)
		result = draw(verb, r);
	for (unsigned int i = 0; i < r->nfiles; i++)
		json_object_put(r->files[i]);
	free(r);
	return result;
}

static void more(FILE *out)
{
	const struct plot_row *row;

	fprintf(out, "\nFigures:\n");
	for (unsigned int n = 0; (row = plot_row(n)); n++)
		fprintf(out, "  %-10s %s\n", row->name, row->help);
	fprintf(out, "\nexample: gpuemu plot sweep.csv --x vram --y totals.cycles --by paging.prefetch "
		"--normalize vram=100%%\n");
	fprintf(out, "example: gpuemu run vecadd --set stats.interval=1000 --json a.json && "
		"gpuemu plot a.json --out a.svg\n");
}

static const struct cli_option options[] = {
	{ "figure", "NAME", "one figure; each that the reports have something of if not given",
	  OPT_FIGURE },
	{ "x", "COLUMN", "of a table of gpuemu sweep: what is to the right, by number where it is one", OPT_X },
	{ "y", "COLUMN", "what is upwards; rows of the same place are averaged", OPT_Y },
	{ "by", "COLUMN", "a line, or a bar in each group, for each of its values", OPT_BY },
	{ "normalize", "COLUMN=VALUE", "over what it is there (a value of --x or --by)", OPT_NORMALIZE },
	{ "out", "FILE", "FILE.svg, .png, .txt, or .gp for gnuplot's script; the terminal if not given",
	  OPT_OUT },
	{ NULL }
};

const struct verb verb_plot = {
	.name = "plot",
	.usage = "FILE.json...|TABLE.csv [OPTION]...",
	.help = "draw figures from reports, with gnuplot",
	.options = options,
	.more = more,
	.run = plot,
};
