// SPDX-License-Identifier: GPL-2.0
/*
 * Launches in streams: which begins when, what runs at the same time, who gets
 * the SMs, and what becomes of the others when one fails. Cycles are compared with each
 * other, not with numbers: how long a kernel takes is not this test's.
 */
#include "gpu/output.h"
#include "gpu_bench.h"

/* Each thread counts to n and stores n + its number. */
#define PTX_COUNT							\
	".visible .entry count(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"	\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.param.u64 %rd1, [p];\nld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n" \
	"AGAIN:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra AGAIN;\n" \
	"add.s32 %r7, %r6, %r4;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
	"st.global.u32 [%rd3], %r7;\nret;\n}\n"

/* Counts as well, then traps. */
#define PTX_TRAPS							\
	".visible .entry traps(.param .u64 p, .param .u64 n)\n{\n"	\
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n"				\
	"ld.param.u32 %r5, [n];\nmov.u32 %r6, 0;\n"			\
	"AGAIN:\nadd.s32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r5;\n@%p1 bra AGAIN;\n" \
	"trap;\nret;\n}\n"

#define LAUNCHES	8u

/* What was told of a launch. */
struct told {
	unsigned int order;	/* 1: the first */
	int status;
	struct err err;
};

struct world {
	struct gpu_bench b;
	struct told told[LAUNCHES];
	unsigned int submitted, heard;
};
static struct world *listening;	/* done() gets one launch's told */

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct told *told = ctx;

	assert_int_equal(told->order, 0);
	told->order = ++listening->heard;
	told->status = status;
	told->err = *err;
	free(output);
}

static void make(struct world *w, void (*change)(struct gpu_spec *spec))
{
	memset(w, 0, sizeof(*w));
	listening = w;
	bench_spec(&w->b);
	w->b.spec.paging = 0;
	if (change)
		change(&w->b.spec);
	bench_open(&w->b, PTX_HEAD PTX_COUNT PTX_TRAPS, BENCH_BYTES, NULL);
}

/* The n-th launch's results are in the n-th 64 KiB. */
static uint32_t *results(struct world *w, unsigned int n)
{
	return (uint32_t *)(w->b.memory + 65536 * n);
}

static void submit(struct world *w, const char *kernel, uint32_t stream, uint32_t grid,
		   uint32_t block, uint64_t n)
{
	uint64_t params[2] = { (uintptr_t)results(w, w->submitted), n };
	const struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { grid, 1, 1 }, .block = { block, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};

	assert_true(w->submitted < LAUNCHES);
	assert_int_equal(gpu_session_submit(w->b.session, stream, &l, done,
					    &w->told[w->submitted]), 0);
	w->submitted++;
	/* They were copied. */
	memset(params, 0xff, sizeof(params));
}

static void finish(struct world *w)
{
	gpu_session_finish(w->b.session);
	assert_int_equal(w->heard, w->submitted);
	for (unsigned int i = 0; i < w->submitted; i++)
		assert_int_equal(w->told[i].order, i + 1);
}

static void check_counts(struct world *w, unsigned int launch, uint32_t threads, uint32_t n)
{
	if (w->told[launch].status)
		fail_msg("%s", w->told[launch].err.text);
	for (uint32_t t = 0; t < threads; t++)
		assert_int_equal(results(w, launch)[t], n + t);
}

static uint64_t of_kernel(struct world *w, unsigned int n, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "kernels.%u.%s", n, key);
	return bench_stat(&w->b, path);
}

static uint64_t start_of(struct world *w, unsigned int n)
{
	return of_kernel(w, n, "start");
}

static uint64_t end_of(struct world *w, unsigned int n)
{
	return start_of(w, n) + of_kernel(w, n, "cycles");
}

/* --- order ------------------------------------------------------------------------------- */

