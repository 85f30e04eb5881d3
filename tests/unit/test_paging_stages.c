// SPDX-License-Identifier: GPL-2.0
/*
 * Where a far fault's latency went, worked out by hand: what it waited in the fault buffer, its
 * batch's stages, the link, its own transfer. A cycle is 10 ns, a page 250 ns on the link, a batch
 * 1000 ns of service. test_paging_random checks at every fault that the stages sum to the latency.
 */
#include "paging_fake.h"

static struct fake *fake;
static struct service_ops ops;
static struct paging_pool *pool;
static struct paging *paging;
static struct gpu_spec spec;
static struct paging_outcome outcome;
static struct paging_fault served[64];
static unsigned int nserved;

static void on_served(void *ctx, const struct paging_fault *fault)
{
	assert_true(nserved < ARRAY_SIZE(served));
	served[nserved++] = *fault;
}

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	return 0;
}

static const struct paging_events events = { .arrived = arrived, .served = on_served };

static int setup(void **state)
{
	spec_defaults(&spec);
	spec.clock_mhz = 100;
	spec.link_mbps = 16384;
	nserved = 0;
	return 0;
}

static void begin(uint64_t frames, bool measured)
{
	struct err err;

	fake = fake_create(frames);
	ops = *fake->service.ops;
	ops.measured = measured;
	fake->service.ops = &ops;
	spec.vram_bytes = frames * PAGE_BYTES;
	assert_int_equal(paging_pool_create(&fake->service, &pool), 0);
	if (paging_create(pool, 1, &spec, &paging, &err))
		fail_msg("%s", err.text);
	paging_listen(paging, &events, NULL);
}

static int end(void **state)
{
	paging_destroy(paging);
	paging_pool_destroy(pool);
	free(fake);
	return 0;
}

/* Raised `waited` cycles before the batch is taken. */
static void fault(uint64_t now, uint64_t waited, unsigned int first, unsigned int last)
{
	struct fault faults[64];
	unsigned int n = 0;

	for (unsigned int page = first; page <= last; page++)
		faults[n++] = (struct fault){
			.addr = PAGE(page), .cycle = now - waited, .va_space = 1, .merged = 1,
			.sm = 3, .warp = 7, .access = ACCESS_WRITE,
		};
	assert_int_equal(paging_serve(paging, faults, n, now, &outcome), 0);
}

static void upto(uint64_t now)
{
	assert_int_equal(paging_advance(paging, now), 0);
}

static void assert_stages(unsigned int n, unsigned int page, enum fault_cause cause,
			  struct fault_stages want)
{
	uint64_t sum = 0;

	assert_true(n < nserved);
	assert_int_equal(INDEX(served[n].addr), page);
	assert_string_equal(fault_cause_names[served[n].cause], fault_cause_names[cause]);
#define X(stage)								\
	if (served[n].stages.stage != want.stage)				\
		fail_msg("fault %u: " #stage " %llu, not %llu", n,		\
			 (unsigned long long)served[n].stages.stage,		\
			 (unsigned long long)want.stage);			\
	sum += want.stage;
	FAULT_STAGES(X)
#undef X
	assert_int_equal(served[n].latency, sum);
}

/* Two pages of a batch: the second waits for the first one's transfer. */
static void over_the_link(void **state)
{
	begin(100, false);
	fault(1000, 12, 10, 10);
	fault(1000, 20, 30, 30);
	upto(2000);
	assert_stages(0, 10, CAUSE_FIRST, (struct fault_stages){
		.queued = 120, .fetched_to_committed = 1000, .copy = 250,
	});
	assert_stages(1, 30, CAUSE_FIRST, (struct fault_stages){
		.queued = 200, .fetched_to_committed = 1000, .link = 250, .copy = 250,
	});
	assert_int_equal(served[1].sm, 3);
	assert_int_equal(served[1].warp, 7);
	assert_int_equal(served[1].access, ACCESS_WRITE);
	assert_int_equal(served[1].raised, 980);
	assert_int_equal(served[1].taken, 1000);
	assert_int_equal(served[0].batch + 1, served[1].batch);
}

