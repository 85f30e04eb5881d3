// SPDX-License-Identifier: GPL-2.0
/*
 * vm: enable_tests=1
 *
 * A command that may sleep does not sleep where io_uring asks it not to, with the lock of the
 * ring: a worker thread of io_uring does it, and the ring's other commands go on meanwhile.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { NOP = 77, PAUSE_MS = 10000 };

FIXTURE(block)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(block)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 2 * PAGE);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, 2 * PAGE, 3);
}

FIXTURE_TEARDOWN(block)
{
	munmap(self->mem, 2 * PAGE);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

/* Threads of this process that io_uring made to do what may sleep. */
static int workers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], name[32];
	struct dirent *d;
	FILE *file;
	int n = 0;

	while (tasks && (d = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", d->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		n += fgets(name, sizeof(name), file) && !strncmp(name, "iou-wrk", 7);
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return n;
}

static int nop(struct engine *e)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);
	int ret, res;

	io_uring_prep_nop(sqe);
	sqe->user_data = NOP;
	io_uring_submit(&e->ring);
	ret = engine_result(e, NOP, 5000, &res);
	return ret ? ret : res;
}

static bool paused(void)
{
	for (int i = 0; i < 500 && !knob_stat(GPUEMU_A_STATS_INJECTED); i++)
		sleep_ms(10);
	return knob_stat(GPUEMU_A_STATS_INJECTED);
}

TEST_F(block, commit)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};
	struct gpuemu_commit c = { .size = sizeof(c), .count = 1,
				   .migrations = (uintptr_t)&m };
	int res;

	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	c.gen = self->e.control->batch.gen;
	ASSERT_EQ(0, nl_inject(&self->nl, GPUEMU_INJECT_WHAT_PAUSE_COMMIT, PAUSE_MS));
	engine_issue(&self->e, GPUEMU_URING_COMMIT, (uintptr_t)&c, 0);
	EXPECT_TRUE(paused());
	EXPECT_EQ(0, nop(&self->e));
	EXPECT_FALSE(engine_has_result(&self->e, GPUEMU_URING_COMMIT));
	ASSERT_EQ(0, nl_inject(&self->nl, GPUEMU_INJECT_WHAT_PAUSE_COMMIT, 0));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_COMMIT, 5000, &res));
	EXPECT_EQ(1, res);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(1, engine_resident(&self->e, self->space, self->mem, 1));
}

/* It waits for a record that is being written, and for none that is there. */
TEST_F(block, raise)
{
	uint32_t at;

	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	EXPECT_EQ(0, workers());

	at = self->e.put % self->e.attach.fault_entries;
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_READ);
	self->e.faults->entries[at].valid = 0;
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(1, workers());
	EXPECT_EQ((uintptr_t)self->mem + PAGE, self->e.control->batch.faults[0].addr);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* What is no record needs no wait, and ends the batch before the one that is being written. */
TEST_F(block, raise_after_a_bad_record)
{
	struct gpuemu_fault bad = { .addr = 1, .va_space = self->space, .valid = 1 };
	uint32_t at;

	engine_record(&self->e, &bad);
	at = self->e.put % self->e.attach.fault_entries;
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	self->e.faults->entries[at].valid = 0;
	ASSERT_EQ(0, engine_raise(&self->e, 0));
	EXPECT_EQ(1, self->e.control->batch.dropped);
	EXPECT_EQ(0, workers());
	__atomic_store_n(&self->e.faults->entries[at].valid, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

TEST_HARNESS_MAIN
