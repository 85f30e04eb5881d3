// SPDX-License-Identifier: GPL-2.0
/*
 * What an ordinary user can make the module remember with mprotect(): the call
 * comes to the module before the kernel splits the mapping, so it may fail behind
 * that as often as one likes. vm: timeout=90
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/harness.h"
#include "lib/lib.h"

enum { NOBODY = 65534, CALLS = 200000, GROWTH_MAX_KB = 1024 };

/* Kernel memory that cannot be reclaimed. */
static long unreclaimable_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SUnreclaim: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static int max_map_count(const char *text)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "w");
	int ret = f && fputs(text, f) >= 0 ? 0 : -1;

	return f && fclose(f) ? -1 : ret;
}

/* Marks every second page; the kernel can split off only a few of them. */
static int mark_all(void)
{
	int fd = client_open(), refused = 0, i;
	uint8_t *p;

	if (setgid(NOBODY) || setuid(NOBODY))
		return 1;
	p = map_managed(fd, 2 * CALLS * PAGE);
	if (!p)
		return 2;
	for (i = 0; i < CALLS; i++)
		refused += mprotect(p + 2 * i * PAGE, PAGE, PROT_READ) &&
			   errno == ENOMEM;
	return refused > CALLS / 2 ? 0 : 3;
}

TEST(memory_of_marks)
{
	long before, after;
	int status, fds[2];
	char c;
	pid_t pid;

	ASSERT_EQ(0, max_map_count("100"));
	ASSERT_EQ(0, pipe(fds));
	before = unreclaimable_kb();
	ASSERT_LT(0, before);
	pid = fork();
	if (!pid) {
		c = mark_all();
		if (write(fds[1], &c, 1) != 1)
			_exit(4);
		pause();
	}
	ASSERT_EQ(1, read(fds[0], &c, 1));
	after = unreclaimable_kb();
	EXPECT_EQ(0, c);
	EXPECT_GT(before + GROWTH_MAX_KB, after)
		TH_LOG("%ld KiB before, %ld KiB with %d marks", before, after,
		       CALLS);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	max_map_count("65530");
}

/* A process pays for its marks. A node of the xarray has 576 bytes, for the marks of 64 VA blocks. */
static int mark_blocks(void)
{
	const size_t bytes = (size_t)3 << 38, blocks = bytes / BLOCK;
	int fd = client_open();
	long before;
	uint8_t *p;

	if (cgroup_enter(GROUP))
		return 1;
	p = map_managed(fd, bytes);
	if (!p)
		return 2;
	before = cgroup_charged();
	if (before < 0 || mprotect(p, bytes, PROT_NONE))
		return 3;
	/* Not all of it: the counter lags. */
	return cgroup_charged() - before > (long)(blocks / 64 * 576 / 2) ? 0 : 4;
}

TEST(who_pays_for_marks)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, cgroup_make());
	pid = fork();
	if (!pid)
		_exit(mark_blocks());
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(0, rmdir(GROUP));
}

/* More than a space may remember is refused, and nothing has changed. */
TEST(more_than_there_may_be)
{
	size_t bytes = (size_t)3 << 40;
	struct engine e;
	int fd = client_open();
	uint8_t *p;

	ASSERT_EQ(0, engine_open(&e));
	p = map_managed(fd, bytes);
	ASSERT_NE(NULL, p);
	EXPECT_EQ(-1, mprotect(p, bytes, PROT_NONE));
	EXPECT_EQ(ENOMEM, errno);
	fill(p, PAGE, 1);
	EXPECT_EQ(0, engine_h2d(&e, client_space(fd), p, 1));
	/* A part is possible, and parts of that. */
	engine_acker_start(&e);
	EXPECT_EQ(0, mprotect(p, bytes / 4, PROT_NONE));
	EXPECT_EQ(-EFAULT, engine_h2d(&e, client_space(fd), p, 1));
	EXPECT_EQ(-EFAULT, engine_h2d(&e, client_space(fd), p + bytes / 8, 1));
	EXPECT_EQ(0, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, engine_h2d(&e, client_space(fd), p, 1));
	EXPECT_EQ(-EFAULT, engine_h2d(&e, client_space(fd), p + PAGE, 1));
	EXPECT_EQ(0, mprotect(p, bytes, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, engine_h2d(&e, client_space(fd), p, 512));
	EXPECT_TRUE(filled(p, PAGE, 1));
	engine_close(&e);
	close(fd);
}

TEST_HARNESS_MAIN
