// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates how much of the work is done and how long the rest takes, from the times of
 * earlier runs of the same name, and prints the line that says so.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "runner.h"

#define LINE_EVERY	60000000000ull	/* ns between two lines where there is no terminal */

void run_took(struct run *run, double seconds)
{
	run->group->seconds += seconds;
	run->group->known++;
}

/*
 * The expected time of a run that is not done: its group's mean, or the mean of all. NAN:
 * nothing is known yet.
 */
static double expected(const struct run *run, double mean)
{
	const struct run_group *g = run->group;

	return g->known ? g->seconds / g->known : mean;
}

static double mean_of_all(const struct runner *r)
{
	double seconds = 0;
	unsigned int known = 0;

	for (const struct run_group *g = r->groups; g; g = g->next) {
		seconds += g->seconds;
		known += g->known;
	}
	return known ? seconds / known : (double)NAN;
}

struct runner_estimate runner_estimate(const struct runner *r, size_t done, size_t all,
				       uint64_t now)
{
	struct runner_estimate e = { .done = done, .all = all };
	double mean = mean_of_all(r), worked = 0, together = 0, longest = 0, alone = 0;

	for (size_t i = 0; i < r->nruns; i++) {
		const struct run *run = r->runs[i];
		double left, ran;

		worked += run->seconds;
		if (run->report || run->failed || run->elsewhere)
			continue;
		left = expected(run, mean);
		ran = run->pid ? (double)(now - run->began) * 1e-9 : 0;
		/* A run that has taken longer than the others may end at any time. */
		ran = ran < left ? ran : left;
		worked += ran;
		left -= ran;
		if (run->alone)
			alone += left;
		else
			together += left;
		longest = !run->alone && left > longest ? left : longest;
	}
	together /= r->jobs;
	e.remaining = (together > longest ? together : longest) + alone;
	/* Counts work and not time: each of the runs that go side by side counts. */
	together = together * r->jobs + alone;
	e.share = worked + together > 0 ? worked / (worked + together) : (double)NAN;
	if (isnan(mean))
		e.share = e.remaining = (double)NAN;
	return e;
}

const char *runner_duration(char text[24], double seconds)
{
	unsigned long long s = (unsigned long long)(seconds + 0.5);

	if (s >= 3600)
		snprintf(text, 24, "%lluh%02llum", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(text, 24, "%llum%02llus", s / 60, s % 60);
	else
		snprintf(text, 24, "%llus", s);
	return text;
}

void runner_progress(struct runner *r, size_t done, size_t all, const struct run *latest,
		     uint64_t now)
{
	bool terminal = isatty(STDERR_FILENO);
	struct runner_estimate e;
	char left[24];

	if (!r->told)
		r->told = now;
	if (!terminal && now - r->told < LINE_EVERY)
		return;
	r->told = now;
	e = runner_estimate(r, done, all, now);
	fprintf(stderr, "%s%s: %zu of %zu runs", terminal ? "\r\033[K" : "", r->who, e.done, e.all);
	if (!isnan(e.remaining))
		fprintf(stderr, ", %.0f%%, %s left", floor(100 * e.share),
			runner_duration(left, e.remaining));
	if (r->failures)
		fprintf(stderr, ", %u failed", r->failures);
	if (terminal)
		fprintf(stderr, " (%.60s)", latest ? latest->group->name : "");
	else
		fputc('\n', stderr);
}

void runner_progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
