/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Intrinsics of CUDA that clang's headers do not have: dot products, loads and stores with a cache
 * operator, address spaces, matches and reductions of a warp, minima and maxima in halves, atomics
 * of more types and scopes. device.h includes it.
 */
#ifndef GPUEMU_INTRINSICS_H
#define GPUEMU_INTRINSICS_H

#define GPUEMU_D	__device__ static __forceinline__

/* --- dot products of bytes, and of halves with bytes ----------------------------------- */

template <class T> GPUEMU_D unsigned int __gpuemu_bits(T v)
{
	unsigned int r;

	static_assert(sizeof(T) == sizeof(r), "32 bits");
	__builtin_memcpy(&r, &v, sizeof(r));
	return r;
}

#define GPUEMU_DOT(name, op, type, kind, a_type, b_type)					\
	GPUEMU_D type name(type a, type b, type c)						\
	{											\
		type r;										\
												\
		asm(op "." kind "." kind " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
		return r;									\
	}											\
	GPUEMU_D type name(a_type a, b_type b, type c)						\
	{											\
		return name((type)__gpuemu_bits(a), (type)__gpuemu_bits(b), c);			\
	}
GPUEMU_DOT(__dp4a, "dp4a", int, "s32", char4, char4)
GPUEMU_DOT(__dp4a, "dp4a", unsigned int, "u32", uchar4, uchar4)
GPUEMU_DOT(__dp2a_lo, "dp2a.lo", int, "s32", short2, char4)
GPUEMU_DOT(__dp2a_lo, "dp2a.lo", unsigned int, "u32", ushort2, uchar4)
GPUEMU_DOT(__dp2a_hi, "dp2a.hi", int, "s32", short2, char4)
GPUEMU_DOT(__dp2a_hi, "dp2a.hi", unsigned int, "u32", ushort2, uchar4)
#undef GPUEMU_DOT

/* --- loads and stores with a cache operator ---------------------------------------------- */

/* A number goes through a register of another type where PTX has none of its size. */
#define GPUEMU_LOAD(op, type, kind, as, c)							\
	GPUEMU_D type __ld##op(const type *p)							\
	{											\
		as v;										\
												\
		asm volatile("ld.global." #op "." kind " %0, [%1];"				\
			     : "=" c(v) : "l"(p) : "memory");					\
		return (type)v;									\
	}
#define GPUEMU_LOAD2(op, type, kind, as, c)							\
	GPUEMU_D type __ld##op(const type *p)							\
	{											\
		as x, y;									\
												\
		asm volatile("ld.global." #op ".v2." kind " {%0, %1}, [%2];"			\
			     : "=" c(x), "=" c(y) : "l"(p) : "memory");				\
		return { (decltype(type::x))x, (decltype(type::x))y };				\
	}
#define GPUEMU_LOAD4(op, type, kind, as, c)							\
	GPUEMU_D type __ld##op(const type *p)							\
	{											\
		as x, y, z, w;									\
												\
		asm volatile("ld.global." #op ".v4." kind " {%0, %1, %2, %3}, [%4];"		\
			     : "=" c(x), "=" c(y), "=" c(z), "=" c(w) : "l"(p) : "memory");	\
		return { (decltype(type::x))x, (decltype(type::x))y, (decltype(type::x))z,	\
			 (decltype(type::x))w };						\
	}
#define GPUEMU_STORE(op, type, kind, as, c)							\
	GPUEMU_D void __st##op(type *p, type v)							\
	{											\
		asm volatile("st.global." #op "." kind " [%0], %1;"				\
			     :: "l"(p), c((as)v) : "memory");					\
	}
#define GPUEMU_STORE2(op, type, kind, as, c)							\
	GPUEMU_D void __st##op(type *p, type v)							\
	{											\
		asm volatile("st.global." #op ".v2." kind " [%0], {%1, %2};"			\
			     :: "l"(p), c((as)v.x), c((as)v.y) : "memory");			\
	}
#define GPUEMU_STORE4(op, type, kind, as, c)							\
	GPUEMU_D void __st##op(type *p, type v)							\
	{											\
		asm volatile("st.global." #op ".v4." kind " [%0], {%1, %2, %3, %4};"		\
			     :: "l"(p), c((as)v.x), c((as)v.y), c((as)v.z), c((as)v.w)		\
			     : "memory");							\
	}
#define GPUEMU_ALL(what, op)									\
	what(op, char, "s8", short, "h") what(op, signed char, "s8", short, "h")		\
	what(op, unsigned char, "u8", unsigned short, "h")					\
	what(op, short, "s16", short, "h") what(op, unsigned short, "u16", unsigned short, "h")	\
	what(op, int, "s32", int, "r") what(op, unsigned int, "u32", unsigned int, "r")		\
	what(op, long, "s64", long, "l") what(op, unsigned long, "u64", unsigned long, "l")	\
	what(op, long long, "s64", long long, "l")						\
	what(op, unsigned long long, "u64", unsigned long long, "l")				\
	what(op, float, "f32", float, "f") what(op, double, "f64", double, "d")			\
	what##2(op, char2, "s8", short, "h") what##2(op, uchar2, "u8", unsigned short, "h")	\
	what##2(op, short2, "s16", short, "h") what##2(op, ushort2, "u16", unsigned short, "h")	\
	what##2(op, int2, "s32", int, "r") what##2(op, uint2, "u32", unsigned int, "r")		\
	what##2(op, longlong2, "s64", long long, "l")						\
	what##2(op, ulonglong2, "u64", unsigned long long, "l")					\
	what##2(op, float2, "f32", float, "f") what##2(op, double2, "f64", double, "d")		\
	what##4(op, char4, "s8", short, "h") what##4(op, uchar4, "u8", unsigned short, "h")	\
	what##4(op, short4, "s16", short, "h") what##4(op, ushort4, "u16", unsigned short, "h")	\
	what##4(op, int4, "s32", int, "r") what##4(op, uint4, "u32", unsigned int, "r")		\
	what##4(op, float4, "f32", float, "f")
GPUEMU_ALL(GPUEMU_LOAD, ca)
GPUEMU_ALL(GPUEMU_LOAD, cg)
GPUEMU_ALL(GPUEMU_LOAD, cs)
GPUEMU_ALL(GPUEMU_LOAD, lu)
GPUEMU_ALL(GPUEMU_LOAD, cv)
GPUEMU_ALL(GPUEMU_STORE, wb)
GPUEMU_ALL(GPUEMU_STORE, cg)
GPUEMU_ALL(GPUEMU_STORE, cs)
GPUEMU_ALL(GPUEMU_STORE, wt)
#undef GPUEMU_ALL
#undef GPUEMU_LOAD
#undef GPUEMU_LOAD2
#undef GPUEMU_LOAD4
#undef GPUEMU_STORE
#undef GPUEMU_STORE2
#undef GPUEMU_STORE4

/* --- address spaces ------------------------------------------------------------------------ */

#define GPUEMU_SPACE(Name, space, ptx)								\
	GPUEMU_D unsigned int __is##Name(const void *p)						\
	{											\
		unsigned int r;									\
												\
		asm("{ .reg .pred is; isspacep." ptx " is, %1; selp.u32 %0, 1, 0, is; }"	\
		    : "=r"(r) : "l"(p));							\
		return r;									\
	}											\
	GPUEMU_D size_t __cvta_generic_to_##space(const void *p)				\
	{											\
		size_t r;									\
												\
		asm("cvta.to." ptx ".u64 %0, %1;" : "=l"(r) : "l"(p));				\
		return r;									\
	}											\
	GPUEMU_D void *__cvta_##space##_to_generic(size_t at)					\
	{											\
		void *r;									\
												\
		asm("cvta." ptx ".u64 %0, %1;" : "=l"(r) : "l"(at));				\
		return r;									\
	}
GPUEMU_SPACE(Global, global, "global")
GPUEMU_SPACE(Shared, shared, "shared")
GPUEMU_SPACE(Constant, constant, "const")
GPUEMU_SPACE(Local, local, "local")
#undef GPUEMU_SPACE

/* clang copies a parameter whose address is taken, so there are no such addresses. */
GPUEMU_D unsigned int __isGridConstant(const void *) { return 0; }
GPUEMU_D size_t __cvta_generic_to_grid_constant(const void *p) { return (size_t)p; }
GPUEMU_D void *__cvta_grid_constant_to_generic(size_t at) { return (void *)at; }

/* --- warps ------------------------------------------------------------------------------------ */

/* Not through clang 14's builtin of 64 bits, whose result is a register of 64 bits. */
#define GPUEMU_MATCH(type, as)									\
	GPUEMU_D unsigned int __match_any_sync(unsigned int mask, type v)			\
	{											\
		as u;										\
												\
		__builtin_memcpy(&u, &v, sizeof(u));						\
		return __match_any_sync(mask, u);						\
	}											\
	GPUEMU_D unsigned int __match_all_sync(unsigned int mask, type v, int *same)		\
	{											\
		as u;										\
												\
		__builtin_memcpy(&u, &v, sizeof(u));						\
		return __match_all_sync(mask, u, same);						\
	}
GPUEMU_MATCH(long, unsigned long long)
GPUEMU_MATCH(unsigned long, unsigned long long)
GPUEMU_MATCH(float, unsigned int)
GPUEMU_MATCH(double, unsigned long long)
#undef GPUEMU_MATCH

/* Also below sm_80, where hardware lacks the instruction: the engine has it. */
#define GPUEMU_REDUCE(name, type, kind)								\
	GPUEMU_D type __reduce_##name##_sync(unsigned int mask, type v)				\
	{											\
		type r;										\
												\
		asm volatile("redux.sync." #name "." kind " %0, %1, %2;"			\
			     : "=r"(r) : "r"(v), "r"(mask) : "memory");				\
		return r;									\
	}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
GPUEMU_REDUCE(add, unsigned int, "u32")
GPUEMU_REDUCE(add, int, "s32")
GPUEMU_REDUCE(min, unsigned int, "u32")
GPUEMU_REDUCE(min, int, "s32")
GPUEMU_REDUCE(max, unsigned int, "u32")
GPUEMU_REDUCE(max, int, "s32")
GPUEMU_REDUCE(and, unsigned int, "b32")
GPUEMU_REDUCE(or, unsigned int, "b32")
GPUEMU_REDUCE(xor, unsigned int, "b32")
#endif
#undef GPUEMU_REDUCE

GPUEMU_D void __nanosleep(unsigned int ns)
{
	asm volatile("nanosleep.u32 %0;" :: "r"(ns) : "memory");
}

/* --- minima and maxima, of words and of halves --------------------------------------------------- */

/* f of the halves of a, b and c, which are of a type of 16 bits. */
#define GPUEMU_HALVES(type, expression)								\
	unsigned int r = 0;									\
												\
	for (int at = 0; at < 32; at += 16) {							\
		type x = (type)(a >> at), y = (type)(b >> at), z = (type)(c >> at);		\
												\
		r |= (unsigned int)(unsigned short)(type)(expression) << at;			\
	}											\
	return r;
#define GPUEMU_LESS(x, y)	((x) < (y) ? (x) : (y))
#define GPUEMU_MORE(x, y)	((x) > (y) ? (x) : (y))
#define GPUEMU_CHOICE(name, choose, word, half, kind)						\
	GPUEMU_D word __vi##name##3_##kind##32(word a, word b, word c)				\
	{											\
		return choose(choose(a, b), c);							\
	}											\
	GPUEMU_D unsigned int __vi##name##3_##kind##16x2(unsigned int a, unsigned int b,	\
							 unsigned int c)			\
	{											\
		GPUEMU_HALVES(half, choose(choose(x, y), z))					\
	}											\
	GPUEMU_D word __viadd##name##_##kind##32(word a, word b, word c)			\
	{											\
		word sum = (word)((unsigned int)a + (unsigned int)b);				\
												\
		return choose(sum, c);								\
	}											\
	GPUEMU_D unsigned int __viadd##name##_##kind##16x2(unsigned int a, unsigned int b,	\
							   unsigned int c)			\
	{											\
		GPUEMU_HALVES(half, choose((half)(x + y), z))					\
	}
