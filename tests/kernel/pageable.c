// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=1 timeout=120
 *
 * Ordinary memory of the process that the engine uses where it is: each kind of memory, each
 * way in which mm takes it from the engine, and who may not have it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/nl.h"

enum { PAGES = 8, SLOTS = 256, MANY = 600 };

#define BITS (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_MIRROR | \
	      GPUEMU_PTE_READ_ONLY)
#define USED (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_MIRROR)

static int pageable(int fd)
{
	struct gpuemu_pageable p = { .size = sizeof(p) };

	return call(fd, GPUEMU_IOCTL_PAGEABLE, &p);
}

/* Debian's 7.x has what it takes; the others have not. */
static bool must_work(void)
{
	struct utsname name;

	return !uname(&name) && atoi(name.release) >= 7;
}

FIXTURE(pageable)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[PAGES * PAGE];
};

static uint8_t *map_anonymous(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

FIXTURE_SETUP(pageable)
{
	int ret;

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	ASSERT_EQ(0, engine_acker_warm(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
	ret = pageable(self->fd);
	if (ret == -EOPNOTSUPP && !must_work())
		SKIP(longjmp(_metadata->env, 1),
		     "this kernel has no CONFIG_DEVICE_PRIVATE");
	ASSERT_EQ(0, ret);
	self->mem = map_anonymous(PAGES * PAGE);
	ASSERT_NE(NULL, self->mem);
	fill(self->copy, sizeof(self->copy), 31);
	memcpy(self->mem, self->copy, sizeof(self->copy));
}

FIXTURE_TEARDOWN(pageable)
{
	if (self->mem)
		munmap(self->mem, PAGES * PAGE);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

/* A fault, and the pages from there on; *flags: of the fault. Waits for the worker. */
static int wanted(FIXTURE_DATA(pageable) *self, const void *addr, uint32_t pages,
		  enum gpuemu_access access, uint8_t *flags)
{
	struct gpuemu_migration m;
	int tries;

	addr = (void *)((uintptr_t)addr & ~(PAGE - 1));
	for (tries = 0; tries < 2000; tries++) {
		engine_fault(&self->e, self->space, addr, access);
		if (engine_raise(&self->e, 0) != 1)
			return -EIO;
		*flags = self->e.control->batch.faults[0].flags;
		m = (struct gpuemu_migration){
			.addr = (uintptr_t)addr, .va_space = self->space,
			.pages = pages, .op = GPUEMU_MIGRATE_REMOTE,
		};
		if (engine_commit(&self->e, &m, 1) < 0)
			return -EIO;
		if (m.status != -EAGAIN)
			return m.status;
		sleep_ms(1);
	}
	return -ETIMEDOUT;
}

static int reads(FIXTURE_DATA(pageable) *self, const void *addr, uint32_t pages)
{
	uint8_t flags;

	return wanted(self, addr, pages, GPUEMU_ACCESS_READ, &flags);
}

static int writes(FIXTURE_DATA(pageable) *self, const void *addr, uint32_t pages)
{
	uint8_t flags;

	return wanted(self, addr, pages, GPUEMU_ACCESS_WRITE, &flags);
}

static uint64_t entry(FIXTURE_DATA(pageable) *self, const void *addr)
{
	return engine_entry(&self->e, self->space, addr);
}

/* The byte as the GPU finds it. */
static volatile uint8_t *gpu(FIXTURE_DATA(pageable) *self, const void *addr)
{
	uint8_t *page = engine_at(&self->e, entry(self, addr));

	return page ? page + (uintptr_t)addr % PAGE : NULL;
}

static uint64_t count(FIXTURE_DATA(pageable) *self, int counter)
{
	return nl_stat(&self->nl, self->space, counter);
}

#define COUNT(name) count(self, GPUEMU_A_STATS_##name)

/* Both sides see at once what the other writes. */
static void expect_shared(struct __test_metadata *_metadata,
			  FIXTURE_DATA(pageable) *self, volatile uint8_t *p)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, writes(self, (void *)p, 1));
	g = gpu(self, (void *)p);
	ASSERT_NE(NULL, g);
	EXPECT_EQ(USED, entry(self, (void *)p) & BITS);
	*p = 0x11;
	EXPECT_EQ(0x11, *g);
	*g = 0x77;
	EXPECT_EQ(0x77, *p);
	EXPECT_EQ(0x77, *g);
}

static uint8_t variable[3 * PAGE];

TEST_F(pageable, every_kind_of_memory)
{
	uint8_t *heap = malloc(1000), stack[64] = { 0 }, *file, *shared;
	int fd = memfd_create("pageable", 0);

	ASSERT_EQ(0, ftruncate(fd, PAGE));
	file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, file);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, shared);
	expect_shared(_metadata, self, heap + 500);
	expect_shared(_metadata, self, stack + 7);
	expect_shared(_metadata, self, variable + PAGE);
	expect_shared(_metadata, self, file + 9);
	expect_shared(_metadata, self, shared + 3);
	EXPECT_EQ(5, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(0, COUNT(H2D_PAGES));
	/* What was written is in the file. */
	ASSERT_EQ(1, pread(fd, stack, 1, 9));
	EXPECT_EQ(0x77, stack[0]);
	munmap(shared, PAGE);
	munmap(file, PAGE);
	close(fd);
	free(heap);
}

TEST_F(pageable, several_pages)
{
	int i;

	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(0, memcmp((void *)gpu(self, self->mem + i * PAGE),
				    self->copy + i * PAGE, PAGE));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPS));
	/* Once more: nothing to do, and the module says so. */
	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_ATOMIC);
	ASSERT_EQ(1, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_PAGEABLE | GPUEMU_FAULT_RESIDENT,
		  self->e.control->batch.faults[0].flags);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
}

