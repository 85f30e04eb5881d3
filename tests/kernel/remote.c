// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=1
 *
 * Remote mapping: pages that the engine uses where they are, in system memory, at
 * the same time as the CPU; and each way in which they are taken from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/nl.h"

enum { PAGES = 8, SLOTS = 256, MANY = 300 };

#define BITS (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_READ_ONLY)

FIXTURE(remote)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[PAGES * PAGE];
};

static int open_client(FIXTURE_DATA(remote) *self)
{
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, 2 * BLOCK);
	if (!self->mem)
		return -ENOMEM;
	fill(self->copy, sizeof(self->copy), 31);
	memcpy(self->mem, self->copy, sizeof(self->copy));
	return 0;
}

FIXTURE_SETUP(remote)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(SLOTS, self->e.attach.remote_slots);
	ASSERT_EQ(0, open_client(self));
}

FIXTURE_TEARDOWN(remote)
{
	munmap(self->mem, 2 * BLOCK);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int to_remote(FIXTURE_DATA(remote) *self, size_t page, uint32_t pages)
{
	return engine_migrate(&self->e, self->space, self->mem + page * PAGE,
			      pages, GPUEMU_MIGRATE_REMOTE);
}

static uint64_t entry(FIXTURE_DATA(remote) *self, size_t page)
{
	return engine_entry(&self->e, self->space, self->mem + page * PAGE);
}

static uint8_t *gpu(FIXTURE_DATA(remote) *self, size_t page)
{
	return engine_page(&self->e, self->space, self->mem + page * PAGE);
}

static uint64_t count(FIXTURE_DATA(remote) *self, int counter)
{
	return nl_stat(&self->nl, self->space, counter);
}

#define COUNT(name) count(self, GPUEMU_A_STATS_##name)

/* All pages as they must be, on whatever side they are. */
static bool intact(FIXTURE_DATA(remote) *self)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (gpu(self, i) && memcmp(gpu(self, i), self->copy + i * PAGE, PAGE))
			return false;
	return !memcmp(self->mem, self->copy, sizeof(self->copy));
}

TEST_F(remote, both_at_once)
{
	volatile uint8_t *g;
	uint64_t before;
	int i;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	EXPECT_EQ(PAGES, engine_remote(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(0, entry(self, PAGES));
	for (i = 0; i < PAGES; i++) {
		before = entry(self, i);
		EXPECT_EQ(GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE, before & BITS);
		EXPECT_GT(SLOTS, before >> GPUEMU_PTE_SHIFT);
		g = gpu(self, i);
		EXPECT_EQ(0, memcmp((void *)g, self->copy + i * PAGE, PAGE));
		/* Each sees at once what the other writes. */
		self->mem[i * PAGE + 5] = 0x11 + i;
		EXPECT_EQ(0x11 + i, g[5]);
		g[6] = 0x77 - i;
		EXPECT_EQ(0x77 - i, ((volatile uint8_t *)self->mem)[i * PAGE + 6]);
		EXPECT_EQ(before, entry(self, i));
	}
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPS));
	EXPECT_EQ(PAGES, COUNT(SYSTEM_PAGES));
	EXPECT_EQ(PAGES, COUNT(CPU_FAULTS));
	EXPECT_EQ(0, COUNT(H2D_PAGES));
	EXPECT_EQ(0, COUNT(D2H_PAGES));
	EXPECT_EQ(0, COUNT(INVALIDATES));
	EXPECT_EQ(self->e.attach.vram_frames, self->e.control->vram_free);
	/* Again: nothing to do. */
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPS));
}

TEST_F(remote, never_touched)
{
	ASSERT_EQ(0, to_remote(self, 20, 2));
	EXPECT_TRUE(managed_zero(gpu(self, 20), PAGE));
	gpu(self, 21)[9] = 9;
	EXPECT_EQ(9, self->mem[21 * PAGE + 9]);
	EXPECT_TRUE(managed_zero(self->mem + 20 * PAGE, PAGE));
	EXPECT_EQ(PAGES + 2, COUNT(SYSTEM_PAGES));
}

