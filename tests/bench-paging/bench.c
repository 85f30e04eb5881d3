// SPDX-License-Identifier: GPL-2.0
/*
 * make bench-paging: what the fault handler itself costs, in CPU time a page: sorting out
 * a batch, asking the policies, the books, the link. The service here does next to nothing (a
 * bit a page), and what it does is measured alone and taken off. The aim is 1 us a page
 * in batches of 256.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bitmap.h"
#include "paging/paging.h"

#define BATCH	256u
#define BASE	(1ull << 32)
#define PAGES	(1u << 18)	/* 1 GiB, managed */

struct nothing {
	struct service service;
	uint64_t here[BITMAP_WORDS(PAGES)];
	uint64_t frames;
	uint64_t ns;			/* spent in here, decide() not included */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static struct nothing *nothing_of(struct service *s)
{
	return container_of(s, struct nothing, service);
}

static unsigned int page_at(uint64_t addr)
{
	return (unsigned int)((addr - BASE) / PAGE_BYTES);
}

static bool managed(uint64_t addr)
{
	return addr >= BASE && page_at(addr) < PAGES;
}

static void move(struct nothing *n, struct migration *m)
{
	m->status = 0;
	m->moved = 0;
	for (unsigned int i = 0; i < m->pages; i++) {
		uint64_t addr = m->addr + i * PAGE_BYTES;

		if (!managed(addr)) {
			m->status = -EFAULT;
			continue;
		}
		m->moved++;
		if (m->op == MIGRATE_H2D)
			bitmap_set(n->here, page_at(addr));
		else
			bitmap_clear(n->here, page_at(addr));
	}
}

/* The batches are sorted and unique as they come. */
static int serve(struct service *s, struct service_batch *batch)
{
	struct nothing *n = nothing_of(s);
	uint64_t begin = now_ns(), decided;
	int rc;

	for (unsigned int i = 0; i < batch->nfaults; i++)
		batch->faults[i].flags = bitmap_test(n->here, page_at(batch->faults[i].addr)) ?
			FAULT_RESIDENT : 0;
	batch->plan->count = 0;
	decided = now_ns();
	rc = batch->decide(batch->ctx, batch);
	decided = now_ns() - decided;
	for (unsigned int i = 0; i < batch->plan->count; i++)
		move(n, &batch->plan->migrations[i]);
	batch->cost = (struct service_cost){ .total = 20000, .fetched_to_committed = 20000 };
	n->ns += now_ns() - begin - decided;
	return rc;
}

static void *walk(struct service *s, uint32_t va_space, uint64_t addr)
{
	return managed(addr) && bitmap_test(nothing_of(s)->here, page_at(addr)) ? s : NULL;
}

static void resident(struct service *s, void (*fn)(void *ctx, uint32_t va_space, uint64_t addr),
		     void *ctx)
{
}

static uint64_t frames(struct service *s)
{
	return nothing_of(s)->frames;
}

static void ranges(struct service *s, uint32_t va_space, struct addr_ranges *to)
{
	addr_ranges_add(to, BASE, BASE + (uint64_t)PAGES * PAGE_BYTES);
}

static const struct service_ops ops = {
	.name = "nothing", .serve = serve, .walk = walk, .resident = resident,
	.frames = frames, .managed = ranges,
};

static unsigned int arrived(void *ctx, uint64_t addr, uint64_t bytes, uint64_t now)
{
	return 0;
}

static const struct paging_events events = { .arrived = arrived };

static void die(const char *what)
{
	fprintf(stderr, "bench-paging: %s\n", what);
	exit(1);
}

/* Batches of faults `step` pages apart until all memory was walked through once. */
static uint64_t walk_through(struct paging *p, unsigned int step)
{
	struct paging_outcome outcome;
	struct fault faults[BATCH];
	uint64_t spent = 0, now = 0;
	unsigned int page = 0;

	while (page < PAGES) {
		unsigned int n = 0;
		uint64_t begin;

		for (; n < BATCH && page < PAGES; page += step)
			if (!paging_resident(p, BASE + page * PAGE_BYTES))
				faults[n++] = (struct fault){
					.addr = BASE + page * PAGE_BYTES, .cycle = now,
					.va_space = 1, .access = ACCESS_READ, .merged = 1,
				};
		begin = now_ns();
		if (paging_serve(p, faults, n, now, &outcome))
			die("a batch failed");
		/* What it takes until all has come counts, too. */
		if (paging_land_all(p, NULL))
			die("no memory");
		spent += now_ns() - begin;
		now += 10000000;
		for (unsigned int i = 0; i < n; i++)
			paging_touch(p, faults[i].addr, false);
	}
	return spent;
}

static void measure(const char *prefetch, const char *evict, unsigned int step, uint64_t vram)
{
	struct nothing *n = calloc(1, sizeof(*n));
	const struct paging_stats *stats;
	struct paging_pool *pool;
	struct paging *p;
	struct gpu_spec spec;
	struct err err;
	uint64_t ns, moved;

	spec_defaults(&spec);
	spec.vram_bytes = vram * PAGE_BYTES;
	snprintf(spec.prefetch, sizeof(spec.prefetch), "%s", prefetch);
	snprintf(spec.evict, sizeof(spec.evict), "%s", evict);
	if (!n)
		die("no memory");
	n->service.ops = &ops;
	n->frames = vram;
	if (paging_pool_create(&n->service, &pool))
		die("no memory");
	if (paging_create(pool, 1, &spec, &p, &err))
		die(err.text);
	paging_listen(p, &events, NULL);
	stats = paging_stats(p);
	ns = walk_through(p, step);
	ns -= n->ns;
	moved = stats->h2d_bytes / PAGE_BYTES;
	printf("%-12s %-8s %8llu %10llu %10llu %10llu %10.0f\n", prefetch, evict,
	       (unsigned long long)stats->batches, (unsigned long long)stats->far_faults,
	       (unsigned long long)moved, (unsigned long long)stats->evicted_pages,
	       (double)ns / (double)moved);
	paging_destroy(p);
	paging_pool_destroy(pool);
	free(n);
}

int main(void)
{
	printf("%-12s %-8s %8s %10s %10s %10s %10s\n", "prefetch", "evict", "batches", "far_faults",
	       "pages", "evicted", "ns/page");
	measure("none", "lru", 1, PAGES);
	measure("none", "lru", 3, PAGES);
	measure("none", "lru", 1, PAGES / 8);
	measure("none", "tree", 1, PAGES / 8);
	measure("none", "random", 3, PAGES / 16);
	measure("sequential", "lru", 5, PAGES);
	measure("tree", "lru", 5, PAGES);
	measure("tree", "tree", 5, PAGES / 8);
	return 0;
}
