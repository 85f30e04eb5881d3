// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of 32 bits: shared, local, constant and parameter memory have them, whatever
 * the register holds, and what is added wraps; global memory and generic addresses
 * have 64. With every instruction set of the host, whole and step by step.
 */
#include "exec_bench.h"

#define LANES 32
#define WORDS 128	/* of a variable */

/* By lane: the element, whether it is on, what to add to the address's 64 bits; then results. */
static struct {
	uint32_t index[LANES], on[LANES];
	uint64_t junk[LANES];
	uint32_t out[LANES][4];
} now, start;

static const struct space {
	const char *name, *variable;
	bool stores;
} spaces[] = {
	{ "shared", "sha", true }, { "local", "loc", true }, { "const", "cst", false },
	{ "param", "prm", false },
};

static const struct width {
	const char *name, *registers;
	uint32_t bytes;
} widths[] = {
	{ "u8", "%r10", 1 }, { "u16", "%r10", 2 }, { "b32", "%r10", 4 }, { "v2.b32", "{%r10, %r11}", 8 },
	{ "v4.b32", "{%r10, %r11, %r12, %r13}", 16 }, { "b64", "%d10", 8 },
};

/* Value of byte `at` of a variable, of lane `lane` where each has its own. */
static uint8_t byte_at(const struct space *space, uint32_t lane, uint32_t at)
{
	return at * 7 + (at >> 5) + (strcmp(space->name, "local") ? 0 : lane);
}

/* The variable in the space, filled; then %r2 or %d2, from which [+disp] leads to the element. */
static char *kernel_text(const struct space *space, const struct width *width, bool wide, int disp)
{
	static char text[16384];
	char *p = text;
	uint32_t i;

	p += sprintf(p, HEAD ".const .align 16 .b8 cst[%u] = {", 4 * WORDS);
	for (i = 0; i < 4 * WORDS; i++)
		p += sprintf(p, "%s%u", i ? "," : "", byte_at(&spaces[2], 0, i));
	p += sprintf(p, "};\n.entry k(.param .u64 p, .param .align 16 .b8 prm[%u]) {\n"
		     ".shared .align 16 .b8 sha[%u];\n.local .align 16 .b8 loc[%u];\n"
		     ".reg .pred %%p<3>;\n.reg .b32 %%r<20>;\n.reg .b64 %%d<20>;\n"
		     "ld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%d1, %%r0, 4;\n"
		     "add.u64 %%d1, %%d0, %%d1;\nld.global.u32 %%r1, [%%d1];\nld.global.u32 %%r3, [%%d1+%u];\n"
		     "setp.ne.u32 %%p1, %%r3, 0;\n", 4 * WORDS, 4 * WORDS, 4 * WORDS,
		     (uint32_t)offsetof(__typeof__(now), on));
	if (space->stores)
		p += sprintf(p, "mov.u32 %%r4, 0;\nmov.u32 %%r5, %s;\nfill:\nmul.lo.u32 %%r6, %%r4, 7;\n"
			     "shr.u32 %%r7, %%r4, 5;\nadd.u32 %%r6, %%r6, %%r7;\n%s"
			     "st.%s.u8 [%%r5], %%r6;\nadd.u32 %%r4, %%r4, 1;\nadd.u32 %%r5, %%r5, 1;\n"
			     "setp.lt.u32 %%p2, %%r4, %u;\n@%%p2 bra fill;\n", space->variable,
			     strcmp(space->name, "local") ? "" : "add.u32 %r6, %r6, %r0;\n", space->name, 4 * WORDS);
	p += sprintf(p, "mul.lo.u32 %%r2, %%r1, %u;\nmov.u32 %%r5, %s;\nadd.u32 %%r2, %%r2, %%r5;\n"
		     "sub.u32 %%r2, %%r2, %d;\n", width->bytes, space->variable, disp);
	if (wide)
		p += sprintf(p, "mul.wide.u32 %%d1, %%r0, 8;\nadd.u64 %%d1, %%d0, %%d1;\nld.global.u64 %%d3, [%%d1+%u];\n"
			     "cvt.u64.u32 %%d2, %%r2;\nadd.u64 %%d2, %%d2, %%d3;\n",
			     (uint32_t)offsetof(__typeof__(now), junk));
	p += sprintf(p, "mov.u32 %%r10, -1;\nmov.u32 %%r11, -1;\nmov.u32 %%r12, -1;\nmov.u32 %%r13, -1;\nmov.u64 %%d10, -1;\n"
		     "@%%p1 ld.%s.%s %s, [%%%s2+%d];\n", space->name, width->name, width->registers,
		     wide ? "d" : "r", disp);
	if (width->registers[1] == 'd')
		p += sprintf(p, "mov.b64 {%%r10, %%r11}, %%d10;\n");
	/* A store, and what it left: each bit turned. */
	if (space->stores && width->bytes == 4)
		p += sprintf(p, "not.b32 %%r11, %%r10;\n@%%p1 st.%s.b32 [%%%s2+%d], %%r11;\nbar.sync 0;\n"
			     "@%%p1 ld.%s.b32 %%r12, [%%%s2+%d];\n", space->name, wide ? "d" : "r", disp,
			     space->name, wide ? "d" : "r", disp);
	p += sprintf(p, "mul.wide.u32 %%d1, %%r0, 16;\nadd.u64 %%d1, %%d0, %%d1;\n"
		     "st.global.v4.b32 [%%d1+%u], {%%r10, %%r11, %%r12, %%r13};\nret;\n}\n",
		     (uint32_t)offsetof(__typeof__(now), out));
	assert_true(p < text + sizeof(text));
	return text;
}

