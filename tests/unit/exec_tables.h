/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The builds of the lanes that this machine can run. Included by test_exec_*.c.
 */
#ifndef TESTS_UNIT_EXEC_TABLES_H
#define TESTS_UNIT_EXEC_TABLES_H

#include "exec/private.h"

/* n-th of them, the portable one first; NULL past the end. */
static inline const struct lane_table *test_table(unsigned int n)
{
	const struct lane_table *tables[4] = { &lanes_portable };
	unsigned int count = 1;

#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		tables[count++] = &lanes_avx2;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		tables[count++] = &lanes_avx512;
#endif
	return n < count ? tables[n] : NULL;
}

#endif
