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
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/pageable.h"

enum { PAGES = PAGEABLE_PAGES, SLOTS = 256, MANY = 600 };

#define BITS PAGEABLE_BITS
#define USED PAGEABLE_USED
#define COUNT(name) pageable_count(&self->p, GPUEMU_A_STATS_##name)

PAGEABLE_FIXTURE(pageable)

/* Both sides see at once what the other writes. */
static void expect_shared(struct __test_metadata *_metadata,
			  FIXTURE_DATA(pageable) *self, volatile uint8_t *p)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, (void *)p, 1));
	g = pageable_gpu(&self->p, (void *)p);
	ASSERT_NE(NULL, g);
	EXPECT_EQ(USED, pageable_entry(&self->p, (void *)p) & BITS);
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

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(0, memcmp((void *)pageable_gpu(&self->p, self->p.mem + i * PAGE),
				    self->p.copy + i * PAGE, PAGE));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPS));
	/* Once more: nothing to do, and the module says so. */
	engine_fault(&self->p.e, self->p.space, self->p.mem + PAGE, GPUEMU_ACCESS_ATOMIC);
	ASSERT_EQ(1, engine_raise(&self->p.e, 0));
	EXPECT_EQ(GPUEMU_FAULT_PAGEABLE | GPUEMU_FAULT_MOVES | GPUEMU_FAULT_RESIDENT,
		  self->p.e.control->batch.faults[0].flags);
	ASSERT_EQ(0, engine_commit(&self->p.e, NULL, 0));
}

/* Nobody wrote it: the zero page, which the GPU may only read, until it writes. */
TEST_F(pageable, never_touched)
{
	uint8_t *fresh = map_anonymous(PAGE), *other = map_anonymous(PAGE);

	ASSERT_EQ(0, pageable_reads(&self->p, fresh, 1));
	EXPECT_EQ(0, *pageable_gpu(&self->p, fresh));
	EXPECT_EQ(USED | GPUEMU_PTE_READ_ONLY, pageable_entry(&self->p, fresh) & BITS);
	ASSERT_EQ(0, pageable_writes(&self->p, fresh, 1));
	EXPECT_EQ(USED, pageable_entry(&self->p, fresh) & BITS);
	*pageable_gpu(&self->p, fresh) = 5;
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
	ASSERT_EQ(0, pageable_reads(&self->p, p, 1));
	g = pageable_gpu(&self->p, p);
	EXPECT_EQ(42, g[0]);
	EXPECT_EQ(USED | GPUEMU_PTE_READ_ONLY, pageable_entry(&self->p, p) & BITS);
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_WRITE, &flags));
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
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED | GPUEMU_FAULT_PROTECTED, flags);
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, NULL, 1, GPUEMU_ACCESS_READ, &flags));
	munmap(p, PAGE);
	/* The engine's own mapping of the device is no ordinary memory. */
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, self->p.e.vram, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, self->p.e.control, 1, GPUEMU_ACCESS_READ,
					  &flags));
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
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	munmap(p, PAGE);
	close(fd);
}

/* --- what mm does to it --- */

TEST_F(pageable, munmap)
{
	struct gpuemu_invalidate *inval;
	volatile uint8_t *g, *kept;
	uint8_t *p = self->p.mem;

	ASSERT_EQ(0, pageable_writes(&self->p, p, PAGES));
	g = pageable_gpu(&self->p, p + PAGE);
	kept = pageable_gpu(&self->p, p + 2 * PAGE);
	EXPECT_EQ(self->p.copy[PAGE], g[0]);
	ASSERT_EQ(0, munmap(p, 2 * PAGE));
	inval = &self->p.e.control->inval[(self->p.e.control->inval_put - 1) %
					GPUEMU_INVAL_RING];
	EXPECT_EQ((uintptr_t)p, inval->start);
	EXPECT_EQ((uintptr_t)p + 2 * PAGE, inval->end);
	EXPECT_EQ(GPUEMU_INVAL_UNMAP, inval->reason);
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(0, pageable_entry(&self->p, p + PAGE));
	EXPECT_EQ(PAGES - 2, COUNT(REMOTE_MAPPED));
	/* An engine that has not heard finds nothing of the page, and writes nowhere. */
	EXPECT_EQ(0, g[0]);
	g[0] = 9;
	EXPECT_EQ(0, memcmp((void *)kept, self->p.copy + 2 * PAGE, PAGE));
	/* Mapped anew it is another page. */
	ASSERT_EQ(p, mmap(p, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	p[PAGE] = 3;
	ASSERT_EQ(0, pageable_writes(&self->p, p, 2));
	EXPECT_EQ(3, *pageable_gpu(&self->p, p + PAGE));
	*pageable_gpu(&self->p, p + PAGE) = 4;
	EXPECT_EQ(4, p[PAGE]);
}

TEST_F(pageable, mprotect)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	g = pageable_gpu(&self->p, self->p.mem);
	g[0] = 8;
	ASSERT_EQ(0, mprotect(self->p.mem, PAGE, PROT_READ));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	g[0] = 9;
	EXPECT_EQ(8, self->p.mem[0]);
	ASSERT_EQ(0, pageable_reads(&self->p, self->p.mem, 1));
	EXPECT_EQ(8, *pageable_gpu(&self->p, self->p.mem));
	ASSERT_EQ(0, mprotect(self->p.mem, PAGE, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, 1));
	*pageable_gpu(&self->p, self->p.mem) = 10;
	EXPECT_EQ(10, self->p.mem[0]);
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
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	g = pageable_gpu(&self->p, self->p.mem);
	g[0] = 1;
	pageable_gpu(&self->p, self->p.mem + PAGE)[0] = 2;
	pid = fork();
	if (!pid) {
		if (read(to[0], seen, 1) != 1)
			_exit(1);
		seen[0] = self->p.mem[0];
		seen[1] = self->p.mem[PAGE];
		_exit(write(from[1], seen, 2) != 2);
	}
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	/* One by an engine that has not heard, and one by one that has. */
	g[0] = 11;
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem + PAGE, 1));
	pageable_gpu(&self->p, self->p.mem + PAGE)[0] = 12;
	ASSERT_EQ(1, write(to[1], "", 1));
	ASSERT_EQ(2, read(from[0], seen, 2));
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(2, seen[1]);
	EXPECT_EQ(11, self->p.mem[0]);
	EXPECT_EQ(12, self->p.mem[PAGE]);
	waitpid(pid, NULL, 0);
	close(to[0]);
	close(to[1]);
	close(from[0]);
	close(from[1]);
}

