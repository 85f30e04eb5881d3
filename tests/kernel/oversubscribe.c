// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1
 *
 * VRAM smaller than the footprint: eviction, and a checksum over everything.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { FRAMES = 256, PAGES = 4 * FRAMES + 100, WORDS = 4096 / sizeof(uint32_t) };

FIXTURE(oversubscribe)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint32_t *mem;
};

FIXTURE_SETUP(oversubscribe)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(FRAMES, self->e.attach.vram_frames);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, PAGES * PAGE);
	ASSERT_NE(NULL, self->mem);
}

FIXTURE_TEARDOWN(oversubscribe)
{
	close(self->fd);
	engine_close(&self->e);
}

/* Three sweeps over four times the VRAM, with a FIFO that evicts 8 at a time. */
TEST_F(oversubscribe, checksum)
{
	uint64_t want = 0, sum = 0;
	int sweep, i, j, ret, oldest = 0, evictions = 0;
	uint32_t *w;

	for (i = 0; i < PAGES * WORDS; i++) {
		self->mem[i] = i * 2654435761u;
		want += (uint32_t)(i * 2654435761u + 3 * (i % WORDS));
	}
	for (sweep = 0; sweep < 3; sweep++) {
		for (i = 0; i < PAGES; i++) {
			ret = engine_h2d(&self->e, self->space,
					 self->mem + i * WORDS, 1);
			while (ret == -ENOSPC) {
				for (j = 0; j < 8; j++) {
					ASSERT_EQ(0, engine_d2h(&self->e,
						self->space,
						self->mem + oldest * WORDS, 1));
					oldest = (oldest + 1) % PAGES;
				}
				evictions += 8;
				ret = engine_h2d(&self->e, self->space,
						 self->mem + i * WORDS, 1);
			}
			ASSERT_EQ(0, ret) TH_LOG("page %d", i);
			w = engine_page(&self->e, self->space,
					self->mem + i * WORDS);
			ASSERT_NE(NULL, w);
			for (j = 0; j < WORDS; j++)
				w[j] += j;
		}
	}
	EXPECT_LE(3 * PAGES - FRAMES, evictions);
	EXPECT_GE(FRAMES, engine_resident(&self->e, self->space, self->mem,
					  PAGES));
	for (i = 0; i < PAGES * WORDS; i++)
		sum += self->mem[i];
	EXPECT_EQ(want, sum);
	for (i = 0; i < PAGES * WORDS; i++)
		ASSERT_EQ((uint32_t)(i * 2654435761u + 3 * (i % WORDS)),
			  self->mem[i]) TH_LOG("word %d", i);
}

/* A run that does not fit moves what fits, and says so. */
TEST_F(oversubscribe, part_of_a_run)
{
	struct gpuemu_migration m[2] = {
		{ .addr = (uintptr_t)self->mem, .va_space = self->space,
		  .pages = 512, .op = GPUEMU_MIGRATE_H2D },
		{ .addr = (uintptr_t)self->mem + BLOCK, .va_space = self->space,
		  .pages = 1, .op = GPUEMU_MIGRATE_H2D },
	};

	fill(self->mem, PAGES * PAGE, 3);
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(0, engine_commit(&self->e, m, 2));
	EXPECT_EQ(-ENOSPC, m[0].status);
	EXPECT_EQ(FRAMES, m[0].moved);
	EXPECT_EQ(-ENOSPC, m[1].status);
	EXPECT_EQ(0, m[1].moved);
	EXPECT_EQ(0, self->e.control->vram_free);
	EXPECT_EQ(FRAMES, engine_resident(&self->e, self->space, self->mem,
					  PAGES));
	/* Evictions come before what needs their frames, in one commit. */
	m[0].op = GPUEMU_MIGRATE_D2H;
	m[0].pages = 10;
	m[1].pages = 10;
	ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
	EXPECT_EQ(2, engine_commit(&self->e, m, 2));
	EXPECT_EQ(10, m[0].moved);
	EXPECT_EQ(10, m[1].moved);
	EXPECT_LT(0, self->e.control->stamps.evict_ns);
	EXPECT_EQ(10, self->e.control->stamps.h2d_pages);
	EXPECT_EQ(10, self->e.control->stamps.d2h_pages);
	EXPECT_TRUE(filled(self->mem, PAGES * PAGE, 3));
	EXPECT_EQ(FRAMES, self->e.control->vram_free);
}

/* What was never touched by the CPU has no sysmem page until it is evicted. */
TEST_F(oversubscribe, gpu_only)
{
	uint32_t *w;
	int i, k;

	for (i = 0; i < PAGES; i++) {
		ASSERT_EQ(0, engine_h2d(&self->e, self->space,
					self->mem + i * WORDS, 1));
		w = engine_page(&self->e, self->space, self->mem + i * WORDS);
		for (k = 0; k < WORDS; k++)
			ASSERT_EQ(0, w[k]);
		w[i % WORDS] = i + 1;
		ASSERT_EQ(0, engine_d2h(&self->e, self->space,
					self->mem + i * WORDS, 1));
	}
	for (i = 0; i < PAGES; i++)
		for (k = 0; k < WORDS; k++)
			ASSERT_EQ(k == i % WORDS ? i + 1 : 0,
				  self->mem[i * WORDS + k]);
}

TEST_HARNESS_MAIN
