// SPDX-License-Identifier: GPL-2.0
/*
 * Whole grids without time: turns, barriers of every kind, deadlocks, who waits
 * for whom, what stops a grid, and that it counts what exec_step() counts.
 */
#include "exec_runner.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL ".visible .entry k(.param .u64 p) {\n.shared .align 8 .b8 s[1024];\n" \
	".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %d<9>;\n" \
	"ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\n" \
	"mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r0;\n" \
	"mul.wide.u32 %d1, %r4, 4;\nadd.u64 %d1, %d0, %d1;\n"
/* A kernel's own text begins at line 17. */

static uint32_t memory[65536];

static int run_text(struct run *run, const char *text, uint32_t ctas, uint32_t threads)
{
	run_load(run, text, NULL);
	run->whole = true;
	run_ptr(run, memory);
	return run_grid(run, ctas, 1, threads, 1);
}

static void expect_ok(const char *text, uint32_t ctas, uint32_t threads)
{
	struct run run;

	memset(memory, 0, sizeof(memory));
	if (run_text(&run, text, ctas, threads))
		fail_msg("%s", run.err.text);
	run_free(&run);
}

static void expect_error(const char *text, uint32_t ctas, uint32_t threads, int error,
			 const char *message)
{
	struct run run;
	int ret;

	memset(memory, 0, sizeof(memory));
	ret = run_text(&run, text, ctas, threads);
	assert_string_equal(run.err.text, message);
	assert_int_equal(ret, error);
	run_free(&run);
}

/* Instructions of warps and threads as exec_step() has them, guards, loops and exits included. */
static void counts(void **state)
{
	static const char text[] = HEAD KERNEL
		"and.b32 %r5, %r0, 7;\nsetp.gt.u32 %p0, %r5, 3;\nmov.u32 %r6, 0;\n"
		"@%p0 add.u32 %r6, %r6, 5;\n"
		"loop:\nsetp.ge.u32 %p1, %r6, %r0;\n@%p1 bra out;\nadd.u32 %r6, %r6, 3;\n"
		"activemask.b32 %r7;\nbar.warp.sync %r7;\nbra loop;\n"
		"out:\n@%p0 st.global.u32 [%d1], %r6;\nbar.sync 0;\nsetp.gt.u32 %p2, %r1, 1;\n@%p2 exit;\n"
		"st.global.u32 [%d1], %r0;\nret;\n}\n";
	uint64_t steps = 0, threads = 0;
	struct exec_access access;
	struct exec_warp warps[3];
	struct exec_cta cta = { .shared_bytes = 1024 };
	uint32_t active, w, round;
	struct run run;
	uint8_t *arenas;
	size_t bytes;

	expect_ok(text, 1, 90);
	assert_int_equal(run_text(&run, text, 1, 90), 0);
	bytes = exec_program_arena_bytes(run.program);
	arenas = aligned_alloc(64, 3 * bytes);
	cta.launch = &run.launch;
	cta.shared = calloc(1, 1024);
	for (w = 0; w < 3; w++)
		exec_warp_init(&warps[w], &cta, w, arenas + w * bytes);
	for (round = 0; round < 2; round++) {
		for (w = 0; w < 3; w++) {
			enum exec_outcome outcome;

			do {
				outcome = exec_step(&warps[w], &access, &active, NULL, &run.err);
				if (outcome == EXEC_ACCESS)
					run_access(&run, &warps[w], &access);
				steps++;
				threads += __builtin_popcount(active);
			} while (outcome == EXEC_NEXT || outcome == EXEC_ACCESS);
		}
	}
	assert_true(run.warp_instructions == steps);
	assert_true(run.thread_instructions == threads);
	free(arenas);
	free(cta.shared);
	run_free(&run);
}

