// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch dynamic: when it samples and decides, and what is known of a kernel when it comes again.
 * What a sample is worth is in test_gpu_sampling.c, who comes and goes in test_gpu_arrivals.c.
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
 * As loop, but in the 1000 cycles from 30000 on it loads instead, one load behind the other, and
 * with n = 101 in the 4000 from 50000 on: its IPC is next to nothing.
 */
#define PTX_DIPS							\
	".visible .entry dips(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<5>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<4>;\n"	\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"and.b32 %r10, %r2, 1;\nmul.lo.s32 %r10, %r10, 4000;\n"	\
	"AGAIN:\nmov.u32 %r6, %clock;\n"				\
	"sub.u32 %r7, %r6, 30000;\nsub.u32 %r8, %r6, 50000;\n"	\
	"setp.lt.u32 %p2, %r7, 1000;\nsetp.lt.u32 %p3, %r8, %r10;\nor.pred %p2, %p2, %p3;\n" \
	"@!%p2 bra ON;\nld.volatile.global.u32 %r7, [%rd1+12];\n"	\
	"add.s32 %r7, %r7, %r6;\nst.volatile.global.u32 [%rd1+12], %r7;\nbra.uni AGAIN;\n" \
	"ON:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
	"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

/*
 * Each kernel has two SMs and eight counts: four rounds. Up to cycle 3000 its first SM holds one
 * CTA and its second two; in the next rounds three and four, five and six, seven and eight.
 * At 4 * (2000 + 1000) cycles water-filling finds two equal kernels and eight slots.
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
						      3000 * round, 3000 + 3000 * round),
						 1 + i + 2 * round);
			assert_int_equal(most(&b, k, 1000, foreign, 0, 12000), 0);
			/* What was there is gone soon. */
			assert_int_equal(most(&b, k, 1000, own, 18000, 26000), 4);
			assert_int_equal(most(&b, k, 1000, foreign, 12000, 26000), 4);
		}
	}
	list = partitions(&b, &all);
	first = json_object_array_get_idx(list, 0);
	assert_int_equal(number(first, "cycle"), 12000);
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
		assert_int_equal(number(last, "cycle"), again + (reuse ? 0 : 12000));
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
		assert_int_equal(most(&b, sm / 2, 1000, sm, 14000, 18000), 8);
		assert_int_equal(most(&b, !(sm / 2), 1000, sm, 0, 18000), 0);
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

/*
 * A known kernel, and one whose pages arrive as the warm-up ends: nobody is sampled, and the
 * partition comes at once, whatever slicer.delay says.
 */
static void no_sample_no_delay(void **state)
{
	struct gpu_bench b;
	unsigned int before;
	uint64_t comes;
	size_t kernels;

	open_bench(&b, PTX_FAR PTX_CHANGES, 1);
	b.spec.paging = 1;
	b.spec.slicer_delay = 4000;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	/* Its marks' pages are there. */
	launch(&b, 1, 0, 1000, 1);
	launch(&b, 2, 1, 1000, 1);
	gpu_session_finish(b.session);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	before = (unsigned int)decided(&b);
	assert_true(before > 0);
	comes = b.session->now;
	launch(&b, 1, 0, 1000, 100);
	launch_as(&b, 2, "far", 2, 200, 0);
	gpu_session_finish(b.session);
	assert_int_equal(decided_at(&b, before, &kernels), comes + 2000);
	bench_close(&b);
}

/*
 * The second kernel's IPC falls as its 400th CTA comes: two samples later it is sampled anew, on
 * SMs of its own, from which the first kernel is held back; what the first kernel is does not
 * change. So it is where the SMs were split. Without slicer.change, and of a kernel that goes on as
 * it was, nobody is sampled twice.
 */
static void a_change_is_sampled(void **state)
{
	static const struct {
		const char *second;
		uint64_t change, loss;
		bool sampled;
	} cases[] = {
		{ "changes", 50, 120, true }, { "changes", 50, 10, true },
		{ "changes", 0, 120, false }, { "other", 50, 120, false }, { "other", 50, 10, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct json_object *all, *list, *last;
		struct gpu_bench b;
		uint64_t at, slow;

		open_bench(&b, PTX_FAR PTX_CHANGES, 1);
		b.spec.slicer_change = cases[i].change;
		b.spec.slicer_loss = cases[i].loss;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 3000, 100);
		launch_as(&b, 2, cases[i].second, 1, 1500, 100);
		gpu_session_finish(b.session);
		list = partitions(&b, &all);
		assert_int_equal(share(&b, 0, 0) > 0, cases[i].loss > 100);
		if (!cases[i].sampled) {
			assert_int_equal(json_object_array_length(list), 1);
			json_object_put(all);
			bench_close(&b);
			continue;
		}
		assert_true(json_object_array_length(list) >= 2);
		last = json_object_array_get_idx(list, 1);
		at = number(last, "cycle");
		slow = ((const struct mark *)(b.memory + PLACE))[400].begin;
		/* Some samples until two are off, then four rounds. */
		assert_in_range(at, slow + 2000 + 12000, slow + 6000 + 12000);
		for (unsigned int sm = 0; sm < 4; sm++) {
			/* Spatial's places: the first kernel has SMs 0 and 1. */
			assert_int_equal(begun(&b, 0, 3000, sm, at - 4000, at) > 0, sm < 2);
			assert_int_equal(begun(&b, 1, 1500, sm, at - 4000, at) > 0, sm >= 2);
		}
		json_object_put(all);
		bench_close(&b);
	}
}

