// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads after PolyBench, the CUDA SDK and GPGPU-Sim's suite, at the sizes where such
 * kernels break: one element, one less and one more than a warp, a CTA, a tile, a page.
 */
#include "workloads_bench.h"

static const struct workload_case sizes[] = {
	{ "conv2d", "rows=1 cols=1" },
	{ "conv2d", "rows=3 cols=33", "paging.vram=16K\n" },
	{ "conv2d", "rows=9 cols=31", "paging.enabled=off\n" },
	{ "fdtd2d", "rows=1 cols=1 steps=1" },
	{ "fdtd2d", "rows=9 cols=33 steps=3", "paging.vram=16K\n" },
	{ "mvp", "rows=1 cols=1" },
	{ "mvp", "rows=257 cols=255", "paging.vram=64K\n" },
	{ "mvp", "rows=31 cols=300 transposed=0", "paging.enabled=off\n" },
	{ "coulomb", "width=1 height=1 atoms=1" },
	{ "coulomb", "width=129 height=9 atoms=1025", "gpu.functional=on\n" },
	{ "matmul", "m=1 n=1 k=1" },
	{ "matmul", "m=17 n=15 k=33", "paging.vram=16K\n" },
	{ "bitonic", "blocks=1" },
	{ "bitonic", "blocks=3", "paging.vram=16K\n" },
	{ "fencesum", "n=1 ctas=1" },
	{ "fencesum", "n=129 ctas=3", "paging.vram=16K\n" },
	{ "fencesum", "n=100 ctas=130", "paging.enabled=off\n" },
	{ "convsep", "width=1 height=1" },
	{ "convsep", "width=65 height=33", "paging.vram=16K\n" },
	{ "convsep", "width=63 height=31 shared=0", "paging.enabled=off\n" },
	{ "convsep", "width=1 height=1 sdk=1" },
	{ "convsep", "width=129 height=67 sdk=1", "paging.vram=16K\n" },
	{ "convsep", "width=63 height=31 shared=0 sdk=1", "paging.enabled=off\n" },
	{ "dct", "width=1 height=1" },
	{ "dct", "width=17 height=33", "paging.vram=16K\n" },
	{ "haar", "levels=1" },
	{ "haar", "levels=6", "paging.enabled=off\n" },
	{ "haar", "levels=11", "paging.vram=16K\n" },
	{ "blackscholes", "options=1 ctas=1" },
	{ "blackscholes", "options=129 ctas=2 rounds=2", "paging.vram=16K\n" },
	{ "scan", "n=1" },
	{ "scan", "n=512" },
	{ "scan", "n=513", "paging.vram=16K\n" },
	{ "scan", "n=262145", "gpu.functional=on\n" },
	{ "scalarprod", "pairs=1 n=1 ctas=1 block=32" },
	{ "scalarprod", "pairs=3 n=1025 ctas=2 block=1024", "paging.vram=16K\n" },
	{ "nqueens", "n=1 rows=1" },
	{ "nqueens", "n=2 rows=1", "paging.enabled=off\n" },
	{ "nqueens", "n=9 rows=7", "paging.vram=16K\n" },
	/* Specifications of Zorua's table 3, at the ends of their ranges. */
	{ "dct", "width=33 height=9 block=64" },
	{ "dct", "width=33 height=9 block=128" },
	{ "dct", "width=33 height=9 block=512" },
	{ "dct", "width=33 height=17 block=320" },
	{ "dct", "width=33 height=17 block=384" },
	{ "reduce", "n=3000 ctas=2 block=64" },
	{ "reduce", "n=3000 ctas=2 block=1024" },
	{ "scan", "n=70000 block=32", "gpu.functional=on\n" },
	{ "scan", "n=5000 block=128" },
	{ "scan", "n=5000 block=1024" },
	{ "nqueens", "n=8 rows=6 block=64" },
	{ "nqueens", "n=10 rows=6 block=288" },
	{ "scalarprod", "pairs=3 n=5000 ctas=2 block=512 sums=512" },
	{ "scalarprod", "pairs=3 n=5000 ctas=2 block=128 sums=2048" },
	{ "knn", "records=1 nearest=10" },
	{ "knn", "records=257 nearest=3", "paging.vram=16K\n" },
	{ NULL },
};

static const struct workload_case results[] = {
	{ "conv2d", "rows=4 cols=5" },
	{ "fdtd2d", "rows=3 cols=4 steps=2" },
	{ "mvp", "rows=5 cols=3" },
	{ "coulomb", "width=1 height=1 atoms=3" },
	{ "matmul", "m=3 n=4 k=5" },
	{ "bitonic", "blocks=1" },
	{ "fencesum", "n=70 ctas=2" },
	{ "convsep", "width=5 height=3" },
	{ "dct", "width=8 height=8" },
	{ "haar", "levels=4" },
	{ "blackscholes", "options=9 ctas=1" },
	{ "scan", "n=40" },
	{ "scalarprod", "pairs=3 n=5 ctas=1" },
	{ "nqueens", "n=5 rows=3" },
	{ "knn", "records=9 nearest=2" },
	{ NULL },
};

/* Boards of queens are always the same. */
static const char *const seeds[] = {
	"conv2d", "fdtd2d", "mvp", "coulomb", "matmul", "bitonic", "fencesum", "convsep",
	"dct", "haar", "blackscholes", "scan", "scalarprod", "knn",
	NULL,
};

int main(void)
{
	return run_group(&(struct workload_group){ sizes, results, seeds });
}
