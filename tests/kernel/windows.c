// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=1 enable_tests=1 timeout=120
 *
 * An engine that dies in the middle of what other tasks do to its entries. Pauses hold
 * each task where it has cleared or changed entries and the engine has not been told,
 * or is lost and still has its mappings.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum {
	PAGES = 8,
	/* Longer than any step takes: a pause is ended, it does not run out. */
	PAUSE = 10000,
};

#define BITS (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_READ_ONLY)
#define READ_ONLY (GPUEMU_PTE_VALID | GPUEMU_PTE_READ_ONLY)

/* What the engine's process is to do, and what it did. */
struct shared {
	uint32_t space;
	uint8_t *mem;
	uint32_t first;		/* what it commits before it says so, or 0 */
	uint32_t then;		/* when it is told to */
	uint64_t written;	/* what its second thread wrote last */
	atomic_bool close;	/* its third thread is to close the device */
};

FIXTURE(windows)
{
	struct nl nl;
	struct engine_process p;
	struct shared *shared;
	int fd;
	uint8_t *mem;
	pthread_t thread;
};

FIXTURE_SETUP(windows)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	self->shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
	self->fd = client_open();
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	memset(self->mem, 7, PAGES * PAGE);
	self->shared->space = client_space(self->fd);
	self->shared->mem = self->mem;
}

FIXTURE_TEARDOWN(windows)
{
	munmap(self->mem, BLOCK);
	munmap(self->shared, PAGE);
	close(self->fd);
	nl_close(&self->nl);
}

static int inject(FIXTURE_DATA(windows) *self, uint32_t what, uint32_t count)
{
	return nl_inject(&self->nl, what, count);
}

/* Whether so many tasks came to a pause, in a while. */
static bool paused(uint64_t injected)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (knob_stat(GPUEMU_A_STATS_INJECTED) >= injected)
			return true;
		sleep_ms(10);
	}
	return false;
}

static int move(struct engine *e, const struct shared *s, uint32_t op)
{
	return engine_migrate(e, s->space, s->mem, PAGES, op);
}

static sigjmp_buf lost;
static __thread bool counts;

/* A lost engine's threads have no mapping any more. Only the one that counts has more to do. */
static void on_bus(int signal)
{
	if (counts)
		siglongjmp(lost, 1);
	for (;;)
		pause();
}

struct counter {
	struct shared *shared;
	volatile uint64_t *word;
};

/* Writes the page in device memory for as long as the engine has it. */
static void *count(void *arg)
{
	struct counter *c = arg;
	uint64_t n = 0;

	if (sigsetjmp(lost, 1))
		return NULL;
	counts = true;
	for (;;) {
		*c->word = ++n;
		__atomic_store_n(&c->shared->written, n, __ATOMIC_RELEASE);
	}
}

struct closer {
	struct shared *shared;
	struct engine *e;
};

/* An engine without a descriptor of the device is lost. */
static void *close_device(void *arg)
{
	struct closer *c = arg;

	while (!c->shared->close)
		sleep_ms(1);
	close(c->e->fd);
	return NULL;
}

/* The engine's process. It ends with the test's SIGKILL, or when it lost the device. */
static int serve(struct engine *e, int from, int to, void *arg)
{
	struct shared *s = arg;
	struct counter c = { .shared = s };
	struct closer closer = { .shared = s, .e = e };
	pthread_t thread, closing;
	uint64_t word;

	engine_acker_start(e);
	if (s->first && move(e, s, s->first))
		return 1;
	if (s->then == GPUEMU_MIGRATE_DUPLICATE) {
		signal(SIGBUS, on_bus);
		c.word = engine_page(e, s->space, s->mem);
		if (!c.word || pthread_create(&thread, NULL, count, &c))
			return 2;
		/* Its first write maps the page, which it cannot while the engine is being lost. */
		while (!__atomic_load_n(&s->written, __ATOMIC_ACQUIRE))
			sleep_ms(1);
	}
	if (pthread_create(&closing, NULL, close_device, &closer))
		return 3;
	engine_say(to, 1);
	engine_hear(from, 60000, &word);
	move(e, s, s->then);
	if (c.word)
		pthread_join(thread, NULL);
	engine_say(to, 2);
	return 0;
}

static void start(struct __test_metadata *_metadata, FIXTURE_DATA(windows) *self,
		  uint32_t first, uint32_t then)
{
	uint64_t word;

	self->shared->first = first;
	self->shared->then = then;
	ASSERT_EQ(0, engine_spawn(&self->p, serve, self->shared));
	ASSERT_EQ(0, engine_hear(self->p.from, 20000, &word));
}

