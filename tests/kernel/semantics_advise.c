// SPDX-License-Identifier: GPL-2.0
/*
 * Advice, locks, and those who look at or want to move pages: none of them
 * loses a byte, and none moves a page of the module's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/text.h"

MANAGED_FIXTURE(advise)

/* Later than some libc. */
#define ADV_COLD		20
#define ADV_PAGEOUT		21
#define ADV_POPULATE_READ	22
#define ADV_POPULATE_WRITE	23
#define ADV_COLLAPSE		25

static const struct advice {
	const char *name;
	int advice;
	int ret;	/* 0 or -errno */
	bool home;	/* brings all pages to the CPU */
	int newer;	/* what newer kernels say, if it is something else */
} advices[] = {
	{ "NORMAL", MADV_NORMAL, 0, false },
	{ "RANDOM", MADV_RANDOM, 0, false },
	{ "SEQUENTIAL", MADV_SEQUENTIAL, 0, false },
	{ "WILLNEED", MADV_WILLNEED, 0, false },
	/* Drops page-table entries, as for any shared mapping; not content. */
	{ "DONTNEED", MADV_DONTNEED, 0, false },
	{ "FREE", MADV_FREE, -EINVAL, false },
	{ "REMOVE", MADV_REMOVE, -ENODEV, false },
	{ "COLD", ADV_COLD, 0, false },
	{ "PAGEOUT", ADV_PAGEOUT, 0, false },
	{ "POPULATE_READ", ADV_POPULATE_READ, 0, true },
	{ "POPULATE_WRITE", ADV_POPULATE_WRITE, 0, true },
	{ "HUGEPAGE", MADV_HUGEPAGE, 0, false },
	{ "NOHUGEPAGE", MADV_NOHUGEPAGE, 0, false },
	{ "COLLAPSE", ADV_COLLAPSE, -EINVAL, false },
	{ "MERGEABLE", MADV_MERGEABLE, 0, false },
	{ "UNMERGEABLE", MADV_UNMERGEABLE, 0, false },
	{ "WIPEONFORK", MADV_WIPEONFORK, -EINVAL, false },
	{ "DONTFORK", MADV_DONTFORK, 0, false },
	{ "DOFORK", MADV_DOFORK, 0, false, -EINVAL },
	{ "DONTDUMP", MADV_DONTDUMP, 0, false },
	/* The kernel does not take it back for mappings of this kind. */
	{ "DODUMP", MADV_DODUMP, -EINVAL, false },
};

TEST_F(advise, madvise)
{
	struct managed *m = &self->m;
	const struct advice *a;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		a = &advices[i];
		managed_refill(m, 100 + i);
		ASSERT_EQ(0, managed_place(m, variant->where));
		ret = madvise(m->mem, MANAGED_BYTES, a->advice) ? -errno : 0;
		if (!a->newer || ret != a->newer)
			EXPECT_EQ(a->ret, ret) TH_LOG("MADV_%s", a->name);
		EXPECT_EQ(a->home ? 0 : managed_placed(m, 0, MANAGED_PAGES),
			  managed_resident(m, 0, MANAGED_PAGES))
			TH_LOG("MADV_%s", a->name);
		EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES))
			TH_LOG("MADV_%s", a->name);
		/* It moves as ever, and a part can be advised, too. */
		EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem,
					MANAGED_PAGES));
		madvise(m->mem + 3 * PAGE, 6 * PAGE, a->advice);
		EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES))
			TH_LOG("MADV_%s of a part", a->name);
	}
}

