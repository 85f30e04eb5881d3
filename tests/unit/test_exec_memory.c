// SPDX-License-Identifier: GPL-2.0
/*
 * What an access tells the caller, performing it page by page, generic
 * addresses, wrong addresses, every space, atomics and vectors.
 */
#include "exec_bench.h"

/* A load's pages come one at a time and in any order; so do the lanes of a store. */
static void partial_perform(void **state)
{
	static const char text[] = HEAD
		".entry k(.param .u64 p) {\n"
		".reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
		"ld.param.u64 %d0, [p];\n"
		"mov.u32 %r0, %laneid;\n"
		"mul.wide.u32 %d1, %r0, 512;\n"
		"add.s64 %d0, %d0, %d1;\n"
		"ld.global.u32 %r1, [%d0+4];\n"
		"add.u32 %r2, %r1, 1;\n"
		"st.global.u32 [%d0+4], %r2;\n"
		"mov.u32 %r2, 0;\n"
		"ret;\n}\n";
	static uint8_t memory[4 * 4096] __attribute__((aligned(4096)));
	struct bench b;
	uint32_t lane, page, value;

	open_bench(&b, text, 32);
	run_ptr(&b.run, memory);
	for (lane = 0; lane < 32; lane++)
		memcpy(memory + lane * 512 + 4, &(uint32_t){ 1000 + lane }, 4);
	for (lane = 0; lane < 4; lane++)
		step(&b);
	assert_int_equal(step(&b), EXEC_ACCESS);
	assert_int_equal(b.access.space, PTX_SPACE_GLOBAL);
	assert_int_equal(b.access.bytes, 4);
	assert_int_equal(b.access.lanes, ~0u);
	assert_int_equal(b.access.touched, ~0u);
	assert_false(b.access.is_store);
	for (lane = 0; lane < 32; lane++)
		assert_true(b.access.addr[lane] == (uint64_t)memory + lane * 512 + 4);
	for (page = 4; page-- > 0;) {
		exec_perform(&b.warp, &b.access, 0xffu << 8 * page, (uint64_t)memory + 4096 * page,
			     memory + 4096 * page);
		assert_int_equal(b.access.lanes, (uint32_t)((1ull << 8 * page) - 1));
	}
	step(&b);
	assert_int_equal(step(&b), EXEC_ACCESS);
	assert_true(b.access.is_store);
	/* The register changes before the store is performed: its value is the one at issue. */
	struct exec_access store = b.access;

	step(&b);
	for (page = 0; page < 4; page++)
		exec_perform(&b.warp, &store, 0xffu << 8 * page, (uint64_t)memory + 4096 * page,
			     memory + 4096 * page);
	for (lane = 0; lane < 32; lane++) {
		memcpy(&value, memory + lane * 512 + 4, 4);
		assert_int_equal(value, 1001 + lane);
	}
	close_bench(&b);
}

/* What the timing model sees of memory that is performed at once. */
static void shared_access(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n"
		".shared .align 8 .b8 a[128];\n.reg .b32 %r<4>;\n"
		"mov.u32 %r0, %laneid;\n"
		"shl.b32 %r0, %r0, 2;\n"
		"mov.u32 %r1, a;\n"
		"add.u32 %r0, %r0, %r1;\n"
		"st.shared.u32 [%r0], %r0;\n"
		"ld.shared.u32 %r2, [a+8];\n"
		"ret;\n}\n";
	uint32_t lane, value;
	struct bench b;

	open_bench(&b, text, 24);
	for (lane = 0; lane < 4; lane++) {
		assert_int_equal(step(&b), EXEC_NEXT);
		assert_int_equal(b.access.touched, 0);
	}
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(b.access.space, PTX_SPACE_SHARED);
	assert_int_equal(b.access.touched, 0xffffff);
	assert_int_equal(b.access.lanes, 0);
	assert_true(b.access.is_store);
	for (lane = 0; lane < 24; lane++) {
		assert_true(b.access.addr[lane] == 4 * lane);
		memcpy(&value, b.shared + 4 * lane, 4);
		assert_int_equal(value, 4 * lane);
	}
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_true(b.access.addr[23] == 8);
	close_bench(&b);
}

