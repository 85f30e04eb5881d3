// SPDX-License-Identifier: GPL-2.0
/*
 * Two clients of a real daemon on a device that has less memory than it says: a frame that
 * the policy's plan counts on is missing now and then, and the module makes room by itself.
 * Contents are right, and daemon and module agree on what is where and how it went.
 * vm: daemon timeout=180 vram_mb=8 enable_tests=1
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/nl.h"
#include "lib/statistic.h"

enum { CLIENTS = 2, ROUNDS = 6, WORDS = 6 << 20 >> 2, PAGE_BYTES = 4096 };

struct client {
	struct gpuemu_ctx *ctx;
	uint32_t *p;
	uint32_t added;		/* to its first half, by the CPU */
};

FIXTURE(reclaim)
{
	struct nl nl;
	struct client client[CLIENTS];
};

FIXTURE_SETUP(reclaim)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };

	ASSERT_EQ(0, nl_open(&self->nl));
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &self->client[i];

		ASSERT_EQ(0, gpuemu_open(&c->ctx, &options));
		ASSERT_EQ(0, gpuemu_mem_alloc_managed(c->ctx, (void **)&c->p, WORDS * 4));
		c->added = 0;
		for (uint32_t w = 0; w < WORDS; w++)
			c->p[w] = w * 2654435761u + i;
	}
}

FIXTURE_TEARDOWN(reclaim)
{
	for (int i = 0; i < CLIENTS; i++)
		gpuemu_close(self->client[i].ctx);
	nl_close(&self->nl);
}

struct counts {
	uint64_t resident, lru, evicted, h2d, d2h;
};

static void take_counts(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counts *c = arg;

	nl_nested(reply->attrs[GPUEMU_A_DEVICE_STATS], stats);
	c->resident = nl_u64(stats[GPUEMU_A_STATS_RESIDENT_PAGES]);
	c->lru = nl_u64(stats[GPUEMU_A_STATS_LRU_EVICTED_PAGES]);
	c->evicted = nl_u64(stats[GPUEMU_A_STATS_EVICTED_PAGES]);
	c->h2d = nl_u64(stats[GPUEMU_A_STATS_H2D_PAGES]);
	c->d2h = nl_u64(stats[GPUEMU_A_STATS_D2H_PAGES]);
}

static struct counts counts(FIXTURE_DATA(reclaim) *self)
{
	struct counts c = { .resident = UINT64_MAX };
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(&self->nl, &r, take_counts, &c);
	return c;
}

/* The next n allocations of frames find none. */
static int lack_frames(FIXTURE_DATA(reclaim) *self, uint32_t n)
{
	return nl_inject(&self->nl, GPUEMU_INJECT_WHAT_FRAME_ALLOC, n);
}

static bool intact(const struct client *c, int number)
{
	for (uint32_t w = 0; w < WORDS; w++)
		if (c->p[w] != w * 2654435761u + number + (w < WORDS / 2 ? c->added : 0))
			return false;
	return true;
}

TEST_F(reclaim, agree)
{
	uint64_t resident = 0, evicted = 0, h2d = 0;
	struct counts before = counts(self), c;

	for (int round = 0; round < ROUNDS; round++) {
		struct client *one = &self->client[round % CLIENTS];
		char *json = NULL;

		ASSERT_EQ(0, lack_frames(self, 2));
		ASSERT_EQ(0, gpuemu_mem_prefetch(one->ctx, one->p, WORDS * 4, NULL));
		ASSERT_EQ(0, gpuemu_synchronize(one->ctx));
		ASSERT_EQ(0, lack_frames(self, 1));
		ASSERT_EQ(0, gpuemu_touch(one->ctx, one->p, WORDS * 4, PAGE_BYTES, 64, 1, &json));
		gpuemu_free(json);
		/* The policies choose from what the daemon believes. */
		resident = 0;
		for (int i = 0; i < CLIENTS; i++)
			resident += paging_number(self->client[i].ctx, "resident_pages");
		c = counts(self);
		EXPECT_EQ(c.resident, resident) TH_LOG("round %d", round);
		for (uint32_t w = 0; w < WORDS / 2; w++)
			one->p[w]++;
		one->added++;
	}
	for (int i = 0; i < CLIENTS; i++) {
		evicted += paging_number(self->client[i].ctx, "evicted_pages");
		h2d += paging_number(self->client[i].ctx, "h2d_bytes");
	}
	c = counts(self);
	TH_LOG("%llu pages evicted, %llu of them by the module",
	       (unsigned long long)(c.evicted - before.evicted),
	       (unsigned long long)(c.lru - before.lru));
	EXPECT_LT(before.lru, c.lru);
	EXPECT_LT(c.lru - before.lru, c.evicted - before.evicted);
	EXPECT_EQ(c.evicted - before.evicted, evicted);
	EXPECT_EQ((c.h2d - before.h2d) * PAGE_BYTES, h2d);
	EXPECT_EQ(c.resident, c.h2d - c.d2h - (before.h2d - before.d2h - before.resident));
	for (int i = 0; i < CLIENTS; i++)
		EXPECT_TRUE(intact(&self->client[i], i));
}

TEST_HARNESS_MAIN
