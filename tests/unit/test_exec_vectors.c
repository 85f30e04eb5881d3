// SPDX-License-Identifier: GPL-2.0
/*
 * Vector registers: loaded, stored, moved, packed and passed whole, read and written by
 * element (PTX ISA, "Vectors" and "Vectors as Operands").
 */
#include "exec_bench.h"

#define WORDS 64

/* Runs a kernel of one thread and a pointer; out[] is what it left there. */
static void run_body(const char *decls, const char *body, uint32_t *out)
{
	static uint32_t memory[WORDS] __attribute__((aligned(16)));
	struct run run;
	char text[4000];
	uint32_t i;

	snprintf(text, sizeof(text), HEAD "%s.entry k(.param .u64 p)\n{\n.reg .b64 %%d<4>;\n"
		 ".reg .b32 %%r<8>;\n.reg .b16 %%h<8>;\n.reg .f32 %%f<8>;\n.reg .pred %%p<4>;\n"
		 ".reg .v4 .b32 %%v, %%w;\n.reg .v2 .b64 %%x;\n.reg .v4 .f32 %%g;\n.reg .v2 .u32 %%u<4>;\n"
		 "ld.param.u64 %%d0, [p];\n%s\nret;\n}\n", decls, body);
	for (i = 0; i < WORDS; i++)
		memory[i] = 100 + i;
	run_load(&run, text, NULL);
	run_ptr(&run, memory);
	if (run_grid(&run, 1, 1, 1, 1))
		fail_msg("%s", run.err.text);
	run_free(&run);
	memcpy(out, memory, sizeof(memory));
}

static void expect(const char *decls, const char *body, uint32_t at, uint32_t n, ...)
{
	uint32_t out[WORDS], i, want;
	va_list args;

	run_body(decls, body, out);
	va_start(args, n);
	for (i = 0; i < n; i++) {
		want = va_arg(args, uint32_t);
		if (out[at + i] != want)
			fail_msg("word %u is %u, not %u: %s", at + i, out[at + i], want, body);
	}
	va_end(args);
}

static void whole(void **state)
{
	expect("", "ld.global.v4.b32 %v, [%d0];\nst.global.v4.u32 [%d0+16], %v;", 4, 4, 100, 101, 102, 103);
	expect("", "ld.global.v2.u32 %u3, [%d0+8];\nst.global.v2.b32 [%d0+16], %u3;", 4, 3, 102, 103, 106);
	expect("", "ld.global.v2.b64 %x, [%d0];\nst.global.b64 [%d0+16], %x.y;", 4, 2, 102, 103);
	/* The registers may be wider than what is moved. */
	expect("", "ld.global.v4.u8 %v, [%d0];\nst.global.v4.u32 [%d0+16], %v;", 4, 4, 100, 0, 0, 0);
	expect("", "ld.global.v4.u32 %v, [%d0];\nst.global.v4.u8 [%d0+16], %v;", 4, 2, 0x67666564, 105);
}

