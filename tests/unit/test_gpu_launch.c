// SPDX-License-Identifier: GPL-2.0
/*
 * Launches that are refused, sessions and their modules, configuration,
 * statistics, and kernels that can never end.
 */
#include "gpu_bench.h"
#include "service/sim.h"

static int launch_dims(struct gpu_bench *b, const char *kernel, uint32_t gx, uint32_t gy,
		       uint32_t bx, uint32_t by, uint32_t smem)
{
	uint64_t params[3] = { (uintptr_t)b->memory, (uintptr_t)b->memory + 65536, 4 };
	struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { gx, gy, 1 }, .block = { bx, by, 1 },
		.dynamic_shared = smem, .params = params, .param_bytes = sizeof(params),
	};

	b->err.text[0] = '\0';
	return gpu_session_launch(b->session, &l, NULL, &b->err);
}

static void test_bad_launches_are_refused_by_name(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
#define REFUSED(code, want, ...) do {					\
		assert_int_equal(launch_dims(&b, __VA_ARGS__), code);	\
		if (!strstr(b.err.text, want))				\
			fail_msg("no '%s' in: %s", want, b.err.text);	\
	} while (0)
	REFUSED(-ENOENT, "scatter", "scatter", 1, 1, 32, 1, 0);
	REFUSED(-EINVAL, "grid dimension x is 0", "gather", 0, 1, 32, 1, 0);
	REFUSED(-EINVAL, "grid dimension y is 65536", "gather", 1, 65536, 32, 1, 0);
	REFUSED(-EINVAL, "block dimension y is 0", "gather", 1, 1, 32, 0, 0);
	REFUSED(-EINVAL, "block dimension x is 1025", "gather", 1, 1, 1025, 1, 0);
	REFUSED(-EINVAL, "2048 threads", "gather", 1, 1, 1024, 2, 0);
	REFUSED(-EINVAL, "shared memory", "gather", 1, 1, 32, 1, 49153);
	REFUSED(-EINVAL, "shared memory", "gather", 1, 1, 32, 1, UINT32_MAX);
#undef REFUSED
	/* Parameters of another kernel. */
	assert_int_equal(bench_launch(&b, "gather", 1, 32, "abcd", 4, NULL), -EINVAL);
	assert_non_null(strstr(b.err.text, "4 bytes of parameters, it takes 24"));
	/* Nothing of all that is in the statistics; a good one is. */
	assert_int_equal(bench_stat(&b, "totals.cycles"), 0);
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 32, 1, 49152), 0);
	assert_int_equal(bench_stat(&b, "kernels.0.smem"), 49152);
	bench_close(&b);
}

static void test_an_sm_too_small(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	b.spec.warps = 16;
	b.spec.registers = 2047;
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 513, 1, 0), -EINVAL);
	assert_non_null(strstr(b.err.text, "sm.warps"));
	/* 8 registers a thread: 8 warps need 2048. */
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 225, 1, 0), -EINVAL);
	assert_non_null(strstr(b.err.text, "sm.registers"));
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 224, 1, 0), 0);
	bench_close(&b);
}

static void test_too_much_local_memory(void **state)
{
	struct gpu_bench b;

	/* 100000 bytes for each of 3 x 512 threads of 15 SMs. */
	bench_spec(&b);
	bench_open(&b, PTX_HEAD
		   ".visible .entry deep(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
		   ".local .align 4 .b8 frame[100000];\n.reg .b32 %r<2>;\n.reg .b64 %rd<3>;\n"
		   "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd1, %r1, 4;\nmov.u64 %rd2, frame;\n"
		   "add.s64 %rd2, %rd2, %rd1;\nst.local.u32 [%rd2], %r1;\nret;\n}\n",
		   1 << 20, NULL);
	assert_int_equal(launch_dims(&b, "deep", 1, 1, 512, 1, 0), -ENOMEM);
	assert_non_null(strstr(b.err.text, "local memory of 100000 bytes a thread would be 2197 MiB"));
	/* Fewer at a time are possible. */
	b.spec.ctas = 1;
	b.spec.sms = 1;
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(launch_dims(&b, "deep", 1, 1, 64, 1, 0), 0);
	bench_close(&b);
}

