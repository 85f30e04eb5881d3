/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU build of a kernel file: CUDA's names as plain C++ over the fibers of
 * lanes.h. Every definition is from the CUDA or PTX manual and shares nothing with
 * the engine. Atomics are plain, since one fiber runs at a time.
 */
#ifndef TESTS_DIFFERENTIAL_CPU_H
#define TESTS_DIFFERENTIAL_CPU_H

#include <math.h>
#include <string.h>

#include "lanes.h"
#include "soft.h"

#define __global__
#define __device__
#define __shared__	static
#define __constant__	static
#define __noinline__	__attribute__((noinline))
#define __forceinline__	inline
#define __align__(n)	__attribute__((aligned(n)))
#define DEV		static inline
#define KERNEL(name)	extern "C" __attribute__((visibility("hidden"))) void k_##name
#define DEVICE		static inline
#define NOINLINE	static __attribute__((noinline))
#define EXTERN_SHARED(type, name) type *name = (type *)lane_self.dynamic

#define threadIdx	lane_self.tid
#define blockIdx	lane_self.cta
#define blockDim	lane_self.block
#define gridDim		lane_self.grid

/* --- rows -------------------------------------------------------------------------- */
extern "C" { __attribute__((visibility("default"))) const struct diff_case *diff_cases; }

static constexpr diff_dims d3(unsigned int x, unsigned int y = 1, unsigned int z = 1)
{
	return { x, y, z };
}

template <auto F> struct diff_caller;
template <typename... A, void (*F)(A...)> struct diff_caller<F> {
	template <typename T> static T take(const char *params, unsigned int &at)
	{
		T value;

		at = (at + alignof(T) - 1) & ~(unsigned int)(alignof(T) - 1);
		memcpy((void *)&value, params + at, sizeof(T));
		at += sizeof(T);
		return value;
	}
	struct go {
		/* The order of evaluation is the order of the parameters in braces only. */
		go(A... a) { F(a...); }
	};
	static void call(const void *params)
	{
		unsigned int at = 0;

		(void)at;
		go { take<A>((const char *)params, at)... };
	}
};

struct diff_row {
	diff_case c;

	diff_row(const char *name, diff_dims grid, diff_dims block, unsigned int shared,
		 uint64_t seed, const char *args, const char *fails, void (*call)(const void *))
		: c { name, grid, block, shared, seed, args, fails, call, diff_cases }
	{
		diff_cases = &c;
	}
};
#define CASE(name, grid, block, shared, seed, args) \
	static diff_row row_##name("k_" #name, grid, block, shared, seed, args, nullptr, \
				   diff_caller<&k_##name>::call);
#define FAILS(name, grid, block, shared, seed, args, text) \
	static diff_row row_##name("k_" #name, grid, block, shared, seed, args, text, \
				   diff_caller<&k_##name>::call);

#define OP1(name, r_t, r_c, a_t, a_c, text, ...) \
	DEVICE r_t name(a_t a) { return __VA_ARGS__; }
#define OP2(name, r_t, r_c, a_t, a_c, b_t, b_c, text, ...) \
	DEVICE r_t name(a_t a, b_t b) { return __VA_ARGS__; }
#define OP3(name, r_t, r_c, a_t, a_c, b_t, b_c, c_t, c_c, text, ...) \
	DEVICE r_t name(a_t a, b_t b, c_t c) { return __VA_ARGS__; }
#define TEXT1 OP1
#define TEXT2 OP2
#define TEXT3 OP3
#define SREG32(name, reg, ...) DEVICE u32 name(void) { return __VA_ARGS__; }
#define ACTIVE(...)	((u32)(__VA_ARGS__))
#define THREAD_EXIT()	lane_exit()
#define ON_DEVICE(...)
#define ON_CPU(...)	__VA_ARGS__

/* --- vectors ----------------------------------------------------------------------- */
struct __align__(2) uchar2 { u8 x, y; };
struct __align__(4) uchar4 { u8 x, y, z, w; };
struct __align__(4) ushort2 { u16 x, y; };
struct __align__(8) ushort4 { u16 x, y, z, w; };
struct __align__(8) uint2 { u32 x, y; };
struct __align__(16) uint4 { u32 x, y, z, w; };
struct __align__(8) int2 { s32 x, y; };
struct __align__(16) int4 { s32 x, y, z, w; };
struct __align__(8) float2 { f32 x, y; };
struct __align__(16) float4 { f32 x, y, z, w; };
struct __align__(16) double2 { f64 x, y; };
struct __align__(16) ulonglong2 { u64 x, y; };

