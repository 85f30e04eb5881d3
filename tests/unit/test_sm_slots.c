// SPDX-License-Identifier: GPL-2.0
/*
 * Physical slots: how many CTAs hold some, which scheduler a slot belongs to, which CTA gets those
 * that are free, and where a CTA that had none goes on.
 */
#include <errno.h>

#include "sm_bench.h"

/* Instructions that wait for nothing, for ever: two lines of L1I. */
#define MOVS	"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\n" \
		"mov.u32 %r5, 5;\nmov.u32 %r6, 6;\nmov.u32 %r7, 7;\nmov.u32 %r8, 8;\n"
static const char forever[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<16>;\n"
	"AGAIN:\n" MOVS MOVS MOVS "bra.uni AGAIN;\n}\n";

/* A store, and then nothing that it could hold up. */
static const char store[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<16>;\n.reg .b64 %rd<2>;\n"
	"mov.u64 %rd1, 0x200000000000;\nmov.u32 %r1, 7;\nst.global.u32 [%rd1], %r1;\n"
	"AGAIN:\n" MOVS MOVS MOVS "bra.uni AGAIN;\n}\n";

struct told {
	uint64_t parked, ready;
	unsigned int restore;		/* this CTA when one is parked, or none */
};

static bool has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_fits(sm, kernel);
}

static void parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct told *t = state;

	t->parked = now;
	if (t->restore)
		assert_int_equal(sm_restore(sm, t->restore, 0, now), 0);
}

static void ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct told *)state)->ready = now;
}

static const struct sm_mechanism by_hand = {
	.name = "by hand", .has_room = has_room, .cta_parked = parked, .cta_ready = ready,
};

/* Slots of so many CTAs of a warp, and the numbers of more. */
static void make(struct bench *b, const char *ptx, struct told *t, unsigned int schedulers,
		 unsigned int warps, unsigned int ctas)
{
	bench_init(b);
	b->spec.schedulers = schedulers;
	b->spec.warps = warps;
	b->spec.ctas = ctas;
	b->spec.virtual_warps = b->spec.virtual_ctas = 8;
	b->spec.paging = ptx == store;
	b->mechanism = t ? &by_hand : NULL;
	b->mechanism_ctx = t;
	if (!t)
		strcpy(b->spec.cta, "timeslice");
	b->spec.timeslice = 100;
	bench_load(b, ptx, 32);
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
}

static void launch(struct bench *b, unsigned int n, uint64_t now)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(sm_launch_cta(b->sm, b->kernel, (uint32_t [3]){ i }, now), 0);
}

static void run(struct bench *b, uint64_t from, uint64_t upto)
{
	for (uint64_t t = from; t < upto; t++) {
		bench_quantum(b, t, t + 1);
		assert_int_equal(b->status, 0);
	}
}

static enum sm_cta_state state_of(const struct bench *b, unsigned int cta)
{
	struct sm_cta_view view;

	sm_cta_look(b->sm, cta, &view);
	return view.state;
}

/* sm.ctas and sm.warps, whichever is reached first. */
static void test_slots_are_a_limit(void **state)
{
	for (unsigned int by_warps = 0; by_warps < 2; by_warps++) {
		struct told t = { 0 };
		struct bench b;

		make(&b, forever, &t, 2, by_warps ? 2 : 48, by_warps ? 8 : 2);
		assert_true(sm_fits_slots(b.sm, b.kernel));
		launch(&b, 3, 0);
		assert_int_equal(state_of(&b, 0), SM_CTA_ACTIVE);
		assert_int_equal(state_of(&b, 1), SM_CTA_ACTIVE);
		assert_int_equal(state_of(&b, 2), SM_CTA_PARKED);
		assert_false(sm_fits_slots(b.sm, b.kernel));
		assert_int_equal(sm_restore(b.sm, 2, 0, 0), -EAGAIN);
		run(&b, 1, 200);
		assert_int_equal(sm_park(b.sm, 0, 0, 199), 0);
		run(&b, 200, 230);
		assert_true(sm_fits_slots(b.sm, b.kernel));
		assert_int_equal(sm_restore(b.sm, 2, 0, 229), 0);
		assert_false(sm_fits_slots(b.sm, b.kernel));
		bench_fini(&b);
	}
}

