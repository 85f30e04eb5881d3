// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch dynamic: kernels that come and go at any time, that leave no room for others, and that
 * are many. Each gets its share, and all of them end.
 */
#include "gpu_dynamic.h"

/* Kernels that come and go while others are sampled, while a partition is reached, and at once. */
static void whoever_comes_gets_his_share(void **state)
{
	/* The third kernel comes in the warm-up, in a sample, while the partition is reached, later. */
	static const uint64_t arrivals[] = { 1000, 2500, 12100, 15000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(arrivals); i++) {
		char *statistics[2];

		for (unsigned int turn = 0; turn < 2; turn++) {
			struct gpu_bench b;

			open_bench(&b, "", 0);
			launch(&b, 1, 0, 1000, 100);
			launch(&b, 2, 1, 1000, 100);
			/* One CTA; it ends with others that come in its cycle. */
			assert_int_equal(gpu_session_delay(b.session, 3, arrivals[i]), 0);
			launch(&b, 3, 2, 1, 100);
			launch(&b, 3, 3, 300, 100);
			assert_int_equal(gpu_session_delay(b.session, 4, arrivals[i]), 0);
			launch(&b, 4, 4, 300, 100);
			gpu_session_finish(b.session);
			assert_true(decided(&b) > 0);
			for (unsigned int k = 0; k < 5; k++) {
				const struct mark *m = (void *)(b.memory + k * PLACE);

				for (unsigned int c = 0; c < (k < 2 ? 1000 : k == 2 ? 1 : 300); c++)
					assert_true(m[c].end > m[c].begin);
			}
			/* Nobody is held back for ever: all SMs' resources are free again. */
			for (unsigned int sm = 0; sm < 4; sm++)
				assert_false(sm_resident_ctas(b.session->machine->sms[sm], NULL));
			statistics[turn] = gpu_session_statistics(b.session);
			bench_close(&b);
		}
		assert_string_equal(statistics[0], statistics[1]);
		free(statistics[0]);
		free(statistics[1]);
	}
}

/*
 * A CTA that takes all warps of an SM leaves no room for another: such kernels have SMs of their
 * own, beside each other and beside small CTAs. Two that take a half each fill the SM together.
 */
