/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPU that a verb runs on, as the shared options choose it: --backend,
 * --config, --set, --vram, ... Checked here as far as they can be before a GPU
 * is opened, so that a typing error is a misuse and not a failure.
 */
#ifndef GPUEMU_TOOLS_TARGET_H
#define GPUEMU_TOOLS_TARGET_H

#include "base/base.h"
#include "base/spec.h"
#include "cli.h"
#include "gpuemu.h"

struct target {
	const char *backend, *config, *device;	/* NULL: the library's default */
	uint64_t seed;
	char lines[4096];			/* "key=value\n" for libgpuemu */
	struct gpu_spec spec;			/* lines over the defaults: for checking */
};

/* Rows for struct verb's `shared`. */
extern const struct cli_option target_options[];

void target_init(struct target *t);
/* An option of target_options. -errno with err: the value is bad. */
int target_option(struct target *t, int id, const char *arg,
		  struct err *err);
/* Appends one line, checked. */
int target_set(struct target *t, const char *key, const char *value,
	       struct err *err);
/* Checks what only shows when all options are known. */
int target_check(const struct target *t, struct err *err);
/* Opens the GPU; err has the library's sentence. */
int target_open(const struct target *t, struct gpuemu_ctx **ctx,
		struct err *err);

#endif
