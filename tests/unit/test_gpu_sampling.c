// SPDX-License-Identifier: GPL-2.0
/*
 * What dispatch dynamic's samples are worth: what they are scaled by, what puts them off, the
 * layout until the decision. When it samples is in test_gpu_dynamic.c.
 */
#include "gpu_dynamic.h"

/*
 * It reads eight lines, again and again, other ones each time. They go through 512 KiB, which L1D
 * does not hold and L2 does: how much an SM takes is a matter of its CTAs.
 */
#define PTX_READS							\
	".visible .entry reads(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n"	\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %tid.x;\n" \
	"shr.u32 %r5, %r5, 2;\nmul.lo.s32 %r6, %r4, 37;\nmov.u32 %r10, 0;\n"			\
	"AGAIN:\nand.b32 %r7, %r6, 127;\nmul.lo.s32 %r7, %r7, 4096;\n"	\
	"mad.lo.s32 %r7, %r5, 128, %r7;\ncvt.u64.u32 %rd2, %r7;\n"	\
	"add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r8, [%rd3+65536];\n"	\
	"add.s32 %r10, %r10, %r8;\nadd.s32 %r6, %r6, 1;\nadd.s32 %r3, %r3, 1;\n" \
	"setp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n"			\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nst.global.u32 [%rd1+12], %r10;\nret;\n}\n"

/* Shares of a kernel that computes and of one that reads, with slicer.scale. */
static void shares_with(const char *scale, uint64_t ctas[2])
{
	struct gpu_bench b;

	open_bench(&b, PTX_READS, 1);
	strcpy(b.spec.slicer_scale, scale);
	/* All counts at a time. An SM's share is half of what the pins carry: 2 bytes a cycle. */
	b.spec.sms = 16;
	b.spec.slicer_loss = 200;
	b.spec.dram_clock_mhz /= 4;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch_as(&b, 2, "reads", 1, 1000, 20);
	gpu_session_finish(b.session);
	for (unsigned int i = 0; i < 2; i++)
		ctas[i] = share(&b, 0, i);
	bench_close(&b);
}

/*
 * As sampled, each CTA brings both of them as much as the one before: four each. An SM with eight
 * CTAs that read takes more than its share of the memory, and cut to that they are worth no more
 * than a few. Equation 4 as printed raises samples of many CTAs, and so makes few worth less.
 */
static void samples_are_scaled(void **state)
{
	uint64_t off[2], bandwidth[2], printed[2];

	shares_with("off", off);
	shares_with("bandwidth", bandwidth);
	shares_with("printed", printed);
	assert_int_equal(off[0], 4);
	assert_int_equal(off[1], 4);
	assert_in_range(bandwidth[1], 1, 3);
	assert_in_range(bandwidth[0], 5, 7);
	assert_in_range(printed[1], 5, 7);
	assert_in_range(printed[0], 1, 3);
}

/*
 * As the second kernel comes, all SMs are full of the first one's CTAs, and those stay. Samples are
 * put off until the second kernel has its SMs to itself, but by 16 samples at most.
 */
static void samples_are_put_off(void **state)
{
	static const struct {
		uint64_t n;
		bool for_ever;
	} cases[] = { { 400, false }, { 3000, true } };

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mark *m;
		uint64_t at, ends = 0;
		struct gpu_bench b;
		size_t kernels;

		open_bench(&b, "", 1);
		launch(&b, 1, 0, 64, cases[i].n);
		assert_int_equal(gpu_session_delay(b.session, 2, 100), 0);
		launch(&b, 2, 1, 3000, 100);
		gpu_session_finish(b.session);
		/* The first 32 CTAs. */
		m = (const struct mark *)b.memory;
		for (unsigned int c = 0; c < 32; c++)
			ends = MAX(ends, m[c].end);
		at = decided_at(&b, 0, &kernels);
		assert_int_equal(kernels, 2);
		/* Four rounds of a warm-up and a sample each, and 16 samples of waiting before the first. */
		if (cases[i].for_ever) {
			assert_true(ends > 100 + 16 * 1000 + 4 * 3000);
			assert_int_equal(at, 100 + 16 * 1000 + 4 * 3000);
		} else {
			assert_in_range(ends, 100 + 2000 + 2000, 100 + 2000 + 15 * 1000);
			assert_in_range(at, ends + 10000, ends + 11500);
		}
		bench_close(&b);
	}
}

