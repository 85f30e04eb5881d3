// SPDX-License-Identifier: GPL-2.0
/*
 * vm: impatient vram_mb=0 pt_mb=99999999 fault_entries=1000 monitor_ms=501 replay_policy=9
 *
 * A bad value of a module parameter never fails the load: the nearest allowed one is
 * used, or, where there is none, the default.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"
#include "lib/nl.h"

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

TEST(nearest)
{
	struct gpuemu_info info;
	struct engine e;
	int fd = client_open();

	ASSERT_EQ(0, client_info(fd, &info));
	EXPECT_EQ(1ull << 20, info.vram_bytes);
	ASSERT_EQ(0, engine_open(&e));
	EXPECT_EQ(256, e.attach.vram_frames);
	EXPECT_EQ(parameter("pt_mb") * 256, e.attach.pt_tables);
	EXPECT_EQ(1024, e.attach.fault_entries);
	engine_close(&e);
	close(fd);
	EXPECT_EQ(1, parameter("vram_mb"));
	/* As much as there may be, of the memory there is. */
	EXPECT_LT(16, parameter("pt_mb"));
	EXPECT_GE(4096, parameter("pt_mb"));
	EXPECT_EQ(1024, parameter("fault_entries"));
	EXPECT_EQ(500, parameter("monitor_ms"));
	EXPECT_EQ(3, parameter("replay_policy"));
	EXPECT_EQ(0, parameter("enable_tests"));
	/* And what was not given is the default. */
	EXPECT_EQ(256, parameter("fault_batch"));
	/* On a slow kernel the machine's init makes this one longer. */
	EXPECT_EQ(500 * slowness(), parameter("invalidate_timeout_ms"));
	EXPECT_EQ(0, parameter("link_gbps"));
}

TEST(read_only)
{
	EXPECT_EQ(-1, open("/sys/module/gpuemu/parameters/vram_mb", O_WRONLY));
}

/* Not even root may make things fail when the module was loaded without. */
TEST(no_tests)
{
	struct nl_request r;
	struct nl nl;

	ASSERT_EQ(0, nl_open(&nl));
	nl_begin(&nl, &r, GPUEMU_CMD_INJECT, 0);
	nl_put_u32(&r, GPUEMU_A_INJECT_WHAT, GPUEMU_INJECT_WHAT_PAGE_ALLOC);
	EXPECT_EQ(-EPERM, nl_talk(&nl, &r, NULL, NULL));
	EXPECT_NE(NULL, strstr(nl.said, "enable_tests"));
	nl_close(&nl);
}

TEST_HARNESS_MAIN
