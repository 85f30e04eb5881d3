/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The reference: GPGPU-Sim's numbers for some kernels, and the same launches
 * for this engine with the same inputs. Used by validate and bench.
 */
#ifndef TESTS_CYCLES_REFERENCE_H
#define TESTS_CYCLES_REFERENCE_H

#include "run.h"

struct reference {
	struct run *runs;		/* in the file's order */
	struct json_object **numbers;	/* of each: the file's object */
	unsigned int n;
	struct json_object *file;
};

/*
 * Reads folder/reference.json and folder/ptx/. select: words "kernel",
 * "variant/kernel" or a whole run's name, NULL or "" for all. Exits with a message if it cannot.
 */
void reference_load(struct reference *reference, const char *folder, const char *select);
void reference_free(struct reference *reference);
const char *reference_text(const struct reference *reference, unsigned int i, const char *key);

/* What the kernel's buffer holds at the start (inputs.c); true: it is uploaded. */
bool input_uploaded(const char *kernel, const char *buffer);
void input_fill(const struct run *run, unsigned int buffer, void *memory);
bool input_judge(const struct run *run, void *const *memory, char *why, size_t bytes);
/*
 * Instructions that we execute above the reference's because fma is rounded once
 * here, as PTX has it, and twice there: where control flow depends on its result.
 */
void input_difference(const struct run *run, double *warps, double *threads);
/* Is the kernel one whose inputs are known? */
bool input_known(const char *kernel);

#endif
