// SPDX-License-Identifier: GPL-2.0
/*
 * Remote transactions: what they take on the link, what holds them up, and the access
 * counters. The clock is 1000 MHz and the link 1000 MB/s, so a byte takes a nanosecond and a
 * nanosecond is a cycle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "mem/mem.h"
#include "mem_run.h"

#define HEADER	20u
#define LATENCY	1000u
#define THERE	6u	/* cycles to the link and back */
#define BACK	6u

static struct gpu_spec spec;
static struct mem *mem;

static void start(void)
{
	spec.clock_mhz = 1000;
	spec.link_mbps = 1000;
	spec.remote_latency_ns = LATENCY;
	spec.remote_header = HEADER;
	spec.icnt_latency_request = THERE;
	spec.icnt_latency_reply = BACK;
	assert_int_equal(mem_create(&spec, &mem), 0);
}

static int setup(void **state)
{
	spec_defaults(&spec);
	spec.sms = 3;
	return 0;
}

static int teardown(void **state)
{
	mem_destroy(mem);
	return 0;
}

static bool send(unsigned int sm, unsigned int kind, uint64_t addr, unsigned int bytes,
		 uint32_t tag, uint64_t now)
{
	const struct mem_request r = {
		.addr = MEM_BASE + addr, .tag = tag, .sm = (uint16_t)sm, .kind = (uint8_t)kind,
		.cls = MEM_GLOBAL, .bytes = (uint8_t)bytes, .remote = true,
	};

	if (!mem_ready(mem, sm, &r, now))
		return false;
	mem_send(mem, &r, now);
	return true;
}

/* The memory's cycles before `upto`, a few at a time as in the GPU's loop. */
static void run(uint64_t upto)
{
	static uint64_t now;

	for (now = now < upto ? now : 0; now < upto; now++)
		mem_run(mem, now + 1);
}

/* The cycle of the SM's next answer, which is taken. */
static uint64_t answer(unsigned int sm, uint32_t tag)
{
	uint64_t at = mem_next(mem, sm);
	struct mem_reply reply;

	assert_true(at != UINT64_MAX);
	assert_false(at && mem_peek(mem, sm, at - 1, &reply));
	assert_true(mem_receive(mem, sm, at, &reply));
	assert_int_equal(reply.tag, tag);
	return at;
}

/* A read: a header there, the latency, a header and the bytes back. */
static void test_read(void **state)
{
	start();
	assert_true(send(0, MEM_READ, 0, 128, 7, 100));
	assert_false(mem_idle(mem));
	run(20000);
	assert_int_equal(answer(0, 7), 100 + THERE + HEADER + LATENCY + HEADER + 128 + BACK);
	assert_true(mem_idle(mem));
	/* One answer, whatever its size; and nothing of it is in L2 or DRAM. */
	assert_int_equal(mem_next(mem, 0), UINT64_MAX);
	assert_int_equal(mem_stats(mem)->l2_accesses[MEM_GLOBAL][0], 0);
	assert_int_equal(mem_stats(mem)->remote.count[MEM_READ], 1);
	assert_int_equal(mem_stats(mem)->remote.bytes[MEM_READ], 128);
	assert_int_equal(mem_stats(mem)->remote.busy_ps[0], (HEADER + 128) * 1000);
	assert_int_equal(mem_stats(mem)->remote.busy_ps[1], HEADER * 1000);
}

/* A write is answered when it has left, once a sector. An atomic sends its operand, too. */
static void test_write_and_atomic(void **state)
{
	start();
	assert_true(send(0, MEM_WRITE, 0, 64, 1, 0));
	assert_true(send(1, MEM_ATOMIC, 0, 32, 2, 1));
	run(20000);
	assert_int_equal(answer(0, 1), THERE + HEADER + 64 + BACK);
	assert_int_equal(answer(0, 1), THERE + HEADER + 64 + BACK);
	assert_int_equal(mem_next(mem, 0), UINT64_MAX);
	/* Behind the write on the way there. */
	assert_int_equal(answer(1, 2), THERE + HEADER + 64 + HEADER + 32 + LATENCY +
			 HEADER + 32 + BACK);
	assert_true(mem_idle(mem));
	assert_int_equal(mem_stats(mem)->remote.bytes[MEM_WRITE], 64);
	assert_int_equal(mem_stats(mem)->remote.bytes[MEM_ATOMIC], 32);
}

/* Reads follow each other on the link: its rate is what bounds many. */
static void test_rate(void **state)
{
	uint64_t last = 0;

	start();
	for (unsigned int i = 0; i < 48; i++)
		assert_true(send(i % 3, MEM_READ, i * 128, 128, i, i / 3));
	run(20000);
	for (unsigned int i = 0; i < 48; i++) {
		uint64_t at = answer(i % 3, i);

		if (i)
			assert_int_equal(at - last, HEADER + 128);
		last = at;
	}
	/* Of those of one cycle, the lowest SM's first. */
	assert_int_equal(last, THERE + HEADER + LATENCY + 48 * (HEADER + 128) + BACK);
}

