// SPDX-License-Identifier: GPL-2.0
/*
 * The message of every text that is refused: data/refused_ptx.txt, to the byte, and
 * every row of refused.def. A message in daemon/ptx that no text there gets fails.
 */
#include "refused.h"

#include "ptx/ptx.h"

static int refuse(const char *text, size_t len, struct err *err)
{
	struct ptx_module *module;
	int ret = ptx_module_parse(text, len, "t.ptx", &module, err);

	if (!ret)
		ptx_module_free(module);
	return ret;
}

static struct refused refused;

static int read_cases(void **state)
{
	read_refused(&refused, "data/refused_ptx.txt");
	return 0;
}

static int free_cases(void **state)
{
	free_refused(&refused);
	return 0;
}

static void messages(void **state)
{
	assert_int_equal(try_refused(&refused, refuse), 0);
}

static bool any(const char *name)
{
	return true;
}

static void every_message_has_a_text(void **state)
{
	unsigned int found = 0;

	assert_int_equal(check_sources(&refused, "../../daemon/ptx", any, &found), 0);
	assert_true(found > 100);
}

static const struct {
	const char *name, *reason;
} rows[] = {
#define X(name, reason) { #name, reason },
#include "ptx/refused.def"
#undef X
};

static void instructions(void **state)
{
	char text[1024], expected[600];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err err = { 0 };
		int len, ret;

		len = snprintf(text, sizeof(text), "%s\t%s.b32 %%r1, [%%d1];\n}\n",
			       HEAD BODY, rows[i].name);
		ret = refuse(text, len, &err);
		snprintf(expected, sizeof(expected),
			 "t.ptx:10: not supported: `%s.b32 %%r1, [%%d1];` (%s)", rows[i].name,
			 rows[i].reason);
		assert_string_equal(err.text, expected);
		assert_int_equal(ret, -EOPNOTSUPP);
		/* With a guard too. */
		len = snprintf(text, sizeof(text), "%s@!%%p1 %s;\n}\n", HEAD BODY,
			       rows[i].name);
		ret = refuse(text, len, &err);
		snprintf(expected, sizeof(expected), "t.ptx:10: not supported: `@!%%p1 %s;` (%s)",
			 rows[i].name, rows[i].reason);
		assert_string_equal(err.text, expected);
		assert_int_equal(ret, -EOPNOTSUPP);
	}
	assert_true(i > 30);
}

/* A new row of refused.def is tested; one without a reason says nothing. */
static void reasons(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(strlen(rows[i].reason) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(every_message_has_a_text),
		cmocka_unit_test(instructions),
		cmocka_unit_test(reasons),
	};

	return cmocka_run_group_tests(tests, read_cases, free_cases);
}
