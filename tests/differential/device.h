/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What CUDA's own headers would declare, for clang without a toolkit: only the
 * names that the kernels use, under their CUDA names so that nvcc takes the same
 * source. Included by shim.h in the device build of clang.
 */
#ifndef TESTS_DIFFERENTIAL_DEVICE_H
#define TESTS_DIFFERENTIAL_DEVICE_H

#define __global__	__attribute__((global))
#define __device__	__attribute__((device))
#define __shared__	__attribute__((shared))
#define __constant__	__attribute__((constant))
#define __noinline__	__attribute__((noinline))
#define __forceinline__	inline __attribute__((always_inline))
#define __align__(n)	__attribute__((aligned(n)))
#define DEV		static __device__ inline __attribute__((always_inline))

#define SREG(axis, reg)									\
	__declspec(property(get = read_##axis)) unsigned int axis;			\
	static __device__ inline __attribute__((always_inline))				\
	unsigned int read_##axis(void) { return __nvvm_read_ptx_sreg_##reg(); }
struct sreg_tid { SREG(x, tid_x) SREG(y, tid_y) SREG(z, tid_z) };
struct sreg_ntid { SREG(x, ntid_x) SREG(y, ntid_y) SREG(z, ntid_z) };
struct sreg_ctaid { SREG(x, ctaid_x) SREG(y, ctaid_y) SREG(z, ctaid_z) };
struct sreg_nctaid { SREG(x, nctaid_x) SREG(y, nctaid_y) SREG(z, nctaid_z) };
#undef SREG
extern const __device__ __attribute__((weak)) struct sreg_tid threadIdx;
extern const __device__ __attribute__((weak)) struct sreg_ntid blockDim;
extern const __device__ __attribute__((weak)) struct sreg_ctaid blockIdx;
extern const __device__ __attribute__((weak)) struct sreg_nctaid gridDim;

/* --- vectors ------------------------------------------------------------------ */
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

/* --- together ------------------------------------------------------------------ */
/* Not clang's own: with it LLVM 14 keeps shared variables in registers across the barrier. */
DEV void barrier(void) { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() barrier()
DEV int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
DEV int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
DEV int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
DEV void __syncwarp(u32 mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
DEV void __threadfence(void) { __nvvm_membar_gl(); }
DEV void __threadfence_block(void) { __nvvm_membar_cta(); }
DEV void __threadfence_system(void) { __nvvm_membar_sys(); }
DEV int __all_sync(u32 mask, int p) { return __nvvm_vote_all_sync(mask, p); }
DEV int __any_sync(u32 mask, int p) { return __nvvm_vote_any_sync(mask, p); }
DEV u32 __ballot_sync(u32 mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
DEV u32 __activemask(void)
{
	u32 r;

	asm volatile("activemask.b32 %0;" : "=r"(r));
	return r;
}

#define SHFL(name, kind, low)								\
DEV s32 name(u32 mask, s32 v, int b, int width = 32)					\
{ return __nvvm_shfl_sync_##kind##_i32(mask, v, b, ((32 - width) << 8) | low); }	\
DEV u32 name(u32 mask, u32 v, int b, int width = 32)					\
{ return name(mask, (s32)v, b, width); }						\
DEV f32 name(u32 mask, f32 v, int b, int width = 32)					\
{ return __nvvm_shfl_sync_##kind##_f32(mask, v, b, ((32 - width) << 8) | low); }	\
DEV u64 name(u32 mask, u64 v, int b, int width = 32)					\
{											\
	u32 lo = name(mask, (u32)v, b, width), hi = name(mask, (u32)(v >> 32), b, width); \
	return (u64)hi << 32 | lo;							\
}											\
DEV s64 name(u32 mask, s64 v, int b, int width = 32) { return name(mask, (u64)v, b, width); } \
DEV f64 name(u32 mask, f64 v, int b, int width = 32)					\
{											\
	u64 bits;									\
	__builtin_memcpy(&bits, &v, 8);							\
	bits = name(mask, bits, b, width);						\
	__builtin_memcpy(&v, &bits, 8);							\
	return v;									\
}
SHFL(__shfl_sync, idx, 0x1f)
SHFL(__shfl_up_sync, up, 0)
SHFL(__shfl_down_sync, down, 0x1f)
SHFL(__shfl_xor_sync, bfly, 0x1f)

DEV u32 __match_any_sync(u32 mask, u32 v)
{
	u32 r;

	asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));
	return r;
}
DEV u32 __match_any_sync(u32 mask, u64 v)
{
	u32 r;

	asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask));
	return r;
}
DEV u32 __match_all_sync(u32 mask, u32 v, int *pred)
{
	u32 r, p;

	asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, %3; selp.u32 %1, 1, 0, p; }"
		     : "=r"(r), "=r"(p) : "r"(v), "r"(mask));
	*pred = p;
	return r;
}
DEV u32 __match_all_sync(u32 mask, u64 v, int *pred)
{
	u32 r, p;

	asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.u32 %1, 1, 0, p; }"
		     : "=r"(r), "=r"(p) : "l"(v), "r"(mask));
	*pred = p;
	return r;
}
#define REDUX(name, type, op)								\
DEV type name(u32 mask, type v)								\
{											\
	type r;										\
	asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));	\
	return r;									\
}
REDUX(__reduce_add_sync, u32, "add.u32")
REDUX(__reduce_add_sync, s32, "add.s32")
REDUX(__reduce_min_sync, u32, "min.u32")
REDUX(__reduce_min_sync, s32, "min.s32")
REDUX(__reduce_max_sync, u32, "max.u32")
REDUX(__reduce_max_sync, s32, "max.s32")
REDUX(__reduce_and_sync, u32, "and.b32")
REDUX(__reduce_or_sync, u32, "or.b32")
REDUX(__reduce_xor_sync, u32, "xor.b32")

