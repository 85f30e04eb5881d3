// SPDX-License-Identifier: GPL-2.0
/*
 * One warp at a time: the SIMT stack, exits, guards, barriers, special registers,
 * what lanes exchange and what the scoreboard is told.
 */
#include "exec_bench.h"

/* The taken side runs first, then the others, then all together. */
static void diamond(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"			/* 4 */
		".reg .pred %p;\n.reg .b32 %r<3>;\n"
		"mov.u32 %r0, %laneid;\n"		/* 7 */
		"setp.lt.u32 %p, %r0, 5;\n"
		"@%p bra yes;\n"			/* 9 */
		"mov.u32 %r1, 1;\n"
		"bra.uni join;\n"			/* 11 */
		"yes:\n"
		"mov.u32 %r1, 2;\n"			/* 13 */
		"join:\n"
		"mov.u32 %r2, %r1;\n"			/* 15 */
		"ret;\n}\n";
	struct bench b;

	open_bench(&b, text, 32);
	run_to(&b, 9);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(b.warp.depth, 3);
	assert_int_equal(line_of(&b), 13);
	assert_int_equal(b.warp.mask, 0x1f);
	step(&b);
	assert_int_equal(line_of(&b), 10);
	assert_int_equal(b.warp.mask, ~0x1fu);
	step(&b);
	step(&b);
	assert_int_equal(line_of(&b), 15);
	assert_int_equal(b.warp.mask, ~0u);
	assert_int_equal(b.warp.depth, 1);
	step(&b);
	assert_int_equal(step(&b), EXEC_EXITED);
	assert_int_equal(b.warp.mask, 0);
	assert_int_equal(step(&b), EXEC_EXITED);
	close_bench(&b);
}

/* Lanes leave a loop one by one: the stack does not grow with the rounds. */
static void loop(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".reg .pred %p;\n.reg .b32 %r<3>;\n"
		"mov.u32 %r0, %laneid;\n"		/* 7 */
		"again:\n"
		"sub.u32 %r0, %r0, 1;\n"		/* 9 */
		"setp.ge.s32 %p, %r0, 0;\n"
		"@%p bra again;\n"			/* 11 */
		"add.u32 %r1, %r0, 1;\n"		/* 12 */
		"ret;\n}\n";
	uint32_t rounds = 0;
	struct bench b;

	open_bench(&b, text, 32);
	for (;;) {
		run_to(&b, 11);
		assert_int_equal(b.warp.mask, ~0u << rounds);
		assert_true(b.warp.depth <= 2);
		step(&b);
		rounds++;
		if (line_of(&b) == 12)
			break;
	}
	assert_int_equal(rounds, 32);
	assert_int_equal(b.warp.mask, ~0u);
	close_bench(&b);
}

static void partial_exit(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".reg .pred %p, %q;\n.reg .b32 %r<3>;\n"
		"mov.u32 %r0, %laneid;\n"
		"setp.lt.u32 %p, %r0, 8;\n"		/* 8 */
		"setp.ge.u32 %q, %r0, 16;\n"
		"@%q bra high;\n"			/* 10 */
		"@%p exit;\n"				/* 11 */
		"mov.u32 %r1, 1;\n"			/* 12 */
		"bra join;\n"
		"high:\n"
		"ret;\n"				/* 15 */
		"join:\n"
		"mov.u32 %r2, 1;\n"			/* 17 */
		"ret;\n}\n";
	struct bench b;

	open_bench(&b, text, 20);
	assert_int_equal(b.warp.mask, 0xfffff);
	assert_int_equal(b.warp.exited, ~0xfffffu);
	run_to(&b, 15);
	assert_int_equal(b.warp.mask, 0xf0000);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(line_of(&b), 11);
	assert_int_equal(b.warp.mask, 0xffff);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(b.warp.mask, 0xff00);
	assert_int_equal(b.warp.exited, ~0xff00u);
	run_to(&b, 17);
	assert_int_equal(b.warp.mask, 0xff00);
	step(&b);
	assert_int_equal(step(&b), EXEC_EXITED);
	close_bench(&b);
}

