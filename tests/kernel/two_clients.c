// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=32 thrash_enable=0 icount timeout=120
 *
 * Two clients whose far faults are in one batch get more in a second than one client does
 * alone: the two thread wake-ups, and what RAISE and COMMIT cost, are shared. The engine is one
 * and so is its service thread, so the rest is done for one after the other.
 */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { CLIENTS = 2, PAGES = 512 };

FIXTURE(two)
{
	struct engine e;
	int fd[CLIENTS];
	uint32_t space[CLIENTS];
	uint8_t *mem[CLIENTS];
};

FIXTURE_SETUP(two)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	for (int i = 0; i < CLIENTS; i++) {
		self->fd[i] = client_open();
		self->space[i] = client_space(self->fd[i]);
		self->mem[i] = map_managed(self->fd[i], PAGES * PAGE);
		ASSERT_NE(NULL, self->mem[i]);
		fill(self->mem[i], PAGES * PAGE, i);
	}
}

FIXTURE_TEARDOWN(two)
{
	for (int i = 0; i < CLIENTS; i++) {
		munmap(self->mem[i], PAGES * PAGE);
		close(self->fd[i]);
	}
	engine_close(&self->e);
}

/* A far fault of each of the first n, again and again, each time in one batch; in ns, or -1. */
static int64_t fault(FIXTURE_DATA(two) *self, int n)
{
	struct gpuemu_migration m[CLIENTS] = { };
	struct timespec a, b;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (size_t page = 0; page < PAGES; page++) {
		for (i = 0; i < n; i++) {
			m[i].addr = (uintptr_t)self->mem[i] + page * PAGE;
			m[i].va_space = self->space[i];
			m[i].pages = 1;
			m[i].op = GPUEMU_MIGRATE_H2D;
			engine_fault(&self->e, m[i].va_space,
				     (void *)(uintptr_t)m[i].addr, GPUEMU_ACCESS_READ);
		}
		if (engine_raise(&self->e, 0) != n || engine_commit(&self->e, m, n) != n)
			return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	for (i = 0; i < n; i++)
		if (engine_d2h(&self->e, self->space[i], self->mem[i], PAGES))
			return -1;
	return (b.tv_sec - a.tv_sec) * 1000000000ll + (b.tv_nsec - a.tv_nsec);
}

TEST_F_TIMEOUT(two, far_faults_in_one_batch, 100)
{
	/* Tables and memory are there from the first time on. */
	int64_t first = fault(self, CLIENTS), one = fault(self, 1), both = fault(self, CLIENTS);

	ASSERT_LT(0, first);
	ASSERT_LT(0, one);
	ASSERT_LT(0, both);
	TH_LOG("two clients' far faults a second over one's: %.2f",
	       CLIENTS * (double)one / (double)both);
	/* 1.43 measured. */
	EXPECT_LT(both * 135, one * 100 * CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		EXPECT_TRUE(filled(self->mem[i], PAGES * PAGE, i));
}

TEST_HARNESS_MAIN
