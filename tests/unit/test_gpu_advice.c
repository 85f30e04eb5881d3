// SPDX-License-Identifier: GPL-2.0
/*
 * What a kernel sees of advice in virtual time: a read-only duplicate that one of its warps
 * writes may be written by the others when that is served, and not before.
 */
#include "base/advice.h"
#include "gpu_bench.h"

#define NS_BATCH	20000
#define SERVICE_CYCLES	(NS_BATCH * 700 / 1000)
#define BEFORE		100u
#define AFTER		1000u

/* CTA 0: p[0]++. CTA 1: the same, and as many turns of a loop before and after it. */
#define PTX_TWO								\
	".visible .entry two(.param .u64 p, .param .u32 before, .param .u32 after)\n{\n" \
	".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<2>;\n"	\
	"mov.u32 %r1, %ctaid.x;\nld.param.u64 %rd1, [p];\n"		\
	"ld.param.u32 %r2, [before];\nmul.lo.s32 %r2, %r2, %r1;\n"	\
	"ld.param.u32 %r3, [after];\nmul.lo.s32 %r3, %r3, %r1;\n"	\
	"A:\nadd.s32 %r2, %r2, -1;\nsetp.gt.s32 %p1, %r2, 0;\n@%p1 bra A;\n" \
	"atom.global.add.u32 %r4, [%rd1], 1;\n"				\
	"and.b32 %r4, %r4, 0;\nadd.s32 %r3, %r3, %r4;\n"		\
	"B:\nadd.s32 %r3, %r3, -1;\nsetp.gt.s32 %p2, %r3, 0;\n@%p2 bra B;\n" \
	"ret;\n}\n"

/* Its cycles. */
static uint64_t two(struct gpu_bench *b, uint8_t *p, uint32_t before, uint32_t after)
{
	struct { uint64_t p; uint32_t before, after; } params = { (uintptr_t)p, before, after };
	uint64_t cycles = bench_stat(b, "totals.cycles");

	assert_int_equal(bench_launch(b, "two", 2, 1, &params, sizeof(params), NULL), 0);
	return bench_stat(b, "totals.cycles") - cycles;
}

static void test_collapse(void **state)
{
	uint64_t at, tail, cycles;
	struct gpu_bench b;
	uint8_t *page;

	bench_spec(&b);
	b.spec.sms = 2;
	strcpy(b.spec.prefetch, "none");
	bench_open(&b, PTX_HEAD PTX_TWO PTX_GATHER, 64 * 4096, NULL);
	page = b.memory + 32 * 4096;
	assert_int_equal(gpu_session_set_advice(b.session, &(struct advice_range){
		.addr = (uintptr_t)page, .bytes = 4096, .flags = ADVICE_READ_MOSTLY,
	}, 1, &b.err), 0);
	two(&b, b.memory, 0, 0);
	/* When the second is there, and what is behind that, where nothing is to wait for. */
	at = two(&b, b.memory, BEFORE, 0);
	tail = two(&b, b.memory, BEFORE, AFTER) - at;
	assert_in_range(at, 1, SERVICE_CYCLES / 2);
	assert_int_equal(bench_gather(&b, (uintptr_t)page, (uintptr_t)b.memory, 4, 1, 32), 0);
	assert_int_equal(bench_stat(&b, "paging.duplicates.made_pages"), 1);
	assert_int_equal(bench_stat(&b, "paging.duplicates.collapsed_pages"), 0);
	cycles = two(&b, page, BEFORE, AFTER);
	assert_int_equal(bench_stat(&b, "paging.duplicates.collapsed_pages"), 1);
	assert_int_equal(*(uint32_t *)page, 2);
	assert_in_range(cycles, SERVICE_CYCLES + tail, 2 * SERVICE_CYCLES + tail);
	/* Now it is like any other. */
	assert_in_range(two(&b, page, BEFORE, AFTER), 1, SERVICE_CYCLES / 2 + tail);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collapse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
