// SPDX-License-Identifier: GPL-2.0
/*
 * Calls: parameters, frames, recursion, lanes that return early or leave, the
 * stack's end; and brx.idx. Everything runs step by step and as a whole grid.
 */
#include "exec_threads.h"

#define THREADS MAX_THREADS

static void check(const char *text, uint32_t (*expect)(uint32_t thread))
{
	check_threads(text, (struct given){ .threads = THREADS }, expect);
}

static void expect_trap(const char *text, const char *message)
{
	check_trap(text, (struct given){ .threads = THREADS }, message);
}

/* Two calls with their arguments the other way round: all are read before one is written. */
static uint32_t expect_swap(uint32_t t)
{
	return (t * 3 - 7) * 1000 + (7 - t * 3);
}
static void swap(void **state)
{
	check(HEAD
	      ".func (.param .b32 r) minus(.param .b32 a, .param .b32 b) {\n.reg .b32 %r<4>;\n"
	      "ld.param.u32 %r0, [a];\nld.param.u32 %r1, [b];\nsub.u32 %r2, %r0, %r1;\n"
	      "st.param.b32 [r], %r2;\nret;\n}\n"
	      ".func (.param .b32 r) twice(.param .b32 a, .param .b32 b) {\n.reg .b32 %r<9>;\n"
	      "ld.param.u32 %r0, [a];\nld.param.u32 %r1, [b];\n"
	      "{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\n"
	      "st.param.b32 [x], %r0;\nst.param.b32 [y], %r1;\ncall.uni (z), minus, (x, y);\n"
	      "ld.param.b32 %r2, [z];\n}\n"
	      "{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\n"
	      "st.param.b32 [x], %r1;\nst.param.b32 [y], %r0;\ncall.uni (z), minus, (x, y);\n"
	      "ld.param.b32 %r3, [z];\n}\n"
	      "mad.lo.u32 %r4, %r2, 1000, %r3;\nst.param.b32 [r], %r4;\nret;\n}\n"
	      KERNEL
	      "mul.lo.u32 %r1, %r0, 3;\n"
	      "{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\n"
	      "st.param.b32 [x], %r1;\nst.param.b32 [y], 7;\ncall.uni (z), twice, (x, y);\n"
	      "ld.param.b32 %r2, [z];\n}\n" STORE("%r2"), expect_swap);
}

/* Some lanes call, under a guard; in the callee some return at once, others go round a loop. */
static uint32_t expect_early(uint32_t t)
{
	uint32_t r = 5, i;

	if (t % 3 == 0)
		return r + t;
	if (t & 8)
		return 77 + t;
	for (r = 0, i = 0; i < t % 5; i++)
		r += t;
	return r + 1 + t;
}
#define EARLY_FUNCTION \
	".func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %r<9>;\n.reg .pred %p<4>;\n" \
	"ld.param.u32 %r0, [a];\nand.b32 %r1, %r0, 8;\nsetp.ne.u32 %p0, %r1, 0;\n" \
	"mov.u32 %r2, 77;\nst.param.b32 [r], %r2;\n@%p0 ret;\n" \
	"rem.u32 %r3, %r0, 5;\nmov.u32 %r2, 0;\n" \
	"again:\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra out;\n" \
	"add.u32 %r2, %r2, %r0;\nsub.u32 %r3, %r3, 1;\nbra again;\n" \
	"out:\nadd.u32 %r2, %r2, 1;\nst.param.b32 [r], %r2;\nret;\n}\n"
static void early(void **state)
{
	check(HEAD EARLY_FUNCTION KERNEL
	      "mov.u32 %r5, 5;\nrem.u32 %r1, %r0, 3;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra skip;\n"
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r0;\ncall.uni (z), f, (x);\n"
	      "ld.param.b32 %r5, [z];\n}\n"
	      "skip:\nadd.u32 %r5, %r5, %r0;\n" STORE("%r5"), expect_early);
}

