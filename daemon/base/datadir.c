// SPDX-License-Identifier: GPL-2.0
/*
 * Data folders: where a configuration is looked for by its name. Decides
 * nothing about which folders there are.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"

#define SUFFIX	".conf"

static bool has_suffix(const char *name)
{
	size_t n = strlen(name), s = strlen(SUFFIX);

	return n > s && strcmp(name + n - s, SUFFIX) == 0;
}

static int is_config(const struct dirent *e)
{
	return e->d_name[0] != '.' && has_suffix(e->d_name);
}

/* Appends the folder's configurations, sorted, as far as they fit. */
static void list_folder(char *text, size_t room, const char *dir, size_t dir_len)
{
	struct dirent **entries;
	char *path;
	int n;

	if (asprintf(&path, "%.*s/configs", (int)dir_len, dir) < 0)
		return;
	n = scandir(path, &entries, is_config, alphasort);
	free(path);
	for (int i = 0; i < n; i++) {
		size_t used = strlen(text);

		snprintf(text + used, room - used, "%s%.*s", used ? ", " : "",
			 (int)(strlen(entries[i]->d_name) - strlen(SUFFIX)), entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static int try_folder(const char *dir, size_t dir_len, const char *name, char **path)
{
	if (dir_len == 0)
		return -ENOENT;
	if (asprintf(path, "%.*s/configs/%s" SUFFIX, (int)dir_len, dir, name) < 0)
		return -ENOMEM;
	if (access(*path, R_OK) == 0)
		return 0;
	free(*path);
	return -ENOENT;
}

int datadir_find_config(const char *const dirs[], unsigned int ndirs, const char *name,
			char **path, struct err *err)
{
	char known[300] = "";
	int ret;

	*path = NULL;
	if (strchr(name, '/') || has_suffix(name)) {
		*path = strdup(name);
		return *path ? 0 : err_set(err, -ENOMEM, "no memory for a path");
	}
	for (unsigned int i = 0; i < ndirs; i++) {
		for (const char *dir = dirs[i]; dir; ) {
			const char *end = strchrnul(dir, ':');

			ret = name[0] ? try_folder(dir, end - dir, name, path) : -ENOENT;
			if (ret == 0)
				return 0;
			*path = NULL;
			if (ret == -ENOMEM)
				return err_set(err, -ENOMEM, "no memory for a path");
			if (!known[0])
				list_folder(known, sizeof(known), dir, end - dir);
			dir = *end ? end + 1 : NULL;
		}
	}
	return err_set(err, -EINVAL, "unknown GPU configuration '%s': %s%s", name,
		       known[0] ? "there are " : "no configurations are installed", known);
}
