// SPDX-License-Identifier: GPL-2.0
/* See plot_table.h. The reader takes what sweep_table.c writes: fields in quotes where they need them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plot_table.h"

#define FIELDS_MAX	512u
#define VALUES_MAX	256u

/* Cuts a line at its commas, in place. */
static size_t split(char *line, char **fields)
{
	char *to = line;
	size_t n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	for (char *at = line; n < FIELDS_MAX;) {
		bool quoted = *at == '"';

		fields[n++] = to;
		at += quoted;
		for (; *at && (quoted || *at != ','); at++) {
			if (quoted && *at == '"' && *++at != '"')
				break;
			*to++ = *at;
		}
		if (*at != ',') {
			*to = '\0';
			break;
		}
		at++;
		*to++ = '\0';
	}
	return n;
}

static int find(char **titles, size_t n, const char *title)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(titles[i], title))
			return (int)i;
	return -1;
}

/*
 * The different values of a column, sorted if they are numbers ("50%" too), else in the
 * file's order.
 */
struct values {
	char *text[VALUES_MAX];
	size_t n;
};

static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	return end != text && (!*end || !strcmp(end, "%")) ? v : (double)NAN;
}

static size_t index_of(struct values *v, const char *text)
{
	size_t i = 0;

	while (i < v->n && strcmp(v->text[i], text))
		i++;
	if (i == v->n && v->n < VALUES_MAX)
		v->text[v->n++] = must(strdup(text));
	return i;
}

static bool all_numbers(const struct values *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (isnan(number(v->text[i])))
			return false;
	return v->n > 0;
}

static void order(const struct values *v, size_t *at)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t k = i;

		for (; all_numbers(v) && k && number(v->text[at[k - 1]]) > number(v->text[i]); k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
}

struct cell {
	double sum;
	unsigned int n;
};

struct cells {
	struct values x, by;
	struct cell of[VALUES_MAX][VALUES_MAX];	/* by, x */
};

static double mean(const struct cell *c)
{
	return c->n ? c->sum / c->n : (double)NAN;
}

static int read_rows(struct cells *c, FILE *in, const char *file, const struct plot_table *t,
		     struct err *err)
{
	char *titles[FIELDS_MAX], *fields[FIELDS_MAX], *head = NULL, *line = NULL;
	int x, y, by = -1, ret = 0;
	size_t room = 0, more = 0, n;

	if (getline(&head, &room, in) < 0) {
		free(head);
		return err_set(err, -EINVAL, "%s: an empty table", file);
	}
	n = split(head, titles);
	x = find(titles, n, t->x);
	y = find(titles, n, t->y);
	if (t->by)
		by = find(titles, n, t->by);
	if (x < 0 || y < 0 || (t->by && by < 0))
		ret = err_set(err, -EINVAL, "%s: no column '%s'; its first line has the titles", file,
			      x < 0 ? t->x : y < 0 ? t->y : t->by);
	while (!ret && getline(&line, &more, in) > 0) {
		size_t have = split(line, fields), i, k;
		double v;

		if (have != n)
			continue;
		v = number(fields[y]);
		i = index_of(&c->by, by < 0 ? t->y : fields[by]);
		k = index_of(&c->x, fields[x]);
		if (i >= VALUES_MAX || k >= VALUES_MAX)
			ret = err_set(err, -E2BIG, "%s: more than %u different values", file, VALUES_MAX);
		else if (!isnan(v))
			c->of[i][k] = (struct cell){ c->of[i][k].sum + v, c->of[i][k].n + 1 };
	}
	free(head);
	free(line);
	return ret;
}

/* Divides each cell by the one whose x, or whose line, is the named value. */
static int normalize(struct cells *c, const struct plot_table *t, struct err *err)
{
	size_t n = t->normalize ? strcspn(t->normalize, "=") : 0, at;
	bool by_x = t->normalize && strlen(t->x) == n && !strncmp(t->x, t->normalize, n);
	bool by_line = t->by && t->normalize && strlen(t->by) == n &&
		       !strncmp(t->by, t->normalize, n);
	struct values *v = by_x ? &c->x : &c->by;

	if (!t->normalize)
		return 0;
	if (!by_x && !by_line)
		return err_set(err, -EINVAL, "--normalize %s: COLUMN=VALUE, and COLUMN is that of --x or --by",
			       t->normalize);
	for (at = 0; at < v->n && strcmp(v->text[at], t->normalize + n + 1); at++)
		;
	if (at == v->n)
		return err_set(err, -EINVAL, "--normalize %s: no row has this value", t->normalize);
	for (size_t outer = 0; outer < (by_x ? c->by.n : c->x.n); outer++) {
		double one = mean(by_x ? &c->of[outer][at] : &c->of[at][outer]);

		for (size_t i = 0; i < v->n; i++) {
			struct cell *cell = by_x ? &c->of[outer][i] : &c->of[i][outer];

			*cell = (struct cell){ mean(cell) / one, cell->n && one > 0 };
		}
	}
	return 0;
}

static void draw(struct figure *f, const struct cells *c, const struct plot_table *t)
{
	static char ylabel[160];	/* must live until the figure is drawn */
	size_t xs[VALUES_MAX], lines[VALUES_MAX];
	bool numbers = all_numbers(&c->x);

	order(&c->x, xs);
	order(&c->by, lines);
	snprintf(ylabel, sizeof(ylabel), "%s%s", t->normalize ? "over its value at " : t->y,
		 t->normalize ? t->normalize : "");
	*f = (struct figure){ .kind = numbers ? FIGURE_LINES : FIGURE_BARS, .title = t->y,
			      .xlabel = t->x, .ylabel = ylabel };
	for (size_t k = 0; !numbers && k < c->x.n; k++)
		figure_label(f, c->x.text[xs[k]]);
	for (size_t i = 0; i < c->by.n; i++) {
		size_t series = figure_series(f, c->by.text[lines[i]]);

		for (size_t k = 0; k < c->x.n; k++) {
			const struct cell *cell = &c->of[lines[i]][xs[k]];
			double at = numbers ? number(c->x.text[xs[k]]) : (double)k;

			if (cell->n || !numbers)
				figure_point(f, series, at, mean(cell));
		}
	}
}

int plot_table(struct figure *f, const char *file, const struct plot_table *t, struct err *err)
{
	struct cells *c = must(calloc(1, sizeof(*c)));
	FILE *in = fopen(file, "re");
	int ret;

	*f = (struct figure){ .kind = FIGURE_LINES };
	ret = in ? read_rows(c, in, file, t, err) :
		   err_set(err, -errno, "%s: %s", file, strerror(errno));
	if (!ret)
		ret = normalize(c, t, err);
	if (!ret)
		draw(f, c, t);
	if (in)
		fclose(in);
	for (size_t i = 0; i < c->x.n; i++)
		free(c->x.text[i]);
	for (size_t i = 0; i < c->by.n; i++)
		free(c->by.text[i]);
	free(c);
	return ret;
}
