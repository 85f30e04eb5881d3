// SPDX-License-Identifier: GPL-2.0
/*
 * Streams and events of libgpuemu on the sim backend: what waits for what, where errors are told,
 * delays, and streams that are halted.
 */
#include "libgpuemu_bench.h"

static void test_streams(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_stream *good, *bad;

	OK(f->ctx, gpuemu_stream_create(f->ctx, &good));
	OK(f->ctx, gpuemu_stream_create(f->ctx, &bad));
	OK(f->ctx, gpuemu_mem_prefetch(f->ctx, f->a, N * sizeof(float), good));
	OK(f->ctx, launch_vecadd(f, good));
	/* Else it would run beside the one that fails, and end with it. */
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, good));
	{
		const struct gpuemu_arg args[] = { gpuemu_arg_u64(8), gpuemu_arg_u32(1) };

		OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, bad, args, 2));
	}
	{
		const struct gpuemu_arg args[] = { gpuemu_arg_u64(0x7770), gpuemu_arg_u32(1) };

		OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, bad, args, 2));
	}
	/* An error stays with its stream, comes back once, and is the first. */
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, good));
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, NULL));
	check_sum(f);
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, bad), -EFAULT, "poke");
	assert_null(strstr(gpuemu_last_error(f->ctx), "0x7770"));
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, bad));
	OK(f->ctx, gpuemu_stream_destroy(good));
	OK(f->ctx, gpuemu_stream_destroy(bad));
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, (void *)f), -EINVAL,
		     "not a stream");
	OK(f->ctx, gpuemu_synchronize(f->ctx));
}

/* Waiting for all tells the first stream's error, and the others' are gone with it. */
static void test_errors_of_several_streams(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_stream *s[2];

	for (unsigned int i = 0; i < 2; i++) {
		const struct gpuemu_arg args[] = {
			gpuemu_arg_u64(i ? 0x7770 : 0x8880), gpuemu_arg_u32(1),
		};

		OK(f->ctx, gpuemu_stream_create(f->ctx, &s[i]));
		OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, s[i], args, 2));
	}
	assert_int_not_equal(gpuemu_synchronize(f->ctx), 0);
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	for (unsigned int i = 0; i < 2; i++) {
		OK(f->ctx, gpuemu_stream_synchronize(f->ctx, s[i]));
		OK(f->ctx, gpuemu_stream_destroy(s[i]));
	}
}

/* Queued works run when something waits, side by side; each error is in its stream. */
static void test_streams_run_side_by_side(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_stream *one_stream, *other;
	const struct gpuemu_arg bad[] = { gpuemu_arg_ptr((void *)64), gpuemu_arg_u32(1) };
	const struct gpuemu_arg good[] = { gpuemu_arg_ptr(f->c), gpuemu_arg_u32(7) };
	char *json, *begin;

	OK(f->ctx, gpuemu_stream_create(f->ctx, &one_stream));
	OK(f->ctx, gpuemu_stream_create(f->ctx, &other));
	OK(f->ctx, launch_vecadd(f, one_stream));
	OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, other, good, 2));
	/* Nothing has waited. */
	assert_float_equal(f->c[1], 0, 0);
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, other));
	assert_float_equal(f->c[1], 1.5, 0);
	OK(f->ctx, gpuemu_statistics(f->ctx, &json));
	/* Both began at the same cycle. */
	assert_non_null(strstr(json, "\"stream\":1"));
	assert_non_null(strstr(json, "\"stream\":2"));
	begin = strstr(json, "\"start\":0,");
	assert_non_null(begin);
	assert_non_null(strstr(begin + 1, "\"start\":0,"));
	gpuemu_free(json);
	/* A bad one ends its neighbour, each in its own words; what comes behind runs. */
	OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, other, bad, 2));
	OK(f->ctx, launch_vecadd(f, one_stream));
	memset(f->c, 0, N * sizeof(float));
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, one_stream), -ECANCELED,
		     "ended with kernel 'poke'");
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, other), -EFAULT, "0x40");
	/* The default stream is behind all others, at once. */
	OK(f->ctx, gpuemu_launch(f->poke, one, one, 0, one_stream, good, 2));
	OK(f->ctx, launch_vecadd(f, NULL));
	check_sum(f);
	OK(f->ctx, gpuemu_stream_destroy(other));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	/* A launch that nobody waits for is not forgotten at the end. */
	OK(f->ctx, launch_vecadd(f, one_stream));
}

