// SPDX-License-Identifier: GPL-2.0
/*
 * The client dies: its faults, works, frames and pages go with it, the engine
 * hears of it and goes on.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

#define PAGES 700
#define BYTES (PAGES * PAGE)

FIXTURE(client_death)
{
	struct engine e;
	int fd;			/* another client, to ask */
	pid_t pid;
	uint64_t addr;
	uint64_t work[3];
	uint32_t space;
};

/* The victim: memory, three works, and a wait that never ends. */
static void victim(int to)
{
	int fd = client_open(), i;
	uint64_t id[3];
	struct gpuemu_wait wait;
	uint8_t *p = map_managed(fd, BYTES);

	fill(p, BYTES, 3);
	/* Each second page is a mapping of its own; what its memory is does not change by that. */
	for (i = 0; i < PAGES; i += 2)
		madvise(p + (size_t)i * PAGE, PAGE, MADV_DONTDUMP);
	engine_say(to, client_space(fd));
	engine_say(to, (uintptr_t)p);
	for (i = 0; i < 3; i++) {
		client_submit(fd, GPUEMU_WORK_LAUNCH, "x", 1, &id[i]);
		engine_say(to, id[i]);
	}
	client_wait(fd, id[2], ~0u, &wait);
	_exit(1);
}

FIXTURE_SETUP(client_death)
{
	uint64_t word;
	int p[2], i;

	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	ASSERT_EQ(0, pipe(p));
	self->pid = fork();
	if (!self->pid) {
		close(self->e.fd);
		victim(p[1]);
	}
	ASSERT_EQ(0, engine_hear(p[0], 5000, &word));
	self->space = word;
	ASSERT_EQ(0, engine_hear(p[0], 5000, &self->addr));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, engine_hear(p[0], 5000, &self->work[i]));
	close(p[0]);
	close(p[1]);
}

FIXTURE_TEARDOWN(client_death)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	close(self->fd);
	engine_close(&self->e);
}

static int take(struct engine *e, struct gpuemu_work_take *take)
{
	static uint8_t buffer[64];

	memset(take, 0, sizeof(*take));
	take->size = sizeof(*take);
	take->payload = (uintptr_t)buffer;
	take->payload_bytes = sizeof(buffer);
	return call(e->fd, GPUEMU_IOCTL_WORK_TAKE, take);
}

static int done(struct engine *e, uint64_t id)
{
	struct gpuemu_work_done done = { .size = sizeof(done), .id = id };

	return call(e->fd, GPUEMU_IOCTL_WORK_DONE, &done);
}

static uint64_t vram_free(int fd)
{
	struct gpuemu_info info;

	return client_info(fd, &info) ? 0 : info.vram_free_bytes;
}

TEST_F(client_death, mid_launch)
{
	void *mem = (void *)(uintptr_t)self->addr;
	const struct gpuemu_control *control = self->e.control;
	uint64_t all = vram_free(self->fd), begin;
	uint32_t events, inval;
	struct gpuemu_work_take t;

	/* Two works taken, one queued, most of the memory on the device. */
	ASSERT_EQ(0, take(&self->e, &t));
	ASSERT_EQ(0, take(&self->e, &t));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, mem, PAGES - 50));
	EXPECT_EQ(all - (PAGES - 50) * PAGE, vram_free(self->fd));
	EXPECT_EQ(0, control->cancelled);
	events = control->events;
	inval = control->inval_put;

	begin = now_ms();
	ASSERT_EQ(0, kill(self->pid, SIGKILL));
	ASSERT_EQ(self->pid, waitpid(self->pid, NULL, 0));
	EXPECT_GT(1000 * slowness(), now_ms() - begin);

	/* One invalidate for all of the memory, and one for the space. */
	EXPECT_EQ(inval + 2, control->inval_put);
	EXPECT_EQ(GPUEMU_INVAL_UNMAP,
		  control->inval[inval % GPUEMU_INVAL_RING].reason);
	EXPECT_EQ(all, vram_free(self->fd));
	EXPECT_EQ(0, engine_resident(&self->e, self->space, mem, PAGES));
	/* The queued work is gone; the taken ones are cancelled one by one. */
	EXPECT_EQ(-EAGAIN, take(&self->e, &t));
	EXPECT_NE(events, control->events);
	EXPECT_EQ(self->work[0], control->cancelled);
	events = control->events;
	EXPECT_EQ(-ENOENT, done(&self->e, self->work[0]));
	EXPECT_EQ(self->work[1], control->cancelled);
	EXPECT_NE(events, control->events);
	EXPECT_EQ(-ENOENT, done(&self->e, self->work[1]));
	EXPECT_EQ(0, control->cancelled);
	EXPECT_EQ(-ENOENT, done(&self->e, self->work[1]));
}

/* The client dies while the service thread has its faults. */
TEST_F(client_death, mid_batch)
{
	struct gpuemu_migration m = {
		.addr = self->addr, .va_space = self->space, .pages = 100,
		.op = GPUEMU_MIGRATE_H2D,
	};
	uint64_t all = vram_free(self->fd);

	engine_fault(&self->e, self->space, (void *)(uintptr_t)self->addr,
		     GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(0, self->e.control->batch.faults[0].flags);
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	EXPECT_EQ(0, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(-ESRCH, m.status);
	EXPECT_EQ(all, vram_free(self->fd));
	/* Its records that are still on the way find nothing managed. */
	engine_fault(&self->e, self->space, (void *)(uintptr_t)self->addr,
		     GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED,
		  self->e.control->batch.faults[0].flags);
	EXPECT_EQ(0, engine_commit(&self->e, NULL, 0));
}

static bool gone(int status)
{
	return status == -ESRCH || status == -EFAULT;
}

/* It dies at a random moment of migrations to and fro. */
TEST_F(client_death, under_migration)
{
	static struct gpuemu_migration m[1000];
	uint64_t all = vram_free(self->fd);
	int i, ret;

	for (i = 0; i < 1000; i++) {
		m[i].addr = self->addr;
		m[i].va_space = self->space;
		m[i].pages = 256;
		m[i].op = i % 2 ? GPUEMU_MIGRATE_D2H : GPUEMU_MIGRATE_H2D;
	}
	if (!fork()) {
		sleep_ms(20);
		kill(self->pid, SIGKILL);
		_exit(0);
	}
	/* On a busy machine the first COMMIT may end before the killer comes, or while it kills. */
	for (i = 0; i < 100 && !gone(m[999].status); i++) {
		ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
		ret = engine_commit(&self->e, m, 1000);
		if (!i) {
			EXPECT_LT(0, ret);
			EXPECT_EQ(0, m[0].status);
		}
	}
	wait(NULL);
	waitpid(self->pid, NULL, 0);
	EXPECT_TRUE(gone(m[999].status)) TH_LOG("%d", m[999].status);
	EXPECT_EQ(all, vram_free(self->fd));
}

TEST_HARNESS_MAIN
