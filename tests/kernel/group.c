// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1
 *
 * Many small migrations of one VA block in one commit: they are done together, and
 * each is told what happened to itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

enum { FRAMES = 256, STRIDE = 32, PAGES = 16 };

FIXTURE(group)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	struct gpuemu_migration m[2 * FRAMES];
};

FIXTURE_SETUP(group)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(FRAMES, self->e.attach.vram_frames);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	ASSERT_EQ(0, (uintptr_t)self->mem % BLOCK);
}

FIXTURE_TEARDOWN(group)
{
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static void take_counts(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	uint64_t *counts = arg;

	nl_nested(reply->attrs[GPUEMU_A_CLIENT_STATS], stats);
	counts[0] = nl_u64(stats[GPUEMU_A_STATS_CPU_UNMAPS]);
	counts[1] = nl_u64(stats[GPUEMU_A_STATS_PINNED_REFUSALS]);
	counts[2] = nl_u64(stats[GPUEMU_A_STATS_NO_FRAME]);
	counts[3] = nl_u64(stats[GPUEMU_A_STATS_H2D_PAGES]);
}

enum { UNMAPS, PINNED, NO_FRAME, H2D, COUNTS };

static int read_counts(FIXTURE_DATA(group) *self, uint64_t *counts)
{
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->space);
	return nl_talk(&self->nl, &r, take_counts, counts);
}

static uint8_t *page(FIXTURE_DATA(group) *self, int i)
{
	return self->mem + i * STRIDE * PAGE;
}

/* One page of each so many, all in one commit. */
static int bring(FIXTURE_DATA(group) *self, int stride, int n)
{
	int ret = engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK), i;

	for (i = 0; i < n; i++)
		self->m[i] = (struct gpuemu_migration){
			.addr = (uintptr_t)self->mem + i * stride * PAGE,
			.va_space = self->space, .pages = 1,
			.op = GPUEMU_MIGRATE_H2D, .status = 1, .moved = 9,
		};
	return ret < 0 ? ret : engine_commit(&self->e, self->m, n);
}

/* What the CPU has mapped between them stays mapped; where nothing is, one call does. */
TEST_F(group, unmaps)
{
	uint64_t a[COUNTS], b[COUNTS];
	unsigned char in_core;
	int i;

	for (i = 0; i < PAGES; i++)
		fill(page(self, i), PAGE, i);
	ASSERT_EQ(0, read_counts(self, a));
	ASSERT_EQ(PAGES, bring(self, STRIDE, PAGES));
	ASSERT_EQ(0, read_counts(self, b));
	EXPECT_EQ(1, b[UNMAPS] - a[UNMAPS]);
	EXPECT_EQ(PAGES, b[H2D] - a[H2D]);
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(0, self->m[i].status);
		EXPECT_EQ(1, self->m[i].moved);
		EXPECT_TRUE(filled(page(self, i), PAGE, i));
	}
	/* All are the CPU's again, and one more between the fourth and the fifth. */
	fill(page(self, 3) + PAGE, PAGE, 77);
	ASSERT_EQ(0, read_counts(self, a));
	ASSERT_EQ(PAGES, bring(self, STRIDE, PAGES));
	ASSERT_EQ(0, read_counts(self, b));
	EXPECT_EQ(2, b[UNMAPS] - a[UNMAPS]);
	ASSERT_EQ(0, mincore(page(self, 3) + PAGE, PAGE, &in_core));
	EXPECT_EQ(1, in_core & 1);
	/* What is there already counts as done, and moves no more. */
	ASSERT_EQ(PAGES, bring(self, STRIDE, PAGES));
	EXPECT_EQ(0, self->m[0].moved);
	EXPECT_EQ(0, self->m[0].status);
}

TEST_F(group, each_its_own)
{
	struct iovec iov = { page(self, 5), PAGE };
	uint64_t a[COUNTS], b[COUNTS];
	int i, p[2];

	for (i = 0; i < PAGES; i++)
		fill(page(self, i), PAGE, i);
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(PAGE, vmsplice(p[1], &iov, 1, 0));
	ASSERT_EQ(0, munmap(page(self, 9), PAGE));
	ASSERT_EQ(0, read_counts(self, a));
	ASSERT_EQ(PAGES - 2, bring(self, STRIDE, PAGES));
	ASSERT_EQ(0, read_counts(self, b));
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(i == 5 ? -EBUSY : i == 9 ? -EFAULT : 0,
			  self->m[i].status) TH_LOG("page %d", i);
		EXPECT_EQ(i != 5 && i != 9, self->m[i].moved);
	}
	EXPECT_EQ(1, b[PINNED] - a[PINNED]);
	EXPECT_EQ(PAGES - 2, b[H2D] - a[H2D]);
	close(p[0]);
	close(p[1]);
	for (i = 0; i < PAGES; i++)
		if (i != 9)
			EXPECT_TRUE(filled(page(self, i), PAGE, i));
}

/* More than there are frames: the first get them. */
TEST_F(group, no_frame)
{
	uint64_t a[COUNTS], b[COUNTS];
	int i, n = FRAMES + 8;

	fill(self->mem, BLOCK, 3);
	ASSERT_EQ(0, read_counts(self, a));
	ASSERT_EQ(FRAMES, bring(self, 1, n));
	ASSERT_EQ(0, read_counts(self, b));
	for (i = 0; i < n; i++)
		EXPECT_EQ(i < FRAMES ? 0 : -ENOSPC, self->m[i].status)
			TH_LOG("page %d", i);
	EXPECT_EQ(8, b[NO_FRAME] - a[NO_FRAME]);
	EXPECT_TRUE(filled(self->mem, BLOCK, 3));
}

TEST_HARNESS_MAIN
