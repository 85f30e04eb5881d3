// SPDX-License-Identifier: GPL-2.0
/* Formatting shared by the reports of run, list and bench. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static const char *scaled(char text[24], double value, double step,
			  const char *const units[], unsigned int nunits)
{
	unsigned int unit = 0;
	int decimals;

	while (value >= step && unit + 1 < nunits) {
		value /= step;
		unit++;
	}
	decimals = !unit || value >= 100 ? 0 : value >= 10 ? 1 : 2;
	snprintf(text, 24, "%.*f %s", decimals, value, units[unit]);
	return text;
}

const char *output_ns(char text[24], double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(text, ns, 1000, units, ARRAY_SIZE(units));
}

const char *output_bytes(char text[24], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };

	return scaled(text, (double)bytes, 1024, units, ARRAY_SIZE(units));
}

struct json_object *output_at(struct json_object *o, const char *path)
{
	while (o && *path) {
		size_t n = strcspn(path, ".");
		char key[64];

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		if (json_object_is_type(o, json_type_array) && *key >= '0' && *key <= '9')
			o = json_object_array_get_idx(o, strtoul(key, NULL, 10));
		else if (!json_object_object_get_ex(o, key, &o))
			return NULL;
		path += n + (path[n] == '.');
	}
	return o;
}

bool output_has(struct json_object *o, const char *path)
{
	return output_at(o, path);
}

double output_number(struct json_object *o, const char *path)
{
	return json_object_get_double(output_at(o, path));
}

const char *output_string(struct json_object *o, const char *path)
{
	struct json_object *s = output_at(o, path);

	return s ? json_object_get_string(s) : "";
}

struct json_object *output_decimal(double value, unsigned int digits)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", (int)digits, value);
	return json_object_new_double_s(value, text);
}

int output_cannot(const char *file, int code, struct err *err)
{
	return err_set(err, -code, "cannot write %s: %s", file, strerror(code));
}

int output_open(FILE **out, const char *file, struct err *err)
{
	*out = file && strcmp(file, "-") ? fopen(file, "we") : stdout;
	if (!*out)
		return output_cannot(file, errno, err);
	errno = 0;	/* output_close() asks what went wrong since */
	return 0;
}

int output_close(FILE *out, const char *file, struct err *err)
{
	int code = ferror(out) ? errno ? errno : EIO : 0;

	if (out == stdout ? fflush(out) : fclose(out))
		code = code ? code : errno;
	if (!code)
		return 0;
	/* Else main() would say the same of standard output once more. */
	if (out == stdout) {
		__fpurge(out);
		clearerr(out);
	}
	return output_cannot(out == stdout ? "standard output" : file, code, err);
}

/* The file's place, whether it is there or not: its folder's name without links, and its own. */
static void place_of(const char *file, char place[PATH_MAX])
{
	char copy[PATH_MAX], folder[PATH_MAX], name[PATH_MAX];

	if (realpath(file, place))
		return;
	snprintf(copy, sizeof(copy), "%s", file);
	if (!realpath(dirname(copy), folder))
		*folder = '\0';
	snprintf(copy, sizeof(copy), "%s", file);
	snprintf(name, sizeof(name), "%s", basename(copy));
	if (!*folder || snprintf(place, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		snprintf(place, PATH_MAX, "%s", file);
}

static bool one_file(const char *a, const char *b)
{
	char at[PATH_MAX], bt[PATH_MAX];
	struct stat st;

	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return !strcmp(a, b);
	/* Who writes to /dev/null or a pipe knows what becomes of it. */
	if (!stat(a, &st) && !S_ISREG(st.st_mode))
		return false;
	place_of(a, at);
	place_of(b, bt);
	return !strcmp(at, bt);
}

int output_apart(const struct output_option *rows, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (rows[i].file && rows[j].file && one_file(rows[i].file, rows[j].file))
				return err_set(err, -EINVAL, "%s and %s both write %s: each needs "
					       "a file of its own", rows[i].option, rows[j].option,
					       strcmp(rows[j].file, "-") ? rows[j].file :
					       "standard output");
	return 0;
}

int output_check(const char *file, struct err *err)
{
	struct stat st;
	bool there;
	int fd;

	if (!file || !strcmp(file, "-"))
		return 0;
	there = !stat(file, &st);
	/* Opening a pipe could block until it has a reader, or end the reader's input. */
	if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return output_cannot(file, errno, err);
	close(fd);
	if (!there)
		unlink(file);
	return 0;
}

struct json_object *output_read(const char *file, struct err *err)
{
	struct json_object *o = NULL;
	const char *why = NULL;
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode))
		why = strerror(EISDIR);
	else if (!(o = json_object_from_fd(fd)))
		why = "not JSON";
	if (fd >= 0)
		close(fd);
	if (!o)
		err_set(err, -EINVAL, "%s: %s", file, why);
	return o;
}

int output_json(struct json_object *o, const char *file, struct err *err)
{
	const char *text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_SPACED |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	FILE *out;
	int ret;

	if (!text)
		return err_set(err, -ENOMEM, "no memory for the JSON");
	ret = output_open(&out, file, err);
	if (ret)
		return ret;
	fputs(text, out);
	fputc('\n', out);
	return output_close(out, file, err);
}
