// SPDX-License-Identifier: GPL-2.0
/*
 * The engine dies in every state that it can be in. Each time: clients' waits
 * end with an error within a second, their memory is intact, and a new engine
 * attaches and serves the same client.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { PAGES = 1024, ON_DEVICE = 96 };
#define BYTES (PAGES * PAGE)

enum state {
	ATTACHED,	/* no command was ever issued */
	WAITING,	/* WAIT pending */
	FETCH_PENDING,
	RAISED,		/* RAISE pending, no FETCH */
	FETCHED,	/* the batch is with the service thread */
	COMMITTING,	/* in the middle of COMMIT */
	TAKEN,		/* a work is taken, the engine computes */
	FORKED,		/* a child has the file and the ring too */
	THREAD_EXIT,	/* only the thread that issued the commands ends */
	CLOSED_FILE,	/* the file is closed, a command is pending */
	EXEC,		/* the process becomes another program */
};

FIXTURE(engine_death)
{
	struct engine_process p;
	int fd;
	uint32_t space;
	uint8_t *mem;
	enum state state;
};

FIXTURE_VARIANT(engine_death)
{
	enum state state;
};

#define STATE(name, value) \
	FIXTURE_VARIANT_ADD(engine_death, name) { .state = value }
STATE(attached, ATTACHED);
STATE(waiting, WAITING);
STATE(fetch_pending, FETCH_PENDING);
STATE(raised, RAISED);
STATE(fetched, FETCHED);
STATE(committing, COMMITTING);
STATE(taken, TAKEN);
STATE(forked, FORKED);
STATE(thread_exit, THREAD_EXIT);
STATE(closed_file, CLOSED_FILE);
STATE(exec, EXEC);

static void *issue_and_exit(void *engine)
{
	engine_issue(engine, GPUEMU_URING_WAIT, 0, 0);
	return NULL;
}

/* A commit that takes seconds: two megabytes there and back, again and again. */
static void commit_for_long(struct engine *e, uint32_t space, uint8_t *mem)
{
	static struct gpuemu_migration m[GPUEMU_COMMIT_MAX];
	int i;

	for (i = 0; i < (int)GPUEMU_COMMIT_MAX; i++) {
		m[i].addr = (uintptr_t)mem;
		m[i].va_space = space;
		m[i].pages = GPUEMU_BLOCK_PAGES;
		m[i].op = i % 2 ? GPUEMU_MIGRATE_D2H : GPUEMU_MIGRATE_H2D;
	}
	engine_commit(e, m, GPUEMU_COMMIT_MAX);
}

/* In the engine's process. */
static int engine_run(struct engine *e, int from, int to, void *arg)
{
	struct _test_data_engine_death *t = arg;
	static uint8_t payload[GPUEMU_PAYLOAD_MAX];
	struct gpuemu_work_take take = {
		.size = sizeof(take), .payload = (uintptr_t)payload,
		.payload_bytes = sizeof(payload),
	};
	pthread_t thread;

	(void)from;
	engine_acker_start(e);
	if (engine_h2d(e, t->space, t->mem, ON_DEVICE))
		return 1;
	if (engine_resident(e, t->space, t->mem, ON_DEVICE) != ON_DEVICE)
		return 2;

	switch (t->state) {
	case ATTACHED:
		break;
	case WAITING:
	case FORKED:
	case CLOSED_FILE:
	case EXEC:
		engine_issue(e, GPUEMU_URING_WAIT, 0, 0);
		break;
	case FETCH_PENDING:
		engine_issue(e, GPUEMU_URING_FETCH, 0, 0);
		break;
	case RAISED:
		engine_fault(e, t->space, t->mem, GPUEMU_ACCESS_READ);
		engine_issue(e, GPUEMU_URING_RAISE, 0, 0);
		break;
	case FETCHED:
	case COMMITTING:
		engine_fault(e, t->space, t->mem, GPUEMU_ACCESS_READ);
		if (engine_raise(e, 0) != 1)
			return 3;
		break;
	case TAKEN:
		/* One taken, one still queued. */
		while (call(e->fd, GPUEMU_IOCTL_WORK_TAKE, &take))
			sleep_ms(5);
		break;
	case THREAD_EXIT:
		pthread_create(&thread, NULL, issue_and_exit, e);
		pthread_join(thread, NULL);
		break;
	}
	if (t->state == FORKED && !fork()) {
		/* Outlives its parent, with all that it had. */
		prctl(PR_SET_PDEATHSIG, 0);
		sleep_ms(4000);
		_exit(0);
	}
	engine_say(to, 1);
	if (t->state == COMMITTING) {
		commit_for_long(e, t->space, t->mem);
		engine_say(to, 2);
	}
	if (t->state == CLOSED_FILE)
		close(e->fd);
	if (t->state == EXEC)
		execl("/bin/busybox", "sleep", "30", NULL);
	return 0;
}