static void test_two_streams_overlap(void **state)
{
	uint64_t alone, both;
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 2000);
	finish(&w);
	check_counts(&w, 0, 256, 2000);
	alone = of_kernel(&w, 0, "cycles");
	bench_close(&w.b);

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 2000);
	submit(&w, "count", 2, 5, 96, 1000);
	finish(&w);
	check_counts(&w, 0, 256, 2000);
	check_counts(&w, 1, 480, 1000);
	both = bench_stat(&w.b, "totals.cycles");
	/* They are on different SMs: together they take no longer than the longer one, but for its misses. */
	assert_in_range(both, alone, alone + alone / 20);
	assert_int_equal(start_of(&w, 0), 0);
	assert_int_equal(start_of(&w, 1), 0);
	assert_true(end_of(&w, 1) < end_of(&w, 0));
	assert_int_equal(of_kernel(&w, 0, "stream"), 1);
	assert_int_equal(of_kernel(&w, 1, "stream"), 2);
	/*
	 * Each kernel's own instructions: 7 before the loop, 3 a round, 5 behind it, for 8 and for
	 * 15 warps; the cycles in which they issued are their own as well.
	 */
	assert_int_equal(of_kernel(&w, 0, "warp_instructions"), 8 * (7 + 3 * 2000 + 5));
	assert_int_equal(of_kernel(&w, 1, "warp_instructions"), 15 * (7 + 3 * 1000 + 5));
	assert_int_equal(bench_stat(&w.b, "totals.warp_instructions"),
			 8 * (7 + 3 * 2000 + 5) + 15 * (7 + 3 * 1000 + 5));
	assert_int_equal(of_kernel(&w, 0, "stalls.issued"), 8 * (7 + 3 * 2000 + 5));
	assert_int_equal(of_kernel(&w, 1, "stalls.issued"), 15 * (7 + 3 * 1000 + 5));
	bench_close(&w.b);
}

static void test_one_stream_is_in_order(void **state)
{
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 2, 64, 500);
	submit(&w, "count", 1, 2, 64, 100);
	submit(&w, "count", 2, 2, 64, 50);
	submit(&w, "count", 1, 2, 64, 10);
	finish(&w);
	for (unsigned int i = 0; i < 4; i++)
		check_counts(&w, i, 128, (uint32_t[]){ 500, 100, 50, 10 }[i]);
	assert_int_equal(start_of(&w, 2), 0);
	assert_true(start_of(&w, 1) >= end_of(&w, 0));
	assert_true(start_of(&w, 3) >= end_of(&w, 1));
	bench_close(&w.b);
}

static void test_the_default_stream_is_between_all(void **state)
{
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 2, 64, 300);
	submit(&w, "count", 2, 2, 64, 600);
	submit(&w, "count", 0, 2, 64, 100);
	submit(&w, "count", 3, 2, 64, 50);
	submit(&w, "count", 1, 2, 64, 50);
	finish(&w);
	assert_int_equal(start_of(&w, 0), 0);
	assert_int_equal(start_of(&w, 1), 0);
	assert_true(start_of(&w, 2) >= end_of(&w, 0));
	assert_true(start_of(&w, 2) >= end_of(&w, 1));
	assert_true(start_of(&w, 3) >= end_of(&w, 2));
	assert_int_equal(start_of(&w, 3), start_of(&w, 4));
	bench_close(&w.b);
}

static void one_at_a_time(struct gpu_spec *spec)
{
	spec->concurrent_kernels = 1;
}

static void two_at_a_time(struct gpu_spec *spec)
{
	spec->concurrent_kernels = 2;
}

static void test_concurrent_kernels(void **state)
{
	struct world w;

	make(&w, one_at_a_time);
	for (uint32_t i = 0; i < 3; i++)
		submit(&w, "count", i + 1, 1, 32, 300);
	finish(&w);
	assert_true(start_of(&w, 1) >= end_of(&w, 0));
	assert_true(start_of(&w, 2) >= end_of(&w, 1));
	bench_close(&w.b);

	make(&w, two_at_a_time);
	submit(&w, "count", 1, 1, 32, 300);
	submit(&w, "count", 2, 1, 32, 100);
	submit(&w, "count", 3, 1, 32, 100);
	finish(&w);
	assert_int_equal(start_of(&w, 1), 0);
	/* The third begins when the second has made room for it. */
	assert_int_equal(start_of(&w, 2), end_of(&w, 1));
	assert_true(start_of(&w, 2) < end_of(&w, 0));
	bench_close(&w.b);
}

/* --- who gets the SMs ----------------------------------------------------------------------- */

