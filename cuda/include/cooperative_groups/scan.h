/* SPDX-License-Identifier: GPL-2.0 */
/* Sums of the values of all threads up to each of a group's, which must be within a warp. */
#ifndef GPUEMU_COOPERATIVE_GROUPS_SCAN_H
#define GPUEMU_COOPERATIVE_GROUPS_SCAN_H

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
__device__ static inline T inclusive_scan(const Group &group, T v, Operation &&operation)
{
	unsigned int size = (unsigned int)group.size(), rank = (unsigned int)group.thread_rank();

	for (unsigned int step = 1; step < size; step *= 2) {
		T other = group.shfl_up(v, step);

		if (rank >= step)
			v = operation(other, v);
	}
	return v;
}

template <class Group, class T> __device__ static inline T inclusive_scan(const Group &group, T v)
{
	return inclusive_scan(group, v, plus<T>());
}

template <class Group, class T, class Operation>
__device__ static inline T exclusive_scan(const Group &group, T v, Operation &&operation)
{
	T before = group.shfl_up(inclusive_scan(group, v, operation), 1);

	return group.thread_rank() ? before : T();
}

template <class Group, class T> __device__ static inline T exclusive_scan(const Group &group, T v)
{
	return exclusive_scan(group, v, plus<T>());
}

}

#endif
