/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cooperative groups: the threads of a block, of a part of a warp, of some warps, of a grid as
 * objects that they synchronize, vote and shuffle by. A grid's barrier needs
 * cudaLaunchCooperativeKernel(). Clusters and groups of several devices are not here.
 */
#ifndef GPUEMU_COOPERATIVE_GROUPS_H
#define GPUEMU_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace gpuemu {

__device__ static __forceinline__ unsigned int lane()
{
	unsigned int n;

	asm("mov.u32 %0, %%laneid;" : "=r"(n));
	return n;
}

__device__ static __forceinline__ unsigned int lanes_below()
{
	unsigned int mask;

	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
	return mask;
}

__device__ static __forceinline__ unsigned int thread_in_block()
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ static __forceinline__ unsigned int threads_of_block()
{
	return blockDim.x * blockDim.y * blockDim.z;
}

/* What a cooperative launch has for its grid's barrier; NULL in others. */
struct workspace {
	unsigned int of_nvcc[8], arrived, generation;
};

__device__ static __forceinline__ workspace *grid_workspace()
{
	unsigned int high, low;

	asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
	asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
	return (workspace *)((unsigned long long)high << 32 | low);
}

/* Shared memory of tiles of several warps: a barrier for each tile, a place for each warp's value. */
struct scratch {
	unsigned int arrived[16], generation[16];
	unsigned int word[32][8];
};

/* The lane whose place among the mask's is n. */
__device__ static __forceinline__ unsigned int nth(unsigned int mask, unsigned int n)
{
	for (; n; n--)
		mask &= mask - 1;
	return (unsigned int)__ffs((int)mask) - 1;
}

}

/* --- groups ------------------------------------------------------------------------------ */

/* Any group: what it is, its members among the warp's lanes, how many it has. */
class thread_group {
protected:
	enum kind { BLOCK, LANES, GRID } what;
	unsigned int members, count;

public:
	__device__ thread_group(int kind_, unsigned int members_, unsigned int count_)
		: what((kind)kind_), members(members_), count(count_) {}
	__device__ unsigned long long size() const
	{
		unsigned long long n = count;

		return what == GRID ? n * gridDim.x * gridDim.y * gridDim.z : n;
	}
	__device__ unsigned long long num_threads() const { return size(); }
	__device__ unsigned long long thread_rank() const
	{
		if (what == LANES)
			return (unsigned int)__popc(members & gpuemu::lanes_below());
		if (what == BLOCK)
			return gpuemu::thread_in_block();
		return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) *
		       (unsigned long long)count + gpuemu::thread_in_block();
	}
	__device__ bool is_valid() const { return true; }
	/* A grid's barrier is grid_group's alone: other kernels need not have its memory. */
	__device__ void sync() const
	{
		if (what == BLOCK)
			__syncthreads();
		else if (what == LANES)
			__syncwarp(members);
		else
			__trap();
	}
	__device__ unsigned int gpuemu_members() const { return members; }
};

/*
 * What tiles of several warps need: the program declares it in shared memory and hands it to
 * this_thread_block().
 */
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
	gpuemu::scratch gpuemu_scratch;
};

class thread_block : public thread_group {
	gpuemu::scratch *memory;

public:
	__device__ thread_block(gpuemu::scratch *memory_ = NULL)
		: thread_group(BLOCK, 0, gpuemu::threads_of_block()), memory(memory_) {}
	__device__ gpuemu::scratch *gpuemu_scratch() const { return memory; }
	__device__ static void sync() { __syncthreads(); }
	__device__ static unsigned int size() { return gpuemu::threads_of_block(); }
	__device__ static unsigned int num_threads() { return gpuemu::threads_of_block(); }
	__device__ static unsigned int thread_rank() { return gpuemu::thread_in_block(); }
	__device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	__device__ static dim3 thread_index()
	{
		return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
	}
	__device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
	__device__ static dim3 dim_threads() { return group_dim(); }
};

