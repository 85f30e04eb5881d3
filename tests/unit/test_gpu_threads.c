// SPDX-License-Identifier: GPL-2.0
/*
 * One machine on 1, 2, 3 and 4 host threads: the same results, statistics, output and
 * errors, byte for byte, with and without paging.
 */
#include "gpu_bench.h"

#define MOST_THREADS	4u

/* Atomics and plain stores that race, as far as a GPU allows: the order is in the results. */
#define PTX_RACE							\
	".visible .entry race(.param .u64 p)\n{\n"			\
	".reg .b32 %r<10>;\n.reg .b64 %rd<6>;\n"			\
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
	"mad.lo.s32 %r4, %r1, %r2, %r3;\n"				\
	"ld.param.u64 %rd1, [p];\n"					\
	"atom.global.add.u32 %r5, [%rd1], 1;\n"				\
	"atom.global.exch.b32 %r6, [%rd1+4], %r4;\n"			\
	"st.global.u32 [%rd1+8], %r4;\n"				\
	"ld.volatile.global.u32 %r7, [%rd1+8];\n"			\
	"mad.lo.s32 %r8, %r5, 3, %r6;\nadd.s32 %r8, %r8, %r7;\n"	\
	"mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"	\
	"st.global.u32 [%rd3+4096], %r8;\nret;\n}\n"

#define PTX_SAYS							\
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n" \
	".const .align 1 .b8 fmt[10] = {67, 32, 37, 100, 32, 37, 100, 10, 0, 0};\n" \
	".visible .entry says(.param .u64 p)\n{\n"			\
	".local .align 8 .b8 frame[8];\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n" \
	"mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"		\
	"mov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\n"		\
	"mov.u64 %rd3, fmt;\ncvta.const.u64 %rd4, %rd3;\n"		\
	"st.local.u32 [frame], %r1;\nst.local.u32 [frame+4], %r2;\n"	\
	"{\n.param .b64 p0;\nst.param.b64 [p0], %rd4;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n" \
	".param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r5, [r0];\n}\n" \
	"ret;\n}\n"

/* What one run leaves. */
struct left {
	char *statistics, *output;
	uint8_t *memory;
	char error[512];
	uint64_t fault;
};

static void forget(struct left *l)
{
	free(l->statistics);
	free(l->output);
	free(l->memory);
}

static void told(void *ctx, int status, uint64_t fault_addr, const struct err *err,
		 char *output, size_t bytes)
{
	if (status)
		fail_msg("%s", err->text);
	free(output);
}

static void submit(struct gpu_bench *b, const char *kernel, uint32_t stream, uint32_t grid,
		   uint32_t block, const void *params, uint32_t param_bytes)
{
	const struct gpu_launch l = {
		.module = 1, .kernel = kernel, .grid = { grid, 1, 1 }, .block = { block, 1, 1 },
		.params = params, .param_bytes = param_bytes,
	};

	assert_int_equal(gpu_session_submit(b->session, stream, &l, told, NULL), 0);
}

