/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Division of __int128, and what makes floating-point numbers of it and the other way. clang calls
 * these functions by name and ends with an internal error where they are not in the text. `gpuemu
 * cc` sets GPUEMU_INT128 when a source needs them, for they are in the PTX whether or not they
 * are called. device.h includes it.
 */
#ifndef GPUEMU_INT128_H
#define GPUEMU_INT128_H

#define GPUEMU_LIBCALL	extern "C" __device__ __attribute__((used, weak, noinline))

static __device__ __forceinline__ int __gpuemu_zeros128(unsigned __int128 v)
{
	return v >> 64 ? __clzll((long long)(v >> 64)) : 64 + __clzll((long long)v);
}

/* Bit by bit, from the first that can be set. Division by zero gives all ones, as in 64 bits. */
static __device__ __forceinline__ unsigned __int128
__gpuemu_divide128(unsigned __int128 a, unsigned __int128 b, unsigned __int128 *rest)
{
	unsigned __int128 q = 0;

	*rest = a;
	if (!b)
		return ~q;
	if (b > a)
		return 0;
	if (!(a >> 64)) {
		*rest = (unsigned long long)a % (unsigned long long)b;
		return (unsigned long long)a / (unsigned long long)b;
	}
	for (int i = __gpuemu_zeros128(b) - __gpuemu_zeros128(a); i >= 0; i--) {
		unsigned __int128 part = b << i;

		if (part <= a) {
			a -= part;
			q |= (unsigned __int128)1 << i;
		}
	}
	*rest = a;
	return q;
}

GPUEMU_LIBCALL unsigned __int128 __udivti3(unsigned __int128 a, unsigned __int128 b)
{
	unsigned __int128 rest;

	return __gpuemu_divide128(a, b, &rest);
}

GPUEMU_LIBCALL unsigned __int128 __umodti3(unsigned __int128 a, unsigned __int128 b)
{
	unsigned __int128 rest;

	__gpuemu_divide128(a, b, &rest);
	return rest;
}

GPUEMU_LIBCALL __int128 __divti3(__int128 a, __int128 b)
{
	unsigned __int128 x = a < 0 ? -(unsigned __int128)a : a, rest;
	unsigned __int128 q = __gpuemu_divide128(x, b < 0 ? -(unsigned __int128)b : b, &rest);

	return (__int128)((a < 0) != (b < 0) ? -q : q);
}

GPUEMU_LIBCALL __int128 __modti3(__int128 a, __int128 b)
{
	unsigned __int128 x = a < 0 ? -(unsigned __int128)a : a, rest;

	__gpuemu_divide128(x, b < 0 ? -(unsigned __int128)b : b, &rest);
	return (__int128)(a < 0 ? -rest : rest);
}

/*
 * To a number of fewer bits: the highest 64, and below them one bit for all that is lost, so that
 * the rounding is that of the whole.
 */
#define GPUEMU_FLOAT(name, type, scale)								\
	GPUEMU_LIBCALL type __floatunti##name(unsigned __int128 v)				\
	{											\
		int left = v ? __gpuemu_zeros128(v) : 64;					\
		unsigned long long high;							\
												\
		if (left >= 64)									\
			return (type)(unsigned long long)v;					\
		high = (unsigned long long)(v << left >> 64);					\
		high |= (unsigned long long)(v << left) != 0;					\
		return scale((type)high, 64 - left);						\
	}											\
	GPUEMU_LIBCALL type __floatti##name(__int128 v)						\
	{											\
		return v < 0 ? -__floatunti##name(-(unsigned __int128)v) :			\
			       __floatunti##name((unsigned __int128)v);				\
	}											\
	GPUEMU_LIBCALL unsigned __int128 __fixuns##name##ti(type v)				\
	{											\
		unsigned long long high;							\
												\
		if (!(v >= (type)0x1p64))							\
			return v > 0 ? (unsigned long long)v : 0;				\
		if (v >= scale((type)1, 128))							\
			return ~(unsigned __int128)0;						\
		high = (unsigned long long)scale(v, -64);					\
		return (unsigned __int128)high << 64 |						\
		       (unsigned long long)(v - scale((type)high, 64));				\
	}											\
	GPUEMU_LIBCALL __int128 __fix##name##ti(type v)						\
	{											\
		__int128 r = (__int128)__fixuns##name##ti(v < 0 ? -v : v);			\
												\
		return v < 0 ? -r : r;								\
	}
GPUEMU_FLOAT(df, double, ::ldexp)
GPUEMU_FLOAT(sf, float, ::ldexpf)
#undef GPUEMU_FLOAT
#undef GPUEMU_LIBCALL

#endif
