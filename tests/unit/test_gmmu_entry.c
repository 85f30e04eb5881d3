// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of the page table that say more than where a page is: pages in system memory, and
 * duplicates, which a write does not get past. On the page table of gmmu_bench.h.
 */
#include "gmmu_bench.h"

/* By page, what its entry says. */
static uint64_t bits[PAGES];
/* Waiters in the order in which they were given back. */
static unsigned int order[64], norder;

static void *entry_walk(void *ctx, uint64_t addr)
{
	return gmmu_entry(bench_walk(ctx, addr), bits[number(addr)]);
}

static void entry_translated(void *ctx, struct gmmu_waiter *waiter, uint64_t addr, void *host,
			     uint64_t now)
{
	struct world *w = ctx;

	assert_true(gmmu_allows(host, waiter->access));
	assert_int_equal((uintptr_t)host & (GMMU_REMOTE | GMMU_READ_ONLY), bits[number(addr)]);
	order[norder++] = (unsigned int)(waiter - w->waiters);
	bench_translated(ctx, waiter, addr, gmmu_host(host), now);
}

static const struct gmmu_ops entry_ops = {
	.walk = entry_walk,
	.touch = bench_touch,
	.read_pte = bench_read,
};

static const struct gmmu_sm_ops entry_sm_ops = { entry_translated, bench_faulted };

static void start(struct world *w)
{
	memset(bits, 0, sizeof(bits));
	norder = 0;
	assert_int_equal(gmmu_create(&w->spec, 1, &entry_ops, w, &w->g), 0);
	for (unsigned int i = 0; i < w->spec.sms; i++)
		gmmu_attach(w->g, i, &entry_sm_ops, w);
}

/* As ask_as(); the translation of a hit. */
static void *look(struct world *w, unsigned int sm, unsigned int n, uint8_t access, uint64_t now)
{
	struct gmmu_waiter *waiter = &w->waiters[w->used++];
	void *host;

	if (now)
		run(w, now);
	*waiter = (struct gmmu_waiter){ .sm = (uint16_t)sm, .access = access };
	host = gmmu_translate(w->g, page(n), waiter, now);
	if (host)
		w->done[w->used - 1] = now;
	bench_step(w, now);
	return host;
}

/* A page in system memory is translated as any other, and says where it is on a hit. */
static void test_remote(void **state)
{
	static struct world w;

	bench_spec(&w);
	start(&w);
	w.present[3] = true;
	bits[3] = GMMU_REMOTE;
	assert_null(look(&w, 0, 3, ACCESS_READ, 10));
	run_out(&w);
	assert_int_equal(norder, 1);
	assert_true(gmmu_remote(look(&w, 0, 3, ACCESS_WRITE, w.now + 1)));
	assert_true(gmmu_remote(look(&w, 0, 3, ACCESS_ATOMIC, w.now + 1)));
	assert_int_equal(gmmu_faults(w.g), 0);
	/* It moves: nobody translates it as it was. */
	bits[3] = 0;
	gmmu_invalidate(w.g, page(3), page(4));
	assert_null(look(&w, 0, 3, ACCESS_READ, w.now + 1));
	run_out(&w);
	assert_int_equal(norder, 2);
	gmmu_destroy(w.g);
}

/* Reads of a duplicate pass; a write is a far fault, with its access in the record. */
static void test_write_faults(void **state)
{
	static struct world w;
	struct fault fault;

	bench_spec(&w);
	start(&w);
	w.present[5] = true;
	bits[5] = GMMU_READ_ONLY;
	assert_null(look(&w, 1, 5, ACCESS_READ, 10));
	run_out(&w);
	assert_int_equal(w.done[0] != 0, 1);
	assert_non_null(look(&w, 1, 5, ACCESS_READ, w.now + 1));
	assert_null(look(&w, 1, 5, ACCESS_WRITE, w.now + 1));
	run_out(&w);
	assert_int_equal(w.done[2], 0);
	assert_int_equal(w.told[2] != 0, 1);
	assert_int_equal(gmmu_take(w.g, &fault, 1), 1);
	assert_int_equal(fault.access, ACCESS_WRITE);
	assert_int_equal(fault.addr, page(5));
	/* It may be written now: the write goes on, and other SMs read what they had. */
	bits[5] = 0;
	assert_int_equal(gmmu_arrived(w.g, page(5), PAGE_BYTES, w.now + 1), 1);
	run_out(&w);
	assert_int_equal(w.done[2] != 0, 1);
	assert_non_null(look(&w, 1, 5, ACCESS_ATOMIC, w.now + 1));
	gmmu_destroy(w.g);
}

