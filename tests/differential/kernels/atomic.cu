// SPDX-License-Identifier: GPL-2.0
// atom and red: every operation, type and space; orders that do not show.
// arch: 70
// ptx: 6.3
#include "shim.h"

/* Each thread adds its own, so the sum is known; what is read back is ranked, not compared. */
KERNEL(add_global)(u32 *u, s32 *s, u64 *l, f32 *f, f64 *d, const u32 *in)
{
	u32 v = in[GID] & 1023;

	atomicAdd(&u[v & 7], v);
	atomicAdd(s, (s32)v - 500);
	atomicAdd(&l[v & 3], (u64)v << 33);
	atomicAdd(&f[v & 1], (f32)v);
	atomicAdd(d, (f64)v * 0.5);
	atomicSub(&u[8 + (v & 7)], v);
}
CASE(add_global, d3(3), d3(96), 0, 1, "io:u32:16:small io:s32:1 io:u64:4 io:f32:2:int io:f64:1:int in:u32:288")
KERNEL(add_shared)(u32 *out, const u32 *in)
{
	__shared__ u32 u[8];
	__shared__ u64 l[2];
	__shared__ f32 f;
	u32 t = threadIdx.x, v = in[GID] & 255;

	if (t < 8)
		u[t] = t;
	if (t < 2)
		l[t] = 1ull << 40;
	if (t == 0)
		f = 0.5f;
	__syncthreads();
	atomicAdd(&u[v & 7], v);
	atomicAdd(&l[v & 1], (u64)v << 20);
	atomicAdd(&f, (f32)v);
	__syncthreads();
	if (t < 8)
		out[16 * blockIdx.x + t] = u[t];
	if (t < 2)
		out[16 * blockIdx.x + 8 + t] = (u32)(l[t] >> 16);
	if (t == 0)
		out[16 * blockIdx.x + 10] = __float_as_uint(f);
}
CASE(add_shared, d3(2), d3(96), 0, 2, "out:u32:32 in:u32:192")

#define EXTREME(name, T, spec)										\
	KERNEL(name)(T *lo, T *hi, const T *in)								\
	{												\
		__shared__ T a, b;									\
		if (threadIdx.x == 0) {									\
			a = in[0];									\
			b = in[0];									\
		}											\
		__syncthreads();									\
		atomicMin(&a, in[GID]);									\
		atomicMax(&b, in[GID]);									\
		atomicMin(lo, in[GID]);									\
		atomicMax(hi, in[GID]);									\
		__syncthreads();									\
		if (threadIdx.x == 0) {									\
			lo[1 + blockIdx.x] = a;								\
			hi[1 + blockIdx.x] = b;								\
		}											\
	}												\
	CASE(name, d3(2), d3(64), 0, 3, "io:" spec ":3 io:" spec ":3 in:" spec ":128")
EXTREME(min_max_s32, s32, "s32")
EXTREME(min_max_u32, u32, "u32")
EXTREME(min_max_s64, s64, "s64")
EXTREME(min_max_u64, u64, "u64")

KERNEL(bitwise)(u32 *u, u64 *l, const u64 *in)
{
	u64 v = in[GID];

	atomicAnd(&u[0], (u32)v | 0xff00ff00);
	atomicOr(&u[1], (u32)v & 0x0f0f0f0f);
	atomicXor(&u[2], (u32)v);
	atomicAnd(&l[0], v | 0xffff0000ffff0000ull);
	atomicOr(&l[1], v & 0x00ff00ff00ff00ffull);
	atomicXor(&l[2], v);
}
CASE(bitwise, d3(2), d3(64), 0, 4, "io:u32:3 io:u64:3 in:u64:128")

