// SPDX-License-Identifier: GPL-2.0
/* Each prefetch policy but the tree against answers worked out by hand. */
#include "policies_bench.h"

static void *begin(const struct gpuemu_prefetch_ops *ops)
{
	fresh();
	set_options(ops->options);
	return prefetch_make(ops);
}

/* Two allocations in the first VA block, one that begins there. */
static void some_ranges(void)
{
	ranges[0] = (struct gpuemu_policy_range){ PAGE(0), PAGE(20) };
	ranges[1] = (struct gpuemu_policy_range){ PAGE(32), PAGE(60) };
	ranges[2] = (struct gpuemu_policy_range){ PAGE(500), PAGE(530) };
	nranges = 3;
}

static void sequential_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *sequential = prefetch_row("sequential");
	struct gpuemu_policy_fault faults[] = { FAULT(10), FAULT(12), FAULT(50), FAULT(511) };
	struct gpuemu_policy_fault last[] = { { .addr = -2 * PAGE_BYTES, .merged = 1 } };
	uint64_t pages[10];
	void *s = begin(sequential);

	faults[2].resident = 1;
	values[0] = 3;
	assert_brings(sequential, s, faults, 11, 12, 13, 14, 15, 512, 513, 514);
	values[0] = 0;
	assert_int_equal(prefetch_ask(sequential, s, faults, 4, pages, 9), 0);
	/* The last pages of the address space. */
	values[0] = 9;
	assert_int_equal(prefetch_ask(sequential, s, last, 1, pages, 9), 1);
	assert_true(pages[0] == -PAGE_BYTES);
	prefetch_end(sequential, s);
}

/* HPCA'16: 128 consecutive pages, the faulted one among them. */
static void locality_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *locality = prefetch_row("locality");
	struct gpuemu_policy_fault faults[] = { FAULT(400), FAULT(410) };
	uint64_t pages[300];
	void *s = begin(locality);

	assert_int_equal(values[0], 128);
	assert_int_equal(prefetch_ask(locality, s, faults, 2, pages, 299), 137);
	for (unsigned int i = 0; i < 137; i++)
		assert_int_equal(INDEX(pages[i]), 401 + i);
	prefetch_end(locality, s);
}

static void stream_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *stream = prefetch_row("stream");
	struct gpuemu_policy_fault faults[] = { FAULT(505) };
	uint64_t pages[20];
	void *s = begin(stream);

	some_ranges();
	values[0] = 12;
	resident[3] = true;
	resident[4] = true;
	assert_brings(stream, s, faults, 0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13);
	/* What left behind it does not come again; ranges are crossed. */
	assert_brings(stream, s, faults, 14, 15, 16, 17, 18, 19, 32, 33, 34, 35, 36, 37);
	values[0] = 22;
	assert_brings(stream, s, faults, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
		      52, 53, 54, 55, 56, 57, 58, 59);
	values[0] = 100;
	assert_int_equal(prefetch_ask(stream, s, faults, 1, pages, 5), 5);
	assert_int_equal(INDEX(pages[4]), 504);
	values[0] = 24;
	assert_brings(stream, s, faults, 505, 506, 507, 508, 509, 510, 511, 512, 513, 514, 515, 516,
		      517, 518, 519, 520, 521, 522, 523, 524, 525, 526, 527, 528);
	assert_brings(stream, s, faults, 529);
	assert_int_equal(prefetch_ask(stream, s, faults, 1, pages, 5), 0);
	/* New memory above goes on. */
	ranges[3] = (struct gpuemu_policy_range){ PAGE(550), PAGE(552) };
	nranges = 4;
	assert_brings(stream, s, faults, 550, 551);
	prefetch_end(stream, s);
}

/* Uniform over the allocation's part of the block; a draw of what is here is lost. */
static void random_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *random = prefetch_row("random");
	struct gpuemu_policy_fault faults[] = { FAULT(40) };
	unsigned int seen[PAGES] = { 0 }, drawn = 0;
	uint64_t pages[10];
	void *s = begin(random);

	some_ranges();
	for (unsigned int page = 46; page < 60; page++)
		resident[page] = true;
	for (unsigned int i = 0; i < 28000; i++)
		if (prefetch_ask(random, s, faults, 1, pages, 9)) {
			seen[INDEX(pages[0])]++;
			drawn++;
		}
	/* 14 of 28 pages are here; 1000 draws each, standard deviation 31. */
	assert_in_range(drawn, 13500, 14500);
	for (unsigned int page = 0; page < PAGES; page++)
		assert_in_range(seen[page], page >= 32 && page < 46 ? 850 : 0,
				page >= 32 && page < 46 ? 1150 : 0);
	values[0] = 5;
	assert_true(prefetch_ask(random, s, faults, 1, pages, 9) <= 5);
	prefetch_end(random, s);
}

