// SPDX-License-Identifier: GPL-2.0
// Special registers, grids and blocks of three dimensions, clocks.
#include "shim.h"

SREG32(laneid, "%%laneid", LANE)
SREG32(lanemask_eq, "%%lanemask_eq", 1u << LANE)
SREG32(lanemask_lt, "%%lanemask_lt", (1u << LANE) - 1)
SREG32(lanemask_le, "%%lanemask_le", (2u << LANE) - 1)
SREG32(lanemask_gt, "%%lanemask_gt", ~((2u << LANE) - 1))
SREG32(lanemask_ge, "%%lanemask_ge", ~((1u << LANE) - 1))
SREG32(dynamic_smem, "%%dynamic_smem_size", lane_self.dynamic_bytes)
SREG32(nctaid_z, "%%nctaid.z", gridDim.z)

KERNEL(indices)(u32 *out)
{
	u32 cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	u32 i = cta * (blockDim.x * blockDim.y * blockDim.z) + LINEAR_TID, *o = out + 4 * i;

	o[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
	o[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
	o[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
	o[3] = gridDim.x | gridDim.y << 8 | nctaid_z() << 16;
}
CASE(indices, d3(2, 3, 2), d3(5, 3, 4), 0, 1, "out:u32:2880")
KERNEL(lanes)(u32 *out)
{
	u32 *o = out + 6 * (blockIdx.x * 84 + LINEAR_TID);

	o[0] = laneid();
	o[1] = lanemask_eq();
	o[2] = lanemask_lt();
	o[3] = lanemask_le();
	o[4] = lanemask_gt();
	o[5] = lanemask_ge();
}
CASE(lanes, d3(2), d3(7, 4, 3), 0, 2, "out:u32:1008")
KERNEL(shared_sizes)(u32 *out) { out[GID] = dynamic_smem(); }
CASE(shared_sizes, d3(1), d3(32), 1024, 3, "out:u32:32")
/* What has no fixed value must keep its promises. */
#ifndef DIFF_CPU
DEVICE u32 promises(void)
{
	u32 warp, nwarp, sm, nsm, c0, c1, hi, lo, r = 0, total;
	u64 grid, t0, t1, g0, g1;

	asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
	asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nwarp));
	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsm));
	asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
	asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
	asm volatile("mov.u32 %0, %%clock;" : "=r"(c0));
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t0));
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0));
	asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(hi));
	asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(lo));
	for (u32 k = 0; k < 20; k++)
		r += c0 >> k;
	asm volatile("mov.u32 %0, %%clock;" : "=r"(c1));
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t1));
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1));
	asm volatile("pmevent 3;");
	return (u32)(warp < nwarp) | (u32)(sm < nsm) << 1 | (u32)(c1 - c0 < 1u << 30) << 2 | (u32)(t1 > t0) << 3 |
	       (u32)(g1 >= g0) << 4 | (u32)(hi - (u32)(t0 >> 32) < 2) << 5 | (u32)(total < 1u << 20) << 6 |
	       (u32)(r + grid + lo != 1) << 7;
}
#else
DEVICE u32 promises(void) { return 0xff; }
#endif
KERNEL(clocks)(u32 *out) { out[GID] = promises(); }
CASE(clocks, d3(2), d3(64), 0, 4, "out:u32:128")
KERNEL(one_thread)(u32 *out) { out[0] = blockDim.x + gridDim.x; }
CASE(one_thread, d3(1), d3(1), 0, 5, "out:u32:1")
KERNEL(full_block)(u32 *out)
{
	__shared__ u32 s[1024];

	s[threadIdx.x] = threadIdx.x * 3;
	__syncthreads();
	out[threadIdx.x] = s[1023 - threadIdx.x] + (u32)__syncthreads_count(threadIdx.x & 1);
}
CASE(full_block, d3(1), d3(1024), 0, 6, "out:u32:1024")
KERNEL(grid_stride)(u32 *out, const u32 *in, u32 n)
{
	for (u32 k = GID; k < n; k += gridDim.x * blockDim.x)
		out[k] = in[k] * 3 + blockIdx.y;
}
CASE(grid_stride, d3(3), d3(33), 0, 7, "out:u32:500 in:u32:500 u32=500")
