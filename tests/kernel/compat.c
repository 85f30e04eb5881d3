// SPDX-License-Identifier: GPL-2.0
/* A 32-bit client of a 64-bit module: abi32/abi32.c, with this as its engine. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

#define AT ((uint8_t *)0x20000000)

enum { PAGES = 16 };

TEST(client)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = { .size = sizeof(done) };
	char payload[8] = "", path[4096], *dir;
	int up[2], down[2], status = -1;
	uint32_t space = 0;
	uint8_t *frame;
	struct engine e;
	size_t i, j;
	pid_t pid;

	i = readlink("/proc/self/exe", path, sizeof(path) - 16);
	path[i] = 0;
	dir = strrchr(path, '/');
	strcpy(dir, "/abi32/abi32");
	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	pid = fork();
	if (!pid) {
		dup2(down[0], 0);
		dup2(up[1], 1);
		execl(path, "abi32", NULL);
		perror(path);
		_exit(126);
	}
	close(up[1]);
	close(down[0]);
	if (read(up[0], &space, 4) != 4) {
		waitpid(pid, &status, 0);
		ASSERT_EQ(0, WEXITSTATUS(status)) TH_LOG("a step of abi32.c");
	}
	take.payload = (uintptr_t)payload;
	take.payload_bytes = sizeof(payload);
	ASSERT_EQ(0, call(e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	EXPECT_EQ(space, take.va_space);
	EXPECT_EQ(4, take.payload_bytes);
	EXPECT_EQ(0, memcmp(payload, "\0\7\16\25", 4));
	ASSERT_EQ(0, engine_h2d(&e, space, AT, PAGES));
	for (i = 0; i < PAGES; i++) {
		frame = engine_page(&e, space, AT + i * PAGE);
		ASSERT_NE(NULL, frame);
		for (j = 0; j < PAGE; j++)
			frame[j]++;
	}
	done.id = take.id;
	done.status = -5;
	done.fault_addr = 0x123456789abcull;
	strcpy((char *)done.message, "message");
	ASSERT_EQ(0, call(e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	ASSERT_EQ(1, write(down[1], "", 1));
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status)) TH_LOG("a step of abi32.c");
	engine_close(&e);
}

TEST_HARNESS_MAIN
