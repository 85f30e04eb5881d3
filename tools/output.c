// SPDX-License-Identifier: GPL-2.0
/* Formatting shared by the reports of run, list and bench. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
		return err_set(err, -errno, "cannot write %s: %s", file, strerror(errno));
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
	FILE *out = stdout;
	int ret = 0;

	if (!text)
		return err_set(err, -ENOMEM, "no memory for the JSON");
	if (file && strcmp(file, "-")) {
		out = fopen(file, "we");
		if (!out)
			return err_set(err, -errno, "cannot write %s: %s", file, strerror(errno));
	}
	if (fputs(text, out) < 0 || fputc('\n', out) < 0)
		ret = -EIO;
	if (out != stdout ? fclose(out) : fflush(out))
		ret = -EIO;
	return ret ? err_set(err, ret, "cannot write %s", file ? file : "standard output") : 0;
}
