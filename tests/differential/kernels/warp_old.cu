// SPDX-License-Identifier: GPL-2.0
// Before Volta there was no .sync: what compilers wrote for sm_35, and old texts still hold.
// only: clang
// arch: 35-35
#include "shim.h"

#define ALL 0xffffffffu
KERNEL(old_votes)(u32 *out, const u32 *in)
{
	u32 v = in[GID], a, b, c;

	ON_DEVICE(asm volatile("{ .reg .pred p, q, r; setp.ne.u32 p, %3, 0; vote.ballot.b32 %0, p; vote.all.pred q, p;"
			       "vote.any.pred r, !p; selp.u32 %1, 1, 0, q; selp.u32 %2, 1, 0, r; }"
			       : "=r"(a), "=r"(b), "=r"(c) : "r"(v & 3));)
	ON_CPU(a = __ballot_sync(ALL, (v & 3) != 0); b = (u32)__all_sync(ALL, (v & 3) != 0);
	       c = (u32)__any_sync(ALL, (v & 3) == 0);)
	out[GID] = a + b * 3 + c * 7;
}
CASE(old_votes, d3(2), d3(64), 0, 1, "out:u32:128 in:u32:128")
KERNEL(old_shuffles)(u32 *out, const u32 *in)
{
	u32 v = in[GID], a, b, c, d;

	ON_DEVICE(asm volatile("shfl.up.b32 %0, %4, 3, 0; shfl.down.b32 %1, %4, 2, 0x1f; shfl.bfly.b32 %2, %4, 1, 0x1f;"
			       "{ .reg .pred p; shfl.idx.b32 %3|p, %4, 9, 0x1f; @!p mov.u32 %3, 0; }"
			       : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d) : "r"(v));)
	ON_CPU(a = __shfl_up_sync(ALL, v, 3); b = __shfl_down_sync(ALL, v, 2);
	       c = __shfl_xor_sync(ALL, v, 1); d = __shfl_sync(ALL, v, 9);)
	out[GID] = a + b * 3 + c * 5 + d * 7;
}
CASE(old_shuffles, d3(2), d3(64), 0, 2, "out:u32:128 in:u32:128")
