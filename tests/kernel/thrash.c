// SPDX-License-Identifier: GPL-2.0
/*
 * Thrashing: pages that CPU and engine take from each other are found out, each
 * side keeps them for a while, and those that go on are said to be best left alone.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { PAGES = 16, LONG_US = 1000000, MS = 1000, TURNS = 8 };

#define STAT(name) knob_stat(GPUEMU_A_STATS_##name)

static const struct { const char *name; uint32_t value; } defaults[] = {
	{ "thrash_enable", 1 }, { "thrash_threshold", 3 },
	{ "thrash_pin_threshold", 10 }, { "thrash_lapse_us", 400000 },
	{ "thrash_nap_us", 1000 }, { "thrash_pin_ms", 10000 },
};

FIXTURE(thrash)
{
	struct engine e;
	int fd;
	uint32_t space;
	volatile uint8_t *mem;
};

/* Slow machines thrash, too; nobody waits and nothing is pinned unless asked for. */
FIXTURE_SETUP(thrash)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, PAGES * PAGE);
	ASSERT_NE(NULL, self->mem);
	/* The acker has a CPU less often where all is slow. The knob ends at ten seconds. */
	ASSERT_EQ(0, knob_set("invalidate_timeout_ms", slowness() > 1 ? 10000 : 5000));
	ASSERT_EQ(0, knob_set("thrash_lapse_us", 20000 * MS));
	ASSERT_EQ(0, knob_set("thrash_nap_us", 0));
	ASSERT_EQ(0, knob_set("thrash_pin_threshold", 0));
}

FIXTURE_TEARDOWN(thrash)
{
	size_t i;

	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		knob_set(defaults[i].name, defaults[i].value);
	close(self->fd);
	engine_close(&self->e);
}

/* What the fault on a page says; it is served if it is not to be left alone. */
static int gpu_wants(FIXTURE_DATA(thrash) *self, int page)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem + page * PAGE,
		.va_space = self->space, .pages = 1, .op = GPUEMU_MIGRATE_H2D,
	};
	int ret, flags;

	/* As after a replay: the CPU's own fault may be at work on the block. */
	do {
		engine_fault(&self->e, self->space, (void *)(uintptr_t)m.addr,
			     GPUEMU_ACCESS_WRITE);
		ret = engine_raise(&self->e, 0);
		if (ret != 1)
			return ret < 0 ? ret : -EIO;
		flags = self->e.control->batch.faults[0].flags;
		ret = engine_commit(&self->e, &m,
				    !(flags & GPUEMU_FAULT_THROTTLE));
	} while (ret >= 0 && m.status == -EAGAIN);
	return ret < 0 ? ret : m.status ? m.status : flags;
}

/*
 * After this the page is on the device and known to thrash. Three turns are enough, but the
 * module begins to count later if it finds no memory to count in: it takes none by reclaim.
 */
static int make_thrash(FIXTURE_DATA(thrash) *self, int page)
{
	uint64_t before = STAT(THRASHING_DETECTED);
	int i, ret;

	for (i = 0; i < TURNS; i++) {
		while ((ret = gpu_wants(self, page)) == GPUEMU_FAULT_THROTTLE)
			;
		if (ret || STAT(THRASHING_DETECTED) != before)
			return ret;
		self->mem[page * PAGE]++;
	}
	return -ETIME;
}

TEST_F(thrash, detected)
{
	uint64_t before = STAT(THRASHING_DETECTED);

	EXPECT_EQ(0, gpu_wants(self, 1));
	self->mem[PAGE]++;
	EXPECT_EQ(0, gpu_wants(self, 1));
	self->mem[PAGE]++;
	EXPECT_EQ(before, STAT(THRASHING_DETECTED));
	EXPECT_EQ(0, gpu_wants(self, 1));
	EXPECT_EQ(before + 1, STAT(THRASHING_DETECTED));
	self->mem[PAGE]++;
	EXPECT_EQ(0, gpu_wants(self, 1));
	EXPECT_EQ(before + 1, STAT(THRASHING_DETECTED));
	/* Its neighbours are not, nor do evictions count. */
	EXPECT_EQ(0, gpu_wants(self, 2));
	self->mem[2 * PAGE]++;
	EXPECT_EQ(0, gpu_wants(self, 2));
	EXPECT_EQ(0, engine_d2h(&self->e, self->space,
				(void *)(self->mem + 2 * PAGE), 1));
	EXPECT_EQ(0, gpu_wants(self, 2));
	EXPECT_EQ(0, engine_d2h(&self->e, self->space,
				(void *)(self->mem + 2 * PAGE), 1));
	EXPECT_EQ(0, gpu_wants(self, 2));
	EXPECT_EQ(before + 1, STAT(THRASHING_DETECTED));
	EXPECT_EQ(3, self->mem[PAGE]);
	EXPECT_EQ(1, self->mem[2 * PAGE]);
}

