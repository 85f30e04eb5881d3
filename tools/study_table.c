// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a study: workloads by rows, settings by columns, the geometric mean and
 * the paper's numbers below, and what is known about why they differ.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "study.h"
#include "wrap.h"

enum { FULL, QUICK };

static const struct {
	const char *study, *table;
	int size;
	const char *sentence;
} findings[] = {
#define FINDING(study, table, size, sentence)	{ study, table, size, sentence },
#include "study_findings.def"
};

/* The study as the findings know it: its GPU, its workloads, no run missing. */
static bool is_whole(const struct study_ctx *c)
{
	const struct study_options *o = &c->options;
	unsigned int all = 0;

	while (c->study->workloads[all].name)
		all++;
	if (o->nworkloads != all || o->nsettings || strcmp(o->config, c->study->config) ||
	    strcmp(o->backend, "sim"))
		return false;
	return !study_failures(c) && !c->runner.stopped;
}

const char *study_finding(const struct study_ctx *c, const char *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(findings); i++)
		if (!strcmp(findings[i].study, c->study->name) && !strcmp(findings[i].table, table))
			return (findings[i].size == QUICK || !c->options.quick) && is_whole(c) ?
			       findings[i].sentence : NULL;
	return NULL;
}

/* --- building ---------------------------------------------------------------------------- */

struct study_table *study_table(struct study_ctx *c, const char *name, const char *title,
				unsigned int digits, bool geomean)
{
	struct study_table *t = must(calloc(1, sizeof(*t)));

	t->name = must(strdup(name));
	t->title = must(strdup(title));
	t->digits = digits;
	t->geomean = geomean;
	c->tables = must(realloc(c->tables, (c->ntables + 1) * sizeof(struct study_table *)));
	c->tables[c->ntables++] = t;
	return t;
}

/* Columns are all there before the first row. */
size_t study_column(struct study_table *t, const char *name, double paper)
{
	t->columns = must(realloc(t->columns, (t->ncolumns + 1) * sizeof(char *)));
	t->paper = must(realloc(t->paper, (t->ncolumns + 1) * sizeof(double)));
	t->counts = must(realloc(t->counts, (t->ncolumns + 1) * sizeof(bool)));
	t->columns[t->ncolumns] = must(strdup(name));
	t->paper[t->ncolumns] = paper;
	t->counts[t->ncolumns] = false;
	return t->ncolumns++;
}

size_t study_column_counts(struct study_table *t, const char *name)
{
	size_t k = study_column(t, name, (double)NAN);

	t->counts[k] = true;
	return k;
}

size_t study_row_add(struct study_table *t, const char *name)
{
	t->rows = must(realloc(t->rows, (t->nrows + 1) * sizeof(char *)));
	t->cells = must(realloc(t->cells, (t->nrows + 1) * MAX(t->ncolumns, 1u) * sizeof(double)));
	t->rows[t->nrows] = must(strdup(name));
	t->texts = must(realloc(t->texts, (t->nrows + 1) * MAX(t->ncolumns, 1u) * sizeof(char *)));
	for (size_t k = 0; k < t->ncolumns; k++) {
		t->cells[t->nrows * t->ncolumns + k] = (double)NAN;
		t->texts[t->nrows * t->ncolumns + k] = NULL;
	}
	return t->nrows++;
}

void study_cell(struct study_table *t, size_t row, size_t column, double value)
{
	t->cells[row * t->ncolumns + column] = isfinite(value) ? value : (double)NAN;
}

void study_text(struct study_table *t, size_t row, size_t column, const char *fmt, ...)
{
	char **text = &t->texts[row * t->ncolumns + column];
	va_list ap;

	free(*text);
	va_start(ap, fmt);
	if (vasprintf(text, fmt, ap) < 0)
		*text = NULL;
	va_end(ap);
	must(*text);
}

