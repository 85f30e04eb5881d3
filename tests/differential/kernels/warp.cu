// SPDX-License-Identifier: GPL-2.0
// Warps: votes, shuffles, match, reductions, active masks, lanes that are not there.
// arch: 80
#include "shim.h"

#define ALL 0xffffffffu

KERNEL(votes)(u32 *out, const u32 *in)
{
	u32 v = in[GID], *o = out + 4 * GID;

	o[0] = __ballot_sync(ALL, v & 1);
	o[1] = (u32)(__all_sync(ALL, v != 7) != 0) + 2 * (u32)(__any_sync(ALL, v == 0) != 0);
	o[2] = __ballot_sync(ALL, (s32)v < 0) + __popc(__ballot_sync(ALL, v & 2));
	o[3] = (u32)(__all_sync(ALL, threadIdx.x < 64) != 0);
}
CASE(votes, d3(2), d3(128), 0, 1, "out:u32:1024 in:u32:256")
TEXT1(vote_uni, u32, "r", u32, "r",
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, -1; selp.u32 %0, 1, 0, q; }",
      (u32)lane_meet(LANE_UNI, ALL, a != 0, 0))
TEXT1(vote_not_all, u32, "r", u32, "r",
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.all.pred q, !p, 0xffffffff; selp.u32 %0, 1, 0, q; }",
      (u32)lane_meet(LANE_ALL, ALL, a == 0, 0))
KERNEL(vote_uniform)(u32 *out, const u32 *in)
{
	out[GID] = vote_uni(in[GID] & 1) + 2 * vote_uni(GID >> 5 & 1) + 4 * vote_uni(LANE < 32) + 8 * vote_not_all(GID & 32);
}
CASE(vote_uniform, d3(1), d3(128), 0, 2, "out:u32:128 in:u32:128")
/* Masks that name the lanes of one branch. */
KERNEL(votes_in_branches)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r;

	if (LANE < 12)
		r = __ballot_sync(0xfff, v & 1) | (u32)__popc(ACTIVE(0xfff)) << 20;
	else if (LANE & 1)
		r = __ballot_sync(0xaaaaa000, v & 2) + (u32)(__any_sync(0xaaaaa000, v == 3) != 0);
	else
		r = __ballot_sync(0x55555000, v & 4) + 3 * (u32)(__all_sync(0x55555000, v != 3) != 0);
	out[GID] = r;
}
CASE(votes_in_branches, d3(2), d3(64), 0, 3, "out:u32:128 in:u32:128")

#define SHUFFLES(name, T, spec)										\
	KERNEL(name)(T *out, const T *in, u32 d)							\
	{												\
		T v = in[GID], *o = out + 8 * GID;							\
		o[0] = __shfl_sync(ALL, v, (int)(GID * 7 & 31));					\
		o[1] = __shfl_up_sync(ALL, v, d);							\
		o[2] = __shfl_down_sync(ALL, v, d);							\
		o[3] = __shfl_xor_sync(ALL, v, (int)d);							\
		o[4] = __shfl_sync(ALL, v, (int)(GID * 5 + d), 8);					\
		o[5] = __shfl_up_sync(ALL, v, 3, 16);							\
		o[6] = __shfl_down_sync(ALL, v, 2, 4);							\
		o[7] = __shfl_xor_sync(ALL, v, 5, 8);							\
	}												\
	CASE(name, d3(2), d3(64), 0, 4, "out:" spec ":1024 in:" spec ":128 u32=9")
