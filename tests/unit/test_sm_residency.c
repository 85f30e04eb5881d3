// SPDX-License-Identifier: GPL-2.0
/*
 * CTAs that are parked and restored: cycle by cycle for two that swap, at random moments in a
 * kernel with everything in it, and by each mechanism that there is. And that the build with
 * wide sets of warps does what the narrow one does.
 */
#include <errno.h>

#include "sm_storm.h"

/* --- two CTAs by hand --------------------------------------------------------------- */

/* %clock at instructions 1, 2 and 3. */
static const char clocks[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %clock;\nmov.u32 %r3, %clock;\nmov.u32 %r4, %clock;\n"
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"st.global.v4.u32 [%rd3], {%r1, %r2, %r3, %r4};\nret;\n}\n";

/* CTA 0 is parked at the end of a cycle; a CTA that has slots to gain gets them. */
struct swap {
	uint64_t park_delay, restore_delay;
	uint64_t parked, ready, started[2], ended[2];
};

static void swap_started(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct swap *)state)->started[cta] = now;
}

static void swap_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct swap *s = state;

	assert_int_equal(cta, 0);
	assert_int_equal(s->parked, 0);
	s->parked = now;
	assert_int_equal(sm_restore(sm, 1, s->restore_delay, now), 0);
	/* The slots are CTA 1's from now on. */
	assert_int_equal(sm_restore(sm, 0, 0, now), -EAGAIN);
}

static void swap_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct swap *)state)->ready = now;
}

static void swap_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct swap *s = state;

	s->ended[cta] = now;
	if (cta == 1)
		assert_int_equal(sm_restore(sm, 0, s->restore_delay, now), 0);
}

static bool swap_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel)
{
	return sm_fits(sm, kernel);
}

static const struct sm_mechanism swapping = {
	.name = "swap", .has_room = swap_has_room, .cta_started = swap_started,
	.cta_parked = swap_parked, .cta_ready = swap_ready, .cta_ended = swap_ended,
};

static void one_slot(struct bench *b, const char *ptx, struct swap *s)
{
	bench_init(b);
	b->spec.schedulers = b->spec.warps = b->spec.ctas = 1;
	b->spec.virtual_warps = b->spec.virtual_ctas = 2;
	b->mechanism = &swapping;
	b->mechanism_ctx = s;
	bench_load(b, ptx, 32);
}

/* Parks CTA 0 at the end of cycle `park` after the launch of both, in which L1I is warm. Returns that. */
static uint64_t run_swap(struct bench *b, struct swap *s, uint64_t park)
{
	uint64_t start;

	one_slot(b, clocks, s);
	bench_run(b, 1);
	start = b->now;
	assert_int_equal(sm_begin(b->sm, b->kernel), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(sm_has_room(b->sm, b->kernel));
		assert_int_equal(sm_launch_cta(b->sm, b->kernel, (uint32_t [3]){ i }, start), 0);
	}
	assert_false(sm_has_room(b->sm, b->kernel));
	for (uint64_t t = start + 1; t < start + 3000 && !sm_idle(b->sm); t++) {
		bench_quantum(b, t, t + 1);
		assert_int_equal(b->status, 0);
		if (t == start + park)
			assert_int_equal(sm_park(b->sm, 0, s->park_delay, t), 0);
	}
	assert_true(sm_idle(b->sm));
	return start;
}

static void test_two_ctas_swap(void **state)
{
	struct swap s = { 0 };
	const uint32_t *got;
	struct bench b;
	uint64_t start;

	/*
	 * Fetched in 1, decoded in 2, issued in 3 and 4; the next pair is fetched in 4 and thrown
	 * away at its end. What issued in 4 has no sources: it leaves its collector in 6, is in a
	 * unit in 7 and written in 7 + 1 + 2.
	 */
	start = run_swap(&b, &s, 4);
	got = (const uint32_t *)b.memory;
	assert_int_equal(got[1], start + 4);
	assert_int_equal(s.parked, start + 10);
	assert_int_equal(s.ready, start + 10);
	/* CTA 1 has its slot at the end of the same cycle: 1, 2, 3 and 4 after that. */
	assert_int_equal(s.started[1], start + 10);
	assert_int_equal(got[4], 1);
	assert_int_equal(got[5], start + 14);
	assert_int_equal(got[6], start + 16);
	assert_int_equal(got[7], start + 17);
	/* CTA 0 is fetched again from its pc. */
	assert_int_equal(s.started[0], s.ended[1]);
	assert_int_equal(got[0], 0);
	assert_int_equal(got[2], s.ended[1] + 3);
	assert_int_equal(got[3], s.ended[1] + 4);
	assert_int_equal(sm_stats(b.sm)->parked_ctas, 1);
	bench_fini(&b);
}

