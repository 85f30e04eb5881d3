// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=32 thrash_enable=0 icount timeout=120
 *
 * Two clients whose far faults are in one batch get more in a second than one client does
 * alone: the two thread wake-ups, and what RAISE and COMMIT cost, are shared. The engine is one
 * and so is its service thread, so the rest is done for one after the other. Both threads call as
 * the daemon's do.
 */
#include <sched.h>
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
	int n;			/* of them that fault */
	pthread_t server;
};

/* Home again: all that the first n have on the device. */
static uint32_t plan_home(FIXTURE_DATA(two) *self, struct gpuemu_migration *m)
{
	uint32_t k = 0;

	for (int i = 0; i < self->n; i++) {
		uintptr_t at = (uintptr_t)self->mem[i], end = at + PAGES * PAGE, next;

		for (; at < end; at = next) {
			next = (at | (BLOCK - 1)) + 1;
			next = next < end ? next : end;
			m[k++] = (struct gpuemu_migration){
				.addr = at, .va_space = self->space[i],
				.pages = (next - at) / PAGE, .op = GPUEMU_MIGRATE_D2H,
			};
		}
	}
	return k;
}

static uint32_t plan_batch(const struct gpuemu_batch *batch, struct gpuemu_migration *m)
{
	uint32_t i;

	for (i = 0; i < batch->count && i < CLIENTS; i++)
		m[i] = (struct gpuemu_migration){
			.addr = batch->faults[i].addr,
			.va_space = batch->faults[i].va_space,
			.pages = 1, .op = GPUEMU_MIGRATE_H2D,
		};
	return i;
}

/* As the daemon's: serves each batch and takes the next. A batch of no fault sends all home. */
static void *serve(void *arg)
{
	FIXTURE_DATA(two) *self = arg;
	const struct gpuemu_batch *batch = &self->e.control->batch;
	struct gpuemu_migration m[2 * CLIENTS];
	struct gpuemu_commit commit = {
		.size = sizeof(commit), .migrations = (uintptr_t)m,
	};
	struct gpuemu_engine_serve serve = {
		.size = sizeof(serve), .flags = GPUEMU_SERVE_FETCH,
	};

	while (!call(self->e.fd, GPUEMU_IOCTL_ENGINE_SERVE, &serve)) {
		commit.gen = batch->gen;
		commit.count = batch->count ? plan_batch(batch, m) : plan_home(self, m);
		serve.commit = (uintptr_t)&commit;
	}
	return NULL;
}

FIXTURE_SETUP(two)
{
	cpu_set_t one;

	/* As the daemon's two threads, which wait for each other. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_EQ(0, engine_open(&self->e));
	for (int i = 0; i < CLIENTS; i++) {
		self->fd[i] = client_open();
		self->space[i] = client_space(self->fd[i]);
		self->mem[i] = map_managed(self->fd[i], PAGES * PAGE);
		ASSERT_NE(NULL, self->mem[i]);
		fill(self->mem[i], PAGES * PAGE, i);
	}
	ASSERT_EQ(0, pthread_create(&self->server, NULL, serve, self));
}

FIXTURE_TEARDOWN(two)
{
	engine_acker_start(&self->e);
	for (int i = 0; i < CLIENTS; i++) {
		munmap(self->mem[i], PAGES * PAGE);
		close(self->fd[i]);
	}
	/* The server's call ends with the device's loss. */
	engine_close(&self->e);
	pthread_join(self->server, NULL);
}

static int raise_batch(FIXTURE_DATA(two) *self)
{
	struct gpuemu_engine_raise raise = {
		.size = sizeof(raise), .flags = GPUEMU_RAISE_EMPTY_OK,
	};

	return call(self->e.fd, GPUEMU_IOCTL_ENGINE_RAISE, &raise);
}

static uint32_t resident(FIXTURE_DATA(two) *self)
{
	uint32_t sum = 0;

	for (int i = 0; i < self->n; i++)
		sum += engine_resident(&self->e, self->space[i], self->mem[i], PAGES);
	return sum;
}

/* A far fault of each of the first n, again and again, each time in one batch; in ns, or -1. */
static int64_t fault(FIXTURE_DATA(two) *self, int n)
{
	struct timespec a, b;
	int ret = 0;

	self->n = n;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (size_t page = 0; page < PAGES && !ret; page++) {
		for (int i = 0; i < n; i++)
			engine_fault(&self->e, self->space[i], self->mem[i] + page * PAGE,
				     GPUEMU_ACCESS_READ);
		ret = raise_batch(self);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (ret || resident(self) != (uint32_t)n * PAGES || raise_batch(self) || resident(self))
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
	/* 1.51 measured. */
	EXPECT_LT(both * 145, one * 100 * CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		EXPECT_TRUE(filled(self->mem[i], PAGES * PAGE, i));
}

TEST_HARNESS_MAIN