/* inc and dec wrap: every value between comes up equally often. */
KERNEL(inc_dec)(u32 *counters, u32 *seen)
{
	u32 a = atomicInc(&counters[0], 9), b = atomicDec(&counters[1], 6);

	atomicAdd(&seen[a], 1);
	atomicAdd(&seen[16 + b], 1);
}
CASE(inc_dec, d3(2), d3(70), 0, 5, "io:u32:2:zero io:u32:32:zero")
/* What atomicAdd returns is a permutation: each ticket is taken once. */
KERNEL(tickets)(u32 *counter, u32 *taken)
{
	taken[atomicAdd(counter, 1)] = 1;
}
CASE(tickets, d3(4), d3(96), 0, 6, "io:u32:1:zero out:u32:384")
KERNEL(exchange)(u32 *slots, u64 *wide, u32 *sums)
{
	u32 got = atomicExch(&slots[GID & 3], GID + 1);

	/* All that was put in and what was there come out, or are left. */
	atomicAdd(&sums[GID & 3], got);
	atomicAdd(&sums[4], (u32)atomicExch(&wide[GID & 1], (u64)GID << 8) >> 8);
	__threadfence();
	if (atomicAdd(&sums[5], 1) == 191) {
		for (u32 k = 0; k < 4; k++) {
			atomicAdd(&sums[k], atomicExch(&slots[k], 0));
		}
		for (u32 k = 0; k < 2; k++)
			atomicAdd(&sums[4], (u32)(atomicExch(&wide[k], 0) >> 8));
	}
}
CASE(exchange, d3(2), d3(96), 0, 7, "io:u32:4:small io:u64:2:zero io:u32:6:zero")
/* CAS loops: a product (commutes), of floats by their bits too. */
KERNEL(cas_loop)(u32 *product, u64 *wide, f32 *largest, const u32 *in)
{
	u32 v = in[GID] | 1, old, seen;
	u64 was, now;
	f32 x = (f32)(in[GID] >> 4);

	seen = *(volatile u32 *)product;
	do {
		old = seen;
		seen = atomicCAS(product, old, old * v);
	} while (seen != old);
	now = *(volatile u64 *)wide;
	do {
		was = now;
		now = atomicCAS(wide, was, was * (v | 0x100000001ull));
	} while (now != was);
	seen = __float_as_uint(*(volatile f32 *)largest);
	do {
		old = seen;
		if (__uint_as_float(old) >= x)
			break;
		seen = atomicCAS((u32 *)largest, old, __float_as_uint(x));
	} while (seen != old);
}
CASE(cas_loop, d3(2), d3(64), 0, 8, "io:u32:1 io:u64:1 io:f32:1:zero in:u32:128")
KERNEL(lock)(u32 *mutex, u32 *data)
{
	/* One lane of each warp takes the lock, so that no lane waits for its own warp. */
	if (LANE == 0) {
		while (atomicCAS(mutex, 0, 1) != 0) {
			ON_CPU(lane_yield();)
		}
		__threadfence();
		data[0] = data[0] + 1;
		data[1] = data[1] * 3 + 1;
		__threadfence();
		atomicExch(mutex, 0);
	}
}
CASE(lock, d3(2), d3(128), 0, 9, "io:u32:1:zero io:u32:2:small")

/* The texts: .global and .shared, scopes and orders, red, vectors of one. */
#define ATOM(name, T, c, text, ...)									\
	DEVICE T name(T *p, T v)									\
	{ ON_DEVICE(T r; asm volatile(text : "=" c(r) : "l"(p), c(v) : "memory"); return r;)		\
	  ON_CPU(T old = *p; *p = (T)(__VA_ARGS__); return old;) }
#define RED(name, T, c, text, ...)									\
	DEVICE void name(T *p, T v)									\
	{ ON_DEVICE(asm volatile(text :: "l"(p), c(v) : "memory");) ON_CPU(T old = *p; *p = (T)(__VA_ARGS__);) }
