// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch dynamic: when it samples and decides, who comes and goes meanwhile, and what is known of
 * a kernel when it comes again. What a sample is worth is in test_gpu_sampling.c.
 */
#include "gpu_dynamic.h"

/* Each CTA reads a page of its own. */
#define PTX_FAR								\
	".visible .entry far(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"			\
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r1, 4096;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"ld.global.u32 %r2, [%rd1];\nadd.s32 %r2, %r2, 1;\n"		\
	"st.global.u32 [%rd1], %r2;\nret;\n}\n"

/*
 * As loop, but CTAs from the 400th on load in their loop: their IPC is a fraction of that of
 * those before.
 */
#define PTX_CHANGES							\
	".visible .entry changes(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<3>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\n"	\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"setp.lt.u32 %p2, %r4, 400;\n@%p2 bra AGAIN;\nshr.u32 %r2, %r2, 3;\n" \
	"SLOW:\nld.volatile.global.u32 %r7, [%rd1+12];\nadd.s32 %r3, %r3, 1;\n" \
	"add.s32 %r3, %r3, %r7;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra SLOW;\nbra.uni DONE;\n" \
	"AGAIN:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
	"DONE:\nmov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"		\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

/*
 * Each kernel has two SMs and eight counts: four rounds. Up to cycle 3000 its first SM holds one
 * CTA and its second two; in the next samples three and four, five and six, seven and eight.
 * At 2000 + 4 * 1000 cycles water-filling finds two equal kernels and eight slots.
 */
static void samples_then_shares(void **state)
{
	struct json_object *all, *list, *first;
	struct gpu_bench b;

	open_bench(&b, PTX_FAR PTX_CHANGES, 1);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	for (unsigned int k = 0; k < 2; k++) {
		for (unsigned int i = 0; i < 2; i++) {
			unsigned int own = 2 * k + i, foreign = 2 * !k + i;

			for (unsigned int round = 0; round < 4; round++)
				assert_int_equal(most(&b, k, 1000, own,
						      round ? 2000 + 1000 * round : 0,
						      3000 + 1000 * round), 1 + i + 2 * round);
			assert_int_equal(most(&b, k, 1000, foreign, 0, 6000), 0);
			/* What was there is gone soon. */
			assert_int_equal(most(&b, k, 1000, own, 12000, 20000), 4);
			assert_int_equal(most(&b, k, 1000, foreign, 6000, 20000), 4);
		}
	}
	list = partitions(&b, &all);
	first = json_object_array_get_idx(list, 0);
	assert_int_equal(number(first, "cycle"), 6000);
	assert_int_equal(number(first, "shared"), 1);
	assert_int_equal(number(kernel_of(first, 0), "ctas"), 4);
	assert_int_equal(number(kernel_of(first, 1), "ctas"), 4);
	json_object_put(all);
	bench_close(&b);
}

/* Known kernels share SMs from the cycle on in which the second arrives; unknown ones never so. */
static void profiles_are_kept(void **state)
{
	for (uint64_t reuse = 0; reuse < 2; reuse++) {
		struct json_object *all, *list, *last;
		struct gpu_bench b;
		uint64_t again;

		open_bench(&b, PTX_FAR PTX_CHANGES, reuse);
		launch(&b, 1, 0, 600, 100);
		launch(&b, 2, 1, 600, 100);
		gpu_session_finish(b.session);
		again = b.session->now;
		launch(&b, 1, 0, 600, 100);
		launch(&b, 2, 1, 600, 100);
		gpu_session_finish(b.session);
		list = partitions(&b, &all);
		assert_int_equal(json_object_array_length(list), 2);
		last = json_object_array_get_idx(list, 1);
		assert_int_equal(number(last, "cycle"), again + (reuse ? 0 : 6000));
		json_object_put(all);
		bench_close(&b);
	}
}

/* No loss at all is allowed, and each has half of its best: the SMs are split. */
static void falls_back_on_spatial(void **state)
{
	struct json_object *all, *list, *first;
	struct gpu_bench b;

	open_bench(&b, PTX_FAR PTX_CHANGES, 1);
	b.spec.slicer_loss = 10;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	for (unsigned int sm = 0; sm < 4; sm++) {
		assert_int_equal(most(&b, sm / 2, 1000, sm, 8000, 12000), 8);
		assert_int_equal(most(&b, !(sm / 2), 1000, sm, 0, 12000), 0);
	}
	list = partitions(&b, &all);
	first = json_object_array_get_idx(list, 0);
	assert_int_equal(number(first, "shared"), 0);
	json_object_put(all);
	bench_close(&b);
}

/*
 * One kernel computes, the other waits for pages. As the paper has it, its samples say that CTAs
 * bring it nothing, and it gets one. With slicer.faults it is not sampled, and gets its share.
 */
