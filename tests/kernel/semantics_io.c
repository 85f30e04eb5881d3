// SPDX-License-Identifier: GPL-2.0
/*
 * Input and output straight from and to managed pages, and who holds such pages
 * for long: io_uring's fixed buffers, pipes. A held page stays where it is, and
 * what goes in or out is right wherever it was before. See also pinned.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"

MANAGED_FIXTURE(io)

static int scratch(const char *dir, int flags)
{
	int fd = open(dir, O_RDWR | O_TMPFILE | flags, 0600);

	return fd < 0 ? -errno : fd;
}

/* Both ways through a file, in one piece and in odd ones. */
TEST_F(io, read_and_write)
{
	struct managed *m = &self->m;
	uint8_t *back = malloc(MANAGED_BYTES);
	size_t at, n;
	int fd = scratch("/dev/shm", 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(MANAGED_BYTES, pwrite(fd, m->mem, MANAGED_BYTES, 0));
	ASSERT_EQ(MANAGED_BYTES, pread(fd, back, MANAGED_BYTES, 0));
	EXPECT_EQ(0, memcmp(back, m->copy, MANAGED_BYTES));

	fill(m->copy, MANAGED_BYTES, 50);
	ASSERT_EQ(MANAGED_BYTES, pwrite(fd, m->copy, MANAGED_BYTES, 0));
	ASSERT_EQ(0, managed_place(m, variant->where));
	for (at = 0, n = 1; at < MANAGED_BYTES; at += n, n = n * 3 + 1) {
		if (n > MANAGED_BYTES - at)
			n = MANAGED_BYTES - at;
		ASSERT_EQ(n, pread(fd, m->mem + at, n, at));
	}
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(fd);
	free(back);
}

/* Descriptors of the vector lie in managed memory, too: kernel copies both. */
TEST_F(io, vectors)
{
	struct managed *m = &self->m;
	struct iovec *iov = (struct iovec *)m->mem;
	uint8_t *out = malloc(MANAGED_BYTES);
	int fds[2], i;

	for (i = 0; i < 8; i++) {
		iov[i].iov_base = m->mem + (2 * i + 1) * PAGE;
		iov[i].iov_len = PAGE / 2;
	}
	ASSERT_EQ(0, managed_place(m, variant->where));
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(8 * PAGE / 2, writev(fds[1], iov, 8));
	ASSERT_EQ(8 * PAGE / 2, read(fds[0], out, MANAGED_BYTES));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, memcmp(out + i * PAGE / 2,
				    m->copy + (2 * i + 1) * PAGE, PAGE / 2));
	close(fds[0]);
	close(fds[1]);
	free(out);
}

/*
 * Pages given to a pipe, "as a gift", then moved into a file: the module's
 * pages are not the program's to give away.
 */
TEST_F(io, splice_gift)
{
	struct managed *m = &self->m;
	struct iovec iov = { m->mem, 4 * PAGE };
	int fds[2], fd = scratch("/dev/shm", 0);
	uint8_t *back = malloc(4 * PAGE);
	loff_t at = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(4 * PAGE, vmsplice(fds[1], &iov, 1, SPLICE_F_GIFT));
	EXPECT_EQ(-EBUSY, engine_h2d(&m->e, m->space, m->mem, 4));
	EXPECT_EQ(0, managed_resident(m, 0, 4));
	ASSERT_EQ(4 * PAGE, splice(fds[0], NULL, fd, &at, 4 * PAGE,
				   SPLICE_F_MOVE));
	/* What the program writes now is not in the file. */
	memset(m->mem, 0x3c, 4 * PAGE);
	ASSERT_EQ(4 * PAGE, pread(fd, back, 4 * PAGE, 0));
	EXPECT_EQ(0, memcmp(back, m->copy, 4 * PAGE));
	memset(m->copy, 0x3c, 4 * PAGE);
	EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(fds[0]);
	close(fds[1]);
	close(fd);
	free(back);
}