static void expected(const struct space *space, const struct width *width)
{
	uint32_t lane, i, bytes = width->bytes;
	uint8_t value[16];

	for (lane = 0; lane < LANES; lane++) {
		memset(start.out[lane], 0xff, sizeof(start.out[lane]));
		if (start.on[lane]) {
			for (i = 0; i < bytes; i++)
				value[i] = byte_at(space, lane, start.index[lane] * bytes + i);
			start.out[lane][0] = bytes < 4 ? 0 : start.out[lane][0];
			memcpy(start.out[lane], value, bytes);
		}
		if (space->stores && bytes == 4) {
			start.out[lane][1] = ~start.out[lane][0];
			start.out[lane][2] = start.on[lane] ? start.out[lane][1] : ~0u;
		}
	}
}

static void check(const struct space *space, const struct width *width, bool wide, int disp)
{
	const struct lane_table *tables[3];
	size_t n = run_tables(tables), way;
	uint32_t pattern, lane, i;
	struct run run;

	for (way = 0; way <= n; way++) {
		run_load_with(&run, kernel_text(space, width, wide, disp), NULL, tables[way % n]);
		run.whole = way < n;
		run_ptr(&run, &now);
		run.param_bytes = 16;
		for (i = 0; i < 4 * WORDS; i++)
			run.params[run.param_bytes++] = byte_at(&spaces[3], 0, i);
		for (pattern = 0; pattern < 6; pattern++) {
			memset(&start, 0, sizeof(start));
			for (lane = 0; lane < LANES; lane++) {
				/* In a row; each its own; halves. The stores of lanes do not meet. */
				start.index[lane] = pattern % 3 == 0 ? lane : pattern % 3 == 1 ?
					lane * 13 % LANES : (lane + 16) % LANES;
				start.on[lane] = pattern < 3 || lane % 3;
				start.junk[lane] = wide ? 1ull << 63 | (lane % 4 + 1ull) << 32 : 0;
			}
			expected(space, width);
			now = start;
			memset(now.out, 0, sizeof(now.out));
			if (run_grid(&run, 1, 1, LANES, 1))
				fail_msg("%s", run.err.text);
			if (memcmp(&now, &start, sizeof(now)))
				fail_msg("ld.%s.%s [%s+%d], lanes %u: %s", space->name, width->name,
					 wide ? "64" : "32", disp, pattern,
					 way < n ? tables[way]->name : "step by step");
		}
		run_free(&run);
	}
}

static void loads(void **state)
{
	size_t s, w;

	for (s = 0; s < ARRAY_SIZE(spaces); s++) {
		for (w = 0; w < ARRAY_SIZE(widths); w++) {
			/* Some lanes' registers are below 0, all are, none is. */
			check(&spaces[s], &widths[w], false, 16 * 4);
			check(&spaces[s], &widths[w], false, 4096);
			check(&spaces[s], &widths[w], false, -64);
			check(&spaces[s], &widths[w], true, 16 * 4);
			check(&spaces[s], &widths[w], true, 0);
		}
	}
}

