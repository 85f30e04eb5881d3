/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of a kernel: read from its row, filled from its seed, judged
 * after a run. Knows neither the engine nor the CPU's lanes. Used by the runner.
 */
#ifndef TESTS_DIFFERENTIAL_BUFFERS_H
#define TESTS_DIFFERENTIAL_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case.h"

#define MAX_ARGS	16
#define MAX_PARAM_BYTES	4096

enum element { E_U8, E_S8, E_U16, E_S16, E_U32, E_S32, E_U64, E_S64, E_F16, E_BF16, E_F32, E_F64 };

struct argument {
	bool is_buffer, is_input;
	enum element element;
	unsigned int count;
	size_t bytes;		/* of the buffer, or of the scalar or struct */
	unsigned int offset;	/* in the parameters */
	char fill[32];
	double ulp, absolute, relative; /* < 0: not given */
	uint8_t *expected;	/* the buffer after the CPU's run */
	uint8_t value[MAX_PARAM_BYTES / 4]; /* scalar or struct */
};

struct arguments {
	struct argument arg[MAX_ARGS];
	unsigned int n, param_bytes;
};

/* false: the row is wrong, *why says how. */
bool arguments_parse(struct arguments *args, const struct diff_case *c, char *why, size_t bytes);
void arguments_free(struct arguments *args);

/* What the argument's buffer holds before a run: of the row's seed and nothing else. */
void argument_fill(const struct argument *arg, const struct diff_case *c, unsigned int index,
		   void *buffer);

/* Is `got` as expected? If not, `why` says which element. */
bool argument_judge(const struct argument *arg, unsigned int index, const void *got, char *why,
		    size_t bytes);

/* The parameters, with buffer[i] as the address of argument i. */
void arguments_params(const struct arguments *args, void *const *buffers, uint8_t *params);

#endif
