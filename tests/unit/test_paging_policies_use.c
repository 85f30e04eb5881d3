// SPDX-License-Identifier: GPL-2.0
/*
 * How a handler uses its policies: the text that names them, the recorded run and the
 * ranges that they are told, the touches that are kept.
 */
#include "paging_fake.h"

static struct fake *fake;
static struct paging_pool *pool;
static struct paging *paging;
static struct gpu_spec spec;
static struct err err;

static int begin(void **state)
{
	fake = fake_create(PAGES);
	spec_defaults(&spec);
	spec.vram_bytes = PAGES * PAGE_BYTES;
	paging = NULL;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	return 0;
}

static int end(void **state)
{
	if (paging)
		paging_destroy(paging);
	paging_pool_destroy(pool);
	free(fake);
	return 0;
}

static void make(const struct paging_known *known)
{
	assert_int_equal(paging_create_knowing(pool, 1, &spec, known, &paging, &err), 0);
}

static void fault(unsigned int page)
{
	struct fault f = { .addr = PAGE(page), .va_space = 1, .access = ACCESS_READ, .merged = 1 };
	struct paging_outcome outcome;

	assert_int_equal(paging_serve(paging, &f, 1, 0, &outcome), 0);
	assert_int_equal(paging_land_all(paging, NULL), 0);
}

static void texts(void **state)
{
	static const struct {
		const char *prefetch, *evict, *says;
	} cases[] = {
		{ "none", "lru", NULL },
		{ "tree:threshold=75", "lru:reserve=20", NULL },
		{ "sequential:pages=8K", "sequential-local", NULL },
		{ "sequential:pages=1,pages=2", "lfu:saturate=2", NULL },
		{ "./mine.so:anything", "there/is/one:key=value", NULL },
		{ "mine.so", "lru", NULL },
		{ "", "lru", "paging.prefetch: no policy ''; there are: none, sequential, random, " },
		{ "tre", "lru", "paging.prefetch: no policy 'tre'; there are: none, " },
		{ "lru", "lru", "paging.prefetch: no policy 'lru'" },
		{ "none", "tree:", "paging.evict: '' behind 'tree:' is not KEY=VALUE" },
		{ "tree:75", "lru", "paging.prefetch: '75' behind 'tree:' is not KEY=VALUE" },
		{ "tree:pages=3", "lru", "paging.prefetch: 'tree' has no option 'pages'; it has: threshold" },
		{ "block:pages=3", "lru", "paging.prefetch: 'block' has no option 'pages': it has none" },
		{ "tree:threshold=101", "lru", "tree:threshold=101: a number from 0 to 100 is needed (percent" },
		{ "tree:threshold=", "lru", "a number from 0 to 100 is needed" },
		{ "tree:threshold=-1", "lru", "a number from 0 to 100 is needed" },
		{ "tree:threshold=5x", "lru", "a number from 0 to 100 is needed" },
		{ "tree:threshold=5Kx", "lru", "a number from 0 to 100 is needed" },
		{ "sequential:pages=18446744073709551616", "lru", "a number from 0 to 8192 is needed" },
		{ "sequential:pages=18014398509481984K", "lru", "a number from 0 to 8192 is needed" },
		{ "none", "lru:reserve=100", "paging.evict: lru:reserve=100: a number from 0 to 99" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		err.text[0] = '\0';
		strcpy(spec.prefetch, cases[i].prefetch);
		strcpy(spec.evict, cases[i].evict);
		assert_int_equal(paging_check_policies(&spec, &err), cases[i].says ? -EINVAL : 0);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
	}
}

static void options_take_effect(void **state)
{
	static const struct paging_known nothing;

	strcpy(spec.prefetch, "sequential:pages=2,pages=3");
	make(&nothing);
	fault(100);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 101, 3);
}

static void a_record_is_needed(void **state)
{
	static const char *const kinds[][2] = { { "oracle", "lru" }, { "none", "min" } };
	const uint64_t record[] = { PAGE(3), PAGE(9), PAGE(4) };
	const struct paging_known known = { .record = record, .record_length = 3 };
	const struct paging_known empty = { .record = record };
	struct paging *none = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		strcpy(spec.prefetch, kinds[i][0]);
		strcpy(spec.evict, kinds[i][1]);
		assert_int_equal(paging_create(pool, 1, &spec, &none, &err), -EINVAL);
		if (!strstr(err.text, i ? "paging.evict: 'min' needs a recorded run: --recorded FILE" :
					  "paging.prefetch: 'oracle' needs a recorded run"))
			fail_msg("%s", err.text);
		assert_null(none);
		/* One without touches is a record. */
		make(&empty);
		paging_destroy(paging);
		paging = NULL;
	}
	strcpy(spec.prefetch, "oracle");
	make(&known);
	fault(3);
	assert_steps(fake, 0, 3);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 4, 1);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 9, 1);
}

