// SPDX-License-Identifier: GPL-2.0
// Barriers: sync, counted, arrive, reductions, named ones, with divergence around them.
#include "shim.h"

#ifndef DIFF_CPU
DEVICE void bar_sync(u32 b, u32 n) { asm volatile("bar.sync %0, %1;" :: "r"(b), "r"(n) : "memory"); }
DEVICE void bar_arrive(u32 b, u32 n) { asm volatile("bar.arrive %0, %1;" :: "r"(b), "r"(n) : "memory"); }
DEVICE void barrier_sync(u32 b) { asm volatile("barrier.sync %0;" :: "r"(b) : "memory"); }
DEVICE void barrier_counted(u32 b, u32 n) { asm volatile("barrier.sync.aligned %0, %1;" :: "r"(b), "r"(n) : "memory"); }
DEVICE u32 bar_popc(u32 b, u32 n, u32 p)
{
	u32 r;

	asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; bar.red.popc.u32 %0, %1, %2, p; }"
		     : "=r"(r) : "r"(b), "r"(n), "r"(p) : "memory");
	return r;
}
DEVICE u32 bar_all_not(u32 b, u32 p)
{
	u32 r;

	asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %2, 0; bar.red.and.pred q, %1, !p; selp.u32 %0, 1, 0, q; }"
		     : "=r"(r) : "r"(b), "r"(p) : "memory");
	return r;
}
#else
DEVICE void bar_sync(u32 b, u32 n) { lane_barrier(b, n, LANE_SYNC, 0); }
DEVICE void bar_arrive(u32 b, u32 n) { lane_barrier(b, n, LANE_ARRIVE, 0); }
DEVICE void barrier_sync(u32 b) { lane_barrier(b, 0, LANE_SYNC, 0); }
DEVICE void barrier_counted(u32 b, u32 n) { lane_barrier(b, n, LANE_SYNC, 0); }
DEVICE u32 bar_popc(u32 b, u32 n, u32 p) { return lane_barrier(b, n, LANE_POPC, p != 0); }
DEVICE u32 bar_all_not(u32 b, u32 p) { return lane_barrier(b, 0, LANE_AND, !p); }
#endif

