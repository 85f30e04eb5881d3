// SPDX-License-Identifier: GPL-2.0
/* Figures as gnuplot scripts, and gnuplot run on them. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "figure.h"
#include "output.h"

extern char **environ;

static const struct {
	const char *ending, *terminal;
} terminals[] = {
	{ ".svg", "svg size 960,540 dynamic noenhanced font 'sans,12' background '#ffffff'" },
	{ ".png", "png size 1200,675 noenhanced font 'sans,11'" },
	{ ".txt", "dumb size 110,36 noenhanced" },
	{ ".gp", NULL },
};

/*
 * Colours of series. People who see few colours can still tell the first eight apart (Okabe
 * and Ito).
 */
static const char *const colours[] = {
	"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#000000",
	"#999999", "#8c564b", "#9467bd", "#bcbd22", "#17becf", "#aec7e8", "#ff9896", "#98df8a",
};

/* --- building ---------------------------------------------------------------------- */

static void *grow(struct figure *f, void *array, size_t count, size_t size)
{
	void *bigger = f->failed ? NULL : realloc(array, (count + 1) * size);

	if (!bigger)
		f->failed = true;
	return bigger;
}

size_t figure_label(struct figure *f, const char *name)
{
	char **labels = grow(f, f->labels, f->nlabels, sizeof(*labels));

	if (!labels)
		return 0;
	f->labels = labels;
	labels[f->nlabels] = strdup(name);
	f->failed = !labels[f->nlabels];
	return f->nlabels++;
}

size_t figure_series(struct figure *f, const char *name)
{
	struct figure_series *series = grow(f, f->series, f->nseries, sizeof(*series));

	if (!series)
		return 0;
	f->series = series;
	series[f->nseries] = (struct figure_series){ .name = strdup(name) };
	f->failed = !series[f->nseries].name;
	return f->nseries++;
}

void figure_point(struct figure *f, size_t which, double x, double y)
{
	struct figure_series *s;

	if (f->failed)
		return;
	s = &f->series[which];
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;

		f->failed = array_resize(s->x, room) || array_resize(s->y, room);
		if (f->failed)
			return;
		s->room = room;
	}
	s->x[s->count] = x;
	s->y[s->count++] = y;
}

void figure_mark(struct figure *f, const char *name, double y)
{
	struct figure_mark *marks = grow(f, f->marks, f->nmarks, sizeof(*marks));

	if (!marks)
		return;
	f->marks = marks;
	marks[f->nmarks] = (struct figure_mark){ strdup(name), y };
	f->failed = !marks[f->nmarks++].name;
}

bool figure_has_data(const struct figure *f)
{
	for (size_t k = 0; k < f->nseries; k++)
		for (size_t i = 0; i < f->series[k].count; i++)
			if (isfinite(f->series[k].y[i]))
				return true;
	return false;
}

void figure_free(struct figure *f)
{
	for (size_t i = 0; i < f->nlabels; i++)
		free(f->labels[i]);
	for (size_t i = 0; i < f->nseries; i++) {
		free(f->series[i].name);
		free(f->series[i].x);
		free(f->series[i].y);
	}
	for (size_t i = 0; i < f->nmarks; i++)
		free(f->marks[i].name);
	free(f->labels);
	free(f->series);
	free(f->marks);
	*f = (struct figure){ 0 };
}

/* --- the script ------------------------------------------------------------------------ */

struct script {
	FILE *out;
	bool text;		/* for a terminal */
};

/* Puts the text in single quotes, where gnuplot has one escape: a doubled quote. */
static void quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
	fputc('\'', out);
}

static void number(FILE *out, double v)
{
	if (isnan(v))
		fputs("NaN", out);
	else
		fprintf(out, "%.6g", v);
}

static bool is_bars(const struct figure *f)
{
	return f->kind == FIGURE_BARS || f->kind == FIGURE_STACKED;
}

