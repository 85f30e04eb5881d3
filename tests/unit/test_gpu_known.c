// SPDX-License-Identifier: GPL-2.0
/* What a client tells a session for its policies: a recorded run, ranges; and gets back: touches. */
#include "gpu_bench.h"
#include "service/sim.h"

static void open_gather(struct gpu_bench *b)
{
	bench_spec(b);
	b->spec.record = 1;
	bench_open(b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
}

static int gather(struct gpu_bench *b)
{
	return bench_gather(b, (uintptr_t)b->memory + 65536, (uintptr_t)b->memory, 4096, 4, 1);
}

static void test_touches(void **state)
{
	const uint64_t *pages;
	bool seen[17] = { false };
	struct gpu_bench b;
	uint64_t n;

	open_gather(&b);
	assert_int_equal(gather(&b), 0);
	assert_int_equal(gpu_session_touches(b.session, &pages, &n, &b.err), 0);
	/* The page of results and one page for each thread, whatever the order. */
	for (uint64_t i = 0; i < n; i++) {
		uint64_t page = (pages[i] - (uintptr_t)b.memory) / 4096;

		assert_true(page == 0 || (page >= 16 && page < 20));
		seen[page ? page - 15 : 0] = true;
	}
	assert_true(seen[0] && seen[1] && seen[2] && seen[3] && seen[4]);
	/* A configuration starts anew. */
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(gpu_session_touches(b.session, &pages, &n, &b.err), 0);
	assert_int_equal(n, 0);
	b.spec.record = 0;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(gpu_session_touches(b.session, &pages, &n, &b.err), -EINVAL);
	assert_non_null(strstr(b.err.text, "paging.record"));
	bench_close(&b);
}

static void test_record_in_pieces(void **state)
{
	struct gpu_bench b;
	uint64_t one[3], two[2];

	open_gather(&b);
	strcpy(b.spec.prefetch, "oracle");
	/* Without a record the session stays as it is. */
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), -EINVAL);
	assert_non_null(strstr(b.err.text, "needs a recorded run"));
	assert_int_equal(gather(&b), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 5);
	for (unsigned int i = 0; i < 3; i++)
		one[i] = (uintptr_t)b.memory + 65536 + i * 4096;
	two[0] = (uintptr_t)b.memory;
	two[1] = (uintptr_t)b.memory + 65536 + 3 * 4096;
	assert_int_equal(gpu_session_add_record(b.session, one, 3), 0);
	assert_int_equal(gpu_session_add_record(b.session, two, 2), 0);
	/* Known from the next configuration on; the pages are here, so leave first. */
	assert_int_equal(service_sim_unmap(b.service, VA_SPACE, (uintptr_t)b.memory, b.bytes), 0);
	assert_int_equal(gpu_poll(b.gpu), 0);
	assert_int_equal(service_sim_map(b.service, VA_SPACE, (uintptr_t)b.memory, b.bytes), 0);
	b.spec.batch = 1;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(gather(&b), 0);
	/* The first fault brings all the others. */
	assert_int_equal(bench_stat(&b, "paging.prefetched_pages"), 4);
	/* Again configured, it is still known. */
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	/* A new one takes its place. */
	assert_int_equal(gpu_session_add_record(b.session, two, 1), 0);
	assert_int_equal(gather(&b), 0);
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(gather(&b), 0);
	bench_close(&b);
}

static void test_nonsense_is_refused(void **state)
{
	const uint64_t odd[] = { 0x200000000000ull, 0x200000000001ull };
	const uint64_t high[] = { 1ull << 47 };
	const struct gpu_range ranges[][2] = {
		{ { 4096, 4096 }, { 4096, 4096 } },		/* overlap */
		{ { 8192, 4096 }, { 4096, 4096 } },		/* order */
		{ { 4096, 0 }, { 8192, 4096 } },
		{ { 4097, 4096 }, { 16384, 4096 } },
		{ { 4096, 100 }, { 16384, 4096 } },
		{ { 4096, 4096 }, { (1ull << 47) - 4096, 8192 } },
		{ { 4096, 4096 }, { 1ull << 47, 4096 } },
		{ { 4096, 4096 }, { 8192, -4096ull } },
	};
	const struct gpu_range good[] = { { 4096, 4096 }, { 8192, 8192 } };
	struct gpu_bench b;

	open_gather(&b);
	assert_int_equal(gpu_session_add_record(b.session, odd, 2), -EINVAL);
	assert_int_equal(gpu_session_add_record(b.session, high, 1), -EINVAL);
	assert_int_equal(gpu_session_add_record(b.session, odd, GPU_RECORD_MAX + 1ull), -E2BIG);
	assert_int_equal(gpu_session_add_record(b.session, odd, UINT64_MAX), -E2BIG);
	assert_int_equal(gpu_session_add_record(b.session, odd, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		assert_int_equal(gpu_session_set_ranges(b.session, ranges[i], 2), -EINVAL);
	assert_int_equal(gpu_session_set_ranges(b.session, good, 2), 0);
	assert_int_equal(gpu_session_set_ranges(b.session, good, 0), 0);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touches),
		cmocka_unit_test(test_record_in_pieces),
		cmocka_unit_test(test_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