KERNEL(reverse)(u32 *out, const u32 *in)
{
	__shared__ u32 s[96];

	s[threadIdx.x] = in[GID];
	__syncthreads();
	out[GID] = s[95 - threadIdx.x];
}
CASE(reverse, d3(3), d3(96), 0, 1, "out:u32:288 in:u32:288")
KERNEL(phases)(u32 *out, const u32 *in)
{
	__shared__ u32 s[128];
	u32 t = threadIdx.x;

	s[t] = in[GID];
	for (u32 k = 1; k < 20; k++) {
		u32 v;

		__syncthreads();
		v = s[(t + k) & 127];
		__syncthreads();
		s[t] = s[t] * 3 + v;
	}
	out[GID] = s[t];
}
CASE(phases, d3(2), d3(128), 0, 2, "out:u32:256 in:u32:256")
KERNEL(count_and_or)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	out[4 * GID] = (u32)__syncthreads_count(v & 1);
	out[4 * GID + 1] = (u32)__syncthreads_and(v != 0) != 0;
	out[4 * GID + 2] = (u32)__syncthreads_or(v == 0xffffffff) != 0;
	out[4 * GID + 3] = (u32)__syncthreads_count((s32)v < 0);
}
CASE(count_and_or, d3(4), d3(80), 0, 3, "out:u32:1280 in:u32:320")
/* Two pairs of warps meet at barriers of their own. */
KERNEL(named)(u32 *out, const u32 *in)
{
	__shared__ u32 s[128];
	u32 t = threadIdx.x, half = t / 64;

	s[t] = in[GID];
	bar_sync(1 + half, 64);
	out[GID] = s[half * 64 + (63 - (t & 63))] + half;
	barrier_counted(1 + half, 64);
	s[t] = out[GID] * 3;
	barrier_sync(0);
	out[GID] += s[127 - t];
}
CASE(named, d3(2), d3(128), 0, 4, "out:u32:256 in:u32:256")
/* Producers arrive and go on, consumers wait: bar.arrive. */
KERNEL(producer_consumer)(u32 *out, const u32 *in)
{
	__shared__ u32 s[32];
	u32 t = threadIdx.x;

	if (t < 32) {
		s[t] = in[t] * 5;
		__threadfence_block();
		bar_arrive(3, 64);
		out[t] = s[t] + 1;
	} else {
		bar_sync(3, 64);
		out[t] = s[63 - t];
	}
}
CASE(producer_consumer, d3(1), d3(64), 0, 5, "out:u32:64 in:u32:64")
KERNEL(ping_pong)(u32 *out, const u32 *in)
{
	__shared__ u32 s[32];
	u32 t = threadIdx.x, lane = t & 31, sum = 0;

	for (u32 k = 0; k < 6; k++) {
		if (t < 32) {
			s[lane] = in[lane] + k;
			bar_arrive(1, 64);
			bar_sync(2, 64);
		} else {
			bar_sync(1, 64);
			sum = sum * 3 + s[31 - lane];
			bar_arrive(2, 64);
		}
	}
	out[t] = sum;
}
CASE(ping_pong, d3(1), d3(64), 0, 6, "out:u32:64 in:u32:64")
KERNEL(reduce_named)(u32 *out, const u32 *in)
{
	u32 t = threadIdx.x, v = in[GID];

	out[3 * GID] = t < 64 ? bar_popc(4, 64, v & 1) : bar_popc(5, 32, v & 2);
	out[3 * GID + 1] = bar_all_not(6, v == 0x12345);
	out[3 * GID + 2] = bar_all_not(7, v & 1);
}
CASE(reduce_named, d3(2), d3(96), 0, 7, "out:u32:576 in:u32:192")
/* Whole warps leave before the barrier: the rest still meet. */
KERNEL(warps_leave)(u32 *out, const u32 *in)
{
	__shared__ u32 s[128];
	u32 t = threadIdx.x;

	s[t] = in[t];
	__syncthreads();
	if (t >= 64) {
		out[t] = s[t];
		return;
	}
	s[t] += 1;
	__syncthreads();
	out[t] = s[63 - t];
}
CASE(warps_leave, d3(1), d3(128), 0, 8, "out:u32:128 in:u32:128")
/* In a loop that every thread leaves in the same round, decided together. */
KERNEL(until_all)(u32 *out, const u32 *in)
{
	u32 v = in[GID] & 63, rounds = 0;

	while (__syncthreads_or(v != 0)) {
		if (v)
			v = v >> 1;
		rounds++;
	}
	out[GID] = rounds;
}
CASE(until_all, d3(3), d3(64), 0, 9, "out:u32:192 in:u32:192")
KERNEL(partial_warp)(u32 *out, const u32 *in)
{
	__shared__ u32 s[77];
	u32 t = LINEAR_TID;

	s[t] = in[t];
	__syncthreads();
	out[t] = s[76 - t] + (u32)__syncthreads_count(t % 3 == 0);
}
CASE(partial_warp, d3(1), d3(7, 11), 0, 10, "out:u32:77 in:u32:77")
KERNEL(between_diverged)(u32 *out, const u32 *in)
{
	__shared__ u32 s[64];
	u32 t = threadIdx.x, v = in[GID];

	for (u32 k = 0; k < 4; k++) {
		if (v & (1u << k))
			s[t] = v * k;
		else
			s[t] = v + k;
		__syncthreads();
		v ^= s[(t + 17) & 63];
		__syncthreads();
	}
	out[GID] = v;
}
CASE(between_diverged, d3(2), d3(64), 0, 11, "out:u32:128 in:u32:128")
