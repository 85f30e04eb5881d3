// SPDX-License-Identifier: GPL-2.0
/*
 * The request/response interface of the memory below an SM: every request is
 * answered once, in time, and an SM sends no more lines a cycle than it may.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mem/mem.h"

static struct mem *make(uint64_t latency, uint64_t lines)
{
	struct gpu_spec spec;
	struct mem *m = NULL;

	spec_defaults(&spec);
	spec.sms = 2;
	spec.lat_global = latency;
	spec.mem_lines_per_cycle = lines;
	assert_int_equal(mem_create(&spec, &m), 0);
	return m;
}

static void send(struct mem *m, unsigned int sm, uint32_t tag, uint64_t now)
{
	struct mem_request r = { .addr = 128 * tag, .tag = tag, .sm = (uint16_t)sm };

	assert_true(mem_ready(m, sm, now));
	assert_int_equal(mem_send(m, &r, now), 0);
}

static void test_answers_after_the_latency(void **state)
{
	struct mem *m = make(320, 1);
	uint32_t tag = 0;

	assert_int_equal(mem_next(m, 0), UINT64_MAX);
	send(m, 0, 7, 100);
	assert_int_equal(mem_next(m, 0), 420);
	assert_int_equal(mem_next(m, 1), UINT64_MAX);
	assert_false(mem_receive(m, 0, 419, &tag));
	assert_false(mem_receive(m, 1, 420, &tag));
	assert_true(mem_receive(m, 0, 420, &tag));
	assert_int_equal(tag, 7);
	assert_false(mem_receive(m, 0, 420, &tag));
	mem_destroy(m);
}

static void test_lines_a_cycle(void **state)
{
	struct mem *m = make(10, 2);

	send(m, 0, 1, 5);
	send(m, 0, 2, 5);
	assert_false(mem_ready(m, 0, 5));
	/* The other SM has a port of its own. */
	assert_true(mem_ready(m, 1, 5));
	send(m, 0, 3, 6);
	assert_int_equal(mem_stats(m)->lines, 3);
	mem_destroy(m);
}

static void test_each_is_answered_once_in_order(void **state)
{
	struct mem *m = make(60000, 1);
	uint32_t tag, want = 0, sent = 0;

	/* Far more under way than the ring begins with, and it has turned before it grows. */
	for (uint64_t now = 0; now < 70000; now++) {
		if (now < 100 || (now >= 60050 && now < 65000))
			send(m, 1, sent++, now);
		while (mem_receive(m, 1, now, &tag)) {
			assert_int_equal(tag, want);
			assert_int_equal(now, 60000 + want);
			want++;
		}
	}
	assert_int_equal(want, 100);
	for (uint64_t now = 70000; now < 130000; now++) {
		while (mem_receive(m, 1, now, &tag)) {
			assert_int_equal(tag, want);
			assert_int_equal(now, 60000 + 60050 + want - 100);
			want++;
		}
	}
	assert_int_equal(want, sent);
	mem_destroy(m);
}

static void test_cancel_forgets(void **state)
{
	struct mem *m = make(10, 1);
	uint32_t tag;

	send(m, 0, 1, 5);
	mem_cancel(m);
	assert_int_equal(mem_next(m, 0), UINT64_MAX);
	assert_false(mem_receive(m, 0, 1000, &tag));
	assert_true(mem_ready(m, 0, 5));
	mem_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_after_the_latency),
		cmocka_unit_test(test_lines_a_cycle),
		cmocka_unit_test(test_each_is_answered_once_in_order),
		cmocka_unit_test(test_cancel_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
