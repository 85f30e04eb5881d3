// SPDX-License-Identifier: GPL-2.0
/*
 * The runs that a study wants, as words of `gpuemu run`: its sizes, backend, configuration and
 * settings.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "memory.h"
#include "output.h"
#include "study.h"

static struct run *want(struct study_ctx *c, const struct study_workload *const *set, size_t n,
			const char *backend, const char *fmt, va_list ap)
{
	const struct study_options *o = &c->options;
	char *args, *name, *more;
	size_t args_bytes, name_bytes;
	FILE *words = must(open_memstream(&args, &args_bytes));
	FILE *names = must(open_memstream(&name, &name_bytes));
	struct run *run;

	must(vasprintf(&more, fmt, ap) < 0 ? NULL : more);
	fputs("run", words);
	for (size_t i = 0; i < n; i++) {
		const char *size = o->quick ? set[i]->quick : set[i]->full;

		fprintf(words, "%s %s%s%s", i ? " +" : "", set[i]->name, *size ? " " : "", size);
		fprintf(names, "%s%s", i ? "+" : "", set[i]->name);
	}
	if (!backend)
		backend = o->backend;
	fprintf(words, " --backend %s --config %s", backend, o->config);
	for (unsigned int i = 0; i < o->nsettings; i++)
		fprintf(words, " --set %s", o->settings[i]);
	fprintf(words, "%s%s", *more ? " " : "", more);
	fclose(words);
	fclose(names);
	/* There is one device, and what is measured is measured alone. */
	run = runner_want(&c->runner, must(name), must(args), strcmp(backend, "sim") ? RUN_ALONE : 0);
	free(args);
	free(name);
	free(more);
	return run;
}

struct run *study_want(struct study_ctx *c, const struct study_workload *w, const char *backend,
		       const char *fmt, ...)
{
	struct run *run;
	va_list ap;

	va_start(ap, fmt);
	run = want(c, &w, 1, backend, fmt, ap);
	va_end(ap);
	return run;
}

struct run *study_want_set(struct study_ctx *c, const struct study_workload *const *set, size_t n,
			   const char *backend, const char *fmt, ...)
{
	struct run *run;
	va_list ap;

	va_start(ap, fmt);
	run = want(c, set, n, backend, fmt, ap);
	va_end(ap);
	return run;
}

double study_scheduler_cycles(const struct run *run)
{
	struct json_object *stalls = run ? output_at(run->report, "stalls") : NULL;
	double sum = 0;

	if (!stalls)
		return NAN;
	json_object_object_foreach(stalls, cause, n) {
		(void)cause;
		sum += json_object_get_double(n);
	}
	return sum;
}

bool study_has_backend(const char *backend)
{
	const char *name, *help;

	if (!strcmp(backend, "kmod") && access("/dev/gpuemu", F_OK))
		return false;
	for (unsigned int n = 0; gpu_list_row("backends", n, &name, &help); n++)
		if (!strcmp(name, backend))
			return true;
	return false;
}