/* Some lanes' generic addresses are shared, some local, some global. */
static void generic_mix(void **state)
{
	static const char text[] = HEAD
		".entry k(.param .u64 p) {\n"
		".shared .align 8 .b8 a[128];\n.local .align 8 .b8 l[16];\n"
		".reg .b32 %r<4>;\n.reg .b64 %d<8>;\n.reg .pred %s, %o, %g;\n"
		"ld.param.u64 %d0, [p];\n"
		"mov.u64 %d1, a;\ncvta.shared.u64 %d1, %d1;\n"
		"mov.u64 %d2, l;\ncvta.local.u64 %d2, %d2;\n"
		"mov.u32 %r0, %laneid;\n"
		"setp.lt.u32 %s, %r0, 8;\nsetp.ge.u32 %o, %r0, 20;\n"
		"selp.b64 %d3, %d1, %d0, %s;\nselp.b64 %d3, %d2, %d3, %o;\n"
		"mul.wide.u32 %d4, %r0, 4;\n"
		"selp.b64 %d4, 4, %d4, %o;\nadd.u64 %d3, %d3, %d4;\n"
		"st.u32 [%d3], %r0;\n"			/* 23 */
		"ld.u32 %r1, [%d3];\n"
		"isspacep.shared %s, %d3;\nisspacep.local %o, %d3;\nisspacep.global %g, %d3;\n"
		"selp.u32 %r2, 1, 0, %s;\n@%o add.u32 %r2, %r2, 2;\n@%g add.u32 %r2, %r2, 4;\n"
		"cvta.to.shared.u64 %d5, %d3;\n"
		"mad.lo.u32 %r1, %r1, 16, %r2;\n"
		"st.global.u32 [%d0], %r1;\n"		/* 33 */
		"ret;\n}\n";
	static uint32_t memory[1024] __attribute__((aligned(4096)));
	uint32_t lane, value;
	struct bench b;

	open_bench(&b, text, 32);
	run_ptr(&b.run, memory);
	run_to(&b, 23);
	assert_int_equal(step(&b), EXEC_ACCESS);
	assert_int_equal(b.access.space, PTX_SPACE_GLOBAL);
	assert_int_equal(b.access.lanes, 0xfff00);
	assert_int_equal(b.access.touched, 0xfff00);
	exec_perform(&b.warp, &b.access, 0xfff00, (uint64_t)memory, memory);
	assert_int_equal(step(&b), EXEC_ACCESS);
	exec_perform(&b.warp, &b.access, 0xfff00, (uint64_t)memory, memory);
	run_to(&b, 33);
	assert_int_equal(step(&b), EXEC_ACCESS);
	for (lane = 0; lane < 32; lane++) {
		uint32_t kind = lane < 8 ? 1 : lane < 20 ? 4 : 2;

		assert_true(b.access.data[0][lane] == lane * 16 + kind);
		if (lane < 8)
			memcpy(&value, b.shared + 4 * lane, 4);
		else if (lane < 20)
			value = memory[lane];
		else
			memcpy(&value, b.local + 16 * lane + 4, 4);
		assert_int_equal(value, lane);
	}
	close_bench(&b);
}

/* Constant memory lies within global memory, for loads: nvcc reads it so. */
static void global_load_of_constants(void **state)
{
	static const char text[] = HEAD
		".const .align 4 .u32 c[4] = { 50, 51, 52, 53 };\n"
		".entry k(.param .u64 p) {\n"
		".reg .b32 %r<4>;\n.reg .b64 %d<8>;\n.reg .pred %p;\n"
		"ld.param.u64 %d0, [p];\n"
		"mov.u32 %r0, %laneid;\n"
		"mul.wide.u32 %d4, %r0, 4;\n"
		"add.u64 %d0, %d0, %d4;\n"
		"mov.u64 %d1, c;\ncvta.const.u64 %d1, %d1;\n"
		"add.u64 %d1, %d1, %d4;\n"
		"setp.lt.u32 %p, %r0, 4;\n"
		"selp.b64 %d1, %d1, %d0, %p;\n"
		"ld.global.u32 %r1, [%d1];\n"		/* 18 */
		"st.global.u32 [%d0], %r1;\n"
		"ret;\n}\n";
	static uint32_t memory[32] __attribute__((aligned(128)));
	struct bench b;
	uint32_t lane;

	for (lane = 0; lane < 32; lane++)
		memory[lane] = 100 + lane;
	open_bench(&b, text, 32);
	run_ptr(&b.run, memory);
	run_to(&b, 18);
	assert_int_equal(step(&b), EXEC_ACCESS);
	assert_int_equal(b.access.lanes, 0xfffffff0);
	exec_perform(&b.warp, &b.access, 0xfffffff0, (uint64_t)memory, memory);
	assert_int_equal(step(&b), EXEC_ACCESS);
	for (lane = 0; lane < 32; lane++)
		assert_true(b.access.data[0][lane] == (lane < 4 ? 50 : 100) + lane);
	close_bench(&b);
}