/* Lanes that leave inside a branch are missing where the others meet again. */
static void exit_before_join(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".reg .pred %p, %q;\n.reg .b32 %r<3>;\n"
		"mov.u32 %r0, %laneid;\n"
		"setp.lt.u32 %p, %r0, 8;\n"
		"setp.lt.u32 %q, %r0, 2;\n"
		"@!%p bra join;\n"			/* 10 */
		"@%q ret;\n"
		"mov.u32 %r1, 1;\n"			/* 12 */
		"join:\n"
		"mov.u32 %r2, 1;\n"			/* 14 */
		"ret;\n}\n";
	struct bench b;

	open_bench(&b, text, 32);
	run_to(&b, 12);
	assert_int_equal(b.warp.mask, 0xfc);
	run_to(&b, 14);
	assert_int_equal(b.warp.mask, ~3u);
	assert_int_equal(b.warp.depth, 1);
	step(&b);
	assert_int_equal(step(&b), EXEC_EXITED);
	close_bench(&b);
}

/* A guard that is false everywhere skips; active says whom it let through. */
static void guards(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".reg .pred %p, %q;\n.reg .b32 %r<3>;\n"
		"mov.u32 %r0, %laneid;\n"
		"setp.lt.u32 %p|%q, %r0, 8;\n"
		"@%p mov.u32 %r1, 7;\n"			/* 9 */
		"@%q mov.u32 %r1, 9;\n"
		"setp.gt.u32 %p, %r0, 99;\n"
		"@%p bar.sync 0;\n"			/* 12 */
		"@%p exit;\n"
		"@!%p mov.u32 %r2, %r1;\n"		/* 14 */
		"ret;\n}\n";
	uint32_t active;
	struct bench b;

	open_bench(&b, text, 32);
	run_to(&b, 9);
	exec_step(&b.warp, &b.access, &active, NULL, NULL);
	assert_int_equal(active, 0xff);
	exec_step(&b.warp, &b.access, &active, NULL, NULL);
	assert_int_equal(active, ~0xffu);
	run_to(&b, 12);
	assert_int_equal(exec_step(&b.warp, &b.access, &active, NULL, NULL), EXEC_NEXT);
	assert_int_equal(active, 0);
	run_to(&b, 14);
	exec_step(&b.warp, &b.access, &active, NULL, NULL);
	assert_int_equal(active, ~0u);
	close_bench(&b);
}

static void barriers(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".reg .b32 %r<3>;\n"
		"bar.sync 0;\n"
		"barrier.sync.aligned 5, 64;\n"
		"mov.u32 %r0, 3;\nmov.u32 %r1, 96;\n"
		"bar.sync %r0, %r1;\n"
		"bar.warp.sync -1;\n"
		"mov.u32 %r0, 16;\n"
		"bar.sync %r0;\n"			/* 13 */
		"ret;\n}\n";
	struct bench b;

	open_bench(&b, text, 32);
	assert_int_equal(step(&b), EXEC_BARRIER);
	assert_int_equal(b.access.barrier, 0);
	assert_int_equal(b.access.barrier_threads, 0);
	assert_int_equal(b.warp.pc, 1);
	assert_int_equal(step(&b), EXEC_BARRIER);
	assert_int_equal(b.access.barrier, 5);
	assert_int_equal(b.access.barrier_threads, 64);
	step(&b);
	step(&b);
	assert_int_equal(step(&b), EXEC_BARRIER);
	assert_int_equal(b.access.barrier, 3);
	assert_int_equal(b.access.barrier_threads, 96);
	assert_int_equal(step(&b), EXEC_NEXT);
	step(&b);
	assert_int_equal(step(&b), EXEC_TRAP);
	assert_string_equal(b.run.err.text,
		"kernel 'k': barrier 16 does not exist (0 to 15) (test.ptx line 13, thread (0,0,0) of CTA (2,4,6))");
	close_bench(&b);
}

