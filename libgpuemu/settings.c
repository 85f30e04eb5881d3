// SPDX-License-Identifier: GPL-2.0
/*
 * Options of a context as text: where a configuration's name leads, and the
 * lines a context keeps so that an engine that attaches later hears them too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "internal.h"

/* Calls fn for each line, without its newline. */
#define for_each_line(line, len, text) \
	for (const char *line = (text); \
	     *line && ((len) = strcspn(line, "\n"), true); \
	     line += (len) + (line[len] == '\n'))

static size_t key_length(const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len);
	size_t n = equals ? (size_t)(equals - line) : len;

	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	return n;
}

static void skip_blanks(const char **line, size_t *len)
{
	while (*len && (**line == ' ' || **line == '\t')) {
		(*line)++;
		(*len)--;
	}
}

static bool sets_key(const char *text, const char *key, size_t key_len)
{
	size_t len;

	for_each_line(at, len, text) {
		const char *line = at;
		size_t n = len;

		skip_blanks(&line, &n);
		if (key_length(line, n) == key_len && memcmp(line, key, key_len) == 0)
			return true;
	}
	return false;
}

int settings_merge(char **settings, const char *more)
{
	const char *old = *settings ? *settings : "";
	char *text = malloc(strlen(old) + strlen(more) + 2);
	size_t len, used = 0;

	if (!text)
		return -ENOMEM;
	for_each_line(line, len, old) {
		if (sets_key(more, line, key_length(line, len)))
			continue;
		memcpy(text + used, line, len);
		used += len;
		text[used++] = '\n';
	}
	strcpy(text + used, more);
	used += strlen(more);
	if (used && text[used - 1] != '\n') {
		text[used++] = '\n';
		text[used] = '\0';
	}
	free(*settings);
	*settings = text;
	return 0;
}

static bool names_policy(const char *line, size_t len)
{
	size_t n = key_length(line, len);

	return (n == 15 && memcmp(line, "paging.prefetch", n) == 0) ||
	       (n == 12 && memcmp(line, "paging.evict", n) == 0);
}

/* The object of a line "paging.prefetch = DIR/FILE.so:OPTIONS" by its absolute path, or NULL. */
static char *absolute_object(const char *line, size_t len, size_t *value, size_t *end)
{
	const char *equals = memchr(line, '=', len);
	char *path, *absolute;

	if (!equals || !names_policy(line, len))
		return NULL;
	*value = (size_t)(equals + 1 - line);
	while (*value < len && (line[*value] == ' ' || line[*value] == '\t'))
		(*value)++;
	*end = *value;
	while (*end < len && !strchr(": \t#", line[*end]))
		(*end)++;
	if (!memchr(line + *value, '/', *end - *value))
		return NULL;
	path = strndup(line + *value, *end - *value);
	absolute = path ? realpath(path, NULL) : NULL;
	free(path);
	return absolute;
}

/*
 * A daemon has another working folder, and compares the path with those that its
 * administrator allows. One that leads nowhere stays: who loads it says so.
 */
char *settings_absolute(const char *settings)
{
	char *text = NULL;
	size_t room, len;
	FILE *out = open_memstream(&text, &room);

	if (!out)
		return NULL;
	for_each_line(at, len, settings) {
		const char *line = at;
		size_t n = len, value, end;
		char *absolute;

		skip_blanks(&line, &n);
		absolute = absolute_object(line, n, &value, &end);
		if (absolute)
			fprintf(out, "%.*s%s%.*s\n", (int)value, line, absolute,
				(int)(n - end), line + end);
		else
			fprintf(out, "%.*s\n", (int)n, line);
		free(absolute);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* A line for every key but device memory, which is the device's unless someone says. */
static char *to_text(const struct gpu_spec *spec)
{
	char *text = spec_to_text(spec);
	char *line = text;

	if (!text || spec->vram_bytes)
		return text;
	while (line && strncmp(line, "paging.vram=", 12) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (line) {
		char *next = line + strcspn(line, "\n");

		next += *next == '\n';
		memmove(line, next, strlen(next) + 1);
	}
	return text;
}

int settings_from_config(struct gpu_spec *spec, const char *config, char **settings,
			 struct err *err)
{
	const char *const dirs[] = { getenv("GPUEMU_DATADIR"), GPUEMU_DATADIR };
	char *path;
	int ret;

	ret = datadir_find_config(dirs, ARRAY_SIZE(dirs), config, &path, err);
	if (ret)
		return ret;
	ret = spec_load_file(spec, path, err);
	free(path);
	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	path = to_text(spec);
	*settings = path ? settings_absolute(path) : NULL;
	free(path);
	return *settings ? spec_from_text(spec, *settings, err) :
			   err_set(err, -ENOMEM, "no memory for the configuration");
}

int settings_check(const struct gpu_spec *spec, struct err *err)
{
	struct gpu_spec checked = *spec, defaults;

	spec_defaults(&defaults);
	if (!checked.vram_bytes)
		checked.vram_bytes = defaults.vram_bytes;
	return gpu_spec_check(&checked, err);
}

static int get_setting(struct gpuemu_ctx *ctx, const char *key, char *value, size_t bytes,
		       struct err *err)
{
	struct gpu_spec spec = ctx->spec, defaults;
	size_t len, n = strlen(key);
	int ret = -ENOENT;
	char *text;

	spec_defaults(&defaults);
	if (!spec.vram_bytes)
		spec.vram_bytes = defaults.vram_bytes;
	text = spec_to_text(&spec);
	if (!text)
		return -ENOMEM;
	for_each_line(line, len, text) {
		if (key_length(line, len) != n || memcmp(line, key, n))
			continue;
		line += n + 1;
		len -= n + 1;
		ret = len < bytes ? 0 : err_set(err, -ERANGE, "%s takes %zu bytes", key, len + 1);
		if (!ret) {
			memcpy(value, line, len);
			value[len] = '\0';
		}
		break;
	}
	free(text);
	return ret == -ENOENT ? err_set(err, ret, "unknown option '%s'", key) : ret;
}

PUBLIC int gpuemu_get_setting(struct gpuemu_ctx *ctx, const char *key, char *value, size_t bytes)
{
	struct err err = { "" };

	ctx_enter(ctx);
	return ctx_leave(ctx, get_setting(ctx, key, value, bytes, &err), &err);
}
