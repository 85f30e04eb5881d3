// SPDX-License-Identifier: GPL-2.0
/*
 * RAISE, COMMIT and FETCH by ioctls that sleep until the command would complete. A signal ends the
 * sleep and not the command, and the loss of the engine ends both.
 *
 * vm: monitor_ms=500 invalidate_timeout_ms=2000 enable_tests=1
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"

/* HELD_MS: of a COMMIT, while another thread comes and is interrupted. */
enum { REPLAY_BATCH_FLUSH = 2, REPLAY_ONCE = 3, HELD_MS = 500 };

/* A thread in one of the calls: how often it came back, and with what in the end. */
struct waiter {
	pthread_t thread;
	int fd;
	unsigned long request;
	union {
		struct gpuemu_engine_raise raise;
		struct gpuemu_engine_serve serve;
	};
	bool again;		/* after a signal, */
	atomic_bool later;	/* but not yet */
	atomic_bool waiting;
	atomic_int interrupted;
	int ret;
};

static void *waiter(void *arg)
{
	struct waiter *w = arg;

	do {
		atomic_store(&w->waiting, true);
		w->ret = call(w->fd, w->request, &w->raise);
		w->interrupted += w->ret == -EINTR;
		while (atomic_load(&w->later))
			sleep_ms(1);
	} while (w->ret == -EINTR && w->again);
	if (!w->ret && w->request == GPUEMU_IOCTL_ENGINE_SERVE)
		w->ret = w->serve.faults;
	return NULL;
}

static void waiter_start(struct waiter *w)
{
	atomic_store(&w->waiting, false);
	atomic_store(&w->interrupted, 0);
	pthread_create(&w->thread, NULL, waiter, w);
	while (!atomic_load(&w->waiting))
		sleep_ms(1);
	sleep_ms(20);
}

static struct waiter raiser(const struct engine *e, uint32_t flags)
{
	return (struct waiter){
		.fd = e->fd, .request = GPUEMU_IOCTL_ENGINE_RAISE,
		.raise = { .size = sizeof(struct gpuemu_engine_raise), .flags = flags },
	};
}

static struct waiter server(const struct engine *e, const void *commit, uint32_t flags)
{
	return (struct waiter){
		.fd = e->fd, .request = GPUEMU_IOCTL_ENGINE_SERVE,
		.serve = { .size = sizeof(struct gpuemu_engine_serve), .flags = flags,
			   .commit = (uintptr_t)commit },
	};
}

static int waiter_end(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->ret;
}

static int at_once(struct waiter w)
{
	waiter(&w);
	return w.ret;
}

static bool interrupted(struct waiter *w, int times)
{
	uint64_t end = now_ms() + 5000 * slowness();

	while (atomic_load(&w->interrupted) < times && now_ms() < end)
		sleep_ms(5);
	sleep_ms(20);
	return atomic_load(&w->interrupted) == times;
}

static void nothing(int sig)
{
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = nothing, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
}

FIXTURE(wait)
{
	struct engine e;
	struct waiter w;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(wait)
{
	handle(0);
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, 2 * PAGE, 7);
}

FIXTURE_TEARDOWN(wait)
{
	engine_close(&self->e);
	munmap(self->mem, BLOCK);
	close(self->fd);
	knob_set("replay_policy", REPLAY_BATCH_FLUSH);
	knob_set("fault_batch", 256);
}

/* Raises one fault and waits until it is replayed; the batch is fetched here. */
static int raise_and_fetch(FIXTURE_DATA(wait) *self)
{
	int res, ret;

	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	self->w = raiser(&self->e, 0);
	self->w.again = true;
	waiter_start(&self->w);
	ret = engine_result(&self->e, GPUEMU_URING_FETCH, 5000, &res);
	return ret ? ret : res;
}

static struct gpuemu_migration first_page(const FIXTURE_DATA(wait) *self)
{
	return (struct gpuemu_migration){
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};
}

