// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 enable_tests=1 timeout=120
 *
 * A client whose CPU works on its own pages, however slowly, keeps the engine's commits
 * from nothing but these pages: the other clients of the commit are served at once.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"
#include "lib/slow.h"

enum {
	BLOCKS = 4,
	/* Far more than a commit takes, and less than the blocks are held: HELD ms, all together. */
	SOON = 2000,
	HELD = 10000,
	/* For each of these a commit would wait for 2.5 ms. */
	DUPLICATES = 100,
};

struct client {
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE(slow)
{
	struct nl nl;
	struct engine e;
	struct client slow, other;
	pthread_t toucher[BLOCKS];
};

static int open_client(struct client *c)
{
	c->fd = client_open();
	c->space = client_space(c->fd);
	c->mem = map_managed(c->fd, BLOCKS * BLOCK);
	if (!c->mem)
		return -1;
	for (size_t i = 0; i < BLOCKS; i++)
		c->mem[i * BLOCK] = i + 1;
	return 0;
}

FIXTURE_SETUP(slow)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, open_client(&self->slow));
	ASSERT_EQ(0, open_client(&self->other));
}

FIXTURE_TEARDOWN(slow)
{
	munmap(self->slow.mem, BLOCKS * BLOCK);
	munmap(self->other.mem, BLOCKS * BLOCK);
	close(self->slow.fd);
	close(self->other.fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int inject(FIXTURE_DATA(slow) *self, enum gpuemu_inject_what what, uint32_t count)
{
	return nl_inject(&self->nl, what, count);
}

static int pause_faults(FIXTURE_DATA(slow) *self, uint32_t ms)
{
	return inject(self, GPUEMU_INJECT_WHAT_PAUSE_FAULT, ms);
}

static bool injected(uint64_t count)
{
	for (int i = 0; i < 1000 && knob_stat(GPUEMU_A_STATS_INJECTED) < count; i++)
		sleep_ms(10);
	return knob_stat(GPUEMU_A_STATS_INJECTED) == count;
}

/* A thread is created before anything is held: that takes the mm's lock. */
static atomic_bool go;

static void *touch(void *page)
{
	while (!go)
		sched_yield();
	return (void *)(uintptr_t)*(volatile uint8_t *)page;
}

static struct gpuemu_migration page_of(const struct client *c, size_t block,
				       enum gpuemu_migration_op op)
{
	return (struct gpuemu_migration){
		.addr = (uintptr_t)c->mem + block * BLOCK,
		.va_space = c->space, .pages = 1, .op = op,
	};
}

/* A batch for a fault of the first client's, and a commit of these. Its time in us, or -1. */
static int64_t commit(FIXTURE_DATA(slow) *self, struct gpuemu_migration *m,
		      uint32_t n)
{
	struct timespec a, b;
	int ret;

	engine_fault(&self->e, m->va_space, (void *)(uintptr_t)m->addr,
		     GPUEMU_ACCESS_WRITE);
	if (engine_raise(&self->e, 0) != 1)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &a);
	ret = engine_commit(&self->e, m, n);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ret < 0 ? -1 : (b.tv_sec - a.tv_sec) * 1000000 +
			      (b.tv_nsec - a.tv_nsec) / 1000;
}

/* Four faults of the CPU hold a block each; the commit asks for these and for another's. */
TEST_F(slow, blocks_that_are_held)
{
	struct gpuemu_migration m[BLOCKS + 1];
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	void *value;
	size_t i;

	for (i = 0; i < BLOCKS; i++) {
		m[i] = page_of(&self->slow, i, GPUEMU_MIGRATE_H2D);
		ASSERT_LE(0, commit(self, &m[i], 1));
		ASSERT_EQ(0, m[i].status);
	}
	m[BLOCKS] = page_of(&self->other, 0, GPUEMU_MIGRATE_H2D);
	for (i = 0; i < BLOCKS; i++)
		ASSERT_EQ(0, pthread_create(&self->toucher[i], NULL, touch,
					    self->slow.mem + i * BLOCK));
	ASSERT_EQ(0, pause_faults(self, HELD));
	go = true;
	ASSERT_TRUE(injected(before + BLOCKS));

	for (i = 0; i < BLOCKS; i++)
		m[i] = page_of(&self->slow, i, i % 2 ? GPUEMU_MIGRATE_D2H :
						       GPUEMU_MIGRATE_H2D);
	EXPECT_GT(SOON * 1000 * slowness(), commit(self, m, BLOCKS + 1));
	for (i = 0; i < BLOCKS; i++)
		EXPECT_EQ(-EAGAIN, m[i].status);
	EXPECT_EQ(0, m[BLOCKS].status);
	EXPECT_EQ(1, m[BLOCKS].moved);

	ASSERT_EQ(0, pause_faults(self, 0));
	for (i = 0; i < BLOCKS; i++) {
		ASSERT_EQ(0, pthread_join(self->toucher[i], &value));
		EXPECT_EQ(i + 1, (uintptr_t)value);
	}
	/* The next replay gets them. */
	m[0] = page_of(&self->slow, 0, GPUEMU_MIGRATE_H2D);
	ASSERT_LE(0, commit(self, m, 1));
	EXPECT_EQ(0, m[0].status);
	EXPECT_EQ(1, m[0].moved);
}

/*
 * The first duplicate of a space changes the client's mappings. Here a fault of the client holds
 * its mmap_lock. The commit waits for that once, and not for each duplicate.
 */
TEST_F(slow, mappings_that_are_held)
{
	struct gpuemu_migration m[DUPLICATES + 1];
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	void *value;
	size_t i;

	m[0] = page_of(&self->slow, 0, GPUEMU_MIGRATE_H2D);
	ASSERT_LE(0, commit(self, m, 1));
	ASSERT_EQ(0, m[0].status);
	for (i = 0; i < DUPLICATES; i++) {
		m[i] = page_of(&self->slow, 1, GPUEMU_MIGRATE_DUPLICATE);
		m[i].addr += i * PAGE;
	}
	m[DUPLICATES] = page_of(&self->other, 0, GPUEMU_MIGRATE_H2D);
	ASSERT_EQ(0, pthread_create(&self->toucher[0], NULL, touch, self->slow.mem));
	ASSERT_EQ(0, pause_faults(self, HELD));
	go = true;
	ASSERT_TRUE(injected(before + 1));

	EXPECT_GT(DUPLICATES * 1000 * slowness(), commit(self, m, DUPLICATES + 1));
	for (i = 0; i < DUPLICATES; i++)
		EXPECT_EQ(-EBUSY, m[i].status);
	EXPECT_EQ(0, m[DUPLICATES].status);
	EXPECT_EQ(1, m[DUPLICATES].moved);

	ASSERT_EQ(0, pause_faults(self, 0));
	ASSERT_EQ(0, pthread_join(self->toucher[0], &value));
	ASSERT_LE(0, commit(self, m, 1));
	EXPECT_EQ(0, m[0].status);
}

/*
 * A fault of the CPU may reclaim memory for its page, which takes as long as its memory cgroup
 * lets it. It holds no block meanwhile: the engine moves other pages of the same one.
 */
TEST_F(slow, reclaim_holds_no_block)
{
	struct gpuemu_migration m = page_of(&self->slow, 0, GPUEMU_MIGRATE_H2D);
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	void *value;

	ASSERT_EQ(0, pthread_create(&self->toucher[0], NULL, touch, self->slow.mem + PAGE));
	/* While a page is to fail, the fault finds none at once. */
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_RECLAIM, HELD));
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 1));
	go = true;
	ASSERT_TRUE(injected(before + 1));
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 0));
	EXPECT_GT(SOON * 1000 * slowness(), commit(self, &m, 1));
	EXPECT_EQ(0, m.status);
	EXPECT_EQ(1, m.moved);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_RECLAIM, 0));
	ASSERT_EQ(0, pthread_join(self->toucher[0], &value));
	EXPECT_EQ(0, (uintptr_t)value);
}

TEST_HARNESS_MAIN
