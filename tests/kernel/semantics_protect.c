// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect() of managed memory. The GPU must not write, unnoticed, what the
 * program made read-only: it cannot have such memory at all.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"

#define RW (PROT_READ | PROT_WRITE)

MANAGED_FIXTURE(protect)

/* Pages 4 .. 11, on both sides of the blocks' border. */
enum { FIRST = 4, N = 8 };

static int protect(struct managed *m, int prot)
{
	return mprotect(m->mem + FIRST * PAGE, N * PAGE, prot) ? -errno : 0;
}

/* What a fault record on the page would be told. */
static int flags_of(struct managed *m, size_t page, enum gpuemu_access access)
{
	int ret;

	engine_fault(&m->e, m->space, m->mem + page * PAGE, access);
	ret = engine_raise(&m->e, 0);
	if (ret != 1)
		return -EIO;
	ret = m->e.control->batch.faults[0].flags;
	return engine_commit(&m->e, NULL, 0) ? -EIO : ret;
}

TEST_F(protect, read_only)
{
	struct managed *m = &self->m;
	size_t i;

	ASSERT_EQ(0, protect(m, PROT_READ));
	/* The GPU has lost it, and does not get it again. */
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_EQ(managed_placed(m, 0, FIRST), managed_resident(m, 0, FIRST));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED,
		  flags_of(m, FIRST, GPUEMU_ACCESS_WRITE));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED,
		  flags_of(m, FIRST + N - 1, GPUEMU_ACCESS_READ));
	EXPECT_EQ(0, flags_of(m, FIRST - 1, GPUEMU_ACCESS_WRITE) &
		  GPUEMU_FAULT_UNMANAGED);
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, m->mem, 8));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space, m->mem + 8 * PAGE, 8));
	/* What is beside it went all the same. */
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_EQ(2 * FIRST, managed_resident(m, 0, MANAGED_PAGES));
	/* The CPU reads it and cannot write it. */
	for (i = FIRST; i < FIRST + N; i++) {
		EXPECT_EQ(SIGSEGV, signal_of(m->mem + i * PAGE, true));
		EXPECT_EQ(0, signal_of(m->mem + i * PAGE, false));
	}
	EXPECT_EQ(0, signal_of(m->mem + (FIRST - 1) * PAGE, true));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));

	/* And back. */
	ASSERT_EQ(0, protect(m, RW));
	managed_refill(m, 78);
	EXPECT_EQ(0, flags_of(m, FIRST, GPUEMU_ACCESS_WRITE));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_EQ(MANAGED_PAGES, managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_F(protect, none)
{
	struct managed *m = &self->m;

	ASSERT_EQ(0, protect(m, PROT_NONE));
	EXPECT_EQ(0, managed_resident(m, FIRST, N));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space,
				      m->mem + FIRST * PAGE, 1));
	EXPECT_EQ(SIGSEGV, signal_of(m->mem + FIRST * PAGE, false));
	EXPECT_EQ(SIGSEGV, signal_of(m->mem + (FIRST + N - 1) * PAGE, true));
	ASSERT_EQ(0, protect(m, PROT_READ));
	EXPECT_EQ(-EFAULT, engine_h2d(&m->e, m->space,
				      m->mem + FIRST * PAGE, 1));
	ASSERT_EQ(0, protect(m, RW));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem + FIRST * PAGE, N));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* The engine hears of it before mprotect() returns, if it has any of it. */
TEST_F(protect, engine_is_told)
{
	struct managed *m = &self->m;
	uint32_t put = m->e.control->inval_put;

	ASSERT_EQ(0, protect(m, PROT_READ));
	EXPECT_EQ(!!managed_placed(m, FIRST, N), m->e.control->inval_put != put);
	/* Nothing new, nothing to tell. */
	put = m->e.control->inval_put;
	ASSERT_EQ(0, protect(m, PROT_READ));
	ASSERT_EQ(0, protect(m, PROT_NONE));
	ASSERT_EQ(0, protect(m, RW));
	ASSERT_EQ(0, protect(m, RW));
	EXPECT_EQ(put, m->e.control->inval_put);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_F(protect, never_executable)
{
	struct managed *m = &self->m;

	EXPECT_EQ(-EACCES, protect(m, RW | PROT_EXEC));
	EXPECT_EQ(-EACCES, protect(m, PROT_READ | PROT_EXEC));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* Page by page, and over what is there: each page is what it was last made. */
TEST_F(protect, piecemeal)
{
	struct managed *m = &self->m;
	struct gpuemu_migration all = {
		.va_space = m->space, .pages = 8, .op = GPUEMU_MIGRATE_H2D,
	};
	size_t i;

	for (i = 0; i < MANAGED_PAGES; i += 2)
		ASSERT_EQ(0, mprotect(m->mem + i * PAGE, PAGE, PROT_READ));
	for (i = 0; i < MANAGED_PAGES; i += 4)
		ASSERT_EQ(0, mprotect(m->mem + i * PAGE, PAGE, RW));
	for (i = 0; i < MANAGED_PAGES; i += 8) {
		all.addr = (uintptr_t)m->mem + i * PAGE;
		ASSERT_EQ(0, engine_raise(&m->e, GPUEMU_RAISE_EMPTY_OK));
		ASSERT_LE(0, engine_commit(&m->e, &all, 1));
		EXPECT_EQ(-EFAULT, all.status);
	}
	for (i = 0; i < MANAGED_PAGES; i++)
		EXPECT_EQ(i % 4 != 2, managed_resident(m, i, 1));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, mprotect(m->mem, MANAGED_BYTES, RW));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* A new mapping begins with its own rights, not with those of the old one. */
TEST_F(protect, forgotten_with_the_mapping)
{
	struct managed *m = &self->m;
	uint8_t *p = m->mem + FIRST * PAGE;

	ASSERT_EQ(0, protect(m, PROT_NONE));
	ASSERT_EQ(0, munmap(p, N * PAGE));
	ASSERT_EQ(p, map_managed_at(m->fd, p, N * PAGE));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, p, N));
	EXPECT_TRUE(managed_zero(p, N * PAGE));
	EXPECT_TRUE(managed_intact(m, 0, FIRST));
	EXPECT_TRUE(managed_intact(m, FIRST + N, FIRST));
}

/* System calls obey it too. */
TEST_F(protect, system_calls)
{
	struct managed *m = &self->m;
	uint8_t *p = m->mem + FIRST * PAGE;
	uint8_t out[2];
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, protect(m, PROT_READ));
	ASSERT_EQ(2, write(fds[1], p, 2));
	EXPECT_EQ(-1, read(fds[0], p, 2));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(2, write(fds[1], p, 2));
	ASSERT_EQ(2, read(fds[0], out, 2));
	EXPECT_EQ(0, memcmp(out, m->copy + FIRST * PAGE, 2));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(fds[0]);
	close(fds[1]);
}

TEST_HARNESS_MAIN