static void guarded_call(void **state)
{
	check(HEAD EARLY_FUNCTION KERNEL
	      "rem.u32 %r1, %r0, 3;\nsetp.ne.u32 %p0, %r1, 0;\n"
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r0;\n@%p0 call (z), f, (x);\n"
	      "ld.param.b32 %r5, [z];\n}\n"
	      "@!%p0 mov.u32 %r5, 5;\n"
	      "add.u32 %r5, %r5, %r0;\n" STORE("%r5"), expect_early);
}

/* Lanes leave the kernel inside a function; those that come back are the others. */
static uint32_t expect_exit(uint32_t t)
{
	return t % 4 == 1 || t >= 48 ? 0xeeeeeeee : t + 9;
}
static void exit_inside(void **state)
{
	check(HEAD
	      ".func g(.param .b32 a) {\n.reg .b32 %r<9>;\n.reg .pred %p<4>;\n"
	      "ld.param.u32 %r0, [a];\nand.b32 %r1, %r0, 3;\nsetp.eq.u32 %p0, %r1, 1;\n"
	      "@%p0 exit;\nsetp.ge.u32 %p1, %r0, 48;\n@%p1 exit;\nret;\n}\n"
	      KERNEL
	      "{\n.param .b32 x;\nst.param.b32 [x], %r0;\ncall.uni g, (x);\n}\n"
	      "add.u32 %r1, %r0, 9;\n" STORE("%r1"), expect_exit);
}

/* fib(n), a depth of its own for each lane. */
#define FIB \
	".func (.param .b32 r) fib(.param .b32 n) {\n.reg .b32 %r<9>;\n.reg .pred %p<4>;\n" \
	"ld.param.u32 %r0, [n];\nsetp.lt.u32 %p0, %r0, 2;\n@%p0 bra small;\n" \
	"sub.u32 %r1, %r0, 1;\n" \
	"{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r1;\ncall.uni (z), fib, (x);\n" \
	"ld.param.b32 %r2, [z];\n}\n" \
	"sub.u32 %r1, %r0, 2;\n" \
	"{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r1;\ncall.uni (z), fib, (x);\n" \
	"ld.param.b32 %r3, [z];\n}\n" \
	"add.u32 %r2, %r2, %r3;\nst.param.b32 [r], %r2;\nret;\n" \
	"small:\nst.param.b32 [r], %r0;\nret;\n}\n"
