// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=1
 *
 * Read-only duplicates: pages that both sides read at once, each its own copy; how
 * a write of either side ends it, and every other way in which it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"
#include "lib/nl.h"

enum { PAGES = 8 };

#define RW (PROT_READ | PROT_WRITE)
#define BITS (GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE | GPUEMU_PTE_READ_ONLY)
#define READ_ONLY (GPUEMU_PTE_VALID | GPUEMU_PTE_READ_ONLY)

FIXTURE(duplicate)
{
	struct nl nl;
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t *mem;
	uint8_t copy[PAGES * PAGE];
};

FIXTURE_SETUP(duplicate)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, BLOCK);
	ASSERT_NE(NULL, self->mem);
	fill(self->copy, sizeof(self->copy), 61);
	memcpy(self->mem, self->copy, sizeof(self->copy));
}

FIXTURE_TEARDOWN(duplicate)
{
	munmap(self->mem, BLOCK);
	close(self->fd);
	engine_close(&self->e);
	nl_close(&self->nl);
}

static int move(FIXTURE_DATA(duplicate) *self, size_t page, uint32_t pages,
		enum gpuemu_migration_op op)
{
	return engine_migrate(&self->e, self->space, self->mem + page * PAGE,
			      pages, op);
}

#define DUPLICATE(page, pages) move(self, page, pages, GPUEMU_MIGRATE_DUPLICATE)
#define H2D(page, pages) move(self, page, pages, GPUEMU_MIGRATE_H2D)
#define D2H(page, pages) move(self, page, pages, GPUEMU_MIGRATE_D2H)
#define REMOTE(page, pages) move(self, page, pages, GPUEMU_MIGRATE_REMOTE)

static uint64_t bits(FIXTURE_DATA(duplicate) *self, size_t page)
{
	return engine_entry(&self->e, self->space, self->mem + page * PAGE) & BITS;
}

static uint8_t *gpu(FIXTURE_DATA(duplicate) *self, size_t page)
{
	return engine_page(&self->e, self->space, self->mem + page * PAGE);
}

#define COUNT(name) nl_stat(&self->nl, self->space, GPUEMU_A_STATS_##name)
#define USED (self->e.attach.vram_frames - self->e.control->vram_free)

/* Each page has the right contents for all who may read it; n pages are duplicates. */
static void expect(struct __test_metadata *_metadata,
		   FIXTURE_DATA(duplicate) *self, uint64_t n)
{
	uint64_t found = 0;
	size_t i;

	for (i = 0; i < PAGES; i++) {
		if (gpu(self, i))
			EXPECT_EQ(0, memcmp(gpu(self, i), self->copy + i * PAGE, PAGE));
		found += bits(self, i) == READ_ONLY;
	}
	EXPECT_EQ(n, found);
	EXPECT_EQ(n, COUNT(DUPLICATED));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
}

TEST_F(duplicate, both_read)
{
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	EXPECT_EQ(READ_ONLY, bits(self, 0));
	EXPECT_EQ(0, bits(self, PAGES));
	expect(_metadata, self, PAGES);
	/* Still, after the CPU has read them; and they are two. */
	expect(_metadata, self, PAGES);
	EXPECT_EQ(PAGES, USED);
	EXPECT_EQ(PAGES, COUNT(READ_DUPLICATIONS));
	EXPECT_EQ(PAGES, COUNT(RESIDENT_PAGES));
	EXPECT_EQ(PAGES, COUNT(SYSTEM_PAGES));
	EXPECT_EQ(PAGES, COUNT(H2D_PAGES));
	EXPECT_EQ(PAGES * PAGE, COUNT(H2D_BYTES));
	EXPECT_EQ(0, COUNT(D2H_PAGES));
	EXPECT_EQ(2 * PAGES, COUNT(CPU_FAULTS));
	EXPECT_EQ(0, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(0, COUNT(COLLAPSES));
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	EXPECT_EQ(PAGES, COUNT(READ_DUPLICATIONS));
}

/*
 * Before Linux 6.15 a module cannot insert a writable entry where the kernel tells of
 * writes: the first write of a page costs a fault of its own.
 */
static uint64_t again(uint64_t faults)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return 0;
	return major > 6 || (major == 6 && minor >= 15) ? 0 : faults;
}

