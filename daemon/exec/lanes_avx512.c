// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes for x86 processors with AVX-512 (F, BW, VL, DQ). program.c chooses it when the
 * processor has them; on other machines this file is empty.
 */
#ifdef __x86_64__
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,bmi2,prefer-vector-width=512")
#pragma GCC optimize("fp-contract=off", "rounding-math", "no-math-errno", "no-trapping-math")
#define LANES_TABLE lanes_avx512
#define LANES_NAME "avx512"
#include "exec/lanes.h"
#else
typedef int lanes_avx512_is_for_x86;
#endif