class grid_group : public thread_group {
public:
	__device__ grid_group() : thread_group(GRID, 0, gpuemu::threads_of_block()) {}
	__device__ bool is_valid() const { return gpuemu::grid_workspace() != NULL; }
	__device__ static void sync()
	{
		volatile gpuemu::workspace *w = gpuemu::grid_workspace();

		__syncthreads();
		if (!w)
			__trap();
		if (!gpuemu::thread_in_block()) {
			unsigned int now = w->generation;

			__threadfence();
			if (atomicAdd((unsigned int *)&w->arrived, 1u) ==
			    gridDim.x * gridDim.y * gridDim.z - 1) {
				w->arrived = 0;
				__threadfence();
				w->generation = now + 1;
			} else {
				while (w->generation == now)
					;
			}
			__threadfence();
		}
		__syncthreads();
	}
	__device__ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
	__device__ static dim3 dim_blocks() { return group_dim(); }
	__device__ static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	__device__ static unsigned long long num_blocks()
	{
		return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
	}
	__device__ static unsigned long long block_rank()
	{
		return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	}
};

/* Votes and shuffles among lanes; places are counted in the group. */
template <class Group> class warp_functions {
	__device__ const Group &me() const { return *static_cast<const Group *>(this); }
	/* A vote of the warp's, with the members' bits moved together. */
	__device__ unsigned int mine(unsigned int votes) const
	{
		unsigned int packed = 0, n = 0;

		for (unsigned int left = me().gpuemu_members(); left; left &= left - 1, n++)
			packed |= (votes >> (__ffs((int)left) - 1) & 1) << n;
		return packed;
	}

public:
	__device__ int any(int p) const { return __any_sync(me().gpuemu_members(), p); }
	__device__ int all(int p) const { return __all_sync(me().gpuemu_members(), p); }
	__device__ unsigned int ballot(int p) const
	{
		return mine(__ballot_sync(me().gpuemu_members(), p));
	}
	template <class T> __device__ unsigned int match_any(T v) const
	{
		return mine(__match_any_sync(me().gpuemu_members(), v));
	}
	template <class T> __device__ unsigned int match_all(T v, int &all) const
	{
		return mine(__match_all_sync(me().gpuemu_members(), v, &all));
	}
};

/*
 * A value of any size through the warp's shuffle of 32 bits. `to` is the lane that it comes from.
 */
namespace gpuemu {

template <class T> __device__ static inline T take(unsigned int members, const T &v,
						   unsigned int from)
{
	const unsigned int words = (sizeof(T) + 3) / 4;
	union both {
		T value;
		unsigned int word[words];
		__device__ both() : word() {}
	} u;

	u.value = v;
	for (unsigned int i = 0; i < words; i++)
		u.word[i] = __shfl_sync(members, u.word[i], (int)from);
	return u.value;
}

}

template <unsigned int Size, class Parent = void, bool Wide = (Size > 32)> class thread_block_tile;

