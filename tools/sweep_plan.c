// SPDX-License-Identifier: GPL-2.0
/*
 * A sweep's combinations as runs. Their words are checked before anything runs. Runs without
 * time give the footprints that "50%" of device memory refers to.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "run.h"
#include "sweep.h"
#include "target.h"
#include "workload.h"

/* --- what is of a kind ---------------------------------------------------------------------- */

static const char *value_of(const struct sweep *s, const struct sweep_run *run,
			    enum sweep_kind kind)
{
	const struct sweep_factor *f = sweep_factor(s, kind);

	return f ? run->values[f - s->factors] : NULL;
}

/* "50%": 0.5. NAN: it is no share. */
static double share_of(const char *vram)
{
	char *end;
	double percent = strtod(vram, &end);

	return end != vram && !strcmp(end, "%") && percent > 0 ? percent / 100 : (double)NAN;
}

/* --- workloads -------------------------------------------------------------------------------- */

/*
 * "@20000", "halt=2M": says when the workload comes and goes; it is no option of the
 * workload.
 */
static bool is_when(const char *word)
{
	static const char *const names[] = { "@", "halt=", "until=", "repeat=" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return true;
	return false;
}

/*
 * Takes one word of "sgemm m=256 + lbm steps=1 @20000"; *w is the workload that the word
 * belongs to.
 */
static int check_word(const char *word, struct workload *w, bool *wants_name, struct err *err)
{
	const struct workload_row *row;

	if (*wants_name) {
		row = workload_find(word);
		if (!row)
			return workload_unknown(word, err);
		workload_init(w, row->ops, 1);
		*wants_name = false;
		return 0;
	}
	if (!strcmp(word, "+")) {
		*wants_name = true;
		return 0;
	}
	if (is_when(word))
		return 0;
	if (strchr(word, '='))
		return workload_set(w, word, err) ? -EINVAL : 0;
	return err_set(err, -EINVAL, "'%s': + stands between workloads side by side", word);
}

static int check_workloads(const char *text, struct err *err)
{
	char *words = text_of("%.*s", (int)sweep_named(text), text), *save;
	struct workload w = { 0 };
	bool wants_name = true;
	struct err why = { "" };
	int ret = 0;

	for (char *word = strtok_r(words, " ", &save); !ret && word;
	     word = strtok_r(NULL, " ", &save))
		ret = check_word(word, &w, &wants_name, &why);
	free(words);
	if (!ret && wants_name)
		ret = err_set(&why, -EINVAL, "a workload is missing");
	return ret ? err_set(err, ret, "workloads \"%s\": %s", text, why.text) : 0;
}

/* "sgemm+lbm": the name of the runs of these workloads. */
static char *name_of(const char *text)
{
	char *words = text_of("%.*s", (int)sweep_named(text), text), *name = text_of("%s", ""), *save;

	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *more;

		if (strchr(word, '=') || *word == '@')
			continue;
		more = text_of("%s%s", name, word);
		free(name);
		name = more;
	}
	free(words);
	return name;
}

/*
 * The workloads' footprint: the sum over them, each from the report of a run without time.
 * NAN: a run failed or has not been done.
 */
static double footprint(struct runner *r, const char *text)
{
	char *words = text_of("%.*s", (int)sweep_named(text), text), *args = text_of("run");
	char *save, *name = NULL;
	double bytes = 0;

	for (char *word = strtok_r(words, " ", &save); word || name;
	     word = strtok_r(NULL, " ", &save)) {
		char *more;

		if (word && is_when(word))
			continue;
		if (word && strcmp(word, "+")) {
			more = text_of("%s %s", args, word);
			free(args);
			args = more;
			name = name ? name : word;
			continue;
		}
		more = text_of("%s --backend sim --functional", args);
		bytes += run_number(runner_want(r, name, more, RUN_EVERYWHERE),
				    "workload.footprint_bytes");
		free(more);
		free(args);
		args = text_of("run");
		name = NULL;
		if (!word)
			break;
	}
	free(args);
	free(words);
	return bytes;
}

/* --- one run -------------------------------------------------------------------------------------- */

char *sweep_words(const struct sweep *s, const struct sweep_run *run)
{
	const char *vram = value_of(s, run, SWEEP_VRAM), *more = value_of(s, run, SWEEP_OPTIONS);
	const char *config = value_of(s, run, SWEEP_CONFIG);
	char *words;
	size_t bytes;
	FILE *out = must(open_memstream(&words, &bytes));

	fprintf(out, "run %s --backend %s", value_of(s, run, SWEEP_WORKLOADS),
		value_of(s, run, SWEEP_BACKEND));
	if (*config)
		fprintf(out, " --config %s", config);
	for (size_t i = 0; i < s->nfactors; i++)
		if (s->factors[i].kind == SWEEP_KEY)
			fprintf(out, " --set %s=%s", s->factors[i].name, run->values[i]);
	if (run->vram)
		fprintf(out, " --vram %llu", (unsigned long long)run->vram);
	else if (vram)
		fprintf(out, " --vram %s", vram);
	if (more && *more)
		fprintf(out, " %s", more);
	fclose(out);
	return must(words);
}

