// SPDX-License-Identifier: GPL-2.0
/*
 * What the module's fuzzer holds for right: a lane has one version; while it is written,
 * bytes of two. Nothing else passes, and a lane that is being mapped anew is left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>

/* Before cmocka.h, whose fail() is a macro. */
#include "fuzz/fuzz.h"

#include <cmocka.h>

enum { CLIENT = 3, AT = 397, LANE = HELPER_LANE };

static struct shared s;
static uint64_t lane[LANE_WORDS], old[LANE_WORDS];

static int nothing(void *to, const void *from, size_t bytes)
{
	(void)to, (void)from, (void)bytes;
	return -EFAULT;
}

/* It ends in the middle of a word, as who is interrupted between two bytes. */
static int half(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes / 2 + 7);
	return -EFAULT;
}

static bool right(void)
{
	return lane_check(&s, CLIENT, AT, LANE, lane, NULL, "test");
}

static int begin(void **state)
{
	(void)state;
	memset(&s, 0, sizeof(s));
	memset(lane, 0, sizeof(lane));
	/* All bytes of a word are the version's, the place's or the page's. */
	s.version = 0x4284ae;
	return 0;
}

static void write_old(void)
{
	assert_true(lane_write(&s, CLIENT, AT, LANE, lane, NULL));
	memcpy(old, lane, sizeof(lane));
}

static void what_was_written(void **state)
{
	(void)state;
	assert_true(right());
	write_old();
	assert_true(right());
	assert_int_equal(0, s.failed);
}

static void zero(void **state)
{
	(void)state;
	write_old();
	lane[LANE_WORDS - 1] = 0;
	assert_false(right());
	assert_int_equal(2, s.failed);
	assert_non_null(strstr(s.why, "word 63 is zero"));
}

/* The write has ended: a byte of the version before is a byte too many. */
static void byte_of_before(void **state)
{
	(void)state;
	write_old();
	assert_true(lane_write(&s, CLIENT, AT, LANE, lane, NULL));
	((uint8_t *)lane)[4] = ((uint8_t *)old)[4];
	assert_memory_not_equal(&lane[0], &old[0], 8);
	assert_false(right());
}

static void torn_word(void **state)
{
	(void)state;
	assert_false(lane_write(&s, CLIENT, AT, LANE, lane, half));
	/* Seven bytes of the new version's, one of the zero that was there. */
	assert_int_equal(0, lane[LANE_WORDS / 2] >> 56);
	assert_int_not_equal(0, lane[LANE_WORDS / 2]);
	assert_true(right());
	assert_int_equal(0, s.failed);
}

static void nothing_written(void **state)
{
	(void)state;
	write_old();
	assert_false(lane_write(&s, CLIENT, AT, LANE, lane, nothing));
	assert_true(right());
}

/* While it is written, too, what neither has is wrong, be it a byte. */
static void third_version(void **state)
{
	(void)state;
	write_old();
	assert_true(lane_write(&s, CLIENT, AT, LANE, lane, NULL));
	assert_false(lane_write(&s, CLIENT, AT, LANE, lane, half));
	assert_true(right());
	((uint8_t *)lane)[4] = ((uint8_t *)old)[4];
	assert_false(right());
}

static void another_page(void **state)
{
	(void)state;
	write_old();
	assert_true(lane_write(&s, CLIENT, AT + 1, LANE, lane, NULL));
	assert_false(right());
}

static void mapped_anew(void **state)
{
	(void)state;
	write_old();
	remap_begin(&s, CLIENT, AT, 1, LEFT_ZERO);
	assert_true(right());
	remap_end(&s, CLIENT, AT, 1);
	assert_false(right());
}

/* Away and back: it holds what it held, except where a task writes meanwhile. */
static void taken_away(void **state)
{
	(void)state;
	write_old();
	remap_begin(&s, CLIENT, AT, 1, LEFT_SAME);
	lane[0] = 0;
	assert_true(right());
	lane[0] = old[0];
	remap_end(&s, CLIENT, AT, 1);
	assert_true(right());
	lane[0] = 0;
	assert_false(right());
}

/* Zeroes are right until somebody writes. */
static void freed(void **state)
{
	(void)state;
	write_old();
	remap_begin(&s, CLIENT, AT, 1, LEFT_EITHER);
	remap_end(&s, CLIENT, AT, 1);
	assert_true(right());
	memset(lane, 0, sizeof(lane));
	assert_true(right());
	assert_true(lane_write(&s, CLIENT, AT, LANE, lane, NULL));
	assert_true(right());
	lane[3] = 0;
	assert_false(right());
}

/* A child has what its parent had, unless that has been written meanwhile. */
static void a_childs(void **state)
{
	uint64_t was;

	(void)state;
	write_old();
	was = s.client[CLIENT].lane[AT][LANE];
	assert_true(lane_was(&s, CLIENT, AT, LANE, was, old));
	old[5]++;
	assert_false(lane_was(&s, CLIENT, AT, LANE, was, old));
	assert_true(lane_write(&s, CLIENT, AT, LANE, lane, NULL));
	assert_true(lane_was(&s, CLIENT, AT, LANE, was, old));
}

/* A reader that looks a page up while it is mapped anew sees that by an odd number. */
static void numbered(void **state)
{
	uint32_t was = s.client[CLIENT].remaps[AT];

	(void)state;
	remap_begin(&s, CLIENT, AT, 1, LEFT_ZERO);
	assert_int_equal(1, s.client[CLIENT].remaps[AT] & 1);
	remap_begin(&s, CLIENT, AT, 1, LEFT_ZERO);
	assert_int_equal(1, s.client[CLIENT].remaps[AT] & 1);
	remap_end(&s, CLIENT, AT, 1);
	assert_int_equal(0, s.client[CLIENT].remaps[AT] & 1);
	assert_int_not_equal(was, s.client[CLIENT].remaps[AT]);
}

/* A round's end makes one version of two. */
static void settled(void **state)
{
	(void)state;
	assert_false(lane_write(&s, CLIENT, AT, LANE, lane, half));
	lane_settle(&s, CLIENT, AT, LANE, lane);
	assert_true(right());
	lane[0] = 0;
	assert_false(right());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_was_written, begin),
		cmocka_unit_test_setup(zero, begin),
		cmocka_unit_test_setup(byte_of_before, begin),
		cmocka_unit_test_setup(torn_word, begin),
		cmocka_unit_test_setup(nothing_written, begin),
		cmocka_unit_test_setup(third_version, begin),
		cmocka_unit_test_setup(another_page, begin),
		cmocka_unit_test_setup(mapped_anew, begin),
		cmocka_unit_test_setup(taken_away, begin),
		cmocka_unit_test_setup(freed, begin),
		cmocka_unit_test_setup(a_childs, begin),
		cmocka_unit_test_setup(numbered, begin),
		cmocka_unit_test_setup(settled, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