static void test_a_swap_takes_what_the_mechanism_says(void **state)
{
	struct swap s = { .park_delay = 20, .restore_delay = 9 };
	const uint32_t *got;
	struct bench b;
	uint64_t start;

	start = run_swap(&b, &s, 4);
	got = (const uint32_t *)b.memory;
	assert_int_equal(s.parked, start + 4 + 20);
	assert_int_equal(s.started[1], s.parked + 9);
	assert_int_equal(got[5], s.parked + 9 + 4);
	assert_int_equal(s.started[0], s.ended[1] + 9);
	assert_int_equal(got[2], s.ended[1] + 9 + 3);
	bench_fini(&b);
	/* A delay that is over before the pipelines are empty. */
	memset(&s, 0, sizeof(s));
	s.park_delay = 5;
	start = run_swap(&b, &s, 4);
	assert_int_equal(s.parked, start + 10);
	bench_fini(&b);
}

static void other_restored(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct sm_cta_view view;

	((struct swap *)state)->parked = now;
	sm_cta_look(sm, !cta, &view);
	if (view.state == SM_CTA_PARKED)
		assert_int_equal(sm_restore(sm, !cta, 0, now), 0);
}

static void test_a_line_that_comes_late_is_dropped(void **state)
{
	static const struct sm_mechanism turns = {
		.name = "turns", .has_room = swap_has_room, .cta_parked = other_restored,
		.cta_ended = other_restored,
	};
	struct swap s = { 0 };
	const uint32_t *got;
	struct bench b;

	/* Nothing is in L1I: both are parked in turn while the first line is on its way. */
	bench_init(&b);
	b.spec.schedulers = b.spec.warps = b.spec.ctas = 1;
	b.spec.virtual_warps = b.spec.virtual_ctas = 2;
	b.mechanism = &turns;
	b.mechanism_ctx = &s;
	bench_load(&b, clocks, 32);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ i }, 0), 0);
	for (uint64_t t = 1; t < 5000 && !sm_idle(b.sm); t++) {
		bench_quantum(&b, t, t + 1);
		assert_int_equal(b.status, 0);
		if (t == 3 || t == 6)
			assert_int_equal(sm_park(b.sm, t == 6, 0, t), 0);
		/* It has nothing in its pipelines. */
		if (t == 5 || t == 8)
			assert_int_equal(s.parked, t - 1);
	}
	assert_true(sm_idle(b.sm));
	got = (const uint32_t *)b.memory;
	assert_int_equal(got[4], 1);
	/* CTA 0 is back when the line comes, and is fetched again; CTA 1 when it has ended. */
	assert_true(got[1] > 100 && got[1] < got[5]);
	assert_int_equal(sm_stats(b.sm)->warp_instructions, 2 * 9);
	assert_int_equal(sm_stats(b.sm)->l1i.reads, sm_stats(b.sm)->l1i.read_misses + 2 * 5);
	bench_fini(&b);
}

/* --- what comes while a CTA is parked ---------------------------------------------------- */

