/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a kernel takes, as `ptxas -v` says it: gpuemu ptx --info. Built as JSON,
 * and printed as text from that same JSON.
 */
#ifndef GPUEMU_TOOLS_INFO_H
#define GPUEMU_TOOLS_INFO_H

#include <json-c/json.h>
#include <stdio.h>

#include "ptx/ptx.h"

/*
 * One kernel; the caller owns it. text is the module's, or NULL; with it every
 * instruction is listed with its line and the registers live before it.
 */
struct json_object *info_kernel(const struct ptx_kernel *kernel, const char *text);

void info_text(FILE *out, struct json_object *info, const char *file);

#endif
