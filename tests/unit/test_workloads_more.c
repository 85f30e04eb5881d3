// SPDX-License-Identifier: GPL-2.0
/*
 * More programs of Virtual Thread's, Warped-Slicer's and Zorua's papers, at the sizes where such
 * kernels break: one element, one less and one more than a warp, a CTA, a tile, a page.
 */
#include "workloads_bench.h"

static const struct workload_case sizes[] = {
	{ "fft", "batches=1" },
	{ "fft", "batches=9", "paging.vram=16K\n" },
	{ "syr2k", "n=1 m=1" },
	{ "syr2k", "n=33 m=9", "paging.vram=16K\n" },
	{ "nn", "images=1 hidden=1", "gpu.functional=on\n" },
	{ "nn", "images=3 hidden=5", "gpu.functional=on\n" },
	{ "ray", "width=1 height=1 spheres=1" },
	{ "ray", "width=33 height=9 spheres=7", "paging.vram=16K\n" },
	{ "histo64", "n=1" },
	{ "histo64", "n=4032", "paging.enabled=off\n" },
	{ "histo64", "n=4033", "paging.vram=16K\n" },
	{ "histo256", "n=1 ctas=1" },
	{ "histo256", "n=193 ctas=3", "paging.vram=16K\n" },
	{ "mergesort", "runs=1" },
	{ "mergesort", "runs=3", "paging.vram=16K\n" },
	{ "mergesort", "runs=32", "gpu.functional=on\n" },
	{ "eigen", "n=1 matrices=1 steps=9" },
	{ "eigen", "n=257 matrices=1 steps=2", "paging.vram=16K\n" },
	{ "eigen", "n=31 matrices=2 steps=40", "gpu.functional=on\n" },
	{ "binomial", "options=1 steps=1" },
	{ "binomial", "options=2 steps=33", "paging.vram=16K\n" },
	{ "binomial", "options=1 steps=256", "gpu.functional=on\n" },
	{ "asian", "ctas=1 steps=1" },
	{ "asian", "ctas=2 steps=5", "paging.vram=16K\n" },
	{ "quasirandom", "n=1 ctas=1" },
	{ "quasirandom", "n=129 ctas=1", "paging.vram=16K\n" },
	{ "btree", "records=1 queries=1 ranges=1 order=2" },
	{ "btree", "records=65 queries=3 ranges=5 order=33", "paging.vram=16K\n" },
	{ "btree", "records=3000 queries=9 ranges=2 order=3", "gpu.functional=on\n" },
	{ "lavamd", "boxes=1 particles=1" },
	{ "lavamd", "boxes=3 particles=3", "paging.vram=16K\n" },
	{ "heartwall", "points=1 frames=3 edge=110", "gpu.functional=on\n" },
	{ "leukocyte", "rows=28 cols=33 points=3 disc=3 cells=2 iterations=2" },
	{ "leukocyte", "rows=28 cols=28 points=2 disc=1 cells=1 iterations=90",
	  "gpu.functional=on\n" },
	{ "mummer", "reference=1 reads=1 length=1" },
	{ "mummer", "reference=4097 reads=257 length=30", "gpu.functional=on\n" },
	{ "mummer", "reference=60 reads=9 length=90", "paging.vram=16K\n" },
	{ "dxtc", "width=1 height=1" },
	{ "dxtc", "width=9 height=5", "gpu.functional=on\n" },
	{ "nlm", "width=1 height=1" },
	{ "nlm", "width=9 height=7 block=5 window=3", "paging.vram=16K\n" },
	{ "sssp", "nodes=1 degree=1" },
	{ "sssp", "nodes=257 block=64", "paging.vram=16K\n" },
	{ "mst", "nodes=1 degree=0" },
	{ "mst", "nodes=257 degree=3 block=64", "paging.vram=16K\n" },
	{ "bh", "bodies=1" },
	{ "bh", "bodies=2 steps=2 block=32" },
	{ "bh", "bodies=65 steps=2 block=64", "paging.vram=16K\n" },
	{ "bh", "bodies=1000 block=1024", "gpu.functional=on\n" },
	{ NULL },
};

/* The references of nn, heartwall and leukocyte take too long to do hundreds of times. */
static const struct workload_case results[] = {
	{ "fft", "batches=1" },
	{ "syr2k", "n=9 m=3" },
	{ "ray", "width=5 height=3 spheres=2" },
	{ "histo64", "n=40" },
	{ "histo256", "n=40 ctas=1" },
	{ "mergesort", "runs=1" },
	{ "eigen", "n=5 matrices=1 steps=3" },
	{ "binomial", "options=3 steps=3" },
	{ "asian", "ctas=1 steps=1" },
	{ "quasirandom", "n=9 ctas=1" },
	{ "btree", "records=40 queries=3 ranges=4 order=7" },
	{ "lavamd", "boxes=1 particles=2" },
	{ "mummer", "reference=40 reads=3 length=4" },
	{ "dxtc", "width=4 height=4" },
	{ "nlm", "width=3 height=2 window=3 block=1" },
	{ "sssp", "nodes=30 degree=2" },
	{ "mst", "nodes=30 degree=2" },
	{ "bh", "bodies=9 steps=2" },
	{ NULL },
};

static const char *const seeds[] = {
	"fft", "syr2k", "nn", "ray", "histo64", "histo256", "mergesort",
	"eigen", "binomial", "asian", "quasirandom", "btree", "lavamd", "heartwall",
	"leukocyte", "mummer", "dxtc", "nlm", "sssp", "mst", "bh",
	NULL,
};

int main(void)
{
	return run_group(&(struct workload_group){ sizes, results, seeds });
}