GPUEMU_CHOICE(min, GPUEMU_LESS, int, short, s)
GPUEMU_CHOICE(max, GPUEMU_MORE, int, short, s)
GPUEMU_CHOICE(min, GPUEMU_LESS, unsigned int, unsigned short, u)
GPUEMU_CHOICE(max, GPUEMU_MORE, unsigned int, unsigned short, u)
#undef GPUEMU_CHOICE

/* The same, and 0 for what is less. */
#define GPUEMU_RELU(name, choose)								\
	GPUEMU_D int __vi##name##_s32_relu(int a, int b)					\
	{											\
		int r = choose(a, b);								\
												\
		return GPUEMU_MORE(r, 0);							\
	}											\
	GPUEMU_D unsigned int __vi##name##_s16x2_relu(unsigned int a, unsigned int b)		\
	{											\
		const unsigned int c = 0;							\
		GPUEMU_HALVES(short, GPUEMU_MORE(choose(x, y), z))				\
	}											\
	GPUEMU_D int __vi##name##3_s32_relu(int a, int b, int c)				\
	{											\
		return __vimax3_s32(__vi##name##3_s32(a, b, c), 0, 0);				\
	}											\
	GPUEMU_D unsigned int __vi##name##3_s16x2_relu(unsigned int a, unsigned int b,		\
						       unsigned int c)				\
	{											\
		return __vimax3_s16x2(__vi##name##3_s16x2(a, b, c), 0, 0);			\
	}											\
	GPUEMU_D int __viadd##name##_s32_relu(int a, int b, int c)				\
	{											\
		return __vimax3_s32(__viadd##name##_s32(a, b, c), 0, 0);			\
	}											\
	GPUEMU_D unsigned int __viadd##name##_s16x2_relu(unsigned int a, unsigned int b,	\
							 unsigned int c)			\
	{											\
		return __vimax3_s16x2(__viadd##name##_s16x2(a, b, c), 0, 0);			\
	}
GPUEMU_RELU(min, GPUEMU_LESS)
GPUEMU_RELU(max, GPUEMU_MORE)
#undef GPUEMU_RELU

/* And whether it was the first, also when they are the same. */
#define GPUEMU_WHICH(name, compare, word, half, kind)						\
	GPUEMU_D word __vib##name##_##kind##32(word a, word b, bool *first)			\
	{											\
		*first = a compare b;								\
		return *first ? a : b;								\
	}											\
	GPUEMU_D unsigned int __vib##name##_##kind##16x2(unsigned int a, unsigned int b,	\
							 bool *high, bool *low)			\
	{											\
		*low = (half)a compare (half)b;							\
		*high = (half)(a >> 16) compare (half)(b >> 16);				\
		return ((*low ? a : b) & 0xffffu) | ((*high ? a : b) & 0xffff0000u);		\
	}
GPUEMU_WHICH(min, <=, int, short, s)
GPUEMU_WHICH(max, >=, int, short, s)
GPUEMU_WHICH(min, <=, unsigned int, unsigned short, u)
GPUEMU_WHICH(max, >=, unsigned int, unsigned short, u)
#undef GPUEMU_WHICH
#undef GPUEMU_HALVES
#undef GPUEMU_LESS
#undef GPUEMU_MORE

/* --- atomics: the types and the scopes that device.h does not have ---------------------------------- */

#define GPUEMU_BITS(name)									\
	GPUEMU_D long long name(long long *p, long long v)					\
	{											\
		return (long long)name((unsigned long long *)p, (unsigned long long)v);	\
	}											\
	GPUEMU_D long long name##_block(long long *p, long long v) { return name(p, v); }	\
	GPUEMU_D long long name##_system(long long *p, long long v) { return name(p, v); }
GPUEMU_BITS(atomicAnd)
GPUEMU_BITS(atomicOr)
GPUEMU_BITS(atomicXor)
#undef GPUEMU_BITS

#define GPUEMU_SCOPES(name, type)								\
	GPUEMU_D type name##_block(type *p, type v) { return name(p, v); }			\
	GPUEMU_D type name##_system(type *p, type v) { return name(p, v); }
GPUEMU_SCOPES(atomicSub, int)
GPUEMU_SCOPES(atomicSub, unsigned int)
GPUEMU_SCOPES(atomicExch, float)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
GPUEMU_SCOPES(atomicAdd, double)
#endif
#undef GPUEMU_SCOPES

/* In the word that it is in; the other half may change meanwhile. */
GPUEMU_D unsigned short atomicCAS(unsigned short *p, unsigned short compare, unsigned short v)
{
	unsigned int *word = (unsigned int *)((size_t)p & ~(size_t)3);
	const unsigned int at = ((size_t)p & 2) * 8, mask = 0xffffu << at;
	unsigned int seen = *(volatile unsigned int *)word, old;

	do {
		old = seen;
		if ((unsigned short)(old >> at) != compare)
			break;
		seen = atomicCAS(word, old, (old & ~mask) | (unsigned int)v << at);
	} while (seen != old);
	return (unsigned short)(old >> at);
}

/* --- functions -------------------------------------------------------------------------------------- */

GPUEMU_D float __tanhf(float x) { return ::tanhf(x); }
GPUEMU_D void sincos(float x, float *s, float *c) { ::sincosf(x, s, c); }
GPUEMU_D void sincospi(float x, float *s, float *c) { ::sincospif(x, s, c); }

#undef GPUEMU_D

#endif
