// SPDX-License-Identifier: GPL-2.0
/* Accounts of memory: limits, a part of a whole, threads, and what outlives its owner. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/account.h"

static void limits(void **state)
{
	struct account *all = account_open(1000, NULL);
	struct account *a = account_open(600, all), *b = account_open(600, all);

	assert_true(account_take(a, 600));
	assert_false(account_take(a, 1));
	assert_true(a->refused);
	assert_false(b->refused);
	/* What is left of all is less than what b may have. */
	assert_int_equal(account_left(b), 400);
	assert_false(account_take(b, 401));
	assert_int_equal(b->held, 0);
	assert_true(account_take(b, 400));
	assert_int_equal(account_left(b), 0);
	account_give(a, 600);
	assert_int_equal(account_left(b), 200);
	assert_int_equal(account_left(a), 600);
	/* A size that would wrap round is one that is too large. */
	assert_false(account_take(a, UINT64_MAX));
	assert_int_equal(a->held, 0);
	account_give(b, 400);
	assert_int_equal(all->held, 0);
	account_close(a);
	account_close(b);
	account_close(all);
}

static void entered(void **state)
{
	struct account *a = account_open(10, NULL), *b = account_open(10, NULL);

	assert_null(account_now());
	assert_null(account_enter(a));
	assert_false(account_take(a, 11));
	assert_ptr_equal(account_enter(b), a);
	assert_ptr_equal(account_now(), b);
	assert_true(a->refused);
	/* It is asked anew for each stay. */
	account_enter(a);
	assert_false(a->refused);
	account_enter(NULL);
	account_close(a);
	account_close(b);
}

/* The sanitiser looks: it is there until the last piece is given back, and not longer. */
static void outlived(void **state)
{
	struct account *a = account_open(100, NULL);

	assert_true(account_take(a, 60));
	account_close(a);
	assert_true(account_take(a, 40));
	account_give(a, 60);
	assert_int_equal(a->held, 40);
	account_give(a, 40);
}

static void *take_and_give(void *arg)
{
	struct account *a = arg;

	for (unsigned int i = 0; i < 100000; i++)
		if (account_take(a, 3))
			account_give(a, 3);
	return account_now();
}

static void threads(void **state)
{
	struct account *all = account_open(7, NULL), *a = account_open(100, all);
	pthread_t t[4];
	void *now;

	account_enter(a);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, take_and_give, a), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(t[i], &now), 0);
		assert_null(now);
	}
	account_enter(NULL);
	assert_int_equal(a->held, 0);
	assert_int_equal(all->held, 0);
	assert_int_equal(a->uses, 1);
	account_close(a);
	account_close(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),
		cmocka_unit_test(entered),
		cmocka_unit_test(outlived),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
