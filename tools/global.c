// SPDX-License-Identifier: GPL-2.0
/* --global: files into module variables before the launch, and out of them after it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "global.h"
#include "output.h"

static void free_row(struct global *g)
{
	free(g->name);
	free(g->in);
	free(g->out);
}

/* "in:FILE" and the like, behind the name's equals sign. */
static bool split(struct global *g, const char *what)
{
	const char *file = strchr(what, ':'), *second;

	if (!file || !*++file)
		return false;
	if (!strncmp(what, "in:", 3)) {
		g->in = strdup(file);
		return g->in;
	}
	if (!strncmp(what, "out:", 4)) {
		g->out = strdup(file);
		return g->out;
	}
	second = strchr(file, ':');
	if (strncmp(what, "inout:", 6) || !second || second == file || !second[1])
		return false;
	g->in = strndup(file, (size_t)(second - file));
	g->out = strdup(second + 1);
	return g->in && g->out;
}

int global_parse(struct global_list *list, const char *spec, struct err *err)
{
	const char *equals = strchr(spec, '=');
	struct global g = { 0 }, *rows;

	if (!equals || equals == spec || !split(&g, equals + 1)) {
		free_row(&g);
		return err_set(err, -EINVAL, "--global %s: expected is NAME=in:FILE, NAME=out:FILE or NAME=inout:FILE:FILE",
			       spec);
	}
	g.name = strndup(spec, (size_t)(equals - spec));
	rows = g.name ? realloc(list->rows, (list->count + 1) * sizeof(*rows)) : NULL;
	if (!rows) {
		free_row(&g);
		return err_set(err, -ENOMEM, "no memory");
	}
	rows[list->count++] = g;
	list->rows = rows;
	return 0;
}

static int fill(struct global *g, struct err *err)
{
	size_t bytes;
	char *data;
	int ret = file_read(g->in, &data, &bytes, err);

	if (ret)
		return ret;
	if (bytes > g->bytes)
		ret = err_set(err, -E2BIG, "--global %s: %s has %zu bytes, the variable %zu", g->name,
			      g->in, bytes, g->bytes);
	else
		memcpy(g->memory, data, bytes);
	free(data);
	return ret;
}

int global_fill(struct global_list *list, struct gpuemu_ctx *ctx,
		struct gpuemu_module *module, struct err *err)
{
	for (unsigned int i = 0; i < list->count; i++) {
		struct global *g = &list->rows[i];
		int ret = gpuemu_module_get_global(module, &g->memory, &g->bytes, g->name);

		if (ret)
			return err_set(err, ret, "--global: %s", gpuemu_last_error(ctx));
		ret = g->in ? fill(g, err) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

int global_check_files(const struct global_list *list, struct err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < list->count && !ret; i++)
		ret = output_check(list->rows[i].out, err);
	return ret;
}

int global_write(const struct global_list *list, struct err *err)
{
	for (unsigned int i = 0; i < list->count; i++) {
		const struct global *g = &list->rows[i];
		int ret = g->out ? file_write(g->out, g->memory, g->bytes, err) : 0;

		if (ret)
			return ret;
	}
	return 0;
}

void global_free(struct global_list *list)
{
	for (unsigned int i = 0; i < list->count; i++)
		free_row(&list->rows[i]);
	free(list->rows);
	*list = (struct global_list){ 0 };
}
