/* SPDX-License-Identifier: GPL-2.0 */
/* What a report has to say on stderr: that a loaded policy failed. */
#ifndef GPUEMU_TOOLS_TROUBLE_H
#define GPUEMU_TOOLS_TROUBLE_H

#include <json-c/json.h>

#include "cli.h"

/* A line for each policy that was replaced, or named pages that were no sense. */
void trouble_print(const struct verb *verb, struct json_object *report);

#endif
