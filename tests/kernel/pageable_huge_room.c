// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=3 remote_mb=8 timeout=180 enable_tests=1
 *
 * Huge pages of ordinary memory where the device, or what a client may have of it, is small: a
 * page waits until there is room for all of it, and goes in parts where there never is.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/pageable.h"

enum { PAGES = BLOCK / PAGE, FRAMES = 768 };

#define COUNT(name) pageable_count(&self->p, GPUEMU_A_STATS_##name)

PAGEABLE_FIXTURE_UNLESS(pageable_huge_room, !kernel_moves_huge(),
			"this kernel moves no huge page whole")

static void check(struct __test_metadata *_metadata, const uint8_t *p)
{
	int i;

	for (i = 0; i < PAGES; i++)
		ASSERT_EQ((uint8_t)i, p[i * PAGE]);
}

/* Asks for all of it, until the worker has moved some or the COMMIT says that no frame is left. */
static int bring_some(struct pageable *p, const uint8_t *huge)
{
	uint8_t flags;
	int ret, tries;

	for (tries = 0; tries < 1000; tries++) {
		ret = pageable_ask(p, huge, PAGES, GPUEMU_ACCESS_WRITE, GPUEMU_MIGRATE_H2D, &flags);
		if (ret != -EAGAIN || pageable_count(p, GPUEMU_A_STATS_H2D_PAGES))
			break;
		sleep_ms(1);
	}
	return pageable_count(p, GPUEMU_A_STATS_H2D_PAGES) ? 0 : ret ?: -EIO;
}

/* Most of the device has memory that is not paged, which nothing evicts. */
TEST_F(pageable_huge_room, never_for_all)
{
	uint8_t *p = map_huge_page(), *device = reserve(BLOCK);
	int ret = -ENOSPC, tries;

	ASSERT_NE(NULL, p);
	ASSERT_EQ(FRAMES, self->p.e.attach.vram_frames);
	ASSERT_EQ(0, map_device(self->p.fd, device, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED));
	EXPECT_EQ(0, bring_some(&self->p, p));
	EXPECT_EQ(0, COUNT(H2D_HUGE));
	check(_metadata, p);
	munmap(device, BLOCK);
	/* Now there is room. The first answer may be an old one. */
	for (tries = 0; tries < 3 && ret == -ENOSPC; tries++)
		ret = pageable_bring(&self->p, p, PAGES);
	EXPECT_EQ(0, ret);
	check(_metadata, p);
	munmap(p, BLOCK);
}

/* The client's share has not as many frames as a huge page. */
TEST_F(pageable_huge_room, never_in_the_share)
{
	uint8_t *p = map_huge_page();

	ASSERT_NE(NULL, p);
	ASSERT_EQ(0, nl_set_param(&self->p.nl, "client_vram_pct", 50));
	EXPECT_EQ(0, bring_some(&self->p, p));
	EXPECT_EQ(0, COUNT(H2D_HUGE));
	ASSERT_EQ(0, nl_set_param(&self->p.nl, "client_vram_pct", 0));
	check(_metadata, p);
	munmap(p, BLOCK);
}

/* What else the client has is in the way, though frames are free. */
TEST_F(pageable_huge_room, in_the_share)
{
	uint8_t *p = map_huge_page(), *small = map_anonymous(BLOCK);

	ASSERT_NE(NULL, p);
	ASSERT_EQ(0, madvise(small, BLOCK, MADV_NOHUGEPAGE));
	memset(small, 1, BLOCK);
	ASSERT_EQ(0, nl_set_param(&self->p.nl, "client_vram_pct", 75));
	ASSERT_EQ(0, pageable_bring(&self->p, small, 100));
	EXPECT_EQ(0, pageable_bring(&self->p, p, PAGES));
	EXPECT_EQ(1, COUNT(H2D_HUGE));
	EXPECT_LT(0, COUNT(LRU_EVICTED_PAGES));
	ASSERT_EQ(0, nl_set_param(&self->p.nl, "client_vram_pct", 0));
	check(_metadata, p);
	munmap(p, BLOCK);
	munmap(small, BLOCK);
}

TEST_HARNESS_MAIN
