/* SPDX-License-Identifier: GPL-2.0 */
/* Says on stderr that a loaded policy failed, and whether the run then counts. */
#ifndef GPUEMU_TOOLS_TROUBLE_H
#define GPUEMU_TOOLS_TROUBLE_H

#include <json-c/json.h>

#include "cli.h"
#include "target.h"

/*
 * Prints a line for each policy that was replaced, or that named impossible pages. True: a
 * policy was replaced, and the target does not allow a built-in one in its place; the verb
 * then fails, because the numbers are not the policy's.
 */
bool trouble_print(const struct verb *verb, const struct target *target,
		   struct json_object *report);

#endif
