// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels side by side do not share lines that are not theirs: code, constants, parameters and
 * local memory of each are its own. Every number is derived from the kernel's text below.
 */
#include "gpu_bench.h"

/*
 * 24 instructions, so two lines of L1I of 16 each. A thread reads a parameter and a
 * constant, and writes 4 bytes of local memory, and reads them when they are in L2.
 */
#define PTX_EACH							\
	".const .align 4 .b8 table[256] = {7, 0, 0, 0};\n"		\
	".visible .entry each(.param .u64 p)\n{\n"			\
	".local .align 4 .b8 frame[4];\n"				\
	".reg .b32 %r<16>;\n.reg .b64 %rd<6>;\n"			\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.const.u32 %r5, [table];\n"					\
	"add.s32 %r6, %r5, %r4;\n"					\
	"st.local.u32 [frame], %r6;\nmov.u32 %r9, 1;\n"			\
	"add.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\n" \
	"add.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\n" \
	"add.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\nadd.s32 %r9, %r9, 1;\n" \
	"ld.local.u32 %r7, [frame];\nadd.s32 %r8, %r7, %r9;\n"		\
	"ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n" \
	"st.global.u32 [%rd3], %r8;\nret;\n}\n"

/* Goes round n times. Its parameters are one line. */
#define PTX_SPIN							\
	".visible .entry spin(.param .u32 n)\n{\n"			\
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n"			\
	"ld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n"			\
	"AGAIN:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra AGAIN;\nret;\n}\n"

struct world {
	struct gpu_bench b;
	unsigned int submitted, ended;
};

static void done(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	struct world *w = ctx;

	if (status)
		fail_msg("%s", err->text);
	w->ended++;
	free(output);
}

static void load(struct world *w, uint32_t id)
{
	if (gpu_session_load(w->b.session, id, "copy.ptx", PTX_HEAD PTX_EACH PTX_SPIN,
			     strlen(PTX_HEAD PTX_EACH PTX_SPIN), 0, &w->b.err))
		fail_msg("%s", w->b.err.text);
}

/* Two SMs, or one that both kernels share. */
static void make(struct world *w, unsigned int sms)
{
	memset(w, 0, sizeof(*w));
	bench_spec(&w->b);
	w->b.spec.paging = 0;
	w->b.spec.sms = sms;
	w->b.spec.mixed_sms = sms == 1;
	bench_open_with(&w->b, PTX_HEAD PTX_EACH PTX_SPIN);
	load(w, 2);
}

static void submit_ctas(struct world *w, uint32_t module, uint32_t stream, uint32_t ctas)
{
	uint64_t param = (uintptr_t)w->b.memory + 4096 * w->submitted;
	const struct gpu_launch l = {
		.module = module, .kernel = "each", .grid = { ctas, 1, 1 }, .block = { 32, 1, 1 },
		.params = &param, .param_bytes = sizeof(param),
	};

	assert_int_equal(gpu_session_submit(w->b.session, stream, &l, done, w), 0);
	w->submitted++;
}

/* The n-th launch's results are in the n-th 4 KiB. */
static void submit(struct world *w, uint32_t module, uint32_t stream, uint32_t shared)
{
	uint64_t param = (uintptr_t)w->b.memory + 4096 * w->submitted;
	const struct gpu_launch l = {
		.module = module, .kernel = "each", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = &param, .param_bytes = sizeof(param), .dynamic_shared = shared,
	};

	assert_int_equal(gpu_session_submit(w->b.session, stream, &l, done, w), 0);
	w->submitted++;
}

static void finish(struct world *w)
{
	gpu_session_finish(w->b.session);
	assert_int_equal(w->ended, w->submitted);
	for (unsigned int n = 0; n < w->submitted; n++)
		for (uint32_t t = 0; t < 32; t++)
			assert_int_equal(((uint32_t *)(w->b.memory + 4096 * n))[t], 7 + t + 10);
}

