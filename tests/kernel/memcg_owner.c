// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=8 enable_tests=1
 *
 * The owner of the memory: the process that maps it pays, whichever process opened the file; and
 * the OOM killer finds it there, also where Linux itself no longer counts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/lib.h"
#include "lib/nl.h"
#include "lib/oom.h"

#define MIB ((size_t)1 << 20)

enum { MAPPED = 8, HIDDEN = 64, OTHERS = 40 };

FIXTURE(owner)
{
	int fd, from, to;
};

FIXTURE_SETUP(owner)
{
	int p[2];

	ASSERT_EQ(0, cgroup_make());
	ASSERT_EQ(0, pipe(p));
	self->from = p[0];
	self->to = p[1];
	self->fd = client_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(owner)
{
	close(self->fd);
	close(self->from);
	close(self->to);
	rmdir(GROUP);
}

static void ends(int to, uint64_t word)
{
	engine_say(to, word);
	pause();
	_exit(1);
}

/* Touches memory of a file that another process opened, in the group. */
static void mapper(int fd, int to)
{
	uint8_t *p;

	if (cgroup_enter(GROUP))
		ends(to, 1);
	p = map_managed(fd, MAPPED * MIB);
	if (!p)
		ends(to, 2);
	fill(p, MAPPED * MIB, 3);
	ends(to, 0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_F(owner, the_process_that_maps_pays)
{
	long before = cgroup_charged(), after;
	uint64_t word = 1;
	pid_t pid = fork();

	if (!pid)
		mapper(self->fd, self->to);
	EXPECT_EQ(0, engine_hear(self->from, 10000, &word));
	EXPECT_EQ(0, word);
	after = cgroup_charged();
	end(pid);
	EXPECT_LT(before + (long)(MAPPED * MIB), after)
		TH_LOG("%ld before, %ld after", before, after);
}

/* Memory that the process keeps and has not mapped any more. */
static void hider(const char *group, int to)
{
	uint8_t *p;

	if (cgroup_enter(group))
		ends(to, 3);
	p = map_managed(client_open(), HIDDEN * MIB);
	if (!p)
		ends(to, 1);
	memset(p, 1, HIDDEN * MIB);
	if (madvise(p, HIDDEN * MIB, MADV_DONTNEED))
		ends(to, 2);
	ends(to, 0);
}

static void bystander(const char *group, size_t bytes, int to)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (cgroup_enter(group))
		ends(to, 2);
	if (p == MAP_FAILED)
		ends(to, 1);
	memset(p, 1, bytes);
	ends(to, 0);
}

TEST_F(owner, the_oom_killer_finds_what_is_hidden)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), tries, ret;
	uint64_t word = 1;
	pid_t has, other, killed = 0;

	ASSERT_LE(0, log);
	has = fork();
	if (!has)
		hider(ROOT, self->to);
	EXPECT_EQ(0, engine_hear(self->from, 20000, &word));
	EXPECT_EQ(0, word);
	other = fork();
	if (!other)
		bystander(ROOT, OTHERS * MIB, self->to);
	EXPECT_EQ(0, engine_hear(self->from, 20000, &word));
	EXPECT_EQ(0, word);
	/* Linux counts none of it. */
	EXPECT_GT(HIDDEN * 256 / 2, oom_resident(has));
	EXPECT_LE(0, lseek(log, 0, SEEK_END));
	ret = put_text("/proc/sysrq-trigger", "f");
	for (tries = 0; !ret && !killed && tries < 1000; tries++) {
		sleep_ms(10);
		killed = oom_first_killed(log);
	}
	end(has);
	end(other);
	close(log);
	if (ret == -ENOENT)
		SKIP(return, "this kernel has no sysrq");
	EXPECT_EQ(0, ret);
	EXPECT_EQ(has, killed) TH_LOG("of %d and %d", has, other);
}

/* Faults that reading all of it takes. */
static long faults(const volatile uint8_t *p, size_t bytes)
{
	struct rusage before, after;
	size_t i;

	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < bytes; i += PAGE)
		(void)p[i];
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

/* A process that takes memory in the group: 0 once it has all, -ECHILD if it was killed first. */
static int beside(FIXTURE_DATA(owner) *self, pid_t *pid)
{
	uint64_t word = 1;
	int tries;

	*pid = fork();
	if (!*pid)
		bystander(GROUP, 2 * OTHERS * MIB, self->to);
	for (tries = 0; tries < 200; tries++) {
		if (!engine_hear(self->from, 100, &word))
			return word;
		if (waitpid(*pid, NULL, WNOHANG) == *pid)
			return -ECHILD;
	}
	return -ETIMEDOUT;
}

/*
 * The group is full before the bystander has as much as the hider, and its OOM killer takes the
 * one that has most. Then the bystander gets what it wants. What this process has mapped stays so.
 * A pause holds the hider just before its pages are free. Where the OOM killer does not see
 * processes that are exiting, it may kill the bystander, too: then the next one gets what it wants.
 */
TEST_F(owner, a_cgroups_oom_killer_finds_what_is_hidden)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	pid_t has, other, killed;
	uint64_t word = 1;
	uint8_t *mapped;
	int ret;

	ASSERT_LE(0, log);
	ASSERT_EQ(0, put_text(GROUP "memory.max", "120M"));
	ASSERT_EQ(0, cgroup_enter(GROUP));
	mapped = map_managed(self->fd, MAPPED * MIB);
	ASSERT_NE(NULL, mapped);
	memset(mapped, 1, MAPPED * MIB);
	has = fork();
	if (!has)
		hider(GROUP, self->to);
	EXPECT_EQ(0, engine_hear(self->from, 20000, &word));
	EXPECT_EQ(0, word);
	EXPECT_GT(HIDDEN * 256 / 2, oom_resident(has));
	EXPECT_LE(0, lseek(log, 0, SEEK_END));
	/* Less than the OOM killer waits for a victim at all, 2 s. */
	ASSERT_EQ(0, knob_inject(GPUEMU_INJECT_WHAT_PAUSE_CLOSE, 400));
	ret = beside(self, &other);
	killed = oom_first_killed(log);
	end(has);
	EXPECT_EQ(before + 1, knob_stat(GPUEMU_A_STATS_INJECTED));
	if (ret == -ECHILD && !oom_sees_exiting())
		ret = beside(self, &other);
	EXPECT_EQ(0, ret);
	if (ret != -ECHILD)
		end(other);
	close(log);
	EXPECT_EQ(has, killed) TH_LOG("of %d and %d", has, other);
	EXPECT_GT(32, faults(mapped, MAPPED * MIB));
	munmap(mapped, MAPPED * MIB);
	ASSERT_EQ(0, cgroup_enter(ROOT));
}

TEST_HARNESS_MAIN
