// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the study zorua that runs every specification on the three GPUs of table 2:
 * what a program loses that was tuned for one of them and runs on another.
 */
#include <stdio.h>
#include <string.h>

#include "study_zorua.h"

/* A specification this near to the best one counts as tuned (section 6.3). */
#define TUNED	1.05

void zorua_want_gpus(struct study_ctx *c)
{
	FOR_WORKLOADS(c, w) {
		struct zorua_point points[ZORUA_POINTS];
		size_t n = zorua_points(c, w, points);

		for (int gpu = 0; gpu < ZORUA_GPUS; gpu++)
			for (size_t i = 0; i < n; i++)
				for (int m = 0; m < ZORUA_MECHANISMS; m++)
					zorua_run(c, w, &points[i], gpu, m);
	}
}

/* --- porting loss (figure 16) -------------------------------------------------------- */

struct loss {
	double most;
	enum zorua_gpu from, to;	/* of the most */
	struct zorua_point point;
};

/*
 * How much slower, at most, a point tuned for one GPU is on another GPU than the best point
 * there.
 */
static struct loss porting_loss(struct study_ctx *c, const struct study_workload *w,
				enum zorua_mechanism m)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t n = zorua_points(c, w, points);
	double best[ZORUA_GPUS];
	struct loss loss = { .most = NONE };

	for (int gpu = 0; gpu < ZORUA_GPUS; gpu++)
		best[gpu] = zorua_best(c, w, gpu, m);
	for (int from = 0; from < ZORUA_GPUS; from++)
		for (int to = 0; to < ZORUA_GPUS; to++)
			for (size_t i = 0; from != to && i < n; i++) {
				double there = zorua_time(c, w, &points[i], to, m) / best[to] - 1;

				double here = zorua_time(c, w, &points[i], from, m);

				if (isnan(here) || here > TUNED * best[from] || isnan(there) ||
				    there <= loss.most)
					continue;
				loss = (struct loss){ there, from, to, points[i] };
			}
	return loss;
}

static void show_loss(struct study_ctx *c)
{
	static const double paper[ZORUA_MECHANISMS] = { 52.7, 51.0, 23.9 };
	struct study_table *t = study_table(c, "porting",
		"per cent that a program tuned for one GPU loses on another, at most (figure 16)", 1,
		false);

	for (int m = 0; m < ZORUA_MECHANISMS; m++)
		study_column(t, zorua_mechanisms[m], paper[m]);
	for (int m = 0; m < ZORUA_MECHANISMS; m++) {
		char name[32];

		snprintf(name, sizeof(name), "%s's is", zorua_mechanisms[m]);
		study_column(t, name, NONE);
	}
	FOR_WORKLOADS(c, w) {
		size_t row;

		if (!zorua_program(w->name))
			continue;
		row = study_row_add(t, w->name);
		for (int m = 0; m < ZORUA_MECHANISMS; m++) {
			struct loss loss = porting_loss(c, w, m);
			char text[32];

			study_cell(t, row, (size_t)m, 100 * loss.most);
			if (isnan(loss.most) || loss.most <= 0)
				continue;
			study_text(t, row, ZORUA_MECHANISMS + (size_t)m, "%s, %s to %s",
				   zorua_point_name(text, &loss.point), zorua_gpus[loss.from],
				   zorua_gpus[loss.to]);
		}
	}
	zorua_mean_row(t);
	study_note(t, "tuned: within 5%% of the GPU's best specification");
}

/* --- curves (figures 5, 17, 18) ------------------------------------------------------ */

/* The paper draws the curves of some of these programs. */
static bool drawn(const char *name)
{
	return !strcmp(name, "bh") || !strcmp(name, "dct") || !strcmp(name, "mst") ||
	       !strcmp(name, "nqueens");
}

static void show_curves(struct study_ctx *c, const struct study_workload *w)
{
	struct zorua_point points[ZORUA_POINTS];
	size_t n = zorua_points(c, w, points);
	char name[64], title[128], text[32];
	struct study_table *t;

	snprintf(name, sizeof(name), "generations-%s", w->name);
	snprintf(title, sizeof(title),
		 "%s: time over the same GPU's best under the baseline (figures 5, 17, 18)", w->name);
	t = study_table(c, name, title, 3, false);
	for (int m = 0; m < ZORUA_MECHANISMS; m++)
		for (int gpu = 0; gpu < ZORUA_GPUS; gpu++) {
			snprintf(text, sizeof(text), "%s %s", zorua_mechanisms[m], zorua_gpus[gpu]);
			study_column(t, text, NONE);
		}
	for (size_t i = 0; i < n; i++) {
		size_t row = study_row_add(t, zorua_point_name(text, &points[i]));

		for (int m = 0; m < ZORUA_MECHANISMS; m++)
			for (int gpu = 0; gpu < ZORUA_GPUS; gpu++)
				study_cell(t, row, (size_t)(m * ZORUA_GPUS + gpu),
					   zorua_time(c, w, &points[i], gpu, m) /
					   zorua_best(c, w, gpu, CTA));
	}
}

void zorua_show_porting(struct study_ctx *c)
{
	show_loss(c);
	FOR_WORKLOADS(c, w)
		if (drawn(w->name) && zorua_program(w->name))
			show_curves(c, w);
}