static void special_registers(void **state)
{
	const struct {
		const char *name;
		uint32_t (*expect)(uint32_t thread);
	} sregs[] = {
#define SREG(name, expr) { name, ({ uint32_t f_(uint32_t t) { (void)t; return expr; } f_; }) }
		SREG("%tid.x", t % 5), SREG("%tid.y", t / 5 % 3), SREG("%tid.z", t / 15),
		SREG("%ntid.x", 5), SREG("%ntid.y", 3), SREG("%ntid.z", 4),
		SREG("%ctaid.x", 2), SREG("%ctaid.y", 4), SREG("%ctaid.z", 6),
		SREG("%nctaid.x", 3), SREG("%nctaid.y", 5), SREG("%nctaid.z", 7),
		SREG("%laneid", t % 32), SREG("%warpid", 11), SREG("%nwarpid", 48),
		SREG("%smid", 9), SREG("%nsmid", 15), SREG("%gridid", 7), SREG("%clock", 0x89abcdef),
		SREG("%lanemask_eq", 1u << t % 32), SREG("%lanemask_lt", (1ull << t % 32) - 1),
		SREG("%lanemask_le", (2ull << t % 32) - 1), SREG("%lanemask_gt", ~((2ull << t % 32) - 1)),
		SREG("%lanemask_ge", ~((1ull << t % 32) - 1)), SREG("%dynamic_smem_size", 64),
		SREG("%total_smem_size", 256), SREG("WARP_SZ", 32),
	};
	char text[512];
	struct bench b;
	uint32_t lane;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sregs); i++) {
		snprintf(text, sizeof(text), HEAD ".entry k() {\n.reg .b32 %%r;\n.reg .b64 %%d;\n"
			 "mov.u32 %%r, %s;\nst.global.u32 [0], %%r;\n"
			 "mov.u64 %%d, %%clock64;\nst.global.u64 [0], %%d;\nret;\n}\n", sregs[i].name);
		open_bench(&b, text, 60);
		b.run.launch.block[0] = 5;
		b.run.launch.block[1] = 3;
		b.run.launch.block[2] = 4;
		exec_warp_init(&b.warp, &b.cta, 1, b.arena);
		assert_int_equal(b.warp.mask, 0x0fffffff);
		b.warp.clock = 0x123456789abcdefull;
		b.warp.smid = 9;
		b.warp.nsmid = 15;
		b.warp.slot = 11;
		b.warp.nslots = 48;
		step(&b);
		assert_int_equal(step(&b), EXEC_ACCESS);
		for (lane = 0; lane < 28; lane++) {
			if (b.access.data[0][lane] != sregs[i].expect(32 + lane))
				fail_msg("%s of lane %u is %#llx", sregs[i].name, lane,
					 (unsigned long long)b.access.data[0][lane]);
		}
		step(&b);
		step(&b);
		assert_true(b.access.data[0][27] == 0x123456789abcdefull);
		close_bench(&b);
	}
}

/* shfl in all modes, with the segments and clamps that CUDA's width makes. */
static void shuffles(void **state)
{
	const struct {
		const char *mode;
		uint32_t b, c;
		int (*from)(int lane);	/* -1: out of range */
	} cases[] = {
#define FROM(expr) ({ int f_(int l) { return expr; } f_; })
		{ "idx", 5, 31, FROM(5 + l * 0) }, { "idx", 37, 31, FROM(5 + l * 0) },
		{ "up", 3, 0, FROM(l >= 3 ? l - 3 : -1) },
		{ "down", 4, 31, FROM(l + 4 < 32 ? l + 4 : -1) },
		{ "bfly", 16, 31, FROM(l ^ 16) }, { "bfly", 1, 31, FROM(l ^ 1) },
		/* width 8: segment mask 0x18 */
		{ "idx", 3, 0x181f, FROM((l & ~7) + 3) },
		{ "up", 2, 0x1800, FROM((l & 7) >= 2 ? l - 2 : -1) },
		{ "down", 3, 0x181f, FROM((l & 7) + 3 < 8 ? l + 3 : -1) },
	};
	char text[512];
	struct bench b;
	int lane, from;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), HEAD
			 ".entry k() {\n.reg .b32 %%r<3>;\n.reg .pred %%p;\n"
			 "mov.u32 %%r0, %%laneid;\nmul.lo.u32 %%r0, %%r0, 3;\n"
			 "shfl.sync.%s.b32 %%r0|%%p, %%r0, %u, %u, -1;\n"
			 "@!%%p add.u32 %%r0, %%r0, 1000;\n"
			 "st.global.u32 [0], %%r0;\nret;\n}\n",
			 cases[i].mode, cases[i].b, cases[i].c);
		open_bench(&b, text, 32);
		while (step(&b) == EXEC_NEXT)
			;
		for (lane = 0; lane < 32; lane++) {
			from = cases[i].from(lane);
			assert_true(b.access.data[0][lane] ==
				    (uint32_t)(from < 0 ? lane * 3 + 1000 : from * 3));
		}
		close_bench(&b);
	}
}

