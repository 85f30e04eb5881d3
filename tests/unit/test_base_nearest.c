// SPDX-License-Identifier: GPL-2.0
/* Distances of words, and which name is the nearest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/nearest.h"

static void distances(void **state)
{
	char longer[80];

	assert_int_equal(nearest_distance("bfs", "bfs", 9), 0);
	assert_int_equal(nearest_distance("", "bfs", 9), 3);
	assert_int_equal(nearest_distance("vecad", "vecadd", 9), 1);
	assert_int_equal(nearest_distance("vxcadd", "vecadd", 9), 1);
	assert_int_equal(nearest_distance("bsf", "bfs", 9), 1);
	assert_int_equal(nearest_distance("sbf", "bfs", 9), 2);
	assert_int_equal(nearest_distance("redcue", "reduce", 9), 1);
	assert_int_equal(nearest_distance("kitten", "sitting", 9), 3);
	assert_int_equal(nearest_distance("kitten", "sitting", 2), 2);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(nearest_distance(longer, longer, 7), 7);
}

static const char *meant(const char *word)
{
	static const char *const names[] = { "vecadd", "reduce", "bfs", "bh", "histo64", "histo256" };
	struct nearest n;

	nearest_begin(&n, word);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_try(&n, names[i]);
	return n.name;
}

static void names(void **state)
{
	assert_string_equal(meant("vecad"), "vecadd");
	assert_string_equal(meant("redcue"), "reduce");
	assert_string_equal(meant("histo6"), "histo64");
	assert_string_equal(meant("histo25"), "histo256");
	/* Equally near: the first one. */
	assert_string_equal(meant("histo"), "histo64");
	/* Half of it may be wrong, and no more. */
	assert_string_equal(meant("bfxx"), "bfs");
	assert_null(meant("bxxx"));
	assert_null(meant("x"));
	assert_null(meant(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
