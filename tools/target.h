/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The GPU that a verb runs on, as the shared options choose it: --backend, --config, --set,
 * --vram, ... Options are checked here as far as possible before a GPU is opened, so that a
 * typing error is a misuse and not a failure.
 */
#ifndef GPUEMU_TOOLS_TARGET_H
#define GPUEMU_TOOLS_TARGET_H

#include "base/base.h"
#include "base/spec.h"
#include "advise.h"
#include "cli.h"
#include "gpuemu.h"

struct trace;

struct target {
	struct advise advise;		/* on a workload's buffers */
	const char *backend, *config, *device;	/* NULL: the library's default */
	const char *record, *recorded;		/* files of recorded runs, NULL: none */
	int argc;			/* the verb's command line, as it was given */
	char *const *argv;
	int mechanism;			/* the option that chose it: TARGET_CTA, TARGET_MANAGE; 0: none */
	bool fall_back;			/* a loaded policy that fails does not fail the run */
	struct trace *trace;			/* where the timeline goes, NULL: nowhere */
	uint64_t seed;
	char lines[4096];			/* "key=value\n" for libgpuemu */
	struct gpu_spec spec;			/* lines over the defaults: for checking */
};

/* Rows for struct verb's `shared`. */
extern const struct cli_option target_options[];

/* Ids of target_options and of TARGET_LAUNCH_OPTIONS. */
enum {
	TARGET_BACKEND = CLI_SHARED, TARGET_CONFIG, TARGET_SET, TARGET_VRAM, TARGET_PREFETCH,
	TARGET_EVICT, TARGET_PAGING, TARGET_SCHED, TARGET_CTA, TARGET_MANAGE, TARGET_MEM_ORDER,
	TARGET_SLICE, TARGET_SEED,
	TARGET_DEVICE,
	TARGET_RECORD, TARGET_RECORDED,
	TARGET_FUNCTIONAL, TARGET_REGS, TARGET_MAXREGS, TARGET_THREADS, TARGET_POLICY_FAILURE,
};

/* Rows for the `options` of a verb that launches kernels. */
#define TARGET_LAUNCH_OPTIONS									\
	{ "functional", NULL, "no timing: run as fast as it can (gpu.functional)",		\
	  TARGET_FUNCTIONAL },									\
	{ "regs", "N", "registers a thread for occupancy (occupancy.regs)", TARGET_REGS },	\
	{ "maxregs", "N", "at most N registers a thread, else spill (compiler.maxregs)",	\
	  TARGET_MAXREGS },									\
	{ "record", "FILE", "write the order in which pages are touched (gpuemu-record(5))",	\
	  TARGET_RECORD },									\
	{ "recorded", "FILE", "such a file, for policies that know the future (oracle, min)",	\
	  TARGET_RECORDED },									\
	{ "threads", "N", "host threads that run the model, 1 if not given (gpu.threads)",	\
	  TARGET_THREADS },									\
	{ "policy-failure", "fail|fall-back",							\
	  "a loaded policy that crashes, hangs or lies: the run fails, or a built-in one goes on",	\
	  TARGET_POLICY_FAILURE }

void target_init(struct target *t);
/* An option of target_options. -errno with err: the value is bad. */
int target_option(struct target *t, int id, const char *arg,
		  struct err *err);
/* Appends one line, checked. */
int target_set(struct target *t, const char *key, const char *value,
	       struct err *err);
/*
 * Checks what can only be checked when all options are known, the configuration file
 * included.
 */
int target_check(const struct target *t, struct err *err);
/* The GPU with its configuration file read. -EINVAL: unknown, or a bad file. */
int target_spec(const struct target *t, struct gpu_spec *spec, struct err *err);
/* Tells whether --record's file can be written. */
int target_record_check(const struct target *t, struct err *err);
/* Writes --record's file, if there is one. err has the library's sentence. */
int target_record(const struct target *t, struct gpuemu_ctx *ctx, struct err *err);
/* True if the daemon runs the work and sends the report, or may do so. */
bool target_through_module(const struct target *t);
/* Opens the GPU; err has the library's sentence. */
int target_open(const struct target *t, struct gpuemu_ctx **ctx,
		struct err *err);

#endif