TEST_F(pageable, dontneed)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	g = pageable_gpu(&self->p, self->p.mem);
	g[0] = 1;
	ASSERT_EQ(0, madvise(self->p.mem, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
	/* Late, it finds what the process has there now. */
	EXPECT_EQ(0, g[0]);
	g[0] = 7;
	EXPECT_EQ(7, self->p.mem[0]);
}

TEST_F(pageable, mremap)
{
	uint8_t *to = map_anonymous(PAGE), *p;
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, 1));
	g = pageable_gpu(&self->p, self->p.mem);
	g[0] = 1;
	p = mremap(self->p.mem, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	ASSERT_EQ(to, p);
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	g[0] = 2;
	EXPECT_EQ(1, p[0]);
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	*pageable_gpu(&self->p, p) = 3;
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
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	g = pageable_gpu(&self->p, p);
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
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	g = pageable_gpu(&self->p, p);
	EXPECT_EQ(1, g[0]);
	ASSERT_EQ(0, ftruncate(fd, 0));
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	/* The engine lives on, with nothing in its hands. */
	EXPECT_EQ(0, g[0]);
	g[0] = 2;
	EXPECT_EQ(-ENXIO, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_PAGEABLE, flags);
	ASSERT_EQ(0, ftruncate(fd, PAGE));
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	EXPECT_EQ(0, *pageable_gpu(&self->p, p));
	munmap(p, PAGE);
	close(fd);
}

/* --- its bounds --- */

TEST_F(pageable, slots_run_out)
{
	uint8_t *p = map_anonymous(MANY * PAGE);
	size_t i;

	ASSERT_EQ(SLOTS, self->p.e.attach.mirror_slots);
	for (i = 0; i < MANY; i++)
		p[i * PAGE] = i;
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, pageable_writes(&self->p, p + i * PAGE, 1)) TH_LOG("page %zu", i);
		EXPECT_EQ((uint8_t)i, *pageable_gpu(&self->p, p + i * PAGE));
		*pageable_gpu(&self->p, p + i * PAGE) = i + 1;
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
	managed = map_managed_at(self->p.fd, base + 4 * PAGE, 4 * PAGE);
	ASSERT_NE(NULL, managed);
	memset(base, 1, 12 * PAGE);
	ASSERT_EQ(0, pageable_writes(&self->p, base, 4));
	ASSERT_EQ(0, pageable_writes(&self->p, base + 8 * PAGE, 4));
	ASSERT_EQ(0, engine_h2d(&self->p.e, self->p.space, managed, 4));
	EXPECT_EQ(GPUEMU_PTE_VALID, pageable_entry(&self->p, managed) & BITS);
	EXPECT_EQ(USED, pageable_entry(&self->p, base) & BITS);
	*pageable_gpu(&self->p, managed) = 2;
	*pageable_gpu(&self->p, base) = 3;
	EXPECT_EQ(3, base[0]);
	EXPECT_EQ(2, managed[0]);
	/* The end of one is not the other's. */
	ASSERT_EQ(0, munmap(managed, 4 * PAGE));
	EXPECT_EQ(USED, pageable_entry(&self->p, base) & BITS);
	EXPECT_EQ(1, *pageable_gpu(&self->p, base + 8 * PAGE));
	ASSERT_NE(NULL, map_managed_at(self->p.fd, managed, 4 * PAGE));
	ASSERT_EQ(0, engine_h2d(&self->p.e, self->p.space, managed, 4));
	ASSERT_EQ(0, munmap(base, 4 * PAGE));
	EXPECT_EQ(0, pageable_entry(&self->p, base));
	EXPECT_EQ(GPUEMU_PTE_VALID, pageable_entry(&self->p, managed) & BITS);
	EXPECT_EQ(0, managed[0]);
	munmap(p, 3 * BLOCK);
}

