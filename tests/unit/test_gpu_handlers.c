// SPDX-License-Identifier: GPL-2.0
/*
 * Many handlers and none that waits, pages of other sizes, blocking, and memory of a single VA
 * block under every policy: in time where it can be worked out, and always right.
 */
#include "gpu_bench.h"
#include "paging/paging.h"

#define WALK		100u
#define BYTES		(4u << 20)
#define THREADS		960u
/* Where a handler's service of 20 us ends, and a page has come, in cycles of 700 MHz. */
#define SERVED		14000u
#define COMES(pages)	DIV_ROUND_UP((20000ull + (pages) * 256) * 700, 1000)

static void fill(struct gpu_bench *b)
{
	for (size_t i = 0; i < b->bytes / 4; i++)
		((uint32_t *)b->memory)[i] = (uint32_t)(i * 2654435761u);
}

/* Three SMs, a lane each, on pages of their own, which are no neighbours; one walker. */
static uint64_t three_faults(uint64_t handlers, uint64_t *batches)
{
	struct gpu_bench b;
	uint64_t stalled;

	bench_spec(&b);
	b.spec.walk_latency = WALK;
	b.spec.sms = 3;
	b.spec.walkers = 1;
	b.spec.handlers = handlers;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	fill(&b);
	/* The page of the results is there already. */
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 4096, &b.err), 0);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 8192, (uintptr_t)b.memory,
				      8192, 3, 1), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 3);
	*batches = bench_stat(&b, "paging.batches");
	stalled = bench_stat(&b, "kernels.0.stalls.far_fault");
	bench_close(&b);
	return stalled;
}

static void test_handlers_work_side_by_side(void **state)
{
	uint64_t batches;

	/* One: two wait for it, and the link takes them one behind the other. */
	assert_int_equal(three_faults(1, &batches), (COMES(1) + WALK) +
			 (SERVED - 100 + COMES(1) + WALK) + (SERVED - 200 + COMES(2) + WALK));
	assert_int_equal(batches, 2);
	/* Two: the third waits for the first. The second's page waits for the link. */
	assert_int_equal(three_faults(2, &batches), (COMES(1) + WALK) + (COMES(2) - 100 + WALK) +
			 (SERVED - 200 + COMES(1) + WALK));
	assert_int_equal(batches, 3);
	/* Enough, and as many as it takes: they wait for the link alone. */
	assert_int_equal(three_faults(3, &batches), (COMES(1) + WALK) +
			 (COMES(2) - 100 + WALK) + (COMES(3) - 200 + WALK));
	assert_int_equal(batches, 3);
	assert_int_equal(three_faults(0, &batches), (COMES(1) + WALK) +
			 (COMES(2) - 100 + WALK) + (COMES(3) - 200 + WALK));
	assert_int_equal(batches, 3);
}

/* 15 SMs read 960 words, 4 KiB apart, twice: right, whatever goes on. */
static void gather_all(struct gpu_bench *b)
{
	const uint8_t *in;

	bench_open(b, PTX_HEAD PTX_GATHER, BYTES, NULL);
	in = b->memory + 65536;
	fill(b);
	for (unsigned int round = 0; round < 2; round++) {
		memset(b->memory, 0, THREADS * 4);
		if (bench_gather(b, (uintptr_t)in, (uintptr_t)b->memory, 4096, 15, 64))
			fail_msg("%s with %s: %s", b->spec.evict, b->spec.prefetch, b->err.text);
		for (unsigned int i = 0; i < THREADS; i++)
			assert_int_equal(((uint32_t *)b->memory)[i],
					 *(const uint32_t *)(in + i * 4096ull));
	}
	assert_true(bench_stat(b, "paging.resident_pages") * 4096 <= b->spec.vram_bytes);
	/* Everything that was moved went over the link, but for what is on its way still. */
	assert_true(bench_stat(b, "paging.link.h2d_busy_ns") <=
		    bench_stat(b, "paging.h2d_bytes") / 16);
}

static void run_pair(const char *evict, const char *prefetch, uint64_t handlers)
{
	struct gpu_bench b;

	bench_spec(&b);
	b.spec.vram_bytes = 2 << 20;
	b.spec.handlers = handlers;
	strcpy(b.spec.evict, evict);
	strcpy(b.spec.prefetch, prefetch);
	gather_all(&b);
	assert_true(bench_stat(&b, "paging.evicted_pages") > 300);
	bench_close(&b);
}

/* What needs a recorded run is tested where there is one. */
static void test_one_va_block_is_enough(void **state)
{
	for (unsigned int e = 0; evict_rows[e]; e++) {
		if (evict_rows[e]->needs_record)
			continue;
		run_pair(evict_rows[e]->name, "tree", 1);
		run_pair(evict_rows[e]->name, "none", e % 2 ? 0 : 8);
	}
	for (unsigned int p = 0; prefetch_rows[p]; p++) {
		if (prefetch_rows[p]->needs_record)
			continue;
		run_pair("lru", prefetch_rows[p]->name, p % 2 ? 3 : 0);
		run_pair("tree", prefetch_rows[p]->name, 1);
	}
}

/* Big pages, down to one of them; with one, only its SMs get on. */
static void test_big_pages(void **state)
{
	static const struct {
		uint64_t page, vram;
	} cases[] = {
		{ 65536, 8 << 20 }, { 65536, 2 << 20 }, { 65536, 65536 },
		{ 65536, 3 * 65536 + 4096 },
		{ 2 << 20, 8 << 20 }, { 2 << 20, 4 << 20 }, { 2 << 20, 2 << 20 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gpu_bench b;

		bench_spec(&b);
		b.spec.page_bytes = cases[i].page;
		b.spec.vram_bytes = cases[i].vram;
		b.spec.handlers = i % 2;
		strcpy(b.spec.prefetch, i % 3 ? "none" : "random");
		gather_all(&b);
		/* Whole pages come, and each once when there is room. */
		if (cases[i].vram >= BYTES && i % 3)
			assert_int_equal(bench_stat(&b, "paging.far_faults"),
					 BYTES / cases[i].page);
		bench_close(&b);
	}
}

static void test_blocking_finishes(void **state)
{
	for (uint64_t vram = 4096; vram <= 8 << 20; vram *= 128) {
		struct gpu_bench b;

		bench_spec(&b);
		b.spec.blocking = 1;
		b.spec.vram_bytes = vram;
		b.spec.service_ns = 5000;
		gather_all(&b);
		bench_close(&b);
	}
}

/* The batch that ends a kernel leaves nothing behind that the next one trips over. */
static void test_a_kernel_that_ends_early(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	b.spec.handlers = 4;
	b.spec.vram_bytes = 64 * 4096;
	strcpy(b.spec.prefetch, "sequential");
	bench_open(&b, PTX_HEAD PTX_GATHER, BYTES, NULL);
	fill(&b);
	for (unsigned int i = 0; i < 4; i++) {
		/* The last lanes leave the range. */
		assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + BYTES - 700 * 4096,
					      (uintptr_t)b.memory, 4096, 15, 64), -EFAULT);
		assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536,
					      (uintptr_t)b.memory, 4096, 15, 64), 0);
		assert_int_equal(((uint32_t *)b.memory)[959],
				 *(uint32_t *)(b.memory + 65536 + 959 * 4096));
	}
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handlers_work_side_by_side),
		cmocka_unit_test(test_one_va_block_is_enough),
		cmocka_unit_test(test_big_pages),
		cmocka_unit_test(test_blocking_finishes),
		cmocka_unit_test(test_a_kernel_that_ends_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