static void a_kernel_that_fills_the_sm(void **state)
{
	static const struct {
		uint32_t block[2];
		unsigned int ctas[2];	/* that an SM gets; 0: the SMs are split */
	} cases[] = {
		{ { 256, 256 }, { 0, 0 } }, { { 256, 32 }, { 0, 0 } }, { { 128, 128 }, { 1, 1 } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct gpu_bench b;

		open_bench(&b, "", 1);
		b.spec.warps = 8;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch_of(&b, 1, "loop", 0, 60, cases[i].block[0], 100);
		launch_of(&b, 2, "other", 1, 600, cases[i].block[1], 100);
		gpu_session_finish(b.session);
		all_ran(&b, 0, 60);
		all_ran(&b, 1, 600);
		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(share(&b, 0, k), cases[i].ctas[k]);
		bench_close(&b);
	}
}

/* Behind the partition each SM begins CTAs of each kernel, all the time, while it has some. */
static void nobody_starves(void **state)
{
	struct gpu_bench b;
	size_t kernels;
	uint64_t from;

	open_bench(&b, "", 1);
	/* A quarter of the CTAs is a quarter of the performance: more than may be lost. */
	b.spec.slicer_loss = 400;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	for (unsigned int k = 0; k < 4; k++)
		launch_as(&b, k + 1, k % 2 ? "other" : "loop", k, 2000, 50 + 30 * k);
	gpu_session_finish(b.session);
	from = decided_at(&b, 0, &kernels);
	assert_int_equal(kernels, 4);
	for (unsigned int k = 0; k < 4; k++) {
		all_ran(&b, k, 2000);
		assert_true(share(&b, 0, k) >= 1);
		/* What ran as the layout changed has ended after the first of these. */
		for (unsigned int sm = 0; sm < 4; sm++)
			for (uint64_t at = from + 5000; at < from + 20000; at += 5000)
				assert_true(begun(&b, k, 2000, sm, at, at + 5000) > 0);
	}
	bench_close(&b);
}

/*
 * Launches that end before all counts of CTAs are sampled, which takes 12000 cycles here: the next
 * launch, and the kernel beside it, go on with the counts that they have not had. Without
 * slicer.reuse nothing is kept, and nothing is ever decided.
 */
static void launches_shorter_than_the_samples(void **state)
{
	static const struct {
		unsigned int launches[2];
		uint64_t reuse;
	} cases[] = { { { 1, 8 }, 1 }, { { 8, 8 }, 1 }, { { 8, 8 }, 0 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mark *m;
		struct gpu_bench b;
		uint64_t ends = 0;
		size_t kernels;

		open_bench(&b, "", cases[i].reuse);
		for (unsigned int k = 0; k < 2; k++)
			for (unsigned int l = 0; l < cases[i].launches[k]; l++)
				launch(&b, k + 1, 8 * k + l, cases[i].launches[k] == 1 ? 700 : 30,
				       100);
		gpu_session_finish(b.session);
		m = (const struct mark *)(b.memory + 8 * PLACE);
		for (unsigned int c = 0; c < 30; c++)
			ends = MAX(ends, m[c].end);
		assert_in_range(ends, 3000, 11000);
		if (cases[i].reuse) {
			assert_true(decided_at(&b, 0, &kernels) > ends);
			assert_int_equal(kernels, 2);
			assert_int_equal(share(&b, 0, 0), 4);
			assert_int_equal(share(&b, 0, 1), 4);
		} else {
			assert_int_equal(decided(&b), 0);
		}
		bench_close(&b);
	}
}

/* The loop by a third name. */
#define PTX_NEXT	".visible .entry next(.param .u64 p, .param .u64 n)\n{\n"	\
			".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"	\
			"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
			"AGAIN:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n"	\
			"@%p1 bra AGAIN;\nld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"	\
			"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
			"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
			"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
			"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

/* The cycle at which the launch's last CTA ended. */
static uint64_t ended(const struct gpu_bench *b, unsigned int place, unsigned int ctas)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	uint64_t ends = 0;

	for (unsigned int c = 0; c < ctas; c++)
		ends = MAX(ends, m[c].end);
	return ends;
}

/* 16 SMs, so that all counts of two kernels are sampled at a time. */
static void open_wide(struct gpu_bench *b, uint64_t warmup)
{
	open_bench(b, PTX_NEXT, 1);
	b->spec.sms = 16;
	b->spec.slicer_warmup = warmup;
	assert_int_equal(gpu_session_configure(b->session, &b->spec, NULL), 0);
}

/*
 * The second program's launches end before a warm-up and a sample have passed, whether all are of
 * one kernel or two take turns. All SMs stay whose they are, so the warm-up goes on, and the
 * decision comes as if there was one launch.
 */
static void launches_shorter_than_the_warm_up(void **state)
{
	enum { LAUNCHES = 10, CTAS = 150 };

	for (unsigned int turns = 0; turns < 2; turns++) {
		struct gpu_bench b;
		size_t kernels;

		open_wide(&b, 8000);
		launch(&b, 1, 0, 1000, 100);
		for (unsigned int l = 0; l < LAUNCHES; l++)
			launch_as(&b, 2, turns && l % 2 ? "next" : "other", 1 + l, CTAS, 30);
		gpu_session_finish(b.session);
		assert_in_range(ended(&b, 1, CTAS), 1000, 5000);
		assert_int_equal(decided_at(&b, 0, &kernels), 9000);
		assert_int_equal(kernels, 2);
		assert_int_equal(share(&b, 0, 0), 4);
		assert_int_equal(share(&b, 0, 1), 4);
		for (unsigned int l = 0; l < LAUNCHES; l++)
			all_ran(&b, 1 + l, CTAS);
		bench_close(&b);
	}
}

/*
 * The second program's launches end before the delay behind the samples has passed, whether all are
 * of one kernel or two take turns. The delay goes on, and so does the layout of the sample: each of
 * the second program's SMs holds one CTA more than the one before.
 */
static void launches_shorter_than_the_delay(void **state)
{
	enum { LAUNCHES = 14, CTAS = 150 };

	for (unsigned int turns = 0; turns < 2; turns++) {
		unsigned int within = 0, held = 0;
		struct gpu_bench b;
		size_t kernels;

		open_wide(&b, 2000);
		b.spec.slicer_delay = 8000;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 1000, 100);
		for (unsigned int l = 0; l < LAUNCHES; l++)
			launch_as(&b, 2, turns && l % 2 ? "next" : "other", 1 + l, CTAS, 30);
		gpu_session_finish(b.session);
		assert_int_equal(decided_at(&b, 0, &kernels), 11000);
		assert_int_equal(kernels, 2);
		for (unsigned int l = 0; l < LAUNCHES; l++) {
			all_ran(&b, 1 + l, CTAS);
			within += ended(&b, 1 + l, CTAS) > 3000 && ended(&b, 1 + l, CTAS) < 11000;
			if (!turns)
				held = MAX(held, most(&b, 1 + l, CTAS, 10, 5000, 11000));
		}
		assert_in_range(within, 2, LAUNCHES - 1);
		assert_int_equal(held, turns ? 0 : 3);
		bench_close(&b);
	}
}

