// SPDX-License-Identifier: GPL-2.0
/* grid_group: blocks read what others wrote in the round before, in two launches of different grids. */
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void rounds(int *cells, int n)
{
	cg::grid_group grid = cg::this_grid();
	int me = (int)grid.thread_rank(), all = (int)grid.size();

	for (int round = 0; round < n; round++) {
		int next = cells[(me + 33) % all];

		grid.sync();
		cells[me] = next + 1;
		grid.sync();
	}
	if (!grid.is_valid())
		cells[me] = -1;
}

__global__ void valid(int *is)
{
	*is = cg::this_grid().is_valid();
}

int main()
{
	int *cells, n = 5;

	OK(cudaMallocManaged(&cells, 4096 * sizeof(int)));
	for (int blocks = 4; blocks <= 13; blocks += 9) {
		void *args[] = { &cells, &n };
		int all = blocks * 64;

		for (int i = 0; i < all; i++)
			cells[i] = 1000 * i;
		OK(cudaLaunchCooperativeKernel(rounds, dim3(blocks), dim3(8, 8), args));
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < all; i++)
			HOLDS(cells[i] == 1000 * ((i + 33 * n) % all) + n);
	}
	valid<<<1, 1>>>(cells);
	OK(cudaDeviceSynchronize());
	HOLDS(!cells[0]);
	printf("grid: passed\n");
	return 0;
}