/* The engine is lost from now on, and has its mappings until the pause is ended. */
static void lose(struct __test_metadata *_metadata, FIXTURE_DATA(windows) *self,
		 uint64_t injected)
{
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_REVOKE, PAUSE));
	self->shared->close = true;
	ASSERT_TRUE(paused(injected));
}

/* Its commit, which waits for the revocation, is given up. */
static void kill_in_commit(struct __test_metadata *_metadata,
			   FIXTURE_DATA(windows) *self, uint64_t injected)
{
	lose(_metadata, self, injected);
	kill(self->p.pid, SIGKILL);
	sleep_ms(200);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE, 0));
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_REVOKE, 0));
	engine_kill(&self->p);
}

static void *unmap_half(void *mem)
{
	return (void *)(intptr_t)munmap(mem, PAGES / 2 * PAGE);
}

static uint64_t bits(struct engine *e, const struct shared *s, size_t page)
{
	return engine_entry(e, s->space, s->mem + page * PAGE) & BITS;
}

/*
 * Half of some remote mapped pages is being unmapped: the entries are cleared, the slots
 * not free yet. An eviction of all of them is given up, as the engine is killed in
 * it: it may bring back the entries of what is still mapped, and no other.
 */
TEST_F(windows, an_eviction_is_given_up_in_a_munmap)
{
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	struct engine e;
	void *ret;
	size_t i;

	start(_metadata, self, GPUEMU_MIGRATE_REMOTE, GPUEMU_MIGRATE_D2H);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_CLOSE, PAUSE));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, unmap_half, self->mem));
	ASSERT_TRUE(paused(before + 1));
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE, PAUSE));
	engine_say(self->p.to, 1);
	ASSERT_TRUE(paused(before + 2));
	kill_in_commit(_metadata, self, before + 3);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_CLOSE, 0));
	pthread_join(self->thread, &ret);
	EXPECT_EQ(NULL, ret);

	ASSERT_EQ(0, engine_open(&e));
	for (i = 0; i < PAGES / 2; i++)
		EXPECT_EQ(0, bits(&e, self->shared, i)) TH_LOG("page %zu", i);
	engine_acker_start(&e);
	ASSERT_EQ(0, engine_migrate(&e, self->shared->space,
				    self->mem + PAGES / 2 * PAGE, PAGES / 2,
				    GPUEMU_MIGRATE_D2H));
	EXPECT_EQ(7, self->mem[(PAGES - 1) * PAGE]);
	engine_close(&e);
}

/* Of a duplicate it brings back an entry that may only read. */
TEST_F(windows, an_eviction_of_duplicates_is_given_up)
{
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	struct engine e;
	size_t i;

	start(_metadata, self, GPUEMU_MIGRATE_DUPLICATE, GPUEMU_MIGRATE_D2H);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE, PAUSE));
	engine_say(self->p.to, 1);
	ASSERT_TRUE(paused(before + 1));
	kill_in_commit(_metadata, self, before + 2);

	ASSERT_EQ(0, engine_open(&e));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(READ_ONLY, bits(&e, self->shared, i)) TH_LOG("page %zu", i);
	engine_acker_start(&e);
	EXPECT_EQ(7, self->mem[0]);
	self->mem[0] = 8;
	EXPECT_EQ(0, bits(&e, self->shared, 0));
	engine_close(&e);
}

/*
 * A page on the device becomes a duplicate while the engine, which writes it, is lost
 * and has not noticed: the copy waits until the engine has no frame any more.
 */
TEST_F(windows, a_lost_engine_writes_what_is_duplicated)
{
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED), word;

	start(_metadata, self, GPUEMU_MIGRATE_H2D, GPUEMU_MIGRATE_DUPLICATE);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE, PAUSE));
	engine_say(self->p.to, 1);
	ASSERT_TRUE(paused(before + 1));
	lose(_metadata, self, before + 2);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_INVALIDATE, 0));
	sleep_ms(300);
	ASSERT_EQ(0, inject(self, GPUEMU_INJECT_WHAT_PAUSE_REVOKE, 0));
	ASSERT_EQ(0, engine_hear(self->p.from, 20000, &word));
	EXPECT_EQ(2, word);
	memcpy(&word, self->mem, sizeof(word));
	EXPECT_EQ(self->shared->written, word);
	engine_kill(&self->p);
}

TEST_HARNESS_MAIN