/* With and without an entry of the CPU that may only read. */
TEST_F(duplicate, the_cpu_writes)
{
	struct gpuemu_invalidate *inval;
	uint64_t faults;

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	EXPECT_EQ(self->copy[3 * PAGE], self->mem[3 * PAGE]);
	EXPECT_EQ(PAGES + 1, COUNT(CPU_FAULTS));
	self->mem[3 * PAGE] = self->copy[3 * PAGE] = 1;
	EXPECT_EQ(PAGES + 2, COUNT(CPU_FAULTS));
	EXPECT_EQ(0, bits(self, 3));
	EXPECT_EQ(PAGES - 1, USED);
	inval = &self->e.control->inval[(self->e.control->inval_put - 1) %
					GPUEMU_INVAL_RING];
	EXPECT_EQ(GPUEMU_INVAL_CPU_FAULT, inval->reason);
	EXPECT_EQ((uintptr_t)self->mem + 3 * PAGE, inval->start);
	self->mem[5 * PAGE] = self->copy[5 * PAGE] = 2;
	EXPECT_EQ(PAGES + 3 + again(1), COUNT(CPU_FAULTS));
	EXPECT_EQ(0, bits(self, 5));
	EXPECT_EQ(2, COUNT(COLLAPSES));
	EXPECT_EQ(0, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(0, COUNT(D2H_BYTES));
	expect(_metadata, self, PAGES - 2);
	/* From then on it is memory, and written without a fault. */
	faults = COUNT(CPU_FAULTS);
	self->mem[3 * PAGE] = self->copy[3 * PAGE] = 3;
	self->mem[5 * PAGE] = self->copy[5 * PAGE] = 4;
	EXPECT_EQ(faults, COUNT(CPU_FAULTS));
	expect(_metadata, self, PAGES - 2);
}

/* What is not duplicated is not written in two faults because others are. */
TEST_F(duplicate, one_fault_for_the_others)
{
	uint64_t faults;

	ASSERT_EQ(0, DUPLICATE(0, 1));
	ASSERT_EQ(0, H2D(1, PAGES - 1));
	ASSERT_EQ(0, D2H(2, PAGES - 2));
	faults = COUNT(CPU_FAULTS);
	/* Home by a read; at home, evicted; never touched. */
	EXPECT_EQ(self->copy[PAGE], *(volatile uint8_t *)(self->mem + PAGE));
	EXPECT_EQ(self->copy[2 * PAGE], *(volatile uint8_t *)(self->mem + 2 * PAGE));
	EXPECT_EQ(0, *(volatile uint8_t *)(self->mem + 20 * PAGE));
	EXPECT_EQ(faults + 3, COUNT(CPU_FAULTS));
	self->mem[PAGE] = self->copy[PAGE] = 1;
	self->mem[2 * PAGE] = self->copy[2 * PAGE] = 2;
	self->mem[20 * PAGE] = 20;
	EXPECT_EQ(faults + 3 + again(3), COUNT(CPU_FAULTS));
	expect(_metadata, self, 1);
}

TEST_F(duplicate, the_engine_writes)
{
	const struct gpuemu_batch *batch = &self->e.control->batch;
	int i;

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	engine_fault(&self->e, self->space, self->mem, GPUEMU_ACCESS_READ);
	engine_fault(&self->e, self->space, self->mem + PAGE, GPUEMU_ACCESS_WRITE);
	engine_fault(&self->e, self->space, self->mem + 2 * PAGE, GPUEMU_ACCESS_ATOMIC);
	ASSERT_EQ(3, engine_raise(&self->e, 0));
	EXPECT_EQ(GPUEMU_FAULT_RESIDENT, batch->faults[0].flags);
	EXPECT_EQ(0, batch->faults[1].flags);
	EXPECT_EQ(0, batch->faults[2].flags);
	ASSERT_EQ(0, engine_commit(&self->e, NULL, 0));
	ASSERT_EQ(0, H2D(0, PAGES - 2));
	EXPECT_EQ(PAGES - 2, COUNT(COLLAPSES));
	EXPECT_EQ(2, COUNT(DUPLICATED));
	EXPECT_EQ(PAGES * PAGE, COUNT(H2D_BYTES));
	EXPECT_EQ(PAGES, USED);
	for (i = 0; i < PAGES - 2; i++) {
		EXPECT_EQ(GPUEMU_PTE_VALID, bits(self, i));
		gpu(self, i)[i] = self->copy[i * PAGE + i] = 0xc0 + i;
	}
	/* The CPU has no old copy of it mapped. */
	expect(_metadata, self, 2);
	EXPECT_EQ(PAGES - 2, COUNT(CPU_FAULTS_DEVICE));
	EXPECT_EQ(2, COUNT(RESIDENT_PAGES));
}

TEST_F(duplicate, evicted)
{
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, D2H(0, PAGES / 2));
	EXPECT_EQ(0, bits(self, 0));
	EXPECT_EQ(PAGES / 2, USED);
	EXPECT_EQ(0, COUNT(D2H_BYTES));
	EXPECT_EQ(PAGES / 2, COUNT(D2H_PAGES));
	EXPECT_EQ(0, COUNT(COLLAPSES));
	self->mem[0] = self->copy[0] = 7;
	expect(_metadata, self, PAGES / 2);
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
}

