// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1 remote_mb=8 timeout=120 enable_tests=1
 *
 * Ordinary memory that moves: anonymous pages of the process go to device memory and come
 * back at the CPU's touch; each operation of Linux on pages that are there; eviction; and the
 * ends of engine, client and process.
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
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/pageable.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { PAGES = PAGEABLE_PAGES, FRAMES = 256, MANY = 300 };

#define BITS PAGEABLE_BITS
#define USED PAGEABLE_USED
#define COUNT(name) pageable_count(&self->p, GPUEMU_A_STATS_##name)
#define ALL(name) nl_stat(&self->p.nl, 0, GPUEMU_A_STATS_##name)

PAGEABLE_FIXTURE(pageable_move)

static bool in_core(const void *addr)
{
	return pagemap(addr) >> 63;
}

/* All of the fixture's pages go, and the engine writes the first byte of each. */
static void bring_all(struct __test_metadata *_metadata, FIXTURE_DATA(pageable_move) *self)
{
	int i;

	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, PAGES));
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(GPUEMU_PTE_VALID,
			  pageable_entry(&self->p, self->p.mem + i * PAGE) & BITS);
		EXPECT_EQ(0, memcmp((void *)pageable_gpu(&self->p, self->p.mem + i * PAGE),
				    self->p.copy + i * PAGE, PAGE));
		self->p.copy[i * PAGE] = 0x40 + i;
		*pageable_gpu(&self->p, self->p.mem + i * PAGE) = 0x40 + i;
	}
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
}