template <unsigned int Size, class Parent>
class thread_block_tile<Size, Parent, false>
	: public thread_group, public warp_functions<thread_block_tile<Size, Parent, false>> {
	static_assert(Size && Size <= 32 && !(Size & (Size - 1)), "a tile has 1, 2, 4, 8, 16 or 32 threads");
	__device__ static unsigned int first() { return gpuemu::lane() & ~(Size - 1); }

public:
	__device__ thread_block_tile()
		: thread_group(LANES, (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first(),
			       Size) {}
	/* Of whatever it is a part. */
	template <class Other>
	__device__ thread_block_tile(const thread_block_tile<Size, Other> &) : thread_block_tile()
	{
	}
	__device__ static constexpr unsigned int size() { return Size; }
	__device__ static constexpr unsigned int num_threads() { return Size; }
	__device__ static unsigned int thread_rank() { return gpuemu::lane() & (Size - 1); }
	__device__ static unsigned int meta_group_rank()
	{
		return gpuemu::thread_in_block() / Size;
	}
	__device__ static unsigned int meta_group_size()
	{
		return (gpuemu::threads_of_block() + Size - 1) / Size;
	}
	template <class T> __device__ T shfl(T v, int from) const
	{
		return gpuemu::take(members, v, first() + ((unsigned int)from & (Size - 1)));
	}
	template <class T> __device__ T shfl_down(T v, unsigned int by) const
	{
		unsigned int rank = thread_rank();

		return gpuemu::take(members, v, first() + (rank + by < Size ? rank + by : rank));
	}
	template <class T> __device__ T shfl_up(T v, unsigned int by) const
	{
		unsigned int rank = thread_rank();

		return gpuemu::take(members, v, first() + (rank >= by ? rank - by : rank));
	}
	template <class T> __device__ T shfl_xor(T v, unsigned int mask) const
	{
		unsigned int rank = thread_rank() ^ mask;

		return gpuemu::take(members, v, first() + (rank < Size ? rank : thread_rank()));
	}
};

/* Tiles of 2, 4, 8 or 16 warps. Values go from warp to warp by the block's scratch. */
template <unsigned int Size, class Parent> class thread_block_tile<Size, Parent, true> {
	static_assert(Size <= 512 && !(Size & (Size - 1)), "a tile of several warps has 64, 128, 256 or 512 threads");
	gpuemu::scratch *memory;

	__device__ static unsigned int warp() { return gpuemu::thread_in_block() / 32; }
	__device__ static unsigned int first_warp() { return warp() / (Size / 32) * (Size / 32); }

public:
	__device__ thread_block_tile(gpuemu::scratch *memory_) : memory(memory_)
	{
		if (!memory)
			__trap();
	}
	__device__ static constexpr unsigned int size() { return Size; }
	__device__ static constexpr unsigned int num_threads() { return Size; }
	__device__ static unsigned int thread_rank()
	{
		return gpuemu::thread_in_block() & (Size - 1);
	}
	__device__ static unsigned int meta_group_rank()
	{
		return gpuemu::thread_in_block() / Size;
	}
	__device__ static unsigned int meta_group_size()
	{
		return (gpuemu::threads_of_block() + Size - 1) / Size;
	}
	__device__ void sync() const
	{
		volatile unsigned int *arrived = &memory->arrived[meta_group_rank()];
		volatile unsigned int *generation = &memory->generation[meta_group_rank()];

		__syncwarp();
		if (!gpuemu::lane()) {
			unsigned int now = *generation;

			__threadfence_block();
			if (atomicAdd((unsigned int *)arrived, 1u) == Size / 32 - 1) {
				*arrived = 0;
				__threadfence_block();
				*generation = now + 1;
			} else {
				while (*generation == now)
					;
			}
			__threadfence_block();
		}
		__syncwarp();
	}
	/* Lane `lane` of each warp writes its value, for all of the tile to read. */
	template <class T> __device__ void gpuemu_give(const T &v, unsigned int lane) const
	{
		static_assert(sizeof(T) <= sizeof(memory->word[0]), "a value has 32 bytes at most");
		if (gpuemu::lane() == lane)
			memcpy((void *)memory->word[warp()], &v, sizeof(T));
		sync();
	}
	/* What warp n of the tile wrote. A thread that has read all that it wants calls sync(). */
	template <class T> __device__ T gpuemu_given(unsigned int n) const
	{
		T v;

		memcpy(&v, (const void *)memory->word[first_warp() + n], sizeof(T));
		return v;
	}
	template <class T> __device__ T shfl(T v, int from) const
	{
		gpuemu_give(v, (unsigned int)from & 31);
		v = gpuemu_given<T>(((unsigned int)from & (Size - 1)) / 32);
		sync();
		return v;
	}
	__device__ int any(int p) const
	{
		int found = 0;

		gpuemu_give(__any_sync(~0u, p), 0);
		for (unsigned int n = 0; n < Size / 32; n++)
			found |= gpuemu_given<int>(n);
		sync();
		return found;
	}
	__device__ int all(int p) const { return !any(!p); }
};

class coalesced_group : public thread_group, public warp_functions<coalesced_group> {
	unsigned int place, places;	/* among the groups that one was parted into */

public:
	__device__ coalesced_group(unsigned int members_, unsigned int place_ = 0,
				   unsigned int places_ = 1)
		: thread_group(LANES, members_, (unsigned int)__popc(members_)), place(place_),
		  places(places_) {}
	__device__ unsigned int size() const { return count; }
	__device__ unsigned int num_threads() const { return count; }
	__device__ unsigned int thread_rank() const
	{
		return (unsigned int)__popc(members & gpuemu::lanes_below());
	}
	__device__ unsigned int meta_group_rank() const { return place; }
	__device__ unsigned int meta_group_size() const { return places; }
	template <class T> __device__ T shfl(T v, int from) const
	{
		return gpuemu::take(members, v, gpuemu::nth(members, (unsigned int)from % count));
	}
	template <class T> __device__ T shfl_down(T v, unsigned int by) const
	{
		unsigned int rank = thread_rank();

		return gpuemu::take(members, v,
				    gpuemu::nth(members, rank + by < count ? rank + by : rank));
	}
	template <class T> __device__ T shfl_up(T v, unsigned int by) const
	{
		unsigned int rank = thread_rank();

		return gpuemu::take(members, v,
				    gpuemu::nth(members, rank >= by ? rank - by : rank));
	}
};

/* --- making groups ---------------------------------------------------------------------------- */

__device__ static inline thread_block this_thread_block() { return thread_block(); }
template <unsigned int MaxBlockSize>
__device__ static inline thread_block this_thread_block(block_tile_memory<MaxBlockSize> &memory)
{
	for (unsigned int i = gpuemu::thread_in_block(); i < 16; i += gpuemu::threads_of_block())
		memory.gpuemu_scratch.arrived[i] = memory.gpuemu_scratch.generation[i] = 0;
	__syncthreads();
	return thread_block(&memory.gpuemu_scratch);
}
__device__ static inline grid_group this_grid() { return grid_group(); }
__device__ static inline coalesced_group coalesced_threads()
{
	return coalesced_group(__activemask());
}

namespace gpuemu {

template <unsigned int Size, class Parent, bool Wide> struct partition {
	__device__ static thread_block_tile<Size, Parent> of(const Parent &)
	{
		return thread_block_tile<Size, Parent>();
	}
};
template <unsigned int Size> struct partition<Size, thread_block, true> {
	__device__ static thread_block_tile<Size, thread_block> of(const thread_block &block)
	{
		return thread_block_tile<Size, thread_block>(block.gpuemu_scratch());
	}
};

}

template <unsigned int Size, class Parent>
__device__ static inline thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
	return gpuemu::partition<Size, Parent, (Size > 32)>::of(parent);
}

