// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 enable_tests=1
 *
 * The module's own eviction (GPUEMU_COMMIT_EVICT), for an engine that plans none:
 * who goes, who stays, and that no byte is lost on the way.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

/* Device memory takes two of the blocks. */
enum { BLOCKS = 6, BLOCK_PAGES = BLOCK / PAGE };

FIXTURE(evict)
{
	struct nl nl;
	struct engine e;
	int fd, other;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(evict)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(2 * BLOCK_PAGES, self->e.attach.vram_frames);
	self->fd = client_open();
	self->other = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCKS * BLOCK);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, (uintptr_t)self->mem % BLOCK);
	fill(self->mem, BLOCKS * BLOCK, 7);
}

FIXTURE_TEARDOWN(evict)
{
	close(self->other);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static struct gpuemu_migration h2d(FIXTURE_DATA(evict) *self, int block,
				   int first, int pages)
{
	return (struct gpuemu_migration){
		.addr = (uintptr_t)self->mem + block * BLOCK + first * PAGE,
		.va_space = self->space, .pages = pages,
		.op = GPUEMU_MIGRATE_H2D, .status = 1,
	};
}

/* One commit in a batch of its own. */
static int commit(FIXTURE_DATA(evict) *self, struct gpuemu_migration *m,
		  uint32_t n, uint32_t flags)
{
	int ret = engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK);

	return ret < 0 ? ret : engine_commit_flags(&self->e, m, n, flags);
}

static int bring(FIXTURE_DATA(evict) *self, int block, int first, int pages)
{
	struct gpuemu_migration m = h2d(self, block, first, pages);
	int ret = commit(self, &m, 1, GPUEMU_COMMIT_EVICT);

	return ret < 0 ? ret : m.status;
}

static int resident(FIXTURE_DATA(evict) *self, int block)
{
	return engine_resident(&self->e, self->space, self->mem + block * BLOCK,
			       BLOCK_PAGES);
}

struct counts {
	uint64_t lru, lru_pages, evictions, no_frame;
};

static void take_counts(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counts *c = arg;

	nl_nested(reply->attrs[GPUEMU_A_CLIENT_STATS], stats);
	c->lru = nl_u64(stats[GPUEMU_A_STATS_LRU_EVICTIONS]);
	c->lru_pages = nl_u64(stats[GPUEMU_A_STATS_LRU_EVICTED_PAGES]);
	c->evictions = nl_u64(stats[GPUEMU_A_STATS_EVICTIONS]);
	c->no_frame = nl_u64(stats[GPUEMU_A_STATS_NO_FRAME]);
}

static struct counts counts(FIXTURE_DATA(evict) *self)
{
	struct counts c = { .lru = ~0ull };
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->space);
	nl_talk(&self->nl, &r, take_counts, &c);
	return c;
}

/* Blocks in turn, the first used again: the second goes, whole. */
TEST_F(evict, least_recent)
{
	uint32_t seen = self->e.control->inval_put;
	struct counts c;
	int i;

	ASSERT_EQ(0, bring(self, 0, 0, BLOCK_PAGES));
	ASSERT_EQ(0, bring(self, 1, 0, BLOCK_PAGES));
	EXPECT_EQ(seen, self->e.control->inval_put);
	/* It is there already; that it was asked for counts. */
	struct gpuemu_migration m = h2d(self, 0, 3, 1);

	ASSERT_EQ(1, commit(self, &m, 1, GPUEMU_COMMIT_EVICT));
	ASSERT_EQ(0, bring(self, 2, 10, 1));
	EXPECT_EQ(BLOCK_PAGES, resident(self, 0));
	EXPECT_EQ(0, resident(self, 1));
	EXPECT_EQ(1, resident(self, 2));
	EXPECT_EQ(GPUEMU_INVAL_RECLAIM,
		  self->e.control->inval[seen % GPUEMU_INVAL_RING].reason);
	c = counts(self);
	EXPECT_EQ(1, c.lru);
	EXPECT_EQ(BLOCK_PAGES, c.lru_pages);
	EXPECT_EQ(1, c.evictions);
	EXPECT_EQ(0, c.no_frame);
	EXPECT_EQ(BLOCK_PAGES, self->e.control->stamps.d2h_pages);
	EXPECT_LT(0, self->e.control->stamps.evict_ns);
	/* Three sweeps over three times the memory. */
	for (i = 0; i < 3 * BLOCKS; i++)
		ASSERT_EQ(0, bring(self, i % BLOCKS, 1, BLOCK_PAGES - 1))
			TH_LOG("step %d", i);
	EXPECT_TRUE(filled(self->mem, BLOCKS * BLOCK, 7));
	EXPECT_EQ(2 * BLOCK_PAGES, self->e.control->vram_free);
}

