/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One launch of one kernel with all that it takes, and what comes of it. The
 * launch runs in a process of its own, so that whatever the model does there the
 * table is still printed. Knows libgpuemu and nothing behind it.
 */
#ifndef TESTS_CYCLES_RUN_H
#define TESTS_CYCLES_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuemu.h"

struct json_object;

#define RUN_BUFFERS	8
#define RUN_ARGS	16

struct run_buffer {
	char name[16];
	size_t offset, bytes;	/* from the first byte of managed memory */
	bool uploaded;
};

struct run {
	char name[64], kernel[32];
	char ptx[512];			/* file, or "" */
	const char *text;		/* or the PTX itself */
	char settings[512];		/* "key=value" lines */
	struct gpuemu_dim3 grid, block;
	struct run_buffer buffer[RUN_BUFFERS];
	unsigned int nbuffers, nargs;
	struct {
		int buffer;		/* -1: value */
		struct gpuemu_arg value;
	} arg[RUN_ARGS];
	/* Fill buffers before the launch, judge them after it. false: `why`. May be NULL. */
	void (*fill)(const struct run *run, unsigned int buffer, void *memory);
	bool (*judge)(const struct run *run, void *const *memory, char *why, size_t bytes);
	uint32_t n, p;			/* the kernel's sizes, for the two */
	const void *user;
};

struct outcome {
	bool done, right;
	char why[256];
	double cpu_seconds, wall_seconds;	/* launch to end, without set-up */
	long rss_kib;			/* most that the process had */
	long base_kib;			/* of it, before the launch */
	struct json_object *statistics;	/* or NULL */
	char *json;			/* the same as it came */
	uint32_t digest;		/* of all buffers */
};

/* Runs n of them, `jobs` at a time; progress to stderr if `progress`. */
void runs_execute(const struct run *runs, struct outcome *outcomes, unsigned int n,
		  unsigned int jobs, unsigned int seconds, bool progress);
/* One, in this process. */
void run_here(const struct run *run, struct outcome *outcome);
void outcome_free(struct outcome *outcome);

/* "memory.l1d.misses" or "kernels.0.cycles" of the statistics; -1: there is none. */
double outcome_number(const struct outcome *outcome, const char *path);
double json_number(struct json_object *object, const char *path);

/* Adds what the run needs; they exit when there is no room. */
void run_buffer(struct run *run, const char *name, size_t bytes, bool uploaded);
void run_arg(struct run *run, struct gpuemu_arg value);
void run_arg_buffer(struct run *run, unsigned int buffer);
void run_setting(struct run *run, const char *key, const char *value);
void run_setting_u(struct run *run, const char *key, unsigned long value);

#endif