static const char load[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<8>;\n.reg .b32 %r<12>;\n"
	"mov.u64 %rd1, 0x200000000000;\nld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 7;\n"
	"st.global.u32 [%rd1], %r2;\nret;\n}\n";

struct wait {
	bool park;
	uint64_t stalled, resumed, warp_stalled, warp_resumed, parked, ready;
	unsigned int why;
};

static unsigned int wait_on(const struct gpu_spec *spec)
{
	return SM_WAIT_MEMORY | SM_WAIT_FAULT | SM_WAIT_BARRIER;
}

static void wait_stalled(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct wait *t = state;

	if (t->stalled)
		return;
	t->stalled = now;
	if (t->park)
		assert_int_equal(sm_park(sm, cta, 0, now), 0);
}

static void wait_resumed(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	struct wait *t = state;

	t->resumed = t->resumed ? t->resumed : now;
}

static void wait_warp_stalled(void *state, struct sm *sm, unsigned int w, enum sm_wait wait,
			      uint64_t now)
{
	struct wait *t = state;

	t->warp_stalled = t->warp_stalled ? t->warp_stalled : now;
	t->why |= wait;
}

static void wait_warp_resumed(void *state, struct sm *sm, unsigned int w, uint64_t now)
{
	struct wait *t = state;

	t->warp_resumed = t->warp_resumed ? t->warp_resumed : now;
}

static void wait_parked(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct wait *)state)->parked = now;
}

static void wait_ready(void *state, struct sm *sm, unsigned int cta, uint64_t now)
{
	((struct wait *)state)->ready = now;
	assert_int_equal(sm_restore(sm, cta, 0, now), 0);
}

static const struct sm_mechanism waiting = {
	.name = "wait", .stall_on = wait_on, .cta_stalled = wait_stalled,
	.cta_resumed = wait_resumed, .warp_stalled = wait_warp_stalled,
	.warp_resumed = wait_warp_resumed, .cta_parked = wait_parked, .cta_ready = wait_ready,
};

static unsigned int on_faults(const struct gpu_spec *spec)
{
	return SM_WAIT_FAULT;
}

/* fault: the load's page comes in cycle 3000. only: nothing else counts as a stall. */
static void run_wait(struct wait *t, bool park, bool fault, bool only)
{
	static bool absent[PAGES];
	struct sm_mechanism m = waiting;
	struct bench b;

	*t = (struct wait){ .park = park };
	bench_init(&b);
	assert_int_equal(BENCH_BASE, 0x200000000000);
	b.spec.paging = fault;
	b.absent = absent;
	absent[0] = fault;
	m.stall_on = only ? on_faults : wait_on;
	b.mechanism = &m;
	b.mechanism_ctx = t;
	bench_load(&b, load, 32);
	*(uint32_t *)b.memory = 5;
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	for (uint64_t c = 1; c < 9000 && !sm_idle(b.sm); c++) {
		bench_quantum(&b, c, c + 1);
		assert_int_equal(b.status, 0);
		if (c == 3000 && fault) {
			absent[0] = false;
			assert_true(gmmu_arrived(b.gmmu, BENCH_BASE, PAGE_BYTES, c));
		}
	}
	assert_true(sm_idle(b.sm));
	assert_int_equal(*(uint32_t *)b.memory, 12);
	bench_fini(&b);
}

static void test_ready_is_when_the_result_is_there(void **state)
{
	struct wait plain, parked;

	run_wait(&plain, false, false, false);
	assert_int_equal(plain.why, SM_WAIT_MEMORY);
	assert_int_equal(plain.warp_stalled, plain.stalled);
	assert_int_equal(plain.warp_resumed, plain.resumed);
	assert_true(plain.resumed > plain.stalled + 50);
	run_wait(&parked, true, false, false);
	assert_int_equal(parked.stalled, plain.stalled);
	assert_in_range(parked.parked, parked.stalled + 1, parked.stalled + 30);
	/* A parked CTA is no more stalled. Its load comes back when it would have. */
	assert_int_equal(parked.warp_resumed, parked.stalled + 1);
	assert_int_equal(parked.ready, plain.resumed);
}

static void test_a_far_fault_goes_on_without_its_cta(void **state)
{
	struct wait plain, fault, parked;

	run_wait(&plain, false, true, false);
	run_wait(&fault, false, true, true);
	assert_int_equal(fault.why, SM_WAIT_FAULT);
	/* The page comes, and a while later what was loaded from it. */
	assert_true(fault.resumed > 3000 && plain.resumed > fault.resumed + 50);
	run_wait(&parked, true, true, true);
	assert_true(parked.parked < 1000);
	assert_int_equal(parked.ready, plain.resumed);
}