static void one_sm(struct gpu_spec *spec)
{
	spec->sms = 1;
}

static void one_mixed_sm(struct gpu_spec *spec)
{
	spec->sms = 1;
	spec->mixed_sms = 1;
}

static void test_left_over(void **state)
{
	uint64_t apart, mixed;
	struct world w;

	/* 3 CTAs leave room for 5 more, if it may be used. */
	make(&w, one_sm);
	submit(&w, "count", 1, 3, 64, 500);
	submit(&w, "count", 2, 3, 64, 500);
	finish(&w);
	check_counts(&w, 0, 192, 500);
	check_counts(&w, 1, 192, 500);
	apart = bench_stat(&w.b, "totals.cycles");
	assert_true(of_kernel(&w, 1, "cycles") > 2 * of_kernel(&w, 0, "cycles") * 9 / 10);
	bench_close(&w.b);

	make(&w, one_mixed_sm);
	submit(&w, "count", 1, 3, 64, 500);
	submit(&w, "count", 2, 3, 64, 500);
	finish(&w);
	check_counts(&w, 0, 192, 500);
	check_counts(&w, 1, 192, 500);
	mixed = bench_stat(&w.b, "totals.cycles");
	assert_true(mixed < apart * 9 / 10);
	bench_close(&w.b);

	/* 8 CTAs leave none: the second kernel gets what retires, when the first has had all of its. */
	make(&w, one_mixed_sm);
	submit(&w, "count", 1, 16, 32, 500);
	submit(&w, "count", 2, 1, 32, 10);
	finish(&w);
	check_counts(&w, 0, 512, 500);
	check_counts(&w, 1, 32, 10);
	assert_true(end_of(&w, 1) > end_of(&w, 0) / 2);
	bench_close(&w.b);
}

/* --- errors ------------------------------------------------------------------------------------ */

static void test_who_runs_with_one_that_fails(void **state)
{
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 2, 64, 5000);
	submit(&w, "traps", 2, 2, 64, 100);
	submit(&w, "count", 2, 2, 64, 30);
	submit(&w, "nothing", 1, 1, 1, 0);
	submit(&w, "count", 1, 2, 64, 20);
	finish(&w);
	assert_int_equal(w.told[0].status, -ECANCELED);
	assert_non_null(strstr(w.told[0].err.text,
			       "'count': ended with kernel 'traps', which ran at the same time"));
	assert_int_equal(w.told[1].status, -ECANCELED);
	assert_non_null(strstr(w.told[1].err.text, "trap"));
	/* Those behind them run. */
	check_counts(&w, 2, 128, 30);
	assert_int_equal(w.told[3].status, -ENOENT);
	check_counts(&w, 4, 128, 20);
	/* A launch that failed is not listed. */
	assert_int_equal(of_kernel(&w, 0, "stream"), 2);
	assert_int_equal(of_kernel(&w, 1, "stream"), 1);
	bench_close(&w.b);
}

static void small_watchdog(struct gpu_spec *spec)
{
	spec->watchdog = 10000;
}

static void test_the_watchdog_is_a_launchs(void **state)
{
	struct world w;

	make(&w, small_watchdog);
	/* Three of 6000 and something each are not too many; the last one is alone. */
	for (uint32_t i = 0; i < 3; i++)
		submit(&w, "count", i + 1, 1, 32, 2000);
	submit(&w, "count", 0, 1, 32, 4000);
	finish(&w);
	for (unsigned int i = 0; i < 3; i++)
		check_counts(&w, i, 32, 2000);
	assert_int_equal(w.told[3].status, -ETIMEDOUT);
	assert_non_null(strstr(w.told[3].err.text, "gpu.watchdog after 10000"));
	bench_close(&w.b);
}

/* --- waiting for one stream ---------------------------------------------------------------------- */

static void wait_for(struct world *w, uint32_t stream)
{
	const struct gpu_until until = { .streams = &stream, .nstreams = 1 };

	assert_true(gpu_session_go_until(w->b.session, &until, NULL, NULL));
	assert_true(gpu_session_idle(w->b.session, stream));
}

/*
 * A host that waits for its stream and launches again, beside a kernel that lasts: as if all had
 * been in the queue from the start.
 */
