// SPDX-License-Identifier: GPL-2.0
/* The link against times worked out by hand, and against its rules on random traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "paging/link.h"

#define PAGE(n)		(0x200000000ull + (n) * PAGE_BYTES)
#define INDEX(addr)	(unsigned int)(((addr) - PAGE(0)) / PAGE_BYTES)
#define NS		PS_NS
#define PAGE_NS		256u	/* 4 KiB at 16 GB/s */
#define MANY		INT64_MAX / 2

static struct gpu_spec spec;
static struct link *the_link;
static struct link_piece pieces[4096];
static unsigned int npieces;

static void landed(void *ctx, const struct link_piece *piece)
{
	assert_true(npieces < 4096);
	pieces[npieces++] = *piece;
}

static unsigned int nbegun;

static void begun(void *ctx, const struct link_piece *piece)
{
	/* Told before it is under way for a moment, and all of it. */
	assert_true(piece->end > piece->begin && piece->landed >= piece->end);
	nbegun++;
}

static const struct link_ears ears = { begun, landed, NULL };

static void begin(void)
{
	npieces = 0;
	assert_int_equal(link_create(&spec, &the_link), 0);
}

static int setup(void **state)
{
	spec_defaults(&spec);
	return 0;
}

static int end(void **state)
{
	link_destroy(the_link);
	the_link = NULL;
	return 0;
}

static void send(uint64_t at_ns, enum link_dir dir, enum link_class class, unsigned int page,
		 unsigned int pages)
{
	assert_int_equal(link_send(the_link, at_ns * NS, dir, class, 1, PAGE(page), pages, 7),
			 0);
}

static void run(uint64_t upto_ns, int64_t idle)
{
	assert_int_equal(link_run(the_link, upto_ns * NS, idle, &ears), 0);
}

/* The n-th piece that landed. */
static void assert_piece(unsigned int n, enum link_dir dir, unsigned int page,
			 unsigned int pages, uint64_t begin_ns, uint64_t end_ns)
{
	assert_true(n < npieces);
	assert_int_equal(pieces[n].dir, dir);
	assert_int_equal(INDEX(pieces[n].addr), page);
	assert_int_equal(pieces[n].pages, pages);
	assert_int_equal(pieces[n].tag, 7);
	assert_int_equal(pieces[n].begin, begin_ns * NS);
	assert_int_equal(pieces[n].end, end_ns * NS);
	assert_int_equal(pieces[n].landed, (end_ns + spec.link_latency_ns) * NS);
}

static void one_page_is_256_ns(void **state)
{
	begin();
	assert_true(link_next(the_link) == LINK_NEVER);
	send(1000, LINK_H2D, LINK_DEMAND, 7, 1);
	assert_int_equal(link_next(the_link), 1000 * NS);
	assert_int_equal(link_waiting(the_link), 1);
	nbegun = 0;
	run(999, MANY);
	assert_int_equal(nbegun, 0);
	run(1000, MANY);
	assert_int_equal(nbegun, 1);
	assert_int_equal(link_waiting(the_link), 0);
	assert_int_equal(link_next(the_link), 1256 * NS);
	run(1255, MANY);
	assert_int_equal(npieces, 0);
	/* A quarter of it. */
	assert_int_equal(link_busy(the_link, LINK_H2D, 1064 * NS), 64 * NS);
	assert_int_equal(link_busy(the_link, LINK_H2D, 9999 * NS), PAGE_NS * NS);
	run(1256, MANY);
	assert_piece(0, LINK_H2D, 7, 1, 1000, 1256);
	assert_int_equal(link_stats(the_link)->transfers[LINK_H2D], 1);
	assert_int_equal(link_stats(the_link)->pages[LINK_H2D], 1);
	assert_int_equal(link_stats(the_link)->busy[LINK_H2D], PAGE_NS * NS);
	assert_true(link_next(the_link) == LINK_NEVER);
}

static void latency_delays_and_does_not_occupy(void **state)
{
	spec.link_latency_ns = 2000;
	begin();
	send(0, LINK_H2D, LINK_DEMAND, 0, 1);
	send(0, LINK_H2D, LINK_DEMAND, 5, 1);
	run(2255, MANY);
	assert_int_equal(npieces, 0);
	run(10000, MANY);
	assert_int_equal(npieces, 2);
	assert_piece(0, LINK_H2D, 0, 1, 0, 256);
	assert_piece(1, LINK_H2D, 5, 1, 256, 512);
	assert_int_equal(link_stats(the_link)->busy[LINK_H2D], 512 * NS);
}