TEST_F(pageable_move, there_and_back)
{
	bring_all(_metadata, self);
	EXPECT_EQ(PAGES, COUNT(H2D_PAGES));
	EXPECT_FALSE(in_core(self->p.mem));
	/* The CPU's touch. */
	EXPECT_EQ(self->p.copy[0], *(volatile uint8_t *)self->p.mem);
	EXPECT_TRUE(in_core(self->p.mem));
	EXPECT_FALSE(in_core(self->p.mem + PAGE));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(1, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(1, COUNT(D2H_PAGES));
	EXPECT_EQ(PAGES - 1, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
	EXPECT_EQ(PAGES, COUNT(D2H_PAGES));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	/* And again. */
	bring_all(_metadata, self);
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

/*
 * A page goes to the device, and the engine, which has not heard, still reaches it through its
 * slot. The page cannot come home for that access: it would wait for this engine.
 */
TEST_F(pageable_move, accesses_behind_a_move)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = { .size = sizeof(done) };
	volatile uint8_t *slot[PAGES];
	struct gpuemu_wait wait;
	uint64_t begin, id;

	ASSERT_EQ(0, client_submit(self->p.fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	for (int i = 0; i < PAGES; i++)
		slot[i] = pageable_gpu(&self->p, self->p.mem + i * PAGE);
	engine_acker_stop(&self->p.e);
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, PAGES));
	begin = now_ns();
	for (int i = 0; i < PAGES; i++) {
		EXPECT_EQ(self->p.copy[i * PAGE + 1], slot[i][1]);
		*slot[i] = 0x60 + i;
		ASSERT_NE(NULL, (void *)pageable_gpu(&self->p, self->p.mem + i * PAGE));
		EXPECT_EQ(0x60 + i, *pageable_gpu(&self->p, self->p.mem + i * PAGE));
	}
	EXPECT_LT(now_ns() - begin, 100000000);
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	engine_acker_start(&self->p.e);
	/* As the pages come home, the slots lose the frames. */
	for (int i = 0; i < PAGES; i++) {
		EXPECT_EQ(0x60 + i, self->p.mem[i * PAGE]);
		*slot[i] = 0x70 + i;
		EXPECT_EQ(0x70 + i, self->p.mem[i * PAGE]);
	}
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	/* No access was lost. */
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	done.id = take.id;
	ASSERT_EQ(0, call(self->p.e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	ASSERT_EQ(0, client_wait(self->p.fd, id, 10000, &wait));
	EXPECT_EQ(0, wait.status);
}

TEST_F(pageable_move, never_touched)
{
	uint8_t *p = map_anonymous(2 * PAGE);

	ASSERT_EQ(0, pageable_bring(&self->p, p, 1));
	EXPECT_EQ(GPUEMU_PTE_VALID, pageable_entry(&self->p, p) & BITS);
	EXPECT_EQ(0, *pageable_gpu(&self->p, p));
	*pageable_gpu(&self->p, p) = 5;
	EXPECT_EQ(1, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(5, p[0]);
	EXPECT_EQ(0, p[PAGE]);
	munmap(p, 2 * PAGE);
}

/* Of what is asked for along with it, memory without rights stays as it is: nobody has touched it. */
TEST_F(pageable_move, beside_no_rights)
{
	uint8_t *p = map_anonymous(8 * PAGE);

	ASSERT_EQ(0, mprotect(p + 2 * PAGE, 6 * PAGE, PROT_NONE));
	pageable_bring(&self->p, p, 8);
	EXPECT_EQ(2, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, pageable_entry(&self->p, p + 2 * PAGE));
	munmap(p, 8 * PAGE);
}

/*
 * Pages that are there go without the worker, which may wait for the client's memory: here for a
 * program that does not serve its userfaultfd. Those that nobody has touched need the worker.
 */
TEST_F(pageable_move, the_worker_waits)
{
	uint8_t *p = map_anonymous(PAGE), *q = map_anonymous(2 * PAGE), flags;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)p, PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int uffd = syscall(SYS_userfaultfd, O_NONBLOCK);

	ASSERT_EQ(0, ioctl(uffd, UFFDIO_API, &api));
	ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &range));
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	ASSERT_EQ(0, pageable_bring(&self->p, q, 1));
	EXPECT_EQ(-EAGAIN, pageable_try(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(0, pageable_ask(&self->p, self->p.mem + PAGE, PAGES - 1, GPUEMU_ACCESS_WRITE,
				  GPUEMU_MIGRATE_H2D, &flags));
	EXPECT_EQ(PAGES + 1, COUNT(RESIDENT_PAGES));
	for (int i = 0; i < PAGES; i++) {
		EXPECT_EQ(GPUEMU_PTE_VALID,
			  pageable_entry(&self->p, self->p.mem + i * PAGE) & BITS);
		EXPECT_EQ(0, memcmp((void *)pageable_gpu(&self->p, self->p.mem + i * PAGE),
				    self->p.copy + i * PAGE, PAGE));
	}
	EXPECT_EQ(-EAGAIN, pageable_ask(&self->p, q + PAGE, 1, GPUEMU_ACCESS_WRITE,
					GPUEMU_MIGRATE_H2D, &flags));
	close(uffd);
	EXPECT_EQ(0, pageable_bring(&self->p, q + PAGE, 1));
	munmap(p, PAGE);
	munmap(q, 2 * PAGE);
}

/* Without a fault pages that are there go, and nothing is made. The same way they come home. */
TEST_F(pageable_move, prefetched)
{
	uint8_t *fresh = map_anonymous(PAGE);
	int ret, tries;

	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	EXPECT_EQ(0, engine_migrate(&self->p.e, self->p.space, self->p.mem, PAGES,
				    GPUEMU_MIGRATE_H2D));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	for (int i = 0; i < PAGES; i++)
		EXPECT_EQ(GPUEMU_PTE_VALID,
			  pageable_entry(&self->p, self->p.mem + i * PAGE) & BITS);
	engine_migrate(&self->p.e, self->p.space, fresh, 1, GPUEMU_MIGRATE_H2D);
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	for (tries = 0; tries < 2000; tries++) {
		ret = engine_migrate(&self->p.e, self->p.space, self->p.mem, PAGES,
				     GPUEMU_MIGRATE_REMOTE);
		if (ret != -EAGAIN)
			break;
		sleep_ms(1);
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
	munmap(fresh, PAGE);
}

/* mm has no page that is in both places. */
TEST_F(pageable_move, duplicated)
{
	uint8_t flags;
	int ret, tries;

	for (tries = 0; tries < 2000; tries++) {
		ret = pageable_ask(&self->p, self->p.mem, PAGES, GPUEMU_ACCESS_READ,
				   GPUEMU_MIGRATE_DUPLICATE, &flags);
		if (ret != -EAGAIN)
			break;
		sleep_ms(1);
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_FALSE(in_core(self->p.mem));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

static uint8_t variable[3 * PAGE], initialized[3 * PAGE] = { 1 };

TEST_F(pageable_move, heap_stack_and_globals)
{
	uint8_t *heap = malloc(3 * PAGE), stack[3 * PAGE];
	uint8_t *of[] = { heap, stack, variable, initialized };
	size_t i;

	for (i = 0; i < 4; i++) {
		uint64_t before = COUNT(H2D_PAGES);
		uint8_t *p = (uint8_t *)(((uintptr_t)of[i] + PAGE - 1) & ~(PAGE - 1));

		memset(of[i], 7, 3 * PAGE);
		EXPECT_EQ(0, pageable_bring(&self->p, p, 1)) TH_LOG("%zu", i);
		EXPECT_EQ(before + 1, COUNT(H2D_PAGES)) TH_LOG("%zu", i);
		EXPECT_EQ(7, *pageable_gpu(&self->p, p));
		*pageable_gpu(&self->p, p) = 8;
		EXPECT_EQ(8, p[0]);
		EXPECT_EQ(7, p[1]);
	}
	free(heap);
}

/* What is somebody else's too, or held, is used where it is. */
TEST_F(pageable_move, what_stays)
{
	struct iovec held = { self->p.mem, PAGE };
	uint8_t *shared, *locked = map_anonymous(PAGE);
	int fds[2];

	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	shared[0] = 1;
	ASSERT_EQ(0, mlock(locked, PAGE));
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ((ssize_t)PAGE, vmsplice(fds[1], &held, 1, 0));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, shared, 1));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, locked, 1));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem, 1));
	EXPECT_EQ(USED, pageable_entry(&self->p, shared) & BITS);
	EXPECT_EQ(USED, pageable_entry(&self->p, locked) & BITS);
	EXPECT_EQ(USED, pageable_entry(&self->p, self->p.mem) & BITS);
	EXPECT_EQ(0, COUNT(H2D_PAGES));
	/* Of several the others move. */
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem, PAGES));
	EXPECT_EQ(PAGES - 1, COUNT(H2D_PAGES));
	*pageable_gpu(&self->p, shared) = 2;
	EXPECT_EQ(2, shared[0]);
	close(fds[0]);
	close(fds[1]);
	munmap(shared, PAGE);
	munmap(locked, PAGE);
}