static int commit_nothing(struct engine *e)
{
	struct gpuemu_commit c = { .size = sizeof(c), .gen = e->control->batch.gen };

	return at_once(server(e, &c, 0));
}

TEST_F(wait, raise)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	EXPECT_EQ(-EBUSY, at_once(raiser(&self->e, GPUEMU_RAISE_EMPTY_OK)));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, waiter_end(&self->w));
	EXPECT_EQ(self->e.control->batch.gen, self->e.control->stamps.gen);
	EXPECT_LE(self->e.control->stamps.fetched, self->e.control->stamps.replayed);
}

/* A COMMIT and what comes after it, and the number of its pages in the struct. */
TEST_F(wait, serve)
{
	struct gpuemu_migration m = first_page(self);
	struct gpuemu_commit c = { .size = sizeof(c), .count = 1,
				   .migrations = (uintptr_t)&m };
	int res;

	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	c.gen = self->e.control->batch.gen;
	self->w = server(&self->e, &c, GPUEMU_SERVE_FETCH);
	waiter_start(&self->w);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
	EXPECT_EQ(0, m.status);
	EXPECT_EQ(1, engine_resident(&self->e, self->space, self->mem, 1));
	/* It is pending: a second one is not possible, in neither way. */
	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_FETCH, 5000, &res));
	EXPECT_EQ(-EBUSY, res);
	EXPECT_EQ(-EBUSY, at_once(server(&self->e, NULL, GPUEMU_SERVE_FETCH)));

	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	engine_issue(&self->e, GPUEMU_URING_RAISE, 0, 0);
	EXPECT_EQ(2, waiter_end(&self->w));
	EXPECT_EQ(1, self->w.serve.committed);
	EXPECT_EQ(0, commit_nothing(&self->e));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
}

/* The raised batch is not raised anew, and its end is not lost. */
TEST_F(wait, signal_in_raise)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	for (int i = 1; i < 4; i++) {
		pthread_kill(self->w.thread, SIGUSR1);
		EXPECT_TRUE(interrupted(&self->w, i));
	}
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, waiter_end(&self->w));
	EXPECT_EQ(-EAGAIN, at_once(raiser(&self->e, 0)));
}

/* The end comes while the thread is not there. */
TEST_F(wait, ended_between_two_calls)
{
	ASSERT_EQ(1, raise_and_fetch(self));
	atomic_store(&self->w.later, true);
	pthread_kill(self->w.thread, SIGUSR1);
	EXPECT_TRUE(interrupted(&self->w, 1));
	/* It is that thread's, and the engine is parked still. */
	EXPECT_EQ(-EBUSY, at_once(raiser(&self->e, 0)));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(-EBUSY, at_once(raiser(&self->e, 0)));
	atomic_store(&self->w.later, false);
	EXPECT_EQ(0, waiter_end(&self->w));
	EXPECT_EQ(self->e.control->batch.gen, self->e.control->stamps.gen);
	EXPECT_EQ(-EAGAIN, at_once(raiser(&self->e, 0)));
}

TEST_F(wait, signal_that_restarts)
{
	handle(SA_RESTART);
	ASSERT_EQ(1, raise_and_fetch(self));
	pthread_kill(self->w.thread, SIGUSR1);
	sleep_ms(50);
	EXPECT_EQ(0, atomic_load(&self->w.interrupted));
	EXPECT_EQ(0, commit_nothing(&self->e));
	EXPECT_EQ(0, waiter_end(&self->w));
}

/* What was committed is not committed again. */
TEST_F(wait, signal_in_serve)
{
	struct gpuemu_migration m = first_page(self);
	struct gpuemu_commit c = { .size = sizeof(c), .count = 1,
				   .migrations = (uintptr_t)&m };
	int res;

	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	c.gen = self->e.control->batch.gen;
	self->w = server(&self->e, &c, GPUEMU_SERVE_FETCH);
	self->w.again = true;
	waiter_start(&self->w);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	pthread_kill(self->w.thread, SIGUSR1);
	EXPECT_TRUE(interrupted(&self->w, 1));
	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_READ);
	engine_issue(&self->e, GPUEMU_URING_RAISE, 0, 0);
	EXPECT_EQ(1, waiter_end(&self->w));
	EXPECT_EQ(1, m.moved);
	EXPECT_EQ(0, commit_nothing(&self->e));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
}

