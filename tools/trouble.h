/* SPDX-License-Identifier: GPL-2.0 */
/* Says on stderr that a loaded policy failed, and whether the run then counts. */
#ifndef GPUEMU_TOOLS_TROUBLE_H
#define GPUEMU_TOOLS_TROUBLE_H

#include <json-c/json.h>

#include "cli.h"
#include "target.h"

/*
 * A line for each policy that was replaced, or named pages that were no sense. True: a policy was
 * replaced and the target does not say that a built-in one may go on; the verb then fails, as the
 * numbers are not the policy's.
 */
bool trouble_print(const struct verb *verb, const struct target *target,
		   struct json_object *report);

#endif
