// SPDX-License-Identifier: GPL-2.0
/*
 * Modules with kernels that are not supported beside others: parsed with `leave_out` the others are
 * there, and the message of each that is not is kept; without it the module is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD	".version 7.0\n.target sm_70\n.address_size 64\n"
#define GOOD(name)	".visible .entry " name "(.param .u32 n) { .reg .b32 r;\nld.param.u32 r, [n]; ret; }\n"
/* In the body itself, in a function that is called, and when it is linked: another module's variable. */
#define BODY	".entry body() { .reg .b32 r; {\nfoo.bar r, 1; } ret; }\n"
#define CALLED	".func f() {\nfoo.bar; ret; }\n.entry caller() { call f; ret; }\n"
#define LINKED	".extern .global .u32 far;\n.entry linked() { .reg .u32 r;\nld.global.u32 r, [far]; ret; }\n"

static struct ptx_module *module;

static int parse(const char *text, bool leave_out, struct err *err)
{
	const struct ptx_options options = { .leave_out = leave_out };

	*err = (struct err){ "" };
	module = NULL;
	return ptx_module_parse_with(text, strlen(text), "t.ptx", &options, &module, err);
}

static void others_are_there(void **state)
{
	struct err err;

	assert_int_equal(parse(HEAD GOOD("first") BODY CALLED LINKED GOOD("last"), true, &err), 0);
	assert_string_equal(err.text, "");
	assert_string_equal(ptx_module_kernel_at(module, 0)->name, "first");
	assert_string_equal(ptx_module_kernel_at(module, 1)->name, "last");
	assert_null(ptx_module_kernel_at(module, 2));
	assert_int_equal(ptx_module_kernel(module, "last")->nparams, 1);
	assert_null(ptx_module_kernel(module, "body"));
	assert_non_null(strstr(ptx_module_refusal(module, "body"), "t.ptx:7: not supported: `foo.bar r, 1;`"));
	assert_non_null(strstr(ptx_module_refusal(module, "caller"), "t.ptx:9: not supported: `foo.bar;`"));
	assert_non_null(strstr(ptx_module_refusal(module, "linked"), "('far' is a variable of another module)"));
	assert_null(ptx_module_refusal(module, "first"));
	assert_null(ptx_module_refusal(module, "nobody"));
	ptx_module_free(module);
}

/* Nothing is left: the first message is the module's. */
static void one_must_be_there(void **state)
{
	struct err err;

	assert_int_equal(parse(HEAD LINKED BODY, true, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "('far' is a variable of another module)"));
	assert_int_equal(parse(HEAD GOOD("good") BODY, false, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "`foo.bar r, 1;`"));
}

/* What is no PTX is refused whatever is beside it. */
static void mistakes_are_refused(void **state)
{
	struct err err;

	assert_int_equal(parse(HEAD GOOD("good") ".entry k() {\nbra NOWHERE; }\n", true, &err), -EINVAL);
	assert_int_equal(parse(HEAD GOOD("good") ".entry k() {\nfoo.bar;\n", true, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_there),
		cmocka_unit_test(one_must_be_there),
		cmocka_unit_test(mistakes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