/* What one commit asked for is no victim of the same commit. */
TEST_F(evict, not_its_own)
{
	struct gpuemu_migration m[3] = {
		h2d(self, 0, 0, BLOCK_PAGES), h2d(self, 1, 0, BLOCK_PAGES),
		h2d(self, 2, 0, 5),
	};

	ASSERT_EQ(2, commit(self, m, 3, GPUEMU_COMMIT_EVICT));
	EXPECT_EQ(-ENOSPC, m[2].status);
	EXPECT_EQ(0, m[2].moved);
	EXPECT_EQ(BLOCK_PAGES, resident(self, 0));
	EXPECT_EQ(BLOCK_PAGES, resident(self, 1));
	EXPECT_EQ(0, counts(self).lru);
	EXPECT_EQ(5, counts(self).no_frame);
}

/* Without the flag the engine's plan is all there is. */
TEST_F(evict, only_if_asked)
{
	struct gpuemu_migration m = h2d(self, 2, 0, 5);

	ASSERT_EQ(0, bring(self, 0, 0, BLOCK_PAGES));
	ASSERT_EQ(0, bring(self, 1, 0, BLOCK_PAGES));
	ASSERT_EQ(0, commit(self, &m, 1, 0));
	EXPECT_EQ(-ENOSPC, m.status);
	EXPECT_EQ(0, counts(self).lru);
}

/* No more than needed, if several victims are small; and another client's too. */
TEST_F(evict, others)
{
	uint32_t theirs = client_space(self->other);
	uint8_t *there = map_managed(self->other, BLOCK);
	struct gpuemu_migration m = {
		.addr = (uintptr_t)there, .va_space = theirs, .pages = 8,
		.op = GPUEMU_MIGRATE_H2D,
	};

	ASSERT_NE(NULL, there);
	fill(there, BLOCK, 9);
	ASSERT_EQ(1, commit(self, &m, 1, 0));
	ASSERT_EQ(0, bring(self, 0, 0, 16));
	ASSERT_EQ(0, bring(self, 1, 0, BLOCK_PAGES));
	ASSERT_EQ(0, bring(self, 2, 0, BLOCK_PAGES - 24));
	EXPECT_EQ(0, self->e.control->vram_free);
	/* Theirs is the oldest and not enough; the third stays. */
	ASSERT_EQ(0, bring(self, 3, 0, 20));
	EXPECT_EQ(0, engine_resident(&self->e, theirs, there, BLOCK_PAGES));
	EXPECT_EQ(0, resident(self, 0));
	EXPECT_EQ(BLOCK_PAGES, resident(self, 1));
	EXPECT_EQ(20, resident(self, 3));
	EXPECT_TRUE(filled(there, BLOCK, 9));
	munmap(there, BLOCK);
	/* An unmapped block is no victim. */
	munmap(self->mem + BLOCK, BLOCK);
	ASSERT_EQ(0, bring(self, 4, 0, BLOCK_PAGES));
	ASSERT_EQ(0, bring(self, 5, 0, BLOCK_PAGES));
	EXPECT_EQ(0, resident(self, 2));
	ASSERT_EQ(self->mem + BLOCK,
		  map_managed_at(self->fd, self->mem + BLOCK, BLOCK));
	fill(self->mem, 2 * BLOCK, 7);
	EXPECT_TRUE(filled(self->mem, BLOCKS * BLOCK, 7));
}

/* Its pages have a place to go to from the start, so the victim goes without memory. */
TEST_F(evict, needs_no_memory)
{
	struct nl_request r;

	/* Never touched by the CPU. */
	munmap(self->mem, BLOCK);
	ASSERT_EQ(self->mem, map_managed_at(self->fd, self->mem, BLOCK));
	ASSERT_EQ(0, bring(self, 0, 0, 4));
	ASSERT_EQ(0, bring(self, 1, 0, BLOCK_PAGES));
	ASSERT_EQ(0, bring(self, 2, 0, BLOCK_PAGES - 4));
	nl_begin(&self->nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_PAGE_ALLOC);
	nl_put_u32(&r, GPUEMU_A_INJECT_COUNT, 4);
	ASSERT_EQ(0, nl_talk(&self->nl, &r, NULL, NULL));
	ASSERT_EQ(0, bring(self, 3, 0, 4));
	EXPECT_EQ(0, resident(self, 0));
	EXPECT_EQ(BLOCK_PAGES, resident(self, 1));
	EXPECT_EQ(BLOCK_PAGES - 4, resident(self, 2));
	EXPECT_EQ(4, resident(self, 3));
	/* The failures are still to come, for pages that nobody has touched. */
	munmap(self->mem, BLOCK);
	ASSERT_EQ(self->mem, map_managed_at(self->fd, self->mem, BLOCK));
	EXPECT_EQ(-ENOMEM, bring(self, 0, 0, 4));
	EXPECT_EQ(0, resident(self, 0));
	/* Nothing was evicted for them. */
	EXPECT_EQ(BLOCK_PAGES, resident(self, 1));
	EXPECT_EQ(0, bring(self, 0, 0, 4));
}

TEST_HARNESS_MAIN