void study_note(struct study_table *t, const char *fmt, ...)
{
	va_list ap;

	free(t->note);
	va_start(ap, fmt);
	if (vasprintf(&t->note, fmt, ap) < 0)
		t->note = NULL;
	va_end(ap);
	must(t->note);
}

double study_geomean(const struct study_table *t, size_t column)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->nrows && !t->counts[column]; i++) {
		double v = t->cells[i * t->ncolumns + column];

		if (isnan(v) || v <= 0)
			continue;
		sum += log(v);
		n++;
	}
	return n ? exp(sum / (double)n) : (double)NAN;
}

void study_table_free(struct study_table *t)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		free(t->columns[i]);
	for (size_t i = 0; i < t->nrows; i++)
		free(t->rows[i]);
	for (size_t i = 0; i < t->nrows * t->ncolumns; i++)
		free(t->texts[i]);
	free(t->texts);
	free(t->columns);
	free(t->rows);
	free(t->paper);
	free(t->counts);
	free(t->cells);
	free(t->note);
	free(t->name);
	free(t->title);
	free(t);
}

/* --- showing ----------------------------------------------------------------------------------- */

static const char *cell_text(char text[48], const struct study_table *t, double v)
{
	if (isnan(v))
		return "-";
	snprintf(text, 48, "%.*f", (int)t->digits, v);
	return text;
}

static double cell_of(const struct study_table *t, size_t row, size_t column)
{
	return t->cells[row * t->ncolumns + column];
}

/* A cell's words, or its number. */
static const char *shown(char text[48], const struct study_table *t, size_t row, size_t column)
{
	const char *words = t->texts[row * t->ncolumns + column];

	return words ? words : cell_text(text, t, cell_of(t, row, column));
}

static bool reports_any(const struct study_table *t)
{
	for (size_t k = 0; k < t->ncolumns; k++)
		if (!isnan(t->paper[k]))
			return true;
	return false;
}

static int column_width(const struct study_table *t, size_t k)
{
	char text[48];
	size_t width = strlen(t->columns[k]);

	for (size_t i = 0; i < t->nrows; i++)
		width = MAX(width, strlen(shown(text, t, i, k)));
	width = MAX(width, strlen(cell_text(text, t, t->paper[k])));
	return (int)MAX(width, 6u);
}

static void print_row(const struct study_table *t, const char *name, int first,
		      double (*value)(const struct study_table *t, size_t row, size_t column),
		      size_t row)
{
	char text[48];

	printf("  %-*s", first, name);
	for (size_t k = 0; k < t->ncolumns; k++)
		printf("  %*s", column_width(t, k), value == cell_of ? shown(text, t, row, k) :
		       cell_text(text, t, value(t, row, k)));
	putchar('\n');
}

static double geomean_of(const struct study_table *t, size_t row, size_t column)
{
	(void)row;
	return study_geomean(t, column);
}

static double paper_of(const struct study_table *t, size_t row, size_t column)
{
	(void)row;
	return t->paper[column];
}

void study_table_print(const struct study_ctx *c, const struct study_table *t)
{
	const char *why = study_finding(c, t->name);
	size_t first = strlen("geometric mean");

	for (size_t i = 0; i < t->nrows; i++)
		first = MAX(first, strlen(t->rows[i]));
	printf("\n%s: %s\n  %-*s", t->name, t->title, (int)first, "");
	for (size_t k = 0; k < t->ncolumns; k++)
		printf("  %*s", column_width(t, k), t->columns[k]);
	putchar('\n');
	for (size_t i = 0; i < t->nrows; i++)
		print_row(t, t->rows[i], (int)first, cell_of, i);
	if (t->geomean)
		print_row(t, "geometric mean", (int)first, geomean_of, 0);
	if (reports_any(t))
		print_row(t, "paper", (int)first, paper_of, 0);
	if (t->note)
		wrap_print(2, t->note);
	if (why)
		wrap_print(2, why);
}

static struct json_object *value_json(double v)
{
	return isnan(v) ? NULL : output_decimal(v, 6);
}