/* A page that is held stays. When it is let go, and the engine asks again, it goes. */
TEST_F(pageable_move, let_go)
{
	struct iovec held = { self->p.mem, PAGE };
	int fds[2], ret, tries;

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ((ssize_t)PAGE, vmsplice(fds[1], &held, 1, 0));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem, 1));
	EXPECT_EQ(USED, pageable_entry(&self->p, self->p.mem) & BITS);
	close(fds[0]);
	close(fds[1]);
	/* A list of another CPU may hold it a little longer. */
	for (ret = -EBUSY, tries = 0; ret == -EBUSY && tries < 2000; tries++) {
		ret = pageable_bring(&self->p, self->p.mem, 1);
		sleep_ms(1);
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(GPUEMU_PTE_VALID, pageable_entry(&self->p, self->p.mem) & BITS);
	EXPECT_EQ(1, COUNT(H2D_PAGES));
	*pageable_gpu(&self->p, self->p.mem) = 77;
	EXPECT_EQ(77, self->p.mem[0]);
}

/*
 * A system call takes pages that are on the device: they come home for it. One that holds the
 * page keeps it there.
 */
TEST_F(pageable_move, taken_on_the_device)
{
	struct iovec there = { self->p.mem, PAGE }, held = { self->p.mem + 2 * PAGE, PAGE };
	uint8_t bytes[PAGE];
	struct iovec here = { bytes, PAGE };
	int fds[2];

	bring_all(_metadata, self);
	for (int i = 0; i < PAGES; i++)
		*pageable_gpu(&self->p, self->p.mem + i * PAGE) = 100 + i;
	ASSERT_EQ((ssize_t)PAGE, process_vm_readv(getpid(), &here, 1, &there, 1, 0));
	EXPECT_EQ(100, bytes[0]);
	EXPECT_EQ(0, memcmp(self->p.copy + 1, bytes + 1, PAGE - 1));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));

	memset(bytes, 55, PAGE);
	there.iov_base = self->p.mem + PAGE;
	ASSERT_EQ((ssize_t)PAGE, process_vm_writev(getpid(), &here, 1, &there, 1, 0));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem + PAGE));
	EXPECT_EQ(55, self->p.mem[PAGE]);

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ((ssize_t)PAGE, vmsplice(fds[1], &held, 1, 0));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem + 2 * PAGE));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem + 2 * PAGE, 1));
	*pageable_gpu(&self->p, self->p.mem + 2 * PAGE) = 9;
	ASSERT_EQ((ssize_t)PAGE, read(fds[0], bytes, PAGE));
	EXPECT_EQ(9, bytes[0]);
	EXPECT_NE(0, pageable_entry(&self->p, self->p.mem + 3 * PAGE) & GPUEMU_PTE_VALID);
	EXPECT_EQ(103, self->p.mem[3 * PAGE]);
	close(fds[0]);
	close(fds[1]);
}