SHUFFLES(shuffle_u32, u32, "u32")
SHUFFLES(shuffle_s32, s32, "s32")
SHUFFLES(shuffle_f32, f32, "f32")
SHUFFLES(shuffle_u64, u64, "u64")
SHUFFLES(shuffle_f64, f64, "f64")
/* The predicate says whether the source was in the segment. */
KERNEL(shuffle_predicate)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r, p, q, *o = out + 4 * GID;

	ON_DEVICE(asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 5, 0x1800, -1; selp.u32 %1, 1, 0, p; }" : "=r"(r), "=r"(p) : "r"(v));)
	ON_CPU(r = __shfl_up_sync(ALL, v, 5, 8); p = (LANE & 7) >= 5;)
	o[0] = r;
	o[1] = p;
	ON_DEVICE(asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, %3, 0x1f, -1; selp.u32 %1, 1, 0, p; }" : "=r"(r), "=r"(q) : "r"(v), "r"(30));)
	ON_CPU(r = __shfl_down_sync(ALL, v, 30); q = LANE + 30 < 32;)
	o[2] = r;
	o[3] = q;
}
CASE(shuffle_predicate, d3(1), d3(64), 0, 5, "out:u32:256 in:u32:64")
/* Each lane its own distance and source. */
KERNEL(shuffle_by_lane)(u32 *out, const u32 *in)
{
	u32 v = in[GID], d = v >> 5 & 31;

	out[4 * GID] = __shfl_sync(ALL, v, (int)d);
	out[4 * GID + 1] = __shfl_up_sync(ALL, v, d);
	out[4 * GID + 2] = __shfl_down_sync(ALL, v, d);
	out[4 * GID + 3] = __shfl_xor_sync(ALL, v, (int)d);
}
CASE(shuffle_by_lane, d3(2), d3(64), 0, 6, "out:u32:512 in:u32:128")
KERNEL(shuffle_in_branches)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	if (LANE & 4)
		v += __shfl_xor_sync(0xf0f0f0f0, v, 8);
	else
		v -= __shfl_xor_sync(0x0f0f0f0f, v, 1);
	__syncwarp();
	out[GID] = v + __shfl_sync(ALL, v, 31);
}
CASE(shuffle_in_branches, d3(2), d3(64), 0, 7, "out:u32:128 in:u32:128")

KERNEL(match_any)(u32 *out, const u32 *in, const u64 *wide)
{
	out[2 * GID] = __match_any_sync(ALL, in[GID] & 3);
	out[2 * GID + 1] = __match_any_sync(ALL, wide[GID] & 0x8000000000000001ull);
}
CASE(match_any, d3(2), d3(64), 0, 8, "out:u32:256 in:u32:128 in:u64:128")
KERNEL(match_all)(u32 *out, const u32 *in)
{
	int p, q, r;

	out[4 * GID] = __match_all_sync(ALL, in[GID] & 3, &p);
	out[4 * GID + 1] = __match_all_sync(ALL, (u32)(GID >> 5), &q);
	out[4 * GID + 2] = __match_all_sync(ALL, (u64)(GID >> 5) << 40, &r);
	out[4 * GID + 3] = (u32)p + 2 * (u32)q + 4 * (u32)r;
}
CASE(match_all, d3(2), d3(64), 0, 9, "out:u32:512 in:u32:128")
KERNEL(match_in_branch)(u32 *out, const u32 *in)
{
	u32 r = 0;

	if (LANE % 3 == 0)
		r = __match_any_sync(0x49249249, in[GID] & 1);
	out[GID] = r;
}
CASE(match_in_branch, d3(2), d3(64), 0, 10, "out:u32:128 in:u32:128")

KERNEL(redux)(u32 *out, const u32 *in)
{
	u32 v = in[GID], *o = out + 9 * GID;

	o[0] = __reduce_add_sync(ALL, v);
	o[1] = __reduce_min_sync(ALL, v);
	o[2] = __reduce_max_sync(ALL, v);
	o[3] = __reduce_and_sync(ALL, v | 0xff0000ff);
	o[4] = __reduce_or_sync(ALL, v & 0x00ffff00);
	o[5] = __reduce_xor_sync(ALL, v);
	o[6] = (u32)__reduce_add_sync(ALL, (s32)v >> 3);
	o[7] = (u32)__reduce_min_sync(ALL, (s32)v);
	o[8] = (u32)__reduce_max_sync(ALL, (s32)v);
}
CASE(redux, d3(2), d3(64), 0, 11, "out:u32:1152 in:u32:128")
KERNEL(redux_in_branch)(u32 *out, const u32 *in)
{
	u32 v = in[GID], r;

	if (LANE < 20)
		r = __reduce_max_sync(0xfffff, v) + (u32)__reduce_min_sync(0xfffff, (s32)v);
	else
		r = __reduce_xor_sync(0xfff00000, v);
	out[GID] = r;
}
CASE(redux_in_branch, d3(2), d3(64), 0, 12, "out:u32:128 in:u32:128")

