// SPDX-License-Identifier: GPL-2.0
/*
 * TLB invalidates: what is posted, when it must be acknowledged, and that an
 * engine which does not acknowledge loses the device while the client's memory
 * stays right.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"

/* invalidate_timeout_ms while these run: enough for the engine that answers, on a busy machine too. */
#define TIMEOUT_MS (2000 * slowness())
#define PAGES 8

FIXTURE(invalidate)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[PAGES * PAGE];
};

FIXTURE_SETUP(invalidate)
{
	ASSERT_EQ(0, knob_set("invalidate_timeout_ms", TIMEOUT_MS));
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, PAGES * PAGE);
	ASSERT_NE(NULL, self->mem);
	fill(self->copy, sizeof(self->copy), 17);
	memcpy(self->mem, self->copy, sizeof(self->copy));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
}

FIXTURE_TEARDOWN(invalidate)
{
	munmap(self->mem, PAGES * PAGE);
	close(self->fd);
	engine_close(&self->e);
}

static sigjmp_buf jump;

static void on_sigbus(int sig)
{
	siglongjmp(jump, sig);
}

/* SIGBUS, or 0 if the byte could be read. */
static int touch(const volatile void *p)
{
	struct sigaction action = { .sa_handler = on_sigbus }, old;
	int sig;

	sigaction(SIGBUS, &action, &old);
	sig = sigsetjmp(jump, 1);
	if (!sig)
		(void)*(const volatile uint8_t *)p;
	sigaction(SIGBUS, &old, NULL);
	return sig;
}

static uint32_t generation(int fd)
{
	struct gpuemu_info info;

	return client_info(fd, &info) ? ~0u : info.engine_generation;
}

TEST_F(invalidate, cpu_fault_is_posted)
{
	const struct gpuemu_control *c = self->e.control;
	const struct gpuemu_invalidate *i;
	uint32_t put = c->inval_put;

	engine_acker_start(&self->e);
	EXPECT_EQ(self->copy[2 * PAGE], self->mem[2 * PAGE]);
	EXPECT_EQ(put + 1, c->inval_put);
	i = &c->inval[put % GPUEMU_INVAL_RING];
	EXPECT_EQ((uintptr_t)self->mem + 2 * PAGE, i->start);
	EXPECT_EQ((uintptr_t)self->mem + 3 * PAGE, i->end);
	EXPECT_EQ(self->space, i->va_space);
	EXPECT_EQ(GPUEMU_INVAL_CPU_FAULT, i->reason);
	/* A page that is not on the device needs none. */
	self->mem[2 * PAGE + 1]++;
	EXPECT_EQ(put + 1, c->inval_put);
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, 4));
	EXPECT_EQ(put + 2, c->inval_put);
	i = &c->inval[(put + 1) % GPUEMU_INVAL_RING];
	EXPECT_EQ((uintptr_t)self->mem, i->start);
	EXPECT_EQ((uintptr_t)self->mem + 4 * PAGE, i->end);
	EXPECT_EQ(GPUEMU_INVAL_EVICT, i->reason);
}

static void *touch_later(void *p)
{
	(void)*(volatile uint8_t *)p;
	return NULL;
}

/* The CPU does not get the page before the engine has let go of it. */
TEST_F(invalidate, cpu_waits_for_the_engine)
{
	const struct gpuemu_control *c = self->e.control;
	uint32_t put = c->inval_put;
	uint8_t *page = engine_page(&self->e, self->space, self->mem);
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, touch_later, self->mem));
	while (__atomic_load_n(&c->inval_put, __ATOMIC_ACQUIRE) == put)
		usleep(100);
	sleep_ms(50);
	/* Still the engine's: what it writes now must not be lost. */
	page[7] ^= 0x55;
	self->copy[7] ^= 0x55;
	EXPECT_EQ(-EINVAL, engine_ack(&self->e, put + 2));
	EXPECT_EQ(0, engine_ack(&self->e, put));
	EXPECT_EQ(0, pthread_tryjoin_np(thread, NULL) == 0);
	EXPECT_EQ(0, engine_ack(&self->e, put + 1));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, memcmp(self->mem, self->copy, PAGE));
	engine_acker_start(&self->e);
}

/* Parked, the engine need not answer; and not parked any more, it must. */
TEST_F(invalidate, parked)
{
	uint32_t gen = generation(self->fd);
	uint64_t id, begin;
	int res;

	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	begin = now_ms();
	EXPECT_EQ(0, memcmp(self->mem, self->copy, PAGE));
	EXPECT_GT(TIMEOUT_MS, now_ms() - begin);
	EXPECT_EQ(gen, generation(self->fd));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_WAIT, 1000, &res));
	/* Running: the same touch takes the time-out, and the device. */
	begin = now_ms();
	EXPECT_EQ(0, memcmp(self->mem + PAGE, self->copy + PAGE, PAGE));
	EXPECT_LE(TIMEOUT_MS - 10, now_ms() - begin);
	EXPECT_EQ(0, generation(self->fd));
}

/* A new engine knows nothing yet and may take its time; from its first touch it must answer. */
static void new_engine(struct __test_metadata *_metadata, FIXTURE_DATA(invalidate) *self,
		       bool table)
{
	uint64_t begin;
	uint32_t gen;

	engine_close(&self->e);
	ASSERT_EQ(0, engine_open(&self->e));
	gen = generation(self->fd);
	ASSERT_NE(0, gen);
	/* Not with FETCH, which is the service thread's. */
	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	begin = now_ms();
	EXPECT_EQ(0, memcmp(self->mem, self->copy, PAGE));
	EXPECT_GT(TIMEOUT_MS, now_ms() - begin);
	EXPECT_EQ(gen, generation(self->fd));
	if (table) {
		EXPECT_NE(NULL, engine_page(&self->e, self->space, self->mem + PAGE));
	} else {
		EXPECT_EQ(0, touch(self->e.vram));
	}
	begin = now_ms();
	EXPECT_EQ(0, memcmp(self->mem + PAGE, self->copy + PAGE, PAGE));
	EXPECT_LE(TIMEOUT_MS - 10, now_ms() - begin);
	EXPECT_EQ(0, generation(self->fd));
}