#define SOFT_DIRTY (1ull << 55)

/*
 * What the process watches comes home at the GPU's next access. That write is not seen: Linux does
 * not write-protect pages on the device when it clears the bits.
 */
TEST_F(pageable_move, soft_dirty)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY);

	bring_all(_metadata, self);
	self->p.mem[PAGE]++;
	/* Without CONFIG_MEM_SOFT_DIRTY nothing is ever dirty. */
	if (!(pagemap(self->p.mem + PAGE) & SOFT_DIRTY))
		return;
	ASSERT_EQ(1, write(fd, "4", 1));
	close(fd);
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_FALSE(in_core(self->p.mem));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem, 1));
	EXPECT_EQ(USED, pageable_entry(&self->p, self->p.mem) & BITS);
	*pageable_gpu(&self->p, self->p.mem) = 7;
	EXPECT_EQ(7, self->p.mem[0]);
}

/* RssAnon of this process in pages. */
static long rss(void)
{
	char line[256];
	long kb = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %ld", &kb);
	if (f)
		fclose(f);
	return kb / 4;
}

/* It is the process' memory there, too. */
TEST_F(pageable_move, counted)
{
	uint8_t *p = map_anonymous(200 * PAGE);
	long before;
	int i;

	memset(p, 1, 200 * PAGE);
	before = rss();
	for (i = 0; i < 200; i += 8)
		pageable_bring(&self->p, p + i * PAGE, 8);
	EXPECT_LE(190, COUNT(RESIDENT_PAGES));
	EXPECT_LE(before - 20, rss());
	EXPECT_GE(before + 20, rss());
	munmap(p, 200 * PAGE);
}

/* mlock() brings home what is on the device, and there it stays. */
TEST_F(pageable_move, mlock)
{
	bring_all(_metadata, self);
	ASSERT_EQ(0, mlock(self->p.mem, PAGE));
	EXPECT_TRUE(in_core(self->p.mem));
	EXPECT_EQ(-EBUSY, pageable_bring(&self->p, self->p.mem, 1));
	EXPECT_EQ(0x40, self->p.mem[0]);
	ASSERT_EQ(0, munlock(self->p.mem, PAGE));
	ASSERT_EQ(0, mlock2(self->p.mem, PAGES * PAGE, MLOCK_ONFAULT));
	EXPECT_FALSE(in_core(self->p.mem + PAGE));
	EXPECT_EQ(0x41, self->p.mem[PAGE]);
	EXPECT_TRUE(in_core(self->p.mem + PAGE));
	ASSERT_EQ(0, munlock(self->p.mem, PAGES * PAGE));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

/* --- eviction --- */

TEST_F(pageable_move, evicted)
{
	bring_all(_metadata, self);
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, self->p.mem, PAGES));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_TRUE(in_core(self->p.mem));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(PAGES, COUNT(EVICTED_PAGES));
	EXPECT_EQ(0, COUNT(CPU_FAULTS));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