FIXTURE_SETUP(engine_death)
{
	uint64_t ready;

	self->state = variant->state;
	self->fd = client_open();
	ASSERT_LE(0, self->fd);
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BYTES);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, BYTES, 11);
	ASSERT_EQ(0, engine_spawn(&self->p, engine_run, self));
	if (self->state != TAKEN)
		ASSERT_EQ(0, engine_hear(self->p.from, 10000, &ready));
}

FIXTURE_TEARDOWN(engine_death)
{
	if (self->p.pid)
		engine_kill(&self->p);
	munmap(self->mem, BYTES);
	close(self->fd);
}

struct waiter {
	pthread_t thread;
	int fd;
	uint64_t id;
	int ret;
	struct gpuemu_wait wait;
	uint64_t ended;
};

static void *wait_for_work(void *arg)
{
	struct waiter *w = arg;

	w->ret = client_wait(w->fd, w->id, 20000, &w->wait);
	w->ended = now_ms();
	return NULL;
}

/* What has to be true after any death. */
static void check_recovery(struct __test_metadata *_metadata,
			   struct _test_data_engine_death *self)
{
	struct gpuemu_migration work = {
		.addr = (uintptr_t)self->mem, .pages = 8,
	};
	uint64_t id;
	uint32_t resident;
	struct gpuemu_wait wait;
	static struct engine e;
	pthread_t server;
	uint32_t *word;
	int i;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	/* Nothing has moved; a commit was cut between two migrations. */
	resident = engine_resident(&e, self->space, self->mem, PAGES);
	if (self->state == COMMITTING)
		resident = resident % GPUEMU_BLOCK_PAGES ? resident : ON_DEVICE;
	EXPECT_EQ(ON_DEVICE, resident);
	word = (uint32_t *)self->mem;
	ASSERT_EQ(0, pthread_create(&server, NULL, engine_serve_forever, &e));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, &work,
				   sizeof(work), &id));
	ASSERT_EQ(0, client_wait(self->fd, id, 10000, &wait));
	EXPECT_EQ(0, wait.status);
	for (i = 0; i < 8 * (int)(PAGE / sizeof(*word)); i++)
		word[i]--;
	EXPECT_TRUE(filled(self->mem, BYTES, 11));
}

TEST_F(engine_death, recovers)
{
	struct gpuemu_info info;
	struct waiter w[2];
	uint64_t killed, word;
	int works = 2, i;

	/* WAIT would hand the works on; here they are to stay. */
	if (self->state == WAITING || self->state == FORKED ||
	    self->state == THREAD_EXIT || self->state == CLOSED_FILE ||
	    self->state == EXEC)
		works = 0;
	for (i = 0; i < works; i++) {
		w[i].fd = self->fd;
		ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LAUNCH, "x", 1,
					   &w[i].id));
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, wait_for_work,
					    &w[i]));
	}
	if (self->state == TAKEN)
		ASSERT_EQ(0, engine_hear(self->p.from, 10000, &word));
	sleep_ms(100);

	/* A closed file is noticed when the process ends; exec, by itself. */
	killed = now_ms();
	if (self->state != THREAD_EXIT && self->state != EXEC)
		ASSERT_EQ(0, kill(self->p.pid, SIGKILL));
	for (i = 0; i < works; i++) {
		pthread_join(w[i].thread, NULL);
		EXPECT_EQ(0, w[i].ret);
		EXPECT_EQ(-EIO, w[i].wait.status);
		EXPECT_EQ(0, strcmp("device lost", (char *)w[i].wait.message));
		EXPECT_GT(1000 * slowness(), w[i].ended - killed);
	}
	do {
		ASSERT_EQ(0, client_info(self->fd, &info));
		sleep_ms(1);
	} while (info.engine_generation && now_ms() < killed + 3000 * slowness());
	EXPECT_GT(1000 * slowness(), now_ms() - killed);
	TH_LOG("lost after %d ms", (int)(now_ms() - killed));
	if (self->state == COMMITTING)
		EXPECT_NE(0, engine_hear(self->p.from, 0, &word))
			TH_LOG("the commit was over before the kill");
	check_recovery(_metadata, self);
}

TEST_HARNESS_MAIN