/* One block: a line for each label. */
static void bar_data(const struct figure *f, FILE *out)
{
	fputs("$data << EOD\n", out);
	for (size_t i = 0; i < f->nlabels; i++) {
		fputc('"', out);
		for (const char *c = f->labels[i]; *c; c++)
			fputc(*c == '"' ? '\'' : *c, out);
		fputc('"', out);
		for (size_t k = 0; k < f->nseries; k++) {
			fputc(' ', out);
			number(out, i < f->series[k].count ? f->series[k].y[i] : NAN);
		}
		fputc('\n', out);
	}
	fputs("EOD\n", out);
}

/* A box: its lower left corner, then its range in each direction. */
static void box(FILE *out, const double *x, const double *y)
{
	const double values[] = { x[0], y[0], x[0], x[1], y[0], y[1] };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (i)
			fputc(' ', out);
		number(out, values[i]);
	}
	fputc('\n', out);
}

/* A block for each series, of boxes. */
static void box_data(const struct figure *f, FILE *out)
{
	for (size_t k = 0; k < f->nseries; k++) {
		fprintf(out, "$data%zu << EOD\n", k);
		for (size_t i = 0; i + 1 < f->series[k].count; i += 2)
			box(out, &f->series[k].x[i], &f->series[k].y[i]);
		fputs("EOD\n", out);
	}
}

/* A block for each series. */
static void line_data(const struct figure *f, FILE *out)
{
	for (size_t k = 0; k < f->nseries; k++) {
		fprintf(out, "$data%zu << EOD\n", k);
		for (size_t i = 0; i < f->series[k].count; i++) {
			number(out, f->series[k].x[i]);
			fputc(' ', out);
			number(out, f->series[k].y[i]);
			fputc('\n', out);
		}
		fputs("EOD\n", out);
	}
}

static void axes(const struct figure *f, FILE *out, bool text)
{
	fputs("set title ", out);
	quoted(out, f->title);
	fputs("\nset xlabel ", out);
	quoted(out, f->xlabel);
	fputs("\nset ylabel ", out);
	quoted(out, f->ylabel);
	fputc('\n', out);
	if (f->logx)
		fputs("set logscale x\n", out);
	fputs(f->logy ? "set logscale y\n" : "set yrange [0:*]\n", out);
	fputs(text ? "set key below\n" : "set key outside right top\nset grid ytics lc rgb '#dddddd'\n",
	      out);
	if (f->kind == FIGURE_BOXES)
		fputs("set style fill solid 0.5 border\n", out);
	if (!is_bars(f))
		return;
	fprintf(out, "set style data histograms\nset style histogram %s\n"
		"set style fill solid 0.9 border -1\nset boxwidth 0.9\n",
		f->kind == FIGURE_STACKED ? "rowstacked" : "clustered gap 1");
	fprintf(out, "set xtics rotate by -35 scale 0\nset xrange [-0.7:%zu.7]\n",
		f->nlabels ? f->nlabels - 1 : 0);
}

static void plots(const struct figure *f, FILE *out)
{
	const char *separator = "plot ";

	for (size_t k = 0; k < f->nseries; k++) {
		const char *colour = colours[k % ARRAY_SIZE(colours)];

		fputs(separator, out);
		if (is_bars(f))
			fprintf(out, "$data using %zu:xtic(1) lc rgb '%s'", k + 2, colour);
		else if (f->kind == FIGURE_BOXES)
			fprintf(out, "$data%zu using 1:2:3:4:5:6 with boxxyerror lc rgb '%s'", k,
				colour);
		else
			fprintf(out, "$data%zu using 1:2 with %s lw 2 lc rgb '%s'%s", k,
				f->kind == FIGURE_STEPS ? "steps" : "lines", colour,
				k >= ARRAY_SIZE(colours) ? " dt 2" : "");
		fputs(" title ", out);
		quoted(out, f->series[k].name);
		separator = ", \\\n     ";
	}
	for (size_t k = 0; k < f->nmarks; k++) {
		fprintf(out, "%s%.6g with lines dt 3 lw 2 lc rgb '#555555' title ", separator,
			f->marks[k].y);
		quoted(out, f->marks[k].name);
		separator = ", \\\n     ";
	}
	fputc('\n', out);
}