/* Locked memory is in core now; the GPU may still have it later. */
TEST_F(advise, mlock)
{
	struct managed *m = &self->m;

	ASSERT_EQ(0, mlock(m->mem, MANAGED_BYTES));
	EXPECT_EQ(0, managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, managed_place(m, variant->where));
	/* A driver's mapping is not marked, so this is the same. */
	ASSERT_EQ(0, mlock2(m->mem, MANAGED_BYTES, MLOCK_ONFAULT));
	EXPECT_EQ(0, managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, munlock(m->mem, MANAGED_BYTES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_F(advise, mlockall)
{
	struct managed *m = &self->m;
	uint8_t *p;

	ASSERT_EQ(0, mlockall(MCL_CURRENT));
	EXPECT_EQ(0, managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, munlockall());
	ASSERT_EQ(0, mlockall(MCL_FUTURE));
	p = map_managed(m->fd, 4 * PAGE);
	ASSERT_NE(NULL, p);
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, p, 4));
	EXPECT_TRUE(managed_zero(p, 4 * PAGE));
	ASSERT_EQ(0, munlockall());
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_F(advise, msync)
{
	struct managed *m = &self->m;

	EXPECT_EQ(0, msync(m->mem, MANAGED_BYTES, MS_SYNC));
	EXPECT_EQ(0, msync(m->mem, MANAGED_BYTES, MS_ASYNC));
	EXPECT_EQ(0, msync(m->mem, MANAGED_BYTES, MS_SYNC | MS_INVALIDATE));
	EXPECT_EQ(0, fsync(m->fd));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* --- who looks: a page on the device is not in core, and looking is free --- */

#define PRESENT (1ull << 63)

/* The Rss: line of the mapping, in pages. */
static long rss(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool found = false;
	char line[256];
	long kb = -4;

	while (f && fgets(line, sizeof(line), f)) {
		if (strtoull(line, NULL, 16) == (uintptr_t)p &&
		    strchr(line, '-'))
			found = true;
		if (found && sscanf(line, "Rss: %ld", &kb) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kb / 4;
}

TEST_F(advise, mincore_pagemap_smaps)
{
	struct managed *m = &self->m;
	unsigned char core[MANAGED_PAGES];
	size_t i;

	ASSERT_EQ(0, mincore(m->mem, MANAGED_BYTES, core));
	for (i = 0; i < MANAGED_PAGES; i++) {
		EXPECT_EQ(!managed_placed(m, i, 1), core[i] & 1);
		EXPECT_EQ(!managed_placed(m, i, 1),
			  !!(pagemap(m->mem + i * PAGE) & PRESENT));
	}
	EXPECT_EQ(MANAGED_PAGES - managed_placed(m, 0, MANAGED_PAGES),
		  rss(m->mem));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	EXPECT_EQ(MANAGED_PAGES, rss(m->mem));
}

/* Soft-dirty and referenced bits: the CPU's entries become read-only, or old. */
TEST_F(advise, clear_refs)
{
	struct managed *m = &self->m;
	int fd = open("/proc/self/clear_refs", O_WRONLY);

	ASSERT_LE(0, fd);
	ASSERT_EQ(1, write(fd, "4", 1));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	managed_refill(m, 80);
	ASSERT_EQ(0, managed_place(m, variant->where));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(1, write(fd, "1", 1));
	ASSERT_EQ(0, managed_place(m, variant->where));
	ASSERT_EQ(1, write(fd, "4", 1));
	managed_refill(m, 81);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(fd);
}

/* --- who moves: they find nothing that they may move --- */

TEST_F(advise, compaction_and_migration)
{
	struct managed *m = &self->m;
	uint64_t before[MANAGED_PAGES];
	void *pages[MANAGED_PAGES];
	int nodes[MANAGED_PAGES], status[MANAGED_PAGES];
	uint32_t here;
	size_t i;

	for (i = 0; i < MANAGED_PAGES; i++) {
		before[i] = pagemap(m->mem + i * PAGE);
		pages[i] = m->mem + i * PAGE;
		nodes[i] = 0;
	}
	ASSERT_EQ(0, put_text("/proc/sys/vm/drop_caches", "3"));
	ASSERT_EQ(0, put_text("/proc/sys/vm/compact_memory", "1"));
	/*
	 * Only what the CPU has can be asked for; it is on the node it is on. A small
	 * kernel may have been built without nodes.
	 */
	if (syscall(SYS_move_pages, 0, MANAGED_PAGES, pages, nodes, status, 2)) {
		EXPECT_EQ(ENOSYS, errno);
	} else {
		for (i = 0; i < MANAGED_PAGES; i++)
			EXPECT_EQ(managed_placed(m, i, 1) ? -ENOENT : 0, status[i]);
	}
	here = 1;
	syscall(SYS_migrate_pages, 0, 64, &here, &here);
	for (i = 0; i < MANAGED_PAGES; i++)
		EXPECT_EQ(before[i], pagemap(m->mem + i * PAGE));
	EXPECT_EQ(managed_placed(m, 0, MANAGED_PAGES),
		  managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_F(advise, userfaultfd)
{
	struct managed *m = &self->m;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { (uintptr_t)m->mem, MANAGED_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, UFFDIO_API, &api));
	EXPECT_EQ(-1, ioctl(fd, UFFDIO_REGISTER, &reg));
	EXPECT_EQ(EINVAL, errno);
	reg.mode = UFFDIO_REGISTER_MODE_WP;
	EXPECT_EQ(-1, ioctl(fd, UFFDIO_REGISTER, &reg));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/*
 * Asynchronous write-protection, which newer kernels let nobody refuse: marks
 * where a page is not mapped keep it away, with SIGBUS, and no touch hangs. It
 * alone, without marks, is no harm.
 */
TEST_F(advise, userfaultfd_async)
{
	struct managed *m = &self->m;
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	/* UFFD_FEATURE_WP_ASYNC */
	struct uffdio_api api = { .api = UFFD_API, .features = 1u << 15 };
	struct uffdio_register reg = {
		.range = { (uintptr_t)m->mem, MANAGED_BYTES },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = reg.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	size_t i;

	ASSERT_LE(0, fd);
	if (ioctl(fd, UFFDIO_API, &api)) {
		EXPECT_EQ(EINVAL, errno);
	} else if (ioctl(fd, UFFDIO_REGISTER, &reg)) {
		EXPECT_EQ(EINVAL, errno);
	} else {
		EXPECT_EQ(0, signal_of(m->mem, true));
		EXPECT_EQ(0, signal_of(m->mem + PAGE, true));
		ASSERT_EQ(0, managed_place(m, m->where));
		ASSERT_EQ(0, ioctl(fd, UFFDIO_WRITEPROTECT, &wp));
		for (i = 0; i < MANAGED_PAGES; i++)
			EXPECT_EQ(managed_placed(m, i, 1) ? SIGBUS : 0,
				  signal_of(m->mem + i * PAGE, true))
				TH_LOG("page %zu", i);
		/* Thrown away while it is mapped, it leaves its mark, too. */
		ASSERT_EQ(0, ioctl(fd, UFFDIO_WRITEPROTECT, &wp));
		madvise(m->mem, MANAGED_BYTES, MADV_DONTNEED);
		for (i = 0; i < MANAGED_PAGES; i++)
			EXPECT_EQ(SIGBUS, signal_of(m->mem + i * PAGE, false));
		ASSERT_EQ(0, ioctl(fd, UFFDIO_UNREGISTER, &reg.range));
	}
	close(fd);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_HARNESS_MAIN