/* --- together ----------------------------------------------------------------------- */
DEV void __syncthreads(void) { lane_barrier(0, 0, LANE_SYNC, 0); }
DEV int __syncthreads_count(int p) { return lane_barrier(0, 0, LANE_POPC, p); }
DEV int __syncthreads_and(int p) { return lane_barrier(0, 0, LANE_AND, p); }
DEV int __syncthreads_or(int p) { return lane_barrier(0, 0, LANE_OR, p); }
DEV void __syncwarp(u32 mask = 0xffffffff) { lane_meet(LANE_MEET, mask, 0, 0); }
DEV void __threadfence(void) {}
DEV void __threadfence_block(void) {}
DEV void __threadfence_system(void) {}
DEV int __all_sync(u32 mask, int p) { return (int)lane_meet(LANE_ALL, mask, p != 0, 0); }
DEV int __any_sync(u32 mask, int p) { return (int)lane_meet(LANE_ANY, mask, p != 0, 0); }
DEV u32 __ballot_sync(u32 mask, int p) { return (u32)lane_meet(LANE_BALLOT, mask, p != 0, 0); }
DEV u32 __activemask(void) { return (u32)lane_meet(LANE_ACTIVE, 0, 0, 0); }

/* PTX ISA, shfl.sync: which lane is read, by segment and clamp. */
enum shfl_kind { SHFL_IDX, SHFL_UP, SHFL_DOWN, SHFL_BFLY };
static inline u32 shfl_from(shfl_kind kind, u32 b, int width, bool *inside)
{
	int lane = LANE, segment = -width, low = lane & segment, high = low + width - 1, j = 0;

	switch (kind) {
	case SHFL_IDX: j = low | (int)(b & (u32)(width - 1)); *inside = true; break;
	case SHFL_UP: j = lane - (int)(b & 31); *inside = j >= low; break;
	case SHFL_DOWN: j = lane + (int)(b & 31); *inside = j <= high; break;
	case SHFL_BFLY: j = lane ^ (int)(b & 31); *inside = j <= high; break;
	}
	return *inside ? (u32)j : (u32)lane;
}
template <typename T> static inline T shfl(shfl_kind kind, u32 mask, T v, u32 b, int width)
{
	bool inside;
	u64 bits = 0;
	u32 from = shfl_from(kind, b, width, &inside);

	memcpy(&bits, &v, sizeof(v));
	bits = lane_meet(LANE_SHFL, mask, bits, from);
	memcpy(&v, &bits, sizeof(v));
	return v;
}
template <typename T> static inline T __shfl_sync(u32 m, T v, int b, int w = 32)
{ return shfl(SHFL_IDX, m, v, b, w); }
template <typename T> static inline T __shfl_up_sync(u32 m, T v, int b, int w = 32)
{ return shfl(SHFL_UP, m, v, b, w); }
template <typename T> static inline T __shfl_down_sync(u32 m, T v, int b, int w = 32)
{ return shfl(SHFL_DOWN, m, v, b, w); }
template <typename T> static inline T __shfl_xor_sync(u32 m, T v, int b, int w = 32)
{ return shfl(SHFL_BFLY, m, v, b, w); }
DEV u32 __match_any_sync(u32 mask, u64 v) { return (u32)lane_meet(LANE_MATCH_ANY, mask, v, 0); }
DEV u32 __match_all_sync(u32 mask, u64 v, int *pred)
{
	u32 r = (u32)lane_meet(LANE_MATCH_ALL, mask, v, 0);

	*pred = r != 0;
	return r;
}
#define REDUX(name, type, kind) \
	DEV type name(u32 mask, type v) { return (type)lane_meet(kind, mask, (u32)v, 0); }
REDUX(__reduce_add_sync, u32, LANE_RED_ADD)
REDUX(__reduce_add_sync, s32, LANE_RED_ADD)
REDUX(__reduce_min_sync, u32, LANE_RED_MINU)
REDUX(__reduce_min_sync, s32, LANE_RED_MINS)
REDUX(__reduce_max_sync, u32, LANE_RED_MAXU)
REDUX(__reduce_max_sync, s32, LANE_RED_MAXS)
REDUX(__reduce_and_sync, u32, LANE_RED_AND)
REDUX(__reduce_or_sync, u32, LANE_RED_OR)
REDUX(__reduce_xor_sync, u32, LANE_RED_XOR)