/*
 * Two kernels of the second program take turns. One is known, and the launches of the other always
 * end before they are sampled. What the first of these did in its warm-up is all that there is: the
 * next one has a share by that at once.
 */
static void launches_that_are_never_sampled(void **state)
{
	enum { CTAS = 150 };
	struct gpu_bench b;
	size_t kernels;
	uint64_t comes;

	open_wide(&b, 8000);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 30);
	for (unsigned int l = 0; l < 4; l++)
		launch_as(&b, 2, l % 2 ? "other" : "next", 2 + l, CTAS, 30);
	gpu_session_finish(b.session);
	assert_int_equal(decided_at(&b, 0, &kernels), 9000);
	/* The known one decides as it comes. */
	comes = ended(&b, 2, CTAS);
	assert_in_range(comes - ended(&b, 1, 1000), 1000, 8000);
	assert_in_range(decided_at(&b, 1, &kernels), comes, comes + 500);
	comes = ended(&b, 3, CTAS);
	assert_in_range(decided_at(&b, 2, &kernels), comes, comes + 500);
	assert_int_equal(share(&b, 2, 0), 4);
	assert_int_equal(share(&b, 2, 1), 4);
	bench_close(&b);
}

/* Each CTA reads a page of its own. */
#define PTX_LATE	".visible .entry late(.param .u64 p, .param .u64 n)\n{\n"	\
			".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"				\
			"mov.u32 %r4, %ctaid.x;\nld.param.u64 %rd1, [p];\n"		\
			"mul.wide.u32 %rd2, %r4, 4096;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
			"ld.global.u32 %r5, [%rd1];\nadd.s32 %r5, %r5, 1;\n"		\
			"st.global.u32 [%rd1], %r5;\nret;\n}\n"

/* The second program's kernel is known, and the pages of its marks, at the 8th place on, are there. */
static void open_paged(struct gpu_bench *b)
{
	open_bench(b, PTX_LATE, 1);
	b->spec.paging = 1;
	assert_int_equal(gpu_session_configure(b->session, &b->spec, NULL), 0);
	launch_as(b, 1, "loop", 7, 1000, 1);
	for (unsigned int l = 0; l < 6; l++)
		launch(b, 2, 8 + l, 1000, 1);
	gpu_session_finish(b->session);
	launch_as(b, 1, "loop", 7, 1000, 100);
	launch(b, 2, 8, 1000, 100);
	gpu_session_finish(b->session);
}

/*
 * The first program's pages arrive. Launches of the second one, which is known, come and go. Each
 * time there is a partition at once, and no warm-up: that pages arrive is known since the first.
 */
static void launches_beside_pages_that_arrive(void **state)
{
	enum { LAUNCHES = 6, CTAS = 60 };
	unsigned int before;
	struct gpu_bench b;
	size_t kernels;
	uint64_t comes;

	open_paged(&b);
	before = (unsigned int)decided(&b);
	comes = b.session->now;
	launch_as(&b, 1, "late", 0, 96, 0);
	for (unsigned int l = 0; l < LAUNCHES; l++)
		launch(&b, 2, 8 + l, CTAS, 30);
	gpu_session_finish(b.session);
	assert_int_equal(decided_at(&b, before, &kernels), comes + 2000);
	for (unsigned int l = 0; l + 1 < LAUNCHES; l++) {
		uint64_t ends = ended(&b, 8 + l, CTAS);

		assert_in_range(decided_at(&b, before + 1 + l, &kernels), ends, ends + 500);
		assert_int_equal(kernels, 2);
	}
	bench_close(&b);
}

