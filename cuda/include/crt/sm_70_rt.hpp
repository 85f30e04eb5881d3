/* SPDX-License-Identifier: GPL-2.0 */
/* clang's headers ask the toolkit for these by this file's name: lanes with the same value. */
#ifndef GPUEMU_SM_70_RT_HPP
#define GPUEMU_SM_70_RT_HPP

#define GPUEMU_MATCH(type, c, b)								\
	__device__ static __forceinline__ unsigned int __match_any_sync(unsigned int mask, type v)	\
	{											\
		unsigned int r;									\
												\
		asm volatile("match.any.sync." b " %0, %1, %2;" : "=r"(r) : c(v), "r"(mask));	\
		return r;									\
	}											\
	__device__ static __forceinline__ unsigned int __match_all_sync(unsigned int mask, type v,	\
									int *all)		\
	{											\
		unsigned int r;									\
												\
		asm volatile("{ .reg .pred p; match.all.sync." b " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"	\
			     : "=r"(r), "=r"(*all) : c(v), "r"(mask));				\
		return r;									\
	}
GPUEMU_MATCH(unsigned int, "r", "b32")
GPUEMU_MATCH(int, "r", "b32")
GPUEMU_MATCH(unsigned long long, "l", "b64")
GPUEMU_MATCH(long long, "l", "b64")
#undef GPUEMU_MATCH

#endif