/* --- at random moments --------------------------------------------------------------------- */

static void run_chance(const uint8_t *want, const char *scheduler, uint64_t seed, bool paging,
		       unsigned int warps, struct chance *t)
{
	static struct pages pages;
	struct bench b;

	memset(t, 0, sizeof(*t));
	memset(&pages, 0, sizeof(pages));
	memset(pages.absent, paging, sizeof(pages.absent));
	t->seed = seed;
	t->pages = &pages;
	bench_init(&b);
	strcpy(b.spec.scheduler, scheduler);
	b.spec.paging = paging;
	b.spec.warps = 12;
	b.spec.ctas = 3;
	b.spec.virtual_warps = warps;
	b.spec.virtual_ctas = 16;
	b.absent = pages.absent;
	b.mechanism = &by_chance;
	b.mechanism_ctx = t;
	b.quantum = 1;
	b.each_quantum = chance_quantum;
	run_storm(&b, want);
	assert_int_equal(t->admitted, STORM_CTAS);
	assert_int_equal(t->ended, STORM_CTAS);
	assert_int_equal(t->exited, STORM_CTAS * 3);
	assert_int_equal(t->retired, STORM_CTAS * 3);
	assert_int_equal(t->parked, sm_stats(b.sm)->parked_ctas);
	assert_true(t->parked > STORM_CTAS && t->restored > STORM_CTAS && t->early);
	for (unsigned int i = 0; i < MAX_CTAS; i++)
		assert_true(!t->state[i] && !t->stalled[i] && !t->warp_stalled[i]);
	if (paging)
		assert_true(gmmu_stats(b.gmmu)->faults > 30);
	bench_fini(&b);
}

static void test_parked_at_random_moments(void **state)
{
	uint8_t *want = storm_reference();
	const char *name, *help;
	struct chance t, again;

	for (unsigned int i = 0; sm_scheduler(i, &name, &help); i++) {
		for (uint64_t seed = 1; seed <= 3; seed++) {
			run_chance(want, name, seed, false, 48, &t);
			/* Wide sets do the same, event by event. */
			run_chance(want, name, seed, false, 72, &again);
			assert_int_equal(t.seed, again.seed);
			run_chance(want, name, seed + 10, true, seed == 1 ? 96 : 48, &t);
		}
	}
	free(want);
}

/* --- room ----------------------------------------------------------------------------------------- */

static void test_room_grows(void **state)
{
	struct swap s = { .restore_delay = 10 };
	struct bench b;
	uint64_t rooms;

	one_slot(&b, clocks, &s);
	rooms = sm_rooms(b.sm);
	assert_int_equal(sm_begin(b.sm, b.kernel), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 0 }, 0), 0);
	assert_int_equal(sm_launch_cta(b.sm, b.kernel, (uint32_t [3]){ 1 }, 0), 0);
	for (uint64_t t = 1; t < 3000 && !sm_idle(b.sm); t++) {
		uint64_t before = sm_rooms(b.sm), gone = s.parked + s.ended[0] + s.ended[1];

		if (t == 200)
			assert_int_equal(sm_park(b.sm, 0, 0, t - 1), 0);
		bench_quantum(&b, t, t + 1);
		/* In the cycle in which slots, registers or shared memory come free, and in no other. */
		assert_int_equal(sm_rooms(b.sm) != before,
				 s.parked + s.ended[0] + s.ended[1] != gone);
	}
	assert_true(s.parked && s.ended[0] && s.ended[1]);
	assert_true(sm_rooms(b.sm) > rooms + 2);
	/* A change that the SM does not see: it is run, and looked at. */
	b.wake = NEVER;
	rooms = sm_rooms(b.sm);
	sm_room_grown(b.sm);
	assert_int_equal(sm_rooms(b.sm), rooms + 1);
	assert_true(b.wake != NEVER);
	bench_fini(&b);
}

