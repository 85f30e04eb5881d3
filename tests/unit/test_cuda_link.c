// SPDX-License-Identifier: GPL-2.0
/*
 * Several PTX texts made one: which definition stands, which names stay apart, what has a place
 * in the program.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "link.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static char why[200];

static char *link2(const char *a, const char *b, const struct link_place *places,
		   unsigned int nplaces)
{
	const char *const texts[] = { a, b };
	char *text;

	assert_int_equal(link_texts(texts, b ? 2 : 1, places, nplaces, &text, why, sizeof(why)), 0);
	return text;
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void definition_and_declaration(void **state)
{
	char *text = link2(HEAD ".extern .func (.param .b32 r) f (.param .b32 p) ;\n"
				".extern .const .align 4 .u32 c;\n"
				".visible .entry k() { call f; ret; }\n",
			   HEAD ".visible .const .align 4 .u32 c = 7;\n"
				".visible .func (.param .b32 r) f (.param .b32 p) { ret; }\n",
			   NULL, 0);

	assert_int_equal(count(text, ".version"), 1);
	assert_int_equal(count(text, ".const"), 1);
	assert_int_equal(count(text, ".const .align 4 .u32 c = 7;"), 1);
	/* It is declared before the kernel that calls it. */
	assert_true(strstr(text, "f (.param .b32 p) ;") < strstr(text, ".entry"));
	assert_int_equal(count(text, "f (.param .b32 p) {"), 1);
	free(text);
}

/* A text whose host part launches another text's kernel: clang declares it as a function. */
static void a_kernel_that_is_declared_as_a_function(void **state)
{
	char *text = link2(HEAD ".extern .func k ( .param .b64 k_param_0 ) ;\n"
				".extern .func f ( .param .b64 f_param_0 ) ;\n",
			   HEAD ".visible .entry k( .param .u64 k_param_0 ) { ret; }\n", NULL, 0);

	assert_int_equal(count(text, ".func"), 1);
	assert_non_null(strstr(text, ".func f"));
	assert_int_equal(count(text, ".entry k("), 1);
	free(text);
}

/* clang's -rdc=true where the kernel comes before the host's use: __static__ is the definition's alone. */
static void a_static_variable_has_another_name(void **state)
{
	char *text = link2(HEAD ".extern .const .align 4 .u32 t;\n"
				".visible .const .align 4 .u32 t__static__1a = 7;\n"
				".visible .entry k() { ld.const.u32 %r1, [t]; ret; }\n",
			   HEAD ".extern .const .align 4 .u32 t;\n"
				".visible .const .align 4 .u32 t__static__2b = 8;\n"
				".visible .entry l() { ld.const.u32 %r1, [t+4]; ret; }\n",
			   NULL, 0);

	assert_int_equal(count(text, ".extern"), 0);
	assert_non_null(strstr(text, "k() { ld.const.u32 %r1, [t__static__1a]; ret; }"));
	assert_non_null(strstr(text, "l() { ld.const.u32 %r1, [t__static__2b+4]; ret; }"));
	free(text);

	/* A name that only begins alike is another variable's. */
	text = link2(HEAD ".extern .global .align 4 .u32 t;\n"
			  ".visible .global .align 4 .u32 t2__static__1a;\n"
			  ".visible .entry k() { ld.global.u32 %r1, [t]; ret; }\n",
		     HEAD ".visible .global .align 4 .u32 t = 5;\n", NULL, 0);
	assert_non_null(strstr(text, "[t];"));
	assert_int_equal(count(text, ".u32 t = 5;"), 1);
	free(text);
}

static void own_names_stay_apart(void **state)
{
	char *text = link2(
		HEAD ".global .u32 x = 1;\n.visible .entry a() { ld.global.u32 %r1, [x]; }\n",
		HEAD
		".global .u32 x = 2;\n.visible .entry b() { ld.global.u32 %x, [x+4]; // x\n }\n",
		NULL, 0);

	assert_int_equal(count(text, "x$0"), 2);
	assert_int_equal(count(text, "x$1"), 2);
	assert_non_null(strstr(text, "%x, [x$1+4]"));
	free(text);
	/* A name of one text's own beside another text's visible one. */
	text = link2(HEAD ".global .u32 x = 1;\n", HEAD ".visible .global .u32 x = 2;\n", NULL, 0);
	assert_int_equal(count(text, "x$0 = 1"), 1);
	assert_int_equal(count(text, "x = 2"), 1);
	free(text);
}