/*
 * A thread's FETCH gets the next batch of the pass while a signal has it away from the
 * module. Another thread, whose COMMIT has just ended, wants to fetch as well. The first one
 * gets the batch.
 */
TEST_F(wait, taken_while_away)
{
	struct gpuemu_migration m = first_page(self);
	struct gpuemu_commit c = { .size = sizeof(c), .count = 1,
				   .migrations = (uintptr_t)&m };
	struct waiter away = server(&self->e, NULL, GPUEMU_SERVE_FETCH);
	struct nl nl;
	int res;

	ASSERT_EQ(0, nl_open(&nl));
	ASSERT_EQ(0, knob_set("replay_policy", REPLAY_ONCE));
	ASSERT_EQ(0, knob_set("fault_batch", 1));
	for (int i = 0; i < 2; i++)
		engine_fault(&self->e, self->space, self->mem + i * PAGE, GPUEMU_ACCESS_READ);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	c.gen = self->e.control->batch.gen;
	ASSERT_EQ(0, nl_inject(&nl, GPUEMU_INJECT_WHAT_PAUSE_COMMIT, HELD_MS * slowness()));
	self->w = server(&self->e, &c, GPUEMU_SERVE_FETCH);
	waiter_start(&self->w);
	away.again = true;
	atomic_store(&away.later, true);
	waiter_start(&away);
	pthread_kill(away.thread, SIGUSR1);
	EXPECT_TRUE(interrupted(&away, 1));
	/* What it committed is committed. */
	EXPECT_EQ(-EBUSY, waiter_end(&self->w));
	EXPECT_EQ(0, m.status);
	EXPECT_EQ(1, m.moved);
	atomic_store(&away.later, false);
	EXPECT_EQ(1, waiter_end(&away));
	EXPECT_EQ(0, commit_nothing(&self->e));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	EXPECT_EQ(0, res);
	nl_close(&nl);
}

TEST_F(wait, lost)
{
	struct gpuemu_commit c = { .size = sizeof(c) };
	int res;

	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	c.gen = self->e.control->batch.gen;
	self->w = server(&self->e, &c, GPUEMU_SERVE_FETCH);
	waiter_start(&self->w);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 5000, &res));
	/* Nobody acknowledges that the page is taken away. */
	EXPECT_TRUE(filled(self->mem, PAGE, 7));
	EXPECT_EQ(-ENODEV, waiter_end(&self->w));
	EXPECT_EQ(-ENODEV, at_once(raiser(&self->e, GPUEMU_RAISE_EMPTY_OK)));
}

TEST_F(wait, refused)
{
	struct gpuemu_commit c = { .size = sizeof(c), .gen = 77 };
	struct engine client = { .fd = self->fd };

	EXPECT_EQ(-ESTALE, at_once(server(&self->e, &c, GPUEMU_SERVE_FETCH)));
	EXPECT_EQ(-ESTALE, at_once(server(&self->e, &c, 0)));
	EXPECT_EQ(-EINVAL, at_once(server(&self->e, NULL, 0)));
	EXPECT_EQ(-EOPNOTSUPP, at_once(server(&self->e, &c, 2)));
	EXPECT_EQ(-EFAULT, at_once(server(&self->e, (void *)8, GPUEMU_SERVE_FETCH)));
	EXPECT_EQ(-EAGAIN, at_once(raiser(&self->e, 0)));
	EXPECT_EQ(-EOPNOTSUPP, at_once(raiser(&self->e, 2)));
	EXPECT_EQ(-EPERM, at_once(raiser(&client, 0)));
	EXPECT_EQ(-EPERM, at_once(server(&client, &c, 0)));
}

TEST_HARNESS_MAIN
