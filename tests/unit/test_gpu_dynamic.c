// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch dynamic: the layout while kernels are sampled, the partition that follows, and what
 * is known of a kernel when it comes again. The kernel of these tests adds up in a loop, one
 * warp a CTA: each CTA brings as much as the one before, so two of it share an SM's slots evenly.
 */
#include <json-c/json.h>

#include "gpu/loop.h"
#include "gpu_bench.h"

#define PTX_LOOP							\
	".visible .entry loop(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"	\
	"mov.u32 %r1, %clock;\nld.param.u32 %r2, [n];\nmov.u32 %r3, 0;\n" \
	"AGAIN:\nadd.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra AGAIN;\n" \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r4, %ctaid.x;\n"		\
	"mul.wide.u32 %rd2, %r4, 16;\nadd.s64 %rd1, %rd1, %rd2;\n"	\
	"mov.u32 %r5, %smid;\nmov.u32 %r6, %clock;\n"			\
	"st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r6;\n"	\
	"st.global.u32 [%rd1+8], %r5;\nret;\n}\n"

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

struct mark {
	uint32_t begin, end, sm, pad;
};

#define PLACE	65536u		/* bytes of memory that a launch's marks have */

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%d: %s", status, err->text);
	free(output);
}

static void launch_as(struct gpu_bench *b, uint32_t stream, const char *kernel,
		      unsigned int place, uint32_t ctas, uint64_t n)
{
	uint64_t params[2] = { (uintptr_t)b->memory + place * PLACE, n };
	const struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { ctas, 1, 1 },
		.block = { 32, 1, 1 }, .params = params, .param_bytes = sizeof(params),
	};

	assert_int_equal(gpu_session_submit(b->session, stream, &l, done, NULL), 0);
}

static void launch(struct gpu_bench *b, uint32_t stream, unsigned int place, uint32_t ctas,
		   uint64_t n)
{
	launch_as(b, stream, stream == 1 ? "loop" : "other", place, ctas, n);
}

static void open_bench(struct gpu_bench *b, uint64_t reuse)
{
	static char text[8192];

	/* The same kernel under two names. */
	snprintf(text, sizeof(text), "%s%s%s", PTX_HEAD PTX_FAR PTX_CHANGES PTX_LOOP, ".visible .entry other",
		 strstr(PTX_LOOP, "(.param"));
	bench_spec(b);
	b->spec.paging = 0;
	b->spec.sms = 4;
	strcpy(b->spec.dispatch, "dynamic");
	b->spec.slicer_warmup = 2000;
	b->spec.slicer_sample = 1000;
	b->spec.slicer_change = 0;
	b->spec.slicer_reuse = reuse;
	bench_open_with(b, text);
}

/* The most CTAs of a launch on the SM at a time, as one of them began in [from, to). */
static unsigned int most(const struct gpu_bench *b, unsigned int place, unsigned int ctas,
			 unsigned int sm, uint32_t from, uint32_t to)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	unsigned int most = 0;

	for (unsigned int c = 0; c < ctas; c++) {
		unsigned int n = 0;

		if (m[c].sm != sm || m[c].begin < from || m[c].begin >= to)
			continue;
		for (unsigned int o = 0; o < ctas; o++)
			n += m[o].sm == sm && m[o].begin <= m[c].begin && m[c].begin < m[o].end;
		most = MAX(most, n);
	}
	return most;
}

static struct json_object *partitions(struct gpu_bench *b, struct json_object **all)
{
	char *text = gpu_session_statistics(b->session);
	struct json_object *dispatch, *list;

	*all = json_tokener_parse(text);
	free(text);
	assert_true(json_object_object_get_ex(*all, "dispatch", &dispatch));
	assert_true(json_object_object_get_ex(dispatch, "partitions", &list));
	return list;
}

static uint64_t number(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return json_object_get_uint64(v);
}

static struct json_object *kernel_of(struct json_object *partition, unsigned int i)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(partition, "kernels", &v));
	return json_object_array_get_idx(v, i);
}

/*
 * Each kernel has two SMs and eight counts: four rounds. Up to cycle 3000 its first SM holds one
 * CTA and its second two; in the next samples three and four, five and six, seven and eight.
 * At 2000 + 4 * 1000 cycles water-filling finds two equal kernels and eight slots.
 */
static void samples_then_shares(void **state)
{
	struct json_object *all, *list, *first;
	struct gpu_bench b;

	open_bench(&b, 1);
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

		open_bench(&b, reuse);
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

	open_bench(&b, 1);
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

/* A delay of the decision keeps the last layout. */
static void decision_is_late(void **state)
{
	struct json_object *all, *list;
	struct gpu_bench b;

	open_bench(&b, 1);
	b.spec.slicer_delay = 700;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, NULL), 0);
	launch(&b, 1, 0, 1000, 100);
	launch(&b, 2, 1, 1000, 100);
	gpu_session_finish(b.session);
	list = partitions(&b, &all);
	assert_int_equal(number(json_object_array_get_idx(list, 0), "cycle"), 6700);
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

		open_bench(&b, 1);
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

/* The partition in force when a kernel arrives, or the number of partitions so far. */
static size_t decided(struct gpu_bench *b)
{
	struct json_object *all;
	size_t n = json_object_array_length(partitions(b, &all));

	json_object_put(all);
	return n;
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

			open_bench(&b, 0);
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

/* CTAs of the launch that began on the SM in [from, to). */
static unsigned int begun(const struct gpu_bench *b, unsigned int place, unsigned int ctas,
			  unsigned int sm, uint64_t from, uint64_t to)
{
	const struct mark *m = (const struct mark *)(b->memory + place * PLACE);
	unsigned int n = 0;

	for (unsigned int c = 0; c < ctas; c++)
		n += m[c].sm == sm && m[c].begin >= from && m[c].begin < to;
	return n;
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

		open_bench(&b, 1);
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

	open_bench(&b, 1);
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
		cmocka_unit_test(decision_is_late),
		cmocka_unit_test(far_faults_are_no_profile),
		cmocka_unit_test(whoever_comes_gets_his_share),
		cmocka_unit_test(a_change_is_sampled),
		cmocka_unit_test(shares_count_resident_ctas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
