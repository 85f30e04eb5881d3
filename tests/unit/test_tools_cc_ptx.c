// SPDX-License-Identifier: GPL-2.0
/* A bfe that takes bits beyond the sign becomes a shift and a mask, a product with the sign bit a shift; nothing else is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cc_ptx.h"

static void check(const char *from, const char *to)
{
	char *text = cc_mended_ptx(from);

	assert_non_null(text);
	assert_string_equal(text, to);
	free(text);
}

static void beyond_the_sign(void **state)
{
	check("\tbfe.u64 \t%rd8, %rd7, 63, 3;\n\tret;\n",
	      "\tshr.s64 \t%rd8, %rd7, 63; and.b64 \t%rd8, %rd8, 7;\n\tret;\n");
	check("\tbfe.u64 \t%rd7, %rd7, 40, 32;", "\tshr.s64 \t%rd7, %rd7, 40; and.b64 \t%rd7, %rd7, 4294967295;");
	check("\tbfe.u64 \t%rd1, %rd2, 33, 32; // x", "\tshr.s64 \t%rd1, %rd2, 33; and.b64 \t%rd1, %rd1, 4294967295; // x");
}

static void product_with_the_sign_bit(void **state)
{
	check("\tmul.wide.s32 \t%rd5, %r3, -2147483648; // x\n\tret;\n",
	      "\tcvt.s64.s32 \t%rd5, %r3; shl.b64 \t%rd5, %rd5, 31; // x\n\tret;\n");
}

static void others_stay(void **state)
{
	static const char *const rows[] = {
		"\tbfe.u64 \t%rd8, %rd7, 32, 32;\n", "\tbfe.u64 \t%rd8, %rd7, 63, 1;\n",
		"\tbfe.u64 \t%rd8, %rd7, %r1, 40;\n", "\tbfe.s64 \t%rd8, %rd7, 63, 3;\n",
		"\tbfe.u32 \t%r8, %r7, 31, 3;\n", "\tmul.wide.s32 \t%rd5, %r3, 1073741824;\n",
		"\tmul.wide.u32 \t%rd5, %r3, -2147483648;\n", "\tmul.wide.s32 \t%rd5, %r3, %r4;\n",
		"\t// begin inline asm\n\tmul.wide.s32 %rd8, %r7, -2147483648;\n\t// end inline asm\n",
		"\t// begin inline asm\n\tbfe.u64 %rd8, %rd7, 63, 3;\n\t// end inline asm\n",
		"no line's end", "", "\n\n",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(rows[i], rows[i]);
	/* After the program's own asm clang's are mended again. */
	check("// begin inline asm\n// end inline asm\nbfe.u64 %rd1, %rd2, 63, 2;\n",
	      "// begin inline asm\n// end inline asm\n\tshr.s64 \t%rd1, %rd2, 63; and.b64 \t%rd1, %rd1, 3;\n");
}

static void list_of_externals(void **state)
{
	check("a;\n.global .u64 __clang_gpu_used_external[2] = {k,\nl};\nb;\n", "a;\n\n\nb;\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_the_sign),
		cmocka_unit_test(product_with_the_sign_bit),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(list_of_externals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
