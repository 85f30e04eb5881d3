// SPDX-License-Identifier: GPL-2.0
/*
 * Zorua's phases: where they begin and what they need, by hand for small kernels; then the
 * specifiers, which may change nothing but the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

/* Six lines; the body comes after them, an instruction a line. */
#define OPEN ".version 7.0\n.target sm_70\n.address_size 64\n" \
	".entry k(.param .u32 n) {.reg .pred %p<4>;\n.reg .b32 %r<40>;\n" \
	".reg .b64 %d<9>; .shared .b32 s[64]; .extern .shared .b32 e[];\n"
#define FIVE(line)	line line line line line
#define SPIN		"add.u32 %r1, %r1, %r2;\n"
#define SPIN10		FIVE(SPIN) FIVE(SPIN)
#define END		"st.global.u32 [0], %r1;\nret;\n"

static struct ptx_module *module;

static const struct ptx_kernel *load_with(const char *body, enum ptx_phases phases, uint8_t plenty)
{
	const struct ptx_options options = { .phases = phases, .plenty = plenty };
	struct err err = { 0 };
	char text[8192];

	assert_true(snprintf(text, sizeof(text), "%s%s}\n", OPEN, body) < (int)sizeof(text));
	if (ptx_module_parse_with(text, strlen(text), "phases.ptx", &options, &module, &err))
		fail_msg("%s", err.text);
	return ptx_module_kernel_at(module, 0);
}

static const struct ptx_kernel *load(const char *body, enum ptx_phases phases)
{
	return load_with(body, phases, 0);
}

/* The phases begin at these lines of the body, from 1. */
static void check(const char *body, unsigned int n, const uint32_t *lines)
{
	const struct ptx_kernel *k = load(body, PTX_PHASES_MARK);

	for (unsigned int i = 0; i < k->nphases && i < n; i++)
		if (k->insns[k->phases[i].insn].line - 6 != lines[i])
			fail_msg("phase %u begins at line %u, not %u", i + 1,
				 k->insns[k->phases[i].insn].line - 6, lines[i]);
	assert_int_equal(k->nphases, n);
	ptx_module_free(module);
}
#define CHECK(body, ...)	check(body, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4,	\
				      (uint32_t[]){ __VA_ARGS__ })

/* %r1 to %r4 are live from line 5 on: 0, 1, 2, 3, 4, 4, .. before lines 1, 2, .. */
#define FOUR	"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\n"
#define USE34	"add.u32 %r1, %r3, %r4;\n"

static void a_quarter_ten_apart(void **state)
{
	/* 0 to 4 is a change, and line 11 the first that is ten behind line 1; nothing after it. */
	CHECK(FOUR SPIN10 USE34 END, 1, 11);
	/*
	 * Lines 5 to 14 spin; 15 makes %r5, which is live from 16 on: 4 to 5 is a quarter. Ten
	 * behind 11 is 21.
	 */
	CHECK(FOUR SPIN10 "mov.u32 %r5, 5;\n" SPIN10 "add.u32 %r1, %r1, %r5;\n" USE34 END,
	      1, 11, 21);
	/* 5 to 6 is not a quarter, nor is 5 to 4, line 39; at line 49 are %r3 and %r4 alone. */
	CHECK(FOUR SPIN10 "mov.u32 %r5, 5;\n" SPIN10 "mov.u32 %r6, 6;\n" SPIN10
	      "add.u32 %r1, %r1, %r5;\n" "add.u32 %r1, %r1, %r6;\n" SPIN10 USE34 END,
	      1, 11, 21, 49);
}

