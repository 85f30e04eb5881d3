/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the files of stats build JSON: members in a fixed order, memory that ran out
 * reported once. Private to the room.
 */
#ifndef GPUEMU_STATS_JSON_H
#define GPUEMU_STATS_JSON_H

#include "stats/stats.h"

/* Adds value, which it owns, under key. False, and value freed, without memory. */
bool json_add(struct json_object *object, const char *key, struct json_object *value);
bool json_add_number(struct json_object *object, const char *key, uint64_t value);
/* a / b, six significant decimals, 0 when b is. */
bool json_add_ratio(struct json_object *object, const char *key, double a, double b);
/* Appends value, which it owns. */
bool json_append(struct json_object *array, struct json_object *value);
/* object if all of it is there, else NULL and object freed. */
struct json_object *json_whole(struct json_object *object, bool whole);
/* An object with a member for each stall. NULL: no memory. */
struct json_object *json_stalls(const uint64_t stalls[STALLS], const struct gpu_spec *spec);

/* Shares of the whole GPU's time, 0 to 1: 0 when the GPU has no such thing. */
double counters_unit_share(const struct gpu_counters *c, const struct gpu_spec *spec,
			   enum sm_unit unit);
double counters_register_share(const struct gpu_counters *c, const struct gpu_spec *spec);
double counters_shared_share(const struct gpu_counters *c, const struct gpu_spec *spec);
double counters_l1d_share(const struct gpu_counters *c, const struct gpu_spec *spec);
double counters_l2_share(const struct gpu_counters *c, const struct gpu_spec *spec);
double counters_dram_share(const struct gpu_counters *c, const struct gpu_spec *spec);
/* x / y, 0 when y is 0. */
double counters_ratio(double x, double y);

#endif