static const char *terminal_of(const char *file)
{
	const char *dot = file ? strrchr(file, '.') : ".txt";

	for (size_t i = 0; dot && i < ARRAY_SIZE(terminals); i++)
		if (!strcmp(dot, terminals[i].ending))
			return terminals[i].terminal;
	return NULL;
}

char *figure_script(const struct figure *f, const char *file)
{
	const char *terminal = terminal_of(file);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	fputs("# Drawn by gnuplot.\nset encoding utf8\nset datafile missing 'NaN'\n", out);
	if (terminal) {
		fprintf(out, "set terminal %s\n", terminal);
		if (file) {
			fputs("set output ", out);
			quoted(out, file);
			fputc('\n', out);
		}
	}
	axes(f, out, terminal && !strncmp(terminal, "dumb", 4));
	if (is_bars(f))
		bar_data(f, out);
	else if (f->kind == FIGURE_BOXES)
		box_data(f, out);
	else
		line_data(f, out);
	plots(f, out);
	if (ferror(out) || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- drawing ----------------------------------------------------------------------------- */

int figure_check(const char *file, struct err *err)
{
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot && i < ARRAY_SIZE(terminals); i++)
		if (!strcmp(dot, terminals[i].ending))
			return 0;
	return err_set(err, -EINVAL, "%s: a figure ends in .svg, .png, .txt or .gp (the script)", file);
}

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* gnuplot with the script as its input. */
static int draw(const char *script, struct err *err)
{
	char *argv[] = { (char *)"gnuplot", NULL };
	posix_spawn_file_actions_t actions;
	FILE *input = tmpfile();
	int status, ret;
	pid_t pid;

	if (!input)
		return err_set(err, -errno, "no temporary file for gnuplot: %s", strerror(errno));
	ret = write_all(fileno(input), script, strlen(script));
	if (!ret && lseek(fileno(input), 0, SEEK_SET) < 0)
		ret = -errno;
	if (ret) {
		fclose(input);
		return err_set(err, ret, "no temporary file for gnuplot: %s", strerror(-ret));
	}
	fflush(stdout);
	/* The script is UTF-8; in the locale C gnuplot complains that it cannot convert it. */
	setenv("LC_ALL", "C.UTF-8", 1);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(input), 0);
	ret = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	fclose(input);
	if (ret == -ENOENT)
		return err_set(err, ret, "no gnuplot: install it (Debian: gnuplot-nox), or write the "
			       "script alone (--out FILE.gp)");
	if (ret)
		return err_set(err, ret, "gnuplot cannot be started: %s", strerror(-ret));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(err, -EIO, "gnuplot failed; what it said is above");
	return 0;
}

static int save(const char *script, const char *file, struct err *err)
{
	FILE *out;
	int ret = output_open(&out, file, err);

	if (ret)
		return ret;
	fputs(script, out);
	return output_close(out, file, err);
}

int figure_write(const struct figure *f, const char *file, struct err *err)
{
	struct stat st;
	char *script;
	int ret;

	if (file && figure_check(file, err))
		return -EINVAL;
	if (!f->failed && !figure_has_data(f))
		return err_set(err, -ENODATA, "%s: there is nothing to draw", f->title);
	script = f->failed ? NULL : figure_script(f, file);
	if (!script)
		return err_set(err, -ENOMEM, "no memory for the figure");
	if (file && !terminal_of(file)) {
		ret = save(script, file, err);
	} else {
		/* gnuplot that cannot open its file draws onto standard output. */
		ret = output_check(file, err);
		/* A file from an earlier run is not this run's result. */
		if (!ret && file && unlink(file) && errno != ENOENT)
			ret = output_cannot(file, errno, err);
		if (!ret)
			ret = draw(script, err);
		if (!ret && file && (stat(file, &st) || !st.st_size))
			ret = err_set(err, -EIO, "cannot write %s: gnuplot made nothing of it", file);
	}
	free(script);
	return ret;
}