static void directions_are_their_own(void **state)
{
	begin();
	send(0, LINK_D2H, LINK_DEMAND, 100, 2);
	send(0, LINK_H2D, LINK_DEMAND, 0, 2);
	/* Two frames are nobody's: nothing waits for the evictions. */
	run(10000, 2);
	assert_int_equal(npieces, 2);
	assert_piece(0, LINK_H2D, 0, 2, 0, 512);
	assert_piece(1, LINK_D2H, 100, 2, 0, 512);
}

static void frames_are_free_when_they_have_left(void **state)
{
	begin();
	/* In the books: 3 evicted, 3 coming for them. */
	send(0, LINK_D2H, LINK_DEMAND, 100, 1);
	send(0, LINK_D2H, LINK_DEMAND, 200, 2);
	send(0, LINK_H2D, LINK_DEMAND, 0, 3);
	run(10000, 0);
	assert_int_equal(npieces, 4);
	assert_piece(0, LINK_D2H, 100, 1, 0, 256);
	/* As many as there are frames for: one goes, then the others. */
	assert_piece(1, LINK_H2D, 0, 1, 256, 512);
	assert_piece(2, LINK_D2H, 200, 2, 256, 768);
	assert_piece(3, LINK_H2D, 1, 2, 768, 1280);
	/* It was one transfer all the same. */
	assert_int_equal(link_stats(the_link)->transfers[LINK_H2D], 1);
	assert_int_equal(link_stats(the_link)->transfers[LINK_D2H], 2);
}

/* Frames that were freed ahead of need: the same page waits for nothing. */
static void frames_freed_before_cost_nothing(void **state)
{
	begin();
	send(0, LINK_D2H, LINK_PREFETCH, 100, 4);
	run(1024, 4);
	assert_piece(0, LINK_D2H, 100, 4, 0, 1024);
	send(2000, LINK_H2D, LINK_DEMAND, 0, 1);
	run(9999, 3);
	assert_piece(1, LINK_H2D, 0, 1, 2000, 2256);
}

static void demand_passes_between_chunks(void **state)
{
	begin();
	/* 32 pages are two chunks of 4096 ns. */
	send(0, LINK_H2D, LINK_PREFETCH, 0, 32);
	send(100, LINK_H2D, LINK_DEMAND, 50, 1);
	send(5000, LINK_H2D, LINK_DEMAND, 60, 1);
	run(20000, MANY);
	assert_int_equal(npieces, 4);
	assert_piece(0, LINK_H2D, 0, 16, 0, 4096);
	assert_piece(1, LINK_H2D, 50, 1, 4096, 4352);
	assert_piece(2, LINK_H2D, 16, 16, 4352, 8448);
	assert_piece(3, LINK_H2D, 60, 1, 8448, 8704);
	assert_int_equal(link_stats(the_link)->transfers[LINK_H2D], 3);
}

static void neighbours_are_one_transfer(void **state)
{
	spec.link_curve = 1;
	spec.link_mbps = 16000;
	begin();
	send(0, LINK_H2D, LINK_DEMAND, 0, 8);
	send(0, LINK_H2D, LINK_DEMAND, 8, 8);
	send(0, LINK_H2D, LINK_DEMAND, 17, 1);
	send(0, LINK_H2D, LINK_PREFETCH, 18, 1);
	run(UINT32_MAX, MANY);
	assert_int_equal(npieces, 3);
	assert_int_equal(link_stats(the_link)->transfers[LINK_H2D], 3);
	/*
	 * 64 KiB: 24 / pi GB/s * atan(0.07292 * 64) = 7.639437 * 1.359713 = 10.38744 GB/s.
	 * 4 KiB: 7.639437 * atan(0.29168) = 7.639437 * 0.283806 = 2.16812 GB/s.
	 */
	assert_in_range(pieces[0].end, 6309150, 6309170);
	assert_in_range(pieces[1].end - pieces[1].begin, 1889190, 1889200);
	/* UVMSmart's sizes: 2 MiB at 11.95 GB/s. */
	assert_in_range(link_time(the_link, 512, 512), 2097152 / 11.951 * 1000,
			2097152 / 11.948 * 1000);
	/* A piece goes at its transfer's rate. */
	assert_in_range(link_time(the_link, 16, 512) * 32, link_time(the_link, 512, 512),
			link_time(the_link, 512, 512) + 32);
}

