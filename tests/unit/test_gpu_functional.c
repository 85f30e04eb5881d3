// SPDX-License-Identifier: GPL-2.0
/*
 * Launches without time: results, what the statistics leave out, pages that stay
 * where they are, errors; and kernels that end badly, or never, in both modes.
 */
#include <pthread.h>

#include "gpu_bench.h"
#include "service/sim.h"

static bool has_key(struct gpu_bench *b, const char *key)
{
	char *text = gpu_session_statistics(b->session), quoted[64];
	bool has;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	has = strstr(text, quoted) != NULL;
	free(text);
	return has;
}

/* --- without time ------------------------------------------------------------ */

static void test_functional_computes_the_same(void **state)
{
	static uint8_t timed[64 * 250 * 4];
	struct gpu_bench b;
	uint64_t warp, thread;

	bench_spec(&b);
	bench_open_with(&b, PTX_HEAD PTX_MIX);
	assert_int_equal(bench_launch_one(&b, "mix", 64, 250, (uintptr_t)b.memory), 0);
	memcpy(timed, b.memory, sizeof(timed));
	warp = bench_stat(&b, "kernels.0.warp_instructions");
	thread = bench_stat(&b, "kernels.0.thread_instructions");
	assert_true(has_key(&b, "stalls"));

	b.spec.functional = 1;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	memset(b.memory, 0, BENCH_BYTES);
	assert_int_equal(bench_launch_one(&b, "mix", 64, 250, (uintptr_t)b.memory), 0);
	assert_memory_equal(b.memory, timed, sizeof(timed));
	assert_int_equal(bench_stat(&b, "kernels.0.warp_instructions"), warp);
	assert_int_equal(bench_stat(&b, "kernels.0.thread_instructions"), thread);
	assert_int_equal(bench_stat(&b, "kernels.0.smem"), 4096);
	assert_int_equal(bench_stat(&b, "totals.warp_instructions"), warp);
	for (unsigned int i = 0; i < 7; i++) {
		static const char *const timeless[] = {
			"cycles", "ipc", "stalls", "ctas_per_sm", "memory", "paging", "far_faults",
		};

		if (has_key(&b, timeless[i]))
			fail_msg("%s is in the statistics of a launch without time", timeless[i]);
	}
	bench_close(&b);
}

/* How many CTAs are done, asked by another thread while it runs. */
struct watched {
	const struct gpu_session *session;
	_Atomic bool end;
	unsigned int between;
	uint64_t ctas;
};

static void *watch(void *arg)
{
	struct watched *w = arg;
	uint64_t last = 0;

	while (!w->end) {
		struct gpu_progress p = gpu_session_progress(w->session);

		if (!p.ctas)
			continue;
		w->ctas = p.ctas;
		w->between += p.ctas_done > last && p.ctas_done < p.ctas;
		last = p.ctas_done;
	}
	return NULL;
}

static void test_functional_progress(void **state)
{
	struct watched w = { 0 };
	struct gpu_progress p;
	struct gpu_bench b;
	pthread_t thread;

	bench_spec(&b);
	b.spec.functional = 1;
	bench_open_with(&b, PTX_HEAD PTX_MIX);
	w.session = b.session;
	assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
	for (unsigned int i = 1; i <= 100 && !w.between; i++)
		assert_int_equal(bench_launch_one(&b, "mix", 64, 250, (uintptr_t)b.memory), 0);
	w.end = true;
	pthread_join(thread, NULL);
	assert_int_equal(w.ctas, 64);
	assert_true(w.between > 0);
	p = gpu_session_progress(b.session);
	assert_true(p.launches >= 1 && !p.ctas && !p.ctas_done);
	bench_close(&b);
}

static void test_functional_leaves_pages_where_they_are(void **state)
{
	struct gpu_bench b;

	/* Two pages of device memory, one resident; the kernel uses 60, none of them moves. */
	bench_spec(&b);
	b.spec.vram_bytes = 2 * PAGE_BYTES;
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, PAGE_BYTES,
					      &b.err), 0);
	b.spec.functional = 1;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	for (uint32_t i = 0; i < 60; i++)
		*(uint32_t *)(b.memory + (i + 1) * PAGE_BYTES) = 1000 + i;
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + PAGE_BYTES, (uintptr_t)b.memory,
				      PAGE_BYTES, 1, 60), 0);
	for (uint32_t i = 0; i < 60; i++)
		assert_int_equal(((uint32_t *)b.memory)[i], 1000 + i);
	/* A prefetch is a hint about time. */
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, BENCH_BYTES,
					      &b.err), 0);
	assert_non_null(b.service->ops->walk(b.service, VA_SPACE, (uintptr_t)b.memory));
	assert_null(b.service->ops->walk(b.service, VA_SPACE, (uintptr_t)b.memory + PAGE_BYTES));
	bench_close(&b);
}

