// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 enable_tests=1 thrash_enable=0 icount timeout=120
 *
 * A client's task holds a VA block for long: it was put off with the block locked, as a
 * SCHED_IDLE task beside one that computes is. A pause holds the task here. The engine asks for
 * a page of that block in every batch, beside a page of another client. The far faults of the
 * other client take at most twice as long for it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/mirrors.h"
#include "lib/nl.h"
#include "lib/pageable.h"

enum {
	FAULTS = 400,		/* the fourth slowest is their p99 */
	PAGES = 512,
	HELD = 10000,		/* ms; longer than all of them take */
};

struct client {
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE(held)
{
	struct nl nl;
	struct engine e;
	struct client slow, other;
};

static int open_client(struct client *c)
{
	uintptr_t at = (uintptr_t)reserve(2 * BLOCK);

	c->fd = client_open();
	c->space = client_space(c->fd);
	at = (at + BLOCK - 1) & ~(BLOCK - 1);
	c->mem = map_managed_at(c->fd, (void *)at, PAGES * PAGE);
	if (!c->mem)
		return -1;
	fill(c->mem, PAGES * PAGE, c->space);
	return 0;
}

FIXTURE_SETUP(held)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, open_client(&self->slow));
	ASSERT_EQ(0, open_client(&self->other));
}

FIXTURE_TEARDOWN(held)
{
	munmap(self->slow.mem, PAGES * PAGE);
	munmap(self->other.mem, PAGES * PAGE);
	close(self->slow.fd);
	close(self->other.fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int pauses(FIXTURE_DATA(held) *self, enum gpuemu_inject_what what, uint32_t ms)
{
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, what);
	nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, ms);
	return nl_talk(&self->nl, &r, NULL, NULL);
}

/* A thread is created before anything is held: that takes the mm's lock. */
static atomic_bool go;

