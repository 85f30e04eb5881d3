// SPDX-License-Identifier: GPL-2.0
/*
 * printf and assert of a kernel: every conversion as C has it, the lanes in
 * order, strings from wherever they are, and the sentence that ends the kernel.
 */
#include "exec_runner.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n" \
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 b);\n" \
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"

/* A string as a variable of the module, byte by byte. */
static int declare(char *p, const char *name, const char *value)
{
	size_t n = strlen(value) + 1, i;
	int at = sprintf(p, ".global .align 1 .b8 %s[%zu] = {", name, n);

	for (i = 0; i < n; i++)
		at += sprintf(p + at, "%s%u", i ? ", " : "", (unsigned char)value[i]);
	return at + sprintf(p + at, "};\n");
}

/* The kernel puts the 8 words at its parameter into a buffer and prints them by the format. */
static char *print_words(const char *format, const uint64_t words[8], uint32_t threads, int whole)
{
	char text[16384], *p = text;
	uint32_t result = 0, i;
	struct run run;
	char *printed;

	p += sprintf(p, "%s", HEAD);
	p += declare(p, "format", format);
	p += declare(p, "name", "string");
	p += sprintf(p, ".visible .entry k(.param .u64 p, .param .u64 q) {\n.local .align 8 .b8 l[64];\n"
		     ".reg .b64 %%d<9>;\n.reg .b32 %%r<4>;\nld.param.u64 %%d0, [p];\n"
		     "mov.u64 %%d1, l;\ncvta.local.u64 %%d2, %%d1;\n");
	for (i = 0; i < 8; i++)
		p += sprintf(p, "ld.global.u64 %%d3, [%%d0+%u];\nst.local.u64 [%%d1+%u], %%d3;\n", 8 * i, 8 * i);
	/* A word of all ones is the string. */
	p += sprintf(p, "mov.u64 %%d5, name;\n");
	for (i = 0; i < 8; i++) {
		if (words[i] == ~0ull)
			p += sprintf(p, "st.local.u64 [%%d1+%u], %%d5;\n", 8 * i);
	}
	p += sprintf(p, "mov.u64 %%d4, format;\ncvta.global.u64 %%d4, %%d4;\n"
		     "{\n.param .b64 f;\n.param .b64 b;\n.param .b32 r;\nst.param.b64 [f], %%d4;\n"
		     "st.param.b64 [b], %%d2;\ncall.uni (r), vprintf, (f, b);\nld.param.b32 %%r0, [r];\n}\n"
		     "ld.param.u64 %%d6, [q];\nst.global.u32 [%%d6], %%r0;\nret;\n}\n");
	run_load(&run, text, NULL);
	run.whole = whole;
	run_ptr(&run, words);
	run_ptr(&run, &result);
	if (run_grid(&run, 1, 1, threads, 1))
		fail_msg("%s", run.err.text);
	run_free(&run);
	printed = run.printed ? run.printed : calloc(1, 1);
	/* What it returns is how many arguments there were. */
	printed = realloc(printed, strlen(printed) + 16);
	sprintf(printed + strlen(printed), "|%u", result);
	return printed;
}

static void expect(const char *format, const uint64_t words[8], const char *text)
{
	char *printed;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		printed = print_words(format, words, 1, whole);
		assert_string_equal(printed, text);
		free(printed);
	}
}

static uint64_t real(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

/* Two 4-byte arguments are one word. */
static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)b << 32 | a;
}