static uint32_t fib(uint32_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static uint32_t expect_fib(uint32_t t)
{
	return fib(t % 11);
}
static void recursion(void **state)
{
	check(HEAD FIB KERNEL "rem.u32 %r1, %r0, 11;\n"
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r1;\ncall.uni (z), fib, (x);\n"
	      "ld.param.b32 %r2, [z];\n}\n" STORE("%r2"), expect_fib);
}

/* Lanes that do not call themselves again keep what the others' arguments are written to. */
static uint32_t thirds(uint32_t n)
{
	return (n % 3 ? thirds(n - 1) : 0) * 2 + n;
}
static uint32_t expect_thirds(uint32_t t)
{
	return thirds(t);
}
static void partial_recursion(void **state)
{
	check(HEAD
	      ".func (.param .b32 r) thirds(.param .b32 n) {\n.reg .b32 %r<9>;\n.reg .pred %p<4>;\n"
	      "ld.param.u32 %r0, [n];\nmov.u32 %r2, 0;\nrem.u32 %r1, %r0, 3;\n"
	      "setp.eq.u32 %p0, %r1, 0;\n@%p0 bra skip;\nsub.u32 %r1, %r0, 1;\n"
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r1;\ncall (z), thirds, (x);\n"
	      "ld.param.b32 %r2, [z];\n}\n"
	      "skip:\nmad.lo.u32 %r2, %r2, 2, %r0;\nst.param.b32 [r], %r2;\nret;\n}\n"
	      KERNEL
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r0;\ncall.uni (z), thirds, (x);\n"
	      "ld.param.b32 %r2, [z];\n}\n" STORE("%r2"), expect_thirds);
}

/* A thread that returned inside a branch is missing where the others meet again. */
static uint32_t expect_inside(uint32_t t)
{
	return (t & 3) == 3 ? 50 : 60 + (t & 1);
}
static void return_inside(void **state)
{
	check(HEAD
	      ".func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %r<9>;\n.reg .pred %p<4>;\n"
	      "ld.param.u32 %r0, [a];\nand.b32 %r1, %r0, 1;\nand.b32 %r2, %r0, 2;\nmov.u32 %r3, 50;\n"
	      "setp.eq.u32 %p0, %r1, 0;\nsetp.ne.u32 %p1, %r2, 0;\nst.param.b32 [r], %r3;\n"
	      "@%p0 bra join;\n@%p1 ret;\nadd.u32 %r1, %r1, 0;\n"
	      "join:\nadd.u32 %r3, %r1, 60;\nst.param.b32 [r], %r3;\nret;\n}\n"
	      KERNEL
	      "{\n.param .b32 x;\n.param .b32 z;\nst.param.b32 [x], %r0;\ncall.uni (z), f, (x);\n"
	      "ld.param.b32 %r2, [z];\n}\n" STORE("%r2"), expect_inside);
}

/* Every level has its own local array; the address of the one above's is passed down. */
static uint32_t expect_frames(uint32_t t)
{
	uint32_t n = t % 6, sum = 0, i;

	for (i = 0; i <= n; i++)
		sum = sum * 2 + i;
	return sum;
}
static void frames(void **state)
{
	check(HEAD
	      ".func down(.param .b32 n, .param .b64 at) {\n.local .align 8 .b8 mine[24];\n"
	      ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<4>;\n"
	      "ld.param.u32 %r0, [n];\nld.param.u64 %d0, [at];\n"
	      "st.local.u32 [mine+8], %r0;\n"		/* the number of this level */
	      "mov.u64 %d1, mine;\ncvta.local.u64 %d1, %d1;\n"
	      "mov.u32 %r4, 0;\nst.local.u32 [mine+16], %r4;\n"
	      "setp.eq.u32 %p0, %r0, 0;\n@%p0 bra bottom;\n"
	      "sub.u32 %r1, %r0, 1;\n"
	      "{\n.param .b32 x;\n.param .b64 y;\nst.param.b32 [x], %r1;\nadd.u64 %d2, %d1, 16;\n"
	      "st.param.b64 [y], %d2;\ncall.uni down, (x, y);\n}\n"
	      "bottom:\nld.local.u32 %r2, [mine+16];\nld.local.u32 %r3, [mine+8];\n"
	      "mad.lo.u32 %r2, %r2, 2, %r3;\nst.u32 [%d0], %r2;\nret;\n}\n"
	      KERNEL ".local .align 8 .b8 top[16];\nrem.u32 %r1, %r0, 6;\n"
	      "mov.u64 %d3, top;\ncvta.local.u64 %d3, %d3;\n"
	      "{\n.param .b32 x;\n.param .b64 y;\nst.param.b32 [x], %r1;\n"
	      "st.param.b64 [y], %d3;\ncall.uni down, (x, y);\n}\n"
	      "ld.local.u32 %r2, [top];\n" STORE("%r2"), expect_frames);
}

/* An array by value, indexed with a register: it is in the callee's frame. */
static uint32_t expect_array(uint32_t t)
{
	return (t % 4 + 1) * 10 + t;
}
static void array_argument(void **state)
{
	check(HEAD
	      ".func (.param .b32 r) pick(.param .align 4 .b8 a[16], .param .b32 i) {\n"
	      ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
	      "ld.param.u32 %r0, [i];\nmul.wide.u32 %d0, %r0, 4;\nmov.u64 %d1, a;\n"
	      "add.u64 %d1, %d1, %d0;\nld.param.u32 %r1, [%d1];\nst.param.b32 [r], %r1;\nret;\n}\n"
	      KERNEL "and.b32 %r1, %r0, 3;\n"
	      "{\n.param .align 4 .b8 x[16];\n.param .b32 y;\n.param .b32 z;\n"
	      "add.u32 %r3, %r0, 10;\nst.param.b32 [x], %r3;\nadd.u32 %r3, %r0, 20;\n"
	      "st.param.b32 [x+4], %r3;\nadd.u32 %r3, %r0, 30;\nst.param.b32 [x+8], %r3;\n"
	      "add.u32 %r3, %r0, 40;\nst.param.b32 [x+12], %r3;\n"
	      "st.param.b32 [y], %r1;\ncall.uni (z), pick, (x, y);\nld.param.b32 %r2, [z];\n}\n"
	      STORE("%r2"), expect_array);
}

/* The message says which key makes the stack larger. */
static void overflow(void **state)
{
	static const char text[] = HEAD
		".func deep(.param .b32 n) {\n.reg .b32 %r<9>;\n"
		"ld.param.u32 %r0, [n];\nadd.u32 %r0, %r0, 1;\n"
		"{\n.param .b32 x;\nst.param.b32 [x], %r0;\ncall.uni deep, (x);\n}\nret;\n}\n"
		KERNEL
		"{\n.param .b32 x;\nst.param.b32 [x], %r0;\ncall.uni deep, (x);\n}\n"
		STORE("%r0");
	struct given given = { .threads = THREADS };
	uint32_t out[THREADS];
	struct run run;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		assert_int_equal(run_given(&run, text, &given, whole, out),
				 whole ? -EINVAL : -EFAULT);
		assert_non_null(strstr(run.err.text, "the call of 'deep' overflows the stack of "));
		assert_non_null(strstr(run.err.text, "compiler.stack"));
		assert_non_null(strstr(run.err.text, "thread (0,0,0) of CTA (0,0,0)"));
		run_free(&run);
	}
}