static void test_functional_faults(void **state)
{
	struct gpu_bench b;
	uint64_t params[3], fault = 0;

	bench_spec(&b);
	b.spec.functional = 1;
	bench_open_with(&b, PTX_HEAD PTX_GATHER);
	/* Page 255 is the last; lane 4 of warp 7 is the first outside. */
	params[0] = (uintptr_t)b.memory + 28 * PAGE_BYTES;
	params[1] = (uintptr_t)b.memory;
	params[2] = PAGE_BYTES;
	bench_expect(&b, bench_launch(&b, "gather", 1, 256, params, sizeof(params), &fault), -EFAULT,
	       "'gather'");
	assert_int_equal(fault, (uintptr_t)b.memory + BENCH_BYTES);
	assert_non_null(strstr(b.err.text, "thread (228,0,0)"));
	params[0]++;
	bench_expect(&b, bench_launch(&b, "gather", 1, 32, params, sizeof(params), &fault), -EFAULT,
	       "misaligned");
	assert_int_equal(fault, (uintptr_t)b.memory + 28 * PAGE_BYTES + 1);
	params[0] = (uintptr_t)b.memory;
	assert_int_equal(bench_launch(&b, "gather", 1, 32, params, sizeof(params), &fault), 0);
	bench_close(&b);
}

static void test_functional_needs_memory_in_place(void **state)
{
	struct gpu_session *other;
	struct service_ops ops;
	struct gpu_bench b;
	struct gpu *gpu;

	/* As a service whose pages are elsewhere: kmod's. */
	bench_spec(&b);
	assert_int_equal(service_sim_create(1 << 20, 0, 0, &b.service), 0);
	ops = *b.service->ops;
	ops.name = "elsewhere";
	ops.managed = NULL;
	b.service->ops = &ops;
	assert_int_equal(gpu_create(b.service, &gpu, &b.err), 0);
	b.spec.functional = 1;
	bench_expect(&b, gpu_session_create(gpu, 1, &b.spec, &other, &b.err), -EOPNOTSUPP,
	       "gpu.functional: not with backend elsewhere");
	b.spec.functional = 0;
	assert_int_equal(gpu_session_create(gpu, 1, &b.spec, &other, &b.err), 0);
	b.spec.functional = 1;
	bench_expect(&b, gpu_session_configure(other, &b.spec, &b.err), -EOPNOTSUPP, "backend sim");
	gpu_destroy(gpu);
	b.service->ops->destroy(b.service);
}

/* --- kernels that end, or do not ------------------------------------------------ */

#define PTX_ENDS							\
	".visible .entry traps(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<2>;\n"				\
	"mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 37;\n@%p1 bra OUT;\n" \
	"trap;\nOUT:\nret;\n}\n"					\
	".visible .entry spins(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"	\
	"ld.param.u64 %rd1, [p];\n"					\
	"LOOP:\nld.global.u32 %r1, [%rd1];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret;\n}\n" \
	".visible .entry stuck(.param .u64 p)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"				\
	"mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n"		\
	"@%p1 bra OTHER;\nbar.sync 0;\nret;\nOTHER:\nbar.sync 1;\nret;\n}\n"

static void test_ends_in_both_modes(void **state)
{
	struct gpu_bench b;

	for (unsigned int functional = 0; functional < 2; functional++) {
		bench_spec(&b);
		b.spec.functional = functional;
		b.spec.watchdog = 100000;
		bench_open_with(&b, PTX_HEAD PTX_ENDS PTX_MIX);
		bench_expect(&b, bench_launch_one(&b, "traps", 2, 64, 0), -ECANCELED, "trap");
		assert_non_null(strstr(b.err.text, "'traps'"));
		assert_non_null(strstr(b.err.text, "thread (37,0,0)"));
		bench_expect(&b, bench_launch_one(&b, "stuck", 1, 64, 0), -EDEADLK, "barrier");
		bench_expect(&b, bench_launch_one(&b, "spins", 3, 64, (uintptr_t)b.memory), -ETIMEDOUT,
		       "'spins': ended by gpu.watchdog after 100000 warp instructions");
		/* None of them is in the statistics; the session goes on. */
		assert_int_equal(bench_launch_one(&b, "mix", 1, 64, (uintptr_t)b.memory), 0);
		assert_int_equal(bench_stat(&b, "totals.warp_instructions"),
				 bench_stat(&b, "kernels.0.warp_instructions"));
		*(uint32_t *)b.memory = 1;
		assert_int_equal(bench_launch_one(&b, "spins", 3, 64, (uintptr_t)b.memory), 0);
		bench_close(&b);
	}
}

static void test_the_watchdog_counts_to_the_last(void **state)
{
	struct gpu_bench b;
	uint64_t warp;

	for (unsigned int functional = 0; functional < 2; functional++) {
		bench_spec(&b);
		b.spec.functional = functional;
		bench_open_with(&b, PTX_HEAD PTX_MIX);
		assert_int_equal(bench_launch_one(&b, "mix", 30, 96, (uintptr_t)b.memory), 0);
		warp = bench_stat(&b, "kernels.0.warp_instructions");
		b.spec.watchdog = warp;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
		assert_int_equal(bench_launch_one(&b, "mix", 30, 96, (uintptr_t)b.memory), 0);
		b.spec.watchdog = warp - 1;
		assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
		bench_expect(&b, bench_launch_one(&b, "mix", 30, 96, (uintptr_t)b.memory), -ETIMEDOUT, "watchdog");
		bench_close(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functional_computes_the_same),
		cmocka_unit_test(test_functional_progress),
		cmocka_unit_test(test_functional_leaves_pages_where_they_are),
		cmocka_unit_test(test_functional_faults),
		cmocka_unit_test(test_functional_needs_memory_in_place),
		cmocka_unit_test(test_ends_in_both_modes),
		cmocka_unit_test(test_the_watchdog_counts_to_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
