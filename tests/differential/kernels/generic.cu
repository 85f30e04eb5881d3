// SPDX-License-Identifier: GPL-2.0
// Generic addresses, cvta, isspacep, pointers that are one space or another.
// arch: 70
#include "shim.h"

__device__ u32 global_table[64];
__constant__ u32 const_table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };

/* A pointer that the branch decides: shared, local, global or constant. */
KERNEL(mixed_pointer)(u32 *out, const u32 *in)
{
	__shared__ u32 shared[64];
	u32 local[4], t = threadIdx.x, which = in[GID] & 3;
	const u32 *p;

	shared[t] = in[GID] * 3;
	for (u32 k = 0; k < 4; k++)
		local[k] = t * 10 + k;
	__syncthreads();
	if (which == 0)
		p = &shared[t ^ 1];
	else if (which == 1)
		p = &local[in[GID] >> 2 & 3];
	else if (which == 2)
		p = &in[63 - t];
	else
		p = &const_table[t & 7];
	out[GID] = *p;
}
CASE(mixed_pointer, d3(2), d3(64), 0, 1, "out:u32:128 in:u32:128")
NOINLINE void put(u32 *p, u32 v) { *p = v * 2 + 1; }
KERNEL(generic_stores)(u32 *out, const u32 *in)
{
	__shared__ u32 shared[64];
	u32 local[3], t = threadIdx.x;

	shared[t] = 0;
	local[t % 3] = 7;
	put(in[GID] & 1 ? &shared[t] : &local[t % 3], in[GID]);
	put(&global_table[t], in[GID] + 5);
	out[GID] = shared[t] + local[t % 3] * 1000 + global_table[t] * 7;
}
CASE(generic_stores, d3(1), d3(64), 0, 2, "out:u32:64 in:u32:64")

#ifndef DIFF_CPU
DEVICE u32 spaces(const void *p)
{
	u32 g, s, l, c;

	asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(g) : "l"(p));
	asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 2, 0, p; }" : "=r"(s) : "l"(p));
	asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 4, 0, p; }" : "=r"(l) : "l"(p));
	asm("{ .reg .pred p; isspacep.const p, %1; selp.u32 %0, 8, 0, p; }" : "=r"(c) : "l"(p));
	return g + s + l + c;
}
#define SPACES(p, expected) spaces(p)
#else
#define SPACES(p, expected) ((void)(p), (expected))
#endif
KERNEL(isspacep)(u32 *out)
{
	__shared__ u32 shared[64];
	u32 local[2] = { threadIdx.x, 1 };

	shared[threadIdx.x] = 1;
	out[4 * GID] = SPACES(out, 1);
	out[4 * GID + 1] = SPACES(&shared[threadIdx.x], 2);
	out[4 * GID + 2] = SPACES(&local[threadIdx.x & 1], 4);
	out[4 * GID + 3] = SPACES(const_table, 8) + SPACES(global_table, 1) * 16;
}
CASE(isspacep, d3(1), d3(64), 0, 3, "out:u32:256")

/* cvta.to and back: the same place. */
KERNEL(cvta_round_trip)(u32 *out, const u32 *in)
{
	__shared__ u32 shared[64];
	u32 t = threadIdx.x, v, w;

	shared[t] = in[GID] + 1;
	__syncthreads();
	ON_DEVICE(asm volatile("{ .reg .u64 a, b; cvta.to.shared.u64 a, %1; ld.shared.u32 %0, [a]; }" : "=r"(v) : "l"(&shared[63 - t]));
		  asm volatile("{ .reg .u64 a, b; cvta.to.global.u64 a, %1; cvta.global.u64 b, a; ld.u32 %0, [b]; }" : "=r"(w) : "l"(&in[GID]));)
	ON_CPU(v = shared[63 - t]; w = in[GID];)
	out[GID] = v * 3 + w;
}
CASE(cvta_round_trip, d3(1), d3(64), 0, 4, "out:u32:64 in:u32:64")
/* 32-bit shared addresses, as __cvta_generic_to_shared() users write them. */
KERNEL(shared_address)(u32 *out, const u32 *in)
{
	__shared__ __align__(16) u32 shared[256];
	u32 t = threadIdx.x, v;

	shared[t] = in[GID];
	__syncthreads();
	ON_DEVICE(asm volatile("{ .reg .u64 a; .reg .u32 s; cvta.to.shared.u64 a, %1; cvt.u32.u64 s, a; add.u32 s, s, %2;"
			       "ld.shared.u32 %0, [s+4]; st.shared.u32 [s+512], %0; }"
			       : "=r"(v) : "l"(shared), "r"(4 * (t & 31)) : "memory");)
	ON_CPU(v = shared[(t & 31) + 1]; shared[(t & 31) + 128] = v;)
	__syncthreads();
	out[GID] = v + (t < 32 ? shared[t + 128] * 3 : 0);
}
CASE(shared_address, d3(1), d3(64), 0, 5, "out:u32:64 in:u32:64")
/* Pointers in memory: a list through global memory, made by the kernel itself. */
struct node { struct node *next; u32 value; };
KERNEL(linked_list)(u32 *out, struct node *nodes, const u32 *in)
{
	u32 t = threadIdx.x, sum = 0;
	const struct node *n;

	nodes[t].value = in[t];
	nodes[t].next = t & 7 ? &nodes[t - 1] : 0;
	__syncthreads();
	for (n = &nodes[t]; n; n = n->next)
		sum = sum * 3 + n->value;
	__syncthreads();
	nodes[t].next = 0;
	out[t] = sum;
}
CASE(linked_list, d3(1), d3(64), 0, 6, "out:u32:64 out:u64:128 in:u32:64")
/* A pointer into a parameter struct and into the parameter's array, by index. */
struct by_value { u32 a[8]; const u32 *p; };
KERNEL(param_address)(u32 *out, struct by_value v, u32 n)
{
	const u32 *q = GID & 1 ? v.a : &n;

	out[GID] = q[GID & 1 ? GID >> 1 & 7 : 0] + v.a[(GID * 3 + n) & 7];
}
CASE(param_address, d3(1), d3(64), 0, 7, "out:u32:64 struct:40:8 u32=5")
