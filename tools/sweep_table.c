// SPDX-License-Identifier: GPL-2.0
/*
 * A sweep's table. Each run is a row: first its factors, then numbers of its report under their
 * paths (gpuemu-json(7)). A number that the report does not have is an empty field.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "sweep.h"

struct columns {
	char **paths;
	size_t count;
	void *known;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void keep(void *node)
{
	(void)node;
}

static void add_column(struct columns *c, const char *path)
{
	char *text;

	if (tfind(path, &c->known, by_text))
		return;
	text = text_of("%s", path);
	must(tsearch(text, &c->known, by_text));
	c->paths = must(realloc(c->paths, (c->count + 1) * sizeof(char *)));
	c->paths[c->count++] = text;
}

/* A run's inputs are factors, and the program that ran it is the same for all rows. */
static bool left_out(const char *path, const char *key)
{
	return (!*path && (!strcmp(key, "version") || !strcmp(key, "host"))) ||
	       !strcmp(key, "options") || !strcmp(key, "seed");
}

/* Takes every number and switch; of arrays only the workloads that ran side by side. */
static void add_numbers(struct columns *c, struct json_object *o, const char *path)
{
	json_object_object_foreach(o, key, value) {
		enum json_type type = json_object_get_type(value);
		char *at;

		if (left_out(path, key))
			continue;
		at = text_of("%s%s%s", path, *path ? "." : "", key);
		if (type == json_type_int || type == json_type_double || type == json_type_boolean)
			add_column(c, at);
		else if (type == json_type_object)
			add_numbers(c, value, at);
		for (size_t i = 0; type == json_type_array && !strcmp(at, "workloads") &&
		     i < json_object_array_length(value); i++) {
			char *entry = text_of("%s.%zu", at, i);

			add_numbers(c, json_object_array_get_idx(value, i), entry);
			free(entry);
		}
		free(at);
	}
}

static struct columns columns_of(const struct sweep *s, const struct sweep_plan *p)
{
	struct columns c = { 0 };

	for (size_t i = 0; i < s->ncolumns; i++)
		add_column(&c, s->columns[i]);
	for (size_t i = 0; !s->ncolumns && i < p->count; i++)
		if (p->runs[i].run && p->runs[i].run->report)
			add_numbers(&c, p->runs[i].run->report, "");
	return c;
}

static void put_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static void put_row(const struct sweep *s, const struct sweep_run *run, const struct columns *c,
		    FILE *out)
{
	for (size_t i = 0; i < s->nfactors; i++) {
		const char *value = run->values[i];

		if (i)
			fputc(',', out);
		put_field(out, s->factors[i].kind == SWEEP_CONFIG && !*value ? "default" : value);
		if (s->factors[i].kind == SWEEP_VRAM && run->vram)
			fprintf(out, ",%llu", (unsigned long long)run->vram);
		else if (s->factors[i].kind == SWEEP_VRAM)
			fputc(',', out);
	}
	for (size_t i = 0; i < c->count; i++) {
		struct json_object *o = output_at(run->run->report, c->paths[i]);

		fputc(',', out);
		if (o)
			put_field(out, json_object_get_string(o));
	}
	fputc('\n', out);
}

static bool in_a_report(const struct sweep_plan *p, const char *path, bool *any)
{
	for (size_t i = 0; i < p->count; i++) {
		struct json_object *report = p->runs[i].run ? p->runs[i].run->report : NULL;

		*any |= report != NULL;
		if (report && output_at(report, path))
			return true;
	}
	return false;
}

const char *sweep_column_missing(const struct sweep *s, const struct sweep_plan *p)
{
	bool any = false;

	for (size_t i = 0; i < s->ncolumns; i++)
		if (!in_a_report(p, s->columns[i], &any) && any)
			return s->columns[i];
	return NULL;
}

void sweep_table(const struct sweep *s, const struct sweep_plan *p, FILE *out)
{
	struct columns c = columns_of(s, p);

	for (size_t i = 0; i < s->nfactors; i++) {
		fprintf(out, "%s%s", i ? "," : "", s->factors[i].name);
		if (s->factors[i].kind == SWEEP_VRAM)
			fputs(",vram_bytes", out);
	}
	for (size_t i = 0; i < c.count; i++) {
		fputc(',', out);
		put_field(out, c.paths[i]);
	}
	fputc('\n', out);
	for (size_t i = 0; i < p->count; i++)
		if (p->runs[i].run && p->runs[i].run->report)
			put_row(s, &p->runs[i], &c, out);
	tdestroy(c.known, keep);
	for (size_t i = 0; i < c.count; i++)
		free(c.paths[i]);
	free(c.paths);
}