/*
 * The second program's first launch ends at any time within its sample. An SM then holds fewer CTAs
 * than it did, down to none, and did as much with them all the same. The curve is of how many
 * they were while they ran.
 */
static void a_launch_ends_in_its_sample(void **state)
{
	unsigned int within = 0;

	for (unsigned int ctas = 80; ctas <= 128; ctas += 8) {
		struct gpu_bench b;
		size_t kernels;
		uint64_t ends;

		open_wide(&b, 2000);
		launch(&b, 1, 0, 500, 100);
		launch(&b, 2, 1, ctas, 20);
		launch(&b, 2, 2, 600, 20);
		gpu_session_finish(b.session);
		ends = ended(&b, 1, ctas);
		within += ends > 2000 && ends < 3000;
		assert_int_equal(decided_at(&b, 0, &kernels), 3000);
		assert_in_range(share(&b, 0, 0), 3, 5);
		assert_in_range(share(&b, 0, 1), 3, 5);
		bench_close(&b);
	}
	assert_true(within > 3);
}

/*
 * Two kernels on one SM: no SM is the second one's, and so it has no sample. It counts as one to
 * which each CTA brings as much as the one before, and not as one that a CTA is enough for.
 */
static void who_has_no_sm_is_guessed(void **state)
{
	struct gpu_bench b;
	size_t kernels;

	open_bench(&b, "", 1);
	b.spec.sms = 1;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 600, 100);
	launch(&b, 2, 1, 600, 100);
	gpu_session_finish(b.session);
	decided_at(&b, 0, &kernels);
	assert_int_equal(kernels, 2);
	assert_in_range(share(&b, 0, 1), 3, 5);
	all_ran(&b, 0, 600);
	all_ran(&b, 1, 600);
	bench_close(&b);
}

/* Two kernels run, a third ends, and a fourth comes in that cycle, one before, one behind. */
static void one_comes_as_another_ends(void **state)
{
	uint64_t ends = 0;

	for (unsigned int i = 0; i < 4; i++) {
		struct gpu_bench b;
		size_t kernels, n;
		uint64_t at;

		open_bench(&b, "", 1);
		b.spec.slicer_loss = 400;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 1500, 100);
		launch(&b, 2, 1, 1500, 100);
		assert_int_equal(gpu_session_delay(b.session, 3, 15000), 0);
		launch(&b, 3, 2, 40, 100);
		if (i) {
			assert_int_equal(gpu_session_delay(b.session, 4, ends - 2 + i), 0);
			launch(&b, 4, 3, 300, 100);
		}
		gpu_session_finish(b.session);
		all_ran(&b, 0, 1500);
		all_ran(&b, 1, 1500);
		all_ran(&b, 2, 40);
		/* All profiles are kept: one decision as the third comes, one as it ends. */
		at = decided_at(&b, 1, &kernels);
		assert_int_equal(at, 15000);
		assert_int_equal(kernels, 3);
		if (!i) {
			assert_int_equal(decided(&b), 3);
			ends = decided_at(&b, 2, &kernels);
			assert_int_equal(kernels, 2);
			bench_close(&b);
			continue;
		}
		all_ran(&b, 3, 300);
		/* As both have happened, three share the SMs, nobody has none, and all fit. */
		n = 2;
		do {
			at = decided_at(&b, n, &kernels);
			assert_in_range(at, ends - 1, ends + 1);
		} while (kernels != 3 && ++n);
		for (unsigned int k = 0; k < 3; k++)
			assert_true(share(&b, (unsigned int)n, k) > 0);
		assert_in_range(share(&b, (unsigned int)n, 0) + share(&b, (unsigned int)n, 1) +
				share(&b, (unsigned int)n, 2), 3, 8);
		for (unsigned int sm = 0; sm < 4; sm++)
			assert_true(begun(&b, 3, 300, sm, at, NEVER) > 0);
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_comes_gets_his_share),
		cmocka_unit_test(a_kernel_that_fills_the_sm),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(launches_shorter_than_the_samples),
		cmocka_unit_test(launches_shorter_than_the_warm_up),
		cmocka_unit_test(launches_shorter_than_the_delay),
		cmocka_unit_test(launches_that_are_never_sampled),
		cmocka_unit_test(launches_beside_pages_that_arrive),
		cmocka_unit_test(a_launch_ends_in_its_sample),
		cmocka_unit_test(who_has_no_sm_is_guessed),
		cmocka_unit_test(one_comes_as_another_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