/* --- the mechanisms there are ------------------------------------------------------------------ */

static void small(struct bench *b, const char *mechanism, const char *scheduler)
{
	bench_init(b);
	strcpy(b->spec.cta, mechanism);
	strcpy(b->spec.scheduler, scheduler);
	b->spec.warps = 12;
	b->spec.ctas = 3;
	b->spec.timeslice = 173;
}

static void test_every_mechanism_keeps_results(void **state)
{
	uint8_t *want = storm_reference();
	const char *name, *help;
	struct bench b;

	for (unsigned int m = 0; sm_mechanism_rows[m]; m++) {
		assert_true(sm_mechanism_rows[m]->name[0] && sm_mechanism_rows[m]->help[0]);
		for (unsigned int i = 0; sm_scheduler(i, &name, &help); i++) {
			struct sm_counters counters;
			uint64_t cycles;

			small(&b, sm_mechanism_rows[m]->name, name);
			b.quantum = 1;
			b.every_cycle = true;
			run_storm(&b, want);
			counters = *sm_stats(b.sm);
			cycles = b.cycles;
			assert_int_equal(counters.parked_ctas > 0,
					 m > 0 && !sm_mechanism_rows[m]->slots_for_all &&
					 !sm_mechanism_rows[m]->by_warp);
			assert_int_equal(counters.virtual.grants > 0,
					 sm_mechanism_rows[m]->by_warp);
			bench_fini(&b);
			/* Cycles that are slept through count as if they had run. */
			small(&b, sm_mechanism_rows[m]->name, name);
			b.quantum = 1;
			run_storm(&b, want);
			assert_int_equal(b.cycles, cycles);
			assert_memory_equal(sm_stats(b.sm), &counters, sizeof(counters));
			bench_fini(&b);
		}
	}
	free(want);
}

/* So few MSHRs that L1D refuses most loads. */
static void refusing(struct bench *b, const char *order, const char *mechanism,
		     const char *scheduler)
{
	small(b, mechanism, scheduler);
	strcpy(b->spec.mem_order, order);
	b->spec.l1d_mshrs = 2;
	b->spec.reexec_queue = 3;
}

/* Every memory order under every mechanism, and either under every scheduler. */
static void test_every_memory_order_keeps_results(void **state)
{
	static const char *const orders[] = { "mascar", "vt", "reexecute" };
	static const char *const mechanisms[] = { "baseline", "vt", "max" };
	uint8_t *want = storm_reference();
	const char *name, *help;
	struct sm_counters counters;
	struct bench b;

	for (unsigned int o = 0; o < ARRAY_SIZE(orders); o++) {
		for (unsigned int m = 0; m < ARRAY_SIZE(mechanisms); m++) {
			for (unsigned int i = 0; sm_scheduler(i, &name, &help); i++) {
				uint64_t cycles;

				if ((o + m + i) % 2)
					continue;
				refusing(&b, orders[o], mechanisms[m], name);
				run_storm(&b, want);
				assert_true(sm_stats(b.sm)->l1d.fails > 0);
				bench_fini(&b);
				if (o != m || i > 1)
					continue;
				refusing(&b, orders[o], mechanisms[m], name);
				b.quantum = 1;
				run_storm(&b, want);
				counters = *sm_stats(b.sm);
				cycles = b.cycles;
				bench_fini(&b);
				/* Cycles that are slept through count as if they had run. */
				refusing(&b, orders[o], mechanisms[m], name);
				b.quantum = 1;
				b.every_cycle = true;
				run_storm(&b, want);
				assert_memory_equal(sm_stats(b.sm), &counters, sizeof(counters));
				assert_int_equal(b.cycles, cycles);
				bench_fini(&b);
			}
		}
	}
	free(want);
}

