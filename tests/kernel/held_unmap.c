// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 enable_tests=1 timeout=120
 *
 * A client gives up pages in system memory that the engine has mapped, and is put off while it
 * unmaps them from the engine, as a SCHED_IDLE task beside one that computes is. A pause holds
 * it there. It keeps the other clients from nothing: the engine maps pages of theirs, finds
 * them in its aperture and takes them to the device meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/mirrors.h"
#include "lib/nl.h"
#include "lib/pageable.h"
#include "lib/slow.h"

enum {
	PAGES = 8,
	/* ms: far more than a commit takes, and less than the client is held */
	SOON = 2000,
	HELD = 10000,
};

/* A client in a process of its own, so that no mmap_lock is shared. */
struct slow {
	pid_t pid;
	int to, from;
	uint64_t space, mem;
};

FIXTURE(unmap)
{
	struct nl nl;
	struct engine e;
	struct slow slow;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

static void stir(volatile uint8_t *mem)
{
	for (size_t i = 0; i < PAGES; i++)
		mem[i * PAGE] = i + 1;
}

/* Says its space and where its pages are; unmaps them when it is told to. */
static int be_slow(int to, int from, bool ordinary)
{
	int fd = client_open();
	uint64_t go;
	uint8_t *mem;

	if (ordinary && pageable_give(fd))
		return 1;
	mem = ordinary ? map_anonymous(BLOCK) : map_managed(fd, BLOCK);
	if (!mem)
		return 1;
	stir(mem);
	if (engine_say(to, client_space(fd)) || engine_say(to, (uintptr_t)mem) ||
	    engine_hear(from, 60000 * slowness(), &go))
		return 1;
	return munmap(mem, BLOCK) ? 1 : 0;
}

static int slow_start(struct slow *s, bool ordinary)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		return -errno;
	s->pid = fork();
	if (s->pid < 0)
		return -errno;
	if (!s->pid)
		_exit(be_slow(from[1], to[0], ordinary));
	close(to[0]);
	close(from[1]);
	s->to = to[1];
	s->from = from[0];
	return engine_hear(s->from, 10000 * slowness(), &s->space) ?:
	       engine_hear(s->from, 10000 * slowness(), &s->mem);
}

static int slow_end(struct slow *s)
{
	int status;

	if (!s->pid || waitpid(s->pid, &status, 0) != s->pid)
		return -1;
	s->pid = 0;
	close(s->to);
	close(s->from);
	return status;
}

FIXTURE_SETUP(unmap)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	stir(self->mem);
}

FIXTURE_TEARDOWN(unmap)
{
	nl_inject(&self->nl, GPUEMU_INJECT_WHAT_PAUSE_UNMAP, 0);
	if (self->slow.pid)
		slow_end(&self->slow);
	munmap(self->mem, BLOCK);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static bool injected(uint64_t count)
{
	for (int i = 0; i < 1000 && knob_stat(GPUEMU_A_STATS_INJECTED) < count; i++)
		sleep_ms(10);
	return knob_stat(GPUEMU_A_STATS_INJECTED) == count;
}

/* The slow client's pages are mapped for the engine, which has used them; it is to unmap them. */
static int hold(FIXTURE_DATA(unmap) *self)
{
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	void *mem = (void *)(uintptr_t)self->slow.mem;
	const uint8_t *page;
	int ret, i;

	for (i = 0; i < 1000; i++) {
		ret = engine_migrate(&self->e, self->slow.space, mem, PAGES,
				     GPUEMU_MIGRATE_REMOTE);
		if (ret != -EAGAIN)
			break;
		sleep_ms(1);
	}
	if (ret)
		return ret;
	for (i = 0; i < PAGES; i++) {
		page = engine_page(&self->e, self->slow.space, mem + i * PAGE);
		if (!page || *(const volatile uint8_t *)page != i + 1)
			return -EIO;
	}
	ret = nl_inject(&self->nl, GPUEMU_INJECT_WHAT_PAUSE_UNMAP, HELD) ?:
	      engine_say(self->slow.to, 1);
	if (ret)
		return ret;
	return injected(before + 1) ? 0 : -ETIME;
}

/* Memory of this process; a worker may have to find it first. */
static int take(FIXTURE_DATA(unmap) *self, const uint8_t *mem, enum gpuemu_migration_op op)
{
	uint64_t begin = now_ms();
	int ret;

	do {
		ret = engine_migrate(&self->e, self->space, mem, PAGES, op);
	} while (ret == -EAGAIN && now_ms() - begin < 2 * HELD);
	return ret;
}

/* The engine uses a block where it is, and then has its pages on the device. Takes ms. */
static uint64_t use_others(FIXTURE_DATA(unmap) *self, const uint8_t *mem, int *wrong)
{
	uint64_t begin = now_ms();
	int i;

	*wrong = take(self, mem, GPUEMU_MIGRATE_REMOTE);
	for (i = 0; i < PAGES && !*wrong; i++)
		*wrong = *(volatile uint8_t *)engine_page(&self->e, self->space,
							  mem + i * PAGE) != i + 1;
	*wrong = *wrong ?: take(self, mem, GPUEMU_MIGRATE_H2D);
	return now_ms() - begin;
}

static void let_go(FIXTURE_DATA(unmap) *self, struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, waitpid(self->slow.pid, NULL, WNOHANG));
	EXPECT_EQ(0, nl_inject(&self->nl, GPUEMU_INJECT_WHAT_PAUSE_UNMAP, 0));
	EXPECT_EQ(0, slow_end(&self->slow));
}

TEST_F(unmap, managed_memory)
{
	int wrong;

	ASSERT_EQ(0, slow_start(&self->slow, false));
	ASSERT_EQ(0, hold(self));
	EXPECT_GT(SOON * slowness(), use_others(self, self->mem, &wrong));
	EXPECT_EQ(0, wrong);
	let_go(self, _metadata);
}

TEST_F(unmap, ordinary_memory)
{
	uint8_t *mem = map_anonymous(BLOCK);
	int ret = pageable_give(self->fd), wrong;

	if (ret == -EOPNOTSUPP && !kernel_mirrors())
		SKIP(return, "this kernel has no CONFIG_DEVICE_PRIVATE");
	ASSERT_EQ(0, ret);
	stir(mem);
	/* The block is known, and its pages are home again. */
	ASSERT_EQ(0, take(self, mem, GPUEMU_MIGRATE_H2D));
	ASSERT_EQ(0, take(self, mem, GPUEMU_MIGRATE_D2H));
	ASSERT_EQ(0, slow_start(&self->slow, true));
	ASSERT_EQ(0, hold(self));
	EXPECT_GT(SOON * slowness(), use_others(self, mem, &wrong));
	EXPECT_EQ(0, wrong);
	EXPECT_GT(SOON * slowness(), use_others(self, self->mem, &wrong));
	EXPECT_EQ(0, wrong);
	let_go(self, _metadata);
	munmap(mem, BLOCK);
}

TEST_HARNESS_MAIN
