// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1
 *
 * The first touch of a page, from each side: it reads as zero, also if its
 * frame or sysmem page held someone else's bytes before.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

#define PAGES 256	/* all of the VRAM */
#define BYTES (PAGES * PAGE)

FIXTURE(first_touch)
{
	struct engine e;
};

FIXTURE_SETUP(first_touch)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(PAGES, self->e.attach.vram_frames);
}

FIXTURE_TEARDOWN(first_touch)
{
	engine_close(&self->e);
}

static bool zero(const uint8_t *p, size_t n)
{
	return !p[0] && !memcmp(p, p + 1, n - 1);
}

TEST_F(first_touch, cpu)
{
	int fd = client_open();
	uint8_t *p = map_managed(fd, BYTES);

	EXPECT_TRUE(zero(p, BYTES));
	fill(p, BYTES, 1);
	close(fd);
	munmap(p, BYTES);
	/* Likely the same sysmem pages again. */
	fd = client_open();
	p = map_managed(fd, BYTES);
	EXPECT_TRUE(zero(p, BYTES));
	close(fd);
}

/* Every frame is written by one client, then used by another. */
TEST_F(first_touch, gpu)
{
	int fd = client_open(), fd2, i;
	uint8_t *p = map_managed(fd, BYTES), *page;
	uint32_t space = client_space(fd);

	ASSERT_EQ(0, engine_h2d(&self->e, space, p, PAGES));
	for (i = 0; i < PAGES; i++) {
		page = engine_page(&self->e, space, p + i * PAGE);
		ASSERT_NE(NULL, page);
		EXPECT_TRUE(zero(page, PAGE));
		memset(page, 0xa5, PAGE);
	}
	munmap(p, BYTES);
	close(fd);

	fd2 = client_open();
	p = map_managed(fd2, BYTES);
	space = client_space(fd2);
	ASSERT_EQ(0, engine_h2d(&self->e, space, p, PAGES));
	for (i = 0; i < PAGES; i++) {
		page = engine_page(&self->e, space, p + i * PAGE);
		ASSERT_NE(NULL, page);
		ASSERT_TRUE(zero(page, PAGE)) TH_LOG("page %d", i);
	}
	/* And from the CPU's side, after the way back. */
	EXPECT_TRUE(zero(p, BYTES));
	close(fd2);
}

TEST_F(first_touch, gpu_after_cpu)
{
	int fd = client_open();
	uint8_t *p = map_managed(fd, BYTES);
	uint32_t space = client_space(fd);

	p[3 * PAGE + 1] = 7;
	ASSERT_EQ(0, engine_h2d(&self->e, space, p, PAGES));
	EXPECT_EQ(7, ((uint8_t *)engine_page(&self->e, space,
					     p + 3 * PAGE))[1]);
	EXPECT_TRUE(zero(engine_page(&self->e, space, p + 4 * PAGE), PAGE));
	EXPECT_EQ(7, p[3 * PAGE + 1]);
	close(fd);
}

TEST_HARNESS_MAIN
