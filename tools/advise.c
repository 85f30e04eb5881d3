// SPDX-License-Identifier: GPL-2.0
/*
 * --advise of gpuemu run: advice on whole buffers, as a program would give it with
 * gpuemu_mem_advise() behind its allocations. Called by run.c.
 */
#include <errno.h>
#include <string.h>

#include "advise.h"

static const struct {
	const char *name;
	enum gpuemu_advice advice;
	int location;
} kinds[] = {
	{ "read-mostly", GPUEMU_ADVISE_SET_READ_MOSTLY, GPUEMU_LOCATION_DEVICE },
	{ "preferred-device", GPUEMU_ADVISE_SET_PREFERRED_LOCATION, GPUEMU_LOCATION_DEVICE },
	{ "preferred-host", GPUEMU_ADVISE_SET_PREFERRED_LOCATION, GPUEMU_LOCATION_HOST },
	{ "accessed-by", GPUEMU_ADVISE_SET_ACCESSED_BY, GPUEMU_LOCATION_DEVICE },
};

int advise_parse(struct advise *a, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const char *which = equals ? equals + 1 : "all";
	bool all = !strcmp(which, "all");
	struct advise_rule *rule = &a->rules[a->count];
	size_t i;

	if (a->count == ADVISE_MAX)
		return err_set(err, -EINVAL, "--advise: more than %u times", ADVISE_MAX);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, text, length))
			break;
	if (i == ARRAY_SIZE(kinds))
		return err_set(err, -EINVAL, "--advise: no advice '%.*s'; there are: read-mostly, "
			       "preferred-device, preferred-host, accessed-by", (int)length, text);
	*rule = (struct advise_rule){
		.advice = kinds[i].advice, .location = kinds[i].location,
		.inputs = all || !strcmp(which, "inputs"),
		.others = all || !strcmp(which, "results"),
	};
	if (!rule->inputs && !rule->others)
		return err_set(err, -EINVAL, "--advise %s: all buffers (all), those that the CPU fills "
			       "and does not read back (inputs), or the others (results)", text);
	a->count++;
	return 0;
}

int advise_workload(const struct advise *a, struct workload *w)
{
	for (unsigned int i = 0; i < a->count; i++) {
		const struct advise_rule *rule = &a->rules[i];

		for (unsigned int n = 0; n < w->nbuffers; n++) {
			const struct workload_buffer *b = &w->buffers[n];
			int ret = 0;

			if (b->direction == WORKLOAD_IN ? rule->inputs : rule->others)
				ret = gpuemu_mem_advise(w->ctx, b->memory, b->bytes, rule->advice,
							rule->location);
			if (ret)
				return workload_failed(w, ret, "advising");
		}
	}
	return 0;
}
