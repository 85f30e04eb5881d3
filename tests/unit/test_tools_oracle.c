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

/*
 * Two CTAs of 256 threads with 37 registers and six of 64 with 35 have 32384 registers, and an SM
 * has 32768; but it hands them out by four to a thread, and so the sixth does not fit.
 */
static void needs_are_rounded(void **state)
{
	const struct gpu_spec s = {
		.registers = 32768, .shared_bytes = 49152, .warps = 48, .ctas = 8,
		.occupancy_reg_unit = 4, .occupancy_shared_unit = 512,
	};
	struct run run = {
		.report = json_tokener_parse(
			"{\"workloads\": [{\"launch\": {\"block\": [16, 16, 1], \"regs\": 37, \"smem\": 3000}},"
			" {\"launch\": {\"block\": [33, 1, 1], \"regs\": 35, \"smem\": 0}}]}"),
	};
	struct cta_needs needs[2];

	for (size_t i = 0; i < 2; i++)
		needs[i] = cta_needs_of(&s, &run, i);
	assert_true(needs[0].warps == 8 && needs[1].warps == 2);
	assert_true(needs[0].registers == 8 * 32 * 40 && needs[1].registers == 2 * 32 * 36);
	assert_true(needs[0].shared == 3072 && needs[1].shared == 0);
	assert_true(ctas_fit(&s, needs, (const unsigned int []){ 2, 5 }, 2, 1));
	assert_false(ctas_fit(&s, needs, (const unsigned int []){ 2, 6 }, 2, 1));
	json_object_put(run.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_words),
		cmocka_unit_test(what_fits),
		cmocka_unit_test(needs_are_rounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
