// SPDX-License-Identifier: GPL-2.0
/*
 * Cooperative groups within a block and a warp: ranks, votes, shuffles, partitions, reductions. Tiles of several warps.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.h"

namespace cg = cooperative_groups;

#define WANT(fact)							\
	do {								\
		if (!(fact))						\
			*wrong = __LINE__;				\
	} while (0)

__global__ void within_block(int *wrong, int *sums)
{
	cg::thread_block block = cg::this_thread_block();
	cg::grid_group grid = cg::this_grid();
	int rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	__shared__ int cells[128];

	WANT(block.size() == 128 && (int)block.thread_rank() == rank);
	WANT(block.group_index().x == blockIdx.x && block.thread_index().y == threadIdx.y);
	WANT(block.group_dim().x == 8 && grid.size() == 256);
	WANT((int)grid.thread_rank() == (int)blockIdx.x * 128 + rank);
	cells[rank] = rank;
	block.sync();
	atomicAdd(&sums[blockIdx.x], cells[127 - rank]);
}

__global__ void tiles(int *wrong)
{
	cg::thread_block block = cg::this_thread_block();
	int rank = (int)threadIdx.x;
	auto warp = cg::tiled_partition<32>(block);
	auto eight = cg::tiled_partition<8>(warp);
	cg::thread_block_tile<8> of_anything = eight;
	cg::thread_group four = cg::tiled_partition(block, 4);
	struct wide { double d; int i; } w = { rank * 0.5, rank };
	int all;

	WANT(of_anything.size() == 8 && of_anything.thread_rank() == eight.thread_rank());
	WANT(warp.size() == 32 && (int)warp.thread_rank() == rank % 32);
	WANT((int)warp.meta_group_rank() == rank / 32 && warp.meta_group_size() == 2);
	WANT(eight.size() == 8 && (int)eight.thread_rank() == rank % 8);
	WANT(four.size() == 4 && (int)four.thread_rank() == rank % 4);
	four.sync();
	WANT(eight.shfl(rank, 3) == rank / 8 * 8 + 3);
	WANT(eight.shfl_down(rank, 1) == (rank % 8 == 7 ? rank : rank + 1));
	WANT(eight.shfl_up(rank, 2) == (rank % 8 < 2 ? rank : rank - 2));
	WANT(eight.shfl_xor(rank, 5) == (rank ^ 5));
	WANT(eight.shfl(rank * 1.5, 2) == (rank / 8 * 8 + 2) * 1.5);
	WANT(eight.ballot(rank % 2) == 0xaa && eight.any(rank % 8 == 3) && !eight.all(rank % 8 == 3));
	WANT(eight.match_any(rank % 8 / 4) == (rank % 8 < 4 ? 0x0fu : 0xf0u));
	WANT(eight.match_all(rank / 8, all) == 0xff && all);
	w = warp.shfl(w, 9);
	WANT(w.d == (rank / 32 * 32 + 9) * 0.5 && w.i == rank / 32 * 32 + 9);
	WANT(cg::reduce(eight, rank % 8, cg::plus<int>()) == 28);
	WANT(cg::reduce(eight, rank, cg::greater<int>()) == rank / 8 * 8 + 7);
	WANT(cg::reduce(warp, 1u << rank % 32, cg::bit_or<unsigned int>()) == ~0u);
	WANT(cg::inclusive_scan(eight, 2) == 2 * (rank % 8 + 1));
	WANT(cg::exclusive_scan(eight, 2) == 2 * (rank % 8));
}

/* 192 threads: three tiles of two warps, which go on by themselves. */
__global__ void wide_tiles(int *wrong)
{
	__shared__ cg::block_tile_memory<192> scratch;
	__shared__ volatile int cells[192];
	cg::thread_block block = cg::this_thread_block(scratch);
	auto pair = cg::tiled_partition<64>(block);
	int rank = (int)threadIdx.x, first = rank / 64 * 64;

	WANT(pair.size() == 64 && (int)pair.thread_rank() == rank % 64);
	WANT((int)pair.meta_group_rank() == rank / 64 && pair.meta_group_size() == 3);
	/* Another number of rounds in each tile. */
	for (int round = 0; round <= rank / 64; round++) {
		/* A tile's second warp comes late. */
		for (int i = 0; i < rank % 64 / 32 * 200; i++)
			cells[rank] = i;
		cells[rank] = rank + round;
		pair.sync();
		WANT(cells[first + (rank + 32) % 64] == first + (rank + 32) % 64 + round);
		pair.sync();
		WANT(pair.shfl(rank * 0.5, 40 + round) == (first + 40 + round) * 0.5);
		WANT(cg::reduce(pair, rank % 64 + round, cg::plus<int>()) == 2016 + 64 * round);
		WANT(cg::reduce(pair, (long long)rank, cg::greater<long long>()) == first + 63);
		WANT(pair.any(rank % 64 == 50) && !pair.all(rank % 64 < 50) && pair.all(1) && !pair.any(0));
	}
	cg::sync(block);
	auto all = cg::tiled_partition<128>(block);
	if (all.meta_group_rank() == 0)
		WANT(cg::reduce(all, 1, cg::plus<int>()) == 128);
}

__global__ void parts(int *wrong, int *count)
{
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	int rank = (int)threadIdx.x;
	cg::coalesced_group half = cg::binary_partition(warp, rank % 3 == 0);
	cg::coalesced_group thirds = cg::labeled_partition(warp, rank % 3);

	WANT(half.size() == (rank % 3 ? 21 : 11));
	WANT(thirds.size() == (rank % 3 == 2 ? 10 : 11) && (int)thirds.thread_rank() == rank / 3);
	WANT(thirds.meta_group_size() == 3);
	if (rank % 4 == 1) {
		cg::coalesced_group some = cg::coalesced_threads();

		WANT(some.size() == 8 && (int)some.thread_rank() == rank / 4);
		WANT(some.shfl(rank, 2) == 9);
		WANT(some.shfl_down(rank, 1) == (rank == 29 ? 29 : rank + 4));
		WANT(some.ballot(rank > 16) == 0xf0);
		WANT(cg::reduce(some, 1, cg::plus<int>()) == 8);
		some.sync();
		/* One atomic for all of them. */
		if (some.thread_rank() == 0)
			atomicAdd(count, (int)some.size());
	}
}

int main()
{
	int *wrong, *sums;

	OK(cudaMallocManaged(&wrong, sizeof(int)));
	OK(cudaMallocManaged(&sums, 2 * sizeof(int)));
	*wrong = sums[0] = sums[1] = 0;
	within_block<<<2, dim3(8, 4, 4)>>>(wrong, sums);
	OK(cudaDeviceSynchronize());
	HOLDS(sums[0] == 127 * 64 && sums[1] == 127 * 64);
	tiles<<<1, 64>>>(wrong);
	wide_tiles<<<1, 192>>>(wrong);
	sums[0] = 0;
	parts<<<1, 32>>>(wrong, sums);
	OK(cudaDeviceSynchronize());
	HOLDS(sums[0] == 8);
	if (*wrong)
		printf("groups.cu:%d does not hold\n", *wrong);
	printf("groups: %s\n", *wrong ? "failed" : "passed");
	return !!*wrong;
}
