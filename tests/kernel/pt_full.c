// SPDX-License-Identifier: GPL-2.0
/*
 * vm: pt_mb=1 client_tables_pct=0
 *
 * The page-table aperture runs out: the fault gets an error, the page stays, and
 * what munmap() gives back is used again.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { TABLES = 256 };

TEST(full)
{
	/* Of 256 tables one is the directory, four are upper ones. */
	int fd = client_open(), i, ret = 0, n;
	uint32_t space = client_space(fd);
	uint8_t *mem, *base;
	struct engine e;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(TABLES, e.attach.pt_tables);
	/* All blocks inside one gigabyte, so that the count is exact. */
	base = reserve(2ull << 30);
	base = (uint8_t *)(((uintptr_t)base + (1ull << 30) - 1) &
			   ~((1ull << 30) - 1));
	mem = map_managed_at(fd, base, 300 * BLOCK);
	ASSERT_NE(NULL, mem);
	for (n = 0; n < 300; n++) {
		mem[n * BLOCK] = n;
		ret = engine_h2d(&e, space, mem + n * BLOCK, 1);
		if (ret)
			break;
	}
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_EQ(TABLES - 1 - 3, n);
	EXPECT_EQ(NULL, engine_page(&e, space, mem + n * BLOCK));
	/* A block that has its table goes on. */
	EXPECT_EQ(0, engine_h2d(&e, space, mem + PAGE, 1));
	/* Eviction alone frees no table; unmapping does. */
	EXPECT_EQ(0, engine_d2h(&e, space, mem, 512));
	EXPECT_EQ(-ENOMEM, engine_h2d(&e, space, mem + n * BLOCK, 1));
	ASSERT_EQ(0, munmap(mem, BLOCK));
	EXPECT_EQ(0, engine_h2d(&e, space, mem + n * BLOCK, 1));
	for (i = 1; i <= n; i++)
		EXPECT_EQ((uint8_t)i, mem[i * BLOCK]);
	close(fd);
	munmap(mem, 300 * BLOCK);
	/* All tables are back: the same again. */
	fd = client_open();
	space = client_space(fd);
	mem = map_managed_at(fd, base, 300 * BLOCK);
	for (n = 0, ret = 0; n < 300 && !ret; n++)
		ret = engine_h2d(&e, space, mem + n * BLOCK, 1);
	EXPECT_EQ(TABLES - 1 - 3, n - 1);
	munmap(mem, 300 * BLOCK);
	close(fd);
	engine_close(&e);
}

TEST_HARNESS_MAIN
