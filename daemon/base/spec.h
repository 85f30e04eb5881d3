/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plain description of one GPU and its paging: every option of the model,
 * one row each in spec.def. Rooms are handed a const struct gpu_spec and read
 * no file, option or environment themselves.
 */
#ifndef GPUEMU_BASE_SPEC_H
#define GPUEMU_BASE_SPEC_H

#include "base/base.h"

/*
 * Kernels that a GPU runs at a time, at most (gpu.concurrent_kernels). Each has a slot, from 0,
 * which what it does is counted by.
 */
#define KERNEL_SLOTS	16u

/* Values: every number is uint64_t, every name a short string (policy rows), every switch 0/1. */
struct gpu_spec {
#define SPEC_NUM(field, key, def, min, max, unit, doc, source)	uint64_t field;
#define SPEC_NAME(field, key, def, doc, source)			char field[256];
#include "base/spec.def"
};

void spec_defaults(struct gpu_spec *spec);

/*
 * Sets one key from text ("sm.scheduler", "lrr"; sizes take K, M, G; switches
 * on/off). -ENOENT unknown key, -EINVAL not a number, -ERANGE outside min..max;
 * err names the key, the value and what is allowed. Names of policies are
 * checked by the room that owns the table (gpu_spec_check()).
 */
int spec_set(struct gpu_spec *spec, const char *key, const char *value,
	     struct err *err);

/*
 * Values that do not go together, every one in its range. -EINVAL, err names the key, its
 * value and what it collides with. gpu_spec_check() calls it.
 */
int spec_check(const struct gpu_spec *spec, struct err *err);

/*
 * The i-th number of slicer.fixed, from 0. UINT_MAX: there are fewer, or it is not a list of
 * up to KERNEL_SLOTS numbers from 1 with commas between them, which spec_check() refuses.
 */
unsigned int spec_fixed_ctas(const struct gpu_spec *spec, unsigned int i);

#define SPEC_DECIDE_MEASURED	UINT64_MAX
/*
 * paging.decide: SPEC_DECIDE_MEASURED, or nanoseconds, at most 1000000000. False: it is neither,
 * which spec_check() refuses.
 */
bool spec_decide_ns(const struct gpu_spec *spec, uint64_t *ns);

/* "key=value" per line, all keys in spec.def's order; caller frees. NULL: no memory. */
char *spec_to_text(const struct gpu_spec *spec);

/*
 * The lines of spec_to_text() that are not the defaults', but for gpu.threads, gpu.trace,
 * gpu.faults and stats.interval, which change no statistic; caller frees. NULL: no memory.
 */
char *spec_difference(const struct gpu_spec *spec);

/* Applies lines of spec_to_text() (or any "key=value" lines; # comments). */
int spec_from_text(struct gpu_spec *spec, const char *text, struct err *err);

/*
 * Reads a configuration file (libconfig syntax, groups are the part of the key
 * before the dot, @include for overlays) over *spec. Only main.c, the tools
 * and libgpuemu's entry call it. err names file, line and key.
 */
int spec_load_file(struct gpu_spec *spec, const char *path, struct err *err);

/* For listings and documentation: n-th row, false past the end. */
struct spec_row {
	const char *key, *unit, *doc, *source, *default_text;
	uint64_t min, max;
	bool is_name;
};
bool spec_row(unsigned int n, struct spec_row *row);

#endif