/* Runs a kernel of one warp to its trap. */
static void expect_trap(const char *body, uint32_t threads, const char *message, uint64_t addr)
{
	static uint32_t memory[1024] __attribute__((aligned(4096)));
	enum exec_outcome outcome;
	char text[2048];
	struct bench b;

	snprintf(text, sizeof(text), HEAD
		 ".entry k(.param .u64 p) {\n.reg .b32 %%r<9>;\n.reg .b64 %%d<9>;\n.reg .pred %%p;\n"
		 ".shared .align 8 .b8 a[128];\n.local .align 8 .b8 l[16];\n"
		 "ld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%laneid;\n%s\nret;\n}\n", body);
	open_bench(&b, text, threads);
	run_ptr(&b.run, memory);
	do
		outcome = step(&b);
	while (outcome == EXEC_NEXT || outcome == EXEC_ACCESS);
	assert_int_equal(outcome, EXEC_TRAP);
	assert_string_equal(b.run.err.text, message);
	assert_true(b.run.fault_addr == addr);
	close_bench(&b);
}

static void traps(void **state)
{
	expect_trap("mov.u64 %d1, 0x10000;\nadd.u64 %d1, %d1, 2;\nld.global.u32 %r1, [%d1];", 32,
		    "kernel 'k': misaligned 4-byte load at 0x10002 (test.ptx line 14, thread (0,0,0) of CTA (2,4,6))",
		    0x10002);
	/* Only the lane whose address is wrong, and only when it is active. */
	expect_trap("setp.eq.u32 %p, %r0, 9;\nselp.u64 %d1, 0x2004, 0x2000, %p;\n"
		    "@!%p st.global.f64 [%d1], %d0;\nadd.u64 %d1, %d1, 4;\nst.shared.b64 [%d1], %d0;", 10,
		    "kernel 'k': misaligned 8-byte store at 0x2004 (test.ptx line 16, thread (0,0,0) of CTA (2,4,6))",
		    0x2004);
	expect_trap("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [4104];", 32,
		    "kernel 'k': misaligned 16-byte load at 0x1008 (test.ptx line 12, thread (0,0,0) of CTA (2,4,6))",
		    0x1008);
	expect_trap("shl.b32 %r1, %r0, 4;\nld.shared.u32 %r2, [%r1+16];", 32,
		    "kernel 'k': 4-byte load at 0x100 is outside shared memory (256 bytes) (test.ptx line 13, thread (15,0,0) of CTA (2,4,6))",
		    0x100);
	expect_trap("st.shared.u32 [-4], %r0;", 32,
		    "kernel 'k': 4-byte store at 0xfffffffffffffffc is outside shared memory (256 bytes) (test.ptx line 12, thread (0,0,0) of CTA (2,4,6))",
		    0xfffffffffffffffc);
	expect_trap("ld.local.u64 %d1, [l+16];", 32,
		    "kernel 'k': 8-byte load at 0x10 is outside local memory (16 bytes) (test.ptx line 12, thread (0,0,0) of CTA (2,4,6))",
		    16);
	expect_trap("ld.param.u32 %r1, [p+8];", 32,
		    "kernel 'k': 4-byte load at 0x8 is outside parameter memory (8 bytes) (test.ptx line 12, thread (0,0,0) of CTA (2,4,6))",
		    8);
	expect_trap("mov.u64 %d1, 0xffff100000000100;\natom.add.u32 %r1, [%d1], 1;", 32,
		    "kernel 'k': 4-byte atomic at 0x100 is outside shared memory (256 bytes) (test.ptx line 13, thread (0,0,0) of CTA (2,4,6))",
		    0x100);
	expect_trap("setp.ge.u32 %p, %r0, 3;\n@%p trap;", 32,
		    "kernel 'k': trap (test.ptx line 13, thread (3,0,0) of CTA (2,4,6))", 0);
	expect_trap("mov.u32 %r1, 33;\nbar.sync 1, %r1;", 32,
		    "kernel 'k': a barrier of 33 threads, which is no multiple of 32 (test.ptx line 13, thread (0,0,0) of CTA (2,4,6))",
		    0);
}

