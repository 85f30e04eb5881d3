// SPDX-License-Identifier: GPL-2.0
/*
 * One session takes frames of another whose pages are on their way: what becomes of these
 * where the other was set aside in the middle of a kernel, and where it has nothing to run.
 * A cycle is 10 ns, a page 250 ns on the link, a batch 1000 ns of service.
 */
#include "paging_fake.h"

#define PAGE_CYCLES	25u
#define SERVE_CYCLES	(SERVE_NS / 10)
#define FRAMES		64u
#define OLD		32u		/* pages that the other has used */
#define NEW		8u		/* and those that it is about to use, from OLD on */
#define LATE		20000u		/* when they are asked for */
#define ALL_CAME	(LATE + SERVE_CYCLES + NEW * PAGE_CYCLES)

static struct fake *fake;
static struct paging_pool *pool;
static struct paging *one, *two;
static unsigned int narrivals;
static uint64_t last_arrival;

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	narrivals++;
	last_arrival = now;
	return true;
}

static const struct paging_events events = { .arrived = arrived };

static void fault(struct paging *p, uint32_t space, uint64_t now, unsigned int first,
		  unsigned int n)
{
	struct paging_outcome outcome;
	struct fault faults[FRAMES];

	for (unsigned int i = 0; i < n; i++)
		faults[i] = (struct fault){
			.addr = PAGE(first + i), .cycle = now, .va_space = space, .merged = 1,
		};
	assert_int_equal(paging_serve(p, faults, n, now, &outcome), 0);
	assert_int_equal(outcome.stuck + outcome.unmanaged, 0);
}

static unsigned int here(struct paging *p, unsigned int first, unsigned int n)
{
	unsigned int count = 0;

	for (unsigned int i = first; i < first + n; i++)
		count += paging_resident(p, PAGE(i));
	return count;
}

static unsigned int flying(struct paging *p, unsigned int first, unsigned int n)
{
	unsigned int count = 0;

	for (unsigned int i = first; i < first + n; i++)
		count += paging_in_flight(p, PAGE(i));
	return count;
}

/*
 * Of one, OLD pages are used and NEW ones on their way. These would go first, by LFU. The last
 * `ahead` of either are a guess, which came or comes all the same.
 */
static int begin_with(const char *prefetch, unsigned int ahead)
{
	struct gpu_spec spec;
	struct err err;

	fake = fake_create(FRAMES);
	spec_defaults(&spec);
	spec.clock_mhz = 100;
	spec.link_mbps = 16384;
	spec.vram_bytes = FRAMES * PAGE_BYTES;
	strcpy(spec.prefetch, prefetch);
	strcpy(spec.evict, "lfu");
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	assert_int_equal(paging_create(pool, 1, &spec, &one, &err), 0);
	strcpy(spec.prefetch, "none");
	assert_int_equal(paging_create(pool, 2, &spec, &two, &err), 0);
	paging_listen(one, &events, NULL);
	fault(one, 1, 1000, 0, OLD - ahead);
	assert_int_equal(paging_advance(one, LATE / 2), 0);
	for (unsigned int i = 0; i < OLD; i++)
		paging_touch(one, PAGE(i), false);
	fault(one, 1, LATE, OLD, NEW - ahead);
	assert_int_equal(flying(one, OLD, NEW), NEW);
	narrivals = 0;
	return 0;
}

static int begin(void **state)
{
	return begin_with("none", 0);
}

static int begin_guessing(void **state)
{
	return begin_with("sequential:pages=7", 7);
}

static int end(void **state)
{
	paging_destroy(one);
	paging_destroy(two);
	paging_pool_destroy(pool);
	free(fake);
	return 0;
}

/* Time stands still for it: nothing lands, nothing is taken that it is about to use. */
static void test_aside(void **state)
{
	paging_set_aside(one, true);
	fault(two, 2, LATE, 0, FRAMES - NEW);
	assert_int_equal(here(two, 0, FRAMES - NEW), FRAMES - NEW);
	assert_int_equal(narrivals, 0);
	assert_int_equal(flying(one, OLD, NEW), NEW);
	assert_int_equal(here(one, 0, OLD), 0);
	/* It goes on as if nothing had been. */
	paging_set_aside(one, false);
	assert_int_equal(paging_advance(one, ALL_CAME - 1), 0);
	assert_true(paging_in_flight(one, PAGE(OLD + NEW - 1)));
	assert_int_equal(paging_advance(one, ALL_CAME), 0);
	assert_int_equal(flying(one, OLD, NEW), 0);
	assert_int_equal(narrivals, NEW);
	assert_int_equal(last_arrival, ALL_CAME);
}

/* What has come and was not used yet is kept like what is on its way. */
static void test_aside_and_waited_for(void **state)
{
	assert_int_equal(paging_advance(one, ALL_CAME), 0);
	paging_set_aside(one, true);
	fault(two, 2, LATE, 0, FRAMES - NEW);
	assert_int_equal(here(two, 0, FRAMES - NEW), FRAMES - NEW);
	assert_int_equal(here(one, OLD, NEW), NEW);
	assert_int_equal(here(one, 0, OLD), 0);
}

/* Where there is nothing else it goes, too, and who waits for it is told to ask again. */
static void test_aside_and_nothing_else(void **state)
{
	paging_set_aside(one, true);
	fault(two, 2, LATE, 0, FRAMES);
	assert_int_equal(here(two, 0, FRAMES), FRAMES);
	assert_int_equal(here(one, 0, OLD + NEW), 0);
	assert_int_equal(flying(one, OLD, NEW), 0);
	assert_int_equal(narrivals, 0);
	paging_set_aside(one, false);
	assert_int_equal(paging_next(one), LATE);
	assert_int_equal(paging_advance(one, LATE), 0);
	assert_int_equal(narrivals, NEW);
}

/* It has no time of its own: what it sent for has come before anything is taken from it. */
static void test_idle(void **state)
{
	fault(two, 2, LATE, 0, FRAMES - OLD);
	assert_int_equal(here(two, 0, FRAMES - OLD), FRAMES - OLD);
	assert_int_equal(narrivals, NEW);
	assert_int_equal(flying(one, OLD, NEW), 0);
	assert_int_equal(paging_stats(one)->link.h2d_transfers, 2);
	assert_int_equal(paging_stats(one)->link.h2d_busy_ns, (OLD + NEW) * 250);
	/* Then it is all the same: what came last went first. */
	assert_int_equal(here(one, OLD, NEW), 0);
	assert_int_equal(here(one, 0, OLD), OLD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_aside, begin, end),
		cmocka_unit_test_setup_teardown(test_aside, begin_guessing, end),
		cmocka_unit_test_setup_teardown(test_aside_and_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(test_aside_and_nothing_else, begin, end),
		cmocka_unit_test_setup_teardown(test_idle, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