/* A last warp of 13 lanes, and lanes that have ended. */
KERNEL(partial_warp)(u32 *out, const u32 *in)
{
	u32 mask = threadIdx.x < 32 ? ALL : 0x1fff, v = in[threadIdx.x];

	out[threadIdx.x] = __ballot_sync(mask, v & 1) + __reduce_add_sync(mask, v) + ACTIVE(mask) * 3 +
			   __shfl_sync(mask, v, 5);
}
CASE(partial_warp, d3(1), d3(45), 0, 13, "out:u32:45 in:u32:45")
KERNEL(after_exit)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	out[GID] = v;
	if (LANE & 1)
		return;
	out[GID] = __ballot_sync(0x55555555, v & 1) + ACTIVE(0x55555555) + __shfl_xor_sync(0x55555555, v, 2);
}
CASE(after_exit, d3(2), d3(64), 0, 14, "out:u32:128 in:u32:128")

/* What people build of them. */
KERNEL(warp_scan)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	for (int d = 1; d < 32; d <<= 1) {
		u32 n = __shfl_up_sync(ALL, v, d);

		if (LANE >= (u32)d)
			v += n;
	}
	out[GID] = v;
}
CASE(warp_scan, d3(2), d3(96), 0, 15, "out:u32:192 in:u32:192")
KERNEL(block_reduce)(f32 *out, const f32 *in)
{
	__shared__ f32 sums[4];
	f32 v = in[GID];

	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_down_sync(ALL, v, d);
	if (LANE == 0)
		sums[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		v = LANE < 4 ? sums[LANE] : 0.0f;
		for (int d = 2; d > 0; d >>= 1)
			v += __shfl_down_sync(ALL, v, d);
		if (LANE == 0)
			out[blockIdx.x] = v;
	}
}
CASE(block_reduce, d3(4), d3(128), 0, 16, "out:f32:4 in:f32:512:unit")
KERNEL(bitonic_warp)(s32 *out, const s32 *in)
{
	s32 v = in[GID];

	for (u32 k = 2; k <= 32; k <<= 1) {
		for (u32 j = k >> 1; j > 0; j >>= 1) {
			s32 w = __shfl_xor_sync(ALL, v, (int)j);
			bool up = (LANE & k) == 0, low = (LANE & j) == 0;

			v = (v < w) == (up == low) ? v : w;
		}
	}
	out[GID] = v;
}
CASE(bitonic_warp, d3(2), d3(64), 0, 17, "out:s32:128 in:s32:128")
/* Aggregated atomics: one lane adds for all that are there. */
KERNEL(aggregated)(u32 *counter, u32 *taken, const u32 *in)
{
	u32 wants = in[GID] & 1, who = __ballot_sync(ALL, wants), base = 0;

	if (wants) {
		u32 leader = (u32)__ffs((int)who) - 1;

		if (LANE == leader)
			base = atomicAdd(counter, (u32)__popc(who));
		base = __shfl_sync(who, base, (int)leader);
		taken[base + (u32)__popc(who & ((1u << LANE) - 1))] = 1;
	}
}
CASE(aggregated, d3(2), d3(96), 0, 18, "io:u32:1:zero io:u32:192:zero in:u32:192")
KERNEL(syncwarp_shared)(u32 *out, const u32 *in)
{
	__shared__ u32 s[64];
	u32 t = threadIdx.x, w = t & 32;

	s[t] = in[GID];
	__syncwarp();
	for (u32 d = 16; d > 0; d >>= 1) {
		u32 v = s[w | ((t + d) & 31)];

		__syncwarp();
		s[t] = s[t] * 5 + v;
		__syncwarp();
	}
	out[GID] = s[t];
}
CASE(syncwarp_shared, d3(2), d3(64), 0, 19, "out:u32:128 in:u32:128")
