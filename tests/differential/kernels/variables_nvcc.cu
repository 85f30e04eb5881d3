// SPDX-License-Identifier: GPL-2.0
// Initialisers with addresses in the middle of arrays and of strings: clang 14 cannot emit them.
// only: nvcc
#include "shim.h"

__device__ s16 shorts[6] = { -1, 2, -3, 4, -5, 6 };
__device__ const s16 *to_middle = &shorts[2];
__device__ const char *words[3] = { "zero", "one", "forty-two" };
__constant__ u32 squares[10] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81 };
__constant__ const u32 *const_table[3] = { squares, &squares[4], &squares[8] };
__constant__ const char *const_names[2] = { "alpha", "omega" };

KERNEL(middle_addresses)(u32 *out)
{
	u32 i = GID, n = 0;

	for (const char *p = words[i % 3]; *p; p++)
		n = n * 31 + (u8)*p;
	out[2 * i] = (u32)(s32)to_middle[(s32)(i & 3) - 1] + n;
	out[2 * i + 1] = const_table[i % 3][i & 1] * 10 + (u8)const_names[i & 1][i % 5];
}
CASE(middle_addresses, d3(1), d3(64), 0, 1, "out:u32:128")