/* Any N pages, one by one: about N ln 2 faults. */
static void random_saves_a_third(void **state)
{
	const struct gpuemu_prefetch_ops *random = prefetch_row("random");
	unsigned int faults = 0;
	uint64_t pages[10];
	void *s = begin(random);

	ranges[0] = (struct gpuemu_policy_range){ PAGE(0), PAGE(192) };
	nranges = 1;
	for (unsigned int page = 0; page < 192; page++) {
		struct gpuemu_policy_fault fault = FAULT(page);

		if (resident[page])
			continue;
		faults++;
		if (prefetch_ask(random, s, &fault, 1, pages, 9))
			resident[INDEX(pages[0])] = true;
		resident[page] = true;
	}
	assert_in_range(faults, 123, 143);
	prefetch_end(random, s);
}

static void sequential_local_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *sl = prefetch_row("sequential-local");
	struct gpuemu_policy_fault faults[] = { FAULT(17), FAULT(30), FAULT(50), FAULT(513) };
	void *s = begin(sl);

	some_ranges();
	resident[49] = true;
	faults[1].resident = 1;
	/* 16 .. 19 is the first allocation's end; 48 .. 59 the second's; leaf 512 .. 527. */
	assert_brings(sl, s, faults, 16, 17, 18, 19, 48, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59,
		      512, 513, 514, 515, 516, 517, 518, 519, 520, 521, 522, 523, 524, 525, 526,
		      527);
	prefetch_end(sl, s);
}

static void block_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *block = prefetch_row("block");
	struct gpuemu_policy_fault faults[] = { FAULT(3), FAULT(505), FAULT(506), FAULT(520) };
	uint64_t pages[PAGES + 1];
	void *s = begin(block);

	some_ranges();
	resident[0] = true;
	faults[0].resident = 1;
	resident[508] = true;
	assert_brings(block, s, faults, 500, 501, 502, 503, 504, 505, 506, 507, 509, 510, 511, 512,
		      513, 514, 515, 516, 517, 518, 519, 520, 521, 522, 523, 524, 525, 526, 527,
		      528, 529);
	/* Where ranges are not known: 2 MiB, without what is here. */
	nranges = 0;
	assert_int_equal(prefetch_ask(block, s, &faults[1], 1, pages, PAGES), 510);
	prefetch_end(block, s);
}

/* Raised in the order 100 107 114 ..: the distance is 7, whatever lies between in address. */
static void stride_by_hand(void **state)
{
	const struct gpuemu_prefetch_ops *stride = prefetch_row("stride");
	struct gpuemu_policy_fault faults[9], one[] = { FAULT(200) }, down[] = { FAULT(60) };
	uint64_t pages[100];
	void *s = begin(stride);

	values[0] = 2;
	for (unsigned int i = 0; i < 8; i++)
		faults[i] = (struct gpuemu_policy_fault){
			.addr = PAGE(100 + 7 * i), .cycle = 10 + i, .merged = 1,
		};
	/* Seven distances: too few for a trend. */
	assert_int_equal(prefetch_ask(stride, s, faults, 8, pages, 99), 0);
	/* 200 - 149 = 51 is the eighth; seven of the eight are 7. */
	assert_brings(stride, s, one, 207, 214);
	assert_int_equal(prefetch_ask(stride, s, one, 1, pages, 1), 1);
	/* Going down by 20 becomes the trend after five of eight. */
	for (unsigned int i = 0; i < 5; i++) {
		struct gpuemu_policy_fault fault = FAULT(180 - 20 * i);

		prefetch_ask(stride, s, &fault, 1, pages, 99);
	}
	resident[20] = true;
	assert_brings(stride, s, down, 40);
	prefetch_end(stride, s);
}

/* A batch is sorted by address; what counts is the order in which it was raised: downwards. */
static void stride_in_the_order_raised(void **state)
{
	const struct gpuemu_prefetch_ops *stride = prefetch_row("stride");
	struct gpuemu_policy_fault faults[9];
	void *s = begin(stride);

	values[0] = 1;
	for (unsigned int i = 0; i < 9; i++)
		faults[i] = (struct gpuemu_policy_fault){
			.addr = PAGE(100 + 7 * i), .cycle = 50 - i, .merged = 1,
		};
	for (unsigned int page = 100; page < 150; page++)
		resident[page] = true;
	assert_brings(stride, s, faults, 93);
	prefetch_end(stride, s);
}

/* Four of eight distances are 7, the four last: half is not more than half. */
static void stride_half_is_no_majority(void **state)
{
	static const unsigned int raised[] = { 10, 21, 43, 46, 65, 72, 79, 86, 93 };
	const struct gpuemu_prefetch_ops *stride = prefetch_row("stride");
	struct gpuemu_policy_fault next[] = { FAULT(100) };
	uint64_t pages[100];
	void *s = begin(stride);

	values[0] = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(raised); i++) {
		struct gpuemu_policy_fault fault = FAULT(raised[i]);

		assert_int_equal(prefetch_ask(stride, s, &fault, 1, pages, 99), 0);
	}
	assert_brings(stride, s, next, 107);
	prefetch_end(stride, s);
}

