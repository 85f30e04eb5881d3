// SPDX-License-Identifier: GPL-2.0
/*
 * The yardsticks measure something, and something plausible: each sample is
 * positive, what must be dearer is dearer. Bounds are wide, for ASan's sake.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "yardstick.h"

#define N	1000

static uint64_t samples[N];

static uint64_t median(int (*measure)(uint64_t *, size_t, struct err *))
{
	struct err err = { "" };
	int ret;

	memset(samples, 0, sizeof(samples));
	ret = measure(samples, N, &err);
	if (ret == -EPERM || ret == -ENOSYS) {
		print_message("not here: %s\n", err.text);
		return 0;
	}
	if (ret)
		fail_msg("%d: %s", ret, err.text);
	for (size_t i = 0; i < N; i++)
		assert_in_range(samples[i], 1, 10ull * 1000 * 1000 * 1000);
	return yardstick_permille(samples, N, 500);
}

static int copy_4k(uint64_t *s, size_t n, struct err *err)
{
	return yardstick_memcpy(s, n, PAGE_BYTES, err);
}

static int copy_64k(uint64_t *s, size_t n, struct err *err)
{
	return yardstick_memcpy(s, n, 16 * PAGE_BYTES, err);
}

static void faults(void **state)
{
	uint64_t minor = median(yardstick_minor_fault);
	uint64_t uffd = median(yardstick_uffd);

	assert_in_range(minor, 100, 10 * 1000 * 1000);
	/* Another thread, a message, a copy: never as cheap as the kernel alone. */
	if (uffd)
		assert_true(uffd > minor);
}

static void pipe_round_trip(void **state)
{
	assert_in_range(median(yardstick_pipe), 500, 100 * 1000 * 1000);
}

/* A busy machine may slow one of the two series down as a whole; it does not do so five times. */
static void copies_grow_with_size(void **state)
{
	uint64_t small = 0, large = 0;

	for (unsigned int i = 0; i < 5 && large <= 4 * small; i++) {
		small = median(copy_4k);
		large = median(copy_64k);
		assert_in_range(small, 30, 10 * 1000 * 1000);
	}
	assert_true(large > 4 * small);
}

static void permilles_are_exact(void **state)
{
	uint64_t s[] = { 50, 10, 40, 20, 30 };

	assert_int_equal(yardstick_permille(s, 5, 500), 30);
	assert_int_equal(yardstick_permille(s, 5, 0), 10);
	assert_int_equal(yardstick_permille(s, 5, 1000), 50);
	assert_int_equal(yardstick_permille(s, 5, 990), 50);
	assert_int_equal(yardstick_permille(s, 5, 200), 10);
	assert_int_equal(yardstick_permille(s, 5, 201), 20);
	assert_int_equal(yardstick_permille(s, 0, 500), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permilles_are_exact),
		cmocka_unit_test(faults),
		cmocka_unit_test(pipe_round_trip),
		cmocka_unit_test(copies_grow_with_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
