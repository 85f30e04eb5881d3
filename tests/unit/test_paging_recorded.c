// SPDX-License-Identifier: GPL-2.0
/* How far a run is in a recorded one, and when a page comes next, where the two differ. */
#include "policies_bench.h"

#include "paging/recorded.h"

static struct recorded r;

static void begin(const unsigned int *pages, unsigned int n)
{
	fresh();
	for (unsigned int i = 0; i < n; i++)
		record[i] = PAGE(pages[i]);
	view.record_length = n;
	assert_int_equal(recorded_make(&r, &view), 0);
}

static void touch(unsigned int page)
{
	recorded_touch(&r, PAGE(page));
}

static uint64_t next(unsigned int page)
{
	return recorded_next(&r, PAGE(page));
}

static void the_same_run(void **state)
{
	static const unsigned int pages[] = { 3, 1, 3, 2, 1, 3 };

	begin(pages, 6);
	assert_int_equal(next(3), 0);
	assert_int_equal(next(1), 1);
	assert_int_equal(next(2), 3);
	assert_true(next(9) == NEVER_AGAIN);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(r.now, i);
		assert_int_equal(next(pages[i]), i);
		touch(pages[i]);
	}
	for (unsigned int page = 1; page < 4; page++)
		assert_true(next(page) == NEVER_AGAIN);
	/* More is no harm. */
	touch(3);
	touch(9);
	recorded_clear(&r);
}

/* Pages 0 .. 19 five times over. */
static void begin_rounds(void)
{
	unsigned int pages[100];

	for (unsigned int i = 0; i < 100; i++)
		pages[i] = i % 20;
	begin(pages, 100);
}

/* A touch that the record does not have: time stands still, and what was to come still is. */
static void one_too_many(void **state)
{
	begin_rounds();
	for (unsigned int i = 0; i < 30; i++)
		touch(i % 20);
	assert_int_equal(r.now, 30);
	touch(9);
	touch(9);
	touch(8);
	assert_int_equal(r.now, 30);
	assert_int_equal(next(9), 49);
	assert_int_equal(next(8), 48);
	assert_int_equal(next(10), 30);
	/* And it is not wanted earlier than it was. */
	for (unsigned int i = 30; i < 50; i++)
		touch(i % 20);
	assert_int_equal(next(9), 69);
	touch(9);
	assert_int_equal(next(9), 69);
	recorded_clear(&r);
}

/* Matched with a place behind, after one ahead was: the later one counts. */
static void a_place_is_used_once(void **state)
{
	static const unsigned int pages[] = { 1, 5, 5, 2, 3, 4, 1, 5, 1 };

	begin(pages, 9);
	touch(1);
	touch(5);
	touch(5);
	touch(5);		/* nearest is place 2 again */
	assert_int_equal(next(5), 7);
	touch(5);
	assert_int_equal(next(5), 7);
	touch(1);		/* behind, or ahead: never before place 1 */
	assert_true(next(1) > 0);
	recorded_clear(&r);
}

/* What this run leaves out is passed over, once it is behind by more than the runs differ. */
static void left_out(void **state)
{
	begin_rounds();
	for (unsigned int i = 0; i < 60; i++)
		if (i != 25)
			touch(i % 20);
	assert_int_equal(r.now, 60);
	assert_int_equal(next(5), 65);
	recorded_clear(&r);
}

/* Half of the record is left out: after some touches that are all ahead, so is now. */
static void a_leap(void **state)
{
	fresh();
	for (unsigned int i = 0; i < 600; i++)
		record[i] = PAGE(i);
	view.record_length = 600;
	assert_int_equal(recorded_make(&r, &view), 0);
	for (unsigned int i = 0; i < 100; i++)
		touch(i);
	for (unsigned int i = 300; i < 400; i++)
		touch(i);
	assert_in_range(r.now, 395, 405);
	assert_int_equal(next(450), 450);
	assert_true(next(200) == NEVER_AGAIN);
	recorded_clear(&r);
}

static void nothing_recorded(void **state)
{
	begin(NULL, 0);
	touch(1);
	assert_true(next(1) == NEVER_AGAIN);
	recorded_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_run),
		cmocka_unit_test(one_too_many),
		cmocka_unit_test(a_place_is_used_once),
		cmocka_unit_test(left_out),
		cmocka_unit_test(a_leap),
		cmocka_unit_test(nothing_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