/* The module's own order takes duplicates like anything else that has frames. */
TEST_F(duplicate, evicted_by_the_module)
{
	struct gpuemu_migration m = {
		.va_space = self->space, .pages = GPUEMU_BLOCK_PAGES,
		.op = GPUEMU_MIGRATE_DUPLICATE, .status = 1,
	};
	int i;

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	for (i = 0; i < 3; i++) {
		uint8_t *at = map_managed(self->fd, BLOCK);

		m.addr = (uintptr_t)at;
		ASSERT_EQ(0, engine_raise(&self->e, GPUEMU_RAISE_EMPTY_OK));
		ASSERT_EQ(1, engine_commit_flags(&self->e, &m, 1, GPUEMU_COMMIT_EVICT));
		EXPECT_TRUE(managed_zero(engine_page(&self->e, self->space, at), PAGE));
		EXPECT_TRUE(managed_zero(at, BLOCK));
	}
	EXPECT_EQ(0, bits(self, 0));
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	EXPECT_EQ(2 * GPUEMU_BLOCK_PAGES, COUNT(DUPLICATED));
	EXPECT_EQ(2 * GPUEMU_BLOCK_PAGES, USED);
	EXPECT_EQ(PAGES + GPUEMU_BLOCK_PAGES, COUNT(LRU_EVICTED_PAGES));
	EXPECT_EQ(0, COUNT(D2H_BYTES));
	/* Without it there is no frame. */
	EXPECT_EQ(-ENOSPC, DUPLICATE(0, PAGES));
	EXPECT_EQ(0, bits(self, 0));
}

static int write_to(void *p)
{
	*(volatile uint8_t *)p = 1;
	return 0;
}

/*
 * The CPU's write waits until the engine has forgotten the frame, and its task is killed
 * meanwhile: the duplicate is what it was, also for the engine, which may not write it.
 */
TEST_F(duplicate, a_killed_writer_changes_nothing)
{
	static uint8_t stack[64 << 10] __attribute__((aligned(16)));
	uint64_t end = now_ms() + 5000 * slowness();
	int status = 0;
	pid_t pid;

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 10000));
	engine_acker_stop(&self->e);
	/* A task of this address space, which outlives it. */
	pid = clone(write_to, stack + sizeof(stack), CLONE_VM | SIGCHLD, self->mem);
	ASSERT_LT(0, pid);
	while (bits(self, 0) && now_ms() < end)
		usleep(1000);
	EXPECT_EQ(0, bits(self, 0));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, __WALL));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(READ_ONLY, bits(self, 0));
	EXPECT_EQ(0, self->e.control->lost);
	engine_acker_start(&self->e);
	ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 5000));
	expect(_metadata, self, PAGES);
}

TEST_F(duplicate, never_touched)
{
	ASSERT_EQ(0, DUPLICATE(20, 3));
	EXPECT_TRUE(managed_zero(gpu(self, 20), PAGE));
	EXPECT_TRUE(managed_zero(self->mem + 20 * PAGE, 3 * PAGE));
	EXPECT_EQ(3, COUNT(DUPLICATED));
	EXPECT_EQ(PAGES + 3, COUNT(SYSTEM_PAGES));
	self->mem[21 * PAGE] = 1;
	EXPECT_EQ(2, COUNT(DUPLICATED));
}