/* More than there are frames: each page gets one, and no byte is lost. */
TEST_F(pageable_move, more_than_frames)
{
	uint8_t *p = map_anonymous(MANY * PAGE);
	int i, stayed = 0;

	for (i = 0; i < MANY; i++)
		p[i * PAGE] = i;
	for (i = 0; i < MANY; i++) {
		int ret = pageable_bring(&self->p, p + i * PAGE, 1);

		/* Now and then Linux itself has a page in its hands, and it is used where it is. */
		stayed += ret == -EBUSY;
		ASSERT_TRUE(!ret || ret == -EBUSY) TH_LOG("page %d: %d", i, ret);
		EXPECT_EQ((uint8_t)i, *pageable_gpu(&self->p, p + i * PAGE));
		*pageable_gpu(&self->p, p + i * PAGE) = i + 1;
	}
	EXPECT_GE(4, stayed);
	EXPECT_LE(MANY - FRAMES, stayed + COUNT(LRU_EVICTED_PAGES));
	EXPECT_GE(FRAMES, COUNT(RESIDENT_PAGES));
	for (i = 0; i < MANY; i++)
		EXPECT_EQ((uint8_t)(i + 1), p[i * PAGE]);
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	munmap(p, MANY * PAGE);
}

static int managed_h2d(struct pageable *p, void *addr, uint32_t pages)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)addr, .va_space = p->space, .pages = pages,
		.op = GPUEMU_MIGRATE_H2D,
	};

	engine_fault(&p->e, p->space, addr, GPUEMU_ACCESS_WRITE);
	if (engine_raise(&p->e, 0) != 1)
		return -EIO;
	return engine_commit_flags(&p->e, &m, 1, GPUEMU_COMMIT_EVICT) < 0 ? -EIO : m.status;
}

/* Managed memory takes frames from ordinary memory, also from pages that no engine has mapped. */
TEST_F(pageable_move, managed_memory_needs_frames)
{
	uint8_t *p = map_anonymous(FRAMES * PAGE), *managed;
	int i;

	for (i = 0; i < FRAMES; i++)
		p[i * PAGE] = i;
	for (i = 0; i < FRAMES; i += 16)
		ASSERT_EQ(0, pageable_bring(&self->p, p + i * PAGE, 16));
	EXPECT_EQ(FRAMES, COUNT(RESIDENT_PAGES));
	ASSERT_EQ(0, mprotect(p, FRAMES * PAGE, PROT_READ));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(FRAMES, COUNT(RESIDENT_PAGES));
	managed = map_managed(self->p.fd, 64 * PAGE);
	ASSERT_NE(NULL, managed);
	EXPECT_EQ(0, managed_h2d(&self->p, managed, 64));
	EXPECT_GE(FRAMES, COUNT(RESIDENT_PAGES));
	EXPECT_LE(64, COUNT(LRU_EVICTED_PAGES));
	for (i = 0; i < FRAMES; i++)
		EXPECT_EQ((uint8_t)i, p[i * PAGE]);
	munmap(managed, 64 * PAGE);
	munmap(p, FRAMES * PAGE);
}

/* --- what mm does to it --- */

TEST_F(pageable_move, munmap)
{
	volatile uint8_t *g;

	bring_all(_metadata, self);
	g = pageable_gpu(&self->p, self->p.mem);
	ASSERT_EQ(0, munmap(self->p.mem, 2 * PAGE));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(PAGES - 2, COUNT(RESIDENT_PAGES));
	g[0] = 9;
	ASSERT_EQ(self->p.mem, mmap(self->p.mem, 2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(0, self->p.mem[0]);
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 2));
	EXPECT_EQ(0, *pageable_gpu(&self->p, self->p.mem));
	EXPECT_EQ(0, memcmp(self->p.mem + 2 * PAGE, self->p.copy + 2 * PAGE, (PAGES - 2) * PAGE));
}