/* The last bytes count: a load that begins inside and ends outside. */
static void straddling(void **state)
{
	static const char text[] = HEAD
		".entry k(.param .u64 p, .param .u32 q) {\n.reg .b64 %d;\n"
		"ld.param.u64 %d, [8];\nret;\n}\n";
	struct bench b;

	open_bench(&b, text, 32);
	assert_int_equal(step(&b), EXEC_TRAP);
	assert_string_equal(b.run.err.text,
		"kernel 'k': 8-byte load at 0x8 is outside parameter memory (12 bytes) (test.ptx line 6, thread (0,0,0) of CTA (2,4,6))");
	close_bench(&b);
}

/* Constant variables, and the dynamic shared memory behind the static one. */
static void other_spaces(void **state)
{
	static const char text[] = HEAD
		".const .align 4 .u32 table[4] = {10, 11, 12, 13};\n"
		".extern .shared .align 16 .b8 dyn[];\n"
		".entry k() {\n.shared .b8 s[20];\n.reg .b32 %r<6>;\n.reg .b64 %d<3>;\n"
		"mov.u32 %r0, %laneid;\nmul.wide.u32 %d0, %r0, 4;\nmov.u64 %d1, table;\n"
		"add.u64 %d1, %d1, %d0;\nld.const.u32 %r1, [%d1];\nld.const.u32 %r2, [table+12];\n"
		"mul.lo.u32 %r1, %r1, %r2;\n"
		"st.shared.u32 [dyn+32], %r1;\n"		/* 17 */
		"mov.u32 %r3, %clock64;\n"
		"ld.const.u32 %r1, [%d1+4];\n"		/* 18 */
		"ret;\n}\n";
	uint32_t value;
	struct bench b;

	open_bench(&b, text, 4);
	run_to(&b, 17);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_true(b.access.addr[0] == 32 + 32);
	memcpy(&value, b.shared + 64, 4);
	assert_int_equal(value, 13 * 13);
	step(&b);
	assert_int_equal(step(&b), EXEC_TRAP);
	assert_string_equal(b.run.err.text,
		"kernel 'k': 4-byte load at 0x10 is outside constant memory (16 bytes) (test.ptx line 19, thread (3,0,0) of CTA (2,4,6))");
	close_bench(&b);
}

/* A wrong address of a lane that is off is nobody's business. */
static void inactive_addresses(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n.shared .align 8 .b8 a[128];\n"
		".reg .b32 %r<4>;\n.reg .pred %p;\n"
		"mov.u32 %r0, %laneid;\n"
		"setp.eq.u32 %p, %r0, 3;\n"
		"selp.u32 %r1, 0x7fffffff, 0, %p;\n"
		"@!%p st.shared.u32 [%r1], %r0;\n"
		"ret;\n}\n";
	struct bench b;
	int i;

	open_bench(&b, text, 32);
	for (i = 0; i < 4; i++)
		assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(b.access.touched, ~8u);
	close_bench(&b);
}