/* A read behind a write that waits, waits behind it: on a hit, in the walk, and afterwards. */
static void test_order(void **state)
{
	static struct world w;
	struct fault fault;

	bench_spec(&w);
	start(&w);
	w.present[7] = true;
	bits[7] = GMMU_READ_ONLY;
	look(&w, 0, 7, ACCESS_READ, 10);		/* 0 */
	look(&w, 0, 7, ACCESS_WRITE, 11);		/* 1 */
	look(&w, 0, 7, ACCESS_READ, 12);		/* 2: in the same walk */
	run_out(&w);
	assert_int_equal(norder, 1);
	assert_int_equal(order[0], 0);
	assert_null(look(&w, 0, 7, ACCESS_READ, w.now + 1)); /* 3: the TLB forgot it */
	/* Another SM is not concerned. */
	assert_null(look(&w, 2, 7, ACCESS_READ, w.now + 1));
	run_out(&w);
	assert_int_equal(norder, 2);
	assert_int_equal(order[1], 4);
	assert_non_null(look(&w, 2, 7, ACCESS_READ, w.now + 1));
	assert_int_equal(gmmu_take(w.g, &fault, 1), 1);
	bits[7] = 0;
	gmmu_arrived(w.g, page(7), PAGE_BYTES, w.now + 1);
	run_out(&w);
	assert_int_equal(norder, 5);
	assert_int_equal(order[2], 1);
	assert_int_equal(order[3], 2);
	assert_int_equal(order[4], 3);
	gmmu_destroy(w.g);
}

/* The same while the write still walks, and what the SM's TLB had would answer. */
static void test_order_in_walk(void **state)
{
	static struct world w;

	bench_spec(&w);
	start(&w);
	w.present[7] = true;
	bits[7] = GMMU_READ_ONLY;
	look(&w, 0, 7, ACCESS_READ, 10);
	run_out(&w);
	assert_non_null(look(&w, 0, 7, ACCESS_READ, w.now + 1));
	assert_null(look(&w, 0, 7, ACCESS_WRITE, w.now + 1));	/* 2 */
	assert_null(look(&w, 0, 7, ACCESS_READ, w.now + 1));	/* 3 */
	run_out(&w);
	assert_int_equal(norder, 1);
	bits[7] = 0;
	gmmu_arrived(w.g, page(7), PAGE_BYTES, w.now + 1);
	run_out(&w);
	assert_int_equal(norder, 3);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 3);
	gmmu_destroy(w.g);
}

/* The shared TLB does not answer a write with what it knows of a duplicate. */
static void test_shared_tlb(void **state)
{
	static struct world w;

	bench_spec(&w);
	w.spec.l2tlb_entries = 16;
	start(&w);
	w.present[9] = true;
	bits[9] = GMMU_READ_ONLY;
	look(&w, 0, 9, ACCESS_READ, 10);
	run_out(&w);
	bits[9] = 0;
	look(&w, 1, 9, ACCESS_WRITE, w.now + 1);
	run_out(&w);
	assert_int_equal(w.done[1] != 0, 1);
	assert_int_equal(gmmu_faults(w.g), 0);
	gmmu_destroy(w.g);
}

/* With pages of 64 KiB each 4 KiB has an entry of its own. */
static void test_sectors(void **state)
{
	static struct world w;

	bench_spec(&w);
	w.spec.page_bytes = 65536;
	start(&w);
	w.present[16] = w.present[17] = w.present[18] = true;
	bits[17] = GMMU_REMOTE;
	bits[18] = GMMU_READ_ONLY;
	look(&w, 0, 16, ACCESS_WRITE, 10);
	run_out(&w);
	assert_int_equal(norder, 1);
	assert_false(gmmu_remote(look(&w, 0, 16, ACCESS_READ, w.now + 1)));
	assert_true(gmmu_remote(look(&w, 0, 17, ACCESS_WRITE, w.now + 1)));
	assert_null(look(&w, 0, 18, ACCESS_WRITE, w.now + 1));
	run_out(&w);
	assert_int_equal(gmmu_faults(w.g), 1);
	gmmu_destroy(w.g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_write_faults),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_in_walk),
		cmocka_unit_test(test_shared_tlb),
		cmocka_unit_test(test_sectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
