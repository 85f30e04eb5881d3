/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bits of the two 16-bit formats, from and to float: on the device by cvt, on the host by
 * hand.
 */
#ifndef GPUEMU_HALF_BITS_H
#define GPUEMU_HALF_BITS_H

#include <string.h>

#define GPUEMU_BOTH	static __host__ __device__ inline

namespace gpuemu {

GPUEMU_BOTH unsigned int bits_of(float f)
{
	unsigned int bits;

	memcpy(&bits, &f, 4);
	return bits;
}

GPUEMU_BOTH float float_of(unsigned int bits)
{
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* `value` without its last `n` bits: to nearest, a tie to even. */
GPUEMU_BOTH unsigned int without(unsigned int value, unsigned int n)
{
	unsigned int rest = value & ((1u << n) - 1), middle = 1u << (n - 1);

	value >>= n;
	return value + (rest > middle || (rest == middle && (value & 1)));
}

GPUEMU_BOTH unsigned short half_of(float f)
{
#ifdef __CUDA_ARCH__
	unsigned short h;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
#else
	unsigned int x = bits_of(f), sign = x >> 16 & 0x8000, exponent;

	x &= 0x7fffffff;
	exponent = x >> 23;
	if (x > 0x7f800000)
		return 0x7fff;
	if (x >= 0x477ff000)	/* 65520 and beyond */
		return (unsigned short)(sign | 0x7c00);
	if (exponent < 102)
		return (unsigned short)sign;
	if (exponent < 113)
		return (unsigned short)(sign | without((x & 0x7fffff) | 0x800000, 126 - exponent));
	return (unsigned short)(sign | without(x - (112u << 23), 13));
#endif
}

GPUEMU_BOTH float float_of_half(unsigned short h)
{
#ifdef __CUDA_ARCH__
	float f;

	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
	return f;
#else
	unsigned int sign = (unsigned int)(h & 0x8000) << 16, x = h & 0x7fffu;

	if (x >= 0x7c00)
		return float_of(sign | 0x7f800000 | (x & 0x3ff) << 13);
	if (x >= 0x400)
		return float_of(sign | ((x << 13) + (112u << 23)));
	return (sign ? -1.0f : 1.0f) * (float)x * 0x1p-24f;
#endif
}

GPUEMU_BOTH unsigned short bfloat_of(float f)
{
	unsigned int x = bits_of(f);

	return (unsigned short)((x & 0x7fffffff) > 0x7f800000 ? 0x7fff : without(x, 16));
}

GPUEMU_BOTH float float_of_bfloat(unsigned short b)
{
	return float_of((unsigned int)b << 16);
}

/* To float so that a second rounding goes as one from double would: to odd. */
GPUEMU_BOTH float odd_of(double d)
{
	float f = (float)d;
	unsigned int x = bits_of(f);

	if (d != d || (double)f == d || (x & 0x7fffffff) >= 0x7f800000)
		return f;
	/* Towards zero, then the last bit says that there was more. */
	if ((f > 0) == ((double)f > d))
		x--;
	return float_of(x | 1);
}

}

#endif