/* The longest time between decisions from this cycle on, and the first one behind it. */
static uint64_t longest_gap(struct gpu_bench *b, uint64_t from, uint64_t *until)
{
	struct json_object *all, *list = partitions(b, &all);
	uint64_t last = NEVER, gap = 0;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		uint64_t at = number(json_object_array_get_idx(list, i), "cycle");

		if (last >= from && last != NEVER && at - last > gap) {
			gap = at - last;
			*until = at;
		}
		last = at;
	}
	json_object_put(all);
	return gap;
}

/*
 * The same beside a program whose launches are shorter than a sample: the long kernel's watch goes
 * on from one to the next. Each launch is followed by a partition, and while the long kernel is
 * sampled, in four rounds, there is none.
 */
static void a_change_is_seen_beside_short_launches(void **state)
{
	for (unsigned int changes = 0; changes < 2; changes++) {
		uint64_t gap, until = 0, slow;
		struct gpu_bench b;

		open_bench(&b, PTX_FAR PTX_CHANGES, 1);
		b.spec.slicer_change = 50;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch_as(&b, 1, changes ? "changes" : "loop", 0, 800, 100);
		for (unsigned int l = 0; l < 60; l++)
			launch(&b, 2, 1, l ? 16 : 300, l ? 10 : 100);
		gpu_session_finish(b.session);
		slow = ((const struct mark *)b.memory)[400].begin;
		gap = longest_gap(&b, slow, &until);
		if (changes)
			/* Some samples until two are off, then the rounds. */
			assert_in_range(until, slow + 2000 + 12000, slow + 6000 + 12000);
		assert_in_range(gap, changes ? 10000 : 1, changes ? 13000 : 1000);
		bench_close(&b);
	}
}

/*
 * Two known kernels of the second program take turns: one takes a warp of an SM, the other six. So
 * the first program's share changes with each launch and its IPC with that, which is no change.
 */
static void another_share_is_no_change(void **state)
{
	enum { LAUNCHES = 6 };
	struct gpu_bench b;

	open_bench(&b, PTX_FAR PTX_CHANGES, 1);
	b.spec.warps = 8;
	b.spec.slicer_loss = 200;
	b.spec.slicer_change = 30;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 4000, 20);
	for (unsigned int l = 0; l < LAUNCHES; l++)
		launch_of(&b, 2, "other", 1 + l, l % 2 ? 120 : 500, l % 2 ? 6 * 32 : 32, 20);
	gpu_session_finish(b.session);
	/* A partition for each launch, and none for a change. */
	assert_int_equal(decided(&b), LAUNCHES);
	for (unsigned int l = 0; l < LAUNCHES; l++) {
		assert_int_equal(share(&b, l, 0), l % 2 ? 2 : 4);
		assert_int_equal(share(&b, l, 1), l % 2 ? 1 : 4);
	}
	bench_close(&b);
}

/* A change that is over before two samples are is none; one that lasts for four samples is. */
static void a_dip_is_no_change(void **state)
{
	for (unsigned int lasts = 0; lasts < 2; lasts++) {
		struct gpu_bench b;
		size_t kernels;

		open_bench(&b, PTX_DIPS, 1);
		b.spec.slicer_change = 50;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 4000, 100);
		launch_as(&b, 2, "dips", 1, 1500, 100 + lasts);
		gpu_session_finish(b.session);
		/* It ran in all that time. */
		assert_true(begun(&b, 1, 1500, 0, 60000, NEVER) > 0);
		assert_true(decided_at(&b, 0, &kernels) < 25000);
		if (lasts)
			assert_in_range(decided_at(&b, 1, &kernels), 52000 + 12000, 54000 + 13000);
		else
			assert_int_equal(decided(&b), 1);
		bench_close(&b);
	}
}

/*
 * One of three kernels ends. The two that stay are known, and share at once; without
 * slicer.reuse they are sampled again, in four rounds.
 */
static void who_stays_is_sampled_again(void **state)
{
	for (uint64_t reuse = 0; reuse < 2; reuse++) {
		struct gpu_bench b;
		uint64_t at, ends = 0;
		size_t kernels;

		open_bench(&b, "", reuse);
		b.spec.slicer_loss = 400;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
		launch(&b, 1, 0, 2500, 100);
		launch(&b, 2, 1, 2500, 100);
		launch(&b, 3, 2, 300, 100);
		gpu_session_finish(b.session);
		for (unsigned int c = 0; c < 300; c++)
			ends = MAX(ends, ((const struct mark *)(b.memory + 2 * PLACE))[c].end);
		decided_at(&b, 0, &kernels);
		assert_int_equal(kernels, 3);
		at = decided_at(&b, 1, &kernels);
		assert_int_equal(kernels, 2);
		if (reuse)
			assert_in_range(at, ends, ends + 1000);
		else
			assert_in_range(at, ends + 12000, ends + 12000 + 17000);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_then_shares),
		cmocka_unit_test(profiles_are_kept),
		cmocka_unit_test(falls_back_on_spatial),
		cmocka_unit_test(far_faults_are_no_profile),
		cmocka_unit_test(no_sample_no_delay),
		cmocka_unit_test(a_change_is_sampled),
		cmocka_unit_test(a_change_is_seen_beside_short_launches),
		cmocka_unit_test(another_share_is_no_change),
		cmocka_unit_test(a_dip_is_no_change),
		cmocka_unit_test(who_stays_is_sampled_again),
		cmocka_unit_test(shares_count_resident_ctas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