static void votes(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n.reg .b32 %r<4>;\n.reg .pred %p, %q, %a, %n, %u;\n"
		"mov.u32 %r0, %laneid;\nsetp.lt.u32 %p, %r0, 10;\n"
		"setp.ge.u32 %q, %r0, 4;\n@!%q exit;\n"
		"vote.sync.all.pred %a, %p, -1;\nvote.sync.any.pred %n, %p, -1;\n"
		"vote.sync.uni.pred %u, %p, -1;\nvote.sync.ballot.b32 %r1, !%p, -1;\n"
		"activemask.b32 %r2;\n"
		"selp.u32 %r3, 1, 0, %a;\n@%n or.b32 %r3, %r3, 2;\n@%u or.b32 %r3, %r3, 4;\n"
		"st.global.v4.u32 [0], {%r1, %r2, %r3, %r0};\nret;\n}\n";
	struct bench b;

	open_bench(&b, text, 32);
	while (step(&b) == EXEC_NEXT)
		;
	assert_true(b.access.data[0][31] == 0xfffffc00);
	assert_true(b.access.data[1][4] == 0xfffffff0);
	assert_true(b.access.data[2][8] == 2);
	close_bench(&b);
}

/* What the scoreboard is told. */
static void info(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n.shared .b8 a[16];\n.reg .b32 %r<9>;\n.reg .b64 %d;\n.reg .pred %p, %q;\n"
		"@%p mad.lo.u32 %r0, %r1, 5, %r2;\n"
		"atom.global.cas.b32 %r3, [%d+4], %r0, %r1;\n"
		"setp.lt.and.f32 %p|%q, %r1, %r2, !%q;\n"
		"@!%q bra out;\n"
		"st.shared.v2.u32 [a], {%r4, %r5};\n"
		"out:\nret;\n}\n";
	const struct exec_info *i;
	struct bench b;

	open_bench(&b, text, 32);
	/* Registers are numbered as the text first names them: p r0 r1 r2 r3 d q r4 r5. */
	i = exec_program_info(b.run.program, 0);
	assert_int_equal(i->cls, PTX_CLASS_INT_MAD);
	assert_int_equal(i->nread, 3);
	assert_int_equal(i->read[0], 0);
	assert_int_equal(i->read[1], 2);
	assert_int_equal(i->read[2], 3);
	assert_int_equal(i->nwrite, 1);
	assert_int_equal(i->write[0], 1);
	i = exec_program_info(b.run.program, 1);
	assert_int_equal(i->cls, PTX_CLASS_MEMORY);
	assert_int_equal(i->space, PTX_SPACE_GLOBAL);
	assert_true(i->is_atomic);
	assert_int_equal(i->nread, 3);
	assert_int_equal(i->read[0], 5);
	i = exec_program_info(b.run.program, 2);
	assert_int_equal(i->nread, 3);
	assert_int_equal(i->nwrite, 2);
	assert_int_equal(i->write[1], 6);
	i = exec_program_info(b.run.program, 3);
	assert_true(i->is_branch);
	assert_int_equal(i->nread, 1);
	i = exec_program_info(b.run.program, 4);
	assert_true(i->is_store);
	assert_int_equal(i->nread, 2);
	assert_int_equal(exec_program_nregs(b.run.program), 9);
	assert_int_equal(exec_program_arena_bytes(b.run.program) % 64, 0);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diamond),
		cmocka_unit_test(loop),
		cmocka_unit_test(partial_exit),
		cmocka_unit_test(exit_before_join),
		cmocka_unit_test(guards),
		cmocka_unit_test(barriers),
		cmocka_unit_test(special_registers),
		cmocka_unit_test(shuffles),
		cmocka_unit_test(votes),
		cmocka_unit_test(info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
