// SPDX-License-Identifier: GPL-2.0
/* Managed mappings: what is allowed, what is not, and what munmap() frees. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

FIXTURE(mmap)
{
	int fd;
	uint8_t *at;
};

FIXTURE_SETUP(mmap)
{
	self->fd = client_open();
	ASSERT_LE(0, self->fd);
	self->at = reserve(4 * BLOCK);
	ASSERT_NE(NULL, self->at);
}

FIXTURE_TEARDOWN(mmap)
{
	close(self->fd);
}

static int try_map(int fd, void *at, size_t bytes, int prot, int flags,
		   uint64_t offset)
{
	void *p = mmap(at, bytes, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, bytes);
	return 0;
}

#define RW (PROT_READ | PROT_WRITE)
#define SHARED (MAP_SHARED | MAP_FIXED)

TEST_F(mmap, good)
{
	uint64_t at = (uintptr_t)self->at;

	EXPECT_EQ(0, try_map(self->fd, self->at, PAGE, RW, SHARED, at));
	EXPECT_EQ(0, try_map(self->fd, self->at, 4 * BLOCK, RW, SHARED, at));
	EXPECT_EQ(0, try_map(self->fd, self->at + PAGE, 3 * PAGE, RW, SHARED,
			     at + PAGE));
	/* A length is rounded up, as for any mapping. */
	EXPECT_EQ(0, try_map(self->fd, self->at, 1, RW, SHARED, at));
}

TEST_F(mmap, private)
{
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW,
				   MAP_PRIVATE | MAP_FIXED,
				   (uintptr_t)self->at));
}

TEST_F(mmap, protection)
{
	uint64_t at = (uintptr_t)self->at;

	EXPECT_EQ(0, try_map(self->fd, self->at, PAGE, PROT_READ, SHARED, at));
	EXPECT_EQ(0, try_map(self->fd, self->at, PAGE, PROT_NONE, SHARED, at));
	EXPECT_EQ(0, try_map(self->fd, self->at, PAGE, RW | PROT_EXEC, SHARED,
			     at));
	ASSERT_NE(NULL, map_managed_at(self->fd, self->at, PAGE));
	EXPECT_EQ(-1, mprotect(self->at, PAGE, RW | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, mprotect(self->at, PAGE, PROT_READ));
	EXPECT_EQ(0, mprotect(self->at, PAGE, RW));
}

TEST_F(mmap, offset_is_not_the_address)
{
	uint64_t at = (uintptr_t)self->at;

	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW, SHARED, 0));
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW, SHARED,
				   at + PAGE));
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW, SHARED,
				   1ull << 62));
	/* The engine's offsets are nobody else's. */
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW, SHARED,
				   GPUEMU_MMAP_VRAM));
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, PROT_READ, SHARED,
				   GPUEMU_MMAP_CONTROL));
}

TEST_F(mmap, unaligned)
{
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, PAGE, RW, SHARED,
				   (uintptr_t)self->at + 8));
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at + 8, PAGE, RW, SHARED,
				   (uintptr_t)self->at + 8));
	EXPECT_EQ(-EINVAL, try_map(self->fd, self->at, 0, RW, SHARED,
				   (uintptr_t)self->at));
}

