// SPDX-License-Identifier: GPL-2.0
/* gpuemu run --slice oracle: what of the words is its own, and which partitions fit an SM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "oracle.h"

static void its_words(void **state)
{
	static const struct {
		const char *words[5];
		bool asked;
		int left;
	} cases[] = {
		{ { "run", "a", "+", "b", NULL }, false, 4 },
		{ { "run", "--slice", "oracle", "a", NULL }, true, 2 },
		{ { "run", "a", "--slice=oracle", NULL }, true, 2 },
		{ { "run", "a", "--slice", "even", NULL }, false, 4 },
		{ { "run", "a", "--slice", NULL }, false, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *argv[6] = { NULL };
		int argc = 0;

		while (cases[i].words[argc]) {
			argv[argc] = (char *)cases[i].words[argc];
			argc++;
		}
		assert_int_equal(oracle_asked(&argc, argv), cases[i].asked);
		assert_int_equal(argc, cases[i].left);
		assert_string_equal(argv[0], "run");
		for (int k = 0; cases[i].asked && k < argc; k++)
			assert_null(strstr(argv[k], "oracle"));
	}
}

/* Each of the four resources binds in one case, at its last CTA. */
static void what_fits(void **state)
{
	const struct gpu_spec s = {
		.registers = 32768, .shared_bytes = 49152, .warps = 48, .ctas = 8,
	};
	static const struct {
		struct cta_needs needs[2];
		unsigned int ctas[2];	/* that just fit */
	} cases[] = {
		{ { { 4, 8192, 0 }, { 4, 4096, 0 } }, { 3, 2 } },
		{ { { 1, 32, 12288 }, { 1, 32, 6144 } }, { 3, 2 } },
		{ { { 12, 32, 0 }, { 6, 32, 0 } }, { 3, 2 } },
		{ { { 1, 32, 0 }, { 1, 32, 0 } }, { 6, 2 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const unsigned int more[2] = { cases[i].ctas[0], cases[i].ctas[1] + 1 };
		const unsigned int half[2] = { cases[i].ctas[0], 0 };
		struct gpu_spec twice = s;

		assert_true(ctas_fit(&s, cases[i].needs, cases[i].ctas, 2, 1));
		assert_false(ctas_fit(&s, cases[i].needs, more, 2, 1));
		assert_false(ctas_fit(&s, cases[i].needs, half, 2, 2));
		twice.registers *= 2;
		twice.shared_bytes *= 2;
		twice.warps *= 2;
		twice.ctas *= 2;
		assert_true(ctas_fit(&twice, cases[i].needs, cases[i].ctas, 2, 2));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_words),
		cmocka_unit_test(what_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