/* --- atomics -------------------------------------------------------------------------- */
template <typename T> struct same_type { typedef T type; };
#define ATOMIC(name, ...)								\
	template <typename T> static inline T name(T *p, typename same_type<T>::type v)	\
	{ T old = *p; *p = __VA_ARGS__; return old; }
ATOMIC(atomicAdd, old + v)
ATOMIC(atomicSub, old - v)
ATOMIC(atomicExch, v)
ATOMIC(atomicMin, v < old ? v : old)
ATOMIC(atomicMax, v > old ? v : old)
ATOMIC(atomicAnd, old & v)
ATOMIC(atomicOr, old | v)
ATOMIC(atomicXor, old ^ v)
ATOMIC(atomicInc, old >= v ? 0 : old + 1)
ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
template <typename T>
static inline T atomicCAS(T *p, typename same_type<T>::type c, typename same_type<T>::type v)
{
	T old = *p;

	if (old == c)
		*p = v;
	return old;
}

/* --- integers ------------------------------------------------------------------------- */
DEV int __popc(u32 v) { return __builtin_popcount(v); }
DEV int __popcll(u64 v) { return __builtin_popcountll(v); }
DEV int __clz(int v) { return v ? __builtin_clz((u32)v) : 32; }
DEV int __clzll(s64 v) { return v ? __builtin_clzll((u64)v) : 64; }
DEV int __ffs(int v) { return v ? __builtin_ctz((u32)v) + 1 : 0; }
DEV int __ffsll(s64 v) { return v ? __builtin_ctzll((u64)v) + 1 : 0; }
DEV u64 reversed(u64 v, int bits)
{
	u64 r = 0;

	for (int i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}
DEV u32 __brev(u32 v) { return (u32)reversed(v, 32); }
DEV u64 __brevll(u64 v) { return reversed(v, 64); }
DEV u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
DEV int __mulhi(int a, int b) { return (int)((s64)a * b >> 32); }
DEV u64 __umul64hi(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
DEV s64 __mul64hi(s64 a, s64 b) { return (s64)((__int128)a * b >> 64); }
DEV u32 __umul24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
DEV s32 signed24(s32 a) { return (s32)((u32)a << 8) >> 8; }
DEV int __mul24(int a, int b) { return (int)(u32)((s64)signed24(a) * signed24(b)); }
DEV u32 __usad(u32 a, u32 b, u32 c) { return c + (a > b ? a - b : b - a); }
/* PTX ISA, prmt, the mode without a name: four selectors, bit 3 replicates the sign. */
DEV u32 soft_prmt(u32 a, u32 b, u32 s)
{
	u64 bytes = (u64)b << 32 | a;
	u32 r = 0;

	for (int i = 0; i < 4; i++) {
		u32 sel = s >> (4 * i) & 15, byte = (u32)(bytes >> (8 * (sel & 7))) & 0xff;

		if (sel & 8)
			byte = byte & 0x80 ? 0xff : 0;
		r |= byte << (8 * i);
	}
	return r;
}
DEV u32 __byte_perm(u32 a, u32 b, u32 s) { return soft_prmt(a, b, s & 0x7777); }
DEV u32 __funnelshift_l(u32 lo, u32 hi, u32 s)
{ return (u32)(((u64)hi << 32 | lo) << (s & 31) >> 32); }
DEV u32 __funnelshift_r(u32 lo, u32 hi, u32 s)
{ return (u32)(((u64)hi << 32 | lo) >> (s & 31)); }

/* --- floats ---------------------------------------------------------------------------- */
DEV u32 __float_as_uint(f32 v) { u32 r; memcpy(&r, &v, 4); return r; }
DEV int __float_as_int(f32 v) { return (int)__float_as_uint(v); }
DEV f32 __uint_as_float(u32 v) { f32 r; memcpy(&r, &v, 4); return r; }
DEV f32 __int_as_float(int v) { return __uint_as_float((u32)v); }
DEV s64 __double_as_longlong(f64 v) { s64 r; memcpy(&r, &v, 8); return r; }
DEV f64 __longlong_as_double(s64 v) { f64 r; memcpy(&r, &v, 8); return r; }
/* PTX orders the zeros, libm need not. */
#define fminf		soft_min<f32>
#define fmaxf		soft_max<f32>
#define fmin		soft_min<f64>
#define fmax		soft_max<f64>

#define printf		lane_printf
#define assert(e)	((e) ? (void)0 : lane_exit())
DEV void __trap(void) { lane_exit(); }

#endif