static void test_a_mechanism_begins_anew_after_cancel(void **state)
{
	struct bench b;

	for (unsigned int m = 0; sm_mechanism_rows[m]; m++) {
		small(&b, sm_mechanism_rows[m]->name, "gto");
		bench_load(&b, storm, 96);
		for (uint64_t stop = 1; stop < 6000; stop += 397) {
			uint64_t start = b.now;

			assert_int_equal(sm_begin(b.sm, b.kernel), 0);
			for (uint32_t i = 0; i < 8 && sm_has_room(b.sm, b.kernel); i++)
				assert_int_equal(sm_launch_cta(b.sm, b.kernel,
							       (uint32_t [3]){ i }, start), 0);
			for (uint64_t t = start + 1; t < start + 1 + stop; t++)
				bench_quantum(&b, t, t + 1);
			b.now = start + 1 + stop;
			sm_account(b.sm, b.now);
			sm_cancel(b.sm);
			mem_cancel(b.mem);
			gmmu_cancel(b.gmmu);
			sm_flush(b.sm);
			assert_true(sm_idle(b.sm));
		}
		bench_run(&b, STORM_CTAS);
		assert_int_equal(b.status, 0);
		bench_fini(&b);
	}
}

static void test_timeslices(void **state)
{
	uint8_t *want = storm_reference();
	struct bench b;
	uint64_t often;

	small(&b, "timeslice", "lrr");
	run_storm(&b, want);
	often = sm_stats(b.sm)->parked_ctas;
	/* All CTAs fit registers and shared memory: they are resident at once. */
	assert_true(sm_stats(b.sm)->ctas > 10 * sm_stats(b.sm)->cycles);
	bench_fini(&b);
	/* A longer slice parks in proportion. */
	small(&b, "timeslice", "lrr");
	b.spec.timeslice = 1730;
	run_storm(&b, want);
	assert_in_range(sm_stats(b.sm)->parked_ctas, 1, often / 5);
	bench_fini(&b);
	/* With numbers for no more than there are slots there is nobody to change with. */
	small(&b, "timeslice", "lrr");
	b.spec.virtual_warps = 12;
	b.spec.virtual_ctas = 3;
	run_storm(&b, want);
	assert_int_equal(sm_stats(b.sm)->parked_ctas, 0);
	bench_fini(&b);
	free(want);
}

/* --- widths ---------------------------------------------------------------------------------------- */

static void test_wide_sets_change_nothing(void **state)
{
	uint8_t *want = storm_reference();
	const char *name, *help;
	struct sm_counters counters;
	struct bench b;

	for (unsigned int i = 0; sm_scheduler(i, &name, &help); i++) {
		bench_init(&b);
		strcpy(b.spec.scheduler, name);
		run_storm(&b, want);
		counters = *sm_stats(b.sm);
		bench_fini(&b);
		bench_init(&b);
		strcpy(b.spec.scheduler, name);
		b.spec.virtual_warps = 256;
		run_storm(&b, want);
		assert_memory_equal(sm_stats(b.sm), &counters, sizeof(counters));
		bench_fini(&b);
	}
	free(want);
}

static void test_slots_without_limit(void **state)
{
	uint8_t *want = storm_reference();
	struct bench b;

	/* 24 CTAs of 3 warps at once. */
	bench_init(&b);
	b.spec.warps = 256;
	b.spec.ctas = 256;
	run_storm(&b, want);
	assert_true(sm_stats(b.sm)->warps > 50 * sm_stats(b.sm)->cycles);
	bench_fini(&b);
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_ctas_swap),
		cmocka_unit_test(test_a_swap_takes_what_the_mechanism_says),
		cmocka_unit_test(test_a_line_that_comes_late_is_dropped),
		cmocka_unit_test(test_ready_is_when_the_result_is_there),
		cmocka_unit_test(test_a_far_fault_goes_on_without_its_cta),
		cmocka_unit_test(test_parked_at_random_moments),
		cmocka_unit_test(test_room_grows),
		cmocka_unit_test(test_every_mechanism_keeps_results),
		cmocka_unit_test(test_every_memory_order_keeps_results),
		cmocka_unit_test(test_a_mechanism_begins_anew_after_cancel),
		cmocka_unit_test(test_timeslices),
		cmocka_unit_test(test_wide_sets_change_nothing),
		cmocka_unit_test(test_slots_without_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