static void *touch(void *page)
{
	while (!go)
		sched_yield();
	return (void *)(uintptr_t)*(volatile uint8_t *)page;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t ns_since(const struct timespec *a)
{
	struct timespec b;

	clock_gettime(CLOCK_MONOTONIC, &b);
	return (b.tv_sec - a->tv_sec) * 1000000000ll + (b.tv_nsec - a->tv_nsec);
}

/* What each batch asks for of the slow client: page after page, or the same one. */
struct asked {
	uint8_t *mem;
	size_t step;
	enum gpuemu_migration_op op;
	int status;
};

static struct gpuemu_migration page_of(const struct client *c, const uint8_t *page,
				       enum gpuemu_migration_op op)
{
	return (struct gpuemu_migration){
		.addr = (uintptr_t)page, .va_space = c->space, .pages = 1, .op = op,
	};
}

/*
 * Far faults of the other client, each in a batch with one of the slow client's. The 99th
 * percentile of their times from raised to replayed, in ns; or -1.
 */
static int64_t p99(FIXTURE_DATA(held) *self, const struct asked *asked)
{
	static int64_t ns[FAULTS];
	struct gpuemu_migration m[2];
	struct timespec a;
	int i, n;

	for (n = 0; n < FAULTS; n++) {
		m[0] = page_of(&self->slow, asked->mem + n * asked->step, asked->op);
		m[1] = page_of(&self->other, self->other.mem + n * PAGE, GPUEMU_MIGRATE_H2D);
		for (i = 0; i < 2; i++)
			engine_fault(&self->e, m[i].va_space,
				     (void *)(uintptr_t)m[i].addr, GPUEMU_ACCESS_READ);
		clock_gettime(CLOCK_MONOTONIC, &a);
		if (engine_raise(&self->e, 0) != 2 || engine_commit(&self->e, m, 2) < 1)
			return -1;
		ns[n] = ns_since(&a);
		if (m[0].status != asked->status || m[1].status || m[1].moved != 1)
			return -1;
	}
	if (engine_d2h(&self->e, self->other.space, self->other.mem, PAGES))
		return -1;
	qsort(ns, FAULTS, sizeof(*ns), by_value);
	return ns[FAULTS - FAULTS / 100];
}

static bool injected(uint64_t count)
{
	for (int i = 0; i < 1000 && knob_stat(GPUEMU_A_STATS_INJECTED) < count; i++)
		sleep_ms(10);
	return knob_stat(GPUEMU_A_STATS_INJECTED) == count;
}

TEST_F_TIMEOUT(held, p99_beside_a_block, 100)
{
	/* Page 0 is in no batch. */
	struct asked asked = { self->slow.mem + PAGE, PAGE, GPUEMU_MIGRATE_H2D, 0 };
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	int64_t first, alone, beside;
	pthread_t toucher;
	void *value;

	/* Tables and memory are there from the first time on. */
	first = p99(self, &asked);
	ASSERT_LT(0, first);
	ASSERT_EQ(0, engine_d2h(&self->e, self->slow.space, self->slow.mem, PAGES));
	alone = p99(self, &asked);
	ASSERT_LT(0, alone);
	ASSERT_EQ(0, engine_d2h(&self->e, self->slow.space, self->slow.mem, PAGES));

	/* It goes to the device, so that the touch is a fault. */
	ASSERT_EQ(0, engine_h2d(&self->e, self->slow.space, self->slow.mem, 1));
	ASSERT_EQ(0, pthread_create(&toucher, NULL, touch, self->slow.mem));
	ASSERT_EQ(0, pauses(self, GPUEMU_INJECT_WHAT_PAUSE_FAULT, HELD));
	go = true;
	ASSERT_TRUE(injected(before + 1));
	asked.status = -EAGAIN;
	beside = p99(self, &asked);
	ASSERT_EQ(0, pauses(self, GPUEMU_INJECT_WHAT_PAUSE_FAULT, 0));
	ASSERT_EQ(0, pthread_join(toucher, &value));

	ASSERT_LT(0, beside);
	TH_LOG("p99 of a far fault: %.1f us, beside a block that is held %.1f us",
	       (double)alone / 1e3, (double)beside / 1e3);
	EXPECT_LE(beside, 2 * alone);
	EXPECT_TRUE(filled(self->slow.mem, PAGES * PAGE, self->slow.space));
	EXPECT_TRUE(filled(self->other.mem, PAGES * PAGE, self->other.space));
}

/* The same with ordinary memory of the slow client, for which its worker waits. */
TEST_F_TIMEOUT(held, p99_beside_ordinary_memory, 100)
{
	uint8_t *there = map_anonymous(BLOCK), *late = map_anonymous(BLOCK);
	struct asked asked = { there, 0, GPUEMU_MIGRATE_REMOTE, 0 };
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	int ret = pageable_give(self->slow.fd);
	int64_t first, alone, beside;

	if (ret == -EOPNOTSUPP && !kernel_mirrors())
		SKIP(return, "this kernel has no CONFIG_DEVICE_PRIVATE");
	ASSERT_EQ(0, ret);
	there[0] = late[0] = 1;
	for (int i = 0; i < 1000; i++) {
		ret = engine_migrate(&self->e, self->slow.space, there, 1,
				     GPUEMU_MIGRATE_REMOTE);
		if (ret != -EAGAIN)
			break;
		sleep_ms(1);
	}
	ASSERT_EQ(0, ret);
	first = p99(self, &asked);
	ASSERT_LT(0, first);
	alone = p99(self, &asked);
	ASSERT_LT(0, alone);

	ASSERT_EQ(0, pauses(self, GPUEMU_INJECT_WHAT_PAUSE_MIRROR, HELD));
	EXPECT_EQ(-EAGAIN, engine_migrate(&self->e, self->slow.space, late, 1,
					  GPUEMU_MIGRATE_REMOTE));
	ASSERT_TRUE(injected(before + 1));
	asked.mem = late;
	asked.status = -EAGAIN;
	beside = p99(self, &asked);
	ASSERT_EQ(0, pauses(self, GPUEMU_INJECT_WHAT_PAUSE_MIRROR, 0));

	ASSERT_LT(0, beside);
	TH_LOG("p99 of a far fault: %.1f us, beside memory that is late %.1f us",
	       (double)alone / 1e3, (double)beside / 1e3);
	EXPECT_LE(beside, 2 * alone);
	munmap(there, BLOCK);
	munmap(late, BLOCK);
}

TEST_HARNESS_MAIN