static void test_modules(void **state)
{
	const char *ptx = PTX_HEAD PTX_GATHER;
	struct gpu_bench b;

	bench_spec(&b);
	bench_open(&b, ptx, 1 << 20, NULL);
	assert_true(gpu_session_loaded(b.session, 1));
	assert_false(gpu_session_loaded(b.session, 2));
	assert_int_equal(gpu_session_load(b.session, 1, "x.ptx", ptx, strlen(ptx), 0, &b.err),
			 -EEXIST);
	assert_int_equal(gpu_session_load(b.session, 2, "x.ptx", "not PTX", 7, 0, &b.err), -EINVAL);
	assert_non_null(strstr(b.err.text, "x.ptx"));
	assert_false(gpu_session_loaded(b.session, 2));
	gpu_session_unload(b.session, 1);
	gpu_session_unload(b.session, 1);
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 32, 1, 0), -ENOENT);
	assert_non_null(strstr(b.err.text, "not loaded"));
	bench_close(&b);
}

static void test_bad_specs_are_refused(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
#define REFUSED(change, want) do {					\
		struct gpu_spec spec = b.spec;				\
									\
		change;							\
		assert_int_equal(gpu_spec_check(&spec, &b.err), -EINVAL); \
		if (!strstr(b.err.text, want))				\
			fail_msg("no '%s' in: %s", want, b.err.text);	\
		assert_int_equal(gpu_session_configure(b.session, &spec, &b.err), -EINVAL); \
	} while (0)
	REFUSED(strcpy(spec.scheduler, "fifo"),
		"sm.scheduler: no scheduler 'fifo'; there are: lrr, gto");
	REFUSED(strcpy(spec.prefetch, "psychic"), "paging.prefetch");
	REFUSED(strcpy(spec.evict, "psychic"), "paging.evict");
	REFUSED(spec.l1d_sets = 33, "l1d.sets");
	REFUSED((spec.warps = 2, spec.schedulers = 4), "sm.schedulers");
#undef REFUSED
	/* And the session works as before. */
	assert_int_equal(launch_dims(&b, "gather", 1, 1, 32, 1, 0), 0);
	bench_close(&b);
}

static void test_configure_starts_anew(void **state)
{
	struct gpu_bench b;
	uint64_t cold, warm;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(launch_dims(&b, "gather", 4, 1, 64, 1, 0), 0);
	cold = bench_stat(&b, "kernels.0.cycles");
	strcpy(b.spec.scheduler, "gto");
	assert_int_equal(gpu_session_configure(b.session, &b.spec, &b.err), 0);
	assert_int_equal(bench_stat(&b, "totals.cycles"), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 0);
	/* Modules and resident pages stay. */
	assert_int_equal(launch_dims(&b, "gather", 4, 1, 64, 1, 0), 0);
	warm = bench_stat(&b, "kernels.0.cycles");
	assert_true(warm < cold);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 0);
	/* The second launch follows on the same clock. */
	assert_int_equal(launch_dims(&b, "gather", 4, 1, 64, 1, 0), 0);
	assert_int_equal(bench_stat(&b, "totals.cycles"),
			 warm + bench_stat(&b, "kernels.1.cycles"));
	bench_close(&b);
}

