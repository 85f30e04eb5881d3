// SPDX-License-Identifier: GPL-2.0
/* Opening and closing: each file is a client with a VA space of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

TEST(open_close)
{
	int fd = client_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, close(fd));
}

TEST(mode)
{
	struct stat st;

	ASSERT_EQ(0, stat("/dev/gpuemu", &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0666, st.st_mode & 0777);
}

TEST(info)
{
	struct gpuemu_info a, b;
	int fd = client_open(), fd2 = client_open();

	ASSERT_LE(0, fd);
	ASSERT_LE(0, fd2);
	ASSERT_EQ(0, client_info(fd, &a));
	ASSERT_EQ(0, client_info(fd2, &b));
	EXPECT_EQ(GPUEMU_ABI_VERSION, a.abi);
	EXPECT_NE(0, a.va_space);
	EXPECT_NE(0, b.va_space);
	EXPECT_NE(a.va_space, b.va_space);
	EXPECT_EQ(0, a.engine_generation);
	EXPECT_LT(0, a.vram_bytes);
	EXPECT_EQ(a.vram_bytes, a.vram_free_bytes);
	close(fd);
	close(fd2);
}

TEST(generation)
{
	struct gpuemu_info info;
	struct engine e;
	int fd = client_open();
	uint32_t first;

	ASSERT_EQ(0, engine_open(&e));
	first = e.attach.generation;
	EXPECT_NE(0, first);
	ASSERT_EQ(0, client_info(fd, &info));
	EXPECT_EQ(first, info.engine_generation);
	engine_close(&e);
	ASSERT_EQ(0, client_info(fd, &info));
	EXPECT_EQ(0, info.engine_generation);
	ASSERT_EQ(0, engine_open(&e));
	EXPECT_EQ(first + 1, e.attach.generation);
	engine_close(&e);
	close(fd);
}

/* There are GPUEMU_SPACES_MAX spaces; the next open fails and nothing leaks. */
TEST(too_many)
{
	struct rlimit limit = { 1024, 1024 };
	int fd[GPUEMU_SPACES_MAX], n;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	for (n = 0; n < (int)GPUEMU_SPACES_MAX; n++) {
		fd[n] = client_open();
		ASSERT_LE(0, fd[n]) TH_LOG("open %d: %d", n, fd[n]);
	}
	EXPECT_EQ(-ENOSPC, client_open());
	close(fd[100]);
	fd[100] = client_open();
	EXPECT_LE(0, fd[100]);
	while (n--)
		close(fd[n]);
}

TEST(space_ids_are_not_reused_at_once)
{
	int fd = client_open();
	uint32_t first = client_space(fd);

	close(fd);
	fd = client_open();
	EXPECT_NE(first, client_space(fd));
	close(fd);
}

TEST_HARNESS_MAIN
