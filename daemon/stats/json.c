// SPDX-License-Identifier: GPL-2.0
/*
 * How statistics become JSON. Members are added in a fixed order and numbers
 * are printed by one rule, so equal statistics are equal bytes, whatever the
 * process's locale. What is reported is report.c's.
 */
#include "stats/json.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

bool json_add_number(struct json_object *object, const char *key, uint64_t value)
{
	return json_add(object, key, json_object_new_uint64(value));
}

bool json_add_ratio(struct json_object *object, const char *key, double a, double b)
{
	return json_add(object, key, stats_json_ratio(b != 0 ? a / b : 0));
}

bool json_append(struct json_object *array, struct json_object *value)
{
	if (value && json_object_array_add(array, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

struct json_object *json_whole(struct json_object *object, bool whole)
{
	if (whole)
		return object;
	json_object_put(object);
	return NULL;
}

struct json_object *json_stalls(const uint64_t stalls[STALLS], const struct gpu_spec *spec)
{
	struct json_object *o = json_object_new_object();
	/* On a plain GPU nobody is parked or held. */
	unsigned int n = strcmp(spec->cta, "baseline") ? STALLS : STALL_SWAPPED;
	bool whole = o;

	for (unsigned int i = 0; i < n && whole; i++)
		whole = json_add_number(o, stall_names[i], stalls[i]);
	return json_whole(o, whole);
}

struct json_object *stats_json_ratio(double value)
{
	char printed[32], text[40];
	size_t n = 0;
	bool point = false;

	/* 0/0 and x/0 have no JSON number: nothing happened, the ratio is 0. */
	if (!isfinite(value) || value == 0.0)
		value = 0.0;
	snprintf(printed, sizeof(printed), "%.6g", value);
	/* Some locales print another decimal point, even of several bytes. */
	for (const char *s = printed; *s; ) {
		size_t digits = strspn(s, "0123456789eE+-");

		memcpy(text + n, s, digits);
		n += digits;
		s += digits;
		if (*s) {
			text[n++] = '.';
			s += strcspn(s, "0123456789eE+-");
			point = true;
		}
	}
	text[n] = '\0';
	if (!point && !strchr(text, 'e'))
		strcpy(text + n, ".0");
	return json_object_new_double_s(value, text);
}

static bool add_histogram(struct json_object *o, const struct histogram *h)
{
	return o && json_add_number(o, "count", h->count) &&
	       json_add_number(o, "p50", histogram_permille(h, 500)) &&
	       json_add_number(o, "p90", histogram_permille(h, 900)) &&
	       json_add_number(o, "p99", histogram_permille(h, 990)) &&
	       json_add_number(o, "max", h->max);
}

struct json_object *histogram_json(const struct histogram *h)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, add_histogram(o, h));
}

static struct json_object *buckets_json(const struct histogram *h)
{
	struct json_object *a = json_object_new_array();
	bool whole = a;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && whole; i++) {
		struct json_object *pair;

		if (!h->bucket[i])
			continue;
		pair = json_object_new_array_ext(2);
		whole = pair && json_append(pair, json_object_new_uint64(histogram_most(h, i))) &&
			json_append(pair, json_object_new_uint64(h->bucket[i]));
		whole = json_append(a, json_whole(pair, whole)) && whole;
	}
	return json_whole(a, whole);
}

struct json_object *histogram_json_full(const struct histogram *h)
{
	struct json_object *o = json_object_new_object();

	return json_whole(o, add_histogram(o, h) &&
			  json_add_ratio(o, "mean", (double)h->sum, (double)h->count) &&
			  json_add(o, "buckets", buckets_json(h)));
}