static void test_two_sessions_share_the_frames(void **state)
{
	const char *ptx = PTX_HEAD PTX_GATHER;
	struct gpu_session *other;
	struct gpu_bench b;
	uint8_t *mine;
	uint64_t params[3];
	struct gpu_launch l = {
		.module = 9, .kernel = "gather", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = params, .param_bytes = sizeof(params),
	};

	bench_spec(&b);
	b.spec.vram_bytes = 20 * 4096;
	bench_open(&b, ptx, 1 << 20, NULL);
	mine = aligned_alloc(4096, 64 * 4096);
	for (unsigned int i = 0; i < 64 * 1024; i++)
		((uint32_t *)mine)[i] = i;
	assert_int_equal(service_sim_map(b.service, 2, (uintptr_t)mine, 64 * 4096), 0);
	assert_int_equal(gpu_session_create(b.gpu, 2, &b.spec, &other, &b.err), 0);
	assert_int_equal(gpu_session_load(other, 9, "b.ptx", ptx, strlen(ptx), 0, &b.err), 0);
	for (unsigned int round = 0; round < 3; round++) {
		uint32_t *out = (uint32_t *)(mine + 63 * 4096);

		assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096,
					      (uintptr_t)b.memory, 4096, 1, 32), 0);
		memset(out, 0xff, 128);
		params[0] = (uintptr_t)mine;
		params[1] = (uintptr_t)out;
		params[2] = 4096;
		assert_int_equal(gpu_session_launch(other, &l, NULL, &b.err), 0);
		for (unsigned int i = 0; i < 32; i++)
			assert_int_equal(out[i], i * 1024);
	}
	gpu_session_destroy(other);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 1, 32), 0);
	bench_close(&b);
	free(mine);
}

/* Warp 1 waits at barrier 1, warp 0 at barrier 0: neither will ever be complete. */
#define PTX_STUCK							\
	".visible .entry stuck(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n" \
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"				\
	"mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n"		\
	"@%p1 bra OTHER;\nbar.sync 0;\nret;\n"				\
	"OTHER:\nbar.sync 1;\nret;\n}\n"

static void test_a_deadlock_is_reported(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_STUCK PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(launch_dims(&b, "stuck", 1, 1, 64, 1, 0), -EDEADLK);
	assert_non_null(strstr(b.err.text, "'stuck'"));
	assert_non_null(strstr(b.err.text, "CTA (0,0,0): warp 0 at barrier 0 for 64 threads, "
			       "32 arrived; missing: warp 1 (at barrier 1)"));
	assert_non_null(strstr(b.err.text, "warp 1 at barrier 1 for 64 threads"));
	/* One warp alone is not stuck, and the session goes on. */
	assert_int_equal(launch_dims(&b, "stuck", 1, 1, 32, 1, 0), 0);
	assert_int_equal(launch_dims(&b, "gather", 3, 1, 32, 1, 0), 0);
	bench_close(&b);
}

static void test_prefetch(void **state)
{
	struct gpu_bench b;
	uint64_t cycles;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 1 << 20, &b.err), 0);
	/* 256 pages of 256 ns at 700 MHz: what the link takes, and no handler. */
	cycles = DIV_ROUND_UP(256 * 256 * 700, 1000);
	assert_int_equal(bench_stat(&b, "totals.cycles"), cycles);
	assert_int_equal(bench_stat(&b, "paging.prefetched_pages"), 256);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 4096, (uintptr_t)b.memory,
				      4096, 1, 32), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 0);
	assert_int_equal(bench_stat(&b, "paging.prefetch_used_pages"), 33);
	assert_int_equal(gpu_session_prefetch(b.session, 4096, 4096, &b.err), -EFAULT);
	assert_non_null(strstr(b.err.text, "0x1000"));
	bench_close(&b);
}

