// SPDX-License-Identifier: GPL-2.0
/*
 * Link pacing: off, nobody waits for the link; on, a migration takes at least the
 * time that the link needs, either way, and its bytes arrive whole.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { PIECES = 4, PIECE_PAGES = BLOCK / PAGE };

FIXTURE(link)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
};

FIXTURE_SETUP(link)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, PIECES * BLOCK);
	ASSERT_NE(NULL, self->mem);
	fill(self->mem, PIECES * BLOCK, 5);
}

FIXTURE_TEARDOWN(link)
{
	nl_set_param(&self->nl, "link_gbps", 0);
	nl_set_param(&self->nl, "link_latency_ns", 0);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static void take_wait(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	uint64_t *ns = arg;

	nl_nested(reply->attrs[GPUEMU_A_CLIENT_STATS], stats);
	*ns = nl_u64(stats[GPUEMU_A_STATS_LINK_WAIT_NS]);
}

/* How long this client waited for the link. */
static uint64_t waited_ns(FIXTURE_DATA(link) *self)
{
	uint64_t ns = ~0ull;
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->space);
	return nl_talk(&self->nl, &r, take_wait, &ns) ? ~0ull : ns;
}

/* All there, all back; how long each took. */
static int round_trip(FIXTURE_DATA(link) *self, uint64_t *there, uint64_t *back)
{
	uint64_t begin = now_ns();
	int ret;

	ret = engine_h2d(&self->e, self->space, self->mem, PIECES * PIECE_PAGES);
	*there = now_ns() - begin;
	if (ret)
		return ret;
	begin = now_ns();
	ret = engine_d2h(&self->e, self->space, self->mem, PIECES * PIECE_PAGES);
	*back = now_ns() - begin;
	return ret;
}

TEST_F(link, off)
{
	uint64_t there, back;

	ASSERT_EQ(0, round_trip(self, &there, &back));
	EXPECT_EQ(0, waited_ns(self));
	EXPECT_TRUE(filled(self->mem, PIECES * BLOCK, 5));
}

/* 1 GB/s: a byte is a nanosecond. */
TEST_F(link, rate)
{
	uint64_t there, back;

	ASSERT_EQ(0, nl_set_param(&self->nl, "link_gbps", 1));
	ASSERT_EQ(0, round_trip(self, &there, &back));
	EXPECT_LE(PIECES * BLOCK, there);
	EXPECT_LE(PIECES * BLOCK, back);
	EXPECT_TRUE(filled(self->mem, PIECES * BLOCK, 5));
	/* Set off again, it is off at once. */
	ASSERT_EQ(0, nl_set_param(&self->nl, "link_gbps", 0));
	there = waited_ns(self);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	EXPECT_EQ(there, waited_ns(self));
}

/* Each run arrives so much later, however small it is. */
TEST_F(link, latency)
{
	enum { LATENCY = 10000000, RUNS = 10 };
	uint64_t paced, unpaced;
	int i;

	unpaced = now_ns();
	for (i = 0; i < RUNS; i++)
		ASSERT_EQ(0, engine_h2d(&self->e, self->space,
					self->mem + i * PAGE, 1));
	unpaced = now_ns() - unpaced;
	ASSERT_EQ(0, nl_set_param(&self->nl, "link_latency_ns", LATENCY));
	paced = now_ns();
	for (i = 0; i < RUNS; i++)
		ASSERT_EQ(0, engine_h2d(&self->e, self->space,
					self->mem + (RUNS + i) * PAGE, 1));
	paced = now_ns() - paced;
	EXPECT_LE(RUNS * LATENCY, paced);
	EXPECT_GT(RUNS * LATENCY, unpaced);
	EXPECT_LE(RUNS * (LATENCY / 2), waited_ns(self));
	/* The CPU's own faults bring pages over the same link. */
	paced = now_ns();
	EXPECT_TRUE(filled(self->mem, PAGE, 5));
	EXPECT_LE(LATENCY, now_ns() - paced);
	/* What was never touched is not carried. */
	ASSERT_EQ(0, nl_set_param(&self->nl, "link_latency_ns", 0));
	munmap(self->mem, PAGE);
	ASSERT_EQ(self->mem, map_managed_at(self->fd, self->mem, PAGE));
	ASSERT_EQ(0, nl_set_param(&self->nl, "link_latency_ns", LATENCY));
	unpaced = waited_ns(self);
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem, 1));
	EXPECT_EQ(unpaced, waited_ns(self));
}

TEST_HARNESS_MAIN