/* No more reads are on their way than there are tags: then the latency bounds the rate. */
static void test_tags(void **state)
{
	spec.remote_reads = 2;
	start();
	for (unsigned int i = 0; i < 4; i++)
		assert_true(send(0, MEM_READ, i * 128, 32, i, 0));
	run(20000);
	for (unsigned int i = 0; i < 4; i++) {
		/* The third goes when the first is back. */
		uint64_t begun = i < 2 ? THERE : THERE + HEADER + LATENCY + HEADER + 32;

		assert_int_equal(answer(0, i), begun + HEADER + LATENCY +
				 (i % 2 + 1) * (HEADER + 32) + BACK);
	}
	assert_int_equal(mem_stats(mem)->remote.waits, 2);
}

/* An SM sends no more than its queue holds, and is told when to look again. */
static void test_queue(void **state)
{
	const struct mem_request r = { .sm = 1, .kind = MEM_READ, .bytes = 32, .remote = true };
	uint64_t first;

	spec.remote_queue = 3;
	start();
	for (unsigned int i = 0; i < 3; i++)
		assert_true(send(1, MEM_READ, 0, 32, i, 0));
	assert_false(send(1, MEM_READ, 0, 32, 3, 0));
	assert_true(send(2, MEM_READ, 0, 32, 0, 0));
	assert_int_equal(mem_ready_at(mem, 1, &r, 0), 1);
	run(20000);
	first = mem_next(mem, 1);
	assert_int_equal(mem_ready_at(mem, 1, &r, 5), first);
	assert_int_equal(answer(1, 0), first);
	assert_true(send(1, MEM_READ, 0, 32, 3, first));
}

/* While migrations are on the link each has half of it; and they are told what was taken. */
static void test_shared(void **state)
{
	const bool to_device[2] = { true, false };
	uint64_t took[2];

	start();
	mem_share_link(mem, to_device, took);
	assert_int_equal(took[0], 0);
	assert_true(send(0, MEM_READ, 0, 128, 7, 0));
	run(20000);
	assert_int_equal(answer(0, 7), THERE + HEADER + LATENCY + 2 * (HEADER + 128) + BACK);
	mem_share_link(mem, to_device, took);
	assert_int_equal(took[0], (HEADER + 128) * 1000);
	assert_int_equal(took[1], HEADER * 1000);
}

/* Answers from both sides come in the order of time. */
static void test_beside_local(void **state)
{
	const struct mem_request local = {
		.addr = MEM_BASE, .tag = 1, .kind = MEM_READ, .cls = MEM_GLOBAL, .bytes = 32,
	};
	struct mem_reply reply;

	start();
	assert_true(send(0, MEM_READ, 128, 32, 2, 0));
	assert_true(mem_ready(mem, 0, &local, 0));
	mem_send(mem, &local, 0);
	for (uint64_t now = 1; now < 5000; now++)
		mem_run(mem, now);
	assert_true(mem_receive(mem, 0, 5000, &reply));
	assert_int_equal(reply.tag, 1);
	assert_true(mem_receive(mem, 0, 5000, &reply));
	assert_int_equal(reply.tag, 2);
	assert_true(mem_idle(mem));
}

/* At the threshold the fault handler is told, of the region; then the counter begins anew. */
static void test_counters(void **state)
{
	uint64_t va;

	spec.counters = 1;
	spec.counter_bytes = 65536;
	spec.counter_threshold = 4;
	start();
	for (unsigned int i = 0; i < 3; i++)
		assert_true(send(0, MEM_READ, 65536 + i * 4096, 32, 0, i));
	assert_true(send(1, MEM_READ, 0, 32, 0, 2));
	run(100);
	assert_false(mem_notifies(mem));
	assert_true(send(2, MEM_WRITE, 131071 - 31, 32, 0, 3));
	run(1000);
	assert_true(mem_notifies(mem));
	assert_true(mem_notified(mem, &va));
	assert_int_equal(va, MEM_VA_BASE + 65536);
	assert_false(mem_notified(mem, &va));
	assert_true(send(2, MEM_READ, 65536, 32, 0, 4));
	run(2000);
	assert_false(mem_notifies(mem));
	assert_int_equal(mem_stats(mem)->remote.notifications, 1);
}

/* A kernel that is ended leaves nothing behind. */
static void test_cancel(void **state)
{
	start();
	assert_true(send(0, MEM_READ, 0, 128, 7, 0));
	run(20000);
	assert_true(send(1, MEM_WRITE, 0, 128, 8, 1));
	mem_cancel(mem);
	assert_true(mem_idle(mem));
	assert_int_equal(mem_next(mem, 0), UINT64_MAX);
	mem_run(mem, 5000);
	assert_int_equal(mem_next(mem, 1), UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read), TEST(test_write_and_atomic), TEST(test_rate), TEST(test_tags),
		TEST(test_queue), TEST(test_shared), TEST(test_beside_local), TEST(test_counters),
		TEST(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