/* What `kernels` of them on `sms` SMs do to the caches, each with lines of its own. */
static void check(struct world *w, unsigned int kernels)
{
	static const struct {
		const char *path;
		uint64_t each;
	} rows[] = {
		/* Two lines of code; one of parameters, one of constants. */
		{ "memory.l1i.misses", 2 },
		{ "memory.l1c.accesses", 2 },
		{ "memory.l1c.misses", 2 },
		/* Local memory is read after it was written through, one line. */
		{ "memory.l1d.reads", 1 },
		{ "memory.l1d.read_misses", 1 },
		/* Sectors: 8 of code, 2 and 2 of parameters and constants, 4 of local memory. */
		{ "memory.l2.reads", 16 },
		/* Those of local memory are there: they were written. */
		{ "memory.l2.read_misses", 12 },
		{ "memory.l2.pending_hits", 0 },
		/* 4 of local memory, 4 of global memory. */
		{ "memory.l2.writes", 8 },
		{ "memory.l2.write_misses", 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t got = bench_stat(&w->b, rows[i].path);

		if (got != kernels * rows[i].each)
			fail_msg("%s: %lu, not %lu", rows[i].path, got, kernels * rows[i].each);
	}
}

/* Each of two kernels says of itself what it says when it is alone. */
static void check_own(struct world *w)
{
	static const struct {
		const char *path;
		uint64_t want;
	} rows[] = {
		{ "concurrent", 1 }, { "warp_instructions", 24 }, { "stalls.issued", 24 },
		{ "own_stalls.issued", 24 },
		{ "memory.l1i.misses", 2 }, { "memory.l1c.accesses", 2 },
		{ "memory.l1c.misses", 2 }, { "memory.l1d.read_misses", 1 },
		{ "memory.l2.reads", 16 }, { "memory.l2.read_misses", 12 },
		{ "memory.l2.writes", 8 }, { "memory.latency.count", 24 },
	};
	char path[64];

	for (unsigned int k = 0; k < 2; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			uint64_t got;

			snprintf(path, sizeof(path), "kernels.%u.%s", k, rows[i].path);
			got = bench_stat(&w->b, path);
			if (got != rows[i].want)
				fail_msg("%s: %lu, not %lu", path, got, rows[i].want);
		}
	}
}

static void test_alone(void **state)
{
	struct world w;

	for (uint32_t module = 1; module <= 2; module++) {
		make(&w, 2);
		submit(&w, module, 1, 0);
		finish(&w);
		check(&w, 1);
		bench_close(&w.b);
	}
}

/* A copy from another module, at the same time: twice everything. */
static void test_copies_on_two_sms(void **state)
{
	struct world w;

	make(&w, 2);
	submit(&w, 1, 1, 0);
	submit(&w, 2, 2, 0);
	finish(&w);
	check(&w, 2);
	check_own(&w);
	bench_close(&w.b);
}

/* On one SM they share L1I, L1C and L1D. */
static void test_copies_on_one_sm(void **state)
{
	struct world w;

	make(&w, 1);
	/* The second takes so much shared memory that one CTA of it fits an SM. */
	submit(&w, 1, 1, 0);
	submit(&w, 2, 2, 30000);
	finish(&w);
	check(&w, 2);
	check_own(&w);
	bench_close(&w.b);
}

static void expect(struct world *w, const char *path, uint64_t want)
{
	uint64_t got = bench_stat(&w->b, path);

	if (got != want)
		fail_msg("%s: %lu, not %lu", path, got, want);
}

/*
 * A kernel gets the slot of one that has ended, on an SM that was busy all the time, so nothing was
 * flushed: parameters and local memory of the other are not its own, constants are.
 */
static void test_slot_again(void **state)
{
	uint32_t n = 2000;
	const struct gpu_launch spin = {
		.module = 1, .kernel = "spin", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = &n, .param_bytes = sizeof(n),
	};
	struct world w;

	make(&w, 1);
	submit(&w, 2, 1, 0);
	submit(&w, 2, 1, 0);
	assert_int_equal(gpu_session_submit(w.b.session, 2, &spin, done, &w), 0);
	gpu_session_finish(w.b.session);
	assert_int_equal(w.ended, 3);
	assert_true(bench_stat(&w.b, "kernels.2.cycles") > bench_stat(&w.b, "kernels.1.start") +
		    bench_stat(&w.b, "kernels.1.cycles"));
	expect(&w, "memory.l1c.misses", 1 + 2 + 1);
	expect(&w, "memory.l1d.read_misses", 2);
	/* The code of both launches is the same: two lines, and one of the kernel that spins. */
	expect(&w, "memory.l1i.misses", 2 + 1);
	bench_close(&w.b);
}

/* The place of a module that went is another's, who finds nothing there. */
static void test_unloaded(void **state)
{
	struct world w;

	make(&w, 1);
	submit(&w, 1, 1, 0);
	finish(&w);
	gpu_session_unload(w.b.session, 1);
	load(&w, 3);
	submit(&w, 3, 1, 0);
	finish(&w);
	/* All that is left to it in L2 are the parameters and the local memory of slot 0. */
	expect(&w, "memory.l2.read_misses", 12 + 10);
	expect(&w, "memory.l2.write_misses", 8 + 4);
	/* Of a module that stays, the code and the constants. */
	submit(&w, 3, 1, 0);
	finish(&w);
	expect(&w, "memory.l2.read_misses", 12 + 10);
	bench_close(&w.b);
}

