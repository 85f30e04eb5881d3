// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=2 remote_mb=8 timeout=300 alone
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
#include "lib/managed.h"
#include "lib/pageable.h"

enum { PAGES = 64, CHILDREN = 1000 };

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

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * One commit for a page of the one client that is to leave, and one of another, which waits for
 * it. Its time.
 */
static int64_t commit(struct pageable *p, uint32_t other, int i)
{
	struct gpuemu_migration m[] = {
		{ .addr = (uintptr_t)mem + i * PAGE, .va_space = p->space, .pages = 1,
		  .op = GPUEMU_MIGRATE_D2H },
		{ .addr = (uintptr_t)managed + i * PAGE, .va_space = other, .pages = 1,
		  .op = GPUEMU_MIGRATE_H2D },
	};
	uint64_t begun;

	engine_fault(&p->e, other, managed + i * PAGE, GPUEMU_ACCESS_WRITE);
	if (engine_raise(&p->e, 0) != 1)
		return -1;
	begun = now_ns();
	if (engine_commit(&p->e, m, 2) < 0 || m[1].status)
		return -1;
	return now_ns() - begun;
}

/* Each of the commits would look into all children, so the quicker ones show it, too. */
struct waits {
	uint64_t quartile, median, longest;
};

/* Of all pages, each of which n children have. */
static int measure(struct pageable *p, int n, struct waits *waits)
{
	int fd = client_open(), ret = -1, i;
	uint64_t took[PAGES];
	int64_t one;

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
	for (i = 0; i < PAGES; i++) {
		one = commit(p, client_space(fd), i);
		if (one < 0)
			goto out_children;
		took[i] = one;
	}
	qsort(took, PAGES, sizeof(took[0]), by_size);
	waits->quartile = took[PAGES / 4];
	waits->median = took[PAGES / 2];
	waits->longest = took[PAGES - 1];
	/* Those that a worker sends are at home soon. */
	for (i = 0; i < 20000 && pageable_count(p, GPUEMU_A_STATS_RESIDENT_PAGES); i++)
		sleep_ms(1);
	ret = pageable_count(p, GPUEMU_A_STATS_RESIDENT_PAGES) ? -2 : 0;
	for (i = 0; i < PAGES; i++)
		if (mem[i * PAGE] != i + 1)
			ret = -3;
out_children:
	end_children(n);
out:
	munmap(mem, PAGES * PAGE);
	munmap(managed, PAGES * PAGE);
	close(fd);
	return ret;
}

static void tell(int children, const struct waits *w)
{
	printf("# %d children: quartile %llu us, median %llu us, longest %llu us\n", children,
	       (unsigned long long)w->quartile / 1000, (unsigned long long)w->median / 1000,
	       (unsigned long long)w->longest / 1000);
	fflush(stdout);
}

TEST_F_TIMEOUT(pageable_shared, nobody_waits_for_a_thousand_children, 240)
{
	static const int children[] = { 1, 10, 100, CHILDREN };
	struct waits none, some;
	size_t i;

	ASSERT_EQ(0, measure(&self->p, 0, &none));
	tell(0, &none);
	for (i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		ASSERT_EQ(0, measure(&self->p, children[i], &some));
		tell(children[i], &some);
		EXPECT_GT(2 * none.quartile, some.quartile);
	}
}

TEST_HARNESS_MAIN