static void conversions(void **state)
{
	expect("plain %% text\n", (uint64_t[8]){ 0 }, "plain % text\n|0");
	expect("%d %i %u %o %x %X", (uint64_t[8]){ pair(-5, 7), pair(-1, 8), pair(0xbeef, 0xbeef) },
	       "-5 7 4294967295 10 beef BEEF|6");
	expect("%lld %llu %lx %hd", (uint64_t[8]){ -5ull, 1ull << 63, 1ull << 40, pair(3, 0) },
	       "-5 9223372036854775808 10000000000 3|4");
	/* 8 bytes are aligned: there is a hole behind the first. */
	expect("%d %f %d", (uint64_t[8]){ pair(1, 99), real(2.5), pair(3, 0) }, "1 2.500000 3|3");
	expect("%5d|%-5d|%05d|%+d|% d|%#x", (uint64_t[8]){ pair(42, 42), pair(42, 42), pair(42, 42) },
	       "   42|42   |00042|+42| 42|0x2a|6");
	expect("%.3d|%8.3f|%-8.2e|%G|%g", (uint64_t[8]){ pair(7, 0), real(3.14159), real(31415.9), real(1e-10), real(0.5) },
	       "007|   3.142|3.14e+04|1E-10|0.5|5");
	expect("%*d|%-*d|%.*f", (uint64_t[8]){ pair(6, 12), pair(-6, 12), pair(2, 0), real(1.005) },
	       "    12|12    |1.00|6");
	expect("%c%c%5c|", (uint64_t[8]){ pair('a', 'b'), pair('c', 0) }, "ab    c||3");
	expect("%s|%10s|%.3s|%-8s|", (uint64_t[8]){ ~0ull, ~0ull, ~0ull, ~0ull },
	       "string|    string|str|string  ||4");
	expect("%a %p", (uint64_t[8]){ real(1), 0x1234 }, "0x1p+0 0x1234|2");
	expect("%s %s", (uint64_t[8]){ 0, 0x123456789 }, "(null) (string at 0x123456789)|2");
	/* What is no conversion is text; nothing is read for it. */
	expect("%y %d %", (uint64_t[8]){ pair(4, 5) }, "%y 4 %|1");
}

/* A conversion longer than it may be is cut, and no more. */
static void wide(void **state)
{
	char *printed = print_words("%700d|%.600f", (uint64_t[8]){ pair(4, 0), real(0.5) }, 1, 1);

	assert_int_equal(strspn(printed, " "), 510);
	assert_memory_equal(printed + 510, "4|0.5000", 8);
	free(printed);
}

/* Whole calls, one lane after the other, and the buffer of the writer is no limit. */
static void lanes(void **state)
{
	char format[201], *printed;
	int i;

	memset(format, 'x', 200);
	memcpy(format, "%d ", 3);
	format[199] = '\n';
	format[200] = '\0';
	printed = print_words(format, (uint64_t[8]){ 7 }, 40, 1);
	for (i = 0; i < 40; i++)
		assert_memory_equal(printed + i * 199, "7 xxx", 5);
	assert_int_equal(strlen(printed), 40 * 199 + 2);
	free(printed);
}

static void assertion(void **state)
{
	static const char sentence[] = "file.cu:77: void f(int): block: [1,0,0], thread: [3,1,0] Assertion `a < b` failed.";
	char text[8192], *p = text;
	struct run run;
	int whole;

	p += sprintf(p, "%s", HEAD);
	p += declare(p, "what", "a < b");
	p += declare(p, "file", "file.cu");
	p += declare(p, "function", "void f(int)");
	sprintf(p, ".visible .entry k() {\n.reg .b64 %%d<9>;\n.reg .b32 %%r<4>;\n.reg .pred %%p<4>;\n"
		"mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%tid.y;\nmov.u32 %%r2, %%ctaid.x;\n"
		"setp.ne.u32 %%p0, %%r2, 1;\n@%%p0 ret;\nsetp.ne.u32 %%p1, %%r1, 1;\n@%%p1 ret;\n"
		"setp.lt.u32 %%p2, %%r0, 3;\n@%%p2 ret;\n"
		"mov.u64 %%d0, what;\nmov.u64 %%d1, file;\nmov.u64 %%d2, function;\n"
		"{\n.param .b64 m;\n.param .b64 f;\n.param .b32 l;\n.param .b64 n;\n.param .b64 s;\n"
		"st.param.b64 [m], %%d0;\nst.param.b64 [f], %%d1;\nst.param.b32 [l], 77;\n"
		"st.param.b64 [n], %%d2;\nst.param.b64 [s], 1;\ncall.uni __assertfail, (m, f, l, n, s);\n}\n"
		"ret;\n}\n");
	for (whole = 0; whole < 2; whole++) {
		run_load(&run, text, NULL);
		run.whole = whole;
		assert_int_equal(run_grid(&run, 2, 1, 5, 2), whole ? -EINVAL : -EFAULT);
		assert_string_equal(run.err.text, sentence);
		/* The fifth thread of the row fails as well. */
		assert_memory_equal(run.printed, sentence, strlen(sentence));
		assert_non_null(strstr(run.printed, "\nfile.cu:77: void f(int): block: [1,0,0], thread: [4,1,0] Assertion `a < b` failed.\n"));
		free(run.printed);
		run_free(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions),
		cmocka_unit_test(wide),
		cmocka_unit_test(lanes),
		cmocka_unit_test(assertion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
