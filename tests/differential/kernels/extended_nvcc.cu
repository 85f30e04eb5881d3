// SPDX-License-Identifier: GPL-2.0
// Division of 128 bits, which clang 14 does not compile. nvcc's code reads with addc what sub.cc left.
// only: nvcc
#include "shim.h"

KERNEL(divide_128)(u64 *out, const u64 *a, const u64 *b)
{
	u32 i = GID;
	unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i], y = i & 1 ? b[i] : x >> (i + 3);
	unsigned __int128 q, r;

	y += !y;
	q = x / y;
	r = x % y;
	out[4 * i] = (u64)q;
	out[4 * i + 1] = (u64)(q >> 64);
	out[4 * i + 2] = (u64)r;
	out[4 * i + 3] = (u64)(r >> 64);
}
CASE(divide_128, d3(1), d3(64), 0, 7, "out:u64:256 in:u64:64 in:u64:64")
