// SPDX-License-Identifier: GPL-2.0
/*
 * How reports are kept. A report's name is a digest of everything that can change the run. A
 * run writes under a name of this process first; its report gets its own name when the run
 * has ended well.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "output.h"
#include "runner.h"
#include "target.h"
#include "workload.h"

/* --- the digest ------------------------------------------------------------------------ */

/* A digest that was made once, of a file or a configuration. */
struct known {
	char *key;
	char digest[DIGEST_TEXT];
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->key, ((const struct known *)b)->key);
}

/* The row of that key; its digest is "" when it is new. Takes the key. */
static struct known *known_row(struct runner *r, char *key)
{
	struct known wanted = { .key = key }, **found = tsearch(&wanted, &r->known, by_key);

	must(found);
	if (*found == &wanted) {
		*found = must(calloc(1, sizeof(**found)));
		(*found)->key = key;
	} else {
		free(key);
	}
	return *found;
}

static void free_known(void *row)
{
	free(((struct known *)row)->key);
	free(row);
}

void runner_forget(struct runner *r)
{
	tdestroy(r->known, free_known);
	r->known = NULL;
}

/* A file is read again if it has changed since. */
static void add_file(struct runner *r, struct digest *d, const char *file)
{
	struct known *row;
	struct stat st;

	if (stat(file, &st) || !S_ISREG(st.st_mode))
		return;
	row = known_row(r, text_of("file %llu %llu %llu %lld.%09ld", (unsigned long long)st.st_dev,
				   (unsigned long long)st.st_ino, (unsigned long long)st.st_size,
				   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec));
	if (!row->digest[0])
		digest_file(file, row->digest);
	digest_add_text(d, "file", row->digest);
}

/* A configuration that cannot be read has no digest; its run reports the error. */
static void add_config(struct runner *r, struct digest *d, const char *name)
{
	struct known *row = known_row(r, text_of("config %s", name));
	struct gpu_spec spec;
	struct target t;
	struct err err;
	char *text;

	target_init(&t);
	t.config = name;
	if (!row->digest[0] && !target_spec(&t, &spec, &err)) {
		struct digest *of = digest_begin();

		text = must(spec_to_text(&spec));
		digest_add_text(of, "spec", text);
		digest_end(of, row->digest);
		free(text);
	}
	digest_add_text(d, "config", row->digest);
}

static bool workload_ptx(const char *word, const char **begin, const char **end)
{
	const struct workload_row *row = workload_find(word);

	if (row) {
		*begin = row->ptx;
		*end = row->ptx_end;
	}
	return row;
}

/* The options whose values are files that a run writes. */
static bool writes(const char *option)
{
	static const char *const options[] = { "--record", "--trace", "--samples", "--json", "--faults" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(option, options[i]))
			return true;
	return false;
}

/* A word may name a workload or a file; so may "--set paging.prefetch=FILE.so:option=3". */
static void add_word(struct runner *r, struct digest *d, const char *word)
{
	const char *begin, *end, *part = word;

	if ((r->ptx ? r->ptx : workload_ptx)(word, &begin, &end))
		digest_add(d, "ptx", begin, (size_t)(end - begin));
	add_file(r, d, word);
	for (; part; part = strchr(part, '=') ? strchr(part, '=') + 1 : NULL) {
		char *file = text_of("%.*s", (int)strcspn(part, ":"), part);

		if (strcmp(file, word))
			add_file(r, d, file);
		free(file);
	}
}

char *run_digest(struct runner *r, const char *name, const char *args, unsigned int repeat)
{
	char *words = runner_expand(r, args), *save, *id, text[DIGEST_TEXT];
	struct digest *d = digest_begin();
	const char *before = "";

	digest_add_text(d, "program", r->program_digest);
	digest_add_text(d, "args", args);
	if (repeat)
		digest_add(d, "repeat", &repeat, sizeof(repeat));
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!strcmp(before, "--config"))
			add_config(r, d, w);
		else if (!strncmp(w, "--config=", 9))
			add_config(r, d, w + 9);
		else if (!writes(before))
			add_word(r, d, w);
		before = w;
	}
	digest_end(d, text);
	free(words);
	/* 128 bits: enough, and short enough for every file system's names. */
	id = text_of("%.80s-%.32s", name, text);
	for (char *c = id; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-", *c))
			*c = '_';
	return id;
}

/* --- what is kept ------------------------------------------------------------------------- */

char *runner_expand(const struct runner *r, const char *text)
{
	char *s;
	size_t bytes;
	FILE *out = must(open_memstream(&s, &bytes));

	for (; *text; text++) {
		if (!strncmp(text, "{dir}", 5)) {
			fputs(r->dir, out);
			text += 4;
		} else {
			fputc(*text, out);
		}
	}
	fclose(out);
	return must(s);
}

static char *kept(const struct runner *r, const struct run *run, const char *ending)
{
	return text_of("%s/runs/%s%s", r->dir, run->id, ending);
}

char *run_scratch(const struct runner *r, const struct run *run, const char *ending)
{
	return text_of("%s/%s%s", r->scratch, run->id, ending);
}

static bool has_product(const struct runner *r, const struct run *run)
{
	char *file;
	bool there;

	if (!run->product)
		return true;
	file = runner_expand(r, run->product);
	there = !access(file, R_OK);
	free(file);
	return there;
}

/*
 * The cycles of all SMs' schedulers by cause, as `stalls` of the report, because
 * drop_details() drops the SMs.
 */