/* The instructions of an atomic's address are a load's: 32 lanes add to 8 counters. */
static void atomics(void **state)
{
	static const char *const forms[] = {
		"sub.u32 %r2, %r2, 4096;\natom.shared.add.u32 %r4, [%r2+4096], %r0;\n",
		"cvt.u64.u32 %d2, %r2;\nadd.u64 %d2, %d2, 0x500000000;\nred.shared.add.u32 [%d2], %r0;\n",
	};
	const struct lane_table *tables[3];
	size_t n = run_tables(tables), way, f;
	uint32_t out[8], i;
	struct run run;
	char text[1500];

	for (f = 0; f < ARRAY_SIZE(forms); f++) {
		for (way = 0; way <= n; way++) {
			snprintf(text, sizeof(text), "%s%s%s", HEAD
				 ".entry k(.param .u64 p) {\n.shared .align 4 .b8 a[32];\n"
				 ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<2>;\n"
				 "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 7;\nmov.u32 %r2, a;\n"
				 "mad.lo.u32 %r2, %r1, 4, %r2;\n", forms[f],
				 "bar.sync 0;\nmov.u32 %r3, a;\nmad.lo.u32 %r3, %r1, 4, %r3;\nld.shared.u32 %r5, [%r3];\n"
				 "ld.param.u64 %d0, [p];\nmul.wide.u32 %d1, %r1, 4;\nadd.u64 %d0, %d0, %d1;\n"
				 "st.global.u32 [%d0], %r5;\nret;\n}\n");
			run_load_with(&run, text, NULL, tables[way % n]);
			run.whole = way < n;
			run_ptr(&run, out);
			if (run_grid(&run, 1, 1, LANES, 1))
				fail_msg("%s", run.err.text);
			for (i = 0; i < 8; i++)
				assert_int_equal(out[i], 4 * i + 8 + 16 + 24);
			run_free(&run);
		}
	}
}

/* What stays outside is told by the 32 bits that count. */
static void outside(void **state)
{
	static const struct {
		const char *body, *message;
		uint64_t addr;
	} cases[] = {
		{ "mov.u32 %r1, 0xfffffffc;\nld.shared.u32 %r2, [%r1+260];",
		  "kernel 'k': 4-byte load at 0x100 is outside shared memory (256 bytes) (test.ptx line 8, thread (0,0,0) of CTA (2,4,6))", 0x100 },
		{ "mov.u64 %d1, 0x7000000100;\nld.shared.u32 %r2, [%d1];",
		  "kernel 'k': 4-byte load at 0x100 is outside shared memory (256 bytes) (test.ptx line 8, thread (0,0,0) of CTA (2,4,6))", 0x100 },
		{ "mov.u64 %d1, -4;\nld.shared.u32 %r2, [%d1];",
		  "kernel 'k': 4-byte load at 0xfffffffc is outside shared memory (256 bytes) (test.ptx line 8, thread (0,0,0) of CTA (2,4,6))", 0xfffffffc },
		{ "mov.u64 %d1, 0x700000001;\nst.local.u16 [%d1], %r1;",
		  "kernel 'k': misaligned 2-byte store at 0x1 (test.ptx line 8, thread (0,0,0) of CTA (2,4,6))", 1 },
		/* A generic address has 64 bits: one past a window is no address of it. */
		{ "mov.u64 %d1, 0xffff1000fffffffc;\nld.u32 %r2, [%d1+4];", NULL, 0xffff100100000000 },
		{ "mov.u32 %r1, 0xfffffffc;\nld.global.u32 %r2, [%r1+8];", NULL, 0x100000004 },
		{ "mov.u32 %r1, 16;\nld.global.u32 %r2, [%r1-20];", NULL, -4ull },
		{ "mov.u32 %r1, 0xfffffffc;\nld.u32 %r2, [%r1+8];", NULL, 0x100000004 },
	};
	enum exec_outcome outcome;
	char text[1000];
	struct bench b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "%s%s\nret;\n}\n", HEAD ".entry k() {\n.reg .b32 %r<9>; .reg .b64 %d<9>;\n"
			 ".local .align 4 .b8 l[16]; .shared .align 4 .b8 s[64];\n", cases[i].body);
		open_bench(&b, text, LANES);
		do
			outcome = step(&b);
		while (outcome == EXEC_NEXT);
		if (cases[i].message) {
			assert_int_equal(outcome, EXEC_TRAP);
			assert_string_equal(b.run.err.text, cases[i].message);
			assert_true(b.run.fault_addr == cases[i].addr);
		} else {
			assert_int_equal(outcome, EXEC_ACCESS);
			assert_true(b.access.addr[5] == cases[i].addr);
		}
		close_bench(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads),
		cmocka_unit_test(atomics),
		cmocka_unit_test(outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
