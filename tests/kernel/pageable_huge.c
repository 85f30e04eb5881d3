// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=8 timeout=180 enable_tests=1
 *
 * Huge pages of ordinary memory: they move whole, where there is a run of frames and the engine
 * asks for all of one; and what splits them.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/pageable.h"

enum { PAGES = BLOCK / PAGE };

#define COUNT(name) pageable_count(&self->p, GPUEMU_A_STATS_##name)
#define ALL(name) nl_stat(&self->p.nl, 0, GPUEMU_A_STATS_##name)

PAGEABLE_FIXTURE_UNLESS(pageable_huge, !kernel_moves_huge(), "this kernel moves no huge page whole")

static uint8_t *map_huge(struct __test_metadata *_metadata)
{
	uint8_t *p = map_huge_page();

	ASSERT_NE(NULL, p);
	return p;
}

/* It goes whole, and the GPU writes the second byte of each page. */
static uint8_t *bring(struct __test_metadata *_metadata, FIXTURE_DATA(pageable_huge) *self)
{
	uint8_t *p = map_huge(_metadata);
	volatile uint8_t *g, *first;
	int i;

	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	ASSERT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	first = pageable_gpu(&self->p, p);
	for (i = 0; i < PAGES; i++) {
		g = pageable_gpu(&self->p, p + i * PAGE);
		/* A run of frames. */
		ASSERT_EQ(first + i * PAGE, g);
		ASSERT_EQ((uint8_t)i, g[0]);
		g[1] = i + 1;
	}
	return p;
}

/* That no byte is lost. */
static void check(struct __test_metadata *_metadata, const uint8_t *p, int first, int end)
{
	int i;

	for (i = first; i < end; i++) {
		ASSERT_EQ((uint8_t)i, p[i * PAGE]);
		ASSERT_EQ((uint8_t)(i + 1), p[i * PAGE + 1]);
	}
}

/* One touch of the CPU brings all of it home, and it is one page there. */
TEST_F(pageable_huge, there_and_back)
{
	uint8_t *p = bring(_metadata, self);

	EXPECT_EQ(PAGES, COUNT(H2D_PAGES));
	EXPECT_EQ(7, *(volatile uint8_t *)(p + 7 * PAGE));
	EXPECT_EQ(1, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(PAGES, COUNT(D2H_PAGES));
	EXPECT_EQ(1, COUNT(H2D_HUGE));
	EXPECT_EQ(1, COUNT(D2H_HUGE));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(BLOCK / 1024, huge_kb(p));
	check(_metadata, p, 0, PAGES);
	/* And again. */
	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	EXPECT_EQ(3, pageable_gpu(&self->p, p + 2 * PAGE)[1]);
	check(_metadata, p, 0, PAGES);
	EXPECT_EQ(2, COUNT(CPU_FAULTS_DEVICE));
	munmap(p, BLOCK);
}

/* A page whose part is evicted goes whole. */
TEST_F(pageable_huge, evicted)
{
	uint8_t *p = bring(_metadata, self);

	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, p + 40 * PAGE, 16));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(PAGES, COUNT(EVICTED_PAGES));
	EXPECT_EQ(1, COUNT(D2H_HUGE));
	EXPECT_EQ(0, pageable_entry(&self->p, p + 100 * PAGE));
	EXPECT_EQ(BLOCK / 1024, huge_kb(p));
	check(_metadata, p, 0, PAGES);
	EXPECT_EQ(0, COUNT(CPU_FAULTS));
	munmap(p, BLOCK);
}

