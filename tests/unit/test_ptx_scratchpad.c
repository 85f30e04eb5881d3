// SPDX-License-Identifier: GPL-2.0
/*
 * Where accesses to shared memory may be, and how much scratchpad is live where, worked out by hand
 * for small kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

/* a is [0, 1024), b is [1024, 9216). n is anything. */
#define REGS	".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<60>;\n.reg .b64 %d<20>;\n"
#define HEAD	".version 7.0\n.target sm_70\n.address_size 64\n" \
	".shared .align 8 .b8 a[1024];\n.shared .align 8 .b8 b[8192];\n"
#define OPEN(limits)	".entry k(.param .u32 n, .param .u64 q) " limits " {\n" REGS \
	"mov.u64 %d1, a;\nmov.u64 %d2, b;\nst.shared.u8 [a], 0;\nst.shared.u8 [b], 0;\n" \
	"ld.param.u32 %r9, [n];\n"
#define TID	"mov.u32 %r1, %tid.x;\n"
/* Element %r1 of b, of 4 bytes. */
#define ELEMENT	"mul.wide.u32 %d4, %r1, 4;\nadd.s64 %d3, %d2, %d4;\n"
#define SIGNED	"mul.wide.s32 %d4, %r1, 4;\nadd.s64 %d3, %d2, %d4;\n"
#define LOAD	"ld.shared.u32 %r2, [%d3];\n"
#define BOUND	LOAD "st.global.u32 [0], %r2;\n"
#define ALL	0, PTX_EXTENT_END

static struct ptx_module *module;

static const struct ptx_kernel *load(const char *before, const char *limits, const char *body,
				     uint32_t maxregs)
{
	const struct ptx_options options = { .phases = PTX_PHASES_MARK, .maxregs = maxregs };
	struct err err = { 0 };
	char text[16384];
	int n = snprintf(text, sizeof(text), "%s%s", before, limits);

	n += snprintf(text + n, sizeof(text) - (size_t)n, "%sret;\n}\n", body);
	assert_true(n < (int)sizeof(text));
	if (ptx_module_parse_with(text, strlen(text), "scratchpad.ptx", &options, &module, &err))
		fail_msg("%s", err.text);
	return ptx_module_kernel(module, "k");
}

/* The last access of the text that may be shared memory's: where. */
static void extent_of(const struct ptx_kernel *k, uint32_t from, uint32_t to)
{
	const struct ptx_insn *insn = NULL;

	for (uint32_t i = 0; i < k->ninsns; i++) {
		if (k->insns[i].cls == PTX_CLASS_MEMORY &&
		    (k->insns[i].space == PTX_SPACE_SHARED ||
		     k->insns[i].space == PTX_SPACE_GENERIC))
			insn = &k->insns[i];
	}
	assert_non_null(insn);
	if (k->extents[insn - k->insns].from != from || k->extents[insn - k->insns].to != to)
		fail_msg("line %u: [%u, %u), not [%u, %u)", insn->line,
			 k->extents[insn - k->insns].from, k->extents[insn - k->insns].to,
			 from, to);
}

static void check_with(const char *before, const char *open, const char *body, uint32_t maxregs,
		       uint32_t from, uint32_t to)
{
	extent_of(load(before, open, body, maxregs), from, to);
	ptx_module_free(module);
}

static void check(const char *body, uint32_t from, uint32_t to)
{
	check_with(HEAD, OPEN(""), body, 0, from, to);
}

static void constants(void **state)
{
	check("st.shared.u32 [b+12], %r9;\n", 1036, 1040);
	check("st.shared.v4.u32 [%d2+16], {%r9, %r9, %r9, %r9};\n", 1040, 1056);
	check("add.s64 %d3, %d1, 100;\nst.shared.u8 [%d3+-4], %r9;\n", 96, 97);
	/* Beyond what the kernel declares is what a launch adds, however little. */
	check("st.shared.u32 [b+8190], %r9;\n", 9214, PTX_EXTENT_END);
	check("st.shared.u32 [b+8188], %r9;\n", 9212, 9216);
	check("st.shared.u32 [b+20000], %r9;\n", 9216, PTX_EXTENT_END);
	/* In front of it is nothing. */
	check("add.s64 %d3, %d1, -100;\nst.shared.u8 [%d3], %r9;\n", 0, 0);
}