/* --- atomics -------------------------------------------------------------------- */
DEV s32 atomicAdd(s32 *p, s32 v) { return __nvvm_atom_add_gen_i(p, v); }
DEV u32 atomicAdd(u32 *p, u32 v) { return __nvvm_atom_add_gen_i((s32 *)p, v); }
DEV u64 atomicAdd(u64 *p, u64 v) { return __nvvm_atom_add_gen_ll((s64 *)p, v); }
DEV f32 atomicAdd(f32 *p, f32 v) { return __nvvm_atom_add_gen_f(p, v); }
#if __CUDA_ARCH__ >= 600
DEV f64 atomicAdd(f64 *p, f64 v) { return __nvvm_atom_add_gen_d(p, v); }
#endif
DEV s32 atomicSub(s32 *p, s32 v) { return __nvvm_atom_add_gen_i(p, -v); }
DEV u32 atomicSub(u32 *p, u32 v) { return __nvvm_atom_add_gen_i((s32 *)p, -v); }
DEV s32 atomicExch(s32 *p, s32 v) { return __nvvm_atom_xchg_gen_i(p, v); }
DEV u32 atomicExch(u32 *p, u32 v) { return __nvvm_atom_xchg_gen_i((s32 *)p, v); }
DEV u64 atomicExch(u64 *p, u64 v) { return __nvvm_atom_xchg_gen_ll((s64 *)p, v); }
DEV s32 atomicMin(s32 *p, s32 v) { return __nvvm_atom_min_gen_i(p, v); }
DEV u32 atomicMin(u32 *p, u32 v) { return __nvvm_atom_min_gen_ui(p, v); }
DEV s64 atomicMin(s64 *p, s64 v) { return __nvvm_atom_min_gen_ll(p, v); }
DEV u64 atomicMin(u64 *p, u64 v) { return __nvvm_atom_min_gen_ull(p, v); }
DEV s32 atomicMax(s32 *p, s32 v) { return __nvvm_atom_max_gen_i(p, v); }
DEV u32 atomicMax(u32 *p, u32 v) { return __nvvm_atom_max_gen_ui(p, v); }
DEV s64 atomicMax(s64 *p, s64 v) { return __nvvm_atom_max_gen_ll(p, v); }
DEV u64 atomicMax(u64 *p, u64 v) { return __nvvm_atom_max_gen_ull(p, v); }
DEV u32 atomicInc(u32 *p, u32 v) { return __nvvm_atom_inc_gen_ui(p, v); }
DEV u32 atomicDec(u32 *p, u32 v) { return __nvvm_atom_dec_gen_ui(p, v); }
DEV s32 atomicCAS(s32 *p, s32 c, s32 v) { return __nvvm_atom_cas_gen_i(p, c, v); }
DEV u32 atomicCAS(u32 *p, u32 c, u32 v) { return __nvvm_atom_cas_gen_i((s32 *)p, c, v); }
DEV u64 atomicCAS(u64 *p, u64 c, u64 v) { return __nvvm_atom_cas_gen_ll((s64 *)p, c, v); }
DEV s32 atomicAnd(s32 *p, s32 v) { return __nvvm_atom_and_gen_i(p, v); }
DEV u32 atomicAnd(u32 *p, u32 v) { return __nvvm_atom_and_gen_i((s32 *)p, v); }
DEV u64 atomicAnd(u64 *p, u64 v) { return __nvvm_atom_and_gen_ll((s64 *)p, v); }
DEV u32 atomicOr(u32 *p, u32 v) { return __nvvm_atom_or_gen_i((s32 *)p, v); }
DEV u64 atomicOr(u64 *p, u64 v) { return __nvvm_atom_or_gen_ll((s64 *)p, v); }
DEV u32 atomicXor(u32 *p, u32 v) { return __nvvm_atom_xor_gen_i((s32 *)p, v); }
DEV u64 atomicXor(u64 *p, u64 v) { return __nvvm_atom_xor_gen_ll((s64 *)p, v); }