/* Nobody wrote it: the zero page, which the GPU may only read, until it writes. */
TEST_F(pageable, never_touched)
{
	uint8_t *fresh = map_anonymous(PAGE), *other = map_anonymous(PAGE);

	ASSERT_EQ(0, reads(self, fresh, 1));
	EXPECT_EQ(0, *gpu(self, fresh));
	EXPECT_EQ(USED | GPUEMU_PTE_READ_ONLY, entry(self, fresh) & BITS);
	ASSERT_EQ(0, writes(self, fresh, 1));
	EXPECT_EQ(USED, entry(self, fresh) & BITS);
	*gpu(self, fresh) = 5;
	EXPECT_EQ(5, fresh[0]);
	EXPECT_EQ(0, other[0]);
	munmap(fresh, PAGE);
	munmap(other, PAGE);
}

TEST_F(pageable, read_only)
{
	uint8_t *p = map_anonymous(PAGE), flags;
	volatile uint8_t *g;

	p[0] = 42;
	ASSERT_EQ(0, mprotect(p, PAGE, PROT_READ));
	ASSERT_EQ(0, reads(self, p, 1));
	g = gpu(self, p);
	EXPECT_EQ(42, g[0]);
	EXPECT_EQ(USED | GPUEMU_PTE_READ_ONLY, entry(self, p) & BITS);
	EXPECT_EQ(-EFAULT, wanted(self, p, 1, GPUEMU_ACCESS_WRITE, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED, flags);
	/* An engine that writes all the same harms nothing. */
	g[0] = 43;
	EXPECT_EQ(42, p[0]);
	munmap(p, PAGE);
}

TEST_F(pageable, nothing_there)
{
	uint8_t *p = map_anonymous(PAGE), flags;

	munmap(p, PAGE);
	EXPECT_EQ(-EFAULT, wanted(self, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQ(-EFAULT, wanted(self, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED, flags);
	EXPECT_EQ(-EFAULT, wanted(self, NULL, 1, GPUEMU_ACCESS_READ, &flags));
	munmap(p, PAGE);
	/* The engine's own mapping of the device is no ordinary memory. */
	EXPECT_EQ(-EFAULT, wanted(self, self->e.vram, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(-EFAULT, wanted(self, self->e.control, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
}

/* Memory that the process keeps from the kernel itself. */
TEST_F(pageable, secret)
{
	int fd = syscall(SYS_memfd_secret, 0);
	uint8_t *p, flags;

	if (fd < 0)
		return;
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return;
	p[0] = 1;
	EXPECT_EQ(-EFAULT, wanted(self, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(0, entry(self, p));
	munmap(p, PAGE);
	close(fd);
}

/* --- what mm does to it --- */

TEST_F(pageable, munmap)
{
	struct gpuemu_invalidate *inval;
	volatile uint8_t *g, *kept;
	uint8_t *p = self->mem;

	ASSERT_EQ(0, writes(self, p, PAGES));
	g = gpu(self, p + PAGE);
	kept = gpu(self, p + 2 * PAGE);
	EXPECT_EQ(self->copy[PAGE], g[0]);
	ASSERT_EQ(0, munmap(p, 2 * PAGE));
	inval = &self->e.control->inval[(self->e.control->inval_put - 1) %
					GPUEMU_INVAL_RING];
	EXPECT_EQ((uintptr_t)p, inval->start);
	EXPECT_EQ((uintptr_t)p + 2 * PAGE, inval->end);
	EXPECT_EQ(GPUEMU_INVAL_UNMAP, inval->reason);
	EXPECT_EQ(0, entry(self, p));
	EXPECT_EQ(0, entry(self, p + PAGE));
	EXPECT_EQ(PAGES - 2, COUNT(REMOTE_MAPPED));
	/* An engine that has not heard finds nothing of the page, and writes nowhere. */
	EXPECT_EQ(0, g[0]);
	g[0] = 9;
	EXPECT_EQ(0, memcmp((void *)kept, self->copy + 2 * PAGE, PAGE));
	/* Mapped anew it is another page. */
	ASSERT_EQ(p, mmap(p, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	p[PAGE] = 3;
	ASSERT_EQ(0, writes(self, p, 2));
	EXPECT_EQ(3, *gpu(self, p + PAGE));
	*gpu(self, p + PAGE) = 4;
	EXPECT_EQ(4, p[PAGE]);
}

TEST_F(pageable, mprotect)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	g = gpu(self, self->mem);
	g[0] = 8;
	ASSERT_EQ(0, mprotect(self->mem, PAGE, PROT_READ));
	EXPECT_EQ(0, entry(self, self->mem));
	g[0] = 9;
	EXPECT_EQ(8, self->mem[0]);
	ASSERT_EQ(0, reads(self, self->mem, 1));
	EXPECT_EQ(8, *gpu(self, self->mem));
	ASSERT_EQ(0, mprotect(self->mem, PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, writes(self, self->mem, 1));
	*gpu(self, self->mem) = 10;
	EXPECT_EQ(10, self->mem[0]);
}

/* Each process has its own page after a write of the GPU, as after one of the CPU. */
TEST_F(pageable, fork)
{
	volatile uint8_t *g;
	int to[2], from[2];
	uint8_t seen[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(from));
	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	g = gpu(self, self->mem);
	g[0] = 1;
	gpu(self, self->mem + PAGE)[0] = 2;
	pid = fork();
	if (!pid) {
		if (read(to[0], seen, 1) != 1)
			_exit(1);
		seen[0] = self->mem[0];
		seen[1] = self->mem[PAGE];
		_exit(write(from[1], seen, 2) != 2);
	}
	EXPECT_EQ(0, entry(self, self->mem));
	/* One by an engine that has not heard, and one by one that has. */
	g[0] = 11;
	ASSERT_EQ(0, writes(self, self->mem + PAGE, 1));
	gpu(self, self->mem + PAGE)[0] = 12;
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(2, read(from[0], seen, 2));
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(2, seen[1]);
	EXPECT_EQ(11, self->mem[0]);
	EXPECT_EQ(12, self->mem[PAGE]);
	waitpid(pid, NULL, 0);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

TEST_F(pageable, dontneed)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	g = gpu(self, self->mem);
	g[0] = 1;
	ASSERT_EQ(0, madvise(self->mem, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, entry(self, self->mem));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
	/* Late, it finds what the process has there now. */
	EXPECT_EQ(0, g[0]);
	g[0] = 7;
	EXPECT_EQ(7, self->mem[0]);
}

TEST_F(pageable, mremap)
{
	uint8_t *to = map_anonymous(PAGE), *p;
	volatile uint8_t *g;

	ASSERT_EQ(0, writes(self, self->mem, 1));
	g = gpu(self, self->mem);
	g[0] = 1;
	p = mremap(self->mem, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ(to, p);
	EXPECT_EQ(0, entry(self, self->mem));
	g[0] = 2;
	EXPECT_EQ(1, p[0]);
	ASSERT_EQ(0, writes(self, p, 1));
	*gpu(self, p) = 3;
	EXPECT_EQ(3, p[0]);
	munmap(p, PAGE);
}

/* Its page is reclaimed, and comes back from the file with what the GPU wrote. */
TEST_F(pageable, reclaimed)
{
	char name[] = "/root/pageable.XXXXXX";
	volatile uint8_t *g;
	uint8_t *p;
	int fd;

	fd = mkstemp(name);
	if (fd < 0) {
		strcpy(name, "/tmp/pageable.XXXXXX");
		fd = mkstemp(name);
	}
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	p[0] = 1;
	ASSERT_EQ(0, writes(self, p, 1));
	g = gpu(self, p);
	g[1] = 2;
	fsync(fd);
	madvise(p, PAGE, MADV_PAGEOUT);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	EXPECT_EQ(2, g[1]);
	g[2] = 3;
	EXPECT_EQ(1, p[0]);
	EXPECT_EQ(2, p[1]);
	EXPECT_EQ(3, p[2]);
	munmap(p, PAGE);
	unlink(name);
	close(fd);
}

TEST_F(pageable, truncated)
{
	int fd = memfd_create("pageable", 0);
	volatile uint8_t *g;
	uint8_t *p, flags;

	ASSERT_EQ(0, ftruncate(fd, PAGE));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	p[0] = 1;
	ASSERT_EQ(0, writes(self, p, 1));
	g = gpu(self, p);
	EXPECT_EQ(1, g[0]);
	ASSERT_EQ(0, ftruncate(fd, 0));
	EXPECT_EQ(0, entry(self, p));
	/* The engine lives on, with nothing in its hands. */
	EXPECT_EQ(0, g[0]);
	g[0] = 2;
	EXPECT_EQ(-ENXIO, wanted(self, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_PAGEABLE, flags);
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	ASSERT_EQ(0, writes(self, p, 1));
	EXPECT_EQ(0, *gpu(self, p));
	munmap(p, PAGE);
	close(fd);
}

/* --- its bounds --- */

TEST_F(pageable, slots_run_out)
{
	uint8_t *p = map_anonymous(MANY * PAGE);
	size_t i;

	ASSERT_EQ(SLOTS, self->e.attach.mirror_slots);
	for (i = 0; i < MANY; i++)
		p[i * PAGE] = i;
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, writes(self, p + i * PAGE, 1)) TH_LOG("page %zu", i);
		EXPECT_EQ((uint8_t)i, *gpu(self, p + i * PAGE));
		*gpu(self, p + i * PAGE) = i + 1;
	}
	EXPECT_GE(SLOTS, COUNT(REMOTE_MAPPED));
	for (i = 0; i < MANY; i++)
		EXPECT_EQ((uint8_t)(i + 1), p[i * PAGE]);
	munmap(p, MANY * PAGE);
}

/* Managed memory in the middle of it: both have their pages of one leaf table. */
TEST_F(pageable, beside_managed_memory)
{
	uint8_t *p = map_anonymous(3 * BLOCK), *base, *managed;

	base = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	managed = map_managed_at(self->fd, base + 4 * PAGE, 4 * PAGE);
	ASSERT_NE(NULL, managed);
	memset(base, 1, 12 * PAGE);
	ASSERT_EQ(0, writes(self, base, 4));
	ASSERT_EQ(0, writes(self, base + 8 * PAGE, 4));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, managed, 4));
	EXPECT_EQ(GPUEMU_PTE_VALID, entry(self, managed) & BITS);
	EXPECT_EQ(USED, entry(self, base) & BITS);
	*gpu(self, managed) = 2;
	*gpu(self, base) = 3;
	EXPECT_EQ(3, base[0]);
	EXPECT_EQ(2, managed[0]);
	/* The end of one is not the other's. */
	ASSERT_EQ(0, munmap(managed, 4 * PAGE));
	EXPECT_EQ(USED, entry(self, base) & BITS);
	EXPECT_EQ(1, *gpu(self, base + 8 * PAGE));
	ASSERT_NE(NULL, map_managed_at(self->fd, managed, 4 * PAGE));
	ASSERT_EQ(0, engine_h2d(&self->e, self->space, managed, 4));
	ASSERT_EQ(0, munmap(base, 4 * PAGE));
	EXPECT_EQ(0, entry(self, base));
	EXPECT_EQ(GPUEMU_PTE_VALID, entry(self, managed) & BITS);
	EXPECT_EQ(0, managed[0]);
	munmap(p, 3 * BLOCK);
}

TEST_F(pageable, given_back)
{
	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem, PAGES));
	EXPECT_EQ(0, entry(self, self->mem));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
}

/* --- who may not --- */

/* A process that has the file and not the memory has no kernels run on it. */
TEST_F(pageable, another_process)
{
	uint64_t id;
	int status;
	pid_t pid;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	pid = fork();
	if (!pid)
		_exit(client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &id) != -EPERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	pid = fork();
	if (!pid)
		_exit(pageable(self->fd) != -EPERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(pageable, not_while_there_are_works)
{
	int fd = client_open();
	uint8_t flags;
	uint64_t id;

	ASSERT_EQ(0, client_submit(fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	EXPECT_EQ(-EBUSY, pageable(fd));
	self->space = client_space(fd);
	EXPECT_EQ(-EFAULT, wanted(self, self->mem, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	close(fd);
}

TEST_F(pageable, refused)
{
	struct gpuemu_pageable p = { .size = sizeof(p), .flags = 1 };

	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, GPUEMU_IOCTL_PAGEABLE, &p));
	EXPECT_EQ(-EPERM, pageable(self->e.fd));
	/* Once more is once. */
	EXPECT_EQ(0, pageable(self->fd));
	EXPECT_EQ(-EBUSY, engine_migrate(&self->e, self->space, self->mem, 1,
					 GPUEMU_MIGRATE_H2D));
}

/* --- its end --- */

TEST_F(pageable, the_clients_end)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, writes(self, self->mem, PAGES));
	g = gpu(self, self->mem);
	g[0] = 1;
	close(self->fd);
	EXPECT_EQ(SIGBUS, signal_of((uint8_t *)g, false));
	EXPECT_EQ(1, self->mem[0]);
	EXPECT_EQ(0, nl_stat(&self->nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED));
	self->fd = client_open();
}

/* The process ends in the middle, and somebody else has its file. */
TEST_F(pageable, the_process_end)
{
	int from[2], to[2], fd = client_open();
	uint8_t *p = map_anonymous(PAGE), byte, flags;
	volatile uint8_t *g;
	pid_t pid;

	ASSERT_EQ(0, pipe(from));
	ASSERT_EQ(0, pipe(to));
	p[0] = 1;
	pid = fork();
	if (!pid) {
		byte = pageable(fd) ? 1 : 0;
		p[0] = 2;
		if (write(from[1], &byte, 1) != 1 || read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(p[0] != 3);
	}
	ASSERT_EQ(1, read(from[0], &byte, 1));
	ASSERT_EQ(0, byte);
	self->space = client_space(fd);
	ASSERT_EQ(0, writes(self, p, 1));
	g = gpu(self, p);
	EXPECT_EQ(2, g[0]);
	g[0] = 3;
	ASSERT_EQ(1, write(to[1], "", 1));
	int status;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, entry(self, p));
	EXPECT_EQ(0, g[0]);
	EXPECT_EQ(-EFAULT, wanted(self, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	EXPECT_EQ(1, p[0]);
	close(fd);
}

static int hold_all(struct engine *e, int from, int to, void *arg)
{
	struct _test_data_pageable *self = arg;
	struct gpuemu_migration m;
	int tries;

	(void)from;
	for (tries = 0; tries < 2000; tries++) {
		engine_fault(e, self->space, self->mem, GPUEMU_ACCESS_WRITE);
		m = (struct gpuemu_migration){
			.addr = (uintptr_t)self->mem, .va_space = self->space,
			.pages = PAGES, .op = GPUEMU_MIGRATE_REMOTE,
		};
		if (engine_raise(e, 0) != 1 || engine_commit(e, &m, 1) < 0)
			return 1;
		if (m.status != -EAGAIN)
			break;
		sleep_ms(1);
	}
	if (m.status)
		return 2;
	((volatile uint8_t *)engine_page(e, self->space, self->mem))[0] = 0xe0;
	return engine_say(to, 1);
}

/* The engine dies with the pages mapped: the next one finds them mapped. */
TEST_F(pageable, the_engines_end)
{
	struct engine_process p;
	uint64_t word;

	engine_close(&self->e);
	ASSERT_EQ(0, engine_spawn(&p, hold_all, self));
	ASSERT_EQ(0, engine_hear(p.from, 10000, &word));
	EXPECT_EQ(0xe0, self->mem[0]);
	engine_kill(&p);
	EXPECT_EQ(0xe0, self->mem[0]);
	ASSERT_EQ(0, munmap(self->mem + PAGE, PAGE));
	memset(&self->e, 0, sizeof(self->e));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	EXPECT_EQ(0xe0, *gpu(self, self->mem));
	EXPECT_EQ(0, entry(self, self->mem + PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(REMOTE_MAPPED));
}

TEST_HARNESS_MAIN