static void test_a_wait_leaves_the_others(void **state)
{
	uint64_t starts[4], ends[4];
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 3000);
	submit(&w, "count", 2, 2, 64, 300);
	submit(&w, "count", 2, 2, 64, 200);
	submit(&w, "count", 2, 2, 64, 100);
	finish(&w);
	for (unsigned int i = 0; i < 4; i++) {
		starts[i] = start_of(&w, i);
		ends[i] = end_of(&w, i);
	}
	assert_true(ends[3] < ends[0]);
	bench_close(&w.b);

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 3000);
	for (unsigned int i = 1; i < 4; i++) {
		submit(&w, "count", 2, 2, 64, 400 - 100 * i);
		wait_for(&w, 2);
		/* It was told, and the other was not: that still runs. */
		check_counts(&w, i, 128, 400 - 100 * i);
		assert_int_equal(w.told[0].order, 0);
		assert_false(gpu_session_idle(w.b.session, 1));
		assert_int_equal(gpu_session_queued(w.b.session), 1);
		assert_int_equal(gpu_session_now(w.b.session), ends[i]);
	}
	gpu_session_finish(w.b.session);
	check_counts(&w, 0, 256, 3000);
	/* In the order in which they were told. */
	assert_int_equal(start_of(&w, 3), starts[0]);
	assert_int_equal(end_of(&w, 3), ends[0]);
	for (unsigned int i = 1; i < 4; i++)
		assert_int_equal(start_of(&w, i - 1), starts[i]);
	bench_close(&w.b);
}

static void test_any_of_several(void **state)
{
	const struct gpu_until until = { .streams = (const uint32_t[]){ 1, 2, 3 }, .nstreams = 3 };
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 1, 32, 900);
	submit(&w, "count", 2, 1, 32, 100);
	submit(&w, "count", 3, 1, 32, 500);
	assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
	assert_int_equal(w.heard, 1);
	assert_true(gpu_session_idle(w.b.session, 2));
	/* It still is: no time passes. */
	assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
	assert_int_equal(w.heard, 1);
	submit(&w, "count", 2, 1, 32, 100000);
	assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
	assert_true(gpu_session_idle(w.b.session, 3));
	assert_false(gpu_session_idle(w.b.session, 1));
	assert_false(gpu_session_idle(w.b.session, 2));
	gpu_session_finish(w.b.session);
	bench_close(&w.b);
}

/*
 * Where it comes back changes nothing, however often; but that a kernel which ends beside others
 * does so where it is looked at.
 */
static void test_cycles_at_a_time(void **state)
{
	const struct gpu_until until = { .cycles = 7 };
	uint64_t cycles, hits, misses, end;
	unsigned int times = 0;
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 200);
	submit(&w, "count", 2, 4, 64, 300);
	finish(&w);
	cycles = bench_stat(&w.b, "totals.cycles");
	hits = bench_stat(&w.b, "memory.l1i.accesses");
	misses = bench_stat(&w.b, "memory.l1i.misses");
	end = end_of(&w, 0);
	bench_close(&w.b);
	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, 200);
	submit(&w, "count", 2, 4, 64, 300);
	while (gpu_session_queued(w.b.session)) {
		uint64_t now = gpu_session_now(w.b.session);

		assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
		if (gpu_session_queued(w.b.session))
			assert_int_equal(gpu_session_now(w.b.session), now + 7);
		times++;
	}
	assert_true(times > 100);
	assert_int_equal(bench_stat(&w.b, "totals.cycles"), cycles);
	assert_int_equal(bench_stat(&w.b, "memory.l1i.accesses"), hits);
	assert_int_equal(bench_stat(&w.b, "memory.l1i.misses"), misses);
	assert_int_equal(end_of(&w, 1), cycles);
	assert_in_range(end_of(&w, 0), end - 20, end + 20);
	bench_close(&w.b);
}

