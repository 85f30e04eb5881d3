/* SPDX-License-Identifier: GPL-2.0 */
/* memcpy_async(): the group's threads copy at once; wait() is the group's barrier. */
#ifndef GPUEMU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define GPUEMU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
__device__ static inline void memcpy_async(const Group &group, void *dst, const void *src,
					   size_t bytes)
{
	for (size_t i = group.thread_rank(); i < bytes; i += group.size())
		((char *)dst)[i] = ((const char *)src)[i];
}

template <class Group, class T>
__device__ static inline void memcpy_async(const Group &group, T *dst, const T *src, size_t bytes)
{
	const size_t n = bytes / sizeof(T);

	for (size_t i = group.thread_rank(); i < n; i += group.size())
		dst[i] = src[i];
}

template <class Group> __device__ static inline void wait(const Group &group) { group.sync(); }
template <unsigned int Stages, class Group>
__device__ static inline void wait_prior(const Group &group) { group.sync(); }

}

#endif
