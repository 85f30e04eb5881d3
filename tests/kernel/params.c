// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=0 pt_mb=99999999 fault_entries=1000 invalidate_timeout_ms=1
 *
 * A bad value of a module parameter never fails the load: the default is used.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

static long parameter(const char *name)
{
	char path[128] = "/sys/module/gpuemu/parameters/", text[32] = "";
	int fd;

	strcat(path, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -1;
	close(fd);
	return atol(text);
}

TEST(defaults)
{
	struct gpuemu_info info;
	struct engine e;
	int fd = client_open();

	ASSERT_EQ(0, client_info(fd, &info));
	EXPECT_EQ(64ull << 20, info.vram_bytes);
	ASSERT_EQ(0, engine_open(&e));
	EXPECT_EQ(64 * 256, e.attach.vram_frames);
	EXPECT_EQ(16 * 256, e.attach.pt_tables);
	EXPECT_EQ(4096, e.attach.fault_entries);
	engine_close(&e);
	close(fd);
	EXPECT_EQ(64, parameter("vram_mb"));
	EXPECT_EQ(16, parameter("pt_mb"));
	EXPECT_EQ(4096, parameter("fault_entries"));
	EXPECT_EQ(500, parameter("invalidate_timeout_ms"));
}

TEST(read_only)
{
	EXPECT_EQ(-1, open("/sys/module/gpuemu/parameters/vram_mb", O_WRONLY));
}

TEST_HARNESS_MAIN