static void test_delays(void **state)
{
	struct world w;

	make(&w, NULL);
	assert_int_equal(gpu_session_delay(w.b.session, 2, 4000), 0);
	assert_int_equal(gpu_session_delay(w.b.session, 2, GPU_CYCLE_MAX + 1), -ERANGE);
	submit(&w, "count", 2, 1, 32, 100);
	submit(&w, "count", 1, 1, 32, 2000);
	finish(&w);
	assert_int_equal(start_of(&w, 1), 0);
	/* To the cycle, beside the one that runs. */
	assert_int_equal(start_of(&w, 0), 4000);
	assert_true(end_of(&w, 1) > 4000);
	/* With nothing else time passes at once; what is over is no delay. */
	assert_int_equal(gpu_session_delay(w.b.session, 1, 1000000), 0);
	assert_int_equal(gpu_session_delay(w.b.session, 1, 10), 0);
	submit(&w, "count", 1, 1, 32, 50);
	finish(&w);
	assert_int_equal(start_of(&w, 2), 1000000);
	/* The default stream's holds up all of them. */
	assert_int_equal(gpu_session_delay(w.b.session, 0, 2000000), 0);
	submit(&w, "count", 3, 1, 32, 50);
	finish(&w);
	assert_int_equal(start_of(&w, 3), 2000000);
	bench_close(&w.b);
}

/* --- events ---------------------------------------------------------------------------------------- */

static void reached(void *ctx, int status, uint64_t cycle)
{
	assert_int_equal(status, 0);
	assert_int_equal(*(uint64_t *)ctx, 0);
	*(uint64_t *)ctx = cycle;
}

static void test_events_order_streams(void **state)
{
	uint64_t first = 0, second = 0, none = 0;
	const struct gpu_until until = { .mark = 1 };
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 1, 32, 500);
	assert_int_equal(gpu_session_record(w.b.session, 1, 1, reached, &first), 0);
	submit(&w, "count", 1, 1, 32, 5000);
	/* Behind the first of the other stream, not behind its second. */
	assert_int_equal(gpu_session_await(w.b.session, 2, 1), 0);
	submit(&w, "count", 2, 1, 32, 100);
	/* What was never recorded is not waited for. */
	assert_int_equal(gpu_session_await(w.b.session, 3, 77), 0);
	submit(&w, "count", 3, 1, 32, 100);
	assert_int_equal(gpu_session_record(w.b.session, 3, 2, reached, &second), 0);
	assert_false(gpu_session_recorded(w.b.session, 1));
	assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
	assert_true(gpu_session_recorded(w.b.session, 1));
	assert_int_equal(gpu_session_now(w.b.session), first);
	assert_true(second < first);
	assert_int_equal(w.heard, 2);
	gpu_session_finish(w.b.session);
	assert_int_equal(w.heard, 4);
	/* In the order they were told: 0 and the third stream's, then the rest. */
	assert_int_equal(end_of(&w, 0), first);
	assert_int_equal(start_of(&w, 1), 0);
	assert_int_equal(end_of(&w, 1), second);
	assert_int_equal(start_of(&w, 2), first);
	assert_int_equal(start_of(&w, 3), first);
	assert_true(end_of(&w, 3) < end_of(&w, 2));
	/* With nothing to do it is reached at once. */
	assert_int_equal(gpu_session_record(w.b.session, 1, 3, reached, &none), 0);
	gpu_session_finish(w.b.session);
	assert_int_equal(none, bench_stat(&w.b, "totals.cycles"));
	bench_close(&w.b);
}

/* --- targets ----------------------------------------------------------------------------------------- */