/* It comes home first, with what the GPU wrote. */
TEST_F(remote, from_the_device)
{
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	gpu(self, 3)[100] = self->copy[3 * PAGE + 100] = 42;
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	EXPECT_EQ(PAGES, engine_remote(&self->e, self->space, self->mem, PAGES));
	EXPECT_TRUE(intact(self));
	EXPECT_EQ(PAGES, COUNT(D2H_PAGES));
	EXPECT_EQ(0, COUNT(EVICTIONS));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(self->e.attach.vram_frames, self->e.control->vram_free);
}

/* The slot shows nobody's page, also to an engine that has not noticed. */
static void expect_gone(struct __test_metadata *_metadata,
			FIXTURE_DATA(remote) *self, const uint8_t *slot)
{
	EXPECT_EQ(SIGBUS, signal_of((uint8_t *)slot, false));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
}

TEST_F(remote, to_the_device)
{
	uint8_t *slot;
	int i;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	for (i = 0; i < PAGES; i++)
		gpu(self, i)[7] = self->copy[i * PAGE + 7] = 3 * i;
	slot = gpu(self, 2);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(PAGES, engine_resident(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(GPUEMU_PTE_VALID, entry(self, 2) & BITS);
	expect_gone(_metadata, self, slot);
	EXPECT_EQ(PAGES, COUNT(H2D_PAGES));
	EXPECT_TRUE(intact(self));
	EXPECT_EQ(PAGES, COUNT(D2H_PAGES));
}

/* The CPU's mapping is not disturbed: no fault of it afterwards. */
TEST_F(remote, dropped)
{
	struct gpuemu_invalidate *inval;
	uint64_t faults;
	uint8_t *slot;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	slot = gpu(self, 5);
	slot[0] = self->copy[5 * PAGE] = 1;
	faults = COUNT(CPU_FAULTS);
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(0, entry(self, 5));
	expect_gone(_metadata, self, slot);
	EXPECT_TRUE(intact(self));
	EXPECT_EQ(faults, COUNT(CPU_FAULTS));
	EXPECT_EQ(0, COUNT(D2H_PAGES));
	EXPECT_EQ(0, COUNT(EVICTIONS));
	/* The engine was told, and of these pages. */
	inval = &self->e.control->inval[(self->e.control->inval_put - 1) %
					GPUEMU_INVAL_RING];
	EXPECT_EQ(GPUEMU_INVAL_REMAP, inval->reason);
	EXPECT_EQ((uintptr_t)self->mem, inval->start);
	EXPECT_EQ((uintptr_t)self->mem + PAGES * PAGE, inval->end);
}

/* Nobody acknowledges, and the engine is not parked: it must not see the page. */
TEST_F(remote, forgotten_before_it_goes)
{
	uint8_t *slot;

	ASSERT_EQ(0, to_remote(self, 0, 1));
	slot = gpu(self, 0);
	EXPECT_EQ(self->copy[0], slot[0]);
	engine_acker_stop(&self->e);
	ASSERT_EQ(0, munmap(self->mem, PAGE));
	EXPECT_EQ(SIGBUS, signal_of((uint8_t *)self->e.vram, false));
	EXPECT_EQ(SIGBUS, signal_of(slot, false));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
}

TEST_F(remote, munmap)
{
	uint8_t *slot, *kept;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	slot = gpu(self, 1);
	kept = gpu(self, 2);
	slot[0] = kept[0];
	ASSERT_EQ(0, munmap(self->mem, 2 * PAGE));
	EXPECT_EQ(SIGBUS, signal_of(slot, false));
	EXPECT_EQ(PAGES - 2, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(PAGES - 2, engine_remote(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(kept, gpu(self, 2));
	EXPECT_EQ(0, memcmp(kept + 1, self->copy + 2 * PAGE + 1, PAGE - 1));
	/* Mapped anew it is another page. */
	ASSERT_NE(NULL, map_managed_at(self->fd, self->mem, 2 * PAGE));
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	EXPECT_TRUE(managed_zero(gpu(self, 1), PAGE));
}

TEST_F(remote, the_clients_end)
{
	uint64_t before = nl_stat(&self->nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED);
	uint8_t *slot;

	EXPECT_EQ(0, before);
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, self->mem + BLOCK,
				    1, GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(PAGES + 1, nl_stat(&self->nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED));
	slot = gpu(self, 0);
	slot[0] = 1;
	close(self->fd);
	munmap(self->mem, 2 * BLOCK);
	EXPECT_EQ(SIGBUS, signal_of(slot, false));
	EXPECT_EQ(0, nl_stat(&self->nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED));
	ASSERT_EQ(0, open_client(self));
}

/* What is the CPU's alone is not mapped for the engine either. */
TEST_F(remote, mprotect)
{
	uint8_t *slot;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	slot = gpu(self, 3);
	EXPECT_EQ(self->copy[3 * PAGE], slot[0]);
	ASSERT_EQ(0, mprotect(self->mem + 2 * PAGE, 2 * PAGE, PROT_READ));
	EXPECT_EQ(SIGBUS, signal_of(slot, false));
	EXPECT_EQ(0, entry(self, 3));
	EXPECT_EQ(PAGES - 2, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(-EFAULT, to_remote(self, 0, PAGES));
	EXPECT_EQ(0, entry(self, 3));
	EXPECT_TRUE(intact(self));
	ASSERT_EQ(0, mprotect(self->mem + 2 * PAGE, 2 * PAGE,
			      PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_TRUE(intact(self));
}

/* Somebody has the page: it may be mapped for the engine, and stays so. */
TEST_F(remote, pinned)
{
	struct iovec iov = { self->mem + 3 * PAGE, PAGE };
	uint8_t out[PAGE], *slot;
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(PAGE, vmsplice(p[1], &iov, 1, 0));
	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	slot = gpu(self, 3);
	slot[1] = self->copy[3 * PAGE + 1] = 99;
	EXPECT_EQ(-EBUSY, engine_h2d(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(PAGES - 1, engine_resident(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(1, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(1, COUNT(PINNED_REFUSALS));
	/* Where it was, for all three of them. */
	EXPECT_EQ(slot, gpu(self, 3));
	slot[2] = self->copy[3 * PAGE + 2] = 98;
	EXPECT_EQ(98, self->mem[3 * PAGE + 2]);
	ASSERT_EQ(PAGE, read(p[0], out, PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy + 3 * PAGE, PAGE));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(PAGES, engine_resident(&self->e, self->space, self->mem, PAGES));
	EXPECT_TRUE(intact(self));
	close(p[0]);
	close(p[1]);
}

/* The same if it is the engine that holds it, through its own mapping. */
TEST_F(remote, pinned_by_the_engine)
{
	uint8_t out[PAGE];
	struct iovec iov;
	int p[2];

	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(0, to_remote(self, 0, 1));
	iov = (struct iovec){ gpu(self, 0), PAGE };
	ASSERT_EQ(PAGE, vmsplice(p[1], &iov, 1, 0));
	EXPECT_EQ(-EBUSY, engine_h2d(&self->e, self->space, self->mem, 1));
	EXPECT_EQ(1, engine_remote(&self->e, self->space, self->mem, 1));
	self->mem[0] ^= 0xff;
	self->copy[0] ^= 0xff;
	ASSERT_EQ(PAGE, read(p[0], out, PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy, PAGE));
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	EXPECT_TRUE(intact(self));
	close(p[0]);
	close(p[1]);
}

TEST_F(remote, slots_run_out)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)self->mem, .va_space = self->space,
		.pages = MANY, .op = GPUEMU_MIGRATE_REMOTE, .status = 1,
	};
	size_t i;

	for (i = 0; i < MANY; i++)
		self->mem[i * PAGE] = i;
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 2));
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(0, engine_commit(&self->e, &m, 1));
	EXPECT_EQ(-ENOSPC, m.status);
	EXPECT_EQ(SLOTS, m.moved);
	EXPECT_EQ(SLOTS, engine_remote(&self->e, self->space, self->mem, MANY));
	EXPECT_EQ(SLOTS, COUNT(REMOTE_MAPPED));
	for (i = 0; i < MANY; i++) {
		if (gpu(self, i))
			EXPECT_EQ((uint8_t)i, gpu(self, i)[0]);
		EXPECT_EQ((uint8_t)i, self->mem[i * PAGE]);
	}
	EXPECT_EQ(-ENOSPC, to_remote(self, SLOTS, 1));
	/* No slots are needed to go to the device, and some come free. */
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 10));
	EXPECT_EQ(0, to_remote(self, SLOTS, 10));
	EXPECT_EQ(-ENOSPC, to_remote(self, SLOTS + 10, 1));
	for (i = 0; i < MANY; i++)
		EXPECT_EQ((uint8_t)i, self->mem[i * PAGE]);
}

/* What has no frame is no victim, and what is asked for finds one. */
TEST_F(remote, eviction_leaves_it)
{
	struct gpuemu_migration m = { .op = GPUEMU_MIGRATE_H2D, .status = 1 };
	uint32_t i;

	ASSERT_EQ(0, to_remote(self, 0, PAGES));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem + PAGES * PAGE, 4));
	m.va_space = self->space;
	m.pages = GPUEMU_BLOCK_PAGES;
	for (i = 0; i < 3; i++) {
		uint8_t *at = map_managed(self->fd, BLOCK);

		m.addr = (uintptr_t)at;
		ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
		ASSERT_EQ(1, engine_commit_flags(&self->e, &m, 1, GPUEMU_COMMIT_EVICT));
	}
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, PAGES + 4));
	EXPECT_EQ(PAGES, engine_remote(&self->e, self->space, self->mem, PAGES + 4));
	EXPECT_TRUE(intact(self));
}

/* An access that the entry allows is one to replay. */
TEST_F(remote, fault_flags)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;

	ASSERT_EQ(0, to_remote(self, 0, 1));
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_ATOMIC);
	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_READ);
	ASSERT_EQ(2, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_RESIDENT, batch->faults[0].flags);
	EXPECT_EQ(0, batch->faults[1].flags);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* --- its end --- */