static void thread_numbers(void **state)
{
	/* 1024 threads at most: element 1023 of b is the last. */
	check(TID ELEMENT BOUND, 1024, 1024 + 4096);
	check(TID ELEMENT "ld.shared.u32 %r2, [%d3+8];\n" "st.global.u32 [0], %r2;\n", 1032, 5128);
	check_with(HEAD, OPEN(".maxntid 8, 8, 1"), TID ELEMENT BOUND, 0, 1024, 1024 + 256);
	check_with(HEAD, OPEN(".reqntid 32"), TID ELEMENT BOUND, 0, 1024, 1024 + 128);
	check("mov.u32 %r1, %tid.z;\n" ELEMENT BOUND, 1024, 1024 + 256);
	check("mov.u32 %r1, %laneid;\n" ELEMENT BOUND, 1024, 1024 + 128);
	/* The element before one's own is at -4 at least, unless -1 is taken for unsigned. */
	check(TID "add.s32 %r1, %r1, -1;\n" SIGNED BOUND, 1020, 1020 + 4096);
	check(TID "add.s32 %r1, %r1, -1;\n" ELEMENT BOUND, ALL);
	check(TID "mad.lo.s32 %r1, %r1, 3, 5;\n" ELEMENT "ld.shared.u8 %h1, [%d3];\n"
	      "st.global.u16 [0], %h1;\n", 1044, PTX_EXTENT_END);
	check_with(HEAD, OPEN(".maxntid 64"), TID "mad.lo.s32 %r1, %r1, 3, 5;\n" ELEMENT BOUND, 0,
		   1044, 1044 + 63 * 12 + 4);
	check(TID "shl.b32 %r1, %r1, 2;\ncvt.u64.u32 %d4, %r1;\nadd.s64 %d3, %d1, %d4;\n" BOUND,
	      0, 4096);
}

static void masks_and_limits(void **state)
{
	check("and.b32 %r1, %r9, 31;\n" ELEMENT BOUND, 1024, 1024 + 128);
	check("rem.u32 %r1, %r9, 10;\n" ELEMENT BOUND, 1024, 1024 + 40);
	check("min.u32 %r1, %r9, 10;\n" ELEMENT BOUND, 1024, 1024 + 44);
	check("shr.u32 %r1, %r9, 24;\n" ELEMENT BOUND, 1024, 1024 + 1024);
	check("bfe.u32 %r1, %r9, 3, 4;\n" ELEMENT BOUND, 1024, 1024 + 64);
	check(TID "div.u32 %r1, %r1, 32;\n" ELEMENT BOUND, 1024, 1024 + 128);
	check(TID "xor.b32 %r1, %r1, 64;\n" ELEMENT BOUND, 1024, 1024 + 4096);
	check("ld.global.u8 %r1, [0];\n" ELEMENT BOUND, 1024, 1024 + 1024);
	/* A remainder of what may be negative may be negative; a minimum of such is. */
	check("rem.s32 %r1, %r9, 10;\n" SIGNED BOUND, 1024 - 36, 1024 + 40);
	check("min.s32 %r1, %r9, 10;\n" SIGNED BOUND, ALL);
	/* What clears the lowest bits says nothing. */
	check("and.b32 %r1, %r9, -8;\n" ELEMENT BOUND, ALL);
	check("mov.u32 %r1, %r9;\n" ELEMENT BOUND, ALL);
}

