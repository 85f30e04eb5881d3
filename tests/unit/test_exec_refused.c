// SPDX-License-Identifier: GPL-2.0
/*
 * The message of every kernel that parses and cannot be bound:
 * data/refused_exec.txt. A message of binding that no text there gets fails.
 */
#include "refused.h"

#include "exec/exec.h"

static int refuse(const char *text, size_t len, struct err *err)
{
	struct exec_program *program;
	struct ptx_module *module;
	int ret = ptx_module_parse(text, len, "t.ptx", &module, err);

	if (ret)
		fail_msg("not parsed: %s", err->text);
	ret = exec_program_create(ptx_module_kernel_at(module, 0), &program, err);
	if (!ret)
		exec_program_free(program);
	ptx_module_free(module);
	return ret;
}

static struct refused refused;

static int read_cases(void **state)
{
	read_refused(&refused, "data/refused_exec.txt");
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

/* Texts that are too large for the file: `n` times `line`, which is given a number each. */
static void too_large(unsigned int n, const char *head, const char *line, const char *tail,
		      const char *message)
{
	size_t bytes = (size_t)n * 100 + 1000, len;
	char *text = malloc(bytes);
	struct err err = { 0 };
	unsigned int i;

	assert_non_null(text);
	len = snprintf(text, bytes, "%s.entry k() {\n%s\n", HEAD, head);
	for (i = 0; i < n; i++)
		len += snprintf(text + len, bytes - len, line, i, i);
	len += snprintf(text + len, bytes - len, "%s\n}\n", tail);
	assert_int_equal(refuse(text, len, &err), -EOPNOTSUPP);
	if (strcmp(err.text, message))
		fail_msg("expected %s\ngot %s", message, err.text);
	free(text);
}

static void large(void **state)
{
	too_large(70000, ".reg .b32 r<70000>;", "mov.b32 r%u, %u;\n", "ret;",
		  "t.ptx:4: not supported: kernel 'k' has 70000 registers (65535 at most)");
	too_large(40000, ".reg .b64 r;", "add.s64 r, r, %u00%u;\n", "ret;",
		  "t.ptx:4: not supported: kernel 'k' needs more than 8388608 bytes of registers a warp");
}

/* Binding; what ends a running kernel has tests of its own. */
static bool binds(const char *name)
{
	return !strncmp(name, "bind", 4) || !strcmp(name, "program.c") || !strcmp(name, "select.c") ||
	       !strcmp(name, "sequence.c") || !strcmp(name, "pack.c") || !strcmp(name, "call.c");
}

static void every_message_has_a_text(void **state)
{
	unsigned int found = 0;

	assert_int_equal(check_sources(&refused, "../../daemon/exec", binds, &found), 0);
	assert_true(found > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(large),
		cmocka_unit_test(every_message_has_a_text),
	};

	return cmocka_run_group_tests(tests, read_cases, free_cases);
}