/* Do the marks say that the SM ended as many CTAs from `from` to `to` as it holds then? */
static bool whole(const struct gpu_bench *b, unsigned int place, unsigned int ctas, unsigned int sm,
		  uint64_t from, uint64_t to)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	unsigned int ended = 0, held = 0;

	for (unsigned int c = 0; c < ctas; c++) {
		ended += m[c].sm == sm && m[c].end > from && m[c].end <= to;
		held += m[c].sm == sm && m[c].begin <= to && m[c].end > to;
	}
	return ended >= held;
}

/*
 * slicer.whole: four rounds of a warm-up and a sample. Each sample goes on, by 1000 cycles at a
 * time, until each SM has ended what it holds. CTAs that are shorter than a sample make it no
 * longer. The two last CTAs of a kernel, which run for long, do not hold it up.
 */
static void samples_of_whole_ctas(void **state)
{
	static const struct {
		uint32_t ctas;
		uint64_t n, other;
		bool longer;
	} cases[] = {
		{ 400, 20, 20, false }, { 400, 200, 200, true }, { 2, 20, 1500, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t at, least = 0;
		struct gpu_bench b;
		size_t kernels;

		open_bench(&b, "", 1);
		b.spec.slicer_whole = 1;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 400, cases[i].n);
		launch(&b, 2, 1, cases[i].ctas, cases[i].other);
		gpu_session_finish(b.session);
		at = decided_at(&b, 0, &kernels);
		assert_int_equal(kernels, 2);
		for (unsigned int round = 0; round < 4 && cases[i].longer; round++) {
			uint64_t mark = least + 2000;
			bool all;

			least = mark;
			do {
				least += 1000;
				all = true;
				for (unsigned int sm = 0; sm < 4; sm++)
					all &= whole(&b, sm / 2, cases[i].ctas, sm,
						     mark, least);
			} while (!all);
		}
		if (cases[i].longer) {
			assert_true(least > 12000);
			assert_in_range(at, least, least + 4 * 1000);
		} else {
			assert_int_equal(at, 12000);
		}
		bench_close(&b);
	}
}

/*
 * slicer.whole: a CTA of the first kernel outlasts several launches of the second one. Each launch
 * is another kernel that comes. The first kernel's sample ends with its CTAs all the same.
 */
static void a_sample_outlasts_launches(void **state)
{
	enum { LAUNCHES = 15, CTAS = 120, HELD = 36 };
	uint64_t at, ends = 0, launches = 0;
	const struct mark *m;
	struct gpu_bench b;
	size_t kernels;

	open_bench(&b, "", 1);
	/* All counts at a time. */
	b.spec.sms = 16;
	b.spec.slicer_whole = 1;
	/* The first kernel's CTAs end while another warm-up would last. */
	b.spec.slicer_warmup = 8000;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 400, 2000);
	for (unsigned int i = 0; i < LAUNCHES; i++)
		launch(&b, 2, 1 + i, CTAS, 100);
	gpu_session_finish(b.session);
	m = (const struct mark *)b.memory;
	for (unsigned int c = 0; c < HELD; c++)
		ends = MAX(ends, m[c].end);
	at = decided_at(&b, 0, &kernels);
	assert_int_equal(kernels, 2);
	for (unsigned int i = 0; i < LAUNCHES; i++) {
		m = (const struct mark *)(b.memory + (1 + i) * PLACE);
		launches += m[CTAS - 1].end < ends;
	}
	assert_true(launches > 3);
	assert_in_range(at, ends, ends + 4 * 1000);
	bench_close(&b);
}

/*
 * slicer.whole: a launch that ended within the sample has ended all that its SMs held. The next
 * launch's CTAs, which run for longer than the sample, do not hold it up.
 */
static void launches_end_a_sample_together(void **state)
{
	enum { HELD = 36, CTAS = 2 * HELD };
	const struct mark *first, *second;
	uint64_t mark;
	struct gpu_bench b;
	size_t kernels;

	open_bench(&b, "", 1);
	/* All counts at a time. */
	b.spec.sms = 16;
	b.spec.slicer_whole = 1;
	b.spec.slicer_sample = 2000;
	/* The sample begins while the first launch's second CTAs run. */
	b.spec.slicer_warmup = mark = 8500;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 3000, 20);
	launch(&b, 2, 1, CTAS, 200);
	launch(&b, 2, 2, CTAS, 200);
	gpu_session_finish(b.session);
	first = (const struct mark *)(b.memory + PLACE);
	second = (const struct mark *)(b.memory + 2 * PLACE);
	for (unsigned int c = 0; c < CTAS; c++) {
		assert_true(first[c].begin < mark && first[c].end < mark + 2000);
		assert_true(c < HELD || first[c].end > mark);
		assert_true(second[c].end > mark + 2000);
	}
	assert_int_equal(decided_at(&b, 0, &kernels), mark + 2000);
	assert_int_equal(kernels, 2);
	bench_close(&b);
}

