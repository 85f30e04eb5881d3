// SPDX-License-Identifier: GPL-2.0
/*
 * Where the headers and the library are that CUDA programs are built with. A tool in a build tree
 * finds the tree's, an installed one what was installed; GPUEMU_DATADIR and GPUEMU_LIBDIR come
 * first.
 */
#include "install.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first "DIR/name" of the colon separated lists that has `file` in it. */
static int find(const char *const *lists, size_t n, const char *name, const char *file, char **dir,
		struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = lists[i];

		while (at && *at) {
			size_t len = strcspn(at, ":");
			char *probe;

			if (asprintf(dir, "%.*s%s", (int)len, at, name) < 0)
				return err_set(err, -ENOMEM, "no memory");
			if (asprintf(&probe, "%s/%s", *dir, file) < 0) {
				free(*dir);
				return err_set(err, -ENOMEM, "no memory");
			}
			if (!access(probe, R_OK)) {
				free(probe);
				return 0;
			}
			free(probe);
			free(*dir);
			at += len + (at[len] == ':');
		}
	}
	*dir = NULL;
	return err_set(err, -ENOENT,
		       "there is no %s%s in %s: make it (make libs), or install gpuemu", *name ?
		       name + 1 : "", *name ? "" : file, lists[n - 1]);
}

int install_find_headers(char **dir, struct err *err)
{
	const char *const lists[] = { getenv("GPUEMU_DATADIR"), GPUEMU_DATADIR };

	return find(lists, ARRAY_SIZE(lists), "/cuda/include", "cuda_runtime.h", dir, err);
}

int install_find_cudart(char **dir, struct err *err)
{
	const char *const lists[] = { getenv("GPUEMU_LIBDIR"), GPUEMU_LIBDIR };

	return find(lists, ARRAY_SIZE(lists), "", "libcudart.so.12", dir, err);
}
