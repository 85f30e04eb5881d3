// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 pt_mb=1 client_tables_pct=0 timeout=120
 *
 * Device memory where ordinary memory was that the GPU used: the mirror still has a range of that
 * VA block. The range's end is not the device memory's, and the device memory's end is whole.
 */
#include <sys/mman.h>

#include "lib/harness.h"
#include "lib/pageable.h"

enum { TABLES = 256, BLOCK_PAGES = 512 };

PAGEABLE_FIXTURE(pageable_device)

/* Device memory at a block of which the mirror has a range. */
static uint8_t *map_over_range(FIXTURE_DATA(pageable_device) *self)
{
	uint8_t *at = map_anonymous(BLOCK);

	if (!at)
		return NULL;
	at[0] = 1;
	if (pageable_reads(&self->p, at, 1) || munmap(at, BLOCK) ||
	    map_device(self->p.fd, at, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED))
		return NULL;
	return at;
}

/* A new range finds no page table, and the ranges with nothing mapped go. */
TEST_F(pageable_device, outlives_the_range)
{
	uint8_t *at = map_over_range(self), *many = map_anonymous(TABLES * BLOCK);
	uint32_t vram_free = self->p.e.control->vram_free;

	ASSERT_NE(NULL, at);
	ASSERT_NE(NULL, many);
	fill(at, BLOCK, 3);
	for (size_t i = 0; i < TABLES; i++) {
		many[i * BLOCK] = 1;
		pageable_reads(&self->p, many + i * BLOCK, 1);
	}
	EXPECT_EQ(vram_free, self->p.e.control->vram_free);
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&self->p.e, self->p.space, at, BLOCK_PAGES));
	ASSERT_NE(NULL, pageable_gpu(&self->p, at));
	EXPECT_EQ(at[0], *pageable_gpu(&self->p, at));
	EXPECT_TRUE(filled(at, BLOCK, 3));
	ASSERT_EQ(0, munmap(at, BLOCK));
	EXPECT_EQ(vram_free + BLOCK_PAGES, self->p.e.control->vram_free);
	munmap(many, TABLES * BLOCK);
}

/* Managed memory that takes its place is evicted like any other. */
TEST_F(pageable_device, leaves_nothing_behind)
{
	uint8_t *at = map_over_range(self), *other, flags;

	ASSERT_NE(NULL, at);
	ASSERT_EQ(0, munmap(at, BLOCK));
	ASSERT_NE(NULL, map_managed_at(self->p.fd, at, BLOCK));
	fill(at, BLOCK, 4);
	ASSERT_EQ(0, engine_h2d(&self->p.e, self->p.space, at, BLOCK_PAGES));
	/* With these there are a block's frames too few. */
	other = map_managed(self->p.fd, 2 * BLOCK);
	ASSERT_NE(NULL, other);
	for (size_t i = 0; i < 2; i++)
		EXPECT_EQ(0, pageable_ask(&self->p, other + i * BLOCK, BLOCK_PAGES,
					  GPUEMU_ACCESS_WRITE, GPUEMU_MIGRATE_H2D, &flags));
	EXPECT_EQ(0, engine_resident(&self->p.e, self->p.space, at, BLOCK_PAGES));
	EXPECT_TRUE(filled(at, BLOCK, 4));
	munmap(other, 2 * BLOCK);
	munmap(at, BLOCK);
}

TEST_HARNESS_MAIN