static struct json_object *values_json(const struct study_table *t,
		double (*value)(const struct study_table *t, size_t row, size_t column), size_t row)
{
	struct json_object *a = json_object_new_array();

	for (size_t k = 0; k < t->ncolumns; k++)
		json_object_array_add(a, value == cell_of && t->texts[row * t->ncolumns + k] ?
				      json_object_new_string(t->texts[row * t->ncolumns + k]) :
				      value_json(value(t, row, k)));
	return a;
}

struct json_object *study_table_json(const struct study_ctx *c, const struct study_table *t)
{
	struct json_object *o = json_object_new_object(), *columns = json_object_new_array();
	struct json_object *rows = json_object_new_array();
	const char *why = study_finding(c, t->name);

	json_object_object_add(o, "name", json_object_new_string(t->name));
	json_object_object_add(o, "title", json_object_new_string(t->title));
	for (size_t k = 0; k < t->ncolumns; k++)
		json_object_array_add(columns, json_object_new_string(t->columns[k]));
	json_object_object_add(o, "columns", columns);
	for (size_t i = 0; i < t->nrows; i++) {
		struct json_object *row = json_object_new_object();

		json_object_object_add(row, "name", json_object_new_string(t->rows[i]));
		json_object_object_add(row, "values", values_json(t, cell_of, i));
		json_object_array_add(rows, row);
	}
	json_object_object_add(o, "rows", rows);
	if (t->geomean)
		json_object_object_add(o, "geomean", values_json(t, geomean_of, 0));
	if (reports_any(t))
		json_object_object_add(o, "paper", values_json(t, paper_of, 0));
	if (t->note)
		json_object_object_add(o, "note", json_object_new_string(t->note));
	if (why)
		json_object_object_add(o, "finding", json_object_new_string(why));
	return o;
}

void study_bars(struct study_ctx *c, const struct study_table *t, enum figure_kind kind,
		const char *ylabel, bool logy)
{
	struct figure f = { .kind = kind, .title = t->title, .xlabel = "", .ylabel = ylabel,
			    .logy = logy };
	bool mean = t->geomean && t->nrows > 1;

	for (size_t k = 0; k < t->ncolumns; k++)
		figure_series(&f, t->columns[k]);
	for (size_t i = 0; i < t->nrows + mean; i++) {
		figure_label(&f, i < t->nrows ? t->rows[i] : "geometric mean");
		for (size_t k = 0; k < t->ncolumns; k++)
			figure_point(&f, k, (double)i, i < t->nrows ? cell_of(t, i, k) :
				     study_geomean(t, k));
	}
	if (mean && reports_any(t)) {
		figure_label(&f, "paper");
		for (size_t k = 0; k < t->ncolumns; k++)
			figure_point(&f, k, (double)(t->nrows + 1), t->paper[k]);
	}
	study_figure(c, t->name, &f);
}

void study_stack(struct study_ctx *c, const struct study_table *t, size_t first, size_t n,
		 const char *ylabel, bool shares)
{
	struct figure f = { .kind = FIGURE_STACKED, .title = t->title, .xlabel = "",
			    .ylabel = ylabel };

	for (size_t k = first; k < first + n; k++)
		figure_series(&f, t->columns[k]);
	for (size_t i = 0; i < t->nrows; i++) {
		double sum = 0;

		for (size_t k = first; k < first + n; k++)
			sum += cell_of(t, i, k);
		figure_label(&f, t->rows[i]);
		for (size_t k = first; k < first + n; k++)
			figure_point(&f, k - first, (double)i,
				     cell_of(t, i, k) / (shares ? sum : 1));
	}
	study_figure(c, t->name, &f);
}

struct figure study_lines(const struct study_table *t, const char *xlabel, const char *ylabel)
{
	return (struct figure){
		.kind = FIGURE_LINES, .title = t->title, .xlabel = xlabel, .ylabel = ylabel,
	};
}
