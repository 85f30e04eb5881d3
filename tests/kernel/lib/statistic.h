/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of gpuemu_statistics(), for the programs of the library. In a header alone, as
 * the others are not built with libjson-c.
 */
#ifndef _GPUEMU_TESTS_KERNEL_STATISTIC_H
#define _GPUEMU_TESTS_KERNEL_STATISTIC_H

#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>
#include <json-c/json_pointer.h>

#include <gpuemu.h>

/* One of "paging", as "far_faults" or "remote/pages"; UINT64_MAX: it is not there. */
static inline uint64_t paging_number(struct gpuemu_ctx *ctx, const char *path)
{
	struct json_object *all, *value;
	uint64_t n = UINT64_MAX;
	char *json, whole[80];

	if (gpuemu_statistics(ctx, &json))
		return n;
	all = json_tokener_parse(json);
	gpuemu_free(json);
	snprintf(whole, sizeof(whole), "/paging/%s", path);
	if (!json_pointer_get(all, whole, &value))
		n = json_object_get_uint64(value);
	json_object_put(all);
	return n;
}

#endif
