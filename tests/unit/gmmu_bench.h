/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A GMMU on a page table and a memory of the test's own: pages are present or not, a
 * read of the page table takes `latency` cycles. Time goes from event to event as in the
 * GPU's loop. For test_gmmu_*.c.
 */
#ifndef GPUEMU_TESTS_GMMU_BENCH_H
#define GPUEMU_TESTS_GMMU_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "gmmu/gmmu.h"

#define PAGES	4096u			/* 4 KiB each: eight VA blocks */
#define BASE	0x200000000000ull	/* aligned for every page size */
#define WAITERS	16384u
#define READS	64u

struct world {
	struct gpu_spec spec;
	struct gmmu *g;
	uint64_t now;			/* everything up to here is done */
	bool present[PAGES];
	unsigned int translated[PAGES], faulted[PAGES], touched[PAGES];
	uint64_t when[PAGES];		/* translated last */
	bool wrote[PAGES];
	char frames[PAGES];
	/* Memory. */
	uint64_t latency;
	bool full;			/* takes no read */
	unsigned int refused;
	struct {
		uint64_t at, addr;
		uint32_t walk;
	} reads[READS];
	unsigned int first_read, nreads;
	uint64_t last_addr;
	/* Waiters, each used once. */
	struct gmmu_waiter waiters[WAITERS];
	uint64_t done[WAITERS], told[WAITERS];	/* cycles; 0: not yet */
	unsigned int used;
};

static inline uint64_t page(unsigned int n)
{
	return BASE + n * PAGE_BYTES;
}

static inline unsigned int number(uint64_t addr)
{
	assert_true(addr >= BASE && addr < page(PAGES));
	return (unsigned int)((addr - BASE) / PAGE_BYTES);
}

static inline void *bench_walk(void *ctx, uint64_t addr)
{
	struct world *w = ctx;

	return w->present[number(addr)] ? &w->frames[number(addr)] : NULL;
}

static inline void bench_touch(void *ctx, uint64_t addr, bool write)
{
	struct world *w = ctx;

	w->touched[number(addr)]++;
	w->wrote[number(addr)] |= write;
}

static inline void bench_translated(void *ctx, struct gmmu_waiter *waiter, uint64_t addr,
				    void *host, uint64_t now)
{
	struct world *w = ctx;
	size_t i = (size_t)(waiter - w->waiters);

	assert_ptr_equal(host, &w->frames[number(addr)]);
	assert_true(w->present[number(addr)]);
	assert_true(i < w->used);
	assert_int_equal(w->done[i], 0);
	assert_int_equal(waiter->told, w->told[i] != 0);
	w->done[i] = now;
	w->translated[number(addr)]++;
	w->when[number(addr)] = now;
}

static inline void bench_faulted(void *ctx, struct gmmu_waiter *waiter, uint64_t now)
{
	struct world *w = ctx;
	size_t i = (size_t)(waiter - w->waiters);

	assert_int_equal(w->told[i], 0);
	assert_int_equal(w->done[i], 0);
	w->told[i] = now;
	w->faulted[number(waiter->page)]++;
}

static inline bool bench_read(void *ctx, uint64_t addr, uint32_t walk, unsigned int kernel,
			      uint64_t now)
{
	struct world *w = ctx;

	if (w->full) {
		w->refused++;
		return false;
	}
	assert_true(w->nreads < READS);
	assert_int_equal(addr % 32, 0);
	w->last_addr = addr;
	w->reads[(w->first_read + w->nreads) % READS].at = now + w->latency;
	w->reads[(w->first_read + w->nreads) % READS].addr = addr;
	w->reads[(w->first_read + w->nreads++) % READS].walk = walk;
	return true;
}

static const struct gmmu_ops bench_ops = {
	.walk = bench_walk,
	.touch = bench_touch,
	.read_pte = bench_read,
};

static const struct gmmu_sm_ops bench_sm_ops = { bench_translated, bench_faulted };

/* Three SMs; a read of the page table takes 200 cycles, a look-up in the page-walk cache 20. */
static inline void bench_spec(struct world *w)
{
	memset(w, 0, sizeof(*w));
	spec_defaults(&w->spec);
	w->spec.sms = 3;
	w->latency = 200;
}

static inline void bench_start(struct world *w)
{
	assert_int_equal(gmmu_create(&w->spec, 1, &bench_ops, w, &w->g), 0);
	for (unsigned int i = 0; i < w->spec.sms; i++)
		gmmu_attach(w->g, i, &bench_sm_ops, w);
}

static inline void bench_step(struct world *w, uint64_t now)
{
	while (w->nreads && w->reads[w->first_read].at <= now) {
		assert_int_equal(w->reads[w->first_read].at, now);
		gmmu_pte(w->g, w->reads[w->first_read].walk, now);
		w->first_read = (w->first_read + 1) % READS;
		w->nreads--;
	}
	assert_int_equal(gmmu_step(w->g, now), 0);
	w->now = now;
}

static inline uint64_t bench_next(const struct world *w)
{
	uint64_t wake = gmmu_wake(w->g);

	return w->nreads ? MIN(wake, w->reads[w->first_read].at) : wake;
}

/* Everything up to and in `cycle`. */
static inline void run(struct world *w, uint64_t cycle)
{
	uint64_t next;

	while ((next = bench_next(w)) <= cycle && next != NEVER)
		bench_step(w, next);
	bench_step(w, cycle);
}

/* Until there is nothing to do by itself. */
static inline void run_out(struct world *w)
{
	uint64_t next;

	while ((next = bench_next(w)) != NEVER)
		bench_step(w, next);
}

/* Looks a page up in cycle `now`, after all that happens before; true: the TLB had it. */
static inline bool ask_as(struct world *w, unsigned int sm, unsigned int n, uint8_t access,
			  uint64_t now)
{
	struct gmmu_waiter *waiter = &w->waiters[w->used++];
	void *host;

	assert_true(w->used < WAITERS);
	/* The TLB is written before it is read. */
	if (now)
		run(w, now);
	*waiter = (struct gmmu_waiter){ .sm = (uint16_t)sm, .warp = (uint16_t)(n % 48),
					.access = access };
	host = gmmu_translate(w->g, page(n), waiter, now);
	if (host) {
		assert_ptr_equal(host, &w->frames[n]);
		assert_true(w->present[n]);
		w->done[w->used - 1] = now ? now : 1;
	}
	bench_step(w, now);
	return host != NULL;
}

static inline bool ask(struct world *w, unsigned int sm, unsigned int n, uint64_t now)
{
	return ask_as(w, sm, n, ACCESS_READ, now);
}

#define STATS(w)	(gmmu_stats((w)->g))

#endif