/* CTA 2 gets the second scheduler's slot: both have a warp. */
static void test_a_slot_is_a_schedulers(void **state)
{
	struct told t = { .restore = 2 };
	struct sm_counters before;
	struct bench b;

	make(&b, forever, &t, 2, 2, 2);
	launch(&b, 4, 0);
	run(&b, 1, 300);
	assert_int_equal(sm_park(b.sm, 1, 0, 299), 0);
	run(&b, 300, 400);
	assert_int_equal(state_of(&b, 2), SM_CTA_ACTIVE);
	sm_account(b.sm, 400);
	before = *sm_stats(b.sm);
	run(&b, 400, 1400);
	sm_account(b.sm, 1400);
	assert_int_equal(sm_stats(b.sm)->stalls[STALL_SWAPPED], before.stalls[STALL_SWAPPED]);
	/* Fetch gives the two an instruction a cycle, a pair every other cycle each. */
	assert_in_range(sm_stats(b.sm)->warp_instructions - before.warp_instructions, 900, 2000);
	bench_fini(&b);
}

/* Fetched in the cycle behind its start, decoded in the next, issued in the third. */
static void test_a_ctas_pc_is_where_it_was(void **state)
{
	for (unsigned int at = 1500; at < 1540; at++) {
		struct told t = { 0 };
		struct bench b;
		uint64_t now, n;

		make(&b, forever, &t, 1, 1, 1);
		launch(&b, 1, 0);
		run(&b, 1, at);
		assert_int_equal(sm_park(b.sm, 0, 0, at - 1), 0);
		for (now = at; !t.parked; now++)
			run(&b, now, now + 1);
		n = sm_stats(b.sm)->warp_instructions;
		assert_int_equal(sm_restore(b.sm, 0, 0, now - 1), 0);
		run(&b, now, now + 2);
		assert_int_equal(sm_stats(b.sm)->warp_instructions, n);
		run(&b, now + 2, now + 3);
		assert_int_equal(sm_stats(b.sm)->warp_instructions, n + 1);
		bench_fini(&b);
	}
}

/* A store whose page has not come is something that the CTA waits for: its address is not checked. */
static void test_a_store_without_its_page_is_awaited(void **state)
{
	static bool absent[BENCH_BYTES / PAGE_BYTES];
	struct told t = { 0 };
	struct bench b;

	absent[0] = true;
	make(&b, store, &t, 1, 1, 1);
	b.absent = absent;
	launch(&b, 1, 0);
	run(&b, 1, 2000);
	assert_int_equal(sm_park(b.sm, 0, 0, 1999), 0);
	run(&b, 2000, 3000);
	assert_in_range(t.parked, 2000, 2030);
	assert_int_equal(t.ready, 0);
	absent[0] = false;
	assert_true(gmmu_arrived(b.gmmu, BENCH_BASE, PAGE_BYTES, 2999));
	run(&b, 3000, 4000);
	/* A walk of gmmu.walk_latency later. */
	assert_in_range(t.ready, 3000, 3200);
	assert_int_equal(*(uint32_t *)b.memory, 7);
	bench_fini(&b);
}

/* Each CTA is active as long as any other: the one that has waited longest comes first. */
static void test_timeslices_are_fair(void **state)
{
	uint64_t active[5] = { 0 };
	struct bench b;

	make(&b, forever, NULL, 1, 2, 2);
	launch(&b, 5, 0);
	for (uint64_t t = 1; t < 10000; t++) {
		run(&b, t, t + 1);
		for (unsigned int c = 0; c < 5; c++)
			active[c] += state_of(&b, c) == SM_CTA_ACTIVE;
	}
	for (unsigned int c = 0; c < 5; c++)
		assert_in_range(active[c], 2 * 9999 / 5 - 500, 2 * 9999 / 5 + 100);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_are_a_limit),
		cmocka_unit_test(test_a_slot_is_a_schedulers),
		cmocka_unit_test(test_a_ctas_pc_is_where_it_was),
		cmocka_unit_test(test_a_store_without_its_page_is_awaited),
		cmocka_unit_test(test_timeslices_are_fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