/* Phases in shared memory: no warp reads what another has not written. 11 warps are two teams. */
static void sync(void **state)
{
	uint32_t i, c;

	expect_ok(HEAD KERNEL
		  "shl.b32 %r5, %r0, 2;\ncvt.u64.u32 %d2, %r5;\nmov.u64 %d3, s;\nadd.u64 %d2, %d2, %d3;\n"
		  "mov.u32 %r8, 0;\n"
		  "again:\n"
		  "add.u32 %r6, %r0, %r8;\nst.shared.u32 [%d2], %r6;\nbar.sync 0;\n"
		  "xor.b32 %r6, %r0, 64;\nrem.u32 %r6, %r6, %r3;\nmul.wide.u32 %d4, %r6, 4;\nadd.u64 %d4, %d4, %d3;\n"
		  "ld.shared.u32 %r7, [%d4];\nadd.u32 %r9, %r9, %r7;\nbar.sync 0;\n"
		  "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p0, %r8, 3;\n@%p0 bra again;\n"
		  "st.global.u32 [%d1], %r9;\nret;\n}\n", 3, 250);
	for (c = 0; c < 3; c++) {
		for (i = 0; i < 250; i++)
			assert_int_equal(memory[c * 250 + i], 3 * ((i ^ 64) % 250) + 3);
	}
}

/* Warp 0 produces and does not wait; warps 1 and 2 consume; warp 3 has nothing to do with it. */
static void producer(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p1, %r1, 3;\nmov.u32 %r5, 7;\n@%p1 bra done;\n"
		  "@%p0 bra produce;\n"
		  "bar.sync 3, 96;\nld.shared.u32 %r5, [s];\nbra done;\n"
		  "produce:\nmov.u32 %r6, 42;\nst.shared.u32 [s], %r6;\nbar.arrive 3, 96;\n"
		  "done:\nst.global.u32 [%d1], %r5;\nret;\n}\n", 1, 128);
	for (i = 0; i < 128; i++)
		assert_int_equal(memory[i], i / 32 == 1 || i / 32 == 2 ? 42 : 7);
	/* If it waited at the first, nobody would come to the second. */
	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra produce;\nbar.sync 2, 64;\nbar.sync 1, 64;\n"
		  "st.global.u32 [%d1], 1;\nret;\n"
		  "produce:\nbar.arrive 1, 64;\nbar.arrive 2, 64;\nret;\n}\n", 1, 64);
	assert_int_equal(memory[32], 1);
}

/* All lanes of all warps get the sum; lanes that are guarded off keep what they had. */
static void reductions(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL
		  "setp.lt.u32 %p0, %r0, 37;\nbar.red.popc.u32 %r5, 1, %p0;\n"
		  "bar.red.and.pred %p1, 0, %p0;\nbar.red.or.pred %p2, 0, !%p0;\n"
		  "setp.lt.u32 %p3, %r0, 200;\nbar.red.and.pred %p4, 2, 96, %p3;\n"
		  "selp.u32 %r6, 1, 0, %p1;\n@%p2 or.b32 %r6, %r6, 2;\n@%p4 or.b32 %r6, %r6, 4;\n"
		  "mad.lo.u32 %r5, %r5, 16, %r6;\nst.global.u32 [%d1], %r5;\nret;\n}\n", 2, 96);
	for (i = 0; i < 192; i++)
		assert_int_equal(memory[i], 37 * 16 + 6);
	/* A predicate that is the wrong way round for one lane of the last warp. */
	expect_ok(HEAD KERNEL
		  "setp.ne.u32 %p0, %r0, 95;\nbar.red.and.pred %p1, 0, %p0;\nbar.red.or.pred %p2, 0, !%p0;\n"
		  "bar.red.popc.u32 %r5, 0, 96, !%p0;\n"
		  "@%p1 add.u32 %r5, %r5, 100;\n@%p2 add.u32 %r5, %r5, 10;\n"
		  "st.global.u32 [%d1], %r5;\nret;\n}\n", 1, 96);
	for (i = 0; i < 96; i++)
		assert_int_equal(memory[i], 11);
	/* Lanes that the last warp has not are not counted. */
	expect_ok(HEAD KERNEL
		  "setp.ne.u32 %p0, %r0, 3;\nbar.red.popc.u32 %r5, 0, !%p0;\n"
		  "st.global.u32 [%d1], %r5;\nret;\n}\n", 1, 90);
	for (i = 0; i < 90; i++)
		assert_int_equal(memory[i], 1);
}