static void elements(void **state)
{
	expect("", "ld.global.v4.u32 %v, [%d0];\nadd.u32 %r0, %v.x, %v.w;\nst.global.u32 [%d0+16], %r0;", 4, 1, 203);
	expect("", "ld.global.v4.u32 %v, [%d0];\nsub.u32 %v.g, %v.a, %v.r;\nst.global.v4.u32 [%d0+16], %v;",
	       4, 4, 100, 3, 102, 103);
	/* r, g, b, a are x, y, z, w. */
	expect("", "ld.global.v4.u32 %v, [%d0];\nst.global.v4.u32 [%d0+16], {%v.a, %v.b, %v.g, %v.r};",
	       4, 4, 103, 102, 101, 100);
	expect("", "mov.u32 %v.x, 7;\nmov.u32 %v.y, %v.x;\nmad.lo.u32 %v.z, %v.x, %v.y, 1+1;\n"
	       "setp.gt.u32 %p1, %v.z, %v.x;\nselp.b32 %v .w, %v.z, %v.x, %p1;\nst.global.v4.u32 [%d0], %v;",
	       0, 4, 7, 7, 51, 51);
	expect("", "mov.f32 %g.y, 1.5;\ncvt.rzi.u32.f32 %v.x, %g.g;\nst.global.u32 [%d0], %v.x;", 0, 1, 1);
	/* An element holds an address as any register does. */
	expect("", "mov.b64 %x.y, %d0;\nst.global.u32 [%x.y+8], 9;", 2, 1, 9);
	/* Those of a range, and of an inner scope with the same name. */
	expect("", "mov.u32 %u0.x, 1;\nmov.u32 %u1.x, 2;\n{\n.reg .v2 .u32 %u1;\nmov.u32 %u1.x, 3;\n}\n"
	       "add.u32 %r0, %u0.x, %u1.x;\nst.global.u32 [%d0], %r0;", 0, 1, 3);
}

static void moves(void **state)
{
	expect("", "ld.global.v4.u32 %v, [%d0];\nmov.v4.u32 %w, %v;\nst.global.v4.u32 [%d0+16], %w;",
	       4, 4, 100, 101, 102, 103);
	expect("", "ld.global.v4.u32 %v, [%d0];\nmov.v4.b32 {%r0, _, %r2, %r3}, %v;\nadd.u32 %r0, %r0, %r2;\n"
	       "st.global.v2.u32 [%d0+16], {%r0, %r3};", 4, 2, 202, 103);
	expect("", "mov.v4.f32 %g, {0f3F800000, 2.0, 1.0+0.5, -(1.0)};\nst.global.v4.f32 [%d0], %g;",
	       0, 4, 0x3f800000, 0x40000000, 0x3fc00000, 0xbf800000);
	expect("", "mov.v2.b64 %x, {%d0, %d0};\nst.global.u32 [%x.x], 5;\nst.global.u32 [%x.y+4], 6;", 0, 2, 5, 6);
	/* All is read before anything is written. */
	expect("", "ld.global.v4.u32 %v, [%d0];\nmov.v4.u32 %v, {%v.y, %v.z, %v.w, %v.x};\nst.global.v4.u32 [%d0], %v;",
	       0, 4, 101, 102, 103, 100);
	expect("", "ld.global.v2.u32 {%r0, %r1}, [%d0];\nmov.v2.u32 {%r0, %r1}, {%r1, %r0};\n"
	       "st.global.v2.u32 [%d0], {%r0, %r1};", 0, 2, 101, 100);
	/* A guard is that of all. */
	expect("", "ld.global.v4.u32 %v, [%d0];\nsetp.eq.u32 %p1, %v.x, 100;\n@!%p1 mov.v4.u32 %v, {%v.y, %v.x, 1, 2};\n"
	       "@%p1 mov.v4.u32 %v, {%v.w, %v.z, %v.x, 3};\nst.global.v4.u32 [%d0], %v;", 0, 4, 103, 102, 100, 3);
	/* Packed into one register, and out of it. */
	expect("", "mov.v2.u32 %u0, {1, 2};\nmov.b64 %d1, %u0;\nst.global.u64 [%d0], %d1;", 0, 2, 1, 2);
	expect("", "mov.b64 %u0, 0x300000004;\nadd.u32 %r0, %u0.x, 10;\nst.global.v2.u32 [%d0], {%r0, %u0.y};",
	       0, 2, 14, 3);
	expect("", "mov.b64 %d1, {%u2.y, %u2.y};\nmov.v2.u32 %u2, {5, 6};\nmov.b64 %d1, {%u2.y, %u2.x};\n"
	       "st.global.u64 [%d0], %d1;", 0, 2, 6, 5);
}

