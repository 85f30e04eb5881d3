// SPDX-License-Identifier: GPL-2.0
/*
 * The options of the model as text: defaults, one key at a time, all keys as
 * lines. Generated from spec.def. Reads no file (spec_file.c does) and knows no
 * policy names (their tables' owners check those).
 */
#include "base/nearest.h"
#include "base/spec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX		64u

struct row {
	const char *key, *unit, *doc, *source, *default_text;
	uint64_t def, min, max;
	size_t offset;
	bool is_name;
};

static const struct row rows[] = {
#define SPEC_NUM(field, key, def, min, max, unit, doc, source) \
	{ key, unit, doc, source, #def, def, min, max, \
	  offsetof(struct gpu_spec, field), false },
#define SPEC_NAME(field, key, def, doc, source) \
	{ key, "", doc, source, def, 0, 0, 0, \
	  offsetof(struct gpu_spec, field), true },
#include "base/spec.def"
};

#define NAME_BYTES	sizeof(((struct gpu_spec *)0)->prefetch)

static uint64_t *num_of(struct gpu_spec *spec, const struct row *row)
{
	return (uint64_t *)((char *)spec + row->offset);
}

static char *name_of(struct gpu_spec *spec, const struct row *row)
{
	return (char *)spec + row->offset;
}

void spec_defaults(struct gpu_spec *spec)
{
	/* Names are padded with zeroes, so that equal specs are equal bytes. */
	memset(spec, 0, sizeof(*spec));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].is_name)
			snprintf(name_of(spec, &rows[i]), NAME_BYTES, "%s",
				 rows[i].default_text);
		else
			*num_of(spec, &rows[i]) = rows[i].def;
	}
}

static const char *after_dot(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot ? dot + 1 : key;
}

/*
 * The key that was probably meant. The part behind the dot is compared too, so
 * that "clock_mhz" and "sm.clock_mhz" find gpu.clock_mhz.
 */
static const struct row *nearest(const char *key)
{
	const struct row *best = NULL;
	unsigned int best_distance = (unsigned int)(MIN(strlen(key), KEY_MAX) / 2 + 1);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int whole = nearest_distance(key, rows[i].key, best_distance);
		unsigned int part = nearest_distance(after_dot(key), after_dot(rows[i].key),
						     best_distance);
		/* The same name in another group is one step away. */
		unsigned int d = MIN(whole, part + 1);

		if (d < best_distance) {
			best_distance = d;
			best = &rows[i];
		}
	}
	return best;
}

/* "gpu, sm, ...": rows of a group stand together. */
static const char *list_groups(char *text, size_t room)
{
	size_t at = 0, last = 0;
	const char *previous = "";

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows) && at < room; i++) {
		size_t n = strcspn(rows[i].key, ".");

		if (n == last && strncmp(previous, rows[i].key, n) == 0)
			continue;
		at += (size_t)snprintf(text + at, room - at, "%s%.*s", at ? ", " : "",
				       (int)n, rows[i].key);
		previous = rows[i].key;
		last = n;
	}
	return text;
}

static int unknown_key(const char *key, struct err *err)
{
	const struct row *meant = nearest(key);
	char groups[256];

	if (meant)
		return err_set(err, -ENOENT, "unknown option '%s'; did you mean '%s'?",
			       key, meant->key);
	return err_set(err, -ENOENT, "unknown option '%s'; options are GROUP.NAME, groups: %s",
		       key, list_groups(groups, sizeof(groups)));
}

/* Decimal or 0x, digits only; sizes may end in K, M or G (powers of 1024). */
static int parse_number(const struct row *row, const char *text, uint64_t *value)
{
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end,
			  text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (errno == ERANGE)
		return -ERANGE;
	if (*end && strcmp(row->unit, "bytes") == 0) {
		switch (*end++ | 0x20) {
		case 'k':
			shift = 10;
			break;
		case 'm':
			shift = 20;
			break;
		case 'g':
			shift = 30;
			break;
		default:
			return -EINVAL;
		}
	}
	if (*end)
		return -EINVAL;
	if (shift && *value > UINT64_MAX >> shift)
		return -ERANGE;
	*value <<= shift;
	return 0;
}

