// SPDX-License-Identifier: GPL-2.0
/*
 * A VA space that may have only a share of device memory: it lives within it, at its
 * own cost, also when it changes, and a page that can never fit is said.
 */
#include "paging_fake.h"

static struct fake *fake;
static struct paging_pool *pool;
static struct paging *one, *two;
static struct gpu_spec spec;
static struct paging_outcome outcome;
static struct err err;

static int begin(void **state)
{
	fake = fake_create(1024);
	spec_defaults(&spec);
	strcpy(spec.prefetch, "none");
	spec.vram_bytes = 1024 * PAGE_BYTES;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	return 0;
}

static int end(void **state)
{
	if (one)
		paging_destroy(one);
	if (two)
		paging_destroy(two);
	paging_pool_destroy(pool);
	one = two = NULL;
	free(fake);
	return 0;
}

static void make(void)
{
	assert_int_equal(paging_create(pool, 1, &spec, &one, &err), 0);
	assert_int_equal(paging_create(pool, 2, &spec, &two, &err), 0);
}

/* Faults on n pages from `first` on; what comes is used at once. */
static void fault(struct paging *p, uint32_t space, unsigned int first, unsigned int n)
{
	static uint64_t now;
	struct fault faults[256] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		faults[i] = (struct fault){
			.addr = PAGE(first + i), .va_space = space, .access = ACCESS_READ,
			.merged = 1,
		};
	assert_int_equal(paging_serve(p, faults, n, now += 1000000, &outcome), 0);
	assert_int_equal(paging_land_all(p, NULL), 0);
	for (unsigned int i = 0; i < n; i++)
		if (paging_resident(p, PAGE(first + i)))
			paging_touch(p, PAGE(first + i), false);
}

static void test_within_the_share(void **state)
{
	make();
	fake->share = 100;
	fault(two, 2, 0, 100);
	for (unsigned int i = 0; i < 10; i++) {
		fault(one, 1, i * 64, 64);
		assert_int_equal(outcome.stuck, 0);
		for (unsigned int k = 0; k < 64; k++)
			assert_true(paging_resident(one, PAGE(i * 64 + k)));
	}
	/* Never refused (the fake is strict), at nobody else's cost. */
	assert_int_equal(fake->of[1], 100);
	assert_int_equal(fake->of[2], 100);
	assert_int_equal(paging_stats(two)->evicted_pages, 0);
	/* More than the share in one batch: the others wait, and come next. */
	fault(one, 1, 700, 200);
	assert_int_equal(outcome.stuck, 0);
	assert_int_equal(fake->of[1], 100);
	fault(one, 1, 800, 100);
	assert_true(paging_resident(one, PAGE(899)));
}

static void test_changed(void **state)
{
	make();
	fake->share = 500;
	for (unsigned int i = 0; i < 5; i++)
		fault(one, 1, i * 100, 100);
	assert_int_equal(fake->of[1], 500);
	/* Less than it has: the next that it asks for pays for all. */
	fake->share = 20;
	fault(one, 1, 600, 5);
	assert_int_equal(outcome.stuck, 0);
	assert_true(paging_resident(one, PAGE(604)));
	assert_int_equal(fake->of[1], 20);
	fake->share = 0;
	fault(one, 1, 700, 100);
	assert_int_equal(fake->of[1], 120);
}

/* The service counts pages that the books have forgotten: some more of its own go. */
static void test_counted_otherwise(void **state)
{
	make();
	fake->share = 100;
	fault(two, 2, 0, 50);
	fault(one, 1, 0, 100);
	fake->strict = false;
	fake->of[1] += 7;
	fault(one, 1, 200, 10);
	assert_int_equal(outcome.stuck, 0);
	for (unsigned int k = 0; k < 10; k++)
		assert_true(paging_resident(one, PAGE(200 + k)));
	assert_true(fake->of[1] <= 100);
	assert_int_equal(fake->of[2], 50);
}

/* A page of 2 MiB, and a share of less. */
static void test_page_is_larger(void **state)
{
	spec.page_bytes = 2 << 20;
	spec.vram_bytes = 8 << 20;
	make();
	fake->share = 100;
	fault(one, 1, 0, 1);
	assert_int_equal(outcome.stuck, 1);
	assert_int_equal(outcome.stuck_status, -ENOSPC);
	assert_int_equal(fake->of[1], 0);
	fake->share = 600;
	fault(one, 1, 0, 1);
	assert_int_equal(outcome.stuck, 0);
	assert_true(paging_resident(one, PAGE(0)));
}

/* A user's VA spaces count together, however small each is; another's larger one is spared. */
static void test_of_a_user(void **state)
{
	struct paging *three;

	make();
	assert_int_equal(paging_create(pool, 3, &spec, &three, &err), 0);
	assert_int_equal(paging_set_user(one, 8), 0);
	assert_int_equal(paging_set_user(two, 7), 0);
	assert_int_equal(paging_set_user(three, 7), 0);
	fault(one, 1, 0, 200);
	fault(one, 1, 200, 200);
	for (unsigned int i = 0; i < 3; i++) {
		fault(two, 2, i * 100, 100);
		fault(three, 3, i * 100, 100);
	}
	for (unsigned int i = 0; i < 8; i++) {
		fault(two, 2, 300 + i * 100, 100);
		fault(three, 3, 300 + i * 100, 100);
	}
	assert_int_equal(fake->of[1], 400);
	assert_int_equal(fake->of[2] + fake->of[3], 624);
	/* It may have half of all, of the largest user's largest VA space. */
	for (unsigned int i = 0; i < 8; i++)
		fault(one, 1, 400 + i * 100, 100);
	assert_in_range(fake->of[1], 512, 513);
	assert_in_range(fake->of[2], 255, 256);
	assert_in_range(fake->of[3], 255, 256);
	/* Alone, the user's VA spaces are as those of any: the largest gives. */
	assert_int_equal(paging_set_user(one, 7), 0);
	fault(two, 2, 1200, 50);
	assert_in_range(fake->of[1], 462, 463);
	paging_destroy(three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_within_the_share, begin, end),
		cmocka_unit_test_setup_teardown(test_changed, begin, end),
		cmocka_unit_test_setup_teardown(test_counted_otherwise, begin, end),
		cmocka_unit_test_setup_teardown(test_page_is_larger, begin, end),
		cmocka_unit_test_setup_teardown(test_of_a_user, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
