/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A figure of a table that `gpuemu sweep` wrote, for plot. It draws one column over another in
 * numeric order, with a line or a group of bars for each value of a third column, and divides
 * by the value that counts as 1.
 */
#ifndef GPUEMU_TOOLS_PLOT_TABLE_H
#define GPUEMU_TOOLS_PLOT_TABLE_H

#include "figure.h"

struct plot_table {
	const char *x, *y;		/* columns' titles */
	const char *by;			/* NULL: one line */
	/* "COLUMN=VALUE", COLUMN being x or by: y is over its y there. NULL: y is y. */
	const char *normalize;
};

/* Rows with the same x and by are averaged. -errno with err; figure_free() it either way. */
int plot_table(struct figure *f, const char *file, const struct plot_table *t, struct err *err);

#endif