/* A thread that has exited is not waited for, whether it left before or after the others came. */
static void exited(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r1, 1;\n@%p0 exit;\nbar.sync 0;\n"
		  "setp.eq.u32 %p0, %r1, 3;\n@%p0 exit;\nbar.sync 0;\n"
		  "st.global.u32 [%d1], 5;\nret;\n}\n", 1, 160);
	for (i = 0; i < 160; i++)
		assert_int_equal(memory[i], i / 32 == 1 || i / 32 == 3 ? 0 : 5);
	/* One that arrived and left does not stand for warp 3, which comes late. */
	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra first;\nsetp.ne.u32 %p1, %r1, 3;\n@%p1 bra meet;\n"
		  "late:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5000;\n@%p2 bra late;\n"
		  "st.shared.u32 [s], %r5;\n"
		  "meet:\nbar.sync 0;\nld.shared.u32 %r6, [s];\nst.global.u32 [%d1], %r6;\nret;\n"
		  "first:\nbar.arrive 0, 128;\nexit;\n}\n", 1, 128);
	for (i = 32; i < 128; i++)
		assert_int_equal(memory[i], 5000);
}

static void deadlocks(void **state)
{
	/* Three of four wait for a fourth that left. */
	expect_error(HEAD KERNEL
		     "setp.eq.u32 %p0, %r1, 2;\n@%p0 exit;\nbar.sync 5, 128;\nret;\n}\n", 2, 128, -EDEADLK,
		     "kernel 'k': deadlock: barrier 5 waits for 128 threads and 96 arrived, but every other warp of the CTA has exited or waits elsewhere (test.ptx line 19, thread (0,0,0) of CTA (0,0,0))");
	/* Two at one barrier, two at another. */
	expect_error(HEAD KERNEL
		     "shr.u32 %r5, %r1, 1;\nbar.sync %r5;\nret;\n}\n", 1, 128, -EDEADLK,
		     "kernel 'k': deadlock: barrier 0 waits for 128 threads and 64 arrived, but every other warp of the CTA has exited or waits elsewhere (test.ptx line 18, thread (0,0,0) of CTA (0,0,0))");
	expect_error(HEAD KERNEL
		     "setp.eq.u32 %p0, %r1, 1;\nmov.u32 %r5, 64;\n@%p0 mov.u32 %r5, 96;\n"
		     "bar.sync 1, %r5;\nret;\n}\n", 1, 128, -EINVAL,
		     "kernel 'k': barrier 1: 96 threads, but who came before expects 64 (test.ptx line 20, thread (32,0,0) of CTA (0,0,0))");
}

/*
 * Warp 0 waits in a loop for the last warp's store, and the first CTA for the
 * last one's: each has its turn although the waiting one never ends its own.
 */
static void waiting(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r1, 8;\n@%p0 bra last;\n"
		  "spin:\nld.volatile.shared.u32 %r5, [s];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra spin;\n"
		  "st.global.u32 [%d1], %r5;\nret;\n"
		  "last:\nmov.u32 %r6, 3;\nst.volatile.shared.u32 [s], %r6;\nret;\n}\n", 1, 288);
	for (i = 0; i < 256; i++)
		assert_int_equal(memory[i], 3);
	expect_ok(HEAD KERNEL
		  "setp.eq.u32 %p0, %r2, 19;\n@%p0 bra last;\n"
		  "spin:\nld.volatile.global.u32 %r5, [%d0+65536];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra spin;\n"
		  "st.global.u32 [%d1], %r5;\nret;\n"
		  "last:\nmov.u32 %r6, 4;\nst.volatile.global.u32 [%d0+65536], %r6;\nret;\n}\n", 20, 32);
	for (i = 0; i < 19 * 32; i++)
		assert_int_equal(memory[i], 4);
}

/* Every CTA begins with shared and local memory and registers that are zero. */
static void fresh(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL ".local .align 4 .b8 l[16];\n"
		  "ld.shared.u32 %r5, [s];\nld.local.u32 %r6, [l];\nbar.sync 0;\n"
		  "add.u32 %r7, %r5, %r6;\nadd.u32 %r7, %r7, %r8;\n"
		  "add.u32 %r7, %r7, %r4;\n"
		  "st.shared.u32 [s], 99;\nst.local.u32 [l], 98;\nadd.u32 %r8, %r0, 97;\n"
		  "st.global.u32 [%d1], %r7;\nst.global.u32 [%d0+131072], %r8;\nret;\n}\n", 5, 64);
	for (i = 0; i < 320; i++)
		assert_int_equal(memory[i], i);
}