static void touches_are_kept(void **state)
{
	static const struct paging_known nothing;
	const uint64_t *pages;
	uint64_t n;

	make(&nothing);
	assert_int_equal(paging_touches(paging, &pages, &n), -EINVAL);
	paging_destroy(paging);
	spec.record = 1;
	make(&nothing);
	assert_int_equal(paging_touches(paging, &pages, &n), 0);
	assert_int_equal(n, 0);
	fault(7);
	fault(5);
	paging_touch(paging, PAGE(7), false);
	paging_touch(paging, PAGE(5) + 17, true);
	paging_touch(paging, PAGE(6), false);	/* not there: that is no touch */
	paging_touch(paging, PAGE(7), false);
	assert_int_equal(paging_touches(paging, &pages, &n), 0);
	assert_int_equal(n, 3);
	assert_true(pages[0] == PAGE(7) && pages[1] == PAGE(5) && pages[2] == PAGE(7));
	for (unsigned int i = 0; i < 10000; i++)
		paging_touch(paging, PAGE(5), false);
	assert_int_equal(paging_touches(paging, &pages, &n), 0);
	assert_int_equal(n, 10003);
	assert_true(pages[10002] == PAGE(5));
}

/* Of the eight wished for some are not managed: no page is evicted for them. */
static void wishes_outside_managed_memory(void **state)
{
	const struct paging_range ranges[] = {
		{ PAGE(0), 20 * PAGE_BYTES }, { PAGE(30), 10 * PAGE_BYTES },
	};
	const struct paging_known known = { .ranges = ranges, .nranges = 2 };

	for (unsigned int page = 0; page < PAGES; page++)
		fake->unmanaged[1][page] = page >= 40 || (page >= 20 && page < 30);
	fake->frames = 5;
	strcpy(spec.prefetch, "sequential:pages=8");
	make(&known);
	fault(35);
	assert_int_equal(fake->used, 5);
	fault(19);
	paging_touch(paging, PAGE(19), false);
	assert_steps(fake, 0, 2);		/* one goes, one comes */
	fault(17);				/* 18 is wished for, and 19 is here */
	assert_steps(fake, 0, 4);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 18, 1);
}

static void ranges_change(void **state)
{
	const struct paging_range before[] = { { PAGE(0), 2 * PAGE_BYTES } };
	const struct paging_range after[] = { { PAGE(0), 4 * PAGE_BYTES } };
	const struct paging_known known = { .ranges = before, .nranges = 1 };

	strcpy(spec.prefetch, "stream");
	make(&known);
	fault(1);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 0, 1);
	paging_set_ranges(paging, after, 1);
	fault(3);
	assert_steps(fake, 0, 2);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 2, 1);
}

static void managed(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	addr_ranges_add(to, PAGE(4), PAGE(5));
	addr_ranges_add(to, PAGE(8), PAGE(11));
}

/* A service that knows the ranges is asked, and nobody else. */
static void the_service_knows_ranges(void **state)
{
	struct service_ops ops = *fake->service.ops;
	const struct paging_range told[] = { { PAGE(0), 100 * PAGE_BYTES } };
	const struct paging_known known = { .ranges = told, .nranges = 1 };

	ops.managed = managed;
	fake->service.ops = &ops;
	strcpy(spec.prefetch, "stream");
	make(&known);
	fault(9);
	assert_steps(fake, 0, 4);
	assert_step(fake, 0, 0, MIGRATE_H2D, 1, 9, 1);
	assert_step(fake, 0, 1, MIGRATE_H2D, 1, 4, 1);
	assert_step(fake, 0, 2, MIGRATE_H2D, 1, 8, 1);
	assert_step(fake, 0, 3, MIGRATE_H2D, 1, 10, 1);
	paging_destroy(paging);
	paging = NULL;
}

/* Victims of one page after another in 20 frames. */
static void victims(const char *prefetch, unsigned int *pages)
{
	/* What is wished for is nowhere managed, so that nothing comes of it. */
	const struct paging_range ranges[] = { { PAGE(1500), PAGE_BYTES } };
	const struct paging_known known = { .ranges = ranges, .nranges = 1 };

	strcpy(spec.prefetch, prefetch);
	strcpy(spec.evict, "random");
	spec.vram_bytes = 20 * PAGE_BYTES;
	make(&known);
	for (unsigned int page = 0; page < 60; page++) {
		fault(page);
		paging_touch(paging, PAGE(page), false);
		if (page < 20)
			continue;
		assert_int_equal(fake->plans[(fake->serves - 1) % KEPT_PLANS].migrations[0].op,
				 MIGRATE_D2H);
		*pages++ = INDEX(fake->plans[(fake->serves - 1) % KEPT_PLANS].migrations[0].addr);
	}
}

/* What the eviction policy draws does not depend on what the prefetch policy draws. */
static void policies_draw_apart(void **state)
{
	unsigned int alone[40], beside[40];

	victims("none", alone);
	end(state);
	begin(state);
	victims("random:pages=3", beside);
	assert_memory_equal(alone, beside, sizeof(alone));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(texts, begin, end),
		cmocka_unit_test_setup_teardown(options_take_effect, begin, end),
		cmocka_unit_test_setup_teardown(a_record_is_needed, begin, end),
		cmocka_unit_test_setup_teardown(touches_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(wishes_outside_managed_memory, begin, end),
		cmocka_unit_test_setup_teardown(ranges_change, begin, end),
		cmocka_unit_test_setup_teardown(the_service_knows_ranges, begin, end),
		cmocka_unit_test_setup_teardown(policies_draw_apart, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