/* vmsplice the other way: out of a pipe, into pages that may be away. */
TEST_F(io, out_of_a_pipe)
{
	struct managed *m = &self->m;
	struct iovec iov = { m->mem + PAGE / 2, 8 * PAGE };
	int fds[2];

	fill(m->copy + PAGE / 2, 8 * PAGE, 51);
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(8 * PAGE, write(fds[1], m->copy + PAGE / 2, 8 * PAGE));
	ASSERT_EQ(8 * PAGE, vmsplice(fds[0], &iov, 1, 0));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	close(fds[0]);
	close(fds[1]);
}

/*
 * A request that an io_uring worker thread served is reported before it is let
 * go, and only then drops its hold on the fixed buffers: newer kernels through task
 * work of the program, which may come after they were unregistered. Until
 * then their pages stay pinned. Returns the last try's result.
 */
static int h2d_unpinned(struct managed *m)
{
	uint64_t end = now_ms() + 2000 * slowness();
	int err;

	do {
		err = engine_h2d(&m->e, m->space, m->mem, MANAGED_PAGES);
	} while (err == -EBUSY && now_ms() < end && !usleep(1000));
	return err;
}

/*
 * Fixed buffers pin their pages for as long as they are registered. Kernels
 * before 6.5 register none that a file is behind; then nothing is held.
 */
TEST_F(io, fixed_buffers)
{
	struct managed *m = &self->m;
	struct iovec iov = { m->mem, MANAGED_BYTES };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	struct io_uring ring;
	int ret, fd = scratch("/dev/shm", 0);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, io_uring_queue_init(4, &ring, 0));
	ret = io_uring_register_buffers(&ring, &iov, 1);
	if (ret) {
		EXPECT_EQ(-EOPNOTSUPP, ret);
		EXPECT_EQ(0, engine_h2d(&m->e, m->space, m->mem,
					MANAGED_PAGES));
		EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
		goto out;
	}
	EXPECT_EQ(0, managed_resident(m, 0, MANAGED_PAGES));
	EXPECT_EQ(-EBUSY, engine_h2d(&m->e, m->space, m->mem, 8));
	EXPECT_EQ(0, managed_resident(m, 0, MANAGED_PAGES));
	fill(m->copy, MANAGED_BYTES, 52);
	ASSERT_EQ(MANAGED_BYTES, pwrite(fd, m->copy, MANAGED_BYTES, 0));
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read_fixed(sqe, fd, m->mem, MANAGED_BYTES, 0, 0);
	ASSERT_EQ(1, io_uring_submit(&ring));
	ASSERT_EQ(0, io_uring_wait_cqe(&ring, &cqe));
	EXPECT_EQ(MANAGED_BYTES, cqe->res);
	io_uring_cqe_seen(&ring, cqe);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
	ASSERT_EQ(0, io_uring_unregister_buffers(&ring));
	EXPECT_EQ(0, h2d_unpinned(m));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
out:
	io_uring_queue_exit(&ring);
	close(fd);
}

/* The module's own structs may lie in managed memory that is away. */
TEST_F(io, arguments_of_the_module)
{
	struct managed *m = &self->m;
	struct gpuemu_info *info = (void *)(m->mem + PAGE - 8);

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	ASSERT_EQ(0, managed_place(m, variant->where));
	EXPECT_EQ(0, call(m->fd, GPUEMU_IOCTL_INFO, info));
	EXPECT_EQ(m->space, info->va_space);
	memcpy(m->copy + PAGE - 8, info, sizeof(*info));
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

/*
 * What mincore, read and write see is not the file: it has no bytes of its own.
 */
TEST_F(io, the_file_itself)
{
	struct managed *m = &self->m;
	char byte = 0;

	EXPECT_EQ(-1, read(m->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(m->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ftruncate(m->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, fallocate(m->fd, FALLOC_FL_PUNCH_HOLE |
				FALLOC_FL_KEEP_SIZE, (uintptr_t)m->mem, PAGE));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_TRUE(managed_intact(m, 0, MANAGED_PAGES));
}

TEST_HARNESS_MAIN