TEST_F(thrash, slow_is_not_thrashing)
{
	uint64_t before;
	int i;

	/* Of a block that is known for another page. */
	ASSERT_EQ(0, make_thrash(self, 2));
	before = STAT(THRASHING_DETECTED);
	ASSERT_EQ(0, knob_set("thrash_lapse_us", 1 * MS));
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(0, gpu_wants(self, 1));
		sleep_ms(10);
		self->mem[PAGE]++;
		sleep_ms(10);
	}
	EXPECT_EQ(before, STAT(THRASHING_DETECTED));
}

TEST_F(thrash, off)
{
	uint64_t before = STAT(THRASHING_DETECTED), naps = STAT(THROTTLES_CPU);
	int i;

	ASSERT_EQ(0, knob_set("thrash_nap_us", LONG_US));
	ASSERT_EQ(0, knob_set("thrash_pin_threshold", 1));
	ASSERT_EQ(0, knob_set("thrash_enable", 0));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, gpu_wants(self, 1));
		self->mem[PAGE]++;
	}
	EXPECT_EQ(before, STAT(THRASHING_DETECTED));
	EXPECT_EQ(naps, STAT(THROTTLES_CPU));
	EXPECT_EQ(20, self->mem[PAGE]);
}

/* Prefetching is no demand: a program that moves its data to and fro may. */
TEST_F(thrash, prefetches_do_not_count)
{
	uint64_t before = STAT(THRASHING_DETECTED);
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, engine_h2d(&self->e, self->space,
					(void *)self->mem, 1));
		self->mem[0]++;
	}
	EXPECT_EQ(before, STAT(THRASHING_DETECTED));
}

TEST_F(thrash, gpu_is_throttled)
{
	uint64_t before = STAT(THROTTLES_GPU);
	uint64_t start;
	uint8_t old;

	ASSERT_EQ(0, make_thrash(self, 3));
	ASSERT_EQ(0, knob_set("thrash_nap_us", 300 * MS));
	old = ++self->mem[3 * PAGE];
	start = now_ms();
	EXPECT_EQ(GPUEMU_FAULT_THROTTLE, gpu_wants(self, 3));
	EXPECT_EQ(before + 1, STAT(THROTTLES_GPU));
	EXPECT_EQ(NULL, engine_page(&self->e, self->space,
				    (void *)(self->mem + 3 * PAGE)));
	while (gpu_wants(self, 3)) {
		ASSERT_GT(3000, now_ms() - start);
	}
	EXPECT_LE(250, now_ms() - start);
	EXPECT_NE(NULL, engine_page(&self->e, self->space,
				    (void *)(self->mem + 3 * PAGE)));
	EXPECT_EQ(old, self->mem[3 * PAGE]);
}

struct mapper {
	uint64_t longest;
	uint32_t rounds;
	bool stop;
};

/* This waits while another thread holds mmap_lock. */
static void *map_and_unmap(void *arg)
{
	struct mapper *m = arg;
	uint64_t start;
	void *p;

	while (!__atomic_load_n(&m->stop, __ATOMIC_ACQUIRE)) {
		start = now_ms();
		p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		munmap(p, PAGE);
		if (now_ms() - start > m->longest)
			m->longest = now_ms() - start;
		m->rounds++;
		usleep(1000);
	}
	return NULL;
}

/*
 * The nap begins when the page gets to the device. The machine may stand still before the CPU
 * touches it: the test takes that time off, and tries another page if it was half of the nap.
 */
