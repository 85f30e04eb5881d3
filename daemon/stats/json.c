// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics as JSON objects. Members are added in a fixed order and numbers
 * are printed by one rule, so equal statistics are equal bytes, whatever the
 * process's locale.
 */
#include "stats/stats.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const stall_names[STALLS] = {
	[STALL_ISSUED] = "issued",
	[STALL_PIPELINE] = "pipeline",
	[STALL_LONG] = "long_latency",
	[STALL_SHORT] = "short_latency",
	[STALL_IBUFFER] = "ibuffer",
	[STALL_BARRIER] = "barrier",
	[STALL_FAR_FAULT] = "far_fault",
	[STALL_NO_WARP] = "no_warp",
};

/* Adds value, which it owns, under key. False, and value freed, without memory. */
static bool add(struct json_object *object, const char *key, struct json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

static bool add_number(struct json_object *object, const char *key, uint64_t value)
{
	return add(object, key, json_object_new_uint64(value));
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

struct json_object *histogram_json(const struct histogram *h)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	if (add_number(object, "count", h->count) &&
	    add_number(object, "p50", histogram_permille(h, 500)) &&
	    add_number(object, "p90", histogram_permille(h, 900)) &&
	    add_number(object, "p99", histogram_permille(h, 990)) &&
	    add_number(object, "max", h->max))
		return object;
	json_object_put(object);
	return NULL;
}

static bool add_dim3(struct json_object *object, const char *key, const uint32_t dim[3])
{
	struct json_object *array = json_object_new_array_ext(3);

	if (!array)
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		struct json_object *n = json_object_new_uint64(dim[i]);

		if (!n || json_object_array_add(array, n)) {
			json_object_put(n);
			json_object_put(array);
			return false;
		}
	}
	return add(object, key, array);
}

static bool add_stalls(struct json_object *object, const uint64_t stalls[STALLS])
{
	struct json_object *member = json_object_new_object();

	if (!member)
		return false;
	for (unsigned int i = 0; i < STALLS; i++)
		if (!add_number(member, stall_names[i], stalls[i])) {
			json_object_put(member);
			return false;
		}
	return add(object, "stalls", member);
}

/* Members that only a launch in time has. */
static bool add_timed(struct json_object *object, const struct kernel_stats *k)
{
	/* As GPGPU-Sim counts: instructions of threads, the whole GPU's, a core cycle. */
	double ipc = k->cycles ? (double)k->thread_instructions / (double)k->cycles : 0.0;

	return add(object, "ipc", stats_json_ratio(ipc)) && add_stalls(object, k->stalls);
}

struct json_object *kernel_stats_json(const struct kernel_stats *k)
{
	struct json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	if (add(object, "name", json_object_new_string_len(k->name,
			(int)strnlen(k->name, sizeof(k->name)))) &&
	    add_dim3(object, "grid", k->grid) &&
	    add_dim3(object, "block", k->block) &&
	    add_number(object, "regs", k->regs) &&
	    add_number(object, "spill_store_bytes", k->spill_store_bytes) &&
	    add_number(object, "spill_load_bytes", k->spill_load_bytes) &&
	    add_number(object, "local_bytes", k->local_bytes) &&
	    add_number(object, "smem", k->smem) &&
	    (k->functional || add_number(object, "ctas_per_sm", k->ctas_per_sm)) &&
	    (k->functional || add_number(object, "cycles", k->cycles)) &&
	    add_number(object, "warp_instructions", k->warp_instructions) &&
	    add_number(object, "thread_instructions", k->thread_instructions) &&
	    (k->functional || add_timed(object, k)))
		return object;
	json_object_put(object);
	return NULL;
}
