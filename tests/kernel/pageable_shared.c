// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=2 remote_mb=8 enable_tests=1 timeout=300
 *
 * Pages on the device that a thousand children of a client have, too: Linux looks into each
 * child before such a page moves. All clients wait for the engine's commit, so it does not do
 * that; a worker does.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/knob.h"
#include "lib/managed.h"
#include "lib/pageable.h"

enum { PAGES = 64, CHILDREN = 1000, HELD_MS = 10000 };

PAGEABLE_FIXTURE(pageable_shared)

static uint8_t *mem, *managed;
static pid_t child[CHILDREN];

static void end_children(int n)
{
	int i;

	for (i = 0; i < n; i++)
		kill(child[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(child[i], NULL, 0);
}

static int fork_children(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		child[i] = fork();
		if (!child[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (child[i] < 0)
			break;
	}
	if (i < n)
		end_children(i);
	return i == n ? 0 : -1;
}

/*
 * One commit for a page of the one client that is to leave, and one of another, which waits for
 * it. The first one's status, or -EIO: the second got no page.
 */
static int commit(struct pageable *p, uint32_t other, int i)
{
	struct gpuemu_migration m[] = {
		{ .addr = (uintptr_t)mem + i * PAGE, .va_space = p->space, .pages = 1,
		  .op = GPUEMU_MIGRATE_D2H },
		{ .addr = (uintptr_t)managed + i * PAGE, .va_space = other, .pages = 1,
		  .op = GPUEMU_MIGRATE_H2D },
	};

	engine_fault(&p->e, other, managed + i * PAGE, GPUEMU_ACCESS_WRITE);
	if (engine_raise(&p->e, 0) != 1 || engine_commit(&p->e, m, 2) < 0 || m[1].status)
		return -EIO;
	return m[0].status;
}

/* Waits until a worker has sent all of them. Whether it has, and they have their content. */
static bool all_home(struct pageable *p)
{
	int i;

	for (i = 0; i < 20000 && pageable_count(p, GPUEMU_A_STATS_RESIDENT_PAGES); i++)
		sleep_ms(1);
	for (i = 0; i < PAGES; i++)
		if (mem[i * PAGE] != i + 1)
			return false;
	return !pageable_count(p, GPUEMU_A_STATS_RESIDENT_PAGES);
}

/*
 * A commit for each page. Meanwhile each task that sends pages home waits, for ms in all. *sent:
 * pages that went in their commit; *later: pages that the commit left to a worker. 0 or -errno.
 */
static int commit_all(struct pageable *p, uint32_t other, uint32_t ms, int *sent, int *later)
{
	int ret, i;

	*sent = 0;
	*later = 0;
	ret = nl_inject(&p->nl, GPUEMU_INJECT_WHAT_PAUSE_HOME, ms);
	for (i = 0; i < PAGES && !ret; i++) {
		ret = commit(p, other, i);
		*sent += !ret;
		*later += ret == -EBUSY;
		ret = ret == -EBUSY ? 0 : ret;
	}
	return nl_inject(&p->nl, GPUEMU_INJECT_WHAT_PAUSE_HOME, 0) ?: ret;
}

/* The same, of pages that n children have, too. */
static int commit_shared(struct pageable *p, int n, uint32_t ms, int *sent, int *later)
{
	int fd = client_open(), ret = -1, i;

	mem = map_anonymous(PAGES * PAGE);
	managed = map_managed(fd, PAGES * PAGE);
	for (i = 0; i < PAGES; i++) {
		mem[i * PAGE] = i + 1;
		managed[i * PAGE] = i;
	}
	for (i = 0; i < PAGES; i += 16)
		if (pageable_bring(p, mem + i * PAGE, 16))
			goto out;
	/* The engine has them mapped, and the children have them on the device. */
	if (fork_children(n))
		goto out;
	for (i = 0; i < PAGES; i += 16)
		if (pageable_reads(p, mem + i * PAGE, 16))
			goto out_children;
	ret = commit_all(p, client_space(fd), ms, sent, later);
	if (!ret && !all_home(p))
		ret = -2;
out_children:
	end_children(n);
out:
	munmap(mem, PAGES * PAGE);
	munmap(managed, PAGES * PAGE);
	close(fd);
	return ret;
}

/* The commit sends home itself what only its client has: it waits where the worker would. */
TEST_F(pageable_shared, no_children)
{
	uint64_t before = knob_stat(GPUEMU_A_STATS_INJECTED);
	int sent, later;

	ASSERT_EQ(0, commit_shared(&self->p, 0, 20, &sent, &later));
	EXPECT_EQ(PAGES, sent);
	EXPECT_EQ(0, later);
	EXPECT_EQ(before + 1, knob_stat(GPUEMU_A_STATS_INJECTED));
}

/*
 * No commit sends a page that a child has. If one did, it would come to the pause, and its page
 * would be at home when it ends; the worker's page is not, for as long as the pause is.
 */
TEST_F_TIMEOUT(pageable_shared, nobody_waits_for_a_thousand_children, 240)
{
	static const int children[] = { 1, 10, 100, CHILDREN };
	int sent, later;
	size_t i;

	for (i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		ASSERT_EQ(0, commit_shared(&self->p, children[i], HELD_MS, &sent, &later));
		EXPECT_EQ(0, sent);
		EXPECT_EQ(PAGES, later);
	}
}

TEST_HARNESS_MAIN