TEST_F(pageable, given_back)
{
	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	ASSERT_EQ(0, engine_d2h(&self->p.e, self->p.space, self->p.mem, PAGES));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(0, memcmp(self->p.mem, self->p.copy, sizeof(self->p.copy)));
}

/* --- who may not --- */

/* A process that has the file and not the memory has no kernels run on it. */
TEST_F(pageable, another_process)
{
	uint64_t id;
	int status;
	pid_t pid;

	ASSERT_EQ(0, client_submit(self->p.fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	pid = fork();
	if (!pid)
		_exit(client_submit(self->p.fd, GPUEMU_WORK_TOUCH, NULL, 0, &id) != -EPERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	pid = fork();
	if (!pid)
		_exit(pageable_give(self->p.fd) != -EPERM);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(pageable, not_while_there_are_works)
{
	int fd = client_open();
	uint8_t flags;
	uint64_t id;

	ASSERT_EQ(0, client_submit(fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
	EXPECT_EQ(-EBUSY, pageable_give(fd));
	self->p.space = client_space(fd);
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, self->p.mem, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	close(fd);
}

TEST_F(pageable, refused)
{
	struct gpuemu_pageable p = { .size = sizeof(p), .flags = 1 };

	EXPECT_EQ(-EOPNOTSUPP, call(self->p.fd, GPUEMU_IOCTL_PAGEABLE, &p));
	EXPECT_EQ(-EPERM, pageable_give(self->p.e.fd));
	/* Once more is once. */
	EXPECT_EQ(0, pageable_give(self->p.fd));
}

/* --- its end --- */

TEST_F(pageable, the_clients_end)
{
	volatile uint8_t *g;

	ASSERT_EQ(0, pageable_writes(&self->p, self->p.mem, PAGES));
	g = pageable_gpu(&self->p, self->p.mem);
	g[0] = 1;
	close(self->p.fd);
	EXPECT_EQ(SIGBUS, signal_of((uint8_t *)g, false));
	EXPECT_EQ(1, self->p.mem[0]);
	EXPECT_EQ(0, nl_stat(&self->p.nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED));
	self->p.fd = client_open();
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
		byte = pageable_give(fd) ? 1 : 0;
		p[0] = 2;
		if (write(from[1], &byte, 1) != 1 || read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(p[0] != 3);
	}
	ASSERT_EQ(1, read(from[0], &byte, 1));
	ASSERT_EQ(0, byte);
	self->p.space = client_space(fd);
	ASSERT_EQ(0, pageable_writes(&self->p, p, 1));
	g = pageable_gpu(&self->p, p);
	EXPECT_EQ(2, g[0]);
	g[0] = 3;
	ASSERT_EQ(1, write(to[1], "", 1));
	int status;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, pageable_entry(&self->p, p));
	EXPECT_EQ(0, g[0]);
	EXPECT_EQ(-EFAULT, pageable_fault(&self->p, p, 1, GPUEMU_ACCESS_READ, &flags));
	EXPECT_EQ(GPUEMU_FAULT_UNMANAGED, flags);
	EXPECT_EQ(1, p[0]);
	close(fd);
}

/* The engine dies with the pages mapped: the next one finds them mapped. */
TEST_F(pageable, the_engines_end)
{
	struct engine_process p;
	uint64_t word;

	engine_close(&self->p.e);
	self->p.hold = GPUEMU_MIGRATE_REMOTE;
	ASSERT_EQ(0, engine_spawn(&p, pageable_hold, &self->p));
	ASSERT_EQ(0, engine_hear(p.from, 10000, &word));
	ASSERT_EQ(0, (int)word);
	EXPECT_EQ(0xe0, self->p.mem[0]);
	engine_kill(&p);
	EXPECT_EQ(0xe0, self->p.mem[0]);
	ASSERT_EQ(0, munmap(self->p.mem + PAGE, PAGE));
	memset(&self->p.e, 0, sizeof(self->p.e));
	ASSERT_EQ(0, engine_open(&self->p.e));
	engine_acker_start(&self->p.e);
	EXPECT_EQ(0xe0, *pageable_gpu(&self->p, self->p.mem));
	EXPECT_EQ(0, pageable_entry(&self->p, self->p.mem + PAGE));
	EXPECT_EQ(PAGES - 1, COUNT(REMOTE_MAPPED));
}

TEST_HARNESS_MAIN