TEST_F(mmap, mremap)
{
	void *p = map_managed_at(self->fd, self->at, 4 * PAGE), *to;

	ASSERT_EQ(self->at, p);
	fill(p, 4 * PAGE, 1);
	to = reserve(BLOCK);
	/* A move, a growth, a second mapping of the same. */
	EXPECT_EQ(MAP_FAILED, mremap(p, 4 * PAGE, 4 * PAGE,
				     MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mremap(p, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(p, 0, 4 * PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(p, 4 * PAGE, 4 * PAGE,
				     MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
	EXPECT_TRUE(filled(p, 4 * PAGE, 1));
	/* What failed to move still works as managed memory. */
	fill(p, 4 * PAGE, 2);
	EXPECT_TRUE(filled(p, 4 * PAGE, 2));
	EXPECT_EQ(p, mremap(p, 4 * PAGE, 2 * PAGE, 0));
	EXPECT_TRUE(filled(p, 2 * PAGE, 2));
}

/* Whether a child that touches the address gets a signal, and which. */
static int signal_of_touch(volatile uint8_t *p)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		*p;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(mmap, fork)
{
	void *p = map_managed_at(self->fd, self->at, PAGE);
	int status;
	pid_t pid;

	ASSERT_EQ(self->at, p);
	fill(p, PAGE, 3);
	/* The child does not inherit it... */
	EXPECT_EQ(SIGSEGV, signal_of_touch(p));
	/* ...and cannot map anything of its own from the parent's file. */
	pid = fork();
	if (!pid)
		_exit(-try_map(self->fd, self->at + BLOCK, PAGE, RW, SHARED,
			       (uintptr_t)self->at + BLOCK));
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
	EXPECT_TRUE(filled(p, PAGE, 3));
}

/* A child that gets a copy all the same has no use of it, and does no harm. */
TEST_F(mmap, madvise_dofork)
{
	uint8_t *p = map_managed_at(self->fd, self->at, 4 * PAGE);
	bool copied;
	int i;

	ASSERT_EQ(self->at, p);
	fill(p, 4 * PAGE, 3);
	/* Newer kernels keep it from a child whatever is asked. */
	copied = !madvise(p, 4 * PAGE, MADV_DOFORK);
	if (!copied)
		ASSERT_EQ(EINVAL, errno);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(copied ? SIGBUS : SIGSEGV,
			  signal_of_touch(p + i * PAGE));
		EXPECT_TRUE(filled(p, 4 * PAGE, 3));
	}
	ASSERT_EQ(0, munmap(p, 4 * PAGE));
	ASSERT_EQ(p, map_managed_at(self->fd, p, 4 * PAGE));
	EXPECT_EQ(0, p[0]);
}

TEST_F(mmap, partial_munmap)
{
	uint8_t *p = map_managed_at(self->fd, self->at, 2 * BLOCK);
	uint32_t space = client_space(self->fd);
	struct gpuemu_info info;
	uint64_t all;
	struct engine e;

	ASSERT_EQ(self->at, p);
	ASSERT_EQ(0, client_info(self->fd, &info));
	all = info.vram_free_bytes;
	fill(p, 2 * BLOCK, 4);
	ASSERT_EQ(0, engine_open(&e));
	engine_acker_start(&e);
	ASSERT_EQ(0, engine_h2d(&e, space, p, 2 * BLOCK / PAGE));
	/* A hole across the blocks' border. */
	ASSERT_EQ(0, munmap(p + BLOCK - 8 * PAGE, 24 * PAGE));
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_EQ(all - 2 * BLOCK + 24 * PAGE, info.vram_free_bytes);
	EXPECT_EQ(0, engine_resident(&e, space, p + BLOCK - 8 * PAGE, 24));
	EXPECT_EQ(2 * BLOCK / PAGE - 24,
		  engine_resident(&e, space, p, 2 * BLOCK / PAGE));
	EXPECT_EQ(SIGSEGV, signal_of_touch(p + BLOCK));
	/* The hole is not managed; what is beside it is. */
	EXPECT_EQ(-EFAULT, engine_migrate(&e, space, p + BLOCK - 9 * PAGE, 9,
					  GPUEMU_MIGRATE_H2D));
	/* A new mapping in the hole is new memory. */
	ASSERT_EQ(p + BLOCK, map_managed_at(self->fd, p + BLOCK, PAGE));
	EXPECT_EQ(0, p[BLOCK]);
	EXPECT_EQ(0, engine_h2d(&e, space, p + BLOCK, 1));
	/* A mapping over a mapping replaces it. */
	ASSERT_EQ(p, map_managed_at(self->fd, p, PAGE));
	EXPECT_EQ(0, p[1]);
	ASSERT_EQ(0, munmap(p, 2 * BLOCK));
	EXPECT_EQ(0, engine_resident(&e, space, p, 2 * BLOCK / PAGE));
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_EQ(all, info.vram_free_bytes);
	engine_close(&e);
}

/* Many small pieces, freed in another order than they came. */
TEST_F(mmap, pieces)
{
	uint8_t *p = self->at;
	int i;

	for (i = 0; i < 64; i++)
		ASSERT_NE(NULL, map_managed_at(self->fd, p + i * 2 * PAGE, PAGE));
	for (i = 0; i < 64; i++)
		p[i * 2 * PAGE] = i;
	for (i = 0; i < 64; i += 2)
		ASSERT_EQ(0, munmap(p + i * 2 * PAGE, PAGE));
	for (i = 1; i < 64; i += 2)
		EXPECT_EQ(i, p[i * 2 * PAGE]);
	ASSERT_EQ(0, munmap(p, 128 * PAGE));
}

/* The kernel may drop the CPU's page-table entries; the content stays. */
TEST_F(mmap, madvise)
{
	void *p = map_managed_at(self->fd, self->at, 8 * PAGE);

	fill(p, 8 * PAGE, 5);
	EXPECT_EQ(0, madvise(p, 8 * PAGE, MADV_DONTNEED));
	EXPECT_TRUE(filled(p, 8 * PAGE, 5));
	EXPECT_EQ(0, madvise(p, 8 * PAGE, MADV_WILLNEED));
	EXPECT_EQ(-1, madvise(p, 8 * PAGE, MADV_REMOVE));
	EXPECT_TRUE(filled(p, 8 * PAGE, 5));
}

/* The file goes first, the mapping holds on. */
TEST_F(mmap, close_before_munmap)
{
	int fd = client_open();
	void *at = reserve(BLOCK);
	void *p = map_managed_at(fd, at, 4 * PAGE);

	ASSERT_EQ(at, p);
	fill(p, 4 * PAGE, 6);
	close(fd);
	EXPECT_TRUE(filled(p, 4 * PAGE, 6));
	EXPECT_EQ(0, munmap(p, 4 * PAGE));
}

/* Someone else's system calls reach it as any memory: copies, ptrace's way. */
TEST_F(mmap, system_calls)
{
	char *p = map_managed_at(self->fd, self->at, 2 * PAGE);
	struct iovec local, remote;
	char text[8] = "";
	int fds[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	ASSERT_EQ(6, write(fds[0], "hello", 6));
	ASSERT_EQ(6, read(fds[1], p + PAGE - 3, 6));
	EXPECT_EQ(0, strcmp(p + PAGE - 3, "hello"));
	local.iov_base = text;
	local.iov_len = 6;
	remote.iov_base = p + PAGE - 3;
	remote.iov_len = 6;
	EXPECT_EQ(6, process_vm_readv(getpid(), &local, 1, &remote, 1, 0));
	EXPECT_EQ(0, strcmp(text, "hello"));
}

TEST_HARNESS_MAIN
