// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads after Parboil, the DoE proxies and STREAM, at the sizes where such kernels
 * break: one element, one less and one more than a warp, a CTA, a tile, a page.
 */
#include "workloads_bench.h"

static const struct workload_case sizes[] = {
	{ "triad", "n=1" },
	{ "triad", "n=1025 block=1", "gpu.functional=on\n" },
	{ "triad", "n=4097 block=1024" },
	{ "sgemm", "m=1 n=1 k=1" },
	{ "sgemm", "m=129 n=17 k=9", "paging.vram=16K\n" },
	{ "sgemm", "m=127 n=15 k=8", "paging.enabled=off\n" },
	{ "sgemm", "m=3 n=40 k=33" },
	{ "sgemm", "m=1 n=1 k=1 rolled=1" },
	{ "sgemm", "m=129 n=17 k=9 rolled=1", "paging.vram=16K\n" },
	{ "sgemm", "m=127 n=15 k=8 rolled=1", "paging.enabled=off\n" },
	{ "sgemm", "m=3 n=40 k=33 rolled=1" },
	{ "stencil", "nx=1 ny=1 nz=1 iterations=1" },
	{ "stencil", "nx=5 ny=4 nz=2 iterations=2" },
	{ "stencil", "nx=3 ny=3 nz=3 iterations=2" },
	{ "stencil", "nx=33 ny=9 nz=5 iterations=3", "paging.vram=16K\n" },
	{ "stencil", "nx=65 ny=1 nz=9 iterations=1", "paging.enabled=off\n" },
	{ "spmv", "rows=1 entries=1 products=1" },
	{ "spmv", "rows=2 entries=64 products=1" },
	{ "spmv", "rows=193 entries=3 products=2", "paging.vram=16K\n" },
	{ "spmv", "rows=191 entries=20 products=1", "paging.enabled=off\n" },
	{ "spmv", "rows=1 entries=1 products=1 dofs=8" },
	{ "spmv", "rows=195 entries=20 products=1 dofs=4", "paging.enabled=off\n" },
	{ "histo", "n=1 bins=1 ctas=1" },
	{ "histo", "n=257 bins=4096 ctas=3", "paging.vram=16K\n" },
	{ "histo", "n=5000 bins=33 ctas=1", "paging.enabled=off\n" },
	{ "lbm", "nx=1 ny=1 nz=1 steps=1" },
	{ "lbm", "nx=129 ny=1 nz=2 steps=1", "paging.vram=256K\n" },
	{ "lbm", "nx=3 ny=4 nz=5 steps=2", "paging.enabled=off\n" },
	{ "xsbench", "nuclides=1 points=2 lookups=1" },
	{ "xsbench", "nuclides=2 points=3 lookups=129", "paging.vram=256K\n" },
	{ "xsbench", "nuclides=33 points=17 lookups=31", "paging.enabled=off\n" },
	{ "cg", "edge=2 steps=1" },
	{ "cg", "edge=5 steps=3", "paging.vram=16K\n" },
	{ "cg", "edge=7 steps=1", "paging.enabled=off\n" },
	{ NULL },
};

static const struct workload_case results[] = {
	{ "triad", "n=33" },
	{ "sgemm", "m=5 n=3 k=2" },
	{ "sgemm", "m=5 n=3 k=2 rolled=1" },
	{ "stencil", "nx=4 ny=3 nz=3 iterations=1" },
	{ "spmv", "rows=9 entries=2 products=1" },
	{ "histo", "n=100 bins=40 ctas=1" },
	{ "lbm", "nx=2 ny=2 nz=1 steps=1" },
	{ "xsbench", "nuclides=2 points=3 lookups=3" },
	/* The first of its three scalars is the result. */
	{ "cg", "edge=2 steps=1", .result = 8 },
	{ NULL },
};

static const char *const seeds[] = {
	"triad", "sgemm", "stencil", "spmv", "histo", "lbm", "xsbench", "cg",
	NULL,
};

int main(void)
{
	return run_group(&(struct workload_group){ sizes, results, seeds });
}