/* Others need frames: the one that came first goes, whole. */
TEST_F(pageable_huge, evicted_for_others)
{
	uint8_t *p = bring(_metadata, self), *q = map_huge(_metadata), *r = map_huge(_metadata);

	ASSERT_EQ(0, pageable_bring(&self->p, q, PAGES));
	EXPECT_EQ(2 * PAGES, COUNT(RESIDENT_PAGES));
	ASSERT_EQ(0, pageable_bring(&self->p, r, PAGES));
	EXPECT_EQ(2 * PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(PAGES, COUNT(LRU_EVICTED_PAGES));
	EXPECT_EQ(BLOCK / 1024, huge_kb(p));
	check(_metadata, p, 0, PAGES);
	EXPECT_EQ(0, COUNT(CPU_FAULTS));
	EXPECT_EQ(3, COUNT(H2D_HUGE));
	EXPECT_EQ(1, COUNT(D2H_HUGE));
	munmap(p, BLOCK);
	munmap(q, BLOCK);
	munmap(r, BLOCK);
}

/* There is no run of frames, or a part is asked for: the small pages go. */
TEST_F(pageable_huge, in_small_pages)
{
	uint8_t *p = map_huge(_metadata), *small = map_anonymous(BLOCK), *q;
	int i;

	/* One frame of each run is taken. */
	ASSERT_EQ(0, madvise(small, BLOCK, MADV_NOHUGEPAGE));
	memset(small, 1, BLOCK);
	ASSERT_EQ(0, pageable_bring(&self->p, small, PAGES));
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, small, PAGES / 2));
	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	EXPECT_EQ(PAGES + PAGES / 2 + 1, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, *(volatile uint8_t *)p);
	EXPECT_EQ(PAGES + PAGES / 2, COUNT(RESIDENT_PAGES));
	for (i = 0; i < PAGES; i++)
		ASSERT_EQ((uint8_t)i, p[i * PAGE]);
	munmap(p, BLOCK);
	munmap(small, BLOCK);

	q = map_huge(_metadata);
	ASSERT_EQ(0, pageable_bring(&self->p, q + PAGE, PAGES - 1));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(1, *(volatile uint8_t *)(q + PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, COUNT(H2D_HUGE));
	EXPECT_EQ(0, COUNT(D2H_HUGE));
	munmap(q, BLOCK);
}

/* Nobody has touched it, or only looked at it: there is no huge page, and small ones are made. */
TEST_F(pageable_huge, never_touched)
{
	uint8_t *p = map_anonymous(BLOCK);
	int turn;

	ASSERT_EQ(0, madvise(p, BLOCK, MADV_HUGEPAGE));
	for (turn = 0; turn < 2; turn++) {
		ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
		EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
		EXPECT_EQ(0, *pageable_gpu(&self->p, p + 9 * PAGE));
		*pageable_gpu(&self->p, p + 9 * PAGE) = 5;
		EXPECT_EQ(5, p[9 * PAGE]);
		EXPECT_EQ(0, p[10 * PAGE]);
		ASSERT_EQ(0, madvise(p, BLOCK, MADV_DONTNEED));
		EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
		/* The huge page of zeroes. */
		EXPECT_EQ(0, *(volatile uint8_t *)p);
	}
	munmap(p, BLOCK);
}

/* --- what splits it --- */

/* The machine has no huge page to have in reserve: the small ones go. */
TEST_F(pageable_huge, without_a_reserve)
{
	uint8_t *p = map_huge(_metadata);
	int i;

	ASSERT_EQ(0, nl_inject(&self->p.nl, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 1));
	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, COUNT(H2D_HUGE));
	EXPECT_EQ(7, *(volatile uint8_t *)(p + 7 * PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(RESIDENT_PAGES));
	for (i = 0; i < PAGES; i++)
		ASSERT_EQ((uint8_t)i, p[i * PAGE]);
	munmap(p, BLOCK);
}

