// SPDX-License-Identifier: GPL-2.0
/*
 * A client without rights, with 4 MiB left in its memory cgroup, wants all of device memory through
 * the library and a real daemon. Its own kernel ends with one error; others, meanwhile and
 * afterwards, get the frames that they want.
 * vm: daemon timeout=180 vram_mb=8
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/cgroup.h"
#include "lib/harness.h"
#include "lib/marker.h"
#include "lib/slow.h"

enum { HOG_PAGES = 16 << 8, PAGES = 7 << 8, NOBODY = 65534 };

/* Leaves the file in a memory cgroup in which there are 4 MiB for it, and this process elsewhere. */
static int limit(struct marker *m)
{
	char text[32];
	int ret = cgroup_enter(GROUP) ?: marker_open(m, NULL, HOG_PAGES);

	/* Else the process itself is what the OOM killer finds there. */
	ret = ret ?: cgroup_enter(ROOT);
	if (ret)
		return ret;
	snprintf(text, sizeof(text), "%ld", cgroup_charged() + (4l << 20));
	return put_text(GROUP "memory.max", text);
}

/* Says how its kernel ended, and goes on, as one does that means harm. */
static void hog(int to)
{
	struct marker m;
	int ret = limit(&m);

	if (!ret && setresuid(NOBODY, NOBODY, NOBODY))
		ret = -errno;
	ret = ret ?: marker_run(&m, HOG_PAGES);
	if (write(to, &ret, sizeof(ret)) != sizeof(ret))
		_exit(1);
	for (;;)
		marker_run(&m, HOG_PAGES);
}

FIXTURE(victim) { };

FIXTURE_SETUP(victim)
{
}

FIXTURE_TEARDOWN(victim)
{
}

/* A kernel that checks itself takes most of a minute until the hog has its error. */
TEST_F_TIMEOUT(victim, hostage, 90)
{
	struct timespec begin, end;
	struct marker victim;
	int ends[2], ret = 1, marked = 0;
	double took;
	pid_t pid;

	ASSERT_EQ(0, cgroup_make());
	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid)
		hog(ends[1]);
	ASSERT_EQ(sizeof(ret), read(ends[0], &ret, sizeof(ret)));
	EXPECT_EQ(-ENOMEM, ret);
	ASSERT_EQ(0, marker_open(&victim, NULL, PAGES));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	EXPECT_EQ(0, marker_run(&victim, PAGES));
	clock_gettime(CLOCK_MONOTONIC, &end);
	took = end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
	TH_LOG("seven eighths of device memory in %.2f s beside it", took);
	EXPECT_GT(20 * slowness(), took);
	for (int i = 0; i < PAGES; i++)
		marked += victim.p[i * MARKER_PAGE];
	EXPECT_EQ(PAGES, marked);
	gpuemu_close(victim.ctx);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rmdir(GROUP);
}

TEST_HARNESS_MAIN