static void far_faults_are_no_profile(void **state)
{
	for (uint64_t faults = 0; faults < 2; faults++) {
		struct json_object *all, *first;
		struct gpu_bench b;

		open_bench(&b, PTX_FAR PTX_CHANGES, 1);
		b.spec.paging = 1;
		b.spec.slicer_faults = faults;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		/* Its marks' pages are there. */
		launch(&b, 1, 0, 1000, 1);
		gpu_session_finish(b.session);
		launch(&b, 1, 0, 3000, 100);
		launch_as(&b, 2, "far", 1, 200, 0);
		gpu_session_finish(b.session);
		first = json_object_array_get_idx(partitions(&b, &all), 0);
		assert_int_equal(number(first, "shared"), 1);
		if (faults)
			assert_int_equal(number(kernel_of(first, 1), "ctas"), 4);
		else
			assert_in_range(number(kernel_of(first, 1), "ctas"), 1, 3);
		json_object_put(all);
		bench_close(&b);
	}
}

/* Kernels that come and go while others are sampled, while a partition is reached, and at once. */
static void whoever_comes_gets_his_share(void **state)
{
	/* The third kernel comes in the warm-up, in a sample, while the partition is reached, later. */
	static const uint64_t arrivals[] = { 1000, 2500, 6100, 9000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(arrivals); i++) {
		char *statistics[2];

		for (unsigned int turn = 0; turn < 2; turn++) {
			struct gpu_bench b;

			open_bench(&b, PTX_FAR PTX_CHANGES, 0);
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
 * The second kernel's IPC falls as its 400th CTA comes: two samples later it is sampled anew, on
 * SMs of its own, from which the first kernel is held back; what the first kernel is does not
 * change. Without slicer.change, and of a kernel that goes on as it was, nobody is sampled twice.
 */
static void a_change_is_sampled(void **state)
{
	static const struct {
		const char *second;
		uint64_t change;
	} cases[] = { { "changes", 50 }, { "changes", 0 }, { "other", 50 } };

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct json_object *all, *list, *last;
		struct gpu_bench b;
		uint64_t at, slow;

		open_bench(&b, PTX_FAR PTX_CHANGES, 1);
		b.spec.slicer_change = cases[i].change;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 3000, 100);
		launch_as(&b, 2, cases[i].second, 1, 1500, 100);
		gpu_session_finish(b.session);
		list = partitions(&b, &all);
		if (i) {
			assert_int_equal(json_object_array_length(list), 1);
			json_object_put(all);
			bench_close(&b);
			continue;
		}
		assert_true(json_object_array_length(list) >= 2);
		last = json_object_array_get_idx(list, 1);
		at = number(last, "cycle");
		slow = ((const struct mark *)(b.memory + PLACE))[400].begin;
		/* Some samples until two are off, the warm-up, four rounds. */
		assert_in_range(at, slow + 2000 + 2000 + 4000, slow + 6000 + 2000 + 4000);
		for (unsigned int sm = 0; sm < 4; sm++) {
			/* Spatial's places: the first kernel has SMs 0 and 1. */
			assert_int_equal(begun(&b, 0, 3000, sm, at - 4000, at) > 0, sm < 2);
			assert_int_equal(begun(&b, 1, 1500, sm, at - 4000, at) > 0, sm >= 2);
		}
		json_object_put(all);
		bench_close(&b);
	}
}

/*
 * With Virtual Thread an SM holds more CTAs than have slots. A share counts all that are
 * resident: parked CTAs hold the registers and the shared memory that water-filling shares out.
 */
static void shares_count_resident_ctas(void **state)
{
	struct json_object *all, *first;
	struct gpu_bench b;

	open_bench(&b, PTX_FAR PTX_CHANGES, 1);
	strcpy(b.spec.cta, "vt");
	b.spec.ctas = b.spec.warps = 2;
	b.spec.virtual_ctas = b.spec.virtual_warps = 8;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	first = json_object_array_get_idx(partitions(&b, &all), 0);
	/* More than there are slots. */
	assert_int_equal(number(first, "shared"), 1);
	assert_in_range(number(kernel_of(first, 0), "ctas") + number(kernel_of(first, 1), "ctas"), 3, 8);
	for (unsigned int k = 0; k < 2; k++) {
		const struct mark *m = (void *)(b.memory + k * PLACE);

		for (unsigned int c = 0; c < 1000; c++)
			assert_true(m[c].end > m[c].begin);
		for (unsigned int sm = 0; sm < 4; sm++)
			assert_true(most(&b, k, 1000, sm, 20000, 30000) <=
				    number(kernel_of(first, k), "ctas"));
	}
	json_object_put(all);
	bench_close(&b);
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
		assert_int_equal(gpu_session_delay(b.session, 3, 9000), 0);
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
		assert_int_equal(at, 9000);
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
		cmocka_unit_test(samples_then_shares),
		cmocka_unit_test(profiles_are_kept),
		cmocka_unit_test(falls_back_on_spatial),
		cmocka_unit_test(far_faults_are_no_profile),
		cmocka_unit_test(whoever_comes_gets_his_share),
		cmocka_unit_test(a_change_is_sampled),
		cmocka_unit_test(shares_count_resident_ctas),
		cmocka_unit_test(a_kernel_that_fills_the_sm),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(one_comes_as_another_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