/* n ways at once, some to the same place, some to where all meet, some past a guard. */
static uint32_t expect_brx(uint32_t t)
{
	static const uint32_t add[] = { 100, 200, 100, 0, 300 };

	return t + (t < 50 ? add[t % 5] : 1000 + add[0]);
}
#define TABLE(guard) \
	"rem.u32 %r1, %r0, 5;\nmov.u32 %r2, %r0;\n" \
	"ts: .branchtargets a, b, a, join, c;\n" \
	guard " brx.idx %r1, ts;\n" \
	"add.u32 %r2, %r2, 1000;\n" \
	"a:\nadd.u32 %r2, %r2, 100;\nbra join;\n" \
	"b:\nadd.u32 %r2, %r2, 200;\nbra join;\n" \
	"c:\nadd.u32 %r2, %r2, 300;\n" \
	"join:\n"
static void ways(void **state)
{
	check(HEAD KERNEL "setp.lt.u32 %p0, %r0, 50;\n" TABLE("@%p0") STORE("%r2"), expect_brx);
}

static void no_way(void **state)
{
	expect_trap(HEAD KERNEL "ts: .branchtargets a, b;\nbrx.idx %r0, ts;\na:\nb:\n" STORE("%r0"),
		    "kernel 'k': brx.idx by 2, where there are 2 targets (test.ptx line 10, thread (2,0,0) of CTA (0,0,0))");
}

/* Each lane calls one of three through an address: of a table, of an instruction, of a constant. */
#define OPS \
	".func (.param .b32 v) twice(.param .b32 a, .param .align 4 .b8 s[8]);\n" \
	".global .align 8 .u64 table[3] = {twice, thrice, other};\n" \
	".const .align 8 .u64 one = thrice;\n" \
	".func (.param .b32 v) thrice(.param .b32 a, .param .align 4 .b8 s[8]) {\n" \
	".reg .b32 %x, %y;\nld.param.u32 %x, [a];\nmul.lo.u32 %x, %x, 3;\n" \
	"ld.param.u32 %y, [s+4];\nadd.u32 %x, %x, %y;\nst.param.b32 [v], %x;\nret;\n}\n" \
	".func (.param .b32 v) twice(.param .b32 a, .param .align 4 .b8 s[8]) {\n" \
	".reg .b32 %x, %y;\nld.param.u32 %x, [a];\nadd.u32 %x, %x, %x;\n" \
	"ld.param.u32 %y, [s];\nadd.u32 %x, %x, %y;\nst.param.b32 [v], %x;\nret;\n}\n"