static void branches(void **state)
{
	check(TID "setp.gt.u32 %p1, %r1, 63;\n@%p1 bra X;\n" ELEMENT BOUND "X:\n",
	      1024, 1024 + 256);
	check("setp.lt.u32 %p1, %r9, 64;\n@!%p1 bra X;\nmov.u32 %r1, %r9;\n" ELEMENT BOUND "X:\n",
	      1024, 1024 + 256);
	/* Signed: it may be below 0. */
	check("setp.lt.s32 %p1, %r9, 64;\n@!%p1 bra X;\nmov.u32 %r1, %r9;\n" ELEMENT BOUND "X:\n",
	      ALL);
	check("setp.eq.u32 %p1, %r9, 7;\n@!%p1 bra X;\nmov.u32 %r1, %r9;\n" ELEMENT BOUND "X:\n",
	      1052, 1056);
	/* On the other way it is anything else; what was compared has changed since. */
	check("setp.lt.u32 %p1, %r9, 64;\n@%p1 bra X;\nmov.u32 %r1, %r9;\n" ELEMENT BOUND "X:\n",
	      ALL);
	check("setp.lt.u32 %p1, %r9, 64;\nshl.b32 %r9, %r9, 8;\n@!%p1 bra X;\nmov.u32 %r1, %r9;\n"
	      ELEMENT BOUND "X:\n", ALL);
	/* Both ways meet: 3 or 40. */
	check("setp.lt.u32 %p1, %r9, 64;\nmov.u32 %r1, 3;\n@%p1 bra X;\nmov.u32 %r1, 40;\nX:\n"
	      ELEMENT BOUND, 1036, 1188);
	/* Some lanes have 5, the others what was there; or nothing that anybody knows. */
	check("setp.lt.u32 %p1, %r9, 64;\nmov.u32 %r1, 100;\n@%p1 mov.u32 %r1, 5;\n" ELEMENT BOUND,
	      1044, 1428);
	check("setp.lt.u32 %p1, %r9, 64;\n@%p1 mov.u32 %r1, 5;\n" ELEMENT BOUND, ALL);
}

static void loops(void **state)
{
	check("mov.u32 %r1, 0;\nL:\n" ELEMENT BOUND
	      "add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 64;\n@%p1 bra L;\n", 1024, 1024 + 256);
	check("mov.u32 %r1, 0;\nL:\n" ELEMENT BOUND
	      "add.s32 %r1, %r1, 3;\nsetp.lt.s32 %p1, %r1, 64;\n@%p1 bra L;\n", 1024, 1024 + 256);
	/* 32, 16, .. 1 */
	check("mov.u32 %r1, 32;\nL:\n" ELEMENT BOUND
	      "shr.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 0;\n@%p1 bra L;\n", 1028, 1156);
	/* The pointer itself goes on to the end of b. */
	check("mov.u64 %d3, b;\nadd.s64 %d5, %d3, 512;\nL:\n" BOUND
	      "add.s64 %d3, %d3, 16;\nsetp.lt.u64 %p1, %d3, 1536;\n@%p1 bra L;\n", 1024, 1539);
	/* Nobody knows how often. */
	check("mov.u32 %r1, 0;\nL:\n" ELEMENT BOUND
	      "add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, %r9;\n@%p1 bra L;\n", ALL);
	/* A loop in a loop: 8 * i + j. */
	check("mov.u32 %r3, 0;\nM:\nmov.u32 %r4, 0;\nL:\nmad.lo.u32 %r1, %r3, 8, %r4;\n"
	      ELEMENT BOUND "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 8;\n@%p1 bra L;\n"
	      "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 8;\n@%p2 bra M;\n", 1024, 1024 + 256);
}

static void pointers(void **state)
{
	/* One of two. */
	check("setp.eq.u32 %p1, %r9, 0;\nselp.b64 %d3, %d1, %d2, %p1;\n" BOUND, 0, 1028);
	/* One that was in memory. */
	check("st.shared.u64 [a], %d2;\nld.shared.u64 %d3, [a];\n" BOUND, ALL);
	check("ld.param.u64 %d3, [q];\n" BOUND, ALL);
	/* Made of bits. */
	check("cvt.u32.u64 %r3, %d2;\ncvt.u64.u32 %d3, %r3;\n" BOUND, 1024, 1028);
	check("cvt.u8.u64 %h1, %d2;\ncvt.u64.u16 %d3, %h1;\n" BOUND, 0, 259);
	/* What another lane has. */
	check(TID "shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;\n" ELEMENT BOUND, ALL);
}

