/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A picture of a few series. One gnuplot script holds the data and draws it; the same figure
 * gives the same bytes. For plot and study.
 */
#ifndef GPUEMU_TOOLS_FIGURE_H
#define GPUEMU_TOOLS_FIGURE_H

#include "base/base.h"

enum figure_kind {
	FIGURE_LINES,		/* y over x */
	FIGURE_STEPS,		/* the same, as steps: distributions */
	FIGURE_BARS,		/* a group of bars for each label, one a series */
	FIGURE_STACKED,		/* one bar for each label, its parts the series */
	FIGURE_BOXES,		/* boxes in a plane: two points each, opposite corners */
};

struct figure_series {
	char *name;
	double *x, *y;		/* of bars only y, one for each label; NAN: there is no bar */
	size_t count, room;
};

struct figure_mark {
	char *name;
	double y;
};

/* All zero but kind, title and axes is empty. Names are copied. */
struct figure {
	enum figure_kind kind;
	const char *title, *xlabel, *ylabel;
	bool logx, logy;
	char **labels;		/* of bars */
	size_t nlabels;
	struct figure_series *series;
	size_t nseries;
	struct figure_mark *marks;	/* horizontal lines: the numbers that others report */
	size_t nmarks;
	bool failed;		/* no memory: figure_write() returns the error */
};

/* Returns its index. */
size_t figure_label(struct figure *f, const char *name);
size_t figure_series(struct figure *f, const char *name);
void figure_point(struct figure *f, size_t series, double x, double y);
void figure_mark(struct figure *f, const char *name, double y);
/* The figure has a value. */
bool figure_has_data(const struct figure *f);
void figure_free(struct figure *f);

/*
 * The script that draws the figure into `file`; NULL: onto the terminal as text. The caller
 * frees it.
 */
char *figure_script(const struct figure *f, const char *file);
/*
 * Draws the figure. The end of the name chooses the format: .svg, .png, .txt, or .gp for the
 * script alone. NULL: as text on standard output. -errno with err: -ENOENT no gnuplot,
 * -EINVAL another ending, ...
 */
int figure_write(const struct figure *f, const char *file, struct err *err);
/* The error that figure_write() would return for the name, before anything is drawn. */
int figure_check(const char *file, struct err *err);

#endif
