/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One row of a kernel file, as the runner sees it: how a kernel is launched, on
 * what inputs, and how its outputs are judged. The rows are made by CASE() of
 * shim.h in the build for the CPU, whose shared object shows them as `diff_cases`.
 *
 * `args` describes the parameters in order, separated by blanks:
 *   in:TYPE:COUNT[:FILL]     a buffer that the kernel reads
 *   out:TYPE:COUNT[:TOL]     one that it writes, 0xa5 before
 *   io:TYPE:COUNT[:FILL][:TOL]  both
 *   TYPE=VALUE               a scalar
 *   struct:BYTES:ALIGN       a struct by value, random bytes
 * TYPE is u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64. FILL is one of input.c's.
 * TOL is ulp=N, abs=X or rel=X, or some joined by ','; one that holds is enough.
 * Without it every bit counts, but that any NaN is as good as another.
 */
#ifndef TESTS_DIFFERENTIAL_CASE_H
#define TESTS_DIFFERENTIAL_CASE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct diff_dims {
	unsigned int x, y, z;
};

struct diff_case {
	const char *name;
	struct diff_dims grid, block;
	unsigned int shared;	/* dynamic bytes */
	uint64_t seed;
	const char *args;
	/* The grid must end with an error whose text contains this; there is no result then. */
	const char *fails;
	void (*call)(const void *params);	/* one thread of the kernel, on the CPU */
	const struct diff_case *next;
};

#ifdef __cplusplus
}
#endif

#endif