static void generic(void **state)
{
	check("cvta.shared.u64 %d3, %d2;\nld.u32 %r2, [%d3+4];\nst.global.u32 [0], %r2;\n",
	      1028, 1032);
	check("cvta.shared.u64 %d5, %d2;\ncvta.to.shared.u64 %d3, %d5;\n" BOUND, 1024, 1028);
	check("ld.param.u64 %d3, [q];\nld.u32 %r2, [%d3];\nst.global.u32 [0], %r2;\n", ALL);
	check(TID "mul.wide.u32 %d4, %r1, 4;\ncvta.shared.u64 %d3, %d2;\nadd.s64 %d3, %d3, %d4;\n"
	      "st.u32 [%d3], %r1;\n", 1024, 1024 + 4096);
}

static void atomics(void **state)
{
	check(TID ELEMENT "red.shared.add.u32 [%d3], 1;\n", 1024, 1024 + 4096);
	check(TID ELEMENT "atom.shared.cas.b64 %d5, [%d3+4], %d1, %d2;\nst.global.u64 [0], %d5;\n",
	      1028, 1028 + 4092 + 8);
	/* What it found there is anything. */
	check("atom.shared.add.u32 %r1, [a], 1;\n" ELEMENT BOUND, ALL);
}

#define FUNCTION \
	".func (.param .u32 o) f(.param .u64 p)\n{\n" REGS "ld.param.u64 %d3, [p];\n" LOAD \
	"st.param.u32 [o], %r2;\nret;\n}\n"
#define CALL(pointer) \
	"{\n.param .u64 x;\n.param .u32 y;\nst.param.u64 [x], " pointer ";\n" \
	"call.uni (y), f, (x);\nld.param.u32 %r8, [y];\n}\nst.global.u32 [0], %r8;\n"

static void functions(void **state)
{
	/* The parameter has what all of its calls give. */
	check_with(HEAD FUNCTION, OPEN(""), CALL("%d2"), 0, 1024, 1028);
	check_with(HEAD FUNCTION, OPEN(""), CALL("%d2") "add.s64 %d5, %d1, 16;\n" CALL("%d5"), 0,
		   16, 1028);
	check_with(HEAD FUNCTION, OPEN(""), CALL("%d2") "ld.param.u64 %d5, [q];\n" CALL("%d5"), 0,
		   ALL);
}

#define MANY(how)	how("20") how("21") how("22") how("23") how("24") how("25") how("26") \
	how("27") how("28") how("29") how("30") how("31") how("32") how("33") how("34") how("35")
#define MAKE(r)		"ld.global.u32 %r" r ", [" r "00];\n"
#define USE(r)		"st.global.u32 [" r "00], %r" r ";\n"

/* The bound of a value that has been spilled is still known. */
static void spills(void **state)
{
	const char body[] = TID "and.b32 %r1, %r1, 31;\n" MANY(MAKE) ELEMENT LOAD MANY(USE)
		"st.global.u32 [0], %r2;\n";
	const struct ptx_kernel *k = load(HEAD, OPEN(""), body, 16);

	assert_true(k->spill_load_bytes > 0);
	extent_of(k, 1024, 1024 + 128);
	ptx_module_free(module);
}

/* --- what is live ---------------------------------------------------------------------- */

#define ADD	"add.u32 %r10, %r10, %r11;\n"
#define SPIN5	ADD ADD ADD ADD ADD
#define SPIN	SPIN5 SPIN5 SPIN5
/* Six instructions; variables lie in the order of their first use. */
#define ENTRY	".entry k(.param .u32 n) {\n" REGS "mov.u64 %d1, a;\nmov.u64 %d2, b;\n" \
	"mov.u32 %r10, 1;\nmov.u32 %r11, 2;\nmov.u32 %r20, 0;\nmov.u32 %r21, 0;\n"
#define END	"st.global.u32 [0], %r10;\nst.global.u32 [4], %r20;\nst.global.u32 [8], %r21;\n"
#define PUT(at)	"st.shared.u32 [" at "], %r10;\n"
#define GET(at)	"ld.shared.u32 %r12, [" at "];\nadd.u32 %r10, %r10, %r12;\n"

