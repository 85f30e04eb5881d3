// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=140
 *
 * An engine asks for more blocks of device memory than a search for victims looks at. They stay,
 * so they must not stand before managed memory, which can make room.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

/* VICTIMS_MAX of kmod/lru.c is 64. */
enum { BLOCKS = 70, STAY = 66, MANAGED = 5, BLOCK_PAGES = 512 };

/* Brings a block in a commit that may evict; the migration's status. */
static int bring(struct engine *e, uint32_t space, uint8_t *at)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)at, .va_space = space, .pages = BLOCK_PAGES,
		.op = GPUEMU_MIGRATE_H2D, .status = 1,
	};
	int ret = engine_raise(e, GPUEMU_RAISE_EMPTY_OK);

	if (ret >= 0)
		ret = engine_commit_flags(e, &m, 1, GPUEMU_COMMIT_EVICT);
	return ret < 0 ? ret : m.status;
}

TEST(device_memory_makes_no_room)
{
	uint8_t *p = reserve((BLOCKS + 16) * BLOCK), *at, *managed;
	struct engine e;
	uint32_t space;
	int fd;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(BLOCKS * BLOCK_PAGES, e.attach.vram_frames);
	fd = client_open();
	space = client_space(fd);
	at = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	managed = at + (STAY + 1) * BLOCK;
	ASSERT_EQ(0, map_device(fd, at, STAY * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED));
	ASSERT_NE(NULL, map_managed_at(fd, managed, MANAGED * BLOCK));
	for (int i = 0; i < STAY; i++)
		ASSERT_EQ(-EFAULT, bring(&e, space, at + i * BLOCK));
	for (int i = 0; i < MANAGED; i++) {
		managed[i * BLOCK] = (uint8_t)(i + 1);
		ASSERT_EQ(0, bring(&e, space, managed + i * BLOCK));
	}
	/* The last one has the first one's frames. */
	EXPECT_EQ(BLOCK_PAGES, engine_resident(&e, space, managed + (MANAGED - 1) * BLOCK,
					       BLOCK_PAGES));
	EXPECT_EQ(0, engine_resident(&e, space, managed, BLOCK_PAGES));
	EXPECT_EQ(1, managed[0]);
	EXPECT_EQ(STAY * BLOCK_PAGES, engine_resident(&e, space, at, STAY * BLOCK_PAGES));
	close(fd);
	engine_close(&e);
}

TEST_HARNESS_MAIN