static void promoted_pages_pass(void **state)
{
	begin();
	send(0, LINK_H2D, LINK_PREFETCH, 0, 16);
	send(0, LINK_H2D, LINK_PREFETCH, 100, 16);
	send(0, LINK_H2D, LINK_PREFETCH, 200, 16);
	/* While the first is on the link; its own page is not hurried. */
	assert_int_equal(link_promote(the_link, 10 * NS, 1, PAGE(207), 1), 0);
	assert_int_equal(link_promote(the_link, 10 * NS, 1, PAGE(3), 1), 0);
	assert_int_equal(link_promote(the_link, 10 * NS, 2, PAGE(101), 1), 0);
	run(20000, MANY);
	assert_int_equal(npieces, 5);
	assert_piece(0, LINK_H2D, 0, 16, 0, 4096);
	assert_piece(1, LINK_H2D, 207, 1, 4096, 4352);
	assert_int_equal(pieces[1].class, LINK_DEMAND);
	assert_piece(2, LINK_H2D, 100, 16, 4352, 8448);
	assert_piece(3, LINK_H2D, 200, 7, 8448, 10240);
	assert_piece(4, LINK_H2D, 208, 8, 10240, 12288);
}

/* A prefetch that is not due yet is demand when it is. */
static void promoted_before_it_is_due(void **state)
{
	begin();
	send(1000, LINK_H2D, LINK_PREFETCH, 0, 16);
	send(1000, LINK_H2D, LINK_PREFETCH, 50, 1);
	assert_int_equal(link_promote(the_link, 500 * NS, 1, PAGE(50), 4), 0);
	run(20000, MANY);
	assert_piece(0, LINK_H2D, 50, 1, 1000, 1256);
	assert_piece(1, LINK_H2D, 0, 16, 1256, 5352);
}

static void cancelled_pages_never_come(void **state)
{
	begin();
	send(0, LINK_H2D, LINK_PREFETCH, 0, 32);
	send(0, LINK_H2D, LINK_DEMAND, 40, 4);
	send(90000, LINK_H2D, LINK_DEMAND, 50, 4);
	run(0, MANY);
	assert_int_equal(link_waiting(the_link), 36);
	/* The piece of 40..43 is on its way; of the others a hole of 5 and one of 2. */
	assert_int_equal(link_cancel(the_link, 1, PAGE(10), PAGE(15)), 0);
	assert_int_equal(link_cancel(the_link, 1, PAGE(41), PAGE(52)), 0);
	assert_int_equal(link_cancel(the_link, 2, PAGE(0), PAGE(99)), 0);
	assert_int_equal(link_waiting(the_link), 29);
	run(1000000, MANY);
	assert_int_equal(npieces, 5);
	assert_piece(0, LINK_H2D, 40, 4, 0, 1024);
	assert_piece(1, LINK_H2D, 0, 10, 1024, 3584);
	assert_piece(2, LINK_H2D, 15, 16, 3584, 7680);
	assert_piece(3, LINK_H2D, 31, 1, 7680, 7936);
	assert_piece(4, LINK_H2D, 52, 2, 90000, 90512);
}

static void measured_pages_land_when_told(void **state)
{
	begin();
	assert_int_equal(link_deliver(the_link, 5000 * NS, 1, PAGE(1), 3, 4), 0);
	assert_int_equal(link_deliver(the_link, 3000 * NS, 1, PAGE(9), 1, 5), 0);
	assert_int_equal(link_next(the_link), 3000 * NS);
	run(4999, 0);
	assert_int_equal(npieces, 1);
	assert_int_equal(pieces[0].landed, 3000 * NS);
	assert_int_equal(pieces[0].tag, 5);
	run(5000, 0);
	assert_int_equal(npieces, 2);
	assert_int_equal(pieces[1].pages, 3);
	assert_int_equal(link_stats(the_link)->busy[LINK_H2D], 0);
}

/* --- random traffic ------------------------------------------------------------------ */

#define FRAMES	40u
#define SPACE	4000u	/* pages */

struct traffic {
	struct rng rng;
	uint64_t now;			/* ns */
	bool coming[SPACE], here[SPACE];
	unsigned int used, nhere;	/* frames in the books; pages that have landed */
	uint64_t sent[LINK_DIRS], last_end[LINK_DIRS];
};

static struct traffic traffic;