/* How many bytes are live at most in each phase, and up to which it needs them. */
static void phases(const char *body, unsigned int n, const uint32_t (*want)[2])
{
	const struct ptx_kernel *k = load(HEAD, ENTRY, body, 0);
	char is[512] = "";

	for (uint32_t i = 0, at = 0; i < k->nphases && at < sizeof(is) - 32; i++)
		at += (uint32_t)snprintf(is + at, sizeof(is) - at, " %u,%u", k->phases[i].smem,
					 k->phases[i].smem_end);
	if (k->nphases != n)
		fail_msg("%u phases, not %u:%s", k->nphases, n, is);
	for (uint32_t i = 0; i < n; i++) {
		if (k->phases[i].smem != want[i][0] || k->phases[i].smem_end != want[i][1])
			fail_msg("phase %u:%s", i + 1, is);
	}
	ptx_module_free(module);
}
#define PHASES(body, ...)	phases(body, sizeof((uint32_t[][2]){ __VA_ARGS__ }) / 8,	\
				       (const uint32_t[][2]){ __VA_ARGS__ })

static void two_variables(void **state)
{
	/*
	 * Registers make the second phase and the last one. The others begin at instruction 36,
	 * which stores to a, at 53, behind a's last load, and so at 84 and 101 for b. What was
	 * there stays.
	 */
	PHASES(SPIN SPIN PUT("a") SPIN GET("a") SPIN SPIN PUT("b+8") SPIN GET("b+8") SPIN END,
	       { 0, 0 }, { 0, 0 }, { 4, 4 }, { 0, 4 }, { 4, 1036 }, { 0, 1036 }, { 0, 1036 });
	/* The other way round b's word is what reaches far, and a is below it. */
	PHASES(SPIN SPIN PUT("b+8") SPIN GET("b+8") SPIN SPIN PUT("a") SPIN GET("a") SPIN END,
	       { 0, 0 }, { 0, 0 }, { 4, 1036 }, { 0, 1036 }, { 4, 1036 }, { 0, 1036 }, { 0, 1036 });
}

static void around_a_loop(void **state)
{
	/* Behind the load, at 53, the way leads back to it. At 72 it does not. */
	PHASES(SPIN SPIN PUT("a") "L:\n" SPIN GET("a") SPIN
	       "add.u32 %r21, %r21, 1;\nsetp.ne.u32 %p1, %r21, 8;\n@%p1 bra L;\n" SPIN SPIN END,
	       { 0, 0 }, { 0, 0 }, { 4, 4 }, { 4, 4 }, { 0, 4 }, { 0, 4 });
}

#define ANYWHERE	"st.shared.u32 [%d5], %r10;\n"

static void an_unknown_address(void **state)
{
	/* From the first of them to the last everything is live: 38 to 71. */
	PHASES("ld.param.u32 %r12, [n];\ncvt.u64.u32 %d5, %r12;\n" SPIN SPIN ANYWHERE SPIN GET("a")
	       SPIN ANYWHERE SPIN SPIN END,
	       { 0, 0 }, { 0, 0 }, { 9216, PTX_EXTENT_END }, { 0, PTX_EXTENT_END },
	       { 0, PTX_EXTENT_END });
}

static void a_call_accesses_what_its_function_does(void **state)
{
	const struct ptx_kernel *k = load(HEAD FUNCTION, ENTRY,
					  SPIN SPIN CALL("%d2") SPIN SPIN END, 0);

	uint32_t call = 0;

	while (k->insns[call].opcode != PTX_OP_call)
		call++;
	assert_true(k->nphases >= 3);
	for (uint32_t i = 0; i < k->nphases; i++) {
		bool calls = k->phases[i].insn <= call && (i + 1 == k->nphases ||
							   k->phases[i + 1].insn > call);

		assert_int_equal(k->phases[i].smem, calls ? 4 : 0);
	}
	assert_int_equal(k->phases[k->nphases - 1].smem_end, 1028);
	ptx_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants),
		cmocka_unit_test(thread_numbers),
		cmocka_unit_test(masks_and_limits),
		cmocka_unit_test(branches),
		cmocka_unit_test(loops),
		cmocka_unit_test(pointers),
		cmocka_unit_test(generic),
		cmocka_unit_test(atomics),
		cmocka_unit_test(functions),
		cmocka_unit_test(spills),
		cmocka_unit_test(two_variables),
		cmocka_unit_test(around_a_loop),
		cmocka_unit_test(an_unknown_address),
		cmocka_unit_test(a_call_accesses_what_its_function_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