/* It has come when the handler looks: the batch is all that it waits for. */
static void there_already(void **state)
{
	begin(100, false);
	fault(1000, 0, 10, 10);
	upto(2000);
	fault(3000, 5, 10, 10);
	assert_stages(1, 10, CAUSE_RESIDENT, (struct fault_stages){
		.queued = 50, .fetched_to_committed = 1000,
	});
	assert_int_equal(outcome.causes[CAUSE_RESIDENT], 1);
}

/* It comes by another's transfer before its own batch is done. */
static void sooner_than_its_batch(void **state)
{
	strcpy(spec.prefetch, "sequential:pages=8");
	begin(100, false);
	fault(1000, 0, 10, 10);
	/* 10 lands at 1125, 11 to 18 behind it at 1325. Taken at 1300, done at 1400. */
	fault(1300, 4, 15, 15);
	upto(3000);
	assert_stages(1, 15, CAUSE_IN_FLIGHT, (struct fault_stages){
		.queued = 40, .fetched_to_committed = 250,
	});
}

/* A batch that was measured: its pages come together, at its end. */
static void measured(void **state)
{
	begin(100, true);
	fake->cost = (struct service_cost){
		.total = 1500, .raised_to_fetched = 100, .fetched_to_committed = 200, .evict = 300,
		.unmap = 50, .copy = 350, .map = 80, .replay = 420, .decide = 150,
	};
	fault(1000, 7, 10, 11);
	upto(2000);
	for (unsigned int i = 0; i < 2; i++)
		assert_stages(i, 10 + i, CAUSE_FIRST, (struct fault_stages){
			.queued = 70, .raised_to_fetched = 100, .fetched_to_committed = 200,
			.evict = 300, .unmap = 50, .copy = 350, .map = 80, .replay = 420,
		});
	assert_int_equal(paging_stats(paging)->decide_ns.count, 1);
	assert_int_equal(paging_stats(paging)->decide_ns.sum, 150);
	assert_int_equal(paging_stats(paging)->fault_stages.queued, 140);
	assert_int_equal(paging_stats(paging)->causes[CAUSE_FIRST], 2);
}

/* The decision's measured time is taken out, and the configured time put in. */
static void decisions_are_charged(void **state)
{
	strcpy(spec.decide, "5000");
	begin(100, true);
	fake->cost = (struct service_cost){
		.total = 3000000, .fetched_to_committed = 2000100, .copy = 999900,
		.decide = 2000000, .end_to_end = 3000400,
	};
	fault(1000, 0, 10, 10);
	assert_int_equal(outcome.service_ns, 1005000);
	assert_int_equal(outcome.cost.end_to_end, 1005400);
	assert_int_equal(outcome.cost.fetched_to_committed, 5100);
	/* How long it really took stays to be seen. */
	assert_int_equal(paging_stats(paging)->decide_ns.max, 2000000);
	upto(1000000);
	assert_int_equal(served[0].latency, 1005000);
}

/* Where nothing is measured the configured time comes on top. */
static void decisions_are_charged_by_sim(void **state)
{
	strcpy(spec.decide, "700");
	begin(100, false);
	fault(1000, 0, 10, 10);
	upto(2000);
	assert_stages(0, 10, CAUSE_FIRST, (struct fault_stages){
		.fetched_to_committed = 1700, .copy = 250,
	});
	assert_int_equal(paging_stats(paging)->decide_ns.count, 0);
}

static void evicted_before(void **state)
{
	begin(1, false);
	fault(1000, 0, 10, 10);
	upto(2000);
	paging_touch(paging, PAGE(10), false);
	fault(3000, 0, 11, 11);
	upto(4000);
	paging_touch(paging, PAGE(11), false);
	fault(5000, 0, 10, 10);
	upto(6000);
	assert_int_equal(served[2].cause, CAUSE_EVICTED);
	/* The frame is free when the other page has left: 250 ns. */
	assert_stages(2, 10, CAUSE_EVICTED, (struct fault_stages){
		.fetched_to_committed = 1000, .link = 250, .copy = 250,
	});
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)
	const struct CMUnitTest tests[] = {
		TEST(over_the_link), TEST(there_already), TEST(sooner_than_its_batch),
		TEST(measured), TEST(decisions_are_charged), TEST(decisions_are_charged_by_sim),
		TEST(evicted_before),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