static void check(void *ctx, const struct link_piece *p)
{
	struct traffic *t = ctx;

	/* One at a time, and no faster than the link. */
	assert_true(p->begin >= t->last_end[p->dir]);
	assert_true(p->end - p->begin >= link_time(the_link, p->pages, 1u << 20));
	t->last_end[p->dir] = p->end;
	for (unsigned int i = 0; p->dir == LINK_H2D && i < p->pages; i++) {
		unsigned int page = INDEX(p->addr) + i;

		/* Once each. */
		assert_true(t->coming[page]);
		t->coming[page] = false;
		t->here[page] = true;
		t->nhere++;
	}
}

static const struct link_ears strict = { begun, check, &traffic };

static void check_frames(const struct traffic *t)
{
	/* In virtual time: those in use, less those not begun to be, and those not yet left. */
	assert_true(t->used + link_leaving(the_link) <= FRAMES + link_waiting(the_link));
}

/* Evicts what has landed until there is room for n more. */
static void make_room(struct traffic *t, uint64_t at, unsigned int n)
{
	for (unsigned int page = 0; page < SPACE && t->used + n > FRAMES; page++) {
		if (!t->here[page])
			continue;
		t->here[page] = false;
		t->nhere--;
		t->used--;
		t->sent[LINK_D2H]++;
		send(at, LINK_D2H, rng_below(&t->rng, 2), page, 1);
	}
}

static void one_batch(struct traffic *t)
{
	unsigned int page = (unsigned int)rng_below(&t->rng, SPACE - 20);
	unsigned int n = 1 + (unsigned int)rng_below(&t->rng, 20);
	/* Handlers of several service times: what is decided later may be sent sooner. */
	uint64_t at = t->now + rng_below(&t->rng, 20000);

	for (unsigned int i = 0; i < n; i++)
		if (t->here[page + i] || t->coming[page + i])
			return;
	make_room(t, at, n);
	if (t->used + n > FRAMES)
		return;
	t->used += n;
	t->sent[LINK_H2D] += n;
	for (unsigned int i = 0; i < n; i++)
		t->coming[page + i] = true;
	send(at, LINK_H2D, rng_below(&t->rng, 2), page, n);
	if (rng_below(&t->rng, 2))
		assert_int_equal(link_promote(the_link, at + rng_below(&t->rng, 5000) * NS, 1,
					      PAGE(page + rng_below(&t->rng, n)), 2), 0);
}

static void random_traffic_keeps_the_rules(void **state)
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct traffic *t = &traffic;

		memset(t, 0, sizeof(*t));
		rng_seed(&t->rng, seed);
		spec_defaults(&spec);
		spec.link_latency_ns = seed % 3 * 700;
		spec.link_curve = seed % 2;
		spec.link_chunk = 4096u << seed % 6;
		assert_int_equal(link_create(&spec, &the_link), 0);
		for (unsigned int i = 0; i < 2000; i++) {
			t->now += rng_below(&t->rng, 4000);
			assert_int_equal(link_run(the_link, t->now * NS,
						  (int64_t)FRAMES - t->used, &strict), 0);
			check_frames(t);
			one_batch(t);
		}
		assert_int_equal(link_run(the_link, UINT64_MAX - 1, (int64_t)FRAMES - t->used,
					  &strict), 0);
		assert_true(link_next(the_link) == LINK_NEVER);
		for (unsigned int d = 0; d < LINK_DIRS; d++)
			assert_int_equal(link_stats(the_link)->pages[d], t->sent[d]);
		assert_true(t->sent[LINK_H2D] > 1000 && t->sent[LINK_D2H] > 1000);
		assert_int_equal(t->nhere, t->used);
		assert_int_equal(link_waiting(the_link) + link_leaving(the_link), 0);
		link_destroy(the_link);
		the_link = NULL;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, end)
	const struct CMUnitTest tests[] = {
		TEST(one_page_is_256_ns),
		TEST(latency_delays_and_does_not_occupy),
		TEST(directions_are_their_own),
		TEST(frames_are_free_when_they_have_left),
		TEST(frames_freed_before_cost_nothing),
		TEST(demand_passes_between_chunks),
		TEST(neighbours_are_one_transfer),
		TEST(promoted_pages_pass),
		TEST(promoted_before_it_is_due),
		TEST(cancelled_pages_never_come),
		TEST(measured_pages_land_when_told),
		TEST(random_traffic_keeps_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
