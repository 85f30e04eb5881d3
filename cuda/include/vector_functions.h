/* SPDX-License-Identifier: GPL-2.0 */
/* make_int4() and its like, for each of GPUEMU_VECTORS. */
#ifndef GPUEMU_VECTOR_FUNCTIONS_H
#define GPUEMU_VECTOR_FUNCTIONS_H

#include "vector_types.h"

#define GPUEMU_MAKE_OF static __inline__ __host__ __device__
#define GPUEMU_MAKE(name, type, align2, align4)                       \
	GPUEMU_MAKE_OF name##1 make_##name##1(type x)                 \
	{                                                             \
		name##1 v = { x };                                    \
		return v;                                             \
	}                                                             \
	GPUEMU_MAKE_OF name##2 make_##name##2(type x, type y)         \
	{                                                             \
		name##2 v = { x, y };                                 \
		return v;                                             \
	}                                                             \
	GPUEMU_MAKE_OF name##3 make_##name##3(type x, type y, type z) \
	{                                                             \
		name##3 v = { x, y, z };                              \
		return v;                                             \
	}                                                             \
	GPUEMU_MAKE_OF name##4 make_##name##4(type x, type y, type z, type w) \
	{                                                             \
		name##4 v = { x, y, z, w };                           \
		return v;                                             \
	}
GPUEMU_VECTORS(GPUEMU_MAKE)
#undef GPUEMU_MAKE
#undef GPUEMU_MAKE_OF

#endif
