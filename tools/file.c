// SPDX-License-Identifier: GPL-2.0
/* Reading and writing whole files for the verbs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define CHUNK	(64u << 10)	/* the size of the first read; it doubles after that */

static int cannot(const char *do_what, const char *path, struct err *err)
{
	int code = errno ? errno : EIO;

	return err_set(err, -code, "cannot %s %s: %s", do_what, path, strerror(code));
}

static int read_all(FILE *file, const char *path, char **data, size_t *bytes,
		    struct err *err)
{
	size_t used = 0, room = CHUNK;
	char *text = malloc(room + 1);

	while (text) {
		char *more;

		errno = 0;
		used += fread(text + used, 1, room - used, file);
		if (ferror(file)) {
			free(text);
			return cannot("read", path, err);
		}
		if (used < room) {
			text[used] = '\0';
			*data = text;
			*bytes = used;
			return 0;
		}
		room *= 2;
		more = realloc(text, room + 1);
		if (!more)
			free(text);
		text = more;
	}
	return err_set(err, -ENOMEM, "no memory for %s", path);
}

int file_read(const char *path, char **data, size_t *bytes, struct err *err)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");
	int ret;

	if (!file)
		return cannot("read", path, err);
	ret = read_all(file, standard ? "standard input" : path, data, bytes, err);
	if (!standard)
		fclose(file);
	return ret;
}

/*
 * Copies through a buffer: data may be managed memory, and a system call cannot read pages
 * that are in device memory if userfaultfd may not stop the kernel.
 */
static bool write_all(FILE *file, const char *data, size_t bytes)
{
	char chunk[16u << 10];

	for (size_t done = 0, n; done < bytes; done += n) {
		n = MIN(sizeof(chunk), bytes - done);
		memcpy(chunk, data + done, n);
		if (fwrite(chunk, 1, n, file) != n)
			return false;
	}
	return true;
}

int file_write(const char *path, const void *data, size_t bytes, struct err *err)
{
	FILE *file = fopen(path, "we");
	bool whole;

	if (!file)
		return cannot("write", path, err);
	errno = 0;
	whole = write_all(file, data, bytes);
	/* Bytes that fwrite() took may still fail to reach the file. */
	if (fclose(file) || !whole)
		return cannot("write", path, err);
	return 0;
}