/* Of lanes that are not a row of 2^n, as many neighbours as say so. */
__device__ static inline thread_group tiled_partition(const thread_group &parent, unsigned int size)
{
	unsigned int members = parent.gpuemu_members(), rank = (unsigned int)parent.thread_rank();
	unsigned int first = rank / size * size, tile = 0;

	if (!members) {
		first = gpuemu::lane() / size * size;
		tile = (size >= 32 ? ~0u : (1u << size) - 1) << first;
	} else {
		for (unsigned int i = first; i < first + size && i < parent.size(); i++)
			tile |= 1u << gpuemu::nth(members, i);
	}
	return thread_group(1, tile, (unsigned int)__popc(tile));
}

__device__ static inline coalesced_group tiled_partition(const coalesced_group &parent,
							 unsigned int size)
{
	thread_group t = tiled_partition(static_cast<const thread_group &>(parent), size);

	return coalesced_group(t.gpuemu_members(), parent.thread_rank() / size,
			       (parent.size() + size - 1) / size);
}

template <class Group>
__device__ static inline coalesced_group labeled_partition(const Group &group, int label)
{
	unsigned int members = group.gpuemu_members(), rank = 0, groups = 0;
	unsigned int mine = __match_any_sync(members, label);

	/* The groups are counted by their first lanes. */
	for (unsigned int left = members; left; groups++) {
		unsigned int first = (unsigned int)__ffs((int)left) - 1;
		unsigned int of_first = __shfl_sync(members, mine, (int)first);

		if (of_first == mine)
			rank = groups;
		left &= ~of_first;
	}
	return coalesced_group(mine, rank, groups);
}

template <class Group>
__device__ static inline coalesced_group binary_partition(const Group &group, bool which)
{
	unsigned int members = group.gpuemu_members();
	unsigned int yes = __ballot_sync(members, which);

	return coalesced_group(which ? yes : members & ~yes, which, 2);
}

/* --- functions of groups ------------------------------------------------------------------------ */

template <class Group> __device__ static inline void sync(const Group &group) { group.sync(); }
template <class Group> __device__ static inline auto thread_rank(const Group &group)
	-> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group> __device__ static inline auto group_size(const Group &group)
	-> decltype(group.size()) { return group.size(); }

}

#endif
