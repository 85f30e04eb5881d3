// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 remote_mb=1
 *
 * What must never reach user space (another's bytes, the kernel's addresses)
 * and what must never be writable from there (page tables, control page). The
 * VM runs with init_on_alloc=0, so that memory that the module does not clear
 * is not clear. security_limits.c has the rights of each user.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"

#define RW (PROT_READ | PROT_WRITE)

/* --- stale bytes --- */

enum { MARK = 0xa5, DIRTY_MB = 256, FRAMES = 1024, SLOTS = 256 };

/* Leaves many free pages full of MARK: a process that had a secret and ended. */
static void dirty_free_memory(void)
{
	size_t bytes = (size_t)DIRTY_MB << 20;
	pid_t pid = fork();
	void *p;

	if (!pid) {
		p = mmap(NULL, bytes, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			memset(p, MARK, bytes);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

TEST(stale_sysmem)
{
	size_t bytes = 32u << 20, i;
	int fd = client_open();
	uint8_t *p = map_managed(fd, bytes);

	ASSERT_NE(NULL, p);
	dirty_free_memory();
	for (i = 0; i < bytes; i += PAGE)
		ASSERT_TRUE(managed_zero(p + i, PAGE)) TH_LOG("page %zu", i / PAGE);
	munmap(p, bytes);
	close(fd);
}

/* By read(), ptrace and other ways that do not write first. */
TEST(stale_sysmem_by_system_calls)
{
	size_t bytes = 4u << 20, got, i;
	int fd = client_open(), fds[2];
	uint8_t *p = map_managed(fd, bytes), *out = malloc(bytes);
	struct iovec local = { out, bytes / 2 }, remote = { p, bytes / 2 };

	dirty_free_memory();
	memset(out, 1, bytes);
	ASSERT_EQ(bytes / 2, process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
	ASSERT_EQ(0, pipe(fds));
	for (i = bytes / 2; i < bytes; i += got) {
		got = 16 * PAGE;
		ASSERT_EQ(got, write(fds[1], p + i, got));
		ASSERT_EQ(got, read(fds[0], out + i, got));
	}
	EXPECT_TRUE(managed_zero(out, bytes));
	close(fds[0]);
	close(fds[1]);
	close(fd);
	free(out);
}

/* Every frame holds one client's bytes, then is another's. */
TEST(stale_frames)
{
	int a = client_open(), b = client_open();
	uint8_t *p = map_managed(a, FRAMES * PAGE), *q;
	uint32_t space = client_space(a), other = client_space(b);
	struct engine e;
	size_t i;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(FRAMES, e.attach.vram_frames);
	memset(p, MARK, FRAMES * PAGE);
	ASSERT_EQ(0, engine_h2d(&e, space, p, FRAMES));
	munmap(p, FRAMES * PAGE);
	close(a);
	dirty_free_memory();
	q = map_managed(b, FRAMES * PAGE);
	ASSERT_EQ(0, engine_h2d(&e, other, q, FRAMES));
	for (i = 0; i < FRAMES; i++)
		ASSERT_TRUE(managed_zero(engine_page(&e, other, q + i * PAGE),
					 PAGE)) TH_LOG("frame of page %zu", i);
	/* Home again: also what the eviction allocates is not someone else's. */
	ASSERT_EQ(0, engine_d2h(&e, other, q, FRAMES));
	EXPECT_TRUE(managed_zero(q, FRAMES * PAGE));
	close(b);
	engine_close(&e);
}

/*
 * Every slot of the remote aperture shows one client's page, then nobody's, then
 * another's; the engine had all of them mapped, and remembers where.
 */
TEST(stale_slots)
{
	int a = client_open(), b = client_open();
	uint8_t *p = map_managed(a, SLOTS * PAGE), *q;
	uint32_t space = client_space(a), other = client_space(b);
	struct engine e;
	size_t i, j;

	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(SLOTS, e.attach.remote_slots);
	EXPECT_EQ(SIGBUS, signal_of(e.remote, false));
	EXPECT_EQ(SIGBUS, signal_of(e.remote + (SLOTS - 1) * PAGE, true));
	memset(p, MARK, SLOTS * PAGE);
	ASSERT_EQ(0, engine_migrate(&e, space, p, SLOTS, GPUEMU_MIGRATE_REMOTE));
	for (i = 0; i < SLOTS; i++)
		ASSERT_EQ(MARK, e.remote[i * PAGE + i]);
	/* Each way in which it ends, some slots each. */
	ASSERT_EQ(0, engine_d2h(&e, space, p, 64));
	ASSERT_EQ(0, engine_h2d(&e, space, p + 64 * PAGE, 64));
	ASSERT_EQ(0, mprotect(p + 128 * PAGE, 32 * PAGE, PROT_READ));
	ASSERT_EQ(0, munmap(p + 160 * PAGE, 48 * PAGE));
	for (i = 0, j = 0; i < SLOTS; i++)
		j += signal_of(e.remote + i * PAGE, false) == SIGBUS;
	EXPECT_EQ(208, j);
	munmap(p, SLOTS * PAGE);
	close(a);
	for (i = 0; i < SLOTS; i++)
		ASSERT_EQ(SIGBUS, signal_of(e.remote + i * PAGE, false));
	dirty_free_memory();
	q = map_managed(b, SLOTS * PAGE);
	q[7 * PAGE] = 7;
	ASSERT_EQ(0, engine_migrate(&e, other, q, SLOTS, GPUEMU_MIGRATE_REMOTE));
	EXPECT_EQ(7, *(uint8_t *)engine_page(&e, other, q + 7 * PAGE));
	q[7 * PAGE] = 0;
	for (i = 0; i < SLOTS; i++)
		ASSERT_TRUE(managed_zero(e.remote + i * PAGE, PAGE)) TH_LOG("slot %zu", i);
	close(b);
	munmap(q, SLOTS * PAGE);
	engine_close(&e);
}

/* What a new engine finds in its rings is not what an old one left there. */
TEST(stale_rings)
{
	struct engine e;
	size_t i;

	ASSERT_EQ(0, engine_open(&e));
	for (i = 0; i < e.attach.fault_entries; i++)
		memset(&e.faults->entries[i], MARK, sizeof(struct gpuemu_fault));
	engine_close(&e);
	dirty_free_memory();
	ASSERT_EQ(0, engine_open(&e));
	EXPECT_TRUE(managed_zero((void *)e.faults->entries,
				 e.attach.fault_entries *
				 sizeof(struct gpuemu_fault)));
	EXPECT_TRUE(managed_zero((void *)&e.control->batch,
				 sizeof(e.control->batch)));
	EXPECT_TRUE(managed_zero((void *)e.control->inval,
				 sizeof(e.control->inval)));
	EXPECT_TRUE(managed_zero((uint8_t *)(e.control + 1),
				 e.attach.control_bytes - sizeof(*e.control)));
	/* No space has tables any more. */
	EXPECT_TRUE(managed_zero((void *)e.pt, PAGE));
	engine_close(&e);
}

/* --- the kernel's addresses --- */

FIXTURE(security)
{
	struct managed m;
};

FIXTURE_SETUP(security)
{
	ASSERT_EQ(0, managed_open(&self->m, HALF));
}

FIXTURE_TEARDOWN(security)
{
	managed_close(&self->m);
}

/* A word that is an address of the kernel's half (and no small negative). */
static bool kernel_address(uint64_t w)
{
	return w >= 0xffff800000000000ull && w < 0xfffffffffffff000ull;
}

static size_t kernel_addresses(const void *p, size_t bytes)
{
	const uint64_t *w = p;
	size_t i, n = 0;

	for (i = 0; i < bytes / sizeof(*w); i++)
		n += kernel_address(w[i]);
	return n;
}

/* The same of text: "ffff8..." or higher, with and without 0x. */
static size_t kernel_addresses_of(const char *path, const char *only)
{
	FILE *f = fopen(path, "r");
	char line[1024], *p, *end;
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (only && !strstr(line, only))
			continue;
		for (p = strstr(line, "ffff"); p; p = strstr(end, "ffff"))
			n += kernel_address(strtoull(p, &end, 16));
	}
	if (f)
		fclose(f);
	return n;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

#define TRACING "/sys/kernel/tracing/"
/* QEMU's TCG with two CPUs can freeze where the kernel's text is patched: trace.c. */
#define OTHER_CPU "/sys/devices/system/cpu/cpu1/online"

TEST_F(security, no_kernel_address)
{
	struct managed *m = &self->m;
	struct gpuemu_wait wait;
	struct gpuemu_info info;
	uint64_t id;
	int i;

	if (!access(OTHER_CPU, W_OK))
		put(OTHER_CPU, "0");
	put(TRACING "trace", "");
	put(TRACING "events/gpuemu/enable", "1");
	/* Some of everything: faults, moves both ways, works, a lost engine. */
	for (i = 0; i < 8; i++) {
		engine_fault(&m->e, m->space, m->mem + i * PAGE,
			     GPUEMU_ACCESS_WRITE);
		engine_fault(&m->e, m->space, m->mem - PAGE, i % 4);
	}
	ASSERT_LT(0, engine_raise(&m->e, 0));
	ASSERT_EQ(0, engine_commit(&m->e, NULL, 0));
	ASSERT_EQ(0, managed_place(m, ON_DEVICE));
	ASSERT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, managed_place(m, HALF));
	ASSERT_EQ(0, client_submit(m->fd, GPUEMU_WORK_LOAD, "x", 1, &id));
	EXPECT_FALSE(kernel_address(id));
	EXPECT_EQ(-ETIMEDOUT, client_wait(m->fd, id, 0, &wait));
	EXPECT_EQ(0, kernel_addresses(&wait, sizeof(wait)));
	ASSERT_EQ(0, client_info(m->fd, &info));
	EXPECT_EQ(0, kernel_addresses(&info, sizeof(info)));
	EXPECT_EQ(0, kernel_addresses(&m->e.attach, sizeof(m->e.attach)));
	EXPECT_EQ(0, kernel_addresses(m->e.control, m->e.attach.control_bytes));
	EXPECT_EQ(0, kernel_addresses(m->e.pt, m->e.attach.pt_tables * PAGE));
	EXPECT_EQ(0, kernel_addresses(m->e.faults, PAGE +
				      m->e.attach.fault_entries *
				      sizeof(struct gpuemu_fault)));
	put(TRACING "events/gpuemu/enable", "0");
	if (!access(OTHER_CPU, W_OK))
		put(OTHER_CPU, "1");
	EXPECT_EQ(0, kernel_addresses_of(TRACING "trace", NULL));
	EXPECT_EQ(0, kernel_addresses_of("/proc/self/smaps", "gpuemu"));
	EXPECT_EQ(0, kernel_addresses_of("/proc/misc", "gpuemu"));
}

/* --- what must not be writable, or executable, in any way --- */

/* What a debugger may try from outside: 0 if every way was refused. */
static int poke_from_outside(pid_t pid, void *at)
{
	uint64_t word = ~0ull;
	struct iovec local = { &word, 8 }, remote = { at, 8 };
	char path[32];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return 1;
	if (pwrite(fd, &word, 8, (uintptr_t)at) >= 0)
		ret |= 2;
	if (process_vm_writev(pid, &local, 1, &remote, 1, 0) >= 0)
		ret |= 4;
	if (ptrace(PTRACE_ATTACH, pid, 0, 0))
		return ret | 8;
	waitpid(pid, NULL, 0);
	if (!ptrace(PTRACE_POKEDATA, pid, at, word))
		ret |= 16;
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return ret;
}

static int poke(void *at)
{
	pid_t parent = getpid(), pid;
	int status;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pid = fork();
	if (!pid)
		_exit(poke_from_outside(parent, at));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(security, page_tables_and_control)
{
	struct managed *m = &self->m;
	void *const regions[] = { m->e.pt, m->e.control };
	const size_t bytes[] = {
		m->e.attach.pt_tables * PAGE, m->e.attach.control_bytes,
	};
	struct iovec iov;
	struct io_uring ring;
	uint64_t before;
	int i, fds[2];

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, io_uring_queue_init(2, &ring, 0));
	for (i = 0; i < 2; i++) {
		before = *(volatile uint64_t *)regions[i];
		EXPECT_EQ(SIGSEGV, signal_of(regions[i], true));
		EXPECT_EQ(-1, mprotect(regions[i], bytes[i], RW));
		EXPECT_EQ(EACCES, errno);
		EXPECT_EQ(-1, mprotect(regions[i], PAGE, PROT_READ | PROT_EXEC));
		EXPECT_EQ(EACCES, errno);
		EXPECT_EQ(MAP_FAILED, mremap(regions[i], bytes[i], bytes[i],
					     MREMAP_MAYMOVE | MREMAP_FIXED,
					     reserve(bytes[i])));
		EXPECT_EQ(MAP_FAILED, mremap(regions[i], 0, bytes[i],
					     MREMAP_MAYMOVE));
		ASSERT_EQ(8, write(fds[1], "12345678", 8));
		EXPECT_EQ(-1, read(fds[0], regions[i], 8));
		EXPECT_EQ(EFAULT, errno);
		iov = (struct iovec){ regions[i], PAGE };
		EXPECT_GT(0, io_uring_register_buffers(&ring, &iov, 1));
		EXPECT_EQ(-1, madvise(regions[i], PAGE, 23 /* POPULATE_WRITE */));
		EXPECT_EQ(0, poke(regions[i]));
		/* Entries that come anew have no more rights. */
		madvise(regions[i], bytes[i], MADV_DONTNEED);
		EXPECT_EQ(before, *(volatile uint64_t *)regions[i]);
		EXPECT_EQ(SIGSEGV, signal_of(regions[i], true));
	}
	io_uring_queue_exit(&ring);
	close(fds[0]);
	close(fds[1]);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/* Whole, shared, at one place, and not a child's: a slot is taken from it for sure. */
TEST_F(security, remote_aperture)
{
	struct managed *m = &self->m;
	size_t bytes = m->e.attach.remote_slots * PAGE;
	uint64_t at = GPUEMU_MMAP_REMOTE;
	int status;
	pid_t pid;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, RW, MAP_PRIVATE, m->e.fd, at));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes - PAGE, RW, MAP_SHARED, m->e.fd, at));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes + PAGE, RW, MAP_SHARED, m->e.fd, at));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, RW, MAP_SHARED, m->e.fd, at + PAGE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, RW | PROT_EXEC, MAP_SHARED, m->e.fd, at));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, bytes, RW, MAP_SHARED, m->fd, at));
	EXPECT_EQ(MAP_FAILED, mremap(m->e.remote, bytes, bytes,
				     MREMAP_MAYMOVE | MREMAP_FIXED,
				     reserve(bytes)));
	EXPECT_EQ(MAP_FAILED, mremap(m->e.remote, 0, bytes, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(m->e.remote, bytes, bytes + PAGE,
				     MREMAP_MAYMOVE));
	ASSERT_EQ(0, engine_migrate(&m->e, m->space, m->mem, 8,
				    GPUEMU_MIGRATE_REMOTE));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	pid = fork();
	if (!pid)
		_exit(signal_of(m->e.remote, false));
	waitpid(pid, &status, 0);
	EXPECT_EQ(SIGSEGV, WEXITSTATUS(status));
}