static void test_a_stream_is_halted(void **state)
{
	uint64_t whole, end, target;
	struct world w;

	make(&w, one_mixed_sm);
	submit(&w, "count", 1, 64, 64, 500);
	finish(&w);
	whole = of_kernel(&w, 0, "thread_instructions");
	end = end_of(&w, 0);
	bench_close(&w.b);

	make(&w, one_mixed_sm);
	/* When the third eight of its CTAs are at the middle. */
	target = whole * 5 / 16;
	assert_int_equal(gpu_session_halt_after(w.b.session, 1, target), 0);
	submit(&w, "count", 1, 64, 64, 500);
	submit(&w, "count", 1, 1, 32, 10);
	submit(&w, "count", 2, 8, 64, 500);
	finish(&w);
	assert_int_equal(w.told[0].status, -ECANCELED);
	assert_non_null(strstr(w.told[0].err.text, "was halted after"));
	/* CTAs on the SM executed nothing more: no more than a quantum's instructions are over. */
	assert_in_range(of_kernel(&w, 0, "thread_instructions"), target, target + 32 * 2 * 8);
	assert_in_range(end_of(&w, 0) - of_kernel(&w, 0, "halted_cycle"), 1, 600);
	assert_true(end_of(&w, 0) < end / 2);
	/* Nothing begins behind it, others go on in its place. */
	assert_int_equal(w.told[1].status, -ECANCELED);
	check_counts(&w, 2, 512, 500);
	assert_true(end_of(&w, 1) < end);
	submit(&w, "count", 1, 1, 32, 10);
	finish(&w);
	assert_int_equal(w.told[3].status, -ECANCELED);
	/* A new target counts from now on. */
	assert_int_equal(gpu_session_halt_after(w.b.session, 1, whole), 0);
	submit(&w, "count", 1, 8, 64, 500);
	finish(&w);
	check_counts(&w, 4, 512, 500);
	bench_close(&w.b);
}

/* The same by the clock; a later launch is refused at once, and time does not jump over it. */
static void test_a_stream_is_halted_at_a_cycle(void **state)
{
	uint64_t end;
	struct world w;

	make(&w, one_mixed_sm);
	submit(&w, "count", 1, 64, 64, 500);
	finish(&w);
	end = end_of(&w, 0);
	bench_close(&w.b);

	make(&w, one_mixed_sm);
	assert_int_equal(gpu_session_halt_at(w.b.session, 1, end / 3), 0);
	submit(&w, "count", 1, 64, 64, 500);
	submit(&w, "count", 2, 8, 64, 500);
	finish(&w);
	assert_int_equal(w.told[0].status, -ECANCELED);
	assert_non_null(strstr(w.told[0].err.text, "was halted at cycle"));
	assert_int_equal(of_kernel(&w, 0, "halted_cycle"), end / 3);
	assert_in_range(end_of(&w, 0) - end / 3, 1, 600);
	assert_in_range(of_kernel(&w, 0, "halted_instructions"), 1,
			of_kernel(&w, 0, "thread_instructions"));
	check_counts(&w, 1, 512, 500);
	submit(&w, "count", 1, 1, 32, 10);
	finish(&w);
	assert_int_equal(w.told[2].status, -ECANCELED);
	/* Its cycle is over before it comes. */
	assert_int_equal(gpu_session_halt_at(w.b.session, 3, 1), 0);
	submit(&w, "count", 3, 1, 32, 10);
	finish(&w);
	assert_int_equal(w.told[3].status, -ECANCELED);
	bench_close(&w.b);
}

/* --- prefetches beside kernels ----------------------------------------------------------------- */

static void paged(struct gpu_spec *spec)
{
	spec->paging = 1;
}

static void move(struct world *w, uint32_t stream, size_t from, size_t bytes, bool home)
{
	assert_true(w->submitted < LAUNCHES);
	assert_int_equal(gpu_session_move(w->b.session, stream, (uintptr_t)w->b.memory + from,
					  bytes, home, done, &w->told[w->submitted]), 0);
	w->submitted++;
}

/* How long a prefetch takes that has the GPU for itself. */
static uint64_t move_alone(size_t from, size_t bytes)
{
	struct world w;
	uint64_t cycles;

	make(&w, paged);
	move(&w, 0, from, bytes, false);
	finish(&w);
	assert_int_equal(w.told[0].status, 0);
	cycles = bench_stat(&w.b, "totals.cycles");
	bench_close(&w.b);
	return cycles;
}