static void test_prefetch_to_the_host(void **state)
{
	struct gpu_bench b;
	uint64_t cycles;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 1 << 20, &b.err), 0);
	cycles = bench_stat(&b, "totals.cycles");
	/* All but the first 16 pages and the last one, at the end's byte; what is there only moves. */
	assert_int_equal(gpu_session_prefetch_host(b.session, (uintptr_t)b.memory + 65536,
						   (1 << 20) - 65536 - 4096, &b.err), 0);
	assert_int_equal(bench_stat(&b, "totals.cycles"),
			 cycles + DIV_ROUND_UP(239 * 256 * 700, 1000));
	assert_int_equal(bench_stat(&b, "paging.d2h_bytes"), 239 * 4096);
	/*
	 * 45876 and 42829 cycles of 1000/700 ns. The link to the device could have carried a
	 * page in 256 ns all the time; what went the other way does not count.
	 */
	assert_int_equal(bench_stat(&b, "totals.cycles"), 45876 + 42829);
	bench_ratio(&b, "paging.link_utilization", 256 * 256 / ((45876 + 42829) / 0.7));
	bench_ratio(&b, "paging.link.h2d_busy", 256 * 256 / ((45876 + 42829) / 0.7));
	bench_ratio(&b, "paging.link.d2h_busy", 239 * 256 / ((45876 + 42829) / 0.7));
	assert_int_equal(bench_stat(&b, "paging.resident_pages"), 17);
	assert_int_equal(bench_stat(&b, "paging.evicted_pages"), 0);
	/* Again: nothing is there. */
	assert_int_equal(gpu_session_prefetch_host(b.session, (uintptr_t)b.memory + 65536, 4096,
						   &b.err), 0);
	assert_int_equal(bench_stat(&b, "paging.d2h_bytes"), 239 * 4096);
	/* A kernel that wants it back faults. */
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536, (uintptr_t)b.memory,
				      4, 1, 32), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 1);
	assert_int_equal(bench_stat(&b, "paging.evict.returned_pages"), 0);
	bench_close(&b);
}

/* Eight frames, all filled by a prefetch; a kernel reads four other pages and writes the last of the eight. */
static void test_worth_of_a_prefetch(void **state)
{
	struct gpu_bench b;

	bench_spec(&b);
	b.spec.vram_bytes = 8 * PAGE_BYTES;
	strcpy(b.spec.evict, "fifo");
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(gpu_session_prefetch(b.session, (uintptr_t)b.memory, 8 * PAGE_BYTES,
					      &b.err), 0);
	assert_int_equal(bench_gather(&b, (uintptr_t)b.memory + 65536,
				      (uintptr_t)b.memory + 7 * PAGE_BYTES, 4096, 1, 4), 0);
	assert_int_equal(bench_stat(&b, "paging.far_faults"), 4);
	assert_int_equal(bench_stat(&b, "paging.evicted_pages"), 4);
	/* Of the eight one was used and four have gone unused. */
	assert_int_equal(bench_stat(&b, "paging.prefetch_used_pages"), 1);
	assert_int_equal(bench_stat(&b, "paging.prefetch.unused_evicted_pages"), 4);
	bench_ratio(&b, "paging.prefetch.accuracy", 1.0 / 8);
	bench_ratio(&b, "paging.prefetch.pollution", 4.0 / 8);
	/* Of five pages that were needed it brought one, in time. */
	bench_ratio(&b, "paging.prefetch.coverage", 1.0 / 5);
	bench_ratio(&b, "paging.prefetch.timeliness", 1);
	bench_close(&b);
}

/* L2 starts with what was uploaded, to the byte, and it takes no time. */
static void test_prefill(void **state)
{
	uint64_t misses[2];

	for (unsigned int prefill = 0; prefill < 2; prefill++) {
		struct gpu_bench b;
		uint64_t in;

		bench_spec(&b);
		b.spec.paging = 0;
		b.spec.l2_prefill = prefill;
		bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
		in = (uintptr_t)b.memory + 256;
		/* 64 words of the 128 that are read: 8 of their 16 sectors. */
		assert_int_equal(gpu_session_prefetch(b.session, in, 256, &b.err), 0);
		assert_int_equal(bench_stat(&b, "totals.cycles"), 0);
		assert_int_equal(bench_gather(&b, in, (uintptr_t)b.memory + 65536, 4, 1, 128), 0);
		misses[prefill] = bench_stat(&b, "memory.l2.read_misses");
		bench_close(&b);
	}
	assert_int_equal(misses[0], misses[1] + 8);
}

