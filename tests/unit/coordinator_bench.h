/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A coordinator on a bench, which notes what it asks of an SM and whether that can be. For
 * test_coordinator_*.c.
 */
#ifndef GPUEMU_TESTS_COORDINATOR_BENCH_H
#define GPUEMU_TESTS_COORDINATOR_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/coordinator.h"

/* Table 1's constants. */
static const struct coord_threshold published = {
	.percent = 10, .step = 4, .most = 100, .delta = 16,
};
static const struct coord_threshold none = { .percent = 0, .step = 0, .most = 0, .delta = 16 };

#define WARPS	64u
#define CTAS	16u

struct bench {
	struct coordinator *c;
	bool schedulable[WARPS];
	bool away[WARPS];
	bool results[WARPS];		/* away because its CTA stalled, until they have come */
	uint64_t swap[WARPS];		/* sets in swap */
	uint64_t scratchpad[CTAS];	/* the same of CTAs' scratchpad */
	unsigned int order[4096], n;	/* of becoming schedulable */
	bool stalls;			/* CTAs do */
	unsigned int lent;		/* slots of warps that had stalled */
};

static void on_schedule(void *ctx, unsigned int warp, unsigned int slot, bool restored)
{
	struct bench *b = ctx;

	assert_false(b->schedulable[warp]);
	assert_int_equal(restored, b->away[warp]);
	b->schedulable[warp] = true;
	b->away[warp] = false;
	if (b->n < ARRAY_SIZE(b->order))
		b->order[b->n++] = warp;
}

static void on_swap_out(void *ctx, unsigned int warp)
{
	struct bench *b = ctx;

	assert_false(b->away[warp] || (b->schedulable[warp] && !b->stalls));
	b->away[warp] = true;
	b->results[warp] = b->schedulable[warp];
	b->lent += b->schedulable[warp];
	b->schedulable[warp] = false;
}

static void on_spill(void *ctx, unsigned int warp, unsigned int set)
{
	struct bench *b = ctx;

	assert_false(b->swap[warp] >> set & 1);
	b->swap[warp] |= 1ull << set;
}

static void on_fill(void *ctx, unsigned int warp, unsigned int set)
{
	struct bench *b = ctx;

	b->swap[warp] &= ~(1ull << set);
}

static void on_spill_scratchpad(void *ctx, unsigned int cta, unsigned int set)
{
	struct bench *b = ctx;

	b->scratchpad[cta] |= 1ull << set;
}

static void on_fill_scratchpad(void *ctx, unsigned int cta, unsigned int set)
{
	struct bench *b = ctx;

	b->scratchpad[cta] &= ~(1ull << set);
}

static inline void open_bench(struct bench *b, const struct coord_limits *limits,
		       const struct coord_threshold *t)
{
	const struct coord_ops ops = {
		on_schedule, on_swap_out, on_spill, on_fill,
		on_spill_scratchpad, on_fill_scratchpad,
	};

	memset(b, 0, sizeof(*b));
	assert_int_equal(coord_create(limits, t, &ops, b, &b->c), 0);
}

static inline void run(struct bench *b)
{
	coord_run(b->c);
	assert_true(coord_sound(b->c));
}

#define SETS(n)	((1ull << (n)) - 1)

/* The warp begins, or comes to a phase, with the first `sets` sets; it will need `ahead` at most. */
static inline void start(struct bench *b, unsigned int warp, unsigned int cta, unsigned int sets,
		  unsigned int ahead)
{
	const struct coord_needs needs = { .sets = SETS(sets), .ahead = ahead };

	coord_warp_start(b->c, warp, cta, &needs);
}

static inline void phase(struct bench *b, unsigned int warp, unsigned int sets, unsigned int ahead,
		  unsigned int scratchpad)
{
	const struct coord_needs needs = {
		.sets = SETS(sets), .ahead = ahead, .scratchpad = scratchpad,
	};

	b->schedulable[warp] = false;
	coord_phase(b->c, warp, &needs);
}

#endif