#define OTHER ".func (.param .b64 v) other(.param .b32 a) { .reg .b64 %x;\nmov.u64 %x, 5;\n" \
	"st.param.b64 [v], %x;\nret;\n}\n"
#define THROUGH(reg) \
	"{\n.param .b32 a; .param .align 4 .b8 s[8]; .param .b32 v;\n" \
	"st.param.b32 [a], %r0;\nst.param.b32 [s], 1000;\nst.param.b32 [s+4], 2000;\n" \
	"P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[8]);\n" \
	"call (v), " reg ", (a, s), P;\nld.param.b32 %r2, [v];\n}\n"
static uint32_t expect_indirect(uint32_t t)
{
	return t % 3 == 2 ? t * 3 + 2000 + t : (t % 3 ? t * 3 + 2000 : t * 2 + 1000) + t;
}
static void indirect(void **state)
{
	check(HEAD ".func (.param .b64 v) other(.param .b32 a);\n"
	      ".func (.param .b32 v) thrice(.param .b32 a, .param .align 4 .b8 s[8]);\n" OPS OTHER
	      KERNEL "rem.u32 %r1, %r0, 3;\nmov.u64 %d1, table;\nmad.wide.u32 %d1, %r1, 8, %d1;\n"
	      "ld.global.u64 %d2, [%d1];\nsetp.eq.u32 %p0, %r1, 2;\n@%p0 ld.const.u64 %d2, [one];\n"
	      THROUGH("%d2") "mov.u64 %d3, twice;\nadd.u32 %r2, %r2, %r0;\n" STORE("%r2"),
	      expect_indirect);
}

/* A prototype by the name of a function that may be called, and no parameters. */
static uint32_t expect_targets(uint32_t t)
{
	return t + 17;
}
static void targets(void **state)
{
	check(HEAD ".func (.reg .b32 %v) f() {\nmov.u32 %v, 17;\nret;\n}\n"
	      KERNEL "mov.u64 %d2, f;\nP: .calltargets f;\ncall (%r1), %d2, P;\n"
	      "add.u32 %r1, %r1, %r0;\n" STORE("%r1"), expect_targets);
}

/* A function that is elsewhere, one of another kind, what is between two, and nothing. */
static void no_function(void **state)
{
	static const char *const where[] = {
		"mov.u64 %d2, other;\n", "mov.u64 %d2, thrice; add.u64 %d2, %d2, 8;\n",
		"mov.u64 %d2, twice; add.u64 %d2, %d2, 8;\n",
		"mov.u64 %d2, 0;\n", "mov.u64 %d2, k;\n", "mov.u64 %d2, 0xffff500000100000;\n",
	};
	char text[4000];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		snprintf(text, sizeof(text), "%s%s%s%s", HEAD
			 ".func (.param .b64 v) other(.param .b32 a);\n"
			 ".func (.param .b32 v) thrice(.param .b32 a, .param .align 4 .b8 s[8]);\n"
			 OPS OTHER, KERNEL, where[i], THROUGH("%d2") STORE("%r2"));
		expect_trap(text, "kernel 'k': trap (test.ptx line 44, thread (0,0,0) of CTA (0,0,0))");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swap),
		cmocka_unit_test(early),
		cmocka_unit_test(guarded_call),
		cmocka_unit_test(exit_inside),
		cmocka_unit_test(recursion),
		cmocka_unit_test(partial_recursion),
		cmocka_unit_test(return_inside),
		cmocka_unit_test(frames),
		cmocka_unit_test(array_argument),
		cmocka_unit_test(overflow),
		cmocka_unit_test(ways),
		cmocka_unit_test(no_way),
		cmocka_unit_test(indirect),
		cmocka_unit_test(targets),
		cmocka_unit_test(no_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