/* %clock goes on, also for a warp that is alone. */
static void clocks(void **state)
{
	uint32_t i;

	expect_ok(HEAD KERNEL
		  "mov.u32 %r5, %clock;\nadd.u32 %r9, %r5, 1;\nmov.u32 %r6, %clock;\nsub.u32 %r6, %r6, %r5;\n"
		  "st.global.u32 [%d1], %r6;\nret;\n}\n", 2, 96);
	for (i = 0; i < 192; i++)
		assert_in_range(memory[i], 1, 100);
}

static bool stop_at_third(void *ctx)
{
	return ++*(int *)ctx == 3;
}

static void stopped(void **state)
{
	static const char text[] = HEAD KERNEL "spin:\nbra spin;\nret;\n}\n";
	struct exec_range range = { (uint64_t)memory, sizeof(memory), (uint8_t *)memory };
	int asked = 0;
	struct run run;
	struct exec_grid grid = {
		.launch = &run.launch, .ranges = &range, .nranges = 1, .stop = stop_at_third,
		.stop_ctx = &asked,
	};

	run_load(&run, text, NULL);
	run_ptr(&run, memory);
	run.launch = (struct exec_launch){
		.program = run.program, .grid = { 1, 1, 1 }, .block = { 64, 1, 1 },
		.params = run.params,
	};
	assert_int_equal(exec_grid_run(&grid, &run.err), -ECANCELED);
	assert_int_equal(asked, 3);
	assert_string_equal(run.err.text, "");
	assert_in_range(grid.warp_instructions, 1000, 2 * 65536);
	run_free(&run);
}

/* Lanes in two ranges, the last bytes of one, one byte too far, and no range at all. */
static void ranges(void **state)
{
	static const char text[] = HEAD
		".entry k(.param .u64 p, .param .u64 q) {\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
		"ld.param.u64 %d0, [p];\nld.param.u64 %d1, [q];\nmov.u32 %r0, %tid.x;\n"
		"setp.gt.u32 %p0, %r0, 9;\nselp.u64 %d0, %d1, %d0, %p0;\n"
		"mul.wide.u32 %d2, %r0, 8;\nadd.u64 %d0, %d0, %d2;\n"
		"ld.global.v2.u32 {%r1, %r2}, [%d0];\nadd.u32 %r1, %r1, %r2;\n"
		"st.global.u64 [%d0], %d2;\nred.global.add.u32 [%d0+4], %r1;\n"
		"ret;\n}\n";
	static uint32_t low[64], high[64];
	struct exec_range range[2] = {
		{ 0x1000, sizeof(low), (uint8_t *)low },
		{ 0x70000000, sizeof(high), (uint8_t *)high },
	};
	struct run run;
	struct exec_grid grid = { .launch = &run.launch, .ranges = range, .nranges = 2 };
	uint64_t p = 0x1000, q = 0x70000000;
	uint32_t i;

	run_load(&run, text, NULL);
	run_arg(&run, &p, 8);
	run_arg(&run, &q, 8);
	run.launch = (struct exec_launch){
		.program = run.program, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 },
		.params = run.params,
	};
	for (i = 0; i < 64; i++) {
		low[i] = i;
		high[i] = 100 + i;
	}
	assert_int_equal(exec_grid_run(&grid, &run.err), 0);
	for (i = 0; i < 32; i++) {
		const uint32_t *mine = i > 9 ? high : low, *other = i > 9 ? low : high;
		uint32_t sum = i > 9 ? 200 + 4 * i + 1 : 4 * i + 1;

		assert_int_equal(mine[2 * i], 8 * i);
		assert_int_equal(mine[2 * i + 1], sum);
		assert_int_equal(other[2 * i], i > 9 ? 2 * i : 100 + 2 * i);
	}
	range[1].bytes = 8 * 31 + 4;
	assert_int_equal(exec_grid_run(&grid, &run.err), -EFAULT);
	assert_string_equal(run.err.text,
		"kernel 'k': 8-byte load at 0x700000f8 is outside global memory (test.ptx line 15, thread (31,0,0) of CTA (0,0,0))");
	assert_true(grid.fault_addr == 0x700000f8);
	grid.nranges = 0;
	grid.ranges = NULL;
	assert_int_equal(exec_grid_run(&grid, &run.err), -EFAULT);
	assert_string_equal(run.err.text,
		"kernel 'k': 8-byte load at 0x1000 is outside global memory (test.ptx line 15, thread (0,0,0) of CTA (0,0,0))");
	run_free(&run);
}