/* Once it is on the device, nothing keeps it from coming home. */
TEST_F(pageable_huge, no_huge_page_at_home)
{
	uint8_t *p = bring(_metadata, self);

	ASSERT_EQ(0, nl_inject(&self->p.nl, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 1000));
	EXPECT_EQ(7, *(volatile uint8_t *)(p + 7 * PAGE));
	EXPECT_EQ(1, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(BLOCK / 1024, huge_kb(p));
	check(_metadata, p, 0, PAGES);
	ASSERT_EQ(0, nl_inject(&self->p.nl, GPUEMU_INJECT_WHAT_PAGE_ALLOC, 0));
	munmap(p, BLOCK);
}

TEST_F(pageable_huge, unmapped_in_part)
{
	uint8_t *p = bring(_metadata, self);

	ASSERT_EQ(0, munmap(p, 3 * PAGE));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	ASSERT_EQ(0, madvise(p + 5 * PAGE, PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, mprotect(p + 7 * PAGE, PAGE, PROT_READ));
	EXPECT_EQ(0, p[5 * PAGE]);
	check(_metadata, p, 3, 5);
	check(_metadata, p, 6, PAGES);
	munmap(p + 3 * PAGE, BLOCK - 3 * PAGE);
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
}

/* What is left of it is evicted. */
TEST_F(pageable_huge, a_part_evicted)
{
	uint8_t *p = bring(_metadata, self);

	ASSERT_EQ(0, munmap(p, 3 * PAGE));
	ASSERT_EQ(0, pageable_bring(&self->p, p + 3 * PAGE, PAGES - 3));
	EXPECT_EQ(9, pageable_gpu(&self->p, p + 8 * PAGE)[1]);
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, p + 3 * PAGE, PAGES - 3));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	check(_metadata, p, 3, PAGES);
	munmap(p + 3 * PAGE, BLOCK - 3 * PAGE);
}

TEST_F(pageable_huge, mremap)
{
	uint8_t *p = bring(_metadata, self), *to = map_anonymous(BLOCK);

	ASSERT_EQ(to, mremap(p, BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	ASSERT_EQ(0, pageable_bring(&self->p, to, PAGES));
	EXPECT_EQ(6, pageable_gpu(&self->p, to + 5 * PAGE)[1]);
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, to, PAGES));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	check(_metadata, to, 0, PAGES);
	munmap(to, BLOCK);
}

/* Each process has its own of what either writes. */
TEST_F(pageable_huge, fork)
{
	uint8_t *p = bring(_metadata, self);
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		int bad = p[1] != 1 || p[8 * PAGE] != 8 || p[9 * PAGE + 1] != 10;

		p[8 * PAGE] = 0xcc;
		_exit(bad || p[8 * PAGE] != 0xcc || p[8 * PAGE + 1] != 9);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	check(_metadata, p, 0, PAGES);
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	munmap(p, BLOCK);
}

/* The engine writes on after a fork, and the child keeps what it had. */
TEST_F(pageable_huge, written_after_a_fork)
{
	uint8_t *p = bring(_metadata, self), byte;
	int to[2], status, ret;
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	pid = fork();
	if (!pid) {
		close(to[1]);
		if (read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(p[1] != 1 || p[8 * PAGE] != 8 || p[9 * PAGE + 1] != 10);
	}
	/* The parent's copies are small pages. One that Linux has in its hands stays. */
	ret = pageable_bring(&self->p, p, PAGES);
	ASSERT_TRUE(!ret || ret == -EBUSY) TH_LOG("%d", ret);
	*pageable_gpu(&self->p, p) = 99;
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(99, p[0]);
	check(_metadata, p, 1, PAGES);
	munmap(p, BLOCK);
	close(to[0]);
	close(to[1]);
}

/* --- its end --- */

TEST_F(pageable_huge, freed)
{
	uint8_t *p = bring(_metadata, self);

	ASSERT_EQ(0, madvise(p, BLOCK, MADV_DONTNEED));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, p[PAGE]);
	munmap(p, BLOCK);
}

TEST_F(pageable_huge, the_clients_end)
{
	uint8_t *p = bring(_metadata, self);

	close(self->p.fd);
	self->p.fd = client_open();
	EXPECT_EQ(0, ALL(RESIDENT_PAGES));
	EXPECT_EQ(BLOCK / 1024, huge_kb(p));
	check(_metadata, p, 0, PAGES);
	munmap(p, BLOCK);
}

TEST_HARNESS_MAIN