static void functions(void **state)
{
	static const char decls[] =
		".func (.reg .v4 .u32 %out) turn(.reg .v4 .u32 %in, .reg .u32 %more)\n{\n"
		"add.u32 %in.x, %in.x, %more;\nmov.v4.u32 %out, {%in.w, %in.z, %in.y, %in.x};\nret;\n}\n";

	expect(decls, "ld.global.v4.u32 %v, [%d0];\ncall (%w), turn, (%v, 1000);\n"
	       "st.global.v4.u32 [%d0], %w;\nst.global.v4.u32 [%d0+16], %v;",
	       0, 8, 103, 102, 101, 1100, 100, 101, 102, 103);
	expect(decls, "ld.global.v4.u32 %v, [%d0];\ncall (%v), turn, (%v, %v.y);\ncall (%v), turn, (%v, 0);\n"
	       "st.global.v4.u32 [%d0], %v;", 0, 4, 201, 101, 102, 103);
	/* One element as an argument, one as a result. */
	expect(".func (.reg .u32 %out) twice(.reg .u32 %in)\n{\nadd.u32 %out, %in, %in;\nret;\n}\n",
	       "ld.global.v4.u32 %v, [%d0];\ncall (%v.z), twice, (%v.y);\nst.global.v4.u32 [%d0], %v;",
	       0, 4, 100, 101, 202, 103);
}

/* %tid and its like are vectors of four, whose last element is 0. */
static void special(void **state)
{
	static const char text[] = HEAD ".entry k(.param .u64 p)\n{\n.reg .v4 .u32 %t, %n, %c;\n.reg .b64 %d<4>;\n"
		".reg .b32 %r<4>;\nmov.v4.u32 %t, %tid;\nmov.v4.u32 %n, %ntid;\nmov.v4.u32 %c, %ctaid;\n"
		"mov.v4.u32 {%r0, %r1, _, %r2}, %nctaid;\n"
		"ld.param.u64 %d0, [p];\nmad.lo.u32 %r3, %t.y, %n.x, %t.x;\nmul.wide.u32 %d1, %r3, 32;\n"
		"mad.lo.u32 %r3, %c.y, %r0, %c.x;\nmul.wide.u32 %d2, %r3, 192;\nadd.u64 %d0, %d0, %d1;\nadd.u64 %d0, %d0, %d2;\n"
		"st.global.v4.u32 [%d0], {%t.x, %t.y, %t.z, %t.w};\n"
		"st.global.v4.u32 [%d0+16], {%n.y, %n.w, %r1, %r2};\nret;\n}\n";
	static uint32_t out[4][6][8] __attribute__((aligned(16)));
	uint32_t cta, thread;
	struct run run;

	memset(out, 0xff, sizeof(out));
	run_load(&run, text, NULL);
	run_ptr(&run, out);
	assert_int_equal(run_grid(&run, 2, 2, 3, 2), 0);
	for (cta = 0; cta < 4; cta++) {
		for (thread = 0; thread < 6; thread++) {
			const uint32_t want[8] = { thread % 3, thread / 3, 0, 0, 2, 0, 2, 0 };

			assert_memory_equal(out[cta][thread], want, sizeof(want));
		}
	}
	run_free(&run);
}

/* A vector costs what its elements do: one instruction each to move, none that _ takes. */
static void cost(void **state)
{
	struct run run;

	run_load(&run, HEAD ".entry k()\n{\n.reg .v4 .b32 %v;\n.reg .b32 %r<4>;\n"
		 "mov.v4.b32 %v, {1, 2, 3, 4};\nmov.v4.b32 {%r0, _, _, %r1}, %v;\nret;\n}\n", NULL);
	assert_int_equal(exec_program_kernel(run.program)->ninsns, 4 + 2 + 1);
	assert_string_equal(exec_program_kernel(run.program)->regs[1].name, "%v.y");
	run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(elements),
		cmocka_unit_test(moves),
		cmocka_unit_test(functions),
		cmocka_unit_test(special),
		cmocka_unit_test(cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
