/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of paging policies share: a view of 600 pages with ranges and a
 * record that the test sets, and calls of a row's operations that check what must hold
 * of every answer.
 */
#ifndef TESTS_POLICIES_BENCH_H
#define TESTS_POLICIES_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "paging/paging.h"

#define PAGES		600u		/* over the end of a VA block */
#define BASE		(64ull << 20)
#define PAGE(n)		(BASE + (uint64_t)(n) * PAGE_BYTES)
#define INDEX(addr)	(unsigned int)(((addr) - BASE) / PAGE_BYTES)
#define RECORD_MAX	8192u

static struct rng policy_rng;
static bool resident[PAGES + 10000];
static bool kept[PAGES];
static unsigned int keep_calls;
static uint64_t counted;
/* Managed ranges, by address; none: not known. */
static struct gpuemu_policy_range ranges[8];
static unsigned int nranges;
static uint64_t values[16];
static uint64_t record[RECORD_MAX];

static inline bool view_resident(void *ctx, uint64_t addr)
{
	return addr >= BASE && (addr - BASE) / PAGE_BYTES < ARRAY_SIZE(resident) &&
	       resident[INDEX(addr)];
}

static inline bool view_next_range(void *ctx, uint64_t addr, struct gpuemu_policy_range *range)
{
	for (unsigned int i = 0; i < nranges; i++) {
		if (ranges[i].end <= addr)
			continue;
		*range = ranges[i];
		return true;
	}
	return false;
}

static inline uint64_t view_random(void *ctx)
{
	return rng_next(&policy_rng);
}

static inline void view_count(void *ctx, unsigned int index, uint64_t n)
{
	counted += n;
}

static struct gpuemu_policy_view view = {
	.frames = PAGES,
	.options = values,
	.resident = view_resident,
	.next_range = view_next_range,
	.random = view_random,
	.count = view_count,
	.record = record,
};

static inline bool keep(void *ctx, uint64_t addr)
{
	assert_ptr_equal(ctx, kept);
	assert_true(addr >= BASE && INDEX(addr) < PAGES);
	keep_calls++;
	return kept[INDEX(addr)];
}

/* Nothing is here, nothing is known; the record is one that touches all pages at random. */
static inline void fresh(void)
{
	struct rng rng;

	rng_seed(&policy_rng, 1);
	rng_seed(&rng, 77);
	memset(resident, 0, sizeof(resident));
	memset(kept, 0, sizeof(kept));
	nranges = 0;
	for (unsigned int i = 0; i < RECORD_MAX; i++)
		record[i] = PAGE(rng_below(&rng, PAGES));
	view.record_length = RECORD_MAX;
	view.frames = PAGES;
}

static inline void set_options(const struct gpuemu_policy_option *options)
{
	memset(values, 0, sizeof(values));
	for (unsigned int i = 0; options && options[i].key; i++)
		values[i] = options[i].def;
}

/* --- eviction ----------------------------------------------------------------- */