ATOM(atom_add_relaxed, u32, "r", "atom.relaxed.gpu.global.add.u32 %0, [%1], %2;", old + v)
ATOM(atom_or_acq_rel, u32, "r", "atom.acq_rel.sys.global.or.b32 %0, [%1], %2;", old | v)
ATOM(atom_min_s64, s64, "l", "atom.global.min.s64 %0, [%1], %2;", v < old ? v : old)
ATOM(atom_add_cta, u64, "l", "atom.release.cta.add.u64 %0, [%1], %2;", old + v)
RED(red_add_u32, u32, "r", "red.global.add.u32 [%0], %1;", old + v)
RED(red_add_s32, s32, "r", "red.relaxed.gpu.global.add.s32 [%0], %1;", (u32)old + (u32)v)
RED(red_and_b64, u64, "l", "red.global.and.b64 [%0], %1;", old & v)
RED(red_max_u64, u64, "l", "red.global.max.u64 [%0], %1;", v > old ? v : old)
RED(red_xor_b32, u32, "r", "red.xor.b32 [%0], %1;", old ^ v)
RED(red_inc_u32, u32, "r", "red.global.inc.u32 [%0], %1;", old >= v ? 0 : old + 1)
RED(red_add_f32, f32, "f", "red.global.add.f32 [%0], %1;", old + v)
RED(red_add_f64, f64, "d", "red.global.add.f64 [%0], %1;", old + v)
KERNEL(atom_text)(u32 *u, u64 *l, f32 *f, f64 *d, const u64 *in)
{
	u64 v = in[GID];

	atomicAdd(&u[7], atom_add_relaxed(&u[0], 1));
	atom_or_acq_rel(&u[1], (u32)v & 0x11111111);
	atom_min_s64((s64 *)&l[0], (s64)v);
	atom_add_cta(&l[1], v);
	red_add_u32(&u[2], (u32)v);
	red_add_s32((s32 *)&u[3], (s32)v);
	red_and_b64(&l[2], v | 0xf0f0f0f0f0f0f0f0ull);
	red_max_u64(&l[3], v);
	red_xor_b32(&u[4], (u32)(v >> 7));
	red_inc_u32(&u[5], 12);
	red_add_f32(&f[0], (f32)(v & 63));
	red_add_f64(&d[0], (f64)(v & 63));
}
CASE(atom_text, d3(2), d3(96), 0, 10, "io:u32:8:small io:u64:4 io:f32:1:int io:f64:1:int in:u64:192")

/* 16 bits, and halves whose sums are exact. */
KERNEL(atom_narrow)(u16 *h, u32 *pair, u16 *word)
{
	ON_DEVICE(asm volatile("{ .reg .b16 r, one; mov.b16 one, 0x3c00; atom.global.add.noftz.f16 r, [%0], one; }" :: "l"(h) : "memory");
		  asm volatile("{ .reg .b32 r; atom.global.add.noftz.f16x2 r, [%0], %1; }" :: "l"(pair), "r"(0x40003c00) : "memory");
		  asm volatile("{ .reg .b16 r, was, now; L: ld.volatile.global.b16 was, [%0]; add.u16 now, was, 3;"
			       "atom.global.cas.b16 r, [%0], was, now; .reg .pred p; setp.ne.b16 p, r, was; @p bra L; }" :: "l"(word) : "memory");)
	ON_CPU(*h = (u16)small_add(F16, *h, 0x3c00);
	       *pair = (u32)(small_add(F16, *pair & 0xffff, 0x3c00) | small_add(F16, *pair >> 16, 0x4000) << 16);
	       *word = (u16)(*word + 3);)
}
CASE(atom_narrow, d3(1), d3(64), 0, 11, "io:u16:1:zero io:u32:1:zero io:u16:2:small")
KERNEL(histogram)(u32 *bins, const u32 *in)
{
	__shared__ u32 local[32];

	if (threadIdx.x < 32)
		local[threadIdx.x] = 0;
	__syncthreads();
	for (u32 k = GID; k < 1000; k += gridDim.x * blockDim.x)
		atomicAdd(&local[in[k] % 31], 1);
	__syncthreads();
	if (threadIdx.x < 32)
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
CASE(histogram, d3(3), d3(64), 0, 12, "io:u32:32:zero in:u32:1000")
/* Some lanes only, at addresses that collide or do not. */
KERNEL(atomic_diverged)(u32 *out, const u32 *in)
{
	u32 v = in[GID];

	if (v & 1) {
		if (v & 2)
			atomicAdd(&out[v >> 2 & 3], v);
		else
			atomicMax(&out[4 + (v >> 2 & 3)], v);
	} else {
		for (u32 k = 0; k < (v >> 1 & 3); k++)
			atomicXor(&out[8 + k], v + k);
	}
}
CASE(atomic_diverged, d3(2), d3(64), 0, 13, "io:u32:12:small in:u32:128")