TEST_F(thrash, cpu_is_throttled)
{
	uint64_t before = STAT(THROTTLES_CPU), begun, start = 0, late = LONG_US;
	struct mapper mapper = { 0 };
	pthread_t thread;
	int page = 3;
	uint8_t old;

	ASSERT_EQ(0, pthread_create(&thread, NULL, map_and_unmap, &mapper));
	while (late > 500) {
		ASSERT_GT(PAGES, ++page);
		ASSERT_EQ(0, knob_set("thrash_nap_us", 0));
		begun = now_ms();
		ASSERT_EQ(0, make_thrash(self, page));
		ASSERT_EQ(0, knob_set("thrash_nap_us", LONG_US));
		start = now_ms();
		late = start - begun;
	}
	old = self->mem[page * PAGE];
	EXPECT_LE(950 - late, now_ms() - start);
	EXPECT_GT(5000, now_ms() - start);
	EXPECT_EQ(before + 1, STAT(THROTTLES_CPU));
	__atomic_store_n(&mapper.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_LT(10, mapper.rounds);
	EXPECT_GT(500, mapper.longest);
	EXPECT_LE(2, old);
}

/* A client that sleeps in its fault is killed at once, and so is its mapping. */
TEST_F(thrash, sleeper_is_killed)
{
	FIXTURE_DATA(thrash) other = { .e = self->e };
	uint64_t before = STAT(THRASHING_DETECTED), word, start;
	int up[2], down[2], turn;
	pid_t pid;

	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	pid = fork();
	if (!pid) {
		int fd = client_open(), i;
		volatile uint8_t *mem = map_managed(fd, PAGE);

		engine_say(up[1], client_space(fd));
		engine_say(up[1], (uintptr_t)mem);
		for (i = 0; i < TURNS; i++) {
			engine_hear(down[0], 10000, &word);
			mem[0]++;
			engine_say(up[1], i);
		}
		_exit(0);
	}
	ASSERT_EQ(0, engine_hear(up[0], 5000, &word));
	other.space = word;
	ASSERT_EQ(0, engine_hear(up[0], 5000, &word));
	other.mem = (volatile uint8_t *)(uintptr_t)word;
	/* One thread acknowledges for both: the file is the same. */
	for (turn = 0; turn < TURNS; turn++) {
		ASSERT_EQ(0, gpu_wants(&other, 0));
		if (STAT(THRASHING_DETECTED) != before)
			break;
		engine_say(down[1], 0);
		ASSERT_EQ(0, engine_hear(up[0], 5000, &word));
	}
	ASSERT_GT(TURNS, turn);
	ASSERT_EQ(0, knob_set("thrash_nap_us", LONG_US));
	self->e = other.e;
	engine_say(down[1], 0);
	start = now_ms();
	EXPECT_EQ(-ETIMEDOUT, engine_hear(up[0], 100, &word));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_GT(700, now_ms() - start);
}

/* System calls sleep as loads do, and what may not sleep goes on. */
TEST_F(thrash, system_calls)
{
	uint8_t copy[2] = { 0 }, again[2] = { 0 };
	struct iovec to = { copy, 2 };
	struct iovec from = { (void *)(self->mem + 5 * PAGE), 2 };
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, knob_set("thrash_nap_us", 50 * MS));
	ASSERT_EQ(0, make_thrash(self, 5));
	ASSERT_EQ(2, process_vm_readv(getpid(), &to, 1, &from, 1, 0));
	EXPECT_LE(2, copy[0]);
	while (gpu_wants(self, 5))
		;
	ASSERT_EQ(2, write(pipes[1], from.iov_base, 2));
	ASSERT_EQ(2, read(pipes[0], again, 2));
	EXPECT_EQ(copy[0], again[0]);
	close(pipes[0]);
	close(pipes[1]);
}

TEST_F(thrash, pinned_for_a_time)
{
	uint64_t pins = STAT(THRASHING_PINS), unpins = STAT(THRASHING_UNPINS);
	uint64_t start;
	int i, flags = 0;

	ASSERT_EQ(0, knob_set("thrash_pin_threshold", 6));
	ASSERT_EQ(0, knob_set("thrash_pin_ms", 800));
	for (i = 0; i < 20 && !flags; i++) {
		self->mem[6 * PAGE]++;
		flags = gpu_wants(self, 6);
	}
	start = now_ms();
	EXPECT_EQ(GPUEMU_FAULT_PIN, flags);
	EXPECT_LT(3, i);
	EXPECT_GT(7, i);
	EXPECT_EQ(pins + 1, STAT(THRASHING_PINS));
	self->mem[6 * PAGE]++;
	EXPECT_EQ(GPUEMU_FAULT_PIN, gpu_wants(self, 6));
	/* The other pages of the block are not. */
	EXPECT_EQ(0, gpu_wants(self, 7));
	while (STAT(THRASHING_UNPINS) == unpins) {
		ASSERT_GT(5000, now_ms() - start);
	}
	EXPECT_LE(700, now_ms() - start);
	EXPECT_EQ(unpins + 1, STAT(THRASHING_UNPINS));
	self->mem[6 * PAGE]++;
	/* It begins anew. */
	EXPECT_EQ(0, gpu_wants(self, 6));
	EXPECT_EQ(pins + 1, STAT(THRASHING_PINS));
	EXPECT_EQ(i + 2, self->mem[6 * PAGE]);
}