static void weak_definitions(void **state)
{
	char *text =
		link2(HEAD ".weak .func f() { a; }\n", HEAD ".weak .func f() { b; }\n", NULL, 0);

	assert_true(strstr(text, "{ a; }") && !strstr(text, "{ b; }"));
	free(text);
	text = link2(HEAD ".weak .func f() { a; }\n", HEAD ".visible .func f() { b; }\n", NULL, 0);
	assert_true(!strstr(text, "{ a; }") && strstr(text, "{ b; }"));
	free(text);
	text = link2(HEAD ".visible .func f() { a; }\n", HEAD ".weak .func f() { b; }\n", NULL, 0);
	assert_true(strstr(text, "{ a; }") && !strstr(text, "{ b; }"));
	free(text);
}

static void two_definitions(void **state)
{
	const char *const texts[] = { HEAD ".visible .func f() { a; }\n",
				      HEAD ".visible .func f() { b; }\n" };
	char *text;

	assert_int_equal(link_texts(texts, 2, NULL, 0, &text, why, sizeof(why)), -EEXIST);
	assert_string_equal(why, "f is defined twice");
	assert_null(text);
}

static void newest_head(void **state)
{
	char *text = link2(".version 6.3\n.target sm_60\n.address_size 64\n",
			   ".version 7.8\n.target sm_75, debug\n.address_size 64\n", NULL, 0);

	assert_non_null(strstr(text, ".version 7.8\n.target sm_75, debug\n"));
	assert_null(strstr(text, "6.3"));
	free(text);
}

static void places(void **state)
{
	const struct link_place table[] = {
		{ "m", 4096, 0, true },
		{ "own", 8192, 0, false },
	};
	char *text = link2(
		HEAD ".visible .global .u32 m = 3;\n.global .u32 own__static__12;\n"
		     ".global .u64 p = generic(m)+8;\n"
		     ".visible .entry a() { mov.u64 %rd1, m; ld.u32 %m, [own__static__12+4]; }\n",
		HEAD ".extern .global .u32 m;\n.global .u32 own;\n"
		     ".visible .entry b() { st.u32 [m + 12], own; }\n",
		table, 2);

	assert_null(strstr(text, ".u32 m"));
	assert_non_null(strstr(text, ".u64 p = 4104;"));
	assert_non_null(strstr(text, "mov.u64 %rd1, 4096; ld.u32 %m, [8196]"));
	/* The second text's own variable has no place. */
	assert_non_null(strstr(text, ".global .u32 own;"));
	assert_non_null(strstr(text, "st.u32 [4108], own;"));
	free(text);
}

static void what_is_left_out(void **state)
{
	char *text = link2(HEAD ".file 1 \"a { b\"\n.section .debug_abbrev {\n .b8 1\n}\n"
				"/* .func f() */ .pragma \"nounroll\";\n"
				".visible .func f() .noreturn { bra { x }; .loc 1 2\n ret; }\n",
			   NULL, NULL, 0);

	assert_null(strstr(text, "debug"));
	assert_null(strstr(text, ".file"));
	assert_non_null(strstr(text, "f() .noreturn { bra { x }; .loc 1 2\nret; }"));
	free(text);
}

/* Cut anywhere, and with a byte changed, it is linked or refused, without a read beside it. */
static void broken_texts(void **state)
{
	static const char whole[] =
		HEAD ".visible .global .align 4 .b8 m[8] = {1, 2};\n.file 1 \"x\"\n"
		     ".visible .func (.param .b32 r) f(.param .b32 p)\n{ ld.u32 %r1, [m+4]; /* c "
		     "*/ ret; }\n";
	const struct link_place place = { "m", 4096, 0, true };

	for (size_t n = 0; n < 2 * sizeof(whole) - 1; n++) {
		char *copy = strdup(whole), *text;
		const char *const texts[] = { copy, HEAD ".extern .global .b8 m[8];\n" };
		int ret;

		if (n < sizeof(whole))
			copy[n] = '\0';
		else
			copy[n - sizeof(whole)] ^= 0x1f;
		ret = link_texts(texts, 2, &place, 1, &text, why, sizeof(why));
		assert_true(ret == 0 || ret == -EINVAL || ret == -EEXIST);
		assert_true(ret == 0 ? text != NULL : text == NULL);
		free(text);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definition_and_declaration),
		cmocka_unit_test(a_static_variable_has_another_name),
		cmocka_unit_test(a_kernel_that_is_declared_as_a_function),
		cmocka_unit_test(own_names_stay_apart),
		cmocka_unit_test(weak_definitions),
		cmocka_unit_test(two_definitions),
		cmocka_unit_test(newest_head),
		cmocka_unit_test(places),
		cmocka_unit_test(what_is_left_out),
		cmocka_unit_test(broken_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