/* What the kernel writes is where GPGPU-Sim's map has the first module's code. */
static void grow(struct world *w, uint64_t *param)
{
	void *at = (void *)(0x200000000000ull + (768ull << 20));

	assert_ptr_equal(mmap(at, 65536, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), at);
	assert_int_equal(service_sim_map(w->b.service, VA_SPACE, (uintptr_t)at, 65536), 0);
	*param = (uintptr_t)at;
}

static void submit_to(struct world *w, const uint64_t *param)
{
	const struct gpu_launch l = {
		.module = 1, .kernel = "each", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = param, .param_bytes = sizeof(*param),
	};

	assert_int_equal(gpu_session_submit(w->b.session, 1, &l, done, w), 0);
	gpu_session_finish(w->b.session);
	for (uint32_t t = 0; t < 32; t++)
		assert_int_equal(((uint32_t *)(uintptr_t)*param)[t], 7 + t + 10);
}

/* More than 768 MiB of managed addresses: data shares no line with the code. */
static void test_more_than_768_mib(void **state)
{
	uint64_t param;
	struct world w;

	make(&w, 1);
	grow(&w, &param);
	submit_to(&w, &param);
	check(&w, 1);
	/* Nor is it the code of any other module. */
	submit(&w, 2, 1, 0);
	gpu_session_finish(w.b.session);
	expect(&w, "memory.l1i.misses", 2 + 2);
	expect(&w, "memory.l2.read_misses", 12 + 10);
	munmap((void *)(uintptr_t)param, 65536);
	bench_close(&w.b);
}

/* It grows behind a launch: the code moves once, and the data does not find what L2 had of it. */
static void test_grows_to_768_mib(void **state)
{
	uint64_t param;
	struct world w;

	make(&w, 1);
	submit(&w, 1, 1, 0);
	finish(&w);
	grow(&w, &param);
	submit_to(&w, &param);
	/* The 8 sectors of code again; of the stores local memory's are there. */
	expect(&w, "memory.l2.read_misses", 12 + 8);
	expect(&w, "memory.l2.write_misses", 8 + 4);
	submit_to(&w, &param);
	expect(&w, "memory.l2.read_misses", 12 + 8);
	expect(&w, "memory.l2.write_misses", 8 + 4);
	munmap((void *)(uintptr_t)param, 65536);
	bench_close(&w.b);
}

/*
 * 1 CTA beside 64: their stores are 4 sectors a CTA, on one page and on the two behind it. A
 * far fault is its kernel's.
 */
static void test_unequal(void **state)
{
	struct world w;

	memset(&w, 0, sizeof(w));
	bench_spec(&w.b);
	w.b.spec.sms = 2;
	bench_open_with(&w.b, PTX_HEAD PTX_EACH PTX_SPIN);
	load(&w, 2);
	submit_ctas(&w, 1, 1, 1);
	submit_ctas(&w, 2, 2, 64);
	gpu_session_finish(w.b.session);
	assert_int_equal(w.ended, 2);
	expect(&w, "kernels.0.warp_instructions", 24);
	expect(&w, "kernels.1.warp_instructions", 64 * 24);
	expect(&w, "kernels.0.memory.l2.writes", 8);
	/* Local memory is in L1D from the second CTA on, in each of 8 places of both SMs. */
	expect(&w, "kernels.1.memory.l2.writes", 64 * 4 + 2 * 8 * 4);
	expect(&w, "kernels.0.paging.far_faults", 1);
	expect(&w, "kernels.1.paging.far_faults", 2);
	expect(&w, "paging.far_faults", 3);
	/* All accesses that waited are somebody's. */
	expect(&w, "paging.far_wait_cycles.count", bench_stat(&w.b, "kernels.0.paging.far_waits") +
	       bench_stat(&w.b, "kernels.1.paging.far_waits"));
	expect(&w, "paging.far_wait_cycles.sum",
	       bench_stat(&w.b, "kernels.0.paging.far_wait_cycles") +
	       bench_stat(&w.b, "kernels.1.paging.far_wait_cycles"));
	expect(&w, "kernels.0.paging.far_waits", 1);
	bench_close(&w.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_copies_on_two_sms),
		cmocka_unit_test(test_copies_on_one_sm),
		cmocka_unit_test(test_slot_again),
		cmocka_unit_test(test_unloaded),
		cmocka_unit_test(test_more_than_768_mib),
		cmocka_unit_test(test_grows_to_768_mib),
		cmocka_unit_test(test_unequal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