static void test_a_prefetch_overlaps(void **state)
{
	uint64_t copy = move_alone(65536, 65536), kernel, both;
	struct world w;

	make(&w, paged);
	submit(&w, "count", 1, 1, 32, 20000);
	finish(&w);
	kernel = bench_stat(&w.b, "totals.cycles");
	bench_close(&w.b);
	assert_true(copy > 1000 && copy < kernel);

	/* Beside the kernel it takes no time of its own. */
	make(&w, paged);
	submit(&w, "count", 1, 1, 32, 20000);
	move(&w, 2, 65536, 65536, false);
	wait_for(&w, 2);
	assert_in_range(gpu_session_now(w.b.session), copy - 1, copy + 5000);
	assert_int_equal(w.told[0].order, 0);
	gpu_session_finish(w.b.session);
	assert_int_equal(w.told[1].status, 0);
	both = bench_stat(&w.b, "totals.cycles");
	assert_true(both < kernel + copy / 2);
	assert_int_equal(bench_stat(&w.b, "paging.prefetched_pages"), 16);
	assert_int_equal(bench_stat(&w.b, "paging.far_faults"), 1);
	bench_close(&w.b);

	/* What is behind it in its stream waits for it, and finds its pages. */
	make(&w, paged);
	move(&w, 2, 65536, 65536, false);
	submit(&w, "count", 2, 1, 32, 10);
	submit(&w, "count", 1, 1, 32, 20000);
	finish(&w);
	check_counts(&w, 1, 32, 10);
	assert_in_range(start_of(&w, 0), copy - 1, copy + 5000);
	assert_int_equal(start_of(&w, 1), 0);
	assert_int_equal(bench_stat(&w.b, "paging.far_faults"), 1);
	/* Home, while nothing runs: time passes. */
	both = bench_stat(&w.b, "totals.cycles");
	move(&w, 1, 65536, 65536, true);
	finish(&w);
	assert_int_equal(w.told[3].status, 0);
	assert_true(bench_stat(&w.b, "totals.cycles") > both);
	assert_int_equal(bench_stat(&w.b, "paging.d2h_bytes"), 65536);
	/* With nothing to move it ends at once. */
	both = bench_stat(&w.b, "totals.cycles");
	move(&w, 1, 65536, 65536, true);
	finish(&w);
	assert_int_equal(bench_stat(&w.b, "totals.cycles"), both);
	bench_close(&w.b);
}

static void test_a_prefetch_of_nothing_managed(void **state)
{
	struct world w;

	make(&w, paged);
	submit(&w, "count", 1, 1, 32, 2000);
	assert_int_equal(gpu_session_move(w.b.session, 2, 0x1000, 4096, false, done, &w.told[1]),
			 0);
	w.submitted++;
	finish(&w);
	assert_int_equal(w.told[1].status, -EFAULT);
	assert_non_null(strstr(w.told[1].err.text, "no managed memory"));
	check_counts(&w, 0, 32, 2000);
	bench_close(&w.b);
}

/* --- what makes a queue move --------------------------------------------------------------------- */

static void test_nothing_is_left_behind(void **state)
{
	struct world w;

	/* A launch at once is behind what was queued. */
	make(&w, NULL);
	submit(&w, "count", 1, 1, 32, 40);
	assert_int_equal(bench_launch(&w.b, "count", 1, 32,
				      (uint64_t[]){ (uintptr_t)results(&w, 5), 7 }, 16, NULL), 0);
	assert_int_equal(w.heard, 1);
	assert_true(start_of(&w, 1) >= end_of(&w, 0));
	/* Statistics, a configuration, the module's end. */
	submit(&w, "count", 1, 1, 32, 41);
	assert_int_equal(of_kernel(&w, 2, "stream"), 1);
	submit(&w, "count", 1, 1, 32, 42);
	assert_int_equal(gpu_session_configure(w.b.session, &w.b.spec, &w.b.err), 0);
	check_counts(&w, 2, 32, 42);
	submit(&w, "count", 1, 1, 32, 43);
	gpu_session_unload(w.b.session, 1);
	check_counts(&w, 3, 32, 43);
	bench_close(&w.b);
	/* And the session's. */
	make(&w, NULL);
	submit(&w, "count", 1, 1, 32, 44);
	gpu_session_destroy(w.b.session);
	assert_int_equal(w.heard, 1);
	check_counts(&w, 0, 32, 44);
	bench_close(&w.b);
}

static void late(struct gpu_spec *spec)
{
	spec->launch_latency = 5000;
}

static void test_launch_latency(void **state)
{
	uint64_t without;
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 3, 64, 100);
	finish(&w);
	without = of_kernel(&w, 0, "cycles");
	bench_close(&w.b);
	make(&w, late);
	submit(&w, "count", 1, 3, 64, 100);
	finish(&w);
	assert_int_equal(of_kernel(&w, 0, "cycles"), without + 5000);
	/* Nobody is on the SMs meanwhile. */
	assert_true(of_kernel(&w, 0, "stalls.no_warp") > 5000 * 15 * 2);
	bench_close(&w.b);
}

