// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration files: libconfig syntax, one group for each part of a key
 * before the dot. Called by main.c, the tools and libgpuemu's entry, nobody
 * below them.
 *
 * @include lines are resolved here and not by libconfig: there a setting may
 * stand only once, so that a file could not override what it includes, and
 * paths would be relative to the working directory. Here each file is parsed
 * by itself, what it includes first, so that a later setting wins.
 */
#include "base/spec.h"

#include <errno.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH	8u
#define FILE_MAX_BYTES	(1u << 20)

static int load(struct gpu_spec *spec, const char *path, unsigned int depth,
		struct err *err);

/* The whole file, NUL terminated; the caller frees. */
static int read_text(const char *path, char **text, struct err *err)
{
	FILE *file = fopen(path, "re");
	size_t n;
	int rc = 0;

	if (!file) {
		rc = -errno;
		return err_set(err, rc, "%s: %s", path, strerror(-rc));
	}
	*text = malloc(FILE_MAX_BYTES + 1);
	if (!*text) {
		fclose(file);
		return err_set(err, -ENOMEM, "%s: no memory", path);
	}
	errno = 0;
	n = fread(*text, 1, FILE_MAX_BYTES + 1, file);
	if (ferror(file)) {
		rc = errno ? -errno : -EIO;
		err_set(err, rc, "%s: %s", path, strerror(-rc));
	} else if (n > FILE_MAX_BYTES) {
		rc = err_set(err, -EFBIG, "%s: longer than %u bytes, not a configuration",
			     path, FILE_MAX_BYTES);
	} else if (memchr(*text, '\0', n)) {
		rc = err_set(err, -EINVAL, "%s: has a NUL byte, not a text file", path);
	}
	fclose(file);
	if (rc) {
		free(*text);
		*text = NULL;
		return rc;
	}
	(*text)[n] = '\0';
	return 0;
}

/* Past a comment that starts at s (s itself if none does), lines counted. */
static char *skip_comment(char *s, unsigned int *line)
{
	if (s[0] == '#' || (s[0] == '/' && s[1] == '/'))
		return s + strcspn(s, "\n");
	if (s[0] != '/' || s[1] != '*')
		return s;
	for (s += 2; *s && !(s[0] == '*' && s[1] == '/'); s++)
		*line += *s == '\n';
	return *s ? s + 2 : s;
}

/* Past a string that starts at s. */
static char *skip_string(char *s, unsigned int *line)
{
	for (s++; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1])
			s++;
		*line += *s == '\n';
	}
	return *s ? s + 1 : s;
}

/* Loads what `@include "NAME"` at s names, and blanks it out for libconfig. */
static int include(struct gpu_spec *spec, const char *path, unsigned int line,
		   unsigned int depth, char *s, struct err *err)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path + 1) : 0;
	char *name = s + strlen("@include"), *end;
	char full[4096];
	size_t n;

	name += strspn(name, " \t");
	end = *name == '"' ? name + 1 + strcspn(name + 1, "\"\n") : NULL;
	if (!end || *end != '"' || end == name + 1)
		return err_set(err, -EINVAL, "%s:%u: @include wants a file name in quotes",
			       path, line);
	if (depth == INCLUDE_DEPTH)
		return err_set(err, -ELOOP, "%s:%u: includes nest deeper than %u; a circle?",
			       path, line, INCLUDE_DEPTH);
	name++;
	n = (size_t)snprintf(full, sizeof(full), "%.*s%.*s", name[0] == '/' ? 0 : folder,
			     path, (int)(end - name), name);
	if (n >= sizeof(full))
		return err_set(err, -ENAMETOOLONG, "%s:%u: the name of the included file is "
			       "too long", path, line);
	memset(s, ' ', (size_t)(end + 1 - s));
	return load(spec, full, depth + 1, err);
}

/* Every @include of the text, which must stand before the first setting. */
static int includes(struct gpu_spec *spec, const char *path, unsigned int depth,
		    char *text, struct err *err)
{
	unsigned int line = 1;
	bool settings = false;
	char *s = text;
	int rc;

	while (*s) {
		char *past = skip_comment(s, &line);

		if (past != s) {
			s = past;
		} else if (*s == '"') {
			settings = true;
			s = skip_string(s, &line);
		} else if (strncmp(s, "@include", 8) == 0) {
			if (settings)
				return err_set(err, -EINVAL, "%s:%u: @include must stand "
					       "before the first setting", path, line);
			rc = include(spec, path, line, depth, s, err);
			if (rc)
				return rc;
		} else {
			line += *s == '\n';
			settings |= !strchr(" \t\r\n\f", *s);
			s++;
		}
	}
	return 0;
}

/* The setting's value as spec_set() takes it, or NULL: no single value. */
static const char *value_text(const config_setting_t *setting, char *room, size_t bytes)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		snprintf(room, bytes, "%lld", config_setting_get_int64(setting));
		return room;
	case CONFIG_TYPE_FLOAT:
		snprintf(room, bytes, "%g", config_setting_get_float(setting));
		return room;
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(setting) ? "on" : "off";
	case CONFIG_TYPE_STRING:
		return config_setting_get_string(setting);
	default:
		return NULL;
	}
}

static int apply(struct gpu_spec *spec, const char *path, const char *group,
		 const config_setting_t *setting, struct err *err)
{
	const char *name = config_setting_name(setting);
	unsigned int line = config_setting_source_line(setting);
	char key[160], room[40];
	struct err why = { "" };
	const char *text;
	int rc;

	snprintf(key, sizeof(key), "%s%s%s", group, group[0] ? "." : "", name);
	text = value_text(setting, room, sizeof(room));
	if (!text)
		return err_set(err, -EINVAL, "%s:%u: %s: wants one value, not a list or group",
			       path, line, key);
	rc = spec_set(spec, key, text, &why);
	if (rc)
		return err_set(err, rc, "%s:%u: %.400s", path, line, why.text);
	return 0;
}

static int apply_all(struct gpu_spec *spec, const char *path, config_t *config,
		     struct err *err)
{
	const config_setting_t *root = config_root_setting(config);
	int rc = 0;

	for (int i = 0; !rc && i < config_setting_length(root); i++) {
		const config_setting_t *s = config_setting_get_elem(root, (unsigned int)i);

		if (!config_setting_is_group(s)) {
			rc = apply(spec, path, "", s, err);
			continue;
		}
		for (int j = 0; !rc && j < config_setting_length(s); j++)
			rc = apply(spec, path, config_setting_name(s),
				   config_setting_get_elem(s, (unsigned int)j), err);
	}
	return rc;
}

static int load(struct gpu_spec *spec, const char *path, unsigned int depth,
		struct err *err)
{
	config_t config;
	char *text = NULL;
	int rc;

	rc = read_text(path, &text, err);
	if (rc)
		return rc;
	rc = includes(spec, path, depth, text, err);
	if (rc) {
		free(text);
		return rc;
	}
	config_init(&config);
	if (config_read_string(&config, text))
		rc = apply_all(spec, path, &config, err);
	else
		rc = err_set(err, -EINVAL, "%s:%d: %s%s", path, config_error_line(&config),
			     config_error_text(&config),
			     strcmp(config_error_text(&config), "syntax error") ? "" :
			     "; settings are groups of keys, as in gpu: { sms = 4; }; with # for "
			     "comments");
	config_destroy(&config);
	free(text);
	return rc;
}

int spec_load_file(struct gpu_spec *spec, const char *path, struct err *err)
{
	struct gpu_spec wanted = *spec;
	int rc = load(&wanted, path, 0, err);

	if (!rc)
		*spec = wanted;
	return rc;
}