static void add_stalls(struct json_object *o)
{
	struct json_object *sms = output_at(o, "sms"), *sum;

	if (!json_object_is_type(sms, json_type_array) || output_has(o, "stalls"))
		return;
	sum = must(json_object_new_object());
	for (size_t i = 0; i < json_object_array_length(sms); i++) {
		struct json_object *stalls = output_at(json_object_array_get_idx(sms, i), "stalls");

		if (!stalls)
			continue;
		json_object_object_foreach(stalls, cause, cycles) {
			int64_t n = json_object_get_int64(output_at(sum, cause));

			n += json_object_get_int64(cycles);
			json_object_object_add(sum, cause, json_object_new_int64(n));
		}
	}
	json_object_object_add(o, "stalls", sum);
}

/* Means over all SMs, as `warps` of an SM, weighted by the cycles in which each had a CTA. */
static void add_warps(struct json_object *o)
{
	static const char *const means[] = { "resident", "schedulable", "ctas" };
	struct json_object *sms = output_at(o, "sms"), *all;
	double cycles = 0, sums[ARRAY_SIZE(means)] = { 0 };

	if (!json_object_is_type(sms, json_type_array) || output_has(o, "warps"))
		return;
	for (size_t i = 0; i < json_object_array_length(sms); i++) {
		struct json_object *sm = json_object_array_get_idx(sms, i);
		double busy = output_number(sm, "busy_cycles");

		for (size_t k = 0; busy && k < ARRAY_SIZE(means); k++)
			sums[k] += busy * output_number(output_at(sm, "warps"), means[k]);
		cycles += busy;
	}
	all = must(json_object_new_object());
	for (size_t k = 0; cycles && k < ARRAY_SIZE(means); k++)
		json_object_object_add(all, means[k], json_object_new_double(sums[k] / cycles));
	json_object_object_add(o, "warps", all);
}

/* Drops the numbers of each kernel and each SM, which would take most of the memory. */
static void drop_details(struct json_object *o)
{
	struct json_object *entries = output_at(o, "workloads");

	add_stalls(o);
	add_warps(o);
	json_object_object_del(o, "kernels");
	json_object_object_del(o, "sms");
	for (size_t i = 0; entries && i < json_object_array_length(entries); i++)
		json_object_object_del(json_object_array_get_idx(entries, i), "kernels");
}

/* A workload that was halted at its target has no result, but its run ended well. */
static bool verified(struct json_object *workload)
{
	struct json_object *v = output_at(workload, "verified");
	struct json_object *halted = output_at(workload, "halted");

	return (v && json_object_get_boolean(v)) || (halted && json_object_get_boolean(halted));
}

/* The report of one workload, of several side by side, or of several one after the other. */
static bool went_well(struct json_object *o)
{
	struct json_object *entries = json_object_is_type(o, json_type_array) ? o :
				      output_at(o, "workloads");

	if (!json_object_is_type(entries, json_type_array))
		return verified(output_at(o, "workload")) && output_has(o, "totals");
	for (size_t i = 0; i < json_object_array_length(entries); i++) {
		struct json_object *e = json_object_array_get_idx(entries, i);

		if (!verified(output_has(e, "workload") ? output_at(e, "workload") : e))
			return false;
	}
	return json_object_array_length(entries);
}

bool run_take(const struct runner *r, struct run *run)
{
	char *file = kept(r, run, ".json");
	struct json_object *o = access(file, R_OK) ? NULL : json_object_from_file(file);

	free(file);
	if (o && (!went_well(o) || !has_product(r, run))) {
		json_object_put(o);
		o = NULL;
	}
	if (json_object_is_type(o, json_type_object))
		drop_details(o);
	run->report = o;
	return o;
}

int run_keep(const struct runner *r, struct run *run)
{
	char *part = run_scratch(r, run, ".json"), *file = kept(r, run, ".json");
	char *said = run_scratch(r, run, ".err"), *complaint = kept(r, run, ".err");
	int ret = rename(part, file) ? -errno : 0;

	if (ret) {
		snprintf(run->why, sizeof(run->why), "cannot write %s: %s", file, strerror(-ret));
	} else if (!run_take(r, run)) {
		ret = -EPROTO;
		snprintf(run->why, sizeof(run->why), "%s is no report of a run that verified", file);
	} else {
		unlink(complaint);
	}
	unlink(said);
	free(part);
	free(file);
	free(said);
	free(complaint);
	return ret;
}

/* What it had to say may have been lost with its report: asks the folder. */
static void ask_folder(const struct runner *r, struct run *run)
{
	char *file = run_scratch(r, run, ".full"), page[PAGE_BYTES] = { 0 };
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	errno = fd < 0 ? errno : 0;
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		snprintf(run->why, sizeof(run->why), "cannot write to %s: %s", r->dir,
			 strerror(errno ? errno : ENOSPC));
	if (fd >= 0)
		close(fd);
	unlink(file);
	free(file);
}

void run_complain(const struct runner *r, struct run *run)
{
	char *said = run_scratch(r, run, ".err"), *complaint = kept(r, run, ".err");
	char *part = run_scratch(r, run, ".json"), line[256];
	/* The function that ended the run has said why. */
	FILE *in = *run->why ? NULL : fopen(said, "re");

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			snprintf(run->why, sizeof(run->why), "%s", line);
	}
	if (in)
		fclose(in);
	if (rename(said, complaint))
		unlink(said);
	if (!*run->why)
		ask_folder(r, run);
	unlink(part);
	free(said);
	free(complaint);
	free(part);
}