static inline const struct gpuemu_evict_ops *evict_row(const char *name)
{
	for (unsigned int i = 0; evict_rows[i]; i++)
		if (strcmp(evict_rows[i]->name, name) == 0)
			return evict_rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static inline void *evict_make(const struct gpuemu_evict_ops *ops)
{
	void *state = NULL;

	if (ops->create)
		assert_int_equal(ops->create(&view, &state), 0);
	return state;
}

static inline void evict_end(const struct gpuemu_evict_ops *ops, void *state)
{
	if (ops->destroy)
		ops->destroy(state);
}

static inline void evict_touch(const struct gpuemu_evict_ops *ops, void *state, unsigned int page,
			       bool write)
{
	if (ops->touch)
		ops->touch(state, PAGE(page), write);
}

/* Victims as page numbers; each was inserted (resident[]), none is kept, none comes twice. */
static inline unsigned int evict_pick(const struct gpuemu_evict_ops *ops, void *state,
				      unsigned int need, unsigned int max, unsigned int *victims)
{
	uint64_t pages[PAGES + 1];
	bool seen[PAGES] = { false };
	unsigned int n;

	pages[max] = 0x5a5a;
	n = ops->pick(state, &view, need, keep, kept, pages, max);
	assert_true(n <= max);
	assert_true(pages[max] == 0x5a5a);
	for (unsigned int i = 0; i < n; i++) {
		assert_true(pages[i] >= BASE && pages[i] < PAGE(PAGES));
		assert_true(pages[i] % PAGE_BYTES == 0);
		victims[i] = INDEX(pages[i]);
		assert_true(resident[victims[i]]);
		assert_false(kept[victims[i]]);
		assert_false(seen[victims[i]]);
		seen[victims[i]] = true;
	}
	return n;
}

static inline void evict_insert(const struct gpuemu_evict_ops *ops, void *state, unsigned int page)
{
	assert_int_equal(ops->insert(state, PAGE(page), false), 0);
	resident[page] = true;
}

static inline void evict_remove(const struct gpuemu_evict_ops *ops, void *state, unsigned int page)
{
	ops->remove(state, PAGE(page));
	resident[page] = false;
}

/* The next pick's victims are these, in this order, and go. */
#define assert_evicts(ops, state, ...) do {						\
		static const unsigned int want_[] = { __VA_ARGS__ };			\
		unsigned int got_[PAGES];						\
											\
		assert_int_equal(evict_pick(ops, state, 1, PAGES, got_), ARRAY_SIZE(want_)); \
		for (unsigned int i_ = 0; i_ < ARRAY_SIZE(want_); i_++) {		\
			assert_int_equal(got_[i_], want_[i_]);				\
			evict_remove(ops, state, got_[i_]);				\
		}									\
	} while (0)

/* --- prefetch ------------------------------------------------------------------ */

static inline const struct gpuemu_prefetch_ops *prefetch_row(const char *name)
{
	for (unsigned int i = 0; prefetch_rows[i]; i++)
		if (strcmp(prefetch_rows[i]->name, name) == 0)
			return prefetch_rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static inline void *prefetch_make(const struct gpuemu_prefetch_ops *ops)
{
	void *state = NULL;

	if (ops->create)
		assert_int_equal(ops->create(&view, &state), 0);
	return state;
}

static inline void prefetch_end(const struct gpuemu_prefetch_ops *ops, void *state)
{
	if (ops->destroy)
		ops->destroy(state);
}

static inline void prefetch_arrive(const struct gpuemu_prefetch_ops *ops, void *state,
				   unsigned int page, bool prefetched)
{
	resident[page] = true;
	if (ops->on_arrive)
		ops->on_arrive(state, PAGE(page), prefetched);
}

static inline void prefetch_leave(const struct gpuemu_prefetch_ops *ops, void *state,
				  unsigned int page)
{
	resident[page] = false;
	if (ops->on_leave)
		ops->on_leave(state, PAGE(page));
}

/* pages[] has room for one more than max, which stays as it is. */
static inline unsigned int prefetch_ask(const struct gpuemu_prefetch_ops *ops, void *state,
					const struct gpuemu_policy_fault *faults, unsigned int n,
					uint64_t *pages, unsigned int max)
{
	unsigned int count;

	pages[max] = 0x5a5a;
	count = ops->on_batch(state, &view, faults, n, pages, max);
	assert_true(count <= max);
	assert_true(pages[max] == 0x5a5a);
	for (unsigned int i = 0; i < count; i++)
		assert_true(pages[i] % PAGE_BYTES == 0);
	return count;
}

/* Faults on the pages listed; the answer is the pages of want[]. */
#define assert_brings(ops, state, faulted, ...) do {					\
		static const unsigned int want_[] = { __VA_ARGS__ };			\
		static uint64_t got_[PAGES + 2001];					\
											\
		assert_int_equal(prefetch_ask(ops, state, faulted, ARRAY_SIZE(faulted), got_, \
					      PAGES + 2000), ARRAY_SIZE(want_));	\
		for (unsigned int i_ = 0; i_ < ARRAY_SIZE(want_); i_++)			\
			assert_int_equal(INDEX(got_[i_]), want_[i_]);			\
	} while (0)

#define FAULT(page)	{ .addr = PAGE(page), .merged = 1 }

#endif