static void make_streams(struct fixture *f, struct gpuemu_stream **s, struct gpuemu_event **e,
			 unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		OK(f->ctx, gpuemu_stream_create(f->ctx, &s[i]));
		OK(f->ctx, gpuemu_event_create(f->ctx, &e[i]));
	}
}

/* Two streams whose order an event makes, and how far apart its records are; e[2] is never recorded. */
static void test_events(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_event *e[3];
	struct gpuemu_stream *s[3];
	unsigned int polls = 0;
	int64_t cycles = 0;

	make_streams(f, s, e, 3);
	OK(f->ctx, gpuemu_stream_wait_event(f->ctx, s[0], e[2]));
	OK(f->ctx, gpuemu_event_record(e[0], s[0]));
	OK(f->ctx, launch_vecadd(f, s[0]));
	OK(f->ctx, gpuemu_event_record(e[1], s[0]));
	expect_error(f->ctx, gpuemu_event_elapsed(e[0], e[1], &cycles), -EBUSY, "still to come");
	expect_error(f->ctx, gpuemu_event_elapsed(e[0], e[2], &cycles), -EINVAL, "not recorded");
	/* The other stream's begins behind it, and what is first polled for is not there yet. */
	OK(f->ctx, gpuemu_stream_wait_event(f->ctx, s[1], e[1]));
	OK(f->ctx, launch_vecadd(f, s[1]));
	while (gpuemu_stream_query(f->ctx, s[0]) == -EBUSY)
		assert_true(++polls < 100000);
	assert_true(polls > 1);
	check_sum(f);
	assert_int_equal(gpuemu_stream_query(f->ctx, s[1]), -EBUSY);
	OK(f->ctx, gpuemu_event_elapsed(e[0], e[1], &cycles));
	assert_true(cycles > 1000);
	OK(f->ctx, gpuemu_event_record(e[0], s[1]));
	OK(f->ctx, gpuemu_event_synchronize(e[0]));
	OK(f->ctx, gpuemu_event_elapsed(e[0], e[1], &cycles));
	assert_true(cycles < 0);
	OK(f->ctx, gpuemu_event_record(e[1], s[0]));
	OK(f->ctx, gpuemu_event_destroy(e[1]));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	expect_error(f->ctx, gpuemu_stream_wait_event(f->ctx, s[0], e[1]), -EINVAL, "not an event");
}

static void test_delays(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_event *e[2];
	struct gpuemu_stream *s[2];
	unsigned int which = 7;
	int64_t cycles;

	make_streams(f, s, e, 2);
	OK(f->ctx, gpuemu_event_record(e[1], s[1]));
	OK(f->ctx, gpuemu_stream_delay(f->ctx, s[0], 12345678));
	OK(f->ctx, gpuemu_event_record(e[0], s[0]));
	OK(f->ctx, launch_vecadd(f, s[1]));
	OK(f->ctx, gpuemu_stream_wait_any(f->ctx, s, 2, &which));
	assert_int_equal(which, 1);
	OK(f->ctx, gpuemu_event_synchronize(e[0]));
	OK(f->ctx, gpuemu_event_elapsed(e[1], e[0], &cycles));
	assert_int_equal(cycles, 12345678);
}