static int parse_switch(const char *text, uint64_t *value)
{
	static const char *const words[][2] = {
		{ "off", "on" }, { "false", "true" }, { "0", "1" }, { "no", "yes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		for (unsigned int v = 0; v < 2; v++)
			if (strcmp(text, words[i][v]) == 0) {
				*value = v;
				return 0;
			}
	return -EINVAL;
}

static int out_of_range(const struct row *row, const char *text, bool too_small,
			struct err *err)
{
	const char *space = row->unit[0] ? " " : "";

	if (too_small && row->max == UINT64_MAX)
		return err_set(err, -ERANGE, "%s: '%s' is out of range, at least %" PRIu64
			       "%s%s", row->key, text, row->min, space, row->unit);
	return err_set(err, -ERANGE, "%s: '%s' is out of range, %" PRIu64 " to %" PRIu64
		       "%s%s", row->key, text, row->min, row->max, space, row->unit);
}

static int set_number(struct gpu_spec *spec, const struct row *row,
		      const char *text, struct err *err)
{
	uint64_t value = 0;
	int rc;

	if (strcmp(row->unit, "switch") == 0) {
		if (parse_switch(text, &value))
			return err_set(err, -EINVAL, "%s: '%s' is not a switch; on or off",
				       row->key, text);
		*num_of(spec, row) = value;
		return 0;
	}
	rc = parse_number(row, text, &value);
	if (rc == -EINVAL)
		return err_set(err, rc, strcmp(row->unit, "bytes") == 0 ?
			       "%s: '%s' is not a size; a number, K, M or G may follow" :
			       "%s: '%s' is not a whole number", row->key, text);
	if (rc || value < row->min || value > row->max)
		return out_of_range(row, text, !rc && value < row->min, err);
	*num_of(spec, row) = value;
	return 0;
}

static int set_name(struct gpu_spec *spec, const struct row *row,
		    const char *text, struct err *err)
{
	size_t n = strlen(text);

	if (n == 0 || n >= NAME_BYTES)
		return err_set(err, -EINVAL, "%s: '%s' is not a name of 1 to %zu characters",
			       row->key, text, NAME_BYTES - 1);
	for (size_t i = 0; i < n; i++)
		if (!isgraph((unsigned char)text[i]) || text[i] == '#')
			return err_set(err, -EINVAL,
				       "%s: '%s' is not a name: it has a blank or a #",
				       row->key, text);
	memset(name_of(spec, row), 0, NAME_BYTES);
	memcpy(name_of(spec, row), text, n);
	return 0;
}

int spec_set(struct gpu_spec *spec, const char *key, const char *value,
	     struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].key, key) != 0)
			continue;
		if (rows[i].is_name)
			return set_name(spec, &rows[i], value, err);
		return set_number(spec, &rows[i], value, err);
	}
	return unknown_key(key, err);
}

char *spec_to_text(const struct gpu_spec *spec)
{
	struct gpu_spec copy = *spec;
	/* key, '=', 20 digits or a name, newline */
	size_t room = ARRAY_SIZE(rows) * (KEY_MAX + 1 + NAME_BYTES + 1) + 1;
	char *text = malloc(room);
	size_t at = 0;

	if (!text)
		return NULL;
	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (row->is_name)
			at += (size_t)snprintf(text + at, room - at, "%s=%s\n", row->key,
					       name_of(&copy, row));
		else
			at += (size_t)snprintf(text + at, room - at, "%s=%" PRIu64 "\n",
					       row->key, *num_of(&copy, row));
	}
	return text;
}

char *spec_difference(const struct gpu_spec *spec)
{
	struct gpu_spec plain;
	char *text, *usual, *line, *same, *to, *line_at, *same_at;

	spec_defaults(&plain);
	plain.threads = spec->threads;
	plain.trace_spans = spec->trace_spans;
	plain.fault_rows = spec->fault_rows;
	plain.interval = spec->interval;
	text = spec_to_text(spec);
	usual = spec_to_text(&plain);
	if (!text || !usual) {
		free(text);
		free(usual);
		return NULL;
	}
	/* Both have the same keys in the same order. Lines move towards the front, so none is lost. */
	to = text;
	line = strtok_r(text, "\n", &line_at);
	same = strtok_r(usual, "\n", &same_at);
	while (line && same) {
		if (strcmp(line, same)) {
			size_t n = strlen(line);

			memmove(to, line, n);
			to += n;
			*to++ = '\n';
		}
		line = strtok_r(NULL, "\n", &line_at);
		same = strtok_r(NULL, "\n", &same_at);
	}
	*to = '\0';
	free(usual);
	return text;
}

/* Cuts white space off both ends, in place. */
static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return s;
}

static int apply_line(struct gpu_spec *spec, char *line, struct err *err)
{
	char *comment = strchr(line, '#');
	char *equals;

	if (comment)
		*comment = '\0';
	line = trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return err_set(err, -EINVAL, "'%s' is not key=value", line);
	*equals = '\0';
	return spec_set(spec, trim(line), trim(equals + 1), err);
}

int spec_from_text(struct gpu_spec *spec, const char *text, struct err *err)
{
	struct gpu_spec wanted = *spec;
	char *copy = strdup(text), *line, *rest = copy;
	int rc = 0;

	if (!copy)
		return err_set(err, -ENOMEM, "no memory for %zu bytes of options",
			       strlen(text));
	while (!rc && (line = strsep(&rest, "\n")))
		rc = apply_line(&wanted, line, err);
	free(copy);
	/* All or nothing: a bad line does not leave a mixture behind. */
	if (!rc)
		*spec = wanted;
	return rc;
}

bool spec_row(unsigned int n, struct spec_row *row)
{
	if (n >= ARRAY_SIZE(rows))
		return false;
	*row = (struct spec_row){
		.key = rows[n].key,
		.unit = rows[n].unit,
		.doc = rows[n].doc,
		.source = rows[n].source,
		.default_text = rows[n].default_text,
		.min = rows[n].min,
		.max = rows[n].max,
		.is_name = rows[n].is_name,
	};
	return true;
}
