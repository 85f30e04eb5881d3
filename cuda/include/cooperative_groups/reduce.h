/* SPDX-License-Identifier: GPL-2.0 */
/* reduce(): one value of all of a group's, which must be within a warp, or a tile of several warps. */
#ifndef GPUEMU_COOPERATIVE_GROUPS_REDUCE_H
#define GPUEMU_COOPERATIVE_GROUPS_REDUCE_H

#include "cooperative_groups.h"

namespace cooperative_groups {

#define GPUEMU_OPERATION(name, value)						\
	template <class T> struct name {					\
		__device__ T operator()(T a, T b) const { return value; }	\
	};
GPUEMU_OPERATION(plus, a + b)
GPUEMU_OPERATION(less, b < a ? b : a)
GPUEMU_OPERATION(greater, a < b ? b : a)
GPUEMU_OPERATION(bit_and, a & b)
GPUEMU_OPERATION(bit_or, a | b)
GPUEMU_OPERATION(bit_xor, a ^ b)
#undef GPUEMU_OPERATION

/* As a tree: neighbours first, so that sums of floating point are what pairs give. */
template <class Group, class T, class Operation>
__device__ static inline T reduce(const Group &group, T v, Operation &&operation)
{
	unsigned int size = (unsigned int)group.size(), rank = (unsigned int)group.thread_rank();

	for (unsigned int step = 1; step < size; step *= 2) {
		T other = group.shfl_down(v, step);

		if (rank + step < size)
			v = operation(v, other);
	}
	return group.shfl(v, 0);
}

/* Of each warp, then of the warps. */
template <unsigned int Size, class Parent, class T, class Operation>
__device__ static inline T reduce(const thread_block_tile<Size, Parent, true> &group, T v,
				  Operation &&operation)
{
	group.gpuemu_give(reduce(thread_block_tile<32>(), v, operation), 0);
	v = group.template gpuemu_given<T>(0);
	for (unsigned int n = 1; n < Size / 32; n++)
		v = operation(v, group.template gpuemu_given<T>(n));
	group.sync();
	return v;
}

}

#endif
