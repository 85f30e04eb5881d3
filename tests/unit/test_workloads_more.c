// SPDX-License-Identifier: GPL-2.0
/*
 * More programs of Virtual Thread's, Warped-Slicer's and Zorua's papers, at the sizes where such
 * kernels break: one element, one less and one more than a warp, a CTA, a tile, a page.
 */
#include "workloads_bench.h"

static void awkward_sizes_verify(void **state)
{
	static const struct workload_case cases[] = {
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
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		verify_case(&cases[i]);
}

static void every_result_counts(void **state)
{
	static const struct workload_case cases[] = {
		{ "fft", "batches=1" },
		{ "syr2k", "n=9 m=3" },
		{ "nn", "images=1 hidden=1" },
		{ "ray", "width=9 height=7" },
		{ "histo64", "n=40" },
		{ "histo256", "n=40 ctas=1" },
		{ "mergesort", "runs=1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		every_byte_counts(&cases[i]);
}

static void seeds_differ(void **state)
{
	static const char *const names[] = {
		"fft", "syr2k", "nn", "ray", "histo64", "histo256", "mergesort",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		seed_counts(names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(awkward_sizes_verify),
		cmocka_unit_test(every_result_counts),
		cmocka_unit_test(seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