static void not_where_lanes_are_apart(void **state)
{
	/* %p1 differs by lane: lines 7 to 18 are some lanes' alone; they meet at 19, ten behind 1. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, %tid.x;\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra J;\n" SPIN10 "mov.u32 %r1, 0;\n"
	      "mov.u32 %r2, 0;\nJ:\n" USE34 END, 1, 20);
	/* %p1 is one for all: line 11 is as good as any. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nld.param.u32 %r4, [n];\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra J;\n" SPIN10 "mov.u32 %r1, 0;\n"
	      "mov.u32 %r2, 0;\nJ:\n" USE34 END, 1, 11);
	/* A branch to nothing but an exit: lanes that go there do not come back. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, %tid.x;\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra X;\n" SPIN10 USE34 "st.global.u32 [0], %r1;\nX:\n"
	      "ret;\n", 1, 11);
	/* Some lanes wrote a number that decides the next branch. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, %tid.x;\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra J;\nmov.u32 %r3, 0;\nJ:\n"
	      "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra K;\n" SPIN10 "mov.u32 %r2, 0;\nK:\n"
	      SPIN END, 1, 23);
}

/* A block has been looked at when what it reads, or who executes it, turns out to differ by lane. */
static void not_where_lanes_come_apart_later(void **state)
{
	/* %r4 is one for all until line 21 has gone round: lines 8 to 19 are some lanes' alone. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 0;\nL:\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra J;\n" SPIN10 "mov.u32 %r1, 0;\n"
	      "mov.u32 %r2, 0;\nJ:\nmov.u32 %r4, %tid.x;\nadd.u32 %r3, %r3, 1;\n"
	      "setp.lt.u32 %p2, %r3, 9;\n@%p2 bra L;\n" USE34 END, 1, 21);
	/* The same of a guard: with it some lanes alone have written %r4. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 0;\n"
	      "setp.lt.u32 %p3, %r3, 7;\nL:\n@%p3 mov.u32 %r4, 5;\n"
	      "setp.lt.u32 %p1, %r4, 7;\n@%p1 bra J;\n" SPIN10 "mov.u32 %r1, 0;\n"
	      "mov.u32 %r2, 0;\nJ:\nmov.u32 %r5, %tid.x;\nsetp.lt.u32 %p3, %r5, 7;\n"
	      "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 9;\n@%p2 bra L;\n" USE34 END, 1, 23);
	/* Lanes leave the loop one by one, so what line 6 counts differs: lines 15 to 25 likewise. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 0;\nmov.u32 %r4, %tid.x;\nL:\n"
	      "add.u32 %r3, %r3, 1;\nsetp.eq.u32 %p3, %r2, 1;\n@%p3 bra M;\n"
	      "add.u32 %r1, %r1, 1;\nM:\nsetp.lt.u32 %p1, %r4, 7;\n@%p1 bra L;\n"
	      "setp.eq.u32 %p2, %r3, 3;\n@%p2 bra J;\n" SPIN10 "mov.u32 %r2, 0;\nJ:\n"
	      USE34 END, 1, 13, 27);
}

static void scratchpad(void **state)
{
	const struct ptx_kernel *k;

	/* From the first access on: line 15 stores, so the phase begins before it, live count or not. */
	k = load("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\n" SPIN10
		 SPIN "st.shared.u32 [s], %r1;\n" SPIN "ld.shared.u32 %r1, [s];\n" SPIN END,
		 PTX_PHASES_MARK);
	/* 0 to 2 registers at line 11; the store is within ten of it, so phase 2 has scratchpad. */
	assert_int_equal(k->nphases, 2);
	assert_int_equal(k->phases[0].smem_end, 0);
	assert_int_equal(k->phases[1].smem_end, 4);
	ptx_module_free(module);
	/* Registers stay the same, 2: only the scratchpad makes the phase at line 31. */
	CHECK("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\n" SPIN10 SPIN10 FIVE(SPIN) SPIN SPIN SPIN
	      "st.shared.u32 [s], %r1;\n" SPIN "ld.shared.u32 %r1, [s];\n" SPIN END, 1, 11, 31);
	/* A launch's own shared memory counts, though the kernel has no size of it. */
	k = load("mov.u32 %r1, 1;\nst.shared.u32 [e], %r1;\n" "ret;\n", PTX_PHASES_MARK);
	assert_int_equal(k->phases[0].smem_end, PTX_EXTENT_END);
	ptx_module_free(module);
}

/* A phase in a loop needs what the loop's top needs, which is above it in the text. */
static void a_loop_leads_back(void **state)
{
	const struct ptx_kernel *k = load(
		"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nld.param.u32 %r3, [n];\n"
		"L:\n"
		"mov.u32 %r4, 4;\nmov.u32 %r5, 5;\nmov.u32 %r6, 6;\nmov.u32 %r7, 7;\n"
		"mov.u32 %r8, 8;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, %r5;\n"
		"add.u32 %r1, %r1, %r6;\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\n"
		SPIN10
		"sub.u32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\n" END,
		PTX_PHASES_MARK);

	/* Line 12, the eleventh instruction, has 6 live: 3 and %r6 to %r8. Ten on, 3 are left. */
	assert_int_equal(k->nphases, 3);
	assert_int_equal(k->insns[k->phases[1].insn].line - 6, 12);
	assert_int_equal(k->phases[1].live, 6);
	assert_int_equal(k->insns[k->phases[2].insn].line - 6, 22);
	assert_int_equal(k->phases[2].live, 3);
	/* Behind 22 comes the top again, with 8 at its most, up to line 12. */
	assert_int_equal(k->phases[2].regs, 8);
	assert_int_equal(k->phases[2].sets, 3);
	/* The registers live at 22 lie in one set: none is loose. */
	assert_int_equal(k->phases[2].kept, 1);
	assert_int_equal(k->phases[2].loose, 0);
	/* From 12 to 22 no more come, but then. */
	assert_int_equal(k->phases[1].regs, 6);
	assert_int_equal(k->phases[1].ahead, 2);
	ptx_module_free(module);
}

/* Three phases in a line: ten registers in the middle one. */
static void what_lies_ahead(void **state)
{
	const struct ptx_kernel *k = load(
		"mov.u32 %r1, 1;\n" SPIN10
		"mov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmov.u32 %r4, 4;\nmov.u32 %r5, 5;\n"
		"mov.u32 %r6, 6;\nmov.u32 %r7, 7;\nmov.u32 %r8, 8;\nmov.u32 %r9, 9;\n"
		"setp.eq.u32 %p1, %r1, 77;\n@%p1 bra X;\n"
		"add.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, %r5;\nadd.u32 %r1, %r1, %r6;\n"
		"add.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\nadd.u32 %r1, %r1, %r9;\n"
		"X:\n"
		SPIN10 "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\n" SPIN10 END,
		PTX_PHASES_MARK);
	unsigned int most = 0;

	assert_true(k->nphases >= 3);
	for (uint32_t i = k->nphases; i--; ) {
		most = MAX(most, (unsigned int)__builtin_popcountll(k->phases[i].sets));
		assert_int_equal(k->phases[i].ahead, most);
	}
	assert_true(most > (unsigned int)__builtin_popcountll(k->phases[0].sets));
	assert_true(most > k->phases[k->nphases - 1].ahead);
	ptx_module_free(module);
}

static const char loop[] =
	"mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nld.param.u32 %r3, [n];\nmov.u32 %r4, %tid.x;\n"
	"L:\n" SPIN10 "add.u32 %r1, %r1, %r4;\nsub.u32 %r3, %r3, 1;\n"
	"setp.ne.u32 %p1, %r3, 0;\n@%p1 bra L;\nbar.sync 0;\n" END;

static void specifiers(void **state)
{
	const struct ptx_kernel *k = load(loop, PTX_PHASES_MARK);
	uint32_t plain = k->ninsns, n = k->nphases, at = 0, regs = k->regs_per_thread, loud = 0;

	assert_true(n >= 2);
	for (uint32_t i = 0; i < n; i++)
		loud += !k->phases[i].quiet;
	ptx_module_free(module);
	k = load(loop, PTX_PHASES_NONE);
	assert_int_equal(k->ninsns, plain);
	assert_int_equal(k->nphases, 0);
	assert_null(k->phases);
	assert_int_equal(k->regs_per_thread, regs);
	ptx_module_free(module);
	k = load(loop, PTX_PHASES_INSERT);
	assert_int_equal(k->regs_per_thread, regs);
	assert_int_equal(k->nphases, n);
	assert_int_equal(k->ninsns, plain + loud);
	for (uint32_t i = 0; i < k->ninsns; i++) {
		const struct ptx_insn *insn = &k->insns[i];

		if (at < n && k->phases[at].insn == i)
			assert_int_equal(k->phases[at++].quiet, !(insn->mods & PTX_MOD_PHASE));
		/* The loop's top is line 6 of the body, and no specifier is before it. */
		if (insn->opcode == PTX_OP_bra)
			assert_int_equal(k->insns[insn->target].line - 6, 6);
	}
	assert_int_equal(at, n);
	ptx_module_free(module);
}

/* Which of the phases have no specifier, as a string of 0 and 1. */
static void quiet(const char *body, const char *want)
{
	const struct ptx_kernel *k = load(body, PTX_PHASES_MARK);
	char is[16] = "";

	assert_true(k->nphases < sizeof(is));
	for (uint32_t i = 0; i < k->nphases; i++)
		is[i] = k->phases[i].quiet ? '1' : '0';
	assert_string_equal(is, want);
	ptx_module_free(module);
}

#define FOUR_MORE	"mov.u32 %r5, 5;\nmov.u32 %r6, 6;\nmov.u32 %r7, 7;\nmov.u32 %r8, 8;\n"
#define USE5TO8		"add.u32 %r1, %r5, %r6;\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\n"

static void no_specifier_where_needs_stay(void **state)
{
	/* Four registers at line 11, in the one set that phase 1 has as well. */
	quiet(FOUR SPIN10 USE34 END, "11");
	/*
	 * From 11 to 20 come four more, a second set; at 21 are those eight; from 31 on few are
	 * used, in one set.
	 */
	quiet(FOUR SPIN10 FOUR_MORE SPIN10 USE5TO8 USE34 END, "1010");
	/* The first scratchpad is a change; more of it is none. */
	quiet("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\n" SPIN10 SPIN10 FIVE(SPIN) SPIN SPIN SPIN
	      "st.shared.u32 [s], %r1;\n" SPIN10 "mov.u32 %r3, 3;\n" SPIN10
	      "add.u32 %r1, %r3, %r3;\nld.shared.u32 %r1, [s];\n" END, "11011");
	/* A branch leads back to the first line: a warp comes there again, from a phase with more. */
	quiet("L:\n" FOUR SPIN10 FOUR_MORE SPIN10 USE5TO8 USE34
	      "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n" END, "0010");
}

/* The phases of body, with so many registers for each warp: all have the same sets, or not. */
static void plenty(const char *body, uint8_t registers, bool same, const char *want)
{
	const struct ptx_kernel *k = load_with(body, PTX_PHASES_MARK, registers);

	assert_true(k->nphases == strlen(want));
	for (uint32_t i = 0; i < k->nphases; i++) {
		const struct ptx_phase *p = &k->phases[i];

		assert_int_equal(p->quiet, want[i] == '1');
		if (!same)
			continue;
		/* The kernel's 9 or fewer registers lie in sets from 0 on. */
		assert_int_equal(p->sets, (1ull << (k->regs_per_thread + 3) / 4) - 1);
		assert_int_equal(p->ahead, (k->regs_per_thread + 3) / 4);
	}
	ptx_module_free(module);
}

static void registers_that_are_plenty_have_no_phases(void **state)
{
	static const char two[] = FOUR SPIN10 FOUR_MORE SPIN10 USE5TO8 USE34 END;
	const struct ptx_kernel *k = load(two, PTX_PHASES_MARK);
	uint8_t registers = (uint8_t)k->regs_per_thread;

	ptx_module_free(module);
	/* One register less than the kernel takes: its phases are as they were. */
	plenty(two, registers - 1, false, "1010");
	plenty(two, registers, true, "1111");
	/* Scratchpad keeps its specifier. */
	plenty("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\n" SPIN10 SPIN10 FIVE(SPIN) SPIN SPIN SPIN
	       "st.shared.u32 [s], %r1;\n" SPIN10 "mov.u32 %r3, 3;\n" SPIN10
	       "add.u32 %r1, %r3, %r3;\nld.shared.u32 %r1, [s];\n" END, 255, true, "11011");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_ten_apart),
		cmocka_unit_test(not_where_lanes_are_apart),
		cmocka_unit_test(not_where_lanes_come_apart_later),
		cmocka_unit_test(scratchpad),
		cmocka_unit_test(a_loop_leads_back),
		cmocka_unit_test(what_lies_ahead),
		cmocka_unit_test(specifiers),
		cmocka_unit_test(no_specifier_where_needs_stay),
		cmocka_unit_test(registers_that_are_plenty_have_no_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
