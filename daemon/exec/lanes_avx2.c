// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes for x86 processors with AVX2 and FMA. bind.c chooses it when the
 * processor has them; on other machines this file is empty.
 */
#ifdef __x86_64__
#pragma GCC target("avx2,fma,bmi2")
#pragma GCC optimize("fp-contract=off", "rounding-math", "no-math-errno", "no-trapping-math")
#define LANES_TABLE lanes_avx2
#define LANES_NAME "avx2"
#include "exec/lanes.h"
#else
typedef int lanes_avx2_is_for_x86;
#endif