static void test_touch(void **state)
{
	struct json_object *top, *o;
	struct gpu_bench b;
	char *json = NULL;

	bench_spec(&b);
	bench_open(&b, PTX_HEAD PTX_GATHER, 1 << 20, NULL);
	assert_int_equal(gpu_session_touch(b.session, (uintptr_t)b.memory, 10 * 4096, 4096,
					   1, false, &json, &b.err), 0);
	top = json_tokener_parse(json);
	assert_true(json_object_object_get_ex(top, "faults", &o));
	assert_int_equal(json_object_get_uint64(o), 10);
	json_object_object_get_ex(top, "far_fault_ns", &o);
	json_object_object_get_ex(o, "p50", &o);
	assert_int_equal(json_object_get_uint64(o), 20256);
	json_object_object_get_ex(top, "stages_ns", &o);
	json_object_object_get_ex(o, "copy", &o);
	assert_int_equal(json_object_get_uint64(o), 256);
	json_object_put(top);
	free(json);
	/* Four at once over the next 6 pages, every half page; 2 of the range are here already. */
	assert_int_equal(gpu_session_touch(b.session, (uintptr_t)b.memory + 8 * 4096, 8 * 4096,
					   2048, 4, true, &json, &b.err), 0);
	top = json_tokener_parse(json);
	assert_true(json_object_object_get_ex(top, "faults", &o));
	assert_int_equal(json_object_get_uint64(o), 6);
	json_object_object_get_ex(top, "far_fault_ns", &o);
	json_object_object_get_ex(o, "max", &o);
	assert_int_equal(json_object_get_uint64(o), 20000 + 4 * 256);
	json_object_put(top);
	free(json);
	assert_int_equal(bench_stat(&b, "paging.batches"), 12);
#define REFUSED(code, ...) \
	assert_int_equal(gpu_session_touch(b.session, __VA_ARGS__, &json, &b.err), code)
	REFUSED(-EFAULT, (uintptr_t)b.memory + b.bytes, 4096, 4096, 1, false);
	REFUSED(-EINVAL, (uintptr_t)b.memory, 4096, 0, 1, false);
	REFUSED(-EINVAL, (uintptr_t)b.memory, 0, 4096, 1, false);
	REFUSED(-EINVAL, (uintptr_t)b.memory, 4096, 4096, 0, false);
	REFUSED(-EINVAL, (uintptr_t)b.memory, 4096, 4096, 257, false);
	REFUSED(-EINVAL, (uintptr_t)b.memory, 1ull << 60, 1, 1, false);
	REFUSED(-EINVAL, UINT64_MAX - 10, 4096, 4096, 1, false);
#undef REFUSED
	bench_close(&b);
}

static void test_lists(void **state)
{
	const char *name, *help;

	assert_true(gpu_list_row("schedulers", 0, &name, &help));
	assert_string_equal(name, "lrr");
	assert_true(gpu_list_row("schedulers", 1, &name, &help));
	assert_string_equal(name, "gto");
	assert_true(gpu_list_row("schedulers", 2, &name, &help));
	assert_false(gpu_list_row("schedulers", 99, &name, &help));
	assert_true(gpu_list_row("prefetchers", 0, &name, &help));
	assert_true(gpu_list_row("evictors", 0, &name, &help));
	assert_true(gpu_list_row("backends", 1, &name, &help));
	assert_false(gpu_list_row("flavours", 0, &name, &help));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_launches_are_refused_by_name),
		cmocka_unit_test(test_an_sm_too_small),
		cmocka_unit_test(test_too_much_local_memory),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_bad_specs_are_refused),
		cmocka_unit_test(test_configure_starts_anew),
		cmocka_unit_test(test_two_sessions_share_the_frames),
		cmocka_unit_test(test_a_deadlock_is_reported),
		cmocka_unit_test(test_prefetch),
		cmocka_unit_test(test_prefetch_to_the_host),
		cmocka_unit_test(test_worth_of_a_prefetch),
		cmocka_unit_test(test_prefill),
		cmocka_unit_test(test_touch),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