/* --- integers -------------------------------------------------------------------- */
DEV int __popc(u32 v) { return __builtin_popcount(v); }
DEV int __popcll(u64 v) { return __builtin_popcountll(v); }
DEV int __clz(int v) { return v ? __builtin_clz(v) : 32; }
DEV int __clzll(s64 v) { return v ? __builtin_clzll(v) : 64; }
DEV int __ffs(int v) { return __builtin_ffs(v); }
DEV int __ffsll(s64 v) { return __builtin_ffsll(v); }
DEV u32 __brev(u32 v) { return __builtin_bitreverse32(v); }
DEV u64 __brevll(u64 v) { return __builtin_bitreverse64(v); }
DEV u32 __umulhi(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
DEV int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
DEV u64 __umul64hi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
DEV s64 __mul64hi(s64 a, s64 b) { return __nvvm_mulhi_ll(a, b); }
DEV u32 __umul24(u32 a, u32 b) { return __nvvm_mul24_ui(a, b); }
DEV int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
DEV u32 __usad(u32 a, u32 b, u32 c)
{
	u32 r;

	asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
DEV u32 __byte_perm(u32 a, u32 b, u32 s) { return __nvvm_prmt(a, b, s & 0x7777); }
DEV u32 __funnelshift_l(u32 lo, u32 hi, u32 s)
{ return ((u64)hi << 32 | lo) << (s & 31) >> 32; }
DEV u32 __funnelshift_r(u32 lo, u32 hi, u32 s)
{ return ((u64)hi << 32 | lo) >> (s & 31); }

/* --- floats ----------------------------------------------------------------------- */
DEV u32 __float_as_uint(f32 v) { u32 r; __builtin_memcpy(&r, &v, 4); return r; }
DEV int __float_as_int(f32 v) { return __float_as_uint(v); }
DEV f32 __uint_as_float(u32 v) { f32 r; __builtin_memcpy(&r, &v, 4); return r; }
DEV f32 __int_as_float(int v) { return __uint_as_float(v); }
DEV s64 __double_as_longlong(f64 v) { s64 r; __builtin_memcpy(&r, &v, 8); return r; }
DEV f64 __longlong_as_double(s64 v) { f64 r; __builtin_memcpy(&r, &v, 8); return r; }
DEV f32 fmaf(f32 a, f32 b, f32 c) { return __nvvm_fma_rn_f(a, b, c); }
DEV f64 fma(f64 a, f64 b, f64 c) { return __nvvm_fma_rn_d(a, b, c); }
DEV f32 sqrtf(f32 a) { return __nvvm_sqrt_rn_f(a); }
DEV f64 sqrt(f64 a) { return __nvvm_sqrt_rn_d(a); }
DEV f32 fabsf(f32 a) { return __builtin_fabsf(a); }
DEV f64 fabs(f64 a) { return __builtin_fabs(a); }
DEV f32 floorf(f32 a) { return __builtin_floorf(a); }
DEV f32 ceilf(f32 a) { return __builtin_ceilf(a); }
DEV f32 truncf(f32 a) { return __builtin_truncf(a); }
DEV f32 rintf(f32 a) { return __builtin_rintf(a); }
DEV f64 floor(f64 a) { return __builtin_floor(a); }
DEV f64 ceil(f64 a) { return __builtin_ceil(a); }
DEV f64 trunc(f64 a) { return __builtin_trunc(a); }
DEV f64 rint(f64 a) { return __builtin_rint(a); }
DEV f32 copysignf(f32 a, f32 b) { return __builtin_copysignf(a, b); }
DEV f64 copysign(f64 a, f64 b) { return __builtin_copysign(a, b); }
DEV f32 fminf(f32 a, f32 b) { return __nvvm_fmin_f(a, b); }
DEV f32 fmaxf(f32 a, f32 b) { return __nvvm_fmax_f(a, b); }
DEV f64 fmin(f64 a, f64 b) { return __nvvm_fmin_d(a, b); }
DEV f64 fmax(f64 a, f64 b) { return __nvvm_fmax_d(a, b); }

/* --- messages ---------------------------------------------------------------------- */
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void __assertfail(const char *, const char *, unsigned int,
					const char *, unsigned long) __attribute__((noreturn));
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
DEV void __trap(void) { asm volatile("trap;"); }

#endif
