// SPDX-License-Identifier: GPL-2.0
/*
 * Policies in objects of their own that did wrong, from the report's "paging". The run
 * has ended well all the same; who reads only its numbers would take them for the policy's.
 */
#include "trouble.h"

static void print_policy(const struct verb *verb, struct json_object *paging, const char *key,
			 const char *kind)
{
	struct json_object *policy, *value;

	if (!json_object_object_get_ex(paging, key, &policy))
		return;
	if (json_object_object_get_ex(policy, "trouble", &value))
		fprintf(stderr, "gpuemu %s: warning: %s\n", verb->name,
			json_object_get_string(value));
	if (json_object_object_get_ex(policy, "policy_refused", &value) &&
	    json_object_get_int64(value) > 0)
		fprintf(stderr, "gpuemu %s: warning: %s policy: %lld pages in its answers were no "
			"pages, could not go or stood there twice; they were left out\n", verb->name,
			kind, (long long)json_object_get_int64(value));
}

void trouble_print(const struct verb *verb, struct json_object *report)
{
	struct json_object *paging;

	if (!report || !json_object_object_get_ex(report, "paging", &paging))
		return;
	print_policy(verb, paging, "prefetch", "prefetch");
	print_policy(verb, paging, "evict", "eviction");
}