/* Works that run, stand still or have not begun end at once, and are told so. */
static void test_all_is_cancelled(void **state)
{
	const uint32_t third = 3;
	const struct gpu_until until = { .streams = &third, .nstreams = 1 };
	uint32_t busy[4];
	struct world w;

	make(&w, NULL);
	submit(&w, "count", 1, 4, 64, UINT32_MAX);
	submit(&w, "count", 3, 4, 64, 20);
	submit(&w, "count", 1, 4, 64, 20);
	assert_int_equal(gpu_session_delay(w.b.session, 2, 1000000), 0);
	assert_true(gpu_session_go_until(w.b.session, &until, NULL, NULL));
	assert_int_equal(w.told[1].status, 0);
	assert_int_equal(gpu_session_busy(w.b.session, busy, 4), 2);
	assert_int_equal(busy[0], 1);
	assert_int_equal(busy[1], 2);
	assert_int_equal(gpu_session_busy(w.b.session, busy, 1), 1);
	gpu_session_cancel(w.b.session);
	assert_int_equal(w.told[0].status, -ECANCELED);
	assert_int_equal(w.told[2].status, -ECANCELED);
	assert_int_equal(gpu_session_queued(w.b.session), 0);
	assert_int_equal(gpu_session_busy(w.b.session, busy, 4), 0);
	/* The session goes on, and its clock did not jump. */
	assert_true(gpu_session_now(w.b.session) < 100000);
	submit(&w, "count", 1, 4, 64, 30);
	gpu_session_cancel(w.b.session);
	assert_int_equal(w.told[3].status, -ECANCELED);
	submit(&w, "count", 1, 4, 64, 40);
	gpu_session_finish(w.b.session);
	check_counts(&w, 4, 256, 40);
	bench_close(&w.b);
}

/* Text that waits to be told has a bound; telling it makes room. */
static void test_output_of_all(void **state)
{
	char *piece = calloc(1, GPU_OUTPUT_MAX), *text;
	struct output o[4] = { { NULL } };
	size_t all = 0, bytes;

	for (unsigned int i = 0; i < 4; i++) {
		o[i].all = &all;
		output_print(&o[i], piece, GPU_OUTPUT_MAX);
	}
	assert_int_equal(all, GPU_OUTPUT_ALL);
	assert_int_equal(o[2].lost, 0);
	assert_int_equal(o[3].lost, GPU_OUTPUT_MAX);
	text = output_take(&o[0], &bytes);
	assert_int_equal(bytes, GPU_OUTPUT_MAX);
	free(text);
	output_clear(&o[1]);
	assert_int_equal(all, GPU_OUTPUT_MAX);
	output_clear(&o[2]);
	output_clear(&o[3]);
	assert_int_equal(all, 0);
	free(piece);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_streams_overlap),
		cmocka_unit_test(test_one_stream_is_in_order),
		cmocka_unit_test(test_the_default_stream_is_between_all),
		cmocka_unit_test(test_concurrent_kernels),
		cmocka_unit_test(test_left_over),
		cmocka_unit_test(test_who_runs_with_one_that_fails),
		cmocka_unit_test(test_the_watchdog_is_a_launchs),
		cmocka_unit_test(test_a_wait_leaves_the_others),
		cmocka_unit_test(test_any_of_several),
		cmocka_unit_test(test_cycles_at_a_time),
		cmocka_unit_test(test_delays),
		cmocka_unit_test(test_events_order_streams),
		cmocka_unit_test(test_a_stream_is_halted),
		cmocka_unit_test(test_a_stream_is_halted_at_a_cycle),
		cmocka_unit_test(test_a_prefetch_overlaps),
		cmocka_unit_test(test_a_prefetch_of_nothing_managed),
		cmocka_unit_test(test_nothing_is_left_behind),
		cmocka_unit_test(test_launch_latency),
		cmocka_unit_test(test_all_is_cancelled),
		cmocka_unit_test(test_output_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