/* What the engine had for itself it goes on reading, and has no right to write. */
TEST_F(duplicate, from_the_device)
{
	uint64_t entry;
	int i;

	ASSERT_EQ(0, H2D(0, PAGES));
	for (i = 0; i < PAGES; i++)
		gpu(self, i)[9] = self->copy[i * PAGE + 9] = i;
	entry = engine_entry(&self->e, self->space, self->mem);
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	EXPECT_EQ(entry | GPUEMU_PTE_READ_ONLY,
		  engine_entry(&self->e, self->space, self->mem));
	expect(_metadata, self, PAGES);
	EXPECT_EQ(PAGES, USED);
	EXPECT_EQ(0, COUNT(D2H_PAGES));
	EXPECT_EQ(PAGES * PAGE, COUNT(D2H_BYTES));
	EXPECT_EQ(0, COUNT(CPU_FAULTS_DEVICE));
	self->mem[0] = self->copy[0] = 1;
	expect(_metadata, self, PAGES - 1);
}

TEST_F(duplicate, from_and_to_remote)
{
	uint8_t *slot;

	ASSERT_EQ(0, REMOTE(0, PAGES));
	slot = gpu(self, 1);
	slot[0] = self->copy[PAGE] = 8;
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	EXPECT_EQ(SIGBUS, signal_of(slot, false));
	EXPECT_EQ(0, COUNT(REMOTE_MAPPED));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, REMOTE(0, PAGES));
	EXPECT_EQ(PAGES, COUNT(REMOTE_MAPPED));
	EXPECT_EQ(0, USED);
	/* The CPU still has the entries that may only read. */
	self->mem[PAGE] = self->copy[PAGE] = 9;
	EXPECT_EQ(9, gpu(self, 1)[0]);
	gpu(self, 2)[0] = self->copy[2 * PAGE] = 10;
	expect(_metadata, self, 0);
}

/* A task that holds a page may be writing it: the page is not copied, and stays where it is. */
TEST_F(duplicate, pinned_before)
{
	struct iovec iov = { self->mem + 3 * PAGE, 2 * PAGE };
	uint8_t out[2 * PAGE];
	int p[2];

	ASSERT_EQ(0, REMOTE(3, 1));
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(2 * PAGE, vmsplice(p[1], &iov, 1, 0));
	EXPECT_EQ(-EBUSY, DUPLICATE(0, PAGES));
	EXPECT_EQ(GPUEMU_PTE_VALID | GPUEMU_PTE_REMOTE, bits(self, 3));
	EXPECT_EQ(0, bits(self, 4));
	EXPECT_EQ(PAGES - 2, USED);
	self->mem[4 * PAGE] = self->copy[4 * PAGE] = 5;
	gpu(self, 3)[0] = self->copy[3 * PAGE] = 6;
	expect(_metadata, self, PAGES - 2);
	ASSERT_EQ(2 * PAGE, read(p[0], out, 2 * PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy + 3 * PAGE, 2 * PAGE));
	EXPECT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	close(p[0]);
	close(p[1]);
}

/* A task that reads it meanwhile would see old bytes: the page stays a duplicate. */
TEST_F(duplicate, pinned_while)
{
	struct iovec iov = { self->mem + 3 * PAGE, PAGE };
	uint8_t out[PAGE];
	int p[2];

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(PAGE, vmsplice(p[1], &iov, 1, 0));
	EXPECT_EQ(READ_ONLY, bits(self, 3));
	EXPECT_EQ(-EBUSY, H2D(0, PAGES));
	EXPECT_EQ(READ_ONLY, bits(self, 3));
	EXPECT_EQ(GPUEMU_PTE_VALID, bits(self, 2));
	EXPECT_EQ(1, COUNT(PINNED_REFUSALS));
	gpu(self, 2)[0] = self->copy[2 * PAGE] = 4;
	expect(_metadata, self, 1);
	/* The engine, which has the page, sees the CPU's write. */
	self->mem[3 * PAGE] = self->copy[3 * PAGE] = 5;
	EXPECT_EQ(0, bits(self, 3));
	ASSERT_EQ(PAGE, read(p[0], out, PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy + 3 * PAGE, PAGE));
	EXPECT_EQ(0, H2D(0, PAGES));
	expect(_metadata, self, 0);
	close(p[0]);
	close(p[1]);
}