/* Reports everything that `gpuemu run` would refuse, before the first run begins. */
static int check_run(const struct sweep *s, const struct sweep_run *run, struct err *err)
{
	const char *vram = value_of(s, run, SWEEP_VRAM);
	struct sweep_run whole = *run;
	struct err why = { "" };
	struct target t;
	char *words;
	int ret;

	target_init(&t);
	t.config = *value_of(s, run, SWEEP_CONFIG) ? value_of(s, run, SWEEP_CONFIG) : NULL;
	ret = target_option(&t, TARGET_BACKEND, value_of(s, run, SWEEP_BACKEND), &why);
	for (size_t i = 0; !ret && i < s->nfactors; i++) {
		/* Words are separated by blanks. */
		if (s->factors[i].kind != SWEEP_WORKLOADS && s->factors[i].kind != SWEEP_OPTIONS &&
		    strpbrk(run->values[i], " \t"))
			ret = err_set(&why, -EINVAL, "%s: a blank in '%s'", s->factors[i].name,
				      run->values[i]);
		else if (s->factors[i].kind == SWEEP_KEY)
			ret = target_set(&t, s->factors[i].name, run->values[i], &why);
	}
	if (!ret && vram && isnan(share_of(vram)))
		ret = target_option(&t, TARGET_VRAM, vram, &why);
	if (!ret)
		ret = target_check(&t, &why);
	/* A share is bytes when the run starts. */
	if (vram && !isnan(share_of(vram)))
		whole.vram = 1u << 30;
	words = sweep_words(s, &whole);
	if (!ret)
		ret = run_check(words, &why);
	free(words);
	if (!ret)
		return 0;
	words = sweep_words(s, run);
	err_set(err, -EINVAL, "%s (gpuemu %s)", why.text, words);
	free(words);
	return -EINVAL;
}

/* --- all of them ----------------------------------------------------------------------------------- */

int sweep_plan(struct sweep_plan *p, const struct sweep *s, struct err *err)
{
	const struct sweep_factor *workloads = sweep_factor(s, SWEEP_WORKLOADS);
	size_t *at = must(calloc(s->nfactors, sizeof(*at)));
	size_t *sizes = must(calloc(s->nfactors, sizeof(*sizes)));
	int ret = 0;

	*p = (struct sweep_plan){ 0 };
	for (size_t i = 0; !ret && i < workloads->count; i++)
		ret = check_workloads(workloads->values[i], err);
	for (size_t i = 0; i < s->nfactors; i++)
		sizes[i] = s->factors[i].count;
	do {
		struct sweep_run *run;

		if (ret)
			break;
		p->runs = must(realloc(p->runs, (p->count + 1) * sizeof(*p->runs)));
		run = &p->runs[p->count++];
		*run = (struct sweep_run){ .values = must(calloc(s->nfactors, sizeof(char *))) };
		for (size_t i = 0; i < s->nfactors; i++)
			run->values[i] = s->factors[i].values[at[i]];
		ret = check_run(s, run, err);
	} while (runner_next(at, sizes, s->nfactors));
	free(at);
	free(sizes);
	if (ret)
		sweep_plan_free(p);
	return ret;
}

void sweep_plan_free(struct sweep_plan *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->runs[i].values);
	free(p->runs);
	*p = (struct sweep_plan){ 0 };
}

static bool takes_share(const struct sweep *s, const struct sweep_run *run)
{
	const char *vram = value_of(s, run, SWEEP_VRAM);

	return vram && !isnan(share_of(vram));
}

bool sweep_shares(const struct sweep *s, const struct sweep_plan *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (takes_share(s, &p->runs[i]))
			return true;
	return false;
}

void sweep_want_footprints(const struct sweep_plan *p, const struct sweep *s, struct runner *r)
{
	for (size_t i = 0; i < p->count; i++)
		if (takes_share(s, &p->runs[i]))
			footprint(r, value_of(s, &p->runs[i], SWEEP_WORKLOADS));
}

void sweep_want(struct sweep_plan *p, const struct sweep *s, struct runner *r)
{
	for (size_t i = 0; i < p->count; i++) {
		struct sweep_run *run = &p->runs[i];
		const char *workloads = value_of(s, run, SWEEP_WORKLOADS);
		const char *repeat = value_of(s, run, SWEEP_REPEAT);
		unsigned int flags = RUN_REPEAT(repeat ? atoi(repeat) - 1 : 0);
		char *name, *words;

		if (takes_share(s, run)) {
			double share = share_of(value_of(s, run, SWEEP_VRAM));
			double bytes = share * footprint(r, workloads);

			if (isnan(bytes))
				continue;
			/* Whole frames, and never less than a batch needs. */
			run->vram = MAX((uint64_t)bytes / PAGE_BYTES * PAGE_BYTES, 1ull << 16);
		}
		name = name_of(workloads);
		words = sweep_words(s, run);
		/* There is one device, and what is measured is measured alone. */
		if (strcmp(value_of(s, run, SWEEP_BACKEND), "sim"))
			flags |= RUN_ALONE;
		run->run = runner_want(r, name, words, flags);
		free(name);
		free(words);
	}
}