/* All distances differ: nothing. A resident fault counts for the trend and asks for nothing. */
static void stride_needs_a_majority(void **state)
{
	const struct gpuemu_prefetch_ops *stride = prefetch_row("stride");
	uint64_t pages[100];
	void *s = begin(stride);

	for (unsigned int i = 0, page = 0; i < 30; i++, page += i) {
		struct gpuemu_policy_fault fault = FAULT(page);

		assert_int_equal(prefetch_ask(stride, s, &fault, 1, pages, 99), 0);
	}
	for (unsigned int i = 0; i < 10; i++) {
		struct gpuemu_policy_fault fault = FAULT(500 + i);

		fault.resident = 1;
		assert_int_equal(prefetch_ask(stride, s, &fault, 1, pages, 99), 0);
	}
	prefetch_end(stride, s);
}

/* Record 5 6 5 7 8 9 7: what comes is what is touched next and not here. */
static void oracle_by_hand(void **state)
{
	static const unsigned int touched[] = { 5, 6, 5, 7, 8, 9, 7 };
	const struct gpuemu_prefetch_ops *oracle = prefetch_row("oracle");
	struct gpuemu_policy_fault five[] = { FAULT(5) }, seven[] = { FAULT(7) };
	uint64_t pages[10];
	void *s;

	fresh();
	for (unsigned int i = 0; i < ARRAY_SIZE(touched); i++)
		record[i] = PAGE(touched[i]);
	view.record_length = ARRAY_SIZE(touched);
	set_options(oracle->options);
	values[0] = 3;
	s = prefetch_make(oracle);
	/* The faulted page is not named. */
	assert_brings(oracle, s, five, 6, 7, 8);
	for (unsigned int page = 5; page < 8; page++)
		prefetch_arrive(oracle, s, page, page > 5);
	oracle->on_touch(s, PAGE(5), false);
	oracle->on_touch(s, PAGE(6), false);
	oracle->on_touch(s, PAGE(5), false);
	oracle->on_touch(s, PAGE(7), false);
	/* 5 is not touched again, 7 is. */
	prefetch_leave(oracle, s, 5);
	assert_brings(oracle, s, seven, 8, 9);
	prefetch_arrive(oracle, s, 8, true);
	prefetch_leave(oracle, s, 7);
	assert_brings(oracle, s, five, 9, 7);
	prefetch_arrive(oracle, s, 9, true);
	prefetch_arrive(oracle, s, 7, true);
	oracle->on_touch(s, PAGE(8), false);
	oracle->on_touch(s, PAGE(9), false);
	oracle->on_touch(s, PAGE(7), false);
	prefetch_leave(oracle, s, 7);
	assert_int_equal(prefetch_ask(oracle, s, five, 1, pages, 9), 0);
	prefetch_end(oracle, s);
}

/* What leaves before it was touched is wanted again. */
static void oracle_looks_back(void **state)
{
	const struct gpuemu_prefetch_ops *oracle = prefetch_row("oracle");
	struct gpuemu_policy_fault five[] = { FAULT(5) };
	uint64_t pages[10];
	void *s;

	fresh();
	for (unsigned int i = 0; i < 4; i++)
		record[i] = PAGE(5 + i);
	view.record_length = 4;
	set_options(oracle->options);
	values[0] = 3;
	s = prefetch_make(oracle);
	assert_brings(oracle, s, five, 6, 7, 8);
	for (unsigned int page = 5; page < 9; page++)
		prefetch_arrive(oracle, s, page, page > 5);
	assert_int_equal(prefetch_ask(oracle, s, five, 1, pages, 9), 0);
	prefetch_leave(oracle, s, 6);
	assert_brings(oracle, s, five, 6);
	prefetch_end(oracle, s);
}

/* Pages of a record that this run does not have are passed over. */
static void oracle_knows_what_is_managed(void **state)
{
	const struct gpuemu_prefetch_ops *oracle = prefetch_row("oracle");
	struct gpuemu_policy_fault faults[] = { FAULT(1) };
	void *s;

	fresh();
	some_ranges();
	for (unsigned int i = 0; i < 40; i++)
		record[i] = PAGE(i);
	view.record_length = 40;
	set_options(oracle->options);
	s = prefetch_make(oracle);
	assert_brings(oracle, s, faults, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
		      18, 19, 32, 33, 34, 35, 36, 37, 38, 39);
	prefetch_end(oracle, s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequential_by_hand),
		cmocka_unit_test(locality_by_hand),
		cmocka_unit_test(stream_by_hand),
		cmocka_unit_test(random_by_hand),
		cmocka_unit_test(random_saves_a_third),
		cmocka_unit_test(sequential_local_by_hand),
		cmocka_unit_test(block_by_hand),
		cmocka_unit_test(stride_by_hand),
		cmocka_unit_test(stride_in_the_order_raised),
		cmocka_unit_test(stride_half_is_no_majority),
		cmocka_unit_test(stride_needs_a_majority),
		cmocka_unit_test(oracle_by_hand),
		cmocka_unit_test(oracle_looks_back),
		cmocka_unit_test(oracle_knows_what_is_managed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