/* Reads and writes of the kernel, for the process and for its debugger. */
TEST_F(duplicate, system_calls)
{
	struct iovec local, remote;
	int mem = open("/proc/self/mem", O_RDWR), p[2];
	uint8_t out[PAGE];

	ASSERT_LE(0, mem);
	ASSERT_EQ(0, pipe(p));
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	local = (struct iovec){ out, PAGE };
	remote = (struct iovec){ self->mem, PAGE };
	ASSERT_EQ(PAGE, process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
	EXPECT_EQ(0, memcmp(out, self->copy, PAGE));
	ASSERT_EQ(PAGE, pread(mem, out, PAGE, (uintptr_t)self->mem + PAGE));
	EXPECT_EQ(0, memcmp(out, self->copy + PAGE, PAGE));
	ASSERT_EQ(PAGE, write(p[1], self->mem + 2 * PAGE, PAGE));
	EXPECT_EQ(PAGES, COUNT(DUPLICATED));

	fill(self->copy, 3 * PAGE, 62);
	local = (struct iovec){ self->copy, PAGE };
	ASSERT_EQ(PAGE, process_vm_writev(getpid(), &local, 1, &remote, 1, 0));
	EXPECT_EQ(PAGES - 1, COUNT(DUPLICATED));
	ASSERT_EQ(PAGE, pwrite(mem, self->copy + PAGE, PAGE,
			       (uintptr_t)self->mem + PAGE));
	EXPECT_EQ(PAGES - 2, COUNT(DUPLICATED));
	ASSERT_EQ(PAGE, read(p[0], out, PAGE));
	ASSERT_EQ(PAGE, write(p[1], self->copy + 2 * PAGE, PAGE));
	ASSERT_EQ(PAGE, read(p[0], self->mem + 2 * PAGE, PAGE));
	expect(_metadata, self, PAGES - 3);
	close(p[0]);
	close(p[1]);
	close(mem);
}

/* Kernels before 6.5 pin nothing for long here at all, later ones nothing to write. */
TEST_F(duplicate, fixed_buffers)
{
	struct iovec iov = { self->mem, PAGES * PAGE };
	struct io_uring ring;
	int ret;

	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	ret = io_uring_register_buffers(&ring, &iov, 1);
	EXPECT_TRUE(ret == -EOPNOTSUPP || ret == -EFAULT) TH_LOG("%d", ret);
	/* Older ones notice only when they have the pages, to write them. */
	expect(_metadata, self, ret == -EFAULT ? PAGES : 0);
	ASSERT_EQ(0, H2D(0, PAGES));
	expect(_metadata, self, 0);
	io_uring_queue_exit(&ring);
}

/* The kernel makes entries anew: a duplicate's is not writable by that. */
TEST_F(duplicate, mprotect)
{
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, mprotect(self->mem + 2 * PAGE, 2 * PAGE, PROT_READ));
	EXPECT_EQ(0, bits(self, 2));
	EXPECT_EQ(PAGES - 2, USED);
	EXPECT_EQ(-EFAULT, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES - 2);
	ASSERT_EQ(0, mprotect(self->mem + 2 * PAGE, 2 * PAGE, RW));
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, mprotect(self->mem, PAGES * PAGE, PROT_NONE));
	ASSERT_EQ(0, mprotect(self->mem, PAGES * PAGE, RW));
	EXPECT_EQ(0, COUNT(DUPLICATED));
	self->mem[4 * PAGE] = self->copy[4 * PAGE] = 1;
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	self->mem[2 * PAGE] = self->copy[2 * PAGE] = 2;
	self->mem[4 * PAGE] = self->copy[4 * PAGE] = 3;
	expect(_metadata, self, PAGES - 2);
	/* One that is only readable has its entries read-only again and again. */
	ASSERT_EQ(0, mprotect(self->mem, PAGE, PROT_READ));
	EXPECT_EQ(SIGSEGV, signal_of(self->mem, true));
	EXPECT_EQ(self->copy[0], self->mem[0]);
	EXPECT_EQ(SIGSEGV, signal_of(self->mem, true));
}

