// SPDX-License-Identifier: GPL-2.0
/* Brackets of launches that have spaces in them are joined, and nothing else is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cc_source.h"

static void check(const char *from, const char *to)
{
	char text[256];

	strcpy(text, from);
	assert_int_equal(cc_join_launches(text), strcmp(from, to) != 0);
	assert_string_equal(text, to);
}

static void launches(void **state)
{
	check("k << < 1, 2 >> > (x);", "k <<< " " 1, 2 >>> " " (x);");
	check("k< <<1, 2> >>(x);", "k<<< 1, 2>>> (x);");
	check("k<<<1, 2>> >(x);", "k<<<1, 2>>> (x);");
	/* Lines stay as many as they are. */
	check("k <<\n< 1, 2 >>\n> (x);", "k <<<\n 1, 2 >>>\n (x);");
	check("k << < dim3(a >> 2), n >> > (x); m << <1, 1>> > ();",
	      "k <<<  dim3(a >> 2), n >>>  (x); m <<< 1, 1>>>  ();");
	check("k << < f(\">> >\", '>'), n /* >> > */ >> > (x);",
	      "k <<<  f(\">> >\", '>'), n /* >> > */ >>>  (x);");
	check("k << < sizeof(A<B<C<int> > >), 32 >> > (x);",
	      "k <<<  sizeof(A<B<C<int> > >), 32 >>>  (x);");
}

static void other_text(void **state)
{
	static const char *const rows[] = {
		"k<<<1, 2>>>(x);",
		"x = a << b; y = c >> d;",
		"vector<vector<int>> v; f<g<h<int> > >(x);",
		"friend S &operator<< <T>(S &, const T &);",
		"s << \"<< <\" << '<' << c;",
		"/* k << <1, 2>> >(x) */ int x;",
		"// k << <1, 2>> >(x)\nint x;",
		"",
		"\"",
		"/*",
		"k <<",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(rows[i], rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches),
		cmocka_unit_test(other_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