/* What a child of this process that is the same but for its memory cannot try. */
static sigjmp_buf after_call;

static void leave_call(int sig)
{
	siglongjmp(after_call, sig);
}

static int signal_of_call(uint8_t *code)
{
	int sig = sigsetjmp(after_call, 1);

	signal(SIGSEGV, sig ? SIG_DFL : leave_call);
	if (!sig)
		((void (*)(void))(uintptr_t)code)();
	return sig;
}

TEST_F(security, nothing_executable)
{
	struct managed *m = &self->m;
	unsigned long before = personality(0xffffffff);
	uint8_t *at = reserve(BLOCK);

	EXPECT_EQ(-1, mprotect(m->e.vram, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(m->e.faults, PAGE, PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(m->e.remote, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(m->mem, PAGE, PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	/* A client that asks for PROT_EXEC gets the memory without it. */
	ASSERT_EQ(at, mmap(at, PAGE, RW | PROT_EXEC, MAP_SHARED | MAP_FIXED,
			   m->fd, (uintptr_t)at));
	at[0] = 0xc3;	/* ret */
	EXPECT_EQ(SIGSEGV, signal_of_call(at));
	/* Nor does a program for which what is readable is executable. */
	ASSERT_LE(0, personality(before | READ_IMPLIES_EXEC));
	EXPECT_EQ(at, map_managed_at(m->fd, at, PAGE));
	EXPECT_EQ(0, mprotect(m->mem, PAGE, PROT_READ));
	EXPECT_EQ(0, mprotect(m->mem, PAGE, RW));
	personality(before);
	EXPECT_EQ(0, kernel_addresses_of("/proc/self/maps", "rwxs"));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_HARNESS_MAIN