/* Mappings that were there, parts of them, and those that come later. */
TEST_F(duplicate, every_mapping)
{
	uint8_t *early = map_managed(self->fd, 4 * PAGE), *late;

	ASSERT_EQ(0, mprotect(early + PAGE, PAGE, PROT_READ));
	ASSERT_EQ(0, mprotect(early + PAGE, PAGE, RW));
	early[0] = early[2 * PAGE] = 1;
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	late = map_managed(self->fd, 4 * PAGE);
	late[0] = late[2 * PAGE] = 1;
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, early, 4,
				    GPUEMU_MIGRATE_DUPLICATE));
	ASSERT_EQ(0, engine_migrate(&self->e, self->space, late, 4,
				    GPUEMU_MIGRATE_DUPLICATE));
	EXPECT_EQ(1, early[0]);
	EXPECT_EQ(1, late[0]);
	EXPECT_EQ(PAGES + 8, COUNT(DUPLICATED));
	early[0] = early[PAGE] = early[2 * PAGE] = 2;
	late[0] = late[PAGE] = late[2 * PAGE] = 2;
	EXPECT_EQ(PAGES + 2, COUNT(DUPLICATED));
	EXPECT_EQ(6, COUNT(COLLAPSES));
	EXPECT_EQ(2, early[0] & late[2 * PAGE]);
	/* Another's are not concerned. */
	munmap(early, 4 * PAGE);
	EXPECT_EQ(PAGES + 1, COUNT(DUPLICATED));
	munmap(late, 4 * PAGE);
	expect(_metadata, self, PAGES);
}

TEST_F(duplicate, fork_and_advice)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	pid = fork();
	if (!pid)
		_exit(signal_of(self->mem, false));
	waitpid(pid, &status, 0);
	EXPECT_EQ(SIGSEGV, WEXITSTATUS(status));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, madvise(self->mem, PAGES * PAGE, MADV_DONTNEED));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, mlock(self->mem, PAGES * PAGE));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, madvise(self->mem, 2 * PAGE, 23 /* POPULATE_WRITE */));
	expect(_metadata, self, PAGES - 2);
	munlock(self->mem, PAGES * PAGE);
}

TEST_F(duplicate, munmap_and_the_clients_end)
{
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	expect(_metadata, self, PAGES);
	ASSERT_EQ(0, munmap(self->mem, 2 * PAGE));
	EXPECT_EQ(PAGES - 2, USED);
	EXPECT_EQ(PAGES - 2, COUNT(DUPLICATED));
	ASSERT_NE(NULL, map_managed_at(self->fd, self->mem, 2 * PAGE));
	EXPECT_TRUE(managed_zero(self->mem, 2 * PAGE));
	close(self->fd);
	munmap(self->mem, BLOCK);
	EXPECT_EQ(0, USED);
	EXPECT_EQ(0, nl_stat(&self->nl, 0, GPUEMU_A_STATS_DUPLICATED));
}

/* Nobody waits for a dead one, and the next finds what it left. */
TEST_F(duplicate, the_engines_end)
{
	ASSERT_EQ(0, DUPLICATE(0, PAGES));
	engine_close(&self->e);
	EXPECT_EQ(0, memcmp(self->mem, self->copy, sizeof(self->copy)));
	self->mem[0] = self->copy[0] = 1;
	EXPECT_EQ(PAGES - 1, COUNT(DUPLICATED));
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	expect(_metadata, self, PAGES - 1);
	ASSERT_EQ(0, H2D(0, PAGES));
	expect(_metadata, self, 0);
}

/* A stuck engine must not go on reading what the CPU writes. */
TEST_F(duplicate, forgotten_before_the_write)
{
	uint8_t *g;

	ASSERT_EQ(0, DUPLICATE(0, 1));
	g = gpu(self, 0);
	EXPECT_EQ(self->copy[0], g[0]);
	engine_acker_stop(&self->e);
	self->mem[0] = self->copy[0] + 1;
	EXPECT_EQ(SIGBUS, signal_of(g, false));
	EXPECT_EQ((uint8_t)(self->copy[0] + 1), self->mem[0]);
}

TEST_F(duplicate, refused)
{
	int fd = client_open();

	EXPECT_EQ(-EFAULT, engine_migrate(&self->e, self->space,
					  self->mem + 3 * BLOCK, 1,
					  GPUEMU_MIGRATE_DUPLICATE));
	EXPECT_EQ(-EFAULT, engine_migrate(&self->e, client_space(fd), self->mem,
					  1, GPUEMU_MIGRATE_DUPLICATE));
	EXPECT_EQ(-ESRCH, engine_migrate(&self->e, 0x7000000, self->mem, 1,
					 GPUEMU_MIGRATE_DUPLICATE));
	EXPECT_EQ(-EINVAL, engine_migrate(&self->e, self->space, self->mem + 1,
					  1, GPUEMU_MIGRATE_DUPLICATE));
	close(fd);
}

TEST_HARNESS_MAIN