/* Every atomic of every type, in lane order, on shared and on global memory. */
static void atomics(void **state)
{
	static const struct {
		const char *op, *type;
		uint64_t start, value, value2, result, old_of_3;
	} cases[] = {
		/* Four lanes; lane i brings value + i (cas: compares value + i, stores value2). */
		{ "add", "u32", 10, 5, 0, 10 + 5 + 6 + 7 + 8, 10 + 5 + 6 + 7 },
		{ "add", "s32", 0xffffffff, 1, 0, 9, 5 },
		{ "add", "u64", 0xffffffff, 1, 0, 0x100000009, 0x100000005 },
		{ "add", "f32", 0x3f800000, 0x40000000, 0, 0x41100001, 0x40e00001 },
		{ "add", "f64", 0x3ff0000000000000, 0x4000000000000000, 0, 0x4022000000000001, 0x401c000000000001 },
		{ "min", "u32", 7, 6, 0, 6, 6 }, { "min", "s32", 0, 0xfffffffd, 0, 0xfffffffd, 0xfffffffd },
		{ "min", "u64", 7, 8, 0, 7, 7 }, { "min", "s64", 0, -3ull, 0, -3ull, -3ull },
		{ "max", "u32", 7, 6, 0, 9, 8 }, { "max", "s32", 5, 0xfffffffd, 0, 5, 5 },
		{ "max", "u64", 7, -3ull, 0, -1ull, -1ull }, { "max", "s64", -9ull, -4ull, 0, -1ull, -2ull },
		{ "and", "b32", 0xff, 0xf0, 0, 0xf0 & 0xf1 & 0xf2 & 0xf3, 0xf0 & 0xf1 & 0xf2 },
		{ "or", "b32", 0x100, 4, 0, 0x107, 0x107 }, { "xor", "b32", 0x100, 4, 0, 0x100, 0x107 },
		{ "and", "b64", -1ull, 0xf0, 0, 0xf0, 0xf0 }, { "or", "b64", 1ull << 40, 4, 0, 1ull << 40 | 7, 1ull << 40 | 7 },
		{ "xor", "b64", 0, 8, 0, 0, 8 ^ 9 ^ 10 },
		{ "exch", "b32", 1, 20, 0, 23, 22 }, { "exch", "b64", 1, 20, 0, 23, 22 },
		{ "inc", "u32", 6, 5, 0, 3, 2 }, { "dec", "u32", 1, 5, 0, 4, 5 },
		{ "dec", "u32", 100, 5, 0, 2, 3 },
		{ "cas", "b32", 6, 5, 7, 7, 7 }, { "cas", "b64", 8, 5, 1ull << 35, 1ull << 35, 8 },
	};
	static uint64_t memory[512] __attribute__((aligned(4096)));
	char text[1024];
	struct bench b;
	size_t i, where;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *bits = cases[i].type + 1;
		bool cas = !strcmp(cases[i].op, "cas");
		uint64_t old, now;

		for (where = 0; where < 3; where++) {
			/* 0: shared, 1: global, 2: generic */
			snprintf(text, sizeof(text), HEAD
				 ".entry k(.param .u64 p) {\n.shared .align 8 .b8 a[128];\n"
				 ".reg .b32 %%x32<5>;\n.reg .b64 %%x64<5>;\n.reg .b64 %%d<3>;\n"
				 "%s"
				 "mov.u32 %%x320, %%laneid;\ncvt.u64.u32 %%x640, %%x320;\n"
				 "mov.b64 %%x643, %llu;\nmov.b64 {%%x323, _}, %%x643;\n"
				 "add.u%s %%x%s1, %%x%s0, %%x%s3;\n"
				 "atom%s.%s.%s %%x%s2, [%%d0], %%x%s1%s%s;\n"
				 "st.global.b%s [0], %%x%s2;\nret;\n}\n",
				 where ? "ld.param.u64 %d0, [p];\n" : "mov.u64 %d0, a;\n",
				 (unsigned long long)cases[i].value, bits, bits, bits, bits,
				 where == 0 ? ".shared" : where == 1 ? ".global" : "", cases[i].op,
				 cases[i].type, bits, bits, cas ? ", " : "",
				 !cas ? "" : cases[i].value2 == 7 ? "7" : "0x800000000", bits, bits);
			open_bench(&b, text, 4);
			run_ptr(&b.run, memory);
			memory[0] = cases[i].start;
			memcpy(b.shared, &cases[i].start, 8);
			for (;;) {
				enum exec_outcome outcome = step(&b);

				if (outcome == EXEC_ACCESS && !b.access.is_atomic)
					break;
				assert_int_not_equal(outcome, EXEC_TRAP);
				if (outcome == EXEC_ACCESS)
					exec_perform(&b.warp, &b.access, 0xf, (uint64_t)memory,
						     memory);
			}
			old = b.access.data[0][3];
			memcpy(&now, where ? memory : (void *)b.shared, 8);
			if (*bits == '3')
				now = (uint32_t)now;
			if (now != cases[i].result || old != cases[i].old_of_3)
				fail_msg("%s.%s leaves %#llx and gives %#llx", cases[i].op, cases[i].type,
					 (unsigned long long)now, (unsigned long long)old);
			close_bench(&b);
		}
	}
}