TEST_F(invalidate, new_engine)
{
	new_engine(_metadata, self, false);
}

/* An entry that it has read it uses later, and its page must not have moved meanwhile. */
TEST_F(invalidate, new_engine_reads_an_entry)
{
	new_engine(_metadata, self, true);
}

/* Going to park answers for what was posted before. */
TEST_F(invalidate, parking_answers)
{
	const struct gpuemu_control *c = self->e.control;
	uint32_t put = c->inval_put;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, touch_later, self->mem));
	while (__atomic_load_n(&c->inval_put, __ATOMIC_ACQUIRE) == put)
		usleep(100);
	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	pthread_join(thread, NULL);
	EXPECT_NE(0, generation(self->fd));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, PAGE));
}

TEST_F(invalidate, not_acknowledged)
{
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	struct gpuemu_work_take take = { .size = sizeof(take) };
	uint64_t id, begin = now_ms(), took;
	struct gpuemu_wait wait;
	int res;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	/* FETCH does not park: the service thread is not the engine thread. */
	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	EXPECT_EQ(0, touch(self->e.vram));
	/* The client gets its page, a time-out later; all of them at once. */
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	took = now_ms() - begin;
	EXPECT_LE(TIMEOUT_MS - 10, took);
	EXPECT_GT(2 * TIMEOUT_MS, took);
	EXPECT_EQ(0, generation(self->fd));

	/* The engine has nothing any more. */
	EXPECT_EQ(SIGBUS, touch(self->e.vram));
	EXPECT_EQ(SIGBUS, touch(self->e.pt));
	EXPECT_EQ(SIGBUS, touch(self->e.faults));
	EXPECT_EQ(SIGBUS, touch(self->e.control));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, self->e.attach.vram_frames * PAGE,
				   PROT_READ | PROT_WRITE, MAP_SHARED,
				   self->e.fd, GPUEMU_MMAP_VRAM));
	EXPECT_EQ(ENODEV, errno);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_FETCH, 1000, &res));
	EXPECT_EQ(-ENODEV, res);
	engine_issue(&self->e, GPUEMU_URING_FETCH, 0, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_FETCH, 1000, &res));
	EXPECT_EQ(-ENODEV, res);
	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_WAIT, 1000, &res));
	EXPECT_EQ(-ENODEV, res);
	engine_issue(&self->e, GPUEMU_URING_RAISE, 0, GPUEMU_RAISE_EMPTY_OK);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_RAISE, 1000, &res));
	EXPECT_EQ(-ENODEV, res);
	EXPECT_EQ(-ENODEV, call(self->e.fd, GPUEMU_IOCTL_ENGINE_ACK, &ack));
	EXPECT_EQ(-ENODEV, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	/* Nor does the file become an engine again. */
	EXPECT_EQ(-EBUSY, engine_attach_fd(self->e.fd, &self->e.attach));
	EXPECT_EQ(0, client_wait(self->fd, id, 1000, &wait));
	EXPECT_EQ(-EIO, wait.status);
}

/* Unmapping what is on the device, from an engine that does not answer. */
TEST_F(invalidate, munmap_not_acknowledged)
{
	struct gpuemu_info info;
	uint64_t begin = now_ms();

	EXPECT_EQ(0, munmap(self->mem, PAGES * PAGE));
	EXPECT_GT(2 * TIMEOUT_MS, now_ms() - begin);
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_EQ(0, info.engine_generation);
	EXPECT_EQ(info.vram_bytes, info.vram_free_bytes);
}

/* A killed client does not wait for the engine, and nothing gets lost. */
TEST_F(invalidate, killed_while_waiting)
{
	int status, p[2];
	uint32_t put = self->e.control->inval_put, space;
	uint64_t word, addr, begin;
	volatile uint8_t *mem;
	pid_t pid;
	int fd;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	if (!pid) {
		fd = client_open();
		mem = map_managed(fd, PAGE);
		mem[0] = 1;
		engine_say(p[1], client_space(fd));
		engine_say(p[1], (uintptr_t)mem);
		while (mem[0] == 1)
			;
		_exit(0);
	}
	ASSERT_EQ(0, engine_hear(p[0], 2000, &word));
	space = word;
	ASSERT_EQ(0, engine_hear(p[0], 2000, &addr));
	ASSERT_EQ(0, engine_h2d(&self->e, space, (void *)(uintptr_t)addr, 1));
	while (__atomic_load_n(&self->e.control->inval_put, __ATOMIC_ACQUIRE) ==
	       put)
		usleep(100);
	begin = now_ms();
	kill(pid, SIGKILL);
	engine_acker_start(&self->e);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_GT(1000 * slowness(), now_ms() - begin);
	EXPECT_EQ(PAGES, self->e.attach.vram_frames -
		  self->e.control->vram_free);
}

/* More invalidates than the ring has entries. */
TEST_F(invalidate, many)
{
	uint32_t put = self->e.control->inval_put;
	int i;

	engine_acker_start(&self->e);
	for (i = 0; i < 1100; i++) {
		ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
		self->mem[0]++;
		self->copy[0]++;
	}
	EXPECT_EQ(put + 1100, self->e.control->inval_put);
	EXPECT_EQ(0, memcmp(self->mem, self->copy, PAGE));
}

TEST_HARNESS_MAIN