static int touch_all(struct engine *e, int from, int to, void *arg)
{
	struct _test_data_remote *self = arg;
	volatile uint8_t *g;
	int i;

	(void)from;
	if (engine_migrate(e, self->space, self->mem, PAGES, GPUEMU_MIGRATE_REMOTE))
		return 1;
	for (i = 0; i < PAGES; i++) {
		g = engine_page(e, self->space, self->mem + i * PAGE);
		g[0] = 0xe0 + i;
	}
	return engine_say(to, 1);
}

/* The engine dies with the pages mapped: the next one finds them mapped. */
TEST_F(remote, the_engines_end)
{
	struct engine_process p;
	uint64_t word;
	int i;

	engine_close(&self->e);
	ASSERT_EQ(0, engine_spawn(&p, touch_all, self));
	ASSERT_EQ(0, engine_hear(p.from, 5000, &word));
	for (i = 0; i < PAGES; i++)
		self->copy[i * PAGE] = 0xe0 + i;
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	engine_kill(&p);
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	/* Nobody maps them meanwhile, and they can go. */
	ASSERT_EQ(0, munmap(self->mem + PAGE, PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(REMOTE_MAPPED));
	ASSERT_NE(NULL, map_managed_at(self->fd, self->mem + PAGE, PAGE));
	memcpy(self->mem + PAGE, self->copy + PAGE, PAGE);

	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	EXPECT_EQ(PAGES - 1, engine_remote(&self->e, self->space, self->mem, PAGES));
	EXPECT_TRUE(intact(self));
	gpu(self, 0)[1] = self->copy[1] = 5;
	EXPECT_TRUE(intact(self));
	/* Nothing of the dead one's mapping holds a page. */
	EXPECT_EQ(0, engine_h2d(&self->e, self->space, self->mem, PAGES));
	EXPECT_TRUE(intact(self));
}

/* --- what is refused --- */

TEST_F(remote, refused)
{
	EXPECT_EQ(-EFAULT, engine_migrate(&self->e, self->space,
					  self->mem + 3 * BLOCK, 1,
					  GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(-ESRCH, engine_migrate(&self->e, 0x7000000, self->mem, 1,
					 GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(-EINVAL, engine_migrate(&self->e, self->space, self->mem + 1,
					  1, GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(-EINVAL, engine_migrate(&self->e, self->space, self->mem, 1, 5));
	EXPECT_EQ(-EINVAL, engine_migrate(&self->e, self->space, self->mem, 1, 0));
}

TEST_HARNESS_MAIN