/*
 * An SM holds two CTAs of the second kernel, so that it is known after one round. While the first
 * kernel's larger counts are sampled, each of the second one's SMs has both.
 */
static void who_is_known_has_what_fits(void **state)
{
	struct gpu_bench b;

	open_bench(&b, "", 1);
	b.spec.warps = 48;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch_of(&b, 2, "other", 1, 300, 24 * 32, 100);
	gpu_session_finish(b.session);
	assert_true(share(&b, 0, 0) > 0);
	for (unsigned int sm = 2; sm < 4; sm++) {
		assert_int_equal(most(&b, 1, 300, sm, 0, 3000), sm - 1);
		assert_int_equal(most(&b, 1, 300, sm, 4000, 12000), 2);
	}
	bench_close(&b);
}

/* A delay of the decision keeps the last layout: the SM that had seven CTAs goes on with seven. */
static void decision_is_late(void **state)
{
	struct gpu_bench b;
	size_t kernels;

	open_bench(&b, "", 1);
	b.spec.slicer_delay = 4000;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	assert_int_equal(decided_at(&b, 0, &kernels), 16000);
	for (unsigned int sm = 0; sm < 4; sm++) {
		assert_int_equal(most(&b, sm / 2, 1000, sm, 12000, 16000), 7 + sm % 2);
		assert_int_equal(most(&b, !(sm / 2), 1000, sm, 0, 16000), 0);
	}
	bench_close(&b);
}

/*
 * Of two kernels that are known one ends and comes again. A decision is late behind a sample alone:
 * this one comes at once, and both have what they had, four CTAs of each SM.
 */
static void who_is_known_does_not_wait(void **state)
{
	struct gpu_bench b;
	size_t kernels;
	uint64_t comes = 0;

	open_bench(&b, "", 1);
	b.spec.slicer_delay = 4000;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 2500, 100);
	launch(&b, 2, 1, 600, 100);
	launch(&b, 2, 2, 300, 100);
	gpu_session_finish(b.session);
	for (unsigned int c = 0; c < 600; c++)
		comes = MAX(comes, ((const struct mark *)(b.memory + PLACE))[c].end);
	assert_int_equal(decided_at(&b, 0, &kernels), 16000);
	assert_in_range(decided_at(&b, 1, &kernels), comes, comes + 500);
	assert_int_equal(kernels, 2);
	assert_int_equal(share(&b, 0, 0), 4);
	assert_int_equal(share(&b, 1, 0), 4);
	for (unsigned int sm = 0; sm < 4; sm++) {
		assert_true(begun(&b, 0, 2500, sm, comes, comes + 4000) > 0);
		assert_int_equal(most(&b, 0, 2500, sm, comes, comes + 4000), 4);
		assert_int_equal(most(&b, 2, 300, sm, comes, comes + 4000), 4);
	}
	bench_close(&b);
}

/*
 * A kernel with few CTAs is sampled on as many SMs as it has CTAs. One CTA is all that it is ever
 * given, and the other kernel has the rest.
 */
static void a_kernel_of_one_cta(void **state)
{
	struct gpu_bench b;

	open_bench(&b, "", 1);
	launch(&b, 1, 0, 1, 3000);
	launch(&b, 2, 1, 2000, 100);
	gpu_session_finish(b.session);
	assert_int_equal(share(&b, 0, 0), 1);
	assert_int_equal(share(&b, 0, 1), 7);
	all_ran(&b, 0, 1);
	all_ran(&b, 1, 2000);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_scaled),
		cmocka_unit_test(samples_are_put_off),
		cmocka_unit_test(samples_of_whole_ctas),
		cmocka_unit_test(a_sample_outlasts_launches),
		cmocka_unit_test(launches_end_a_sample_together),
		cmocka_unit_test(who_is_known_has_what_fits),
		cmocka_unit_test(decision_is_late),
		cmocka_unit_test(who_is_known_does_not_wait),
		cmocka_unit_test(a_kernel_of_one_cta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
