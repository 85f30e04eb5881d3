/* SPDX-License-Identifier: GPL-2.0 */
/* Channel descriptors of types, for device code and for C++ of the host. */
#ifndef GPUEMU_CHANNELS_H
#define GPUEMU_CHANNELS_H

#include "cuda_runtime_api.h"
#include "vector_types.h"

/* float_type: what a fetch gives that reads integers as fractions. */
template <class T> struct gpuemu_channels;
#define GPUEMU_CHANNEL(T, base, kind, F)							\
	template <> struct gpuemu_channels<T> {							\
		typedef F float_type;								\
		static const int count = sizeof(T) / sizeof(base), bits = 8 * sizeof(base);	\
		static const cudaChannelFormatKind format = kind;				\
	};
#define GPUEMU_CHANNELS(prefix, base, kind)							\
	GPUEMU_CHANNEL(base, base, kind, float)							\
	GPUEMU_CHANNEL(prefix##1, base, kind, float1)						\
	GPUEMU_CHANNEL(prefix##2, base, kind, float2)						\
	GPUEMU_CHANNEL(prefix##4, base, kind, float4)
GPUEMU_CHANNELS(char, signed char, cudaChannelFormatKindSigned)
GPUEMU_CHANNELS(uchar, unsigned char, cudaChannelFormatKindUnsigned)
GPUEMU_CHANNELS(short, short, cudaChannelFormatKindSigned)
GPUEMU_CHANNELS(ushort, unsigned short, cudaChannelFormatKindUnsigned)
GPUEMU_CHANNELS(int, int, cudaChannelFormatKindSigned)
GPUEMU_CHANNELS(uint, unsigned int, cudaChannelFormatKindUnsigned)
GPUEMU_CHANNELS(float, float, cudaChannelFormatKindFloat)
GPUEMU_CHANNEL(char, char, cudaChannelFormatKindSigned, float)
#undef GPUEMU_CHANNELS
#undef GPUEMU_CHANNEL

template <class T> static inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc()
{
	typedef gpuemu_channels<T> c;

	return cudaCreateChannelDesc(c::bits, c::count > 1 ? c::bits : 0,
				     c::count > 2 ? c::bits : 0, c::count > 3 ? c::bits : 0,
				     c::format);
}

#endif