/* The lane that is wrong is named, whichever warp of the pack it is in. */
static void traps(void **state)
{
	char message[256];

	expect_error(HEAD KERNEL "setp.eq.u32 %p0, %r0, 70;\n@%p0 trap;\nret;\n}\n", 1, 96, -EINVAL,
		     "kernel 'k': trap (test.ptx line 18, thread (70,0,0) of CTA (0,0,0))");
	snprintf(message, sizeof(message),
		 "kernel 'k': misaligned 4-byte store at %p (test.ptx line 19, thread (70,0,0) of CTA (0,0,0))",
		 (void *)((char *)&memory[70] + 2));
	expect_error(HEAD KERNEL "setp.eq.u32 %p0, %r0, 70;\n@%p0 add.u64 %d1, %d1, 2;\n"
		     "st.global.u32 [%d1], %r0;\nret;\n}\n", 1, 96, -EFAULT, message);
	expect_error(HEAD KERNEL "mul.wide.u32 %d3, %r0, 16;\nld.shared.u32 %r5, [%d3];\nret;\n}\n", 1,
		     96, -EFAULT,
		     "kernel 'k': 4-byte load at 0x400 is outside shared memory (1024 bytes) (test.ptx line 18, thread (64,0,0) of CTA (0,0,0))");
}

/*
 * A cooperative launch: more CTAs than else are in flight wait for each other, at the barrier in
 * the workspace whose address the registers say. The 600th to come lets all go.
 */
#define MEET ".version 7.0\n.target sm_70\n.address_size 64\n" \
	".entry k(.param .u64 p) {\n.reg .pred %q;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n" \
	"mov.u32 %r1, %envreg2;\nmov.u32 %r2, %envreg1;\nmov.u32 %r3, %envreg31;\n" \
	"mov.b64 %d1, {%r1, %r2};\nld.param.u64 %d2, [p];\nsetp.eq.u64 %q, %d1, 0;\n" \
	"@%q bra OUT;\natom.global.add.u32 %r4, [%d1+4], 1;\n" \
	"WAIT: ld.volatile.global.u32 %r5, [%d1+4];\nsetp.lt.u32 %q, %r5, 600;\n@%q bra WAIT;\n" \
	"atom.global.add.u32 %r4, [%d2], 1;\nOUT: ret;\n}\n"

static void cooperative(void **state)
{
	static uint32_t workspace[16], count;
	uint64_t where = (uintptr_t)workspace, none = 0;
	struct run run;

	run_load(&run, MEET, NULL);
	assert_true(exec_program_kernel(run.program)->has_workspace);
	assert_int_equal(exec_program_kernel(run.program)->nparams, 1);
	run.whole = true;
	run_ptr(&run, &count);
	run_arg(&run, &where, sizeof(where));
	if (run_grid(&run, 600, 1, 1, 1))
		fail_msg("%s", run.err.text);
	assert_int_equal(count, 600);
	assert_int_equal(workspace[1], 600);
	/* More CTAs than any GPU holds. */
	assert_int_equal(run_grid(&run, 65535, 2, 1, 1), -EINVAL);
	/* Not cooperative: the address is 0. */
	memcpy(run.params + 8, &none, sizeof(none));
	assert_int_equal(run_grid(&run, 600, 1, 1, 1), 0);
	assert_int_equal(count, 600);
	run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(sync),
		cmocka_unit_test(producer),
		cmocka_unit_test(reductions),
		cmocka_unit_test(exited),
		cmocka_unit_test(deadlocks),
		cmocka_unit_test(waiting),
		cmocka_unit_test(fresh),
		cmocka_unit_test(clocks),
		cmocka_unit_test(stopped),
		cmocka_unit_test(ranges),
		cmocka_unit_test(traps),
		cmocka_unit_test(cooperative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
