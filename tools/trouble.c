// SPDX-License-Identifier: GPL-2.0
/*
 * Reports loaded policies that went wrong, from the report's "paging". The run ends all the
 * same, under a built-in policy. Its numbers are not the policy's, so it counts as a failure
 * unless the user asked otherwise (--policy-failure=fall-back).
 */
#include "trouble.h"

static bool print_policy(const struct verb *verb, const struct target *target,
			 struct json_object *paging, const char *key, const char *kind)
{
	struct json_object *policy, *value;
	bool failed = false;

	if (!json_object_object_get_ex(paging, key, &policy))
		return false;
	if (json_object_object_get_ex(policy, "trouble", &value)) {
		failed = !target->fall_back;
		fprintf(stderr, "gpuemu %s: %s%s\n", verb->name, failed ? "" : "warning: ",
			json_object_get_string(value));
	}
	if (json_object_object_get_ex(policy, "policy_refused", &value) &&
	    json_object_get_int64(value) > 0)
		fprintf(stderr, "gpuemu %s: warning: %s policy: %lld pages in its answers were no "
			"pages, could not go or stood there twice; they were left out\n", verb->name,
			kind, (long long)json_object_get_int64(value));
	return failed;
}

bool trouble_print(const struct verb *verb, const struct target *target, struct json_object *report)
{
	struct json_object *paging;
	bool failed;

	if (!report || !json_object_object_get_ex(report, "paging", &paging))
		return false;
	failed = print_policy(verb, target, paging, "prefetch", "prefetch");
	failed |= print_policy(verb, target, paging, "evict", "eviction");
	if (failed)
		fprintf(stderr, "gpuemu %s: the numbers are not the policy's; "
			"--policy-failure=fall-back takes such a run for a good one\n", verb->name);
	return failed;
}
