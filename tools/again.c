// SPDX-License-Identifier: GPL-2.0
/* gpuemu run --from REPORT.json: the command line of the run that made the report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "digest.h"
#include "memory.h"
#include "output.h"

/*
 * Options that name files which a run writes. The new run would overwrite the files of the
 * run before.
 */
static const char *const outputs[] = { "--json", "--trace", "--samples", "--record" };

/*
 * The number of words of the command line that the option takes; 0: it is not one of these
 * options.
 */
static int output_words(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++) {
		size_t n = strlen(outputs[i]);

		if (!strncmp(word, outputs[i], n) && (!word[n] || word[n] == '='))
			return word[n] ? 1 : 2;
	}
	return 0;
}

/*
 * The word that --from names; NULL: there is no --from. *words is the number of words that
 * it takes.
 */
static const char *from_of(char *const *argv, int i, int *words)
{
	*words = 1;
	if (!strncmp(argv[i], "--from=", 7))
		return argv[i] + 7;
	*words = 2;
	return !strcmp(argv[i], "--from") && argv[i + 1] ? argv[i + 1] : NULL;
}

static void tell_build(struct json_object *report)
{
	char digest[DIGEST_TEXT];

	if (!digest_file("/proc/self/exe", digest) &&
	    strcmp(digest, output_string(report, "run.program_sha256")))
		fprintf(stderr, "gpuemu run: warning: another build of gpuemu made the report\n");
}

/* The report of one run, or the first of several: each has the whole command line. */
static struct json_object *read_report(const char *file, struct err *err)
{
	struct err why;
	struct json_object *o = output_read(file, &why), *first;

	if (!o) {
		err_set(err, -EINVAL, "--from %s", why.text);
		return NULL;
	}
	first = json_object_is_type(o, json_type_array) ? json_object_array_get_idx(o, 0) : o;
	if (!json_object_is_type(output_at(first, "run.command"), json_type_array) ||
	    strcmp(output_string(first, "run.command.0"), "run")) {
		json_object_put(o);
		err_set(err, -EINVAL, "--from %s: not a report of gpuemu run", file);
		return NULL;
	}
	json_object_get(first);
	json_object_put(o);
	return first;
}

int again(int argc, char **argv, struct again *a, struct err *err)
{
	struct json_object *report = NULL, *words;
	const char *file = NULL;
	int at = 0, n = 0;

	*a = (struct again){ .argc = argc, .argv = argv };
	for (int i = 1; i < argc && !file; i++)
		file = from_of(argv, i, &n) ? from_of(argv, at = i, &n) : NULL;
	if (!file)
		return 0;
	report = read_report(file, err);
	if (!report)
		return -EINVAL;
	tell_build(report);
	words = output_at(report, "run.command");
	a->made = must(calloc(json_object_array_length(words) + (size_t)argc + 1, sizeof(char *)));
	a->argc = 0;
	for (size_t i = 0; i < json_object_array_length(words); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(words, i));
		int skip = i ? output_words(word) : 0;

		if (!skip)
			a->made[a->argc++] = must(strdup(word));
		i += skip == 2;
	}
	/* The user's other words come after the report's, so that they win. */
	for (int i = 1; i < argc; i++)
		if (i < at || i >= at + n)
			a->made[a->argc++] = must(strdup(argv[i]));
	a->argv = a->made;
	json_object_put(report);
	return 0;
}

void again_free(struct again *a)
{
	for (int i = 0; a->made && i < a->argc; i++)
		free(a->made[i]);
	free(a->made);
}
