/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What gpuemu stat shows: one look at the module, kept so that two looks can be
 * compared, and printed as text or JSON.
 */
#ifndef GPUEMU_TOOLS_STAT_H
#define GPUEMU_TOOLS_STAT_H

#include <json-c/json.h>
#include <stdio.h>

#include "ctl/ctl.h"

struct stat_look {
	uint64_t at_ns;			/* CLOCK_MONOTONIC */
	struct ctl_device device;
	struct ctl_client *clients;
	unsigned int nclients;
	bool no_memory;
};

/* -errno with err; free with stat_look_free() in any case. */
int stat_look(struct ctl *ctl, struct stat_look *look, struct err *err);
void stat_look_free(struct stat_look *look);

/* The caller owns it. */
struct json_object *stat_json(const struct stat_look *look);
void stat_text(FILE *out, const struct stat_look *look);

/* --watch: the head of the table, and the line of what happened in between. */
void stat_watch_head(FILE *out);
void stat_watch_line(FILE *out, const struct stat_look *before, const struct stat_look *now);

/* Parts of --json and text: the parameters, a client's VA blocks. 0 or -errno with err. */
int stat_params(struct ctl *ctl, struct json_object **json, struct err *err);
void stat_params_text(FILE *out, struct json_object *params);
int stat_blocks(struct ctl *ctl, uint32_t va_space, struct json_object **json, struct err *err);
void stat_blocks_text(FILE *out, struct json_object *blocks);

#endif