/* PTX ISA, atom.add.f32: subnormals count in shared memory, not in global. */
static void atomic_subnormals(void **state)
{
	static const char text[] = HEAD
		".entry k(.param .u64 p) {\n.shared .align 8 .b8 a[128];\n.reg .b64 %d;\n"
		"ld.param.u64 %d, [p];\n"
		"red.shared.add.f32 [a], 0f00000003;\n"
		"red.global.add.f32 [%d], 0f00000003;\n"
		"red.shared.add.f32 [a+4], 0f80800000;\n"
		"red.global.add.f32 [%d+4], 0f80800000;\n"
		"ret;\n}\n";
	static uint32_t memory[1024] __attribute__((aligned(4096)));
	struct bench b;

	open_bench(&b, text, 1);
	run_ptr(&b.run, memory);
	memory[0] = 0x80000005;
	step(&b);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(step(&b), EXEC_ACCESS);
	exec_perform(&b.warp, &b.access, 1, (uint64_t)memory, memory);
	assert_int_equal(b.shared[0], 3);
	assert_int_equal(memory[0], 0);
	/* The operands are normal here, their sum is not. */
	memory[1] = 0x00800001;
	memcpy(b.shared + 4, &memory[1], 4);
	assert_int_equal(step(&b), EXEC_NEXT);
	assert_int_equal(step(&b), EXEC_ACCESS);
	exec_perform(&b.warp, &b.access, 1, (uint64_t)memory, memory);
	assert_int_equal(b.shared[4], 1);
	assert_int_equal(memory[1], 0);
	close_bench(&b);
}

/* Vector loads, stores, packing; the bit bucket; extension into wide registers. */
static void vectors(void **state)
{
	static const char text[] = HEAD
		".entry k() {\n.shared .align 16 .b8 a[128];\n"
		".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .b16 %h<9>;\n"
		"ld.shared.v4.u32 {%r0, _, %r1, %r2}, [a];\n"
		"ld.shared.v2.u8 {%h0, %h1}, [a+2];\n"
		"ld.shared.s8 %d0, [a+7];\n"
		"ld.shared.v2.s16 {%r3, %r4}, [a+4];\n"
		"ld.shared.u32 %d1, [a+4];\n"
		"mov.b64 {%r5, %r6}, %d1;\n"
		"mov.b32 {%h2, %h3}, %r2;\n"
		"mov.b64 {%h4, %h5, %h6, %h7}, %d0;\n"
		"mov.b64 %d2, {%r0, %r1};\n"
		"mov.b32 %r7, {%h3, %h2};\n"
		"mov.b64 %d3, {%h0, %h1, %h2, %h7};\n"
		"st.shared.v2.u64 [a+16], {%d0, %d2};\n"
		"st.shared.v4.b16 [a+32], {%h0, %h1, %h6, %h3};\n"
		"st.shared.v4.b32 [a+48], {%r3, %r4, %r5, %r7};\n"
		"st.shared.u8 [a+40], %d0;\n"
		"st.shared.u64 [a+64], %d3;\n"
		"ret;\n}\n";
	static const uint32_t expected[] = {
		0x03020100, 0x87868584, 0x0b0a0908, 0x0f0e0d0c,
		0xffffff87, 0xffffffff, 0x03020100, 0x0b0a0908,
		0x00030002, 0x0f0effff, 0x00000087, 0,
		0xffff8584, 0xffff8786, 0x87868584, 0x0d0c0f0e,
		0x00030002, 0xffff0d0c, 0,
	};
	struct bench b;
	int i;

	open_bench(&b, text, 1);
	for (i = 0; i < 16; i++)
		b.shared[i] = i + (i >= 4 && i < 8 ? 0x80 : 0);
	do
		i = step(&b);
	while (i == EXEC_NEXT);
	assert_int_equal(i, EXEC_EXITED);
	assert_memory_equal(b.shared, expected, sizeof(expected));
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partial_perform),
		cmocka_unit_test(shared_access),
		cmocka_unit_test(generic_mix),
		cmocka_unit_test(global_load_of_constants),
		cmocka_unit_test(traps),
		cmocka_unit_test(straddling),
		cmocka_unit_test(other_spaces),
		cmocka_unit_test(inactive_addresses),
		cmocka_unit_test(atomics),
		cmocka_unit_test(atomic_subnormals),
		cmocka_unit_test(vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
