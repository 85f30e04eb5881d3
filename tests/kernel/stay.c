// SPDX-License-Identifier: GPL-2.0
/*
 * GPUEMU_STAY: a command that waits in its submission ends there, and is pending like
 * any other one when a signal comes, when it takes long, and when the engine is lost.
 *
 * vm: monitor_ms=500 invalidate_timeout_ms=200
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

/* A thread that issues one command on a ring of its own. */
struct stayer {
	pthread_t thread;
	struct engine e;		/* the engine, but for the ring */
	uint32_t op, arg;
	uint64_t addr;
	atomic_bool staying, submitted;
	int ret, res;
};

static void *stayer(void *arg)
{
	struct stayer *s = arg;

	s->e.nresults = 0;
	s->ret = io_uring_queue_init(8, &s->e.ring, IORING_SETUP_SINGLE_ISSUER |
				     IORING_SETUP_DEFER_TASKRUN);
	if (s->ret)
		return NULL;
	atomic_store(&s->staying, true);
	engine_issue(&s->e, s->op, s->addr, s->arg);
	atomic_store(&s->submitted, true);
	s->ret = engine_result(&s->e, s->op, 10000, &s->res);
	io_uring_queue_exit(&s->e.ring);
	return NULL;
}

static void stayer_start(struct stayer *s, struct engine *e, uint32_t op, const void *addr,
			 uint32_t arg)
{
	s->e = *e;
	s->op = op;
	s->arg = arg | GPUEMU_STAY;
	s->addr = (uintptr_t)addr;
	atomic_store(&s->staying, false);
	atomic_store(&s->submitted, false);
	pthread_create(&s->thread, NULL, stayer, s);
	while (!atomic_load(&s->staying))
		sleep_ms(1);
	sleep_ms(20);
}

/* -ETIMEDOUT, an error of the ring, or the command's result. */
static int stayer_end(struct stayer *s)
{
	pthread_join(s->thread, NULL);
	return s->ret ? s->ret : s->res;
}

static bool submitted_within(struct stayer *s, unsigned int ms)
{
	uint64_t end = now_ms() + ms * slowness();

	while (!atomic_load(&s->submitted) && now_ms() < end)
		sleep_ms(5);
	return atomic_load(&s->submitted);
}

static void nothing(int sig)
{
}

FIXTURE(stay)
{
	struct engine e;
	struct stayer s;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(stay)
{
	struct sigaction action = { .sa_handler = nothing };

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, 2 * PAGE, 7);
}

FIXTURE_TEARDOWN(stay)
{
	engine_close(&self->e);
	munmap(self->mem, BLOCK);
	close(self->fd);
}

/* Raises one fault and stays until it is replayed; the batch is fetched here. */
static int raise_and_fetch(FIXTURE_DATA(stay) *self)
{
	int res, ret;

	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	stayer_start(&self->s, &self->e, GPUEMU_URING_RAISE, NULL, 0);
	ret = engine_result(&self->e, GPUEMU_URING_FETCH, 5000, &res);
	return ret ? ret : res;
}

static int commit_nothing(struct engine *e)
{
	struct gpuemu_commit c = { .size = sizeof(c), .gen = e->control->batch.gen };
	int ret, res;

	engine_issue(e, GPUEMU_URING_COMMIT, (uintptr_t)&c, 0);
	ret = engine_result(e, GPUEMU_URING_COMMIT, 5000, &res);
	return ret ? ret : res;
}

TEST_F(stay, raise)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	EXPECT_FALSE(atomic_load(&self->s.submitted));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, stayer_end(&self->s));
	EXPECT_EQ(self->e.control->batch.gen, self->e.control->stamps.gen);
	EXPECT_LE(self->e.control->stamps.fetched, self->e.control->stamps.replayed);
}

TEST_F(stay, fetch)
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
	stayer_start(&self->s, &self->e, GPUEMU_URING_COMMIT_AND_FETCH, &c, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(0, m.status);
	EXPECT_FALSE(atomic_load(&self->s.submitted));
	/* It is pending: a second one is not possible. */
	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_FETCH, 5000, &res));
	EXPECT_EQ(-EBUSY, res);

	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	engine_issue(&self->e, GPUEMU_URING_RAISE, 0, 0);
	EXPECT_EQ(2, stayer_end(&self->s));
	EXPECT_EQ(0, commit_nothing(&self->e));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
}

/* From then on it is a command like any other. */
TEST_F(stay, signal)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	EXPECT_FALSE(atomic_load(&self->s.submitted));
	pthread_kill(self->s.thread, SIGUSR1);
	EXPECT_TRUE(submitted_within(&self->s, 400));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, stayer_end(&self->s));
}

TEST_F(stay, monitor)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	EXPECT_FALSE(atomic_load(&self->s.submitted));
	EXPECT_TRUE(submitted_within(&self->s, 3000));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, stayer_end(&self->s));
}

TEST_F(stay, lost)
{
	struct gpuemu_commit c = { .size = sizeof(c) };
	int res;

	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	c.gen = self->e.control->batch.gen;
	stayer_start(&self->s, &self->e, GPUEMU_URING_COMMIT_AND_FETCH, &c, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	/* Nobody acknowledges that the page is taken away. */
	EXPECT_TRUE(filled(self->mem, PAGE, 7));
	EXPECT_EQ(-ENODEV, stayer_end(&self->s));
}

TEST_F(stay, refused)
{
	struct gpuemu_commit c = { .size = sizeof(c), .gen = 77 };

	stayer_start(&self->s, &self->e, GPUEMU_URING_COMMIT_AND_FETCH, &c, 0);
	EXPECT_EQ(-ESTALE, stayer_end(&self->s));
	stayer_start(&self->s, &self->e, GPUEMU_URING_RAISE, NULL, 0);
	EXPECT_EQ(-EAGAIN, stayer_end(&self->s));
	stayer_start(&self->s, &self->e, GPUEMU_URING_COMMIT, &c, 0);
	EXPECT_EQ(-EINVAL, stayer_end(&self->s));
	stayer_start(&self->s, &self->e, GPUEMU_URING_FETCH, NULL, 0);
	EXPECT_EQ(-EINVAL, stayer_end(&self->s));
}

TEST_HARNESS_MAIN