/* A wait for one stream leaves the others; a range of cycles and a query's are no more than they say. */
static void test_waits_leave_the_others(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_event *e[2];
	struct gpuemu_stream *s[2];
	unsigned int which = 7;

	make_streams(f, s, e, 2);
	OK(f->ctx, gpuemu_stream_delay(f->ctx, s[0], 50000000));
	OK(f->ctx, gpuemu_event_record(e[0], s[0]));
	OK(f->ctx, launch_vecadd(f, s[1]));
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, s[1]));
	check_sum(f);
	expect_error(f->ctx, gpuemu_stream_query(f->ctx, s[0]), -EBUSY, "more to do");
	expect_error(f->ctx, gpuemu_event_query(e[0]), -EBUSY, "still to come");
	/* The first that is done, where that is not the last of the list. */
	OK(f->ctx, launch_vecadd(f, s[1]));
	OK(f->ctx, gpuemu_stream_wait_any(f->ctx, (struct gpuemu_stream *[]){ s[1], s[0] }, 2,
					  &which));
	assert_int_equal(which, 0);
	expect_error(f->ctx, gpuemu_stream_wait_any(f->ctx, s, 0, &which), -EINVAL, "no stream");
	expect_error(f->ctx, gpuemu_stream_delay(f->ctx, s[0], UINT64_MAX), -ERANGE, "at most");
	OK(f->ctx, gpuemu_event_synchronize(e[0]));
	OK(f->ctx, gpuemu_event_query(e[0]));
	OK(f->ctx, gpuemu_stream_query(f->ctx, s[0]));
}

/* An event counts from where it was recorded last, also for those who await it. */
static void test_an_event_is_recorded_anew(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_event *e[2];
	struct gpuemu_stream *s[2];
	int64_t cycles;

	make_streams(f, s, e, 2);
	OK(f->ctx, gpuemu_event_record(e[0], s[0]));
	OK(f->ctx, gpuemu_event_record(e[1], s[0]));
	OK(f->ctx, gpuemu_event_synchronize(e[1]));
	OK(f->ctx, gpuemu_stream_delay(f->ctx, s[0], 4000000));
	OK(f->ctx, gpuemu_event_record(e[1], s[0]));
	expect_error(f->ctx, gpuemu_event_elapsed(e[0], e[1], &cycles), -EBUSY, "still to come");
	OK(f->ctx, gpuemu_stream_wait_event(f->ctx, s[1], e[1]));
	OK(f->ctx, gpuemu_event_record(e[0], s[1]));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	OK(f->ctx, gpuemu_event_elapsed(e[1], e[0], &cycles));
	assert_int_equal(cycles, 0);
}

/* A stream that has executed enough, or whose cycle has come, is halted; the other one is not. */
static void test_halts(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_event *e[3];
	struct gpuemu_stream *s[3];

	make_streams(f, s, e, 3);
	OK(f->ctx, gpuemu_stream_halt_after(f->ctx, s[0], 300));
	OK(f->ctx, gpuemu_stream_halt_at(f->ctx, s[1], 3000000));
	OK(f->ctx, launch_vecadd(f, s[0]));
	OK(f->ctx, gpuemu_stream_delay(f->ctx, s[1], 4000000));
	OK(f->ctx, launch_vecadd(f, s[1]));
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, s[0]), -ECANCELED,
		     "halted after 300 thread instructions");
	expect_error(f->ctx, gpuemu_stream_synchronize(f->ctx, s[1]), -ECANCELED,
		     "halted at cycle 3000000");
	assert_float_equal(f->c[N - 1], 0, 0);
	OK(f->ctx, launch_vecadd(f, s[2]));
	OK(f->ctx, gpuemu_stream_synchronize(f->ctx, s[2]));
	check_sum(f);
	expect_error(f->ctx, gpuemu_stream_halt_after(f->ctx, (void *)f, 1), -EINVAL, "not a stream");
	expect_error(f->ctx, gpuemu_stream_halt_at(f->ctx, (void *)f, 1), -EINVAL, "not a stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_streams),
		TEST(test_errors_of_several_streams),
		TEST(test_streams_run_side_by_side),
		TEST(test_events),
		TEST(test_delays),
		TEST(test_waits_leave_the_others),
		TEST(test_an_event_is_recorded_anew),
		TEST(test_halts),
	};

	unsetenv("GPUEMU_BACKEND");
	unsetenv("GPUEMU_DATADIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