/* Kernels one after the other and side by side; one that prints; one that fails. */
static void run(struct left *left, unsigned int threads, void (*change)(struct gpu_spec *spec))
{
	uint64_t gather[3], mix, bad;
	struct gpu_bench b;
	size_t bytes;

	bench_spec(&b);
	b.spec.threads = threads;
	b.spec.interval = 500;
	change(&b.spec);
	bench_open(&b, PTX_HEAD PTX_GATHER PTX_MIX PTX_RACE PTX_SAYS, BENCH_BYTES, NULL);
	for (size_t i = 0; i < b.bytes / 4; i++)
		((uint32_t *)b.memory)[i] = (uint32_t)(i * 2654435761u);
	gather[0] = (uintptr_t)b.memory + 65536;
	gather[1] = (uintptr_t)b.memory;
	gather[2] = 512;
	mix = (uintptr_t)b.memory + 32768;
	if (bench_launch(&b, "gather", 12, 128, gather, sizeof(gather), NULL))
		fail_msg("%s", b.err.text);
	if (bench_launch_one(&b, "race", 40, 96, (uintptr_t)b.memory + 131072))
		fail_msg("%s", b.err.text);
	submit(&b, "mix", 1, 20, 64, &mix, sizeof(mix));
	submit(&b, "gather", 2, 12, 128, gather, sizeof(gather));
	gpu_session_finish(b.session);
	if (bench_launch_one(&b, "says", 30, 40, 0))
		fail_msg("%s", b.err.text);
	left->output = gpu_session_take_output(b.session, &bytes);
	assert_non_null(left->output);
	/* Every SM's first access is bad. */
	bad = (uintptr_t)b.memory + b.bytes + 65536;
	assert_int_equal(bench_launch(&b, "mix", 30, 64, &bad, sizeof(bad), &left->fault), -EFAULT);
	strcpy(left->error, b.err.text);
	if (bench_launch_one(&b, "mix", 20, 64, mix))
		fail_msg("%s", b.err.text);
	left->statistics = gpu_session_statistics(b.session);
	left->memory = malloc(b.bytes);
	memcpy(left->memory, b.memory, b.bytes);
	bench_close(&b);
}

static void compare(void (*change)(struct gpu_spec *spec))
{
	struct left one, n;

	run(&one, 1, change);
	for (unsigned int threads = 2; threads <= MOST_THREADS; threads++) {
		run(&n, threads, change);
		assert_string_equal(n.statistics, one.statistics);
		assert_string_equal(n.output, one.output);
		assert_string_equal(n.error, one.error);
		assert_int_equal(n.fault, one.fault);
		assert_memory_equal(n.memory, one.memory, BENCH_BYTES);
		forget(&n);
	}
	forget(&one);
}

static void no_paging(struct gpu_spec *spec)
{
	spec->paging = 0;
}

static void little_memory(struct gpu_spec *spec)
{
	spec->vram_bytes = 40 * 4096;
	strcpy(spec->evict, "random");
	strcpy(spec->prefetch, "sequential");
}

static void many_handlers(struct gpu_spec *spec)
{
	little_memory(spec);
	spec->handlers = 0;
	spec->vram_bytes = 70 * 4096;
	spec->watermark = 10;
	spec->link_curve = 1;
	spec->link_latency_ns = 900;
	strcpy(spec->prefetch, "tree");
}

static void mixed(struct gpu_spec *spec)
{
	spec->paging = 0;
	spec->mixed_sms = 1;
	spec->sms = 5;
	strcpy(spec->scheduler, "gto");
}

/* Sampling does not change what is sampled: all but the samples is the same. */
static void often(struct gpu_spec *spec)
{
	little_memory(spec);
	spec->interval = 7;
}

static void never(struct gpu_spec *spec)
{
	little_memory(spec);
	spec->interval = 0;
}

static void test_samples_change_nothing(void **state)
{
	struct left a, b;
	char *samples;

	run(&a, 1, often);
	run(&b, 1, never);
	samples = strstr(a.statistics, ",\"samples\":");
	assert_non_null(samples);
	assert_null(strstr(b.statistics, "\"samples\""));
	/* They are the last but the paging's. */
	assert_memory_equal(a.statistics, b.statistics, (size_t)(samples - a.statistics));
	assert_memory_equal(a.memory, b.memory, BENCH_BYTES);
	assert_string_equal(strstr(samples, ",\"paging\":"),
			    b.statistics + (samples - a.statistics));
	forget(&a);
	forget(&b);
}

static void test_paging_off(void **state)
{
	compare(no_paging);
}

static void test_with_far_faults(void **state)
{
	compare(little_memory);
}

static void test_many_handlers(void **state)
{
	compare(many_handlers);
}

static void test_kernels_on_one_sm(void **state)
{
	compare(mixed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paging_off),
		cmocka_unit_test(test_with_far_faults),
		cmocka_unit_test(test_many_handlers),
		cmocka_unit_test(test_kernels_on_one_sm),
		cmocka_unit_test(test_samples_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