/* What is unmapped is forgotten, pinned or not; so is what a client leaves behind. */
/* The mapping that the hint asked for ends with it. */
TEST_F(thrash, pinned_and_mapped_remotely)
{
	uint64_t unpins = STAT(THRASHING_UNPINS), start;
	void *addr = (void *)(self->mem + 6 * PAGE);
	int i, flags = 0;

	ASSERT_EQ(0, knob_set("thrash_pin_threshold", 6));
	ASSERT_EQ(0, knob_set("thrash_pin_ms", 800));
	for (i = 0; i < 20 && !flags; i++) {
		self->mem[6 * PAGE]++;
		flags = gpu_wants(self, 6);
	}
	ASSERT_EQ(GPUEMU_FAULT_PIN, flags);
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, addr, 2, GPUEMU_MIGRATE_REMOTE));
	EXPECT_TRUE(engine_entry(&self->e, self->space, addr) & GPUEMU_PTE_REMOTE);
	start = now_ms();
	while (STAT(THRASHING_UNPINS) == unpins)
		ASSERT_GT(5000, now_ms() - start);
	while (engine_entry(&self->e, self->space, addr))
		ASSERT_GT(5000, now_ms() - start);
	/* Its neighbour was mapped for another reason. */
	EXPECT_TRUE(engine_entry(&self->e, self->space, (char *)addr + PAGE) &
		    GPUEMU_PTE_REMOTE);
	EXPECT_EQ(i, self->mem[6 * PAGE]);
	EXPECT_EQ(0, gpu_wants(self, 6));
	EXPECT_EQ(i, self->mem[6 * PAGE]);
}

TEST_F(thrash, unmapped)
{
	int i, flags = 0;

	ASSERT_EQ(0, knob_set("thrash_pin_threshold", 4));
	ASSERT_EQ(0, knob_set("thrash_pin_ms", 0));
	for (i = 0; i < 20 && !flags; i++) {
		self->mem[8 * PAGE]++;
		flags = gpu_wants(self, 8);
	}
	ASSERT_EQ(GPUEMU_FAULT_PIN, flags);
	ASSERT_EQ(0, munmap((void *)(self->mem + 8 * PAGE), PAGE));
	ASSERT_NE(NULL, map_managed_at(self->fd, (void *)(self->mem + 8 * PAGE),
				       PAGE));
	EXPECT_EQ(0, gpu_wants(self, 8));
	self->mem[8 * PAGE]++;
	EXPECT_EQ(0, gpu_wants(self, 8));
	EXPECT_EQ(1, self->mem[8 * PAGE]);
	for (i = 0, flags = 0; i < 20 && !flags; i++) {
		self->mem[9 * PAGE]++;
		flags = gpu_wants(self, 9);
	}
	EXPECT_EQ(GPUEMU_FAULT_PIN, flags);
}

struct writer {
	volatile uint32_t *word;
	bool stop;
	uint32_t done;
};

static void *write_word(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(w->word, 1, __ATOMIC_RELAXED);
		w->done++;
	}
	return NULL;
}

/* Both sides add one to the page's words as fast as they can: pages that moved. */
static uint64_t fight(struct __test_metadata *_metadata,
		      FIXTURE_DATA(thrash) *self, int page, uint32_t *gpu)
{
	struct writer w = {
		.word = (volatile uint32_t *)(self->mem + page * PAGE),
	};
	uint64_t before = STAT(H2D_PAGES), end = now_ms() + 1000;
	uint32_t *there;
	pthread_t thread;

	*gpu = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_word, &w));
	while (now_ms() < end) {
		ASSERT_LE(0, gpu_wants(self, page));
		/* It stays while nobody acknowledges. */
		engine_acker_stop(&self->e);
		there = engine_page(&self->e, self->space, (void *)w.word);
		if (there) {
			there[1]++;
			++*gpu;
		}
		engine_acker_start(&self->e);
		engine_ack(&self->e, self->e.control->inval_put);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	EXPECT_EQ(w.done, w.word[0]);
	EXPECT_EQ(*gpu, w.word[1]);
	return STAT(H2D_PAGES) - before;
}

TEST_F(thrash, throttling_saves_migrations)
{
	uint64_t detected = STAT(THRASHING_DETECTED), without, with;
	uint32_t gpu, gpu_throttled;

	ASSERT_EQ(0, knob_set("thrash_nap_us", 40 * MS));
	ASSERT_EQ(0, knob_set("thrash_enable", 0));
	without = fight(_metadata, self, 10, &gpu);
	EXPECT_EQ(detected, STAT(THRASHING_DETECTED));
	/* On a slow kernel the CPU may take it back each time, before it is used. */
	if (slowness() == 1)
		EXPECT_LT(0, gpu);
	ASSERT_EQ(0, knob_set("thrash_enable", 1));
	with = fight(_metadata, self, 11, &gpu_throttled);
	EXPECT_EQ(detected + 1, STAT(THRASHING_DETECTED));
	EXPECT_LT(0, gpu_throttled);
	EXPECT_LT(3, with);
	/* Of an access; a slow kernel moves less often without than a nap lets it. */
	EXPECT_GT(without * gpu_throttled, 2 * with * (gpu ? gpu : 1));
	TH_LOG("%llu migrations without, %llu with; the GPU added %u and %u",
	       (unsigned long long)without, (unsigned long long)with, gpu,
	       gpu_throttled);
}

TEST_HARNESS_MAIN