TEST_F(pageable_move, dontneed)
{
	bring_all(_metadata, self);
	ASSERT_EQ(0, madvise(self->p.mem, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0, self->p.mem[0]);
}

/* What the GPU writes afterwards stays; the rest may be gone. */
TEST_F(pageable_move, free)
{
	bring_all(_metadata, self);
	ASSERT_EQ(0, madvise(self->p.mem, PAGES * PAGE, MADV_FREE));
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	*pageable_gpu(&self->p, self->p.mem) = 3;
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, self->p.mem, PAGES));
	madvise(self->p.mem, PAGES * PAGE, MADV_PAGEOUT);
	EXPECT_EQ(3, self->p.mem[0]);
	EXPECT_TRUE(self->p.mem[PAGE] == 0x41 || !self->p.mem[PAGE]);
}

/* The page stays on the device, and is found at its new address. */
TEST_F(pageable_move, mremap)
{
	uint8_t *to = map_anonymous(PAGE), *p;

	bring_all(_metadata, self);
	p = mremap(self->p.mem, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ(to, p);
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_FALSE(in_core(p));
	ASSERT_EQ(0, pageable_bring(&self->p, p, 1));
	EXPECT_EQ(PAGES, COUNT(H2D_PAGES));
	EXPECT_EQ(0x40, *pageable_gpu(&self->p, p));
	*pageable_gpu(&self->p, p) = 3;
	EXPECT_EQ(3, p[0]);
	munmap(p, PAGE);
}

TEST_F(pageable_move, mprotect)
{
	uint8_t flags;

	bring_all(_metadata, self);
	ASSERT_EQ(0, mprotect(self->p.mem, PAGE, PROT_READ));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_FALSE(in_core(self->p.mem));
	ASSERT_EQ(0, pageable_reads(&self->p, self->p.mem, 1));
	EXPECT_EQ(GPUEMU_PTE_VALID | GPUEMU_PTE_READ_ONLY,
		  pageable_entry(&self->p, self->p.mem) & BITS);
	EXPECT_EQ(0x40, *pageable_gpu(&self->p, self->p.mem));
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, self->p.mem, 1, GPUEMU_ACCESS_WRITE, &flags));
	EXPECT_EQ(0x40, self->p.mem[0]);
	ASSERT_EQ(0, mprotect(self->p.mem, PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	*pageable_gpu(&self->p, self->p.mem) = 10;
	EXPECT_EQ(10, self->p.mem[0]);
}

/*
 * Parent and child have the page on the device; the first touch of either brings it home for
 * both, and a write of the GPU is the parent's alone.
 */
TEST_F(pageable_move, fork)
{
	int to[2], from[2], status;
	uint8_t seen[3];
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(from));
	bring_all(_metadata, self);
	pid = fork();
	if (!pid) {
		close(to[1]);
		if (read(to[0], seen, 1) != 1)
			_exit(1);
		seen[0] = self->p.mem[0];
		seen[1] = self->p.mem[PAGE];
		self->p.mem[2 * PAGE] = 0xcc;
		seen[2] = self->p.mem[2 * PAGE + 1];
		_exit(write(from[1], seen, 3) != 3);
	}
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_FALSE(in_core(self->p.mem));
	ASSERT_EQ(0, pageable_bring(&self->p, self->p.mem, 1));
	*pageable_gpu(&self->p, self->p.mem) = 11;
	self->p.mem[PAGE] = 12;
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(3, read(from[0], seen, 3));
	EXPECT_EQ(0x40, seen[0]);
	EXPECT_EQ(0x41, seen[1]);
	EXPECT_EQ(self->p.copy[2 * PAGE + 1], seen[2]);
	EXPECT_EQ(11, self->p.mem[0]);
	EXPECT_EQ(12, self->p.mem[PAGE]);
	EXPECT_EQ(0x42, self->p.mem[2 * PAGE]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

/* The child keeps what the parent had on the device, whose file is closed and memory gone. */
TEST_F(pageable_move, the_childs)
{
	uint8_t *p = map_anonymous(PAGES * PAGE), byte;
	int to[2], from[2], status;
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(from));
	memset(p, 5, PAGES * PAGE);
	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	*pageable_gpu(&self->p, p + PAGE) = 6;
	pid = fork();
	if (!pid) {
		close(self->p.fd);
		close(to[1]);
		if (write(from[1], "", 1) != 1 || read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(p[0] != 5 || p[PAGE] != 6 || p[7 * PAGE] != 5);
	}
	ASSERT_EQ(1, read(from[0], &byte, 1));
	ASSERT_EQ(0, munmap(p, PAGES * PAGE));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	close(self->p.fd);
	self->p.fd = client_open();
	EXPECT_EQ(0, ALL(RESIDENT_PAGES));
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

/* Huge pages go page by page; what is made huge comes home first. */
TEST_F(pageable_move, huge)
{
	uint8_t *all = map_anonymous(2 * BLOCK), *p;
	size_t i;

	p = (uint8_t *)(((uintptr_t)all + BLOCK - 1) & ~(BLOCK - 1));
	ASSERT_EQ(0, madvise(p, BLOCK, MADV_HUGEPAGE));
	for (i = 0; i < BLOCK; i += PAGE)
		p[i] = i / PAGE;
	ASSERT_EQ(0, pageable_bring(&self->p, p + 5 * PAGE, 8));
	EXPECT_EQ(8, COUNT(RESIDENT_PAGES));
	for (i = 5; i < 13; i++) {
		EXPECT_EQ((uint8_t)i, *pageable_gpu(&self->p, p + i * PAGE));
		*pageable_gpu(&self->p, p + i * PAGE) = i + 1;
	}
	madvise(p, BLOCK, MADV_COLLAPSE);
	for (i = 0; i < BLOCK / PAGE; i++)
		EXPECT_EQ((uint8_t)(i >= 5 && i < 13 ? i + 1 : i), p[i * PAGE]);
	munmap(all, 2 * BLOCK);
}

/* --- its end --- */

TEST_F(pageable_move, the_clients_end)
{
	bring_all(_metadata, self);
	close(self->p.fd);
	self->p.fd = client_open();
	EXPECT_EQ(0, ALL(RESIDENT_PAGES));
	EXPECT_TRUE(in_core(self->p.mem));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

/* The process ends with pages on the device, and somebody else has its file. */
TEST_F(pageable_move, the_process_end)
{
	int from[2], to[2], fd = client_open(), status;
	uint8_t *p = map_anonymous(PAGES * PAGE), byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(from));
	ASSERT_EQ(0, pipe(to));
	pid = fork();
	if (!pid) {
		close(to[1]);
		byte = pageable_give(fd) ? 1 : 0;
		memset(p, 2, PAGES * PAGE);
		if (write(from[1], &byte, 1) != 1 || read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(p[0] != 3);
	}
	ASSERT_EQ(1, read(from[0], &byte, 1));
	ASSERT_EQ(0, byte);
	self->p.space = client_space(fd);
	ASSERT_EQ(0, pageable_bring(&self->p, p, PAGES));
	*pageable_gpu(&self->p, p) = 3;
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(0, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(-EFAULT, pageable_bring(&self->p, p, 1));
	close(fd);
	close(from[0]);
	close(from[1]);
	close(to[0]);
	close(to[1]);
	munmap(p, PAGES * PAGE);
}

/* An engine is killed: the frames keep the content, for the CPU and for the next one. */
TEST_F(pageable_move, the_engines_end)
{
	struct engine_process p;
	uint64_t word;

	engine_close(&self->p.e);
	self->p.hold = GPUEMU_MIGRATE_H2D;
	ASSERT_EQ(0, engine_spawn(&p, pageable_hold, &self->p));
	ASSERT_EQ(0, engine_hear(p.from, 10000, &word));
	ASSERT_EQ(0, (int)word);
	engine_kill(&p);
	EXPECT_FALSE(in_core(self->p.mem));
	EXPECT_EQ(0xe0, self->p.mem[0]);
	memset(&self->p.e, 0, sizeof(self->p.e));
	ASSERT_EQ(0, engine_open(&self->p.e));
	engine_acker_start(&self->p.e);
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(0xe1, *pageable_gpu(&self->p, self->p.mem + PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(0xe1, self->p.mem[PAGE]);
	EXPECT_EQ(0, memcmp(self->p.mem + 2 * PAGE, self->p.copy + 2 * PAGE, (PAGES - 2) * PAGE));
}

TEST_HARNESS_MAIN
